"""A person accepts a toolset: it becomes the baseline, and its incident is over. Pure."""

import uuid
from dataclasses import replace
from datetime import datetime

from driftwatch.model import Event, EventKind, Level
from driftwatch.transitions.changes import Changes, ConfirmProbe
from driftwatch.transitions.memory import Memory


def accept(
    memory: Memory, pair: str, *, by: str, reason: str, now: datetime, confirm: ConfirmProbe | None = None
) -> Changes:
    """Make ``pair`` the baseline of every surface whose confirmed toolset it is.

    No changes where it is that already, or is not what any surface shows: nobody accepts what they have not
    read. ``confirm`` is the re-probe that is planned and stays so.
    """
    states, incidents, events = [], [], []
    for subject, state in memory.states.items():
        if not subject.startswith("toolset:") or state.confirmed != pair or state.accepted == pair:
            continue
        event = Event(
            id=str(uuid.uuid4()),
            server=memory.server,
            kind=EventKind.ACCEPTED,
            level=Level.INFO,
            alerts=False,
            at=now,
            run=None,
            subject=subject,
            before=state.accepted,
            after=pair,
            details={"by": by, "reason": reason},
        )
        events.append(event)
        states.append(replace(state, accepted=pair, incident=None))
        incident = memory.incidents.get(subject)
        if incident is not None:
            incidents.append(replace(incident, closed_at=now, closing_event=event.id, next_reminder_at=None))
    return Changes(states=tuple(states), incidents=tuple(incidents), events=tuple(events), confirm=confirm)
