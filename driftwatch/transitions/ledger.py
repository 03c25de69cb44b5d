"""Collects what one report changes: states, stretches, incidents and events, each with a stable id."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from driftwatch.model import Era, Event, EventKind, Json, Level, Report
from driftwatch.transitions.changes import Changes, ConfirmProbe, Interval
from driftwatch.transitions.confirmation import Outcome, Step, calmed, departures, is_told, unblocked
from driftwatch.transitions.incidents import Incidents, stable_id
from driftwatch.transitions.memory import Incident, Memory, Policy, SubjectState, TlsNotice
from driftwatch.transitions.subjects import check_of, check_subject, is_spoken
from driftwatch.transitions.values import NOT_APPLICABLE

_TOLD_SINCE_THE_BEGINNING = frozenset({EventKind.RECOVERY, EventKind.COVERAGE_BACK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a confirmed value means."""

    kind: EventKind
    level: Level
    good: bool
    """The subject is verified again, or as it was accepted: its incident is over."""
    tracked: bool = True
    """False for what is told once and opens no incident."""
    alerts: bool = True
    """False for what belongs into the history only."""
    details: Mapping[str, Json] = field(default_factory=dict)


class Ledger:
    """The changes of one report while they are being found out; the memory stays as it was."""

    def __init__(
        self,
        memory: Memory,
        report: Report,
        *,
        policy: Policy,
        settings: str,
        now: datetime,
        run: str,
        unclear: Collection[Era],
        unsettled: Mapping[str, Mapping[str, int]],
    ) -> None:
        """Things were seen at ``report.taken_at``; events happen at ``now``."""
        self.memory = memory
        self.report = report
        self.policy = policy
        self.settings = settings
        self.unclear = unclear
        """Eras whose absence from the report means nothing."""
        self.unsettled = unsettled
        """By toolset, the values of which a deploy's reads did not agree."""
        self.at = report.taken_at
        self.first = not memory.states
        self.blocking = frozenset(state.blocked_by for state in memory.states.values() if state.blocked_by)
        """The checks that blocked others so far."""
        self.seen: set[str] = set()
        """Subjects that this report observed."""
        self.too_light: set[str] = set()
        """Subjects that take a deeper probe than this one."""
        self.doubted: set[str] = set()
        """Subjects of which another instance may explain what this report shows."""
        self.told: dict[str, str] = {}
        """By subject, the event that confirmed its new value in this report."""
        self.settled: dict[str, str] = {}
        """By subject, the value on which it settled in this report."""
        self.now = now
        self.run = run
        self._states: dict[str, SubjectState] = {}
        self._incidents = Incidents(memory.incidents, policy=policy, now=now, run=run)
        self._intervals: list[Interval] = []
        self._events: list[Event] = []
        self.new_notices: list[TlsNotice] = []
        """What this report adds about certificates."""
        self._problems: list[tuple[SubjectState, Json]] = []
        self._added: list[str] = []
        self._moved: list[dict[str, str]] = []
        self._removed: list[str] = []

    def state(self, subject: str) -> SubjectState | None:
        """The state of a subject as it is now."""
        return self._states.get(subject) or self.memory.states.get(subject)

    def is_calm(self, subject: str) -> bool:
        """Whether a subject was not told to be in unrest."""
        state = self.state(subject)
        return state is None or not state.flapping

    def states(self) -> dict[str, SubjectState]:
        """Every state as it is now."""
        return {**self.memory.states, **self._states}

    def incident(self, subject: str) -> Incident | None:
        """The open incident of a subject."""
        return self._incidents.of(subject)

    def keep(self, state: SubjectState) -> None:
        """Put a state in the place of what is remembered."""
        self._states[state.subject] = state

    def stretch(self, state: SubjectState, value: str, since: datetime, event: str | None) -> None:
        """Open a new stretch in the history of a subject, never before the one that it ends."""
        since = max(since, state.blocked_since or state.confirmed_since)
        self._intervals.append(Interval(subject=state.subject, value=value, since=since, event=event))

    def begin(self, state: SubjectState) -> None:
        """Keep the first state of a subject; on a known server it is listed as added."""
        kind = EventKind.BASELINE if self.first else EventKind.REBASED
        self._intervals.append(
            Interval(
                subject=state.subject,
                value=state.confirmed,
                since=state.confirmed_since,
                event=self._id(kind),
            )
        )
        self.keep(state)
        if not self.first:
            self._added.append(state.subject)

    def first_sight(self, before: SubjectState, state: SubjectState) -> None:
        """Keep what is seen at last of a subject that was known and could not be seen so far."""
        self.stretch(before, state.confirmed, self.at, self._id(EventKind.REBASED))
        self.keep(state)
        self._added.append(state.subject)

    def problem(self, state: SubjectState, result: Json) -> None:
        """Tell of a check that is failed at its first sight."""
        self._problems.append((state, result))

    def rebase(self, before: SubjectState, state: SubjectState, *, over: bool) -> None:
        """Take a value that driftwatch or the settings moved: listed, not told.

        ``over`` says that the subject's incident, if there is one, has no ground any more.
        """
        event = self._id(EventKind.REBASED)
        incident = self.incident(before.subject)
        if incident and over:
            self._incidents.close(incident, event)
            state = replace(state, incident=None)
        elif incident:
            self._incidents.put(replace(incident, value=state.confirmed))
        self._moved.append({"subject": before.subject, "before": before.confirmed, "after": state.confirmed})
        self.stretch(before, state.confirmed, self.at, event)
        self.keep(unblocked(state))

    def drop(self, incident: Incident) -> None:
        """Close the incident of a subject that nobody will observe again."""
        self._incidents.close(incident, self._id(EventKind.REBASED))
        self._removed.append(incident.subject)
        state = self.state(incident.subject)
        if state is not None:
            self.keep(replace(state, incident=None))

    def confirm(self, step: Step, verdict: Verdict) -> None:
        """Tell a confirmed change; while the subject is flapping, store it."""
        flaps = step.outcome is Outcome.FLAPPING
        kind, level = (EventKind.FLAPPING, Level.WARNING) if flaps else (verdict.kind, verdict.level)
        event = self._id(kind, step.after.subject)
        incident = self._incident_of(step, verdict, event)
        since = step.after.confirmed_since
        details = {**verdict.details, "incident": incident.id if incident else None}
        if kind in _TOLD_SINCE_THE_BEGINNING:
            ended = incident if step.outcome is Outcome.CHANGED else None
            since = ended.opened_at if ended else step.before.confirmed_since
            details["duration_s"] = (step.after.confirmed_since - since).total_seconds()
        if flaps:
            since = step.after.flap_times[0]
            details |= {
                "change": verdict.kind.value,
                "changes": len(step.after.flap_times),
                "values": dict(Counter(step.after.flap_values)),
                "window_s": self.policy.flap_window.total_seconds(),
                "settle": self.policy.flap_settle,
            }
        if step.outcome is Outcome.MUTED:
            details["flapping"] = True
        self._tell(
            kind,
            level,
            step,
            since,
            details,
            alerts=verdict.alerts and step.outcome is not Outcome.MUTED,
            after=step.after.confirmed,
        )
        self.stretch(step.before, step.after.confirmed, step.after.confirmed_since, event)
        self.told[step.after.subject] = event
        self._keep_with_incident(unblocked(step.after))

    def settle(self, step: Step, verdict: Verdict) -> None:
        """Tell that the unrest is over, and how the subject came out of it, unless that was told already."""
        before, value = step.before, step.after.confirmed
        self.settled[before.subject] = value
        event = self._id(EventKind.SETTLED, before.subject)
        incident = self.incident(before.subject)
        began = (*before.flap_times[:1], before.turning_since, incident.opened_at if incident else None)
        since = min((time for time in began if time), default=self.at)
        if verdict.good:
            incident = self._incidents.close(incident, event) if incident else None
        elif verdict.tracked:
            incident = self._incidents.go_on(incident, step.after, verdict.level, event, since)
        details: dict[str, Json] = {
            **verdict.details,
            "values": dict(Counter(before.flap_values)) or _spoken(before),
            "muted": before.flap_muted,
            "incident": incident.id if incident else None,
        }
        level = Level.INFO if verdict.good else verdict.level
        self._tell(EventKind.SETTLED, level, step, since, details, alerts=not is_told(before), after=value)
        self._keep_with_incident(step.after)

    def settle_along(self, step: Step, verdict: Verdict) -> None:
        """Tell of a subject what another one has just settled on, in the same words."""
        event, after = self._id(EventKind.SETTLED, step.before.subject), calmed(step.after)
        self.stretch(step.before, after.confirmed, after.confirmed_since, event)
        self.settle(replace(step, after=after), verdict)

    def unsettle(self, step: Step, *, tracked: bool, alerts: bool) -> None:
        """Tell that answers take turns although none of them is ever confirmed."""
        state = step.after
        event = self._id(EventKind.UNSETTLED, state.subject)
        others = [value for value in state.turns if value and value != state.confirmed]
        other = max(others, key=lambda value: (state.turns[value], value), default=state.confirmed)
        since = state.turning_since or self.at
        incident = self.incident(state.subject)
        if incident is None and tracked and alerts:
            incident = self._incidents.open(state.subject, other, since, event, Level.WARNING)
        details = {
            "values": _spoken(state),
            "departures": departures(state),
            "settle": self.policy.flap_settle,
            "incident": incident.id if incident else None,
        }
        self._tell(EventKind.UNSETTLED, Level.WARNING, step, since, details, alerts=alerts, after=other)
        self._keep_with_incident(state)

    def blip(self, step: Step) -> None:
        """Note a change that was gone before it counted."""
        before = step.before
        details = {"blip": True, "sightings": before.pending_count}
        since = before.pending_since or self.at
        self._tell(EventKind.BLIP, Level.INFO, step, since, details, alerts=False, after=before.pending)

    def notices(self) -> tuple[TlsNotice, ...]:
        """What is noted about certificates as it is now."""
        return (*self.memory.notices, *self.new_notices)

    def noted(self, notices: Iterable[TlsNotice], event: Event | None) -> None:
        """Note something about a certificate, with the event about it."""
        self.new_notices += notices
        if event is not None:
            self._events.append(event)

    def note(self, kind: EventKind, details: Mapping[str, Json]) -> None:
        """Put something about the server into its history."""
        self._events.append(self._event(kind, Level.INFO, alerts=False, details=details))

    def changes(self, confirm: ConfirmProbe | None, causes: Mapping[str, tuple[str, ...]]) -> Changes:
        """Everything together. ``causes`` names, by root check, what it blocks in this report."""
        if self._problems:
            self._tell_problems(causes)
        if self._added or self._moved or self._removed:
            details = {"moved": self._moved, "added": self._added, "removed": self._removed}
            self.note(EventKind.REBASED, details)
        self._fold_into_spoken()
        order = {check_subject(result.check): number for number, result in enumerate(self.report.results)}
        self._events.sort(
            key=lambda event: (
                not event.details.get("blocked"),
                -event.level.rank,
                not event.alerts,
                order.get(event.subject, len(order)) if event.subject else -1,
            )
        )
        return Changes(
            states=tuple(
                state for subject, state in self._states.items() if state != self.memory.states.get(subject)
            ),
            intervals=tuple(self._intervals),
            incidents=self._incidents.changed(),
            events=tuple(self._events),
            notices=tuple(self.new_notices),
            confirm=confirm,
        )

    def _fold_into_spoken(self) -> None:
        """Let what is told of eras, or else of revisions, speak for checks whose rules come or go with it."""
        told = {event.subject: place for place, event in enumerate(self._events) if event.alerts}
        spoken = sorted(subject for subject in told if subject and is_spoken(subject))  # ERAS comes first
        place = told[spoken[0]] if spoken else None
        if place is None:
            return
        folded: dict[EventKind, list[Json]] = {EventKind.COVERAGE_BACK: [], EventKind.COVERAGE_LOST: []}
        for event in self._events:
            ends = (event.before, event.after)
            if event.kind in folded and event.subject and NOT_APPLICABLE in ends:
                folded[event.kind].append(check_of(event.subject))
        era = self._events[place]
        details = {
            **era.details,
            "applicable": folded[EventKind.COVERAGE_BACK],
            "inapplicable": folded[EventKind.COVERAGE_LOST],
        }
        self._events[place] = replace(era, details=details)

    def _incident_of(self, step: Step, verdict: Verdict, event: str) -> Incident | None:
        incident = self.incident(step.after.subject)
        if step.outcome is Outcome.MUTED or not verdict.tracked:
            return incident
        if step.outcome is Outcome.FLAPPING:
            value, began = step.after.confirmed, step.after.flap_times[0]
            return incident or self._incidents.open(step.after.subject, value, began, event, Level.WARNING)
        if verdict.good:
            return self._incidents.close(incident, event) if incident else None
        return self._incidents.go_on(incident, step.after, verdict.level, event, step.after.confirmed_since)

    def _keep_with_incident(self, state: SubjectState) -> None:
        incident = self.incident(state.subject)
        self.keep(replace(state, incident=incident.id if incident else None))

    def _tell_problems(self, causes: Mapping[str, tuple[str, ...]]) -> None:
        event = self._id(EventKind.ADDED_WITH_PROBLEMS)
        for state, _ in self._problems:
            # It was so from the beginning: told once, never a reminder.
            self._incidents.open(state.subject, state.confirmed, self.at, event, None)
            self._keep_with_incident(state)
        failed = {state.subject for state, _ in self._problems}
        blocked = [
            check for root, checks in causes.items() if check_subject(root) in failed for check in checks
        ]
        details = {
            "results": [result for _, result in self._problems],
            "blocked": blocked,
            "known": not self.first,
        }
        self._events.append(
            self._event(
                EventKind.ADDED_WITH_PROBLEMS, Level.ERROR, alerts=True, since=self.at, details=details
            )
        )

    def _tell(
        self,
        kind: EventKind,
        level: Level,
        step: Step,
        since: datetime,
        details: Mapping[str, Json],
        *,
        after: str | None,
        alerts: bool = True,
    ) -> None:
        event = self._event(
            kind,
            level,
            alerts=alerts,
            subject=step.before.subject,
            before=step.before.confirmed,
            after=after,
            since=since,
            details=details,
        )
        self._events.append(event)

    def _event(
        self,
        kind: EventKind,
        level: Level,
        *,
        alerts: bool,
        details: Mapping[str, Json],
        subject: str | None = None,
        before: str | None = None,
        after: str | None = None,
        since: datetime | None = None,
    ) -> Event:
        return Event(
            id=self._id(kind, subject),
            server=self.report.server,
            kind=kind,
            level=level,
            alerts=alerts,
            at=self.now,
            run=self.run,
            subject=subject,
            before=before,
            after=after,
            since=since,
            details=details,
        )

    def _id(self, kind: EventKind, subject: str | None = None) -> str:
        return stable_id(self.run, subject or "", kind.value)


def _spoken(state: SubjectState) -> dict[str, int]:
    return {value or "others": number for value, number in state.turns.items()}
