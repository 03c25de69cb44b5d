"""When to look again, so that what is in doubt is confirmed or refuted soon."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

from driftwatch.model import Depth, Trigger
from driftwatch.transitions import doubt
from driftwatch.transitions.changes import ConfirmProbe
from driftwatch.transitions.confirmation import OTHERS, departures, known_values
from driftwatch.transitions.ledger import Ledger
from driftwatch.transitions.memory import REPROBE_WINDOW, SubjectState
from driftwatch.transitions.subjects import check_subject, is_toolset
from driftwatch.transitions.values import INSTANCES_DIFFER, REPLICAS

_IN_TURN = 2
"""Departures from the confirmed value after which one return does not end the series of re-probes."""

_PAUSE = timedelta(seconds=15)
"""Between two looks at a subject whose answers take turns, at the least: that may go on for a while."""

ROLLOUT = timedelta(hours=1)
"""So long after instances were told to differ, it is looked for the end of that with every probe."""


def plan(ledger: Ledger, now: datetime) -> ConfirmProbe | None:
    """The next re-probe: the soonest that any subject asks for, deep enough for all of them."""
    wishes = [(state, due) for state in ledger.states().values() if (due := _due(ledger, state, now))]
    if not wishes:
        return None
    light = ledger.report.depth is Depth.LIGHT and not any(
        state.subject in ledger.too_light for state, _ in wishes
    )
    due_at = min(due for _, due in wishes)
    if light:
        return ConfirmProbe(due_at=due_at, depth=Depth.LIGHT)
    return ConfirmProbe(due_at=min(due_at, _awaited(ledger, now) or due_at), depth=Depth.FULL)


def _awaited(ledger: Ledger, now: datetime) -> datetime | None:
    """When the full re-probe is due that a light probe came before: that must not put it off.

    Where light probes come faster than re-probes, it would never be made.
    """
    report, planned = ledger.report, ledger.memory.full_reprobe_at
    if planned is None or report.depth is Depth.FULL or report.trigger is Trigger.CONFIRM:
        return None
    return max(planned, now)


def _due(ledger: Ledger, state: SubjectState, now: datetime) -> datetime | None:
    if state.pending is None:
        return _while_in_turn(ledger, state, now) or _while_instances_differ(ledger, state, now)
    if state.flapping and (state.pending in known_values(state) or OTHERS in state.turns):
        return None  # It would be muted, or will be another one next time: the regular probes will do.
    if state.pending_since is None or (state.subject in ledger.doubted and not _may_watch(ledger)):
        return None
    delays = sorted(ledger.policy.confirm_delays)
    waited = state.pending_since + ledger.policy.loss_confirm
    times = [state.pending_since + delay for delay in delays]
    needed = doubt.needed(ledger, state.subject)
    if state.subject in ledger.seen & ledger.too_light:
        # Re-probes may have come late. Only what a list has lost waits for longer than they take.
        counted = is_toolset(state.subject) and state.pending_count >= needed
        late = waited if counted and waited > now else now + delays[0]
        return _to_decide(ledger, state, _future(times, now) or late)
    if state.pending_count >= needed:
        return max(waited, now) if ledger.at < waited else None
    if needed > ledger.policy.confirm and delays:
        return now + delays[0]
    if state.subject in ledger.seen:
        return _to_confirm(ledger, state, times, now)
    if state.subject in ledger.too_light and delays:
        return _future(times, now) or now + delays[0]
    return _future(times, now)


def _to_confirm(
    ledger: Ledger, state: SubjectState, times: Sequence[datetime], now: datetime
) -> datetime | None:
    """When to look again at what this probe saw differ."""
    number = state.pending_count - 1
    if number >= len(times) or state.pending_since is None:
        return None
    # A sighting that came late shifts the next look, so that two never fall together.
    gap = times[number] - (times[number - 1] if number else state.pending_since)
    due = times[number] if times[number] > now else now + gap
    if departures(state) < _IN_TURN:
        return due
    return max(due, now + _PAUSE) if _may_watch(ledger) or _stays(ledger, state) else None


def _to_decide(ledger: Ledger, state: SubjectState, due: datetime) -> datetime | None:
    """When a full probe follows a light one that must not decide."""
    if doubt.restless(ledger):
        settles = state.pending_count >= ledger.policy.confirm
        return due if settles and _may_watch(ledger) else None
    return due if departures(state) < _IN_TURN or _may_watch(ledger) or _stays(ledger, state) else None


def _while_instances_differ(ledger: Ledger, state: SubjectState, now: datetime) -> datetime | None:
    """Instances that differ mostly do so during a rollout: for a while, every probe asks for a full one."""
    if state.subject != check_subject(REPLICAS) or state.confirmed not in INSTANCES_DIFFER:
        return None
    recent = now - state.confirmed_since < ROLLOUT and state.subject in ledger.too_light
    delays = ledger.policy.confirm_delays
    return now + min(delays) if recent and delays and _may_watch(ledger) else None


def _while_in_turn(ledger: Ledger, state: SubjectState, now: datetime) -> datetime | None:
    """Answers that take turns are watched closely until they are calm or told as unsettled."""
    delays = sorted(ledger.policy.confirm_delays)
    if state.flapping or not delays or state.subject not in ledger.seen or departures(state) < _IN_TURN:
        return None
    if not _may_watch(ledger):
        return None
    return now + max(delays[-1], _PAUSE)


def _may_watch(ledger: Ledger) -> bool:
    """Whether the server may be probed between its regular probes for answers that take turns.

    A change that comes out of calm always may, and one that stays. The budget is enough to call them
    unsettled; whoever takes turns again and again just short of that waits for the regular probes.
    """
    oldest = ledger.now - REPROBE_WINDOW
    return sum(at > oldest for at in ledger.memory.reprobes) < ledger.policy.reprobes


def _stays(ledger: Ledger, state: SubjectState) -> bool:
    """Whether what is pending was read without a break for longer than re-probes take.

    Where only full probes decide, regular ones would leave it open for as long as the budget is spent.
    """
    series = max(ledger.policy.confirm_delays, default=REPROBE_WINDOW)
    return state.pending_since is not None and ledger.at - state.pending_since > series


def _future(times: Iterable[datetime], now: datetime) -> datetime | None:
    return next((time for time in times if time > now), None)
