"""How fast a channel may be written to."""

from collections import deque
from collections.abc import Iterable
from datetime import timedelta

HOUR = timedelta(hours=1)


class Pace:
    """How soon a channel may take another message. Counts attempts, on the monotonic clock."""

    def __init__(self, per_second: float, per_hour: int, earlier: Iterable[float] = ()) -> None:
        """``earlier`` are the times of attempts that were made before."""
        self._gap = 1 / per_second
        self._per_hour = per_hour
        self._times: deque[float] = deque(sorted(earlier), maxlen=per_hour)

    def wait(self, now: float) -> float:
        """Seconds until the next attempt is allowed."""
        if not self._times:
            return 0.0
        wait = self._times[-1] + self._gap - now
        if len(self._times) == self._per_hour:
            wait = max(wait, self._times[0] + HOUR.total_seconds() - now)
        return max(0.0, wait)

    def count(self, now: float) -> None:
        """Note an attempt."""
        self._times.append(now)
