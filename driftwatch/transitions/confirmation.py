"""One subject meets one observation: what is pending, what is confirmed, and what is only unrest."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import Enum, auto

from driftwatch.model import Json
from driftwatch.transitions.memory import Policy, SubjectState
from driftwatch.transitions.values import agrees, same_state

NO_WAIT = timedelta(0)

OTHERS = ""
"""The key in ``turns`` for all values after the first eight: a list may be new at every read."""

_TOLD_APART = 8


class Outcome(Enum):
    """What an observation does to a subject."""

    STEADY = auto()
    """The confirmed value again."""
    BLIP = auto()
    """The confirmed value again, after another one that was never confirmed."""
    SETTLED = auto()
    """The confirmed value again, often enough to end the unrest."""
    PENDING = auto()
    """Another value, not confirmed yet."""
    UNSETTLED = auto()
    """Another value in turn with the confirmed one, for too long to stay silent."""
    CHANGED = auto()
    """Another value is confirmed."""
    FLAPPING = auto()
    """A known value is confirmed, once too often: its changes are muted from now on."""
    MUTED = auto()
    """A known value is confirmed during unrest."""

    @property
    def confirms(self) -> bool:
        """Whether the subject has another confirmed value now."""
        return self in {Outcome.CHANGED, Outcome.FLAPPING, Outcome.MUTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Sighting:
    """One observation of one subject."""

    value: str
    at: datetime
    needed: int
    """How many sightings must agree."""
    wait: timedelta = NO_WAIT
    """How long after the first one the last of them must be."""
    announced: bool = False
    """A deploy explains the change: it is no flapping."""
    decides: bool = True
    """Whether it counts: a light probe cannot tell a change from instances that take turns. It only raises
    the question.
    """
    by_chance: bool = False
    """Whether the value may come by chance while another one is true: then it is no turn."""
    version: int = 1
    settings: str = ""
    detail: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Step:
    """A subject before and after one observation."""

    before: SubjectState
    after: SubjectState
    outcome: Outcome


def first(subject: str, value: str, at: datetime, settings: str) -> SubjectState:
    """The state of a subject that is seen for the first time: as it is, it is accepted."""
    return SubjectState(
        subject=subject,
        confirmed=value,
        confirmed_since=at,
        last_observed_at=at,
        accepted=value,
        settings=settings,
    )


def advance(state: SubjectState, sighting: Sighting, policy: Policy) -> Step:
    """Let one observation count."""
    state = replace(state, last_observed_at=sighting.at)
    if sighting.value == state.confirmed:
        return _again(state, sighting, policy)
    return _other(state, sighting, policy)


def adopt(state: SubjectState, sighting: Sighting, since: datetime) -> SubjectState:
    """Take a value as the confirmed one, with nothing left pending."""
    return replace(
        state,
        confirmed=sighting.value,
        confirmed_since=since,
        last_observed_at=sighting.at,
        pending=None,
        pending_count=0,
        pending_since=None,
        stable_count=0,
        version=sighting.version,
        settings=sighting.settings,
        detail=sighting.detail,
    )


def take_turns(step: Step, spoken: Mapping[str, int]) -> Step:
    """The step of a subject that is told as unsettled: ``spoken`` counts how often each value was read."""
    after = replace(
        step.after,
        flapping=True,
        turns=dict(spoken),
        turning_since=step.after.turning_since or step.after.pending_since or step.after.last_observed_at,
        stable_count=0,
    )
    return Step(step.before, after, Outcome.UNSETTLED)


def put_off(state: SubjectState) -> SubjectState:
    """The state of a subject of which nothing can be said now: what was pending is not counted on."""
    return replace(state, pending=None, pending_count=0, pending_since=None)


def wait(state: SubjectState, sighting: Sighting, *, counts: bool = True) -> SubjectState:
    """Note a sighting that another subject's trouble may explain: it confirms nothing, and is no unrest."""
    if sighting.value == state.confirmed:
        return put_off(replace(state, last_observed_at=sighting.at))
    again = sighting.value == state.pending
    count = (state.pending_count if again else 0) + counts
    since = state.pending_since if again and state.pending_since else sighting.at
    return replace(
        state,
        last_observed_at=sighting.at,
        pending=sighting.value,
        pending_count=count,
        pending_since=since,
    )


def unblocked(state: SubjectState) -> SubjectState:
    """The state of a subject that nothing blocks any more."""
    return replace(state, blocked_by=None, blocked_since=None, blocked_code=None)


def _again(state: SubjectState, sighting: Sighting, policy: Policy) -> Step:
    returns = state.pending is not None
    turning = state.turning_since is not None and not state.flapping
    after = replace(
        adopt(state, sighting, state.confirmed_since),
        stable_count=state.stable_count + 1 if turning or state.flapping else 0,
        turns=_turn(state.turns, sighting.value) if turning and returns else state.turns,
    )
    if state.flapping:
        settled = after.stable_count >= policy.flap_settle
        return Step(state, calmed(after), Outcome.SETTLED) if settled else Step(state, after, Outcome.STEADY)
    if _takes_turns(after, sighting, policy):
        return Step(state, replace(after, flapping=True), Outcome.UNSETTLED)
    if after.stable_count >= 2 * sighting.needed:
        after = replace(after, turns={}, turning_since=None, stable_count=0)
    return Step(state, after, Outcome.BLIP if returns else Outcome.STEADY)


def _other(state: SubjectState, sighting: Sighting, policy: Policy) -> Step:
    value, at = sighting.value, sighting.at
    counts_on = state.pending is not None and agrees(value, state.pending, state.confirmed)
    count, since = (state.pending_count, state.pending_since or at) if counts_on else (0, at)
    count += sighting.decides
    if count >= sighting.needed and at - since >= sighting.wait and sighting.decides:
        return _confirmed(state, sighting, since, policy)
    after = replace(state, pending=value, pending_count=count, pending_since=since, stable_count=0)
    if state.flapping:
        return Step(state, after, Outcome.PENDING)
    if not counts_on and not sighting.by_chance and not same_state(value, state.confirmed):
        after = replace(after, turns=_turn(state.turns, value), turning_since=state.turning_since or at)
    if _takes_turns(after, sighting, policy):
        return Step(state, replace(after, flapping=True), Outcome.UNSETTLED)
    return Step(state, after, Outcome.PENDING)


def _confirmed(state: SubjectState, sighting: Sighting, since: datetime, policy: Policy) -> Step:
    known = known_values(state)
    after = adopt(state, sighting, since)
    if not state.flapping:
        after = replace(after, turns={}, turning_since=None)
    if sighting.announced:
        return Step(state, after, Outcome.CHANGED)
    after = _remember_change(after, sighting, policy)
    if sighting.value not in known:
        return Step(state, after, Outcome.CHANGED)
    if state.flapping:
        return Step(state, replace(after, flap_muted=state.flap_muted + 1), Outcome.MUTED)
    if len(after.flap_times) >= policy.flap_count:
        return Step(state, replace(after, flapping=True), Outcome.FLAPPING)
    return Step(state, after, Outcome.CHANGED)


def known_values(state: SubjectState) -> frozenset[str]:
    """The values that were told in recent changes, or named when it became unsettled: they can be muted."""
    return frozenset(state.flap_values) | frozenset(state.turns if state.flapping else ())


def is_told(state: SubjectState) -> bool:
    """Whether the confirmed value was told as a change, because it was a new one, since the unrest began."""
    began, changes = state.turning_since, state.flap_times
    return began is not None and state.flap_muted == 0 and bool(changes) and changes[-1] >= began


def departures(state: SubjectState) -> int:
    """How often the answer left the confirmed value since it began to take turns."""
    return sum(state.turns.values()) - state.turns.get(state.confirmed, 0)


def _takes_turns(state: SubjectState, sighting: Sighting, policy: Policy) -> bool:
    """Whether answers take turns in a way that chance does not explain.

    Calm breaks the count off, so it takes this many departures with no calm in between.
    """
    return (
        state.turning_since is not None
        and sighting.at - state.turning_since >= policy.unsettled
        and departures(state) > 2 * sighting.needed
    )


def _turn(turns: Mapping[str, int], value: str) -> dict[str, int]:
    key = value if value in turns or len(turns) < _TOLD_APART else OTHERS
    return {**turns, key: turns.get(key, 0) + 1}


def _remember_change(state: SubjectState, sighting: Sighting, policy: Policy) -> SubjectState:
    """Note a confirmed change and forget old ones; the last one of each value stays while flapping."""
    changes = [*zip(state.flap_times, state.flap_values, strict=True), (sighting.at, sighting.value)]
    oldest = sighting.at - policy.flap_window
    kept = [
        (at, value)
        for number, (at, value) in enumerate(changes)
        if at >= oldest or (state.flapping and all(value != later for _, later in changes[number + 1 :]))
    ]
    return replace(
        state, flap_times=tuple(at for at, _ in kept), flap_values=tuple(value for _, value in kept)
    )


def calmed(state: SubjectState) -> SubjectState:
    """The state of a subject with no unrest behind it."""
    return replace(
        state,
        flapping=False,
        flap_times=(),
        flap_values=(),
        flap_muted=0,
        turns={},
        turning_since=None,
        stable_count=0,
    )
