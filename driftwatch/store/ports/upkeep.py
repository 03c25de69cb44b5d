"""What keeps the store in shape: what may be forgotten."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What may be forgotten."""

    keep: timedelta
    max_bytes: int
    now: datetime
    batch: int = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What one pruning removed."""

    runs: int = 0
    intervals: int = 0
    events: int = 0
    messages: int = 0
    toolsets: int = 0
    bytes_freed: int = 0

    def __add__(self, other: "Pruned") -> "Pruned":
        """Both together."""
        return Pruned(**{name: getattr(self, name) + getattr(other, name) for name in self.__slots__})
