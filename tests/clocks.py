"""A clock for tests."""

from dataclasses import dataclass
from datetime import datetime, timedelta


@dataclass
class StandingClock:
    """Time moves when a test says so; both clocks together."""

    wall: datetime
    ticks: float = 1000.0

    def now(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.ticks

    def advance(self, span: timedelta) -> None:
        self.wall += span
        self.ticks += span.total_seconds()
