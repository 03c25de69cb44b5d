"""Time, passed in wherever it is needed, so that tests own it."""

import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """Wall time for people and storage, monotonic time for waits and leases."""

    def now(self) -> datetime:
        """The wall time, aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds that never jump."""


class SystemClock:
    """The machine's clocks."""

    def now(self) -> datetime:
        """The wall time, aware, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()
