"""The reads after a release, inside the transactions that record them: what counts, and what is told.

What a run finds out on its way is written at once and held back; it leaves when the release is over on all of
its servers, as one message. Should anything go wrong in between, it leaves by itself a little later.

Every event of a run has ``details["release"]``, see ``attribution.told``. The details of ``deployed``:
``{"release", "state", "verdict", "counts": {state: number}, "told": events that said more, "changed": bool,
"summary": str, "reads": int, "answers": [{subject: pair, "times": int}], "root": value, "blip": {"subject",
"fingerprint", "times", "diff"} or null}``.
"""

import sys
import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Protocol

from driftwatch import deploys, transitions, views
from driftwatch.deploys import DeployOutcome, Look, Phase, Progress, Rules, attribution
from driftwatch.model import DeployState, Depth, Era, Event, EventKind, Json, Level, Release, Report, State
from driftwatch.store.ports import DeliveryPlan, DeployRun, Reader, RunRecord, Tx
from driftwatch.transitions import Changes, Incident, Memory, Policy
from driftwatch.transitions.subjects import ERAS, check_subject, is_spoken, is_toolset
from driftwatch.transitions.values import ENDPOINT, INSTANCES_DIFFER, REPLICAS

HELD_LONGER = timedelta(minutes=1)
"""What is told leaves this long after the time of its run is up, even if nobody lets it go."""

NEVER = sys.maxsize
"""So many reads never agree."""

_STATES = {
    Phase.SETTLED: DeployState.SETTLED,
    Phase.UNSETTLED: DeployState.UNSETTLED,
    Phase.LOST: DeployState.INCONCLUSIVE,
    Phase.UNSURE: DeployState.INCONCLUSIVE,
}


class Decide(Protocol):
    """What one report changes, by the numbers of a policy."""

    def __call__(self, *, policy: Policy, unsettled: Mapping[str, Mapping[str, int]] = ...) -> Changes:
        """``transitions.decide`` for this report. Pure: it may be asked twice."""


class Plan(Protocol):
    """Who is told of some events."""

    def __call__(self, events: Collection[Event], *, group_wait: timedelta) -> list[DeliveryPlan]:
        """The rows of the outbox, which leave no sooner than after ``group_wait``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How the reads after a release are made, and what is told of one that changes nothing."""

    rules: Rules = field(default_factory=Rules)
    on_unchanged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One read of a deploy run, recorded and not judged yet."""

    deploy: DeployRun
    run: RunRecord
    memory: Memory | None
    """What was remembered before it."""
    policy: Policy
    """That of the server's regular probes."""
    decide: Decide
    plan: Plan
    settings: Settings
    now: datetime
    in_doubt: Mapping[Era, str | None] = field(default_factory=dict)
    """As ``judging.Judged`` has it."""
    cut_off_until: datetime | None = None
    """When driftwatch's own network came back; nothing that was read before counts."""


def follow(tx: Tx, read: Read) -> Changes:
    """Let one read count: go on, or end the run with everything that it has to tell."""
    deploy, report, now, rules = read.deploy, read.run.report, read.now, read.settings.rules
    if report.taken_at < deploy.due_at:
        # It began before the newest announcement: what it saw may be the past.
        _read_again(tx, replace(deploy, progress=None), read, at=deploy.due_at, depth=Depth.FULL)
        return Changes()
    before = deploy.progress or _begin(read)
    if read.cut_off_until is not None and before.started_at < read.cut_off_until:
        before = deploys.anew(before, now)
    progress = deploys.advance(before, _look(report, read.in_doubt))
    news = progress.changed and len(progress.answers) > len(before.answers)
    if news and not deploy.events and _handed_over(tx, read):
        return Changes()
    # A read that saw nothing confirms nothing, but since when that is so is remembered.
    changes = read.decide(policy=_as_confirmations(read.policy, rules.reads if progress.latest else NEVER))
    doubts = list[str]()
    if progress.latest:
        after = _after(read, changes)
        doubts, progress = _doubts(after, progress), _with_spoken(progress, after)
    phase = deploys.phase(progress, rules, now, pending=bool(doubts))
    if phase is Phase.UNSETTLED:
        changes = read.decide(
            policy=_as_confirmations(read.policy, rules.reads), unsettled=_disagreeing(progress)
        )
    elif phase is Phase.LOST:
        changes = read.decide(policy=_as_confirmations(read.policy, 1))
    relation = attribution.AFTER if phase is Phase.LOST else attribution.BY
    told = _about(tx, deploy.release, read.run.request.server)
    changes = _named(tx, changes, told, relation, deploy.release)
    held = read.plan(changes.events, group_wait=rules.timeout + HELD_LONGER)
    tx.apply(read.run.request.server, changes, held)
    deploy = replace(
        deploy,
        progress=progress,
        events=(*deploy.events, *(event.id for event in changes.events if event.alerts)),
    )
    if phase is Phase.READING:
        deep = not progress.thorough or any(not is_toolset(subject) for subject in doubts)
        depth = Depth.FULL if deep else Depth.LIGHT
        at = deploys.next_read(progress, rules, now)
        _read_again(tx, deploy, read, at=at, depth=depth)
        return changes
    return replace(changes, events=(*changes.events, _end(tx, read, deploy, changes, phase)))


def after(tx: Reader, server: str, events: Collection[Event], now: datetime) -> tuple[Event, ...]:
    """The events of a regular probe: changes that came soon after a release name it.

    So does, whenever it comes, the end of what the release had left half-way. ``tx`` holds what was
    remembered before the probe.
    """
    if not any(event.alerts for event in events):
        return tuple(events)
    release = next(iter(tx.releases(server, limit=1)), None)
    if release is None:
        return tuple(events)
    told = {**_about(tx, release, server), "relation": attribution.AFTER}
    over = attribution.completes(events, _left_half_way(tx, release, server))
    return tuple(
        attribution.named(_with_origin(tx, event), told)
        if attribution.follows(event, release, now) or (over and attribution.may_follow(event))
        else _with_origin(tx, event)
        for event in events
    )


def _left_half_way(tx: Reader, release: Release, server: str) -> set[str]:
    """The subjects of which instances still differ as they did at the end of the release's own run."""
    memory, left = tx.memory(server), set[str]()
    for subject, incident in (memory.incidents if memory else {}).items():
        event = tx.event(incident.opening_event)
        if event is None or not _names(event, release):
            continue
        if subject == check_subject(REPLICAS) or event.kind is EventKind.UNSETTLED:
            left.add(subject)
    return left


def _names(event: Event, release: Release) -> bool:
    told = event.details.get("release")
    return isinstance(told, Mapping) and told.get("id") == release.id


def _end(tx: Tx, read: Read, deploy: DeployRun, changes: Changes, phase: Phase) -> Event:
    """Close the run: what became of it, the event that says so, and what was held back leaves."""
    server, now, progress = read.run.request.server, read.now, deploy.progress
    assert progress is not None  # noqa: S101 - this read has made one
    recorded = {event.id: event for event in changes.events}
    events = [found for id_ in deploy.events if (found := recorded.get(id_) or tx.event(id_))]
    memory = _after(read, changes)
    drift = _drift(tx, server, events, progress)
    standing = transitions.standing(memory.states.values())
    counts = {state.value: number for state, number in standing.counts.items()}
    state = _STATES[phase]
    changed = bool(progress.drifted)
    breaking = any(diff.get("breaking") for diff in drift.values())
    outcome = DeployOutcome(
        release=deploy.release.id,
        server=server,
        run_release=deploy.release.id,
        state=state,
        verdict=deploys.verdict(state, counts=counts, changed=changed, breaking=breaking),
        counts=counts,
        changed=changed,
        breaking=breaking,
        summary=_summary(tx, deploy.release, drift, memory),
        level=max((event.level for event in events), key=lambda level: level.rank, default=None),
        reads=progress.reads,
        finished_at=now,
        run=read.run.id,
    )
    blip = None if progress.changed or events else _blip(tx, server, progress)
    news = not events and (read.settings.on_unchanged or blip or state is not DeployState.SETTLED)
    over = Event(
        id=str(uuid.uuid5(uuid.UUID(read.run.id), EventKind.DEPLOYED)),
        server=server,
        kind=EventKind.DEPLOYED,
        level=Level.INFO if state is DeployState.SETTLED else Level.WARNING,
        alerts=bool(news),
        at=now,
        run=read.run.id,
        since=progress.started_at,
        details={
            "release": _about(tx, deploy.release, server),
            "state": state.value,
            "verdict": outcome.verdict.value if outcome.verdict else None,
            "counts": counts,
            "told": len(events),
            "changed": progress.changed,
            "summary": outcome.summary,
            "reads": progress.reads,
            "answers": [dict(answer.toolsets) | {"times": answer.times} for answer in progress.answers],
            "root": transitions.value_of(read.run.report.result(ENDPOINT)),
            "blip": blip,
        },
    )
    tx.record_event(over, read.plan([over], group_wait=read.settings.rules.timeout + HELD_LONGER))
    ids = (*deploy.events, *([over.id] if news else ()))
    tx.end_deploy(replace(outcome, events=ids), now)
    return over


def _read_again(tx: Tx, deploy: DeployRun, read: Read, *, at: datetime, depth: Depth) -> None:
    request = replace(read.run.request, due_at=at, depth=depth, release_ref=deploy.release.id, attempt=1)
    # The row of this read goes first: a server has one.
    tx.request_done(read.run.request)
    tx.go_on(deploy, request)


def _handed_over(tx: Tx, read: Read) -> bool:
    """Whether a release announced meanwhile goes on from here: what is new since then is its doing."""
    # The row of this read goes first: a server has one.
    tx.request_done(read.run.request)
    return tx.hand_over(read.deploy, read.now)


def _begin(read: Read) -> Progress:
    states = read.memory.states if read.memory else {}
    toolsets = {
        subject: state
        for subject, state in states.items()
        if is_toolset(subject) and subject.endswith(f":{read.run.report.credential}")
    }
    before = {subject: state.confirmed for subject, state in toolsets.items()}
    accepted = {subject: state.accepted for subject, state in toolsets.items() if state.accepted}
    endpoint = states.get(transitions.check_subject(ENDPOINT))
    root = None
    if endpoint is not None and not endpoint.blocked_by:
        blind = endpoint.confirmed.startswith(State.NOT_CHECKED)
        root = endpoint.confirmed if blind or (endpoint.confirmed == State.VERIFIED and not before) else None
    return Progress(started_at=read.run.report.taken_at, before=before, accepted=accepted, root=root)


def _look(report: Report, in_doubt: Mapping[Era, str | None]) -> Look:
    return Look(
        at=report.taken_at,
        full=report.depth is Depth.FULL,
        toolsets={
            transitions.toolset_subject(surface.era, report.credential): surface.fingerprint.pair
            for surface in report.surfaces
            if surface.fingerprint
        },
        root=transitions.value_of(report.result(ENDPOINT)),
        also={
            transitions.toolset_subject(era, report.credential): other
            for era, other in in_doubt.items()
            if other is not None
        },
        in_doubt=bool(in_doubt) or transitions.value_of(report.result(REPLICAS)) in INSTANCES_DIFFER,
    )


def _with_spoken(progress: Progress, after: Memory) -> Progress:
    """The progress with the eras and revisions that this read counts as spoken."""
    spoken = {
        subject: state.pending or state.confirmed
        for subject, state in after.states.items()
        if is_spoken(subject)
    }
    eras, revisions = dict(progress.eras), dict(progress.revisions)
    for subject, value in spoken.items():
        counts = eras if subject == ERAS else dict(revisions.get(subject, {}))
        counts[value] = counts.get(value, 0) + 1
        if subject != ERAS:
            revisions[subject] = counts
    return replace(progress, eras=eras, revisions=revisions)


def _as_confirmations(policy: Policy, reads: int) -> Policy:
    """The numbers of a deploy's reads: so many must agree, and then nothing is waited for."""
    return replace(policy, confirm=reads, loss_confirm=timedelta(0), unsettled=timedelta.max)


def _after(read: Read, changes: Changes) -> Memory:
    return transitions.apply(read.memory, changes, read.run.report)


def _doubts(memory: Memory, progress: Progress) -> list[str]:
    """The subjects of which too few reads have agreed so far; not lists that are not shown any more."""
    return [
        state.subject
        for state in memory.states.values()
        if state.pending
        and not state.flapping
        and (state.subject in progress.latest or not is_toolset(state.subject))
    ]


def _disagreeing(progress: Progress) -> dict[str, dict[str, int]]:
    """The values of each toolset, of the eras and of their revisions, where several were read."""
    subjects = {subject for answer in progress.answers for subject in answer.toolsets}
    read: dict[str, Mapping[str, int]] = {subject: progress.spoken(subject) for subject in sorted(subjects)}
    read |= {ERAS: progress.eras, **progress.revisions}
    return {subject: dict(values) for subject, values in read.items() if len(values) > 1}


def _about(reader: Reader, release: Release, server: str) -> dict[str, Json]:
    earlier = reader.releases(server, before=release.received_at, limit=1)
    return attribution.told(release, previous_ref=earlier[0].ref if earlier else None)


def _named(
    reader: Reader, changes: Changes, told: Mapping[str, Json], relation: str, release: Release
) -> Changes:
    """The changes with events that name their release, and the release that an earlier list was of."""

    def name(event: Event) -> Event:
        how = relation if event.kind in attribution.CHANGES else attribution.AFTER
        event = attribution.named(_with_origin(reader, event), {**told, "relation": how})
        return attribution.expected(event) if release.expect_change else event

    return replace(changes, events=tuple(map(name, changes.events)))


def _with_origin(reader: Reader, event: Event) -> Event:
    """The event of a toolset that is back, with the release by which it came the last time."""
    if event.kind is not EventKind.TOOLSET_RETURNED or event.server is None or event.subject is None:
        return event
    stretches = reader.intervals(event.server, event.subject)
    known = next((each for each in stretches if each.value == event.after and each.event), None)
    began = reader.event(known.event) if known and known.event else None
    release = began.details.get("release") if began else None
    if not isinstance(release, Mapping):
        return event
    return replace(event, details={**event.details, "seen_release": release.get("ref")})


def _drift(
    reader: Reader, server: str, events: Collection[Event], progress: Progress
) -> dict[str, Mapping[str, Json]]:
    """How what is shown differs from what was accepted when the run began, by subject."""
    told = {
        (event.before, event.after): event.details["diff"]
        for event in events
        if event.kind in attribution.TOOLSETS and event.details.get("diff")
    }
    drift = {}
    for subject, pairs in progress.drifted.items():
        if pairs not in told:
            told[pairs] = _diff(reader, server, subject, *pairs) or {}
        drift[subject] = told[pairs]
    return drift


def _summary(
    reader: Reader, release: Release, drift: Mapping[str, Mapping[str, Json]], memory: Memory
) -> str:
    """Each difference in one line; one that is older than the release says since when."""
    lines = []
    for subject, diff in drift.items():
        words, since = str(diff.get("summary") or "another toolset"), None
        incident = memory.incidents.get(subject)
        if incident is not None:
            since = _since(reader, release, incident)
        lines.append(f"differs from the accepted baseline since {since}: {words}" if since else words)
    return "; ".join(dict.fromkeys(lines))


def _since(reader: Reader, release: Release, incident: Incident) -> str | None:
    """The release or the time since which a toolset is not the accepted one; None for this very release."""
    opening = reader.event(incident.opening_event)
    told = opening.details.get("release") if opening else None
    if not isinstance(told, Mapping):
        return f"{incident.opened_at:%Y-%m-%d %H:%M} UTC"
    return None if told["id"] == release.id else f"release {told['ref']}"


def _diff(reader: Reader, server: str, subject: str, before: str, after: str) -> Mapping[str, Json] | None:
    """How two remembered lists differ; None where one is not remembered any more."""
    one, other = reader.toolset(server, before), reader.toolset(server, after)
    return views.between(reader, server, subject, one, other).to_json() if one and other else None


def _blip(reader: Reader, server: str, progress: Progress) -> Mapping[str, Json] | None:
    """What the toolset was for a moment during the run, where it is as before again."""
    for answer in progress.answers:
        for subject, pair in answer.toolsets.items():
            old, new = progress.before.get(subject), pair
            if old is None or old == new:
                continue
            difference = _diff(reader, server, subject, old, new)
            return {"subject": subject, "fingerprint": new, "times": answer.times, "diff": difference}
    return None
