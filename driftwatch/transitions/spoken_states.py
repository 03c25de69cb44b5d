"""What a server speaks: its eras, and in each of them the revisions that are negotiated or offered."""

from collections.abc import Callable, Mapping
from dataclasses import replace

from driftwatch.model import KNOWN_REVISIONS, Era, EventKind, Json, Level, Trigger, position
from driftwatch.transitions import doubt
from driftwatch.transitions.confirmation import (
    Outcome,
    Sighting,
    Step,
    adopt,
    advance,
    first,
    take_turns,
    wait,
)
from driftwatch.transitions.ledger import Ledger, Verdict
from driftwatch.transitions.memory import SubjectState
from driftwatch.transitions.subjects import ERAS, revision_subject
from driftwatch.transitions.values import REPLICAS, eras_of, eras_value, revisions_of, revisions_value


def observe_spoken(ledger: Ledger) -> None:
    """Let the eras and revisions in which the server spoke count; silence is none.

    An era that gave no clear answer counts as spoken when it was so far: an overloaded gateway has not ended
    an era. While instances that speak otherwise may answer in turn, none of it counts, and only a full probe
    can tell those from a change.
    """
    spoken = {surface.era for surface in ledger.report.surfaces}
    if not spoken:
        return
    _observe(ledger, ERAS, eras_value(spoken | doubt.silent(ledger)), _accepts_eras, _eras_verdict)
    for surface in ledger.report.surfaces:
        subject, value = revision_subject(surface.era), revisions_value(surface)
        _observe(ledger, subject, value, _accepts_revision, _revision_verdict)


def _observe(
    ledger: Ledger,
    subject: str,
    value: str,
    accepts: Callable[[Ledger, Step], bool],
    verdict: Callable[[Ledger, Step], Verdict],
) -> None:
    state = ledger.state(subject)
    sighting = Sighting(
        value=value,
        at=ledger.at,
        needed=ledger.policy.confirm,
        # A few reads of a deploy that has not settled may agree by chance.
        decides=doubt.decides(ledger) and subject not in ledger.unsettled,
        settings=ledger.settings,
    )
    waits = doubt.eras_in_turn(ledger)
    ledger.seen.add(subject)
    if not doubt.decides(ledger):
        ledger.too_light.add(subject)
    if state is None:
        if not waits:
            ledger.begin(first(subject, value, ledger.at, ledger.settings))
    elif waits:
        ledger.doubted.add(subject)
        ledger.keep(wait(state, sighting))
    elif _moved_by_us(ledger, state, value):
        ledger.rebase(state, replace(adopt(state, sighting, ledger.at), accepted=value), over=True)
    else:
        step = advance(state, sighting, ledger.policy)
        if step.outcome.confirms:
            if accepts(ledger, step):
                step = Step(step.before, replace(step.after, accepted=value), step.outcome)
            ledger.confirm(step, verdict(ledger, step))
        else:
            if subject in ledger.unsettled:
                step = take_turns(step, ledger.unsettled[subject])
            _settle_or_keep(ledger, step)


def _moved_by_us(ledger: Ledger, state: SubjectState, value: str) -> bool:
    """Whether another value is put down to edited settings, and ends no incident that was told."""
    ends_incident = ledger.incident(state.subject) is not None and value == state.accepted
    return value != state.confirmed and state.settings != ledger.settings and not ends_incident


def _accepts_eras(_ledger: Ledger, _step: Step) -> bool:
    """A change of eras is told once; there is nothing to wait for."""
    return True


def _accepts_revision(ledger: Ledger, step: Step) -> bool:
    """Whether revisions become the accepted ones by themselves: those that take nothing away always do."""
    after, policy = step.after, ledger.policy
    if policy.accept == "always" or not _loses(after, after.accepted):
        return True
    calm = step.before.confirmed == step.before.accepted
    deployed = ledger.report.trigger is Trigger.DEPLOY
    return policy.accept == "deploy" and deployed and calm and not _loses(after, step.before.confirmed)


def _loses(state: SubjectState, before: str | None) -> bool:
    """Whether a client that got on with the revisions ``before`` may not get on with those of now."""
    old, new = revisions_of(before), revisions_of(state.confirmed)
    if state.subject == revision_subject(Era.MODERN):
        return not set(old) <= set(new)
    unknown = not set(new) <= set(KNOWN_REVISIONS)
    return old != new and (unknown or max(map(position, new), default=0) < max(map(position, old), default=0))


def _eras_verdict(ledger: Ledger, step: Step) -> Verdict:
    before, after = eras_of(step.before.confirmed), eras_of(step.after.confirmed)
    surfaces: list[Mapping[str, Json]] = [
        {"era": surface.era.value, "revision": surface.revision, "tools": surface.tools}
        for surface in ledger.report.surfaces
    ]
    return Verdict(
        kind=EventKind.ERA_CHANGED,
        level=Level.ERROR if before - after else Level.WARNING,
        good=False,
        tracked=False,
        details={
            "appeared": [era.value for era in Era if era in after - before],
            "vanished": [era.value for era in Era if era in before - after],
            "surfaces": surfaces,
        },
    )


def _revision_verdict(ledger: Ledger, step: Step) -> Verdict:
    before, after = step.before, step.after
    incident = ledger.incident(after.subject)
    accepted = after.confirmed == after.accepted
    loses = _loses(after, before.confirmed)
    lasted = (after.confirmed_since - incident.opened_at).total_seconds() if incident and accepted else None
    return Verdict(
        kind=EventKind.REVISION_CHANGED,
        level=Level.WARNING if loses and not (accepted and incident) else Level.INFO,
        good=accepted,
        details={
            "era": after.subject.partition(":")[2],
            "before": list(revisions_of(before.confirmed)),
            "after": list(revisions_of(after.confirmed)),
            "loses": loses,
            "accepted": accepted,
            "baseline": list(revisions_of(after.accepted)),
            "duration_s": lasted,
        },
    )


def _settle_or_keep(ledger: Ledger, step: Step) -> None:
    tracked, good = step.after.subject != ERAS, step.after.confirmed == step.after.accepted
    match step.outcome:
        case Outcome.SETTLED:
            verdict = Verdict(kind=EventKind.SETTLED, level=Level.WARNING, good=good, tracked=tracked)
            ledger.settle(step, verdict)
        case Outcome.UNSETTLED:
            ledger.unsettle(step, tracked=tracked, alerts=not doubt.explained(ledger, REPLICAS))
        case Outcome.BLIP:
            ledger.blip(step)
            ledger.keep(step.after)
        case _:
            ledger.keep(step.after)
