"""Numbers as JSON has them: it does not tell integers from others, so that ``1.0`` is 1."""

from driftwatch.model.states import Json


def integer(value: Json) -> int | None:
    """The integer that a JSON value is; None for any other value."""
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None
