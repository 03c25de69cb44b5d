"""When a server is due next: APScheduler's triggers, with a phase of the server's own and forward jitter.

The phase is a hash of the server's name, so that a fleet spreads evenly over its interval and a restart
changes nothing. Jitter only delays: a probe that came early would be due again in the same slot.
"""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cached_property
from itertools import pairwise

from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from driftwatch.store.ports import Schedule

START_SPREAD = timedelta(seconds=60)
"""Servers that are due at the start of the service are probed over at most this long."""

PER_SERVER = timedelta(milliseconds=250)
"""A small fleet does not wait a minute: the spread is this much for each server."""

SHORTEST_GAP = timedelta(minutes=10)
"""A shorter pause, such as a restart, is none."""

_LOOKED_AHEAD = 16
"""Probes of a cron line among which the longest pause is sought."""

_NEVER = datetime.max.replace(tzinfo=UTC)
_EPOCH = datetime(2020, 1, 1, tzinfo=UTC)


class DueTimes:
    """The due times of one server: an interval for light and one for full probes, or a cron line for both."""

    def __init__(
        self,
        name: str,
        *,
        interval: timedelta,
        full_interval: timedelta,
        schedule: str | None = None,
        timezone: str = "UTC",
        jitter: float = 0.1,
        random: Callable[[], float],
    ) -> None:
        """``jitter`` is a share of the interval, ``random`` gives 0 to 1.

        A cron line replaces both intervals, and makes every probe a full one.
        """
        self._jitter = timedelta(0) if schedule else interval * jitter
        self._random = random
        self._interval = interval
        self._light: CronTrigger | IntervalTrigger
        self._full: IntervalTrigger | None = None
        if schedule:
            self._light = CronTrigger.from_crontab(schedule, timezone=timezone)
        else:
            self._light = _every(interval, name)
            self._full = _every(full_interval, name)

    def after(self, now: datetime, *, next_full_at: datetime) -> Schedule:
        """The first due times after ``now``: missed ones coalesce, because only the next one counts."""
        due = _next(self._light, now) + self._jitter * self._random()
        if self._full is None:
            return Schedule(next_due_at=due, next_full_at=due)
        return Schedule(
            next_due_at=due, next_full_at=next_full_at if next_full_at > now else _next(self._full, now)
        )

    @cached_property
    def overdue_after(self) -> timedelta:
        """A server that was not probed for longer than this was passed over: two probes did not happen."""
        longest = self._interval
        if self._full is None:
            fires = [_next(self._light, _EPOCH)]
            while len(fires) <= _LOOKED_AHEAD:
                if fires[-1] == _NEVER:
                    return timedelta.max
                fires.append(_next(self._light, fires[-1]))
            longest = max(later - earlier for earlier, later in pairwise(fires))
        return max(2 * longest, SHORTEST_GAP)


def first_due(name: str, now: datetime, fleet: int) -> datetime:
    """When a server that was never probed, or is overdue at the start, is probed."""
    return now + min(START_SPREAD, PER_SERVER * (fleet - 1)) * _share(name)


def _every(interval: timedelta, name: str) -> IntervalTrigger:
    seconds = max(1, round(interval.total_seconds()))
    return IntervalTrigger(seconds=seconds, start_date=_EPOCH + interval * _share(name), timezone=UTC)


def _next(trigger: CronTrigger | IntervalTrigger, now: datetime) -> datetime:
    fire = trigger.get_next_fire_time(None, now + timedelta(microseconds=1))
    # A cron line such as "0 0 30 2 *" never comes.
    return _NEVER if fire is None else fire.astimezone(UTC)


def _share(name: str) -> float:
    return int.from_bytes(hashlib.sha256(name.encode()).digest()[:8]) / 2**64
