"""What is called to mind: errors that stay open, and checks that nobody has been able to look at. Pure."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from driftwatch.model import Event, EventKind, Json, Level, State
from driftwatch.transitions.memory import Incident, Memory, SubjectState
from driftwatch.transitions.subjects import check_subject
from driftwatch.transitions.values import ENDPOINT, state_of

STALE_AFTER = timedelta(hours=24)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reminder:
    """What is to be said about one server, and whose next reminder moves with it."""

    event: Event
    incidents: tuple[str, ...]
    """Ids."""


def due(incident: Incident, now: datetime, reminder: timedelta) -> bool:
    """Whether it is time. A time that lies far beyond the interval is of another clock or setting."""
    at = incident.next_reminder_at
    return at is not None and incident.acked_at is None and not now < at <= now + 2 * reminder


def audible(memory: Memory, is_silent: Callable[[str], bool]) -> list[Incident]:
    """The open incidents of a server, except those of subjects that are silent now."""
    return [incident for subject, incident in memory.incidents.items() if not is_silent(subject)]


def remind(
    memory: Memory,
    incidents: Sequence[Incident],
    *,
    now: datetime,
    reminder: timedelta,
    stale: Sequence[SubjectState] = (),
) -> Reminder | None:
    """Call open errors of one server to mind, and what is ``stale``; None when there is nothing to say.

    Of the ``incidents`` those come along that would be due within half the interval, so that a channel gets
    one digest and not one message after the other. Acknowledged ones are named and not counted.
    """
    called = [incident for incident in incidents if due(incident, now + reminder / 2, reminder)]
    acked = [incident for incident in incidents if incident.acked_at is not None]
    if not called and not stale:
        return None
    event = Event.without_run(
        EventKind.REMINDER,
        now,
        server=memory.server,
        level=Level.ERROR if called else Level.WARNING,
        alerts=True,
        since=min((incident.opened_at for incident in called), default=None),
        details={
            "incidents": [_told(memory, incident) for incident in called],
            "acked": [_told(memory, incident) | {"by": incident.acked_by} for incident in acked],
            "stale": [
                {"subject": state.subject, "since": unseen_since(state).isoformat(), "by": state.blocked_by}
                for state in stale
            ],
        },
    )
    return Reminder(event=event, incidents=tuple(incident.id for incident in called))


def stale(
    memory: Memory, known: Iterable[str], told: Collection[tuple[str, str]], *, after: timedelta
) -> tuple[SubjectState, ...]:
    """The checks that were not looked at for ``after``, although the server was probed, and were not told.

    ``known`` are the checks that there are, ``told`` pairs of subject and time of earlier reminders. What is
    behind an incident that is acknowledged or called to mind is left out.
    """
    last, endpoint = memory.last_run_at, memory.states.get(check_subject(ENDPOINT))
    if last is None or endpoint is None:
        return ()
    found = []
    for state in filter(None, (memory.states.get(check_subject(check)) for check in known)):
        since = unseen_since(state)
        # After an outage there is as much time again for a full probe to look at everything.
        began = since if state.blocked_by else max(since, endpoint.confirmed_since)
        new = (state.subject, since.isoformat()) not in told
        if new and last - began >= after and not _is_known(memory, state):
            found.append(state)
    return tuple(found)


def unseen_since(state: SubjectState) -> datetime:
    """Since when a subject has not been seen."""
    return state.blocked_since or state.last_observed_at


def _is_known(memory: Memory, state: SubjectState) -> bool:
    if state.blocked_by is None:
        return False
    subject = check_subject(state.blocked_by)
    root, incident = memory.states.get(subject), memory.incidents.get(subject)
    if incident is None:
        # What blocked it is over: the next full probe looks at it.
        return root is None or state_of(root.confirmed) is State.VERIFIED
    return incident.acked_at is not None or incident.next_reminder_at is not None


def _told(memory: Memory, incident: Incident) -> dict[str, Json]:
    roots = [check_subject(state.blocked_by) for state in memory.states.values() if state.blocked_by]
    return {
        "id": incident.id,
        "subject": incident.subject,
        "value": incident.value,
        "since": incident.opened_at.isoformat(),
        "blocked": roots.count(incident.subject),
    }
