"""What both directions share."""

from typing import Any, TypeAlias

Values: TypeAlias = dict[str, Any]
"""A row to write: values by column."""
