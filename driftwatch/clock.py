"""Time, passed in wherever it is needed, so that tests own it."""

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

CLOCK_STEP = timedelta(seconds=30)
"""A wall clock that moved this much against the monotonic one was stepped."""


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


class StepWatch:
    """Notices when the wall clock is stepped: set by hand, by a time server, or after a sleep."""

    def __init__(self, clock: Clock) -> None:
        """The clock is right now, until it is stepped."""
        self._clock = clock
        self._offset = self._measure()

    def step(self) -> timedelta:
        """How far it was stepped since the last call; zero for what is less than CLOCK_STEP."""
        before, self._offset = self._offset, self._measure()
        step = self._offset - before
        return step if abs(step) >= CLOCK_STEP else timedelta(0)

    def _measure(self) -> timedelta:
        since_epoch = self._clock.now() - datetime.fromtimestamp(0, UTC)
        return since_epoch - timedelta(seconds=self._clock.monotonic())
