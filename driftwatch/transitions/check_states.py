"""Checks: folded into their cause, seen for the first time, confirmed, told."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from driftwatch.model import DEPTH_CODE, EventKind, Json, Level, Result, State
from driftwatch.transitions import doubt
from driftwatch.transitions.causes import Causes
from driftwatch.transitions.confirmation import (
    Outcome,
    Sighting,
    Step,
    adopt,
    advance,
    calmed,
    unblocked,
    wait,
)
from driftwatch.transitions.consequences import explained_by, result_json, shown_by
from driftwatch.transitions.ledger import Ledger, Verdict
from driftwatch.transitions.memory import SubjectState
from driftwatch.transitions.subjects import check_of, check_subject, is_spoken
from driftwatch.transitions.values import (
    ARITHMETIC,
    ERAS_DIFFER,
    EXPIRY,
    FINGERPRINT,
    NOT_APPLICABLE,
    SWITCHED_OFF,
    code_of,
    is_better,
    same_state,
    state_of,
    value_of,
)

_LEVELS = {State.FAILED: Level.ERROR, State.VERIFIED: Level.INFO}

_COVERAGE = frozenset({EventKind.COVERAGE_LOST, EventKind.COVERAGE_BACK})

_SEEN_AGAIN = frozenset({Outcome.STEADY, Outcome.BLIP, Outcome.SETTLED})


def observe_check(ledger: Ledger, result: Result, causes: Causes) -> None:
    """Let one result count that stands for itself."""
    sighting = sighting_of(ledger, result)
    state = ledger.state(check_subject(result.check))
    if state is not None and doubt.differs_less(state, sighting.value):
        sighting = replace(sighting, value=state.confirmed, detail=state.detail)
    if state is None:
        state = _fresh(ledger, result)
        ledger.begin(state)
        _told_if_failed(ledger, state, result, told=ledger.first)
    elif state.accepted is None or _is_switched_on(ledger, state, result):
        _first_sight(ledger, state, result)
    elif _moved_by_us(ledger, state, result, causes):
        _rebase(ledger, state, sighting, result)
    elif (root := explained_by(ledger, result, causes)) is not None:
        _follow(ledger, state, result, root, causes)
    elif (unproven := doubt.unproven(ledger, state, sighting, result)) is not None:
        ledger.keep(unproven)
    elif not sighting.decides:
        ledger.too_light.add(state.subject)
        seen = replace(state, last_observed_at=ledger.at)
        ledger.keep(seen if state.blocked_by else wait(state, sighting, counts=_is_door(ledger, result)))
    else:
        _count(ledger, advance(state, sighting, ledger.policy), result, causes)
    ledger.seen.add(check_subject(result.check))


def block(ledger: Ledger, result: Result, root: Result) -> None:
    """Fold a result into the root that explains it, once that root's own change counts."""
    state, root_state = (ledger.state(check_subject(check)) for check in (result.check, root.check))
    if root_state is None or not same_state(value_of(root), root_state.confirmed):
        return
    code = code_of(root_state.confirmed) or result.code or "blocked"
    if state is None:
        if ledger.first:
            unseen = _unseen(ledger, result, code)
            ledger.begin(replace(unseen, blocked_by=root.check, blocked_since=ledger.at, blocked_code=code))
        return
    if (state.blocked_by, state.blocked_code, state.pending) == (root.check, code, None):
        return
    if state.blocked_code != code:
        event = ledger.told.get(root_state.subject)
        ledger.stretch(state, f"{State.NOT_CHECKED}:{code}", root_state.confirmed_since, event)
    ledger.keep(
        replace(
            state,
            confirmed=state.confirmed if state.accepted else f"{State.NOT_CHECKED}:{code}",
            pending=None,
            pending_count=0,
            pending_since=None,
            blocked_by=root.check,
            blocked_since=state.blocked_since or max(root_state.confirmed_since, state.confirmed_since),
            blocked_code=code,
        )
    )


def skip_for_depth(ledger: Ledger, result: Result) -> bool:
    """Whether this probe's depth says nothing about a check.

    At the first look it is remembered as not seen yet, so that its real first sight is not taken for a check
    that an upgrade brought.
    """
    if result.state is not State.NOT_CHECKED or result.code != DEPTH_CODE:
        return False
    ledger.too_light.add(check_subject(result.check))
    if ledger.first:
        ledger.begin(_unseen(ledger, result, DEPTH_CODE))
    return True


def sighting_of(ledger: Ledger, result: Result) -> Sighting:
    """A result as an observation of its subject."""
    by_date = result.check in ARITHMETIC and result.state is not State.NOT_CHECKED
    # That eras or revisions have changed explains at once why a rule applies no more, or applies now.
    explained = any(map(is_spoken, ledger.told)) and doubt.hangs_on_eras(ledger, result)
    return Sighting(
        value=value_of(result),
        at=ledger.at,
        needed=1 if by_date or explained else doubt.needed(ledger, check_subject(result.check)),
        decides=doubt.decides(ledger) or not (value_of(result) == ERAS_DIFFER or _is_door(ledger, result)),
        by_chance=doubt.may_agree_by_chance(ledger, result),
        version=result.version,
        settings=ledger.settings,
        detail=result_json(result),
    )


def _is_door(ledger: Ledger, result: Result) -> bool:
    """Whether a check shows a door that shuts or opens: only a full probe sees how it refuses."""
    state = ledger.state(check_subject(result.check))
    ends = (value_of(result), state.confirmed if state else "")
    hides = result.check in ledger.blocking or any(
        each.cause == result.check for each in ledger.report.results
    )
    return hides and any(state_of(end) is State.NOT_CHECKED for end in ends)


def held(ledger: Ledger, state: SubjectState) -> bool:
    """Whether the root that blocks a subject may be about to recover: the two are told together."""
    root = ledger.state(check_subject(state.blocked_by)) if state.blocked_by else None
    return root is not None and root.pending is not None


def shadow(
    ledger: Ledger, state: SubjectState, result: Result, since: datetime, event: str | None, *, hold: bool
) -> None:
    """Take another value of a check that only repeats what another event says; wait while ``hold``."""
    if hold or held(ledger, state):
        ledger.keep(replace(state, last_observed_at=ledger.at))
        return
    ledger.stretch(state, value_of(result), since, event)
    ledger.keep(unblocked(accepting(adopt(state, sighting_of(ledger, result), since))))


def unblock(ledger: Ledger) -> None:
    """Let the last known value stand again where the root is well and this probe was too light to look."""
    for subject, state in ledger.memory.states.items():
        root = ledger.state(check_subject(state.blocked_by)) if state.blocked_by else None
        if root is None or root.pending is not None or root.subject not in ledger.told:
            continue
        if subject in ledger.seen or subject not in ledger.too_light:
            continue
        last = state if state.accepted else replace(state, confirmed=f"{State.NOT_CHECKED}:{DEPTH_CODE}")
        if state_of(root.confirmed) is State.VERIFIED:
            ledger.stretch(state, last.confirmed, root.confirmed_since, ledger.told[root.subject])
            ledger.keep(unblocked(last))


def accepting(state: SubjectState) -> SubjectState:
    """What a check was accepted with at first is outgrown by anything better."""
    return replace(state, accepted=state.confirmed) if is_better(state.confirmed, state.accepted) else state


def _fresh(ledger: Ledger, result: Result) -> SubjectState:
    value = value_of(result)
    return SubjectState(
        subject=check_subject(result.check),
        confirmed=value,
        confirmed_since=ledger.at,
        last_observed_at=ledger.at,
        accepted=value,
        version=result.version,
        settings=ledger.settings,
        detail=result_json(result),
    )


def _unseen(ledger: Ledger, result: Result, code: str) -> SubjectState:
    return replace(_fresh(ledger, result), confirmed=f"{State.NOT_CHECKED}:{code}", accepted=None)


def _first_sight(ledger: Ledger, state: SubjectState, result: Result) -> None:
    if held(ledger, state):
        ledger.keep(replace(state, last_observed_at=ledger.at))
        return
    seen = _fresh(ledger, result)
    ledger.first_sight(state, seen)
    _told_if_failed(ledger, seen, result, told=True)


def _told_if_failed(ledger: Ledger, state: SubjectState, result: Result, *, told: bool) -> None:
    if told and result.state is State.FAILED:
        ledger.problem(state, result_json(result))


def _is_good(value: str, accepted: str | None) -> bool:
    return state_of(value) is State.VERIFIED or value == accepted


def _moved_by_us(ledger: Ledger, state: SubjectState, result: Result, causes: Causes) -> bool:
    """Whether another value is put down to an upgrade or to edited settings.

    Never what blocks other checks: a server that is down is down. And whoever was told of an incident is told
    of its end too.
    """
    value = value_of(result)
    if value == state.confirmed or (state.version, state.settings) == (result.version, ledger.settings):
        return False
    ends_incident = ledger.incident(state.subject) is not None and _is_good(value, state.accepted)
    return result.check not in causes.blocks and not ends_incident


def _is_switched_on(ledger: Ledger, state: SubjectState, result: Result) -> bool:
    """Whether a failed check is looked at that the settings had kept from it until now."""
    edited = state.settings != ledger.settings
    return edited and state.confirmed == SWITCHED_OFF and result.state is State.FAILED


def _rebase(ledger: Ledger, state: SubjectState, sighting: Sighting, result: Result) -> None:
    skipped = state_of(sighting.value) is State.NOT_CHECKED
    incident = ledger.incident(state.subject)
    if skipped and incident is not None and state_of(incident.value) is not State.NOT_CHECKED:
        _end(ledger, state, sighting, result)
        return
    after = accepting(adopt(state, sighting, ledger.at))
    if skipped or state.accepted == state.confirmed:
        after = replace(after, accepted=sighting.value)
    ledger.rebase(state, after, over=skipped or state_of(sighting.value) is State.VERIFIED)


def _end(ledger: Ledger, state: SubjectState, sighting: Sighting, result: Result) -> None:
    """Tell that nobody looks any more at what was told: whoever heard of it would wait for its end."""
    after = calmed(replace(adopt(state, sighting, ledger.at), accepted=sighting.value))
    details = {"result": result_json(result), "previous": state.detail or None, "edited": True}
    verdict = Verdict(kind=EventKind.RECOVERY, level=Level.INFO, good=True, details=details)
    ledger.confirm(Step(state, after, Outcome.CHANGED), verdict)


def _follow(ledger: Ledger, state: SubjectState, result: Result, root: SubjectState, causes: Causes) -> None:
    """Come or go with a root's trouble, in the history alone; wait until that counts."""
    if root.pending is not None:
        ledger.keep(replace(state, last_observed_at=ledger.at))
        return
    since = max(root.confirmed_since, state.confirmed_since)
    step = Step(state, calmed(adopt(state, sighting_of(ledger, result), since)), Outcome.CHANGED)
    verdict = _verdict(ledger, step, result, causes)
    ends = result.state is State.NOT_CHECKED
    ledger.confirm(step, replace(verdict, good=ends, tracked=ends, alerts=False))


def _count(ledger: Ledger, step: Step, result: Result, causes: Causes) -> None:
    before, after = step.before, step.after
    if _may_be_accepted(step, causes):
        after = accepting(after)
        step = Step(before, after, step.outcome)
    if step.outcome.confirms:
        ledger.confirm(step, _verdict(ledger, step, result, causes))
        return
    if before.blocked_by and step.outcome in _SEEN_AGAIN and not held(ledger, before):
        event = ledger.told.get(check_subject(before.blocked_by))
        root = ledger.state(check_subject(before.blocked_by))
        ledger.stretch(before, after.confirmed, root.confirmed_since if root and event else ledger.at, event)
        step = Step(before, unblocked(after), step.outcome)
    match step.outcome:
        case Outcome.SETTLED:
            ledger.settle(step, _verdict(ledger, step, result, causes))
        case Outcome.UNSETTLED:
            ledger.unsettle(step, tracked=True, alerts=True)
        case Outcome.BLIP:
            ledger.blip(step)
            ledger.keep(step.after)
        case _:
            ledger.keep(step.after)


def _may_be_accepted(step: Step, causes: Causes) -> bool:
    """Whether what is seen may replace what the check was accepted with.

    What can be seen only while others are blocked (how a shut door refuses) ends with the fault: that it was
    never checked before stays as it should be.
    """
    accepted = step.after.accepted
    was_checked = accepted is not None and state_of(accepted) is not State.NOT_CHECKED
    if step.outcome.confirms:
        return was_checked or not causes.blocks
    return step.outcome in _SEEN_AGAIN and not causes.blocks


def _verdict(ledger: Ledger, step: Step, result: Result, causes: Causes) -> Verdict:
    before, after = step.before.confirmed, step.after.confirmed
    state = state_of(after)
    incident = ledger.incident(step.before.subject)
    # What had failed before it was lost from sight recovers; what was only lost from sight is back.
    only_unseen = incident is None or state_of(incident.value) is State.NOT_CHECKED
    # A rule that does not apply any more is broken no more.
    inapplicable = after == NOT_APPLICABLE
    good = _is_good(after, step.before.accepted) or (inapplicable and not only_unseen)
    # What could not be checked before either has another reason now: no news for anybody who has to act,
    # except where it hides others.
    unseen = state_of(before) is State.NOT_CHECKED is state
    quiet = unseen and result.check not in causes.blocks and not (good and incident)
    if state_of(before) is State.NOT_CHECKED is not state and only_unseen and (good or _is_shadow(result)):
        kind, level, good = EventKind.COVERAGE_BACK, Level.INFO, True
    elif quiet:
        kind, level = EventKind.CHANGE, Level.INFO
    elif good:
        kind, level = EventKind.RECOVERY, Level.INFO
    elif state is State.NOT_CHECKED:
        # A rule that another era or revision has is nothing that anybody misses.
        kind, level = EventKind.COVERAGE_LOST, Level.INFO if inapplicable else Level.WARNING
    else:
        kind, level = EventKind.CHANGE, _LEVELS.get(result.state, Level.WARNING)
    tracked = good or not (quiet or inapplicable)
    # The eras or revisions that came or went are what is told of a rule that begins or ceases to apply.
    follows = kind in _COVERAGE and NOT_APPLICABLE in {before, after}
    blocked = causes.unasked.get(result.check, ()) if state is not State.VERIFIED else _freed(ledger, result)
    shown = shown_by(ledger, step.after, causes)
    if not good:
        level = max((level, *map(_level_of, shown)), key=lambda each: each.rank)
    return Verdict(
        kind=kind,
        level=level,
        good=good,
        tracked=tracked,
        alerts=not (quiet or follows),
        details={
            "result": result_json(result),
            "previous": step.before.detail or None,
            "blocked": list(blocked),
            "shown": shown,
            "blip": False,
        },
    )


def _level_of(shown: Json) -> Level:
    state = shown.get("state") if isinstance(shown, Mapping) else None
    return Level.INFO if state == State.NOT_CHECKED else _LEVELS.get(State(str(state)), Level.WARNING)


def _is_shadow(result: Result) -> bool:
    """Whether a result's being bad is told elsewhere: by the toolset's own event, or by a reminder."""
    return result.check == EXPIRY or (result.check == FINGERPRINT and result.state is State.OBSERVED_RISK)


def _freed(ledger: Ledger, result: Result) -> list[str]:
    return [
        check_of(subject)
        for subject, state in ledger.memory.states.items()
        if state.blocked_by == result.check
    ]
