"""States over time as lanes of stretches between 0 and WIDTH: drawings that need no script (pure)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from driftwatch.model import State
from driftwatch.store.ports import StateInterval
from driftwatch.transitions.subjects import is_check, is_toolset
from driftwatch.transitions.values import state_of

WIDTH = 1000
LANES = 14
"""Checks that are drawn; the rest is in the table of events."""

THINNEST = 2.0
"""A stretch that would be narrower is drawn so wide: an outage of a minute is still seen in a month."""

_RANK = {State.FAILED: 0, State.OBSERVED_RISK: 1, State.NOT_CHECKED: 2, State.VERIFIED: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """One value for some time."""

    x: float
    width: float
    kind: str
    """A state's value; ``list-0`` and ``list-1`` by turns for tool lists."""
    value: str
    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """One subject's stretches, oldest first."""

    subject: str
    stretches: tuple[Stretch, ...]

    @property
    def worst(self) -> State:
        """The worst state in it."""
        states = [state_of(stretch.value) or State.VERIFIED for stretch in self.stretches]
        return min(states, key=_RANK.__getitem__, default=State.VERIFIED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A deploy, which stands in every lane."""

    x: float
    at: datetime
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """What is drawn."""

    start: datetime
    end: datetime
    lanes: tuple[Lane, ...]
    deploys: tuple[Mark, ...]
    steady: int
    """Checks that had one value all the time, and are not drawn."""
    more: int
    """Checks that changed and are not drawn, because there are too many."""

    @property
    def middle(self) -> datetime:
        """What stands below the middle of the lanes."""
        return self.start + (self.end - self.start) / 2


def timeline(
    intervals: Iterable[StateInterval],
    deploys: Iterable[tuple[datetime, str]],
    *,
    start: datetime,
    end: datetime,
) -> Timeline:
    """The stretches between two moments: a lane for each tool list and each check that changed or is bad."""
    by_subject: dict[str, list[StateInterval]] = {}
    for interval in intervals:
        if interval.since < end and (interval.until is None or interval.until > start):
            by_subject.setdefault(interval.subject, []).append(interval)
    scale = _Scale(start, end)
    lanes, steady = [], 0
    for subject, stretches in sorted(by_subject.items()):
        lane = Lane(subject=subject, stretches=tuple(_stretches(subject, stretches, scale)))
        if is_toolset(subject):
            lanes.append(lane)
        elif is_check(subject):
            if len(lane.stretches) > 1 or lane.worst in (State.FAILED, State.OBSERVED_RISK):
                lanes.append(lane)
            else:
                steady += 1
    lanes.sort(key=lambda lane: (not is_toolset(lane.subject), _RANK[lane.worst], lane.subject))
    return Timeline(
        start=start,
        end=end,
        lanes=tuple(lanes[:LANES]),
        deploys=tuple(Mark(x=scale.x(at), at=at, label=label) for at, label in deploys if start <= at <= end),
        steady=steady,
        more=max(0, len(lanes) - LANES),
    )


@dataclass(frozen=True, slots=True)
class _Scale:
    start: datetime
    end: datetime

    def x(self, at: datetime) -> float:
        share = (at - self.start) / (self.end - self.start)
        return round(WIDTH * min(1.0, max(0.0, share)), 1)


def _stretches(subject: str, intervals: Sequence[StateInterval], scale: _Scale) -> Iterable[Stretch]:
    for number, interval in enumerate(sorted(intervals, key=lambda each: each.since)):
        x = scale.x(interval.since)
        width = max(THINNEST, round(scale.x(interval.until or scale.end) - x, 1))
        state = state_of(interval.value) if is_check(subject) else None
        yield Stretch(
            x=min(x, WIDTH - width),
            width=width,
            kind=state.value if state else f"list-{number % 2}",
            value=interval.value,
            since=interval.since,
            until=interval.until,
        )
