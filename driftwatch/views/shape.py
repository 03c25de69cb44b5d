"""What all shapes are made of."""

from datetime import UTC, datetime
from typing import Annotated, TypeAlias

from pydantic import ConfigDict, Field, with_config

Moment: TypeAlias = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
"""A time in UTC, to the second, such as ``2026-11-30T06:51:17Z``."""

described = with_config(ConfigDict(use_attribute_docstrings=True))
"""A shape of which the schema carries the texts that stand below its fields."""


def iso(at: datetime) -> Moment:
    """A time as JSON documents carry it, in UTC with a Z."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def iso_or_none(at: datetime | None) -> Moment | None:
    """A time that there may not be."""
    return None if at is None else iso(at)
