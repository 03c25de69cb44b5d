"""Toolsets: confirmed by agreeing reads, accepted by policy, told with their difference."""

from dataclasses import replace

from driftwatch.model import EventKind, Json, Level, Result, State, Trigger
from driftwatch.toolset import Diff
from driftwatch.transitions import doubt
from driftwatch.transitions.causes import Causes
from driftwatch.transitions.changes import ToolsetObservation
from driftwatch.transitions.check_states import observe_check, shadow
from driftwatch.transitions.confirmation import (
    NO_WAIT,
    Outcome,
    Sighting,
    Step,
    adopt,
    advance,
    first,
    is_told,
    known_values,
    put_off,
    take_turns,
    wait,
)
from driftwatch.transitions.ledger import Ledger, Verdict
from driftwatch.transitions.memory import SubjectState
from driftwatch.transitions.subjects import check_subject, is_toolset, surface_of
from driftwatch.transitions.values import FINGERPRINT, REPLICAS, STABLE_LISTING, value_of

_COMPARED = frozenset({State.VERIFIED, State.OBSERVED_RISK})

_NOTHING_TO_COMPARE = frozenset({"no-baseline", "other-algorithm"})
"""Codes of the fingerprint check that speak of driftwatch's memory, not of the server."""


def observe_toolset(ledger: Ledger, observation: ToolsetObservation) -> None:
    """Let one complete tool list count, unless another read of the probe contradicts it."""
    subject, pair = observation.subject, observation.pair
    deployed = ledger.report.trigger is Trigger.DEPLOY
    state = ledger.state(subject)
    waits = not deployed and (doubt.in_turn(ledger) if doubt.decides(ledger) else doubt.restless(ledger))
    if observation.in_doubt and (subject not in ledger.unsettled or doubt.in_turn(ledger)):
        if state is not None:
            ledger.keep(put_off(replace(state, last_observed_at=ledger.at)))
        return
    ledger.seen.add(subject)
    if state is None:
        if not waits:
            ledger.begin(first(subject, pair, ledger.at, ledger.settings))
        return
    sighting = _sighting(ledger, observation, state)
    if not sighting.decides:
        ledger.too_light.add(subject)
    if waits or (not deployed and _awaits_another(ledger, state, pair)):
        ledger.keep(wait(state, sighting))
        return
    upgraded = state.confirmed.partition(":")[0] != observation.algorithm
    ends_incident = ledger.incident(subject) is not None and pair == state.accepted
    if pair != state.confirmed and (upgraded or state.settings != ledger.settings) and not ends_incident:
        accepted = pair if state.accepted == state.confirmed else state.accepted
        after = replace(adopt(state, sighting, ledger.at), accepted=accepted)
        ledger.rebase(state, after, over=accepted == pair)
        return
    if observation.volatile and state.pending != pair:
        state = put_off(state)  # what a light probe read of such a list is no change
    step = advance(state, sighting, ledger.policy)
    if step.outcome.confirms and observation.only_noise and _is_no_news(ledger, observation):
        accepted = pair if state.accepted == state.confirmed else state.accepted
        ledger.rebase(state, replace(step.after, accepted=accepted), over=accepted == pair)
        return
    _count(ledger, step, observation)


def _awaits_another(ledger: Ledger, state: SubjectState, pair: str) -> bool:
    """Whether another surface has not settled on this very list yet: one change is one message."""
    before = ledger.memory.states
    return not state.flapping and any(
        other.flapping
        and before[other.subject].flapping
        and not is_told(other)
        and pair in {other.confirmed, *known_values(other)}
        for other in _surfaces(ledger, state.subject)
        if other.subject in before
    )


def _settles_along(ledger: Ledger, state: SubjectState, pair: str) -> bool:
    """Whether another surface has just settled on this very list."""
    return any(ledger.settled.get(other.subject) == pair for other in _surfaces(ledger, state.subject))


def _surfaces(ledger: Ledger, subject: str) -> list[SubjectState]:
    """The other surfaces that the same credential is shown."""
    _, credential = surface_of(subject)
    return [
        state
        for other, state in ledger.states().items()
        if is_toolset(other) and surface_of(other)[1] == credential and other != subject
    ]


def _is_no_news(ledger: Ledger, observation: ToolsetObservation) -> bool:
    """Whether what changes at every read is all there is: release/stable-listing tells its beginning and end.

    What a list says after its unrest is news, unless it is what it said before.
    """
    return observation.volatile or observation.pair in ledger.memory.seen_fingerprints


def _sighting(ledger: Ledger, observation: ToolsetObservation, state: SubjectState) -> Sighting:
    deployed = ledger.report.trigger is Trigger.DEPLOY
    loses = observation.diff is not None and observation.diff.loses_only
    # What changes during unrest is not told before it is over.
    decides = (
        deployed or doubt.decides(ledger) or state.flapping or _settles_along(ledger, state, observation.pair)
    )
    return Sighting(
        value=observation.pair,
        at=ledger.at,
        needed=ledger.policy.confirm,
        # What a rollout loses for a moment comes back by itself, unless the deploy has just ended.
        wait=ledger.policy.loss_confirm if loses and not deployed else NO_WAIT,
        announced=deployed,
        decides=decides and not observation.in_doubt,
        settings=ledger.settings,
    )


def _count(ledger: Ledger, step: Step, observation: ToolsetObservation) -> None:
    subject, value, diff = step.after.subject, step.after.confirmed, observation.diff
    if step.outcome.confirms:
        if _accepts(ledger, step.before, diff):
            step = Step(step.before, replace(step.after, accepted=value), step.outcome)
        if _settles_along(ledger, step.after, value):
            ledger.settle_along(step, _settled_verdict(step, observation.drift))
        else:
            ledger.confirm(step, _verdict(ledger, step, diff))
    else:
        if subject in ledger.unsettled:
            step = take_turns(step, ledger.unsettled[subject])
        _settle_or_keep(ledger, step, observation.drift)


def follow_toolsets(ledger: Ledger, causes: Causes) -> None:
    """Let the fingerprint check move with the toolsets, after they have been decided, without a word.

    While a toolset is pending nothing moves. Nothing moves either in the run that accepts a new one: this
    report still compares with the old.
    """
    for result in ledger.report.results:
        if result.check == FINGERPRINT and follows_toolsets(ledger, result) and not causes.root(result):
            _follow(ledger, result, causes)


def follows_toolsets(ledger: Ledger, result: Result) -> bool:
    """Whether a result only repeats what the toolsets' own events say."""
    if result.check != FINGERPRINT or ledger.incident(check_subject(FINGERPRINT)) is not None:
        return False
    return result.state in _COMPARED or result.code in _NOTHING_TO_COMPARE


def _follow(ledger: Ledger, result: Result, causes: Causes) -> None:
    value, state = value_of(result), ledger.state(check_subject(FINGERPRINT))
    if state is None or state.accepted is None or value == state.confirmed:
        observe_check(ledger, result, causes)
        return
    toolsets = [item for subject, item in ledger.states().items() if is_toolset(subject)]
    told = [item for item in toolsets if item.subject in ledger.told]
    accepts = any(
        item.subject in ledger.memory.states and ledger.memory.states[item.subject].accepted != item.accepted
        for item in toolsets
    )
    stale = accepts and result.state is not State.VERIFIED
    since = min((item.confirmed_since for item in told), default=ledger.at)
    event = ledger.told[told[0].subject] if told else None
    hold = stale or any(item.pending for item in toolsets)
    shadow(ledger, state, result, since, event, hold=hold)


def _accepts(ledger: Ledger, before: SubjectState, diff: Diff | None) -> bool:
    if ledger.policy.accept == "deploy":
        # What nobody has accepted yet is not accepted along with what comes after it.
        calm = before.confirmed == before.accepted
        return calm and ledger.report.trigger is Trigger.DEPLOY and diff is not None and not diff.breaking
    return ledger.policy.accept == "always"


def _verdict(ledger: Ledger, step: Step, diff: Diff | None) -> Verdict:
    before, after = step.before, step.after
    era, credential = surface_of(after.subject)
    seen_before = _seen_before(ledger, after)
    accepted = after.confirmed == after.accepted
    # To go back to what is accepted ends the trouble, whatever it breaks for who has followed the change.
    recovers = before.confirmed != before.accepted == after.confirmed
    return Verdict(
        kind=EventKind.TOOLSET_RETURNED if seen_before else EventKind.TOOLSET_CHANGED,
        level=Level.INFO if recovers else diff.level if diff else Level.WARNING,
        good=accepted,
        details={
            "diff": diff.to_json() if diff else None,
            "era": era,
            "credential": credential,
            "fingerprint": after.confirmed,
            "previous_fingerprint": before.confirmed,
            "accepted": accepted,
            "seen_before": seen_before,
        },
    )


def _seen_before(ledger: Ledger, state: SubjectState) -> str | None:
    """When this toolset was the confirmed one before, unless that was on the server's other surface."""
    elsewhere = any(
        other.confirmed == state.confirmed
        for subject, other in ledger.memory.states.items()
        if is_toolset(subject) and subject != state.subject
    )
    at = ledger.memory.seen_fingerprints.get(state.confirmed)
    return at.isoformat() if at and not elsewhere else None


def _settled_verdict(step: Step, drift: Diff | None) -> Verdict:
    """What came out of unrest; a list that is not the accepted one is told like any other change of it."""
    after, kind = step.after, EventKind.SETTLED
    good = after.confirmed == after.accepted
    if good or drift is None:
        return Verdict(kind=kind, level=Level.WARNING, good=good)
    era, credential = surface_of(after.subject)
    details: dict[str, Json] = {
        "diff": drift.to_json(),
        "era": era,
        "credential": credential,
        "fingerprint": after.confirmed,
        "previous_fingerprint": after.accepted,
        "accepted": False,
    }
    return Verdict(kind=kind, level=drift.level, good=False, details=details)


def _settle_or_keep(ledger: Ledger, step: Step, drift: Diff | None) -> None:
    match step.outcome:
        case Outcome.SETTLED:
            ledger.settle(step, _settled_verdict(step, drift))
        case Outcome.UNSETTLED:
            told = doubt.explained(ledger, REPLICAS) or doubt.explained(ledger, STABLE_LISTING)
            ledger.unsettle(step, tracked=True, alerts=not told)
        case Outcome.BLIP:
            ledger.blip(step)
            ledger.keep(step.after)
        case _:
            ledger.keep(step.after)
