"""What a person says about what was confirmed: that a toolset may stay, that an incident is known. Pure."""

from collections.abc import Collection
from dataclasses import replace
from datetime import datetime

from driftwatch.model import Event, EventKind
from driftwatch.transitions.changes import Changes, ConfirmProbe
from driftwatch.transitions.memory import Memory
from driftwatch.transitions.subjects import is_accepted_by_hand


def accept(
    memory: Memory, pair: str, *, by: str, reason: str, now: datetime, confirm: ConfirmProbe | None = None
) -> Changes:
    """Make ``pair`` the baseline of every surface whose confirmed toolset it is; its incident is over.

    It may also be the value of a subject of revisions, which is accepted in the same way.

    No changes where it is that already, or is not what any surface shows: nobody accepts what they have not
    read. ``confirm`` is the re-probe that is planned and stays so.
    """
    states, incidents, events = [], [], []
    for subject, state in memory.states.items():
        if not is_accepted_by_hand(subject) or state.confirmed != pair or state.accepted == pair:
            continue
        event = Event.without_run(
            EventKind.ACCEPTED,
            now,
            server=memory.server,
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


def ack(
    memory: Memory,
    subjects: Collection[str],
    *,
    by: str,
    now: datetime,
    confirm: ConfirmProbe | None = None,
) -> Changes:
    """Note that somebody knows of the open incidents of these subjects: nobody is reminded of them.

    It holds until an incident is over or its value becomes another one. No changes for those that were
    acknowledged before.
    """
    incidents, events = [], []
    for subject, incident in memory.incidents.items():
        if subject not in subjects or incident.acked_at is not None:
            continue
        incidents.append(replace(incident, acked_at=now, acked_by=by))
        event = Event.without_run(
            EventKind.ACKED,
            now,
            server=memory.server,
            subject=subject,
            after=incident.value,
            details={"by": by, "incident": incident.id},
        )
        events.append(event)
    return Changes(incidents=tuple(incidents), events=tuple(events), confirm=confirm)
