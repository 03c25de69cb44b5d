"""The incidents of one server: what somebody has to see to, from its opening event to its closing one."""

import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from driftwatch.model import Level, State
from driftwatch.transitions.memory import Incident, Policy, SubjectState
from driftwatch.transitions.values import state_of

_NAMESPACE = uuid.UUID("6f0d4c1e-54a3-5d0b-9a5e-0d8f1c1b7a11")
"""Of the ids of events and incidents. They are persisted: it never changes."""


def stable_id(run: str, subject: str, kind: str) -> str:
    """The same for the same thing in the same run, however often that is judged."""
    return str(uuid.uuid5(_NAMESPACE, f"{run}\n{subject}\n{kind}"))


class Incidents:
    """What one report does to them; those that are remembered stay as they were."""

    def __init__(
        self, remembered: Mapping[str, Incident], *, policy: Policy, now: datetime, run: str
    ) -> None:
        """Remembered are the open ones, by subject."""
        self._remembered = remembered
        self._policy = policy
        self._now = now
        self._run = run
        self._touched: dict[str, Incident] = {}

    def of(self, subject: str) -> Incident | None:
        """The open incident of a subject."""
        incident = self._touched.get(subject) or self._remembered.get(subject)
        return incident if incident and incident.closed_at is None else None

    def put(self, incident: Incident) -> None:
        """Put it in the place of what is remembered."""
        self._touched[incident.subject] = incident

    def open(self, subject: str, value: str, since: datetime, event: str, level: Level | None) -> Incident:
        """Open one; without a level, of what is told once and never called to mind."""
        incident = Incident(
            id=stable_id(self._run, subject, "incident"),
            subject=subject,
            opened_at=since,
            opening_event=event,
            value=value,
            next_reminder_at=self._reminder(level),
        )
        self.put(incident)
        return incident

    def go_on(
        self, incident: Incident | None, state: SubjectState, level: Level, event: str, since: datetime
    ) -> Incident:
        """Open an incident, or carry the open one on with another value."""
        value = state.confirmed
        if incident is None:
            return self.open(state.subject, value, since, event, level)
        lost_sight = state_of(value) is State.NOT_CHECKED is not state_of(incident.value)
        if lost_sight:
            return incident
        if value != incident.value:
            incident = replace(incident, value=value, acked_at=None, acked_by=None)
        incident = replace(incident, next_reminder_at=self._reminder(level))
        self.put(incident)
        return incident

    def close(self, incident: Incident, event: str) -> Incident:
        """End one."""
        closed = replace(incident, closed_at=self._now, closing_event=event, next_reminder_at=None)
        self.put(closed)
        return closed

    def changed(self) -> tuple[Incident, ...]:
        """Those that are new, or not as they are remembered."""
        return tuple(
            incident
            for subject, incident in self._touched.items()
            if incident != self._remembered.get(subject)
        )

    def _reminder(self, level: Level | None) -> datetime | None:
        return self._now + self._policy.reminder if level is Level.ERROR else None
