"""One probe, from the request to the commit."""

import asyncio
import functools
import logging
import uuid
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

from driftwatch import checks, rollout, toolset, transitions
from driftwatch.alerts.resume import address
from driftwatch.alerts.route import ChannelRule
from driftwatch.clock import Clock, StepWatch
from driftwatch.config import Window
from driftwatch.errors import StoreError
from driftwatch.evidence import Evidence, Missing
from driftwatch.guard import NetworkGuard
from driftwatch.judging import Judged, Lists, judge, read_toolsets
from driftwatch.model import (
    Era,
    Event,
    EventKind,
    ProbeRequest,
    Report,
    State,
    Trigger,
)
from driftwatch.observe.neighbours import Neighbours
from driftwatch.observe.remembering import remembered
from driftwatch.observe.watched import Watched
from driftwatch.probe import Prober
from driftwatch.probe.conversation.outcome import blocked
from driftwatch.report import transcript
from driftwatch.store.ports import Reader, RunRecord, Store, StoredToolset, Tx
from driftwatch.toolset import ToolsetRecord
from driftwatch.transitions import Changes, Memory, ToolsetObservation

runs = logging.getLogger("driftwatch.runs")
events = logging.getLogger("driftwatch.events")

LONGEST_RETRY_AFTER = timedelta(minutes=1)
"""A server may ask for a pause; one that asks for more than this is probed again after this.

It is shorter than most intervals: a server must not be able to switch its monitoring off.
"""

CONFIRMED = frozenset(
    {
        *(EventKind.CHANGE, EventKind.RECOVERY, EventKind.COVERAGE_LOST, EventKind.COVERAGE_BACK),
        *(EventKind.TOOLSET_CHANGED, EventKind.TOOLSET_RETURNED, EventKind.FLAPPING),
        *(EventKind.ERA_CHANGED, EventKind.REVISION_CHANGED),
    }
)
"""The events by which a new value counts."""


class Observer:
    """Carries out probe requests, one at a time per server; the caller holds the server's lock."""

    def __init__(
        self,
        *,
        watched: Mapping[str, Watched],
        store: Store,
        prober: Prober,
        clock: Clock,
        channels: Sequence[ChannelRule],
        group_wait: timedelta,
        windows: Sequence[Window] = (),
        rollouts: rollout.Settings | None = None,
        guard: NetworkGuard | None = None,
        told: Callable[[], None] = lambda: None,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``told`` is called when there is something to send, ``refused`` when the database failed.

        ``guard`` may call a probe inconclusive.
        """
        self._store = store
        self._prober = prober
        self._clock = clock
        self._neighbours = Neighbours(clock)
        self.configure(
            watched=watched,
            channels=channels,
            group_wait=group_wait,
            windows=windows,
            rollouts=rollouts or rollout.Settings(),
        )
        self._guard = guard
        self._told = told
        self._refused = refused
        self._steps = StepWatch(clock)
        self._stepped: set[str] = set()
        """The servers of which a step of the clock has spoilt the next look at dates."""
        self.storing = True
        """False after a run that the database did not take, until it takes one again."""
        self.counts: Counter[tuple[str, str]] = Counter()
        """Probes by trigger and outcome: reachable, unreachable or unstored."""

    def configure(
        self,
        *,
        watched: Mapping[str, Watched],
        channels: Sequence[ChannelRule],
        group_wait: timedelta,
        windows: Sequence[Window],
        rollouts: rollout.Settings,
    ) -> None:
        """Other servers, channels and windows from now on; a probe under way ends as it began."""
        self._watched = watched
        self._neighbours.configure(watched)
        self._channels = tuple(channels)
        self._group_wait = group_wait
        self._windows = tuple(windows)
        self._rollouts = rollouts

    async def observe(self, request: ProbeRequest) -> Report | None:
        """Make one probe and remember what it changed.

        None when nothing was recorded: the server is no longer configured, the run was recorded before, it
        met driftwatch's own network (then it is made again), or the database could not take it. A storage
        fault is never a state of the server: what was handed out and not recorded is due again, and nothing
        is remembered of this probe.
        """
        watched = self._watched.get(request.server)
        if watched is None:
            await self._store.transact(lambda tx: tx.request_done(request))
            return None
        evidence = await self._prober(watched.target, depth=request.depth, trigger=request.trigger)
        if request.server not in self._watched:
            # It was removed, or has another name, since the probe began.
            await self._store.transact(lambda tx: tx.request_done(request))
            return None
        try:
            report = await self._record(request, watched, evidence)
        except StoreError as error:
            self.storing = False
            self._refused(str(error))
            self.counts[request.trigger, "unstored"] += 1
            fields = {"server": request.server, "error": str(error)}
            events.error("storage_fault", extra={"fields": fields})
            return None
        self.storing = True
        reached = "reachable" if evidence.outcome.reachable else "unreachable"
        self.counts[request.trigger, reached] += 1
        return report

    async def _record(self, request: ProbeRequest, watched: Watched, evidence: Evidence) -> Report | None:
        memory = await self._store.query(lambda reader: reader.memory(request.server))
        # A list of a megabyte takes tens of milliseconds: the loop is for everyone.
        read = await asyncio.to_thread(read_toolsets, evidence)
        diffs = Differences(self._store, request.server, memory)
        known = await self._compared(remembered(memory, evidence.credential), read, diffs)
        judged = await asyncio.to_thread(judge, evidence, watched.checks, known, read)
        if self._guard is not None and await self._guard.is_ours(request, judged.report, memory):
            runs.warning("inconclusive", extra={"fields": {"server": request.server, "why": "own network"}})
            return None
        observed = await self._observed(memory, judged, diffs)
        run = RunRecord(
            id=uuid.uuid4().hex,
            request=request,
            report=judged.report,
            toolsets=judged.toolsets,
            transcript=transcript(evidence),
        )
        now, dates = self._clock.now(), self._dates_hold(request.server)
        neighbours = self._neighbours.to_look_at(judged.report, memory)

        def record(tx: Tx) -> Changes | None:
            current = tx.lock_server(request.server)
            if self._guard is not None:
                current = self._guard.settled(current)
            if not tx.record_run(run):
                tx.request_done(request)
                return None
            decide = functools.partial(
                _decide,
                tx,
                current,
                judged.report,
                toolsets=observed,
                settings=watched.revision,
                now=now,
                run=run.id,
                unclear=_unclear(evidence),
                dates=dates,
            )
            tell = functools.partial(
                address,
                tx,
                channels=self._channels,
                tags=watched.tags,
                now=now,
                windows=self._windows,
                reminder=watched.transitions.reminder,
            )
            deploy = tx.deploy_run(request.server) if request.trigger is Trigger.DEPLOY else None
            if deploy is not None:
                changes = rollout.follow(
                    tx,
                    rollout.Read(
                        deploy=deploy,
                        run=run,
                        memory=current,
                        policy=watched.transitions,
                        decide=decide,
                        plan=tell,
                        settings=self._rollouts,
                        now=now,
                        in_doubt=judged.in_doubt,
                        cut_off_until=self._guard.over_at if self._guard else None,
                    ),
                )
            else:
                changes = decide(policy=watched.transitions)
                changes = replace(changes, events=rollout.after(tx, request.server, changes.events, now))
                tx.apply(request.server, changes, tell(changes.events, group_wait=self._group_wait))
            if neighbours:
                tx.hasten(neighbours, now)
            if evidence.retry_after_s is not None:
                pause = min(timedelta(seconds=evidence.retry_after_s), LONGEST_RETRY_AFTER)
                tx.postpone(request.server, now + pause)
            tx.request_done(request)
            return changes

        changes = await self._store.transact(record)
        if changes is None:
            return None
        _log_run(run, changes)
        if request.trigger is Trigger.DEPLOY or any(event.alerts for event in changes.events):
            self._told()
        return judged.report

    def _dates_hold(self, server: str) -> bool:
        """Whether the clock was not stepped since the last look at a server."""
        if self._steps.step():
            self._stepped |= set(self._watched)
        if server in self._stepped:
            self._stepped.discard(server)
            return False
        return True

    async def _compared(
        self, known: Mapping[Era, checks.Remembered | Missing], read: Lists, diffs: "Differences"
    ) -> dict[Era, checks.Remembered | Missing]:
        """What is remembered, and in a few words how each list differs from the accepted one."""
        compared = dict(known)
        for era, record in read.toolsets.items():
            item = known.get(era)
            if isinstance(item, checks.Remembered) and isinstance(record, ToolsetRecord):
                diff = await diffs.between(item.accepted, record)
                if diff is not None and not diff.empty:
                    compared[era] = replace(item, difference=f"Against the accepted list: {diff.summary}.")
        return compared

    async def _observed(
        self, memory: Memory | None, judged: Judged, diffs: "Differences"
    ) -> dict[str, ToolsetObservation]:
        observed = {}
        for record in judged.toolsets:
            subject = transitions.toolset_subject(Era(record.era), record.credential)
            state = memory.states.get(subject) if memory else None
            observed[subject] = ToolsetObservation(
                subject=subject,
                pair=record.fingerprint.pair,
                algorithm=record.fingerprint.algorithm,
                diff=await diffs.between(state.confirmed, record) if state else None,
                volatile=record.volatile,
                drift=await diffs.between(state.accepted, record) if state and state.accepted else None,
                only_noise=memory is not None
                and state is not None
                and (record.volatile or record.fingerprint.pair in memory.seen_fingerprints)
                and await diffs.only_noise(state.confirmed, record),
                in_doubt=Era(record.era) in judged.in_doubt,
            )
        return observed


class Differences:
    """How the lists of one probe differ from stored ones, each compared once."""

    def __init__(self, store: Store, server: str, memory: Memory | None) -> None:
        """Reads only what differs."""
        self._store = store
        self._server = server
        self._states = memory.states if memory else {}
        self._known: dict[tuple[str, str], toolset.Diff | None] = {}

    async def between(self, pair: str, record: ToolsetRecord) -> toolset.Diff | None:
        """From the stored list ``pair`` to this one; None when they are the same or it is not stored.

        What was there before this one is compared with its last definition, and returned.
        """
        if pair == record.fingerprint.pair:
            return None
        key = (pair, record.era)
        if key not in self._known:
            read = functools.partial(self._read, pair, record)
            before, earlier = await self._store.query(read)
            # A list of a megabyte takes a tenth of a second: the loop is for everyone.
            self._known[key] = await asyncio.to_thread(_diff, before, record, earlier) if before else None
        return self._known[key]

    async def only_noise(self, pair: str, record: ToolsetRecord) -> bool:
        """Whether a list and the stored one differ only where one of them changes at every read."""
        if pair == record.fingerprint.pair:
            return False
        before = await self._store.query(_stored(self._server, pair))
        return before is not None and await asyncio.to_thread(_only_noise, before.content, record)

    def _read(
        self, pair: str, record: ToolsetRecord, reader: Reader
    ) -> tuple[StoredToolset | None, toolset.Toolset]:
        before = reader.toolset(self._server, pair)
        names = toolset.names_only_in(record.content, before.content) if before else ()
        if not names:
            return before, toolset.NOTHING
        subject = transitions.toolset_subject(Era(record.era), record.credential)
        state = self._states.get(subject)
        began = state.confirmed_since if state and state.confirmed == record.fingerprint.pair else None
        return before, reader.last_known(self._server, subject, names, began)


def _decide(tx: Tx, memory: Memory | None, report: Report, **named: Any) -> Changes:
    """``transitions.decide``; what was first seen after a gap in the watch says so."""
    changes = transitions.decide(memory, report, **named)
    if not any(event.alerts for event in changes.events):
        return changes
    kinds = [EventKind.MONITOR_GAP]
    noted = [event for event in changes.events if event.kind in kinds]
    gap = next(iter(noted or tx.events(report.server, limit=1, kinds=kinds)), None)
    if gap is None:
        return changes
    found = {"gap_s": gap.details["gap_s"]}
    at_its_end = {
        state.subject for state in changes.states if state.confirmed_since.isoformat() == gap.details["until"]
    }
    return replace(
        changes,
        events=tuple(
            replace(event, details={**event.details, **found})
            if event.kind in CONFIRMED and event.subject in at_its_end
            else event
            for event in changes.events
        ),
    )


def _unclear(evidence: Evidence) -> frozenset[Era]:
    """The eras that were not asked for, or met a refusal, an overload or silence: no surface means nothing.

    The old HTTP+SSE transport is asked for only where nothing else is spoken, and is never unclear.
    """
    openings = () if isinstance(evidence.openings, Missing) else evidence.openings
    decided = {
        opening.era for opening in openings if opening.established or blocked(opening.exchange) is None
    }
    return frozenset({Era.MODERN, Era.LEGACY} - decided)


def _stored(server: str, pair: str) -> Callable[[Reader], StoredToolset | None]:
    return lambda reader: reader.toolset(server, pair)


def _only_noise(before: toolset.Toolset, record: ToolsetRecord) -> bool:
    settled, other = (record.content, before) if record.volatile else (before, record.content)
    return toolset.differs_only_in_marks(settled, other)


def _diff(before: StoredToolset, record: ToolsetRecord, earlier: toolset.Toolset) -> toolset.Diff:
    return toolset.diff(before.content, record.content, earlier)


def _log_run(run: RunRecord, changes: Changes) -> None:
    report = run.report
    counts = {state.value: sum(result.state is state for result in report.results) for state in State}
    fields = {
        "run": run.id,
        "server": report.server,
        "trigger": report.trigger.value,
        "depth": report.depth.value,
        "reachable": report.reachable,
        "requests": report.requests,
        "duration_s": round(report.duration_s, 3),
        "states": counts,
        "confirm_at": changes.confirm.due_at.isoformat() if changes.confirm else None,
    }
    runs.info("run", extra={"fields": fields})
    for event in changes.events:
        _log_event(event)


def _log_event(event: Event) -> None:
    fields = {
        "event": event.id,
        "server": event.server,
        "kind": event.kind.value,
        "severity": event.level.value,
        "subject": event.subject,
        "before": event.before,
        "after": event.after,
        "run": event.run,
    }
    events.info("event", extra={"fields": fields})
