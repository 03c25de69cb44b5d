"""The decision: one report against what is remembered, and what that makes of the memory."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType

from driftwatch.model import Depth, Era, EventKind, Report, Result, State, Trigger
from driftwatch.transitions import doubt
from driftwatch.transitions.causes import Causes
from driftwatch.transitions.certificates import (
    follow_certificate,
    follows_certificate,
    observe_certificate,
    shown_since,
)
from driftwatch.transitions.changes import Changes, ToolsetObservation
from driftwatch.transitions.check_states import block, observe_check, skip_for_depth, unblock
from driftwatch.transitions.ledger import Ledger
from driftwatch.transitions.memory import REPROBE_WINDOW, Memory, Policy, TlsNotice
from driftwatch.transitions.reprobe import plan
from driftwatch.transitions.spoken_states import observe_spoken
from driftwatch.transitions.subjects import ERAS, check_subject, is_accepted_by_hand, is_check, is_toolset
from driftwatch.transitions.toolset_states import follow_toolsets, follows_toolsets, observe_toolset
from driftwatch.transitions.values import eras_of


def decide(
    memory: Memory | None,
    report: Report,
    *,
    toolsets: Mapping[str, ToolsetObservation],
    settings: str,
    policy: Policy,
    now: datetime,
    run: str,
    unclear: Collection[Era] = (),
    dates: bool = True,
    unsettled: Mapping[str, Mapping[str, int]] = MappingProxyType({}),
) -> Changes:
    """What one conclusive report changes. Pure: the same input gives the same output, ids included.

    ``toolsets`` holds the complete tool lists of this probe by subject; a list that was not read to its end
    is not in it and changes nothing. ``settings`` is a digest of what shaped the report: where it differs
    from the remembered one, results are re-based instead of told. ``unclear`` names the eras whose first
    request met a refusal, an overload or silence, so that their absence from the report means nothing.
    Without ``dates`` nothing is concluded from how long anything lasts: the clock was just stepped.
    ``unsettled`` holds, by toolset subject, the values that took turns until the time of a deploy was up, and
    how often each was read.
    """
    ledger = Ledger(
        memory or Memory(server=report.server),
        report,
        policy=policy,
        settings=settings,
        now=now,
        run=run,
        unclear=unclear,
        unsettled=unsettled,
    )
    causes = Causes(report)
    of_eras = list[Result]()
    for result in causes.roots_first(ledger.blocking):
        root = causes.root(result)
        if skip_for_depth(ledger, result):
            continue
        if root is not None:
            block(ledger, result, root)
        elif doubt.hangs_on_eras(ledger, result):
            of_eras.append(result)
        elif not follows_toolsets(ledger, result) and not follows_certificate(ledger, result):
            observe_check(ledger, result, causes)
    unblock(ledger)
    for subject in sorted(toolsets, key=lambda each: (ledger.is_calm(each), each)):
        observe_toolset(ledger, toolsets[subject])
    follow_toolsets(ledger, causes)
    observe_spoken(ledger)
    for result in of_eras:
        observe_check(ledger, result, causes)
    if dates:
        _note_gap(ledger)
    observe_certificate(ledger, dates=dates)
    follow_certificate(ledger, causes, dates=dates)
    _drop_orphans(ledger)
    if ledger.first:
        _note_baseline(ledger)
    return ledger.changes(plan(ledger, now), causes.unasked)


def apply(memory: Memory | None, changes: Changes, report: Report) -> Memory:
    """The memory after these changes, as a store gives it back."""
    before = memory or Memory(server=report.server)
    incidents = dict(before.incidents)
    for incident in changes.incidents:
        if incident.closed_at is None:
            incidents[incident.subject] = incident
        else:
            incidents.pop(incident.subject, None)
    seen = dict(before.seen_fingerprints)
    for state in changes.states:
        old = before.states.get(state.subject)
        if is_toolset(state.subject) and (old is None or old.confirmed != state.confirmed):
            for pair in {state.confirmed, old.confirmed if old else state.confirmed}:
                seen[pair] = max(state.confirmed_since, seen.get(pair, state.confirmed_since))
    reprobe = [report.taken_at] if report.trigger is Trigger.CONFIRM else []
    recent = report.taken_at - REPROBE_WINDOW
    planned = changes.confirm
    return replace(
        before,
        states={**before.states, **{state.subject: state for state in changes.states}},
        incidents=incidents,
        certificate=report.certificate or before.certificate,
        certificate_since=shown_since(before, report) if report.certificate else before.certificate_since,
        notices=_noted(before, changes),
        last_run_at=report.taken_at,
        reprobes=tuple(at for at in (*before.reprobes, *reprobe) if at > recent),
        full_reprobe_at=planned.due_at if planned and planned.depth is Depth.FULL else None,
        seen_fingerprints=seen,
    )


def _noted(before: Memory, changes: Changes) -> tuple[TlsNotice, ...]:
    known = {(notice.leaf_sha256, notice.threshold_days) for notice in before.notices}
    new = [item for item in changes.notices if (item.leaf_sha256, item.threshold_days) not in known]
    return (*before.notices, *new)


def _note_baseline(ledger: Ledger) -> None:
    counts = Counter(result.state for result in ledger.report.results)
    fingerprints = {
        subject: state.confirmed for subject, state in ledger.states().items() if is_toolset(subject)
    }
    ledger.note(
        EventKind.BASELINE,
        {"states": {state.value: counts[state] for state in State}, "fingerprints": fingerprints},
    )


def _note_gap(ledger: Ledger) -> None:
    last, at = ledger.memory.last_run_at, ledger.at
    if last is not None and at - last > ledger.policy.gap:
        gap = {"gap_s": (at - last).total_seconds(), "from": last.isoformat(), "until": at.isoformat()}
        ledger.note(EventKind.MONITOR_GAP, gap)


def _drop_orphans(ledger: Ledger) -> None:
    """Close the incidents of what nobody looks at any more: a removed check, another credential's list."""
    checks = {check_subject(result.check) for result in ledger.report.results}
    eras = ledger.state(ERAS)
    for subject, incident in ledger.memory.incidents.items():
        if is_check(subject):
            gone = subject not in checks
        elif is_accepted_by_hand(subject):
            _, era, *credential = subject.split(":", 2)
            vanished = eras is not None and Era(era) not in eras_of(eras.confirmed)
            gone = vanished or credential not in ([], [ledger.report.credential])
        else:
            gone = False
        if gone and ledger.incident(subject):
            ledger.drop(incident)
