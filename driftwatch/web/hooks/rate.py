"""How often each caller may announce: a bucket of tokens for each, filled evenly."""

import math

from driftwatch.config import Rate


class Buckets:
    """One bucket for each caller; there are as many as there are tokens and secrets configured."""

    def __init__(self) -> None:
        """All of them full."""
        self._left: dict[str, tuple[float, float]] = {}

    def take(self, caller: str, rate: Rate, now: float) -> int:
        """Take one; 0, or the seconds until there is one again. ``now`` is monotonic."""
        per_second = rate.count / rate.per.total_seconds()
        left, at = self._left.get(caller, (float(rate.count), now))
        left = min(rate.count, left + (now - at) * per_second)
        if left < 1 - 1e-9:
            self._left[caller] = (left, now)
            return max(1, math.ceil((1 - left) / per_second))
        self._left[caller] = (max(0.0, left - 1), now)
        return 0
