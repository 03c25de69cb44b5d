"""What an event's details hold, read without a fault whatever is in them (pure)."""

from collections.abc import Mapping, Sequence

from driftwatch.model import Json


def strings(value: Json) -> tuple[str, ...]:
    """The strings of a list; none of anything else."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, Sequence) else ()


def objects(value: Json) -> list[Mapping[str, Json]]:
    """The objects of a list; none of anything else."""
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, Sequence) else []
