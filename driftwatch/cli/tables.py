"""How commands show what is remembered: rows of a table."""

import textwrap
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import zip_longest

from driftwatch.alerts.fold import Story
from driftwatch.alerts.quiet import Quiet
from driftwatch.alerts.wording import Voice, describe
from driftwatch.alerts.wording.subjects import subject_words, value_words
from driftwatch.model import Event, Silence, State
from driftwatch.report import plain
from driftwatch.store.ports import Backlog, MessageRecord, MessageStatus, RunSummary
from driftwatch.transitions import Incident
from driftwatch.transitions.subjects import is_revision, is_toolset

NARROWEST = 12
"""No column is folded to less than this, however narrow the terminal is."""

LATE = timedelta(minutes=1)
"""A probe that is later than this is said to be: most likely no service runs."""


def incident_row(server: str, incident: Incident, now: datetime) -> tuple[str, ...]:
    """One open incident: what ``ack`` calls it, where, what, for how long, and whether somebody knows."""
    known = f"acknowledged by {plain(incident.acked_by or 'somebody', 40)}" if incident.acked_at else ""
    state = "not accepted" if is_toolset(incident.subject) else value_words(incident.value)
    if is_revision(incident.subject):
        state = f"{state}, not accepted"
    what = f"{subject_words(incident.subject)} {state}"
    return (incident.id[:8], server, what, f"for {_span(now - incident.opened_at)}", known)


def silence_row(silence: Silence, now: datetime) -> tuple[str, ...]:
    """One silence: its id, whom it is about, until when, by whom and why."""
    about = [*silence.servers, *(f"tag {tag}" for tag in silence.tags)]
    only = f" ({', '.join(silence.checks)})" if silence.checks else ""
    over = "" if silence.in_force(now) else "was "
    return (
        silence.id[:8],
        ", ".join(about) + only,
        f"{over}until {moment(silence.over_at)}",
        plain(silence.created_by, 40),
        plain(silence.reason, 160),
    )


def window_row(window: Quiet) -> tuple[str, ...]:
    """One maintenance window that is on: as it is configured, and until when."""
    return (window.name, f"until {moment(window.until)}")


def backlog_row(waiting: Backlog, now: datetime) -> tuple[str, ...]:
    """One channel that is stuck: since when, what is tried next, what waits behind, and why."""
    tried = f"{waiting.attempts} tried" if waiting.attempts else ""
    again = f"next {_ahead(waiting.next_attempt_at, now)}" if waiting.next_attempt_at else ""
    behind = [
        f"{number} {noun}{'s' if number > 1 else ''}"
        for number, noun in ((waiting.messages - 1, "message"), (waiting.events, "event"))
        if number
    ]
    return (
        waiting.channel,
        f"since {moment(waiting.oldest_at)}",
        tried,
        again,
        f"{' and '.join(behind) or 'nothing'} behind it",
        plain(waiting.last_error or "", 120),
    )


def message_row(record: MessageRecord, now: datetime) -> tuple[str, ...]:
    """One message: its id, when it was written, to whom, its fate, what it says and what went wrong."""
    fate = record.status.value
    if record.status is MessageStatus.PENDING and record.attempts and record.next_attempt_at:
        fate = f"retry {_ahead(record.next_attempt_at, now)}"
    tried = f"{record.attempts} tried" if record.attempts > 1 else ""
    frozen = record.message
    problem = "" if record.sent_at else plain(record.last_error or "", 120)
    return (
        frozen.id[:8],
        moment(frozen.created_at),
        frozen.channel,
        fate,
        tried,
        frozen.title.removeprefix("[driftwatch] "),
        problem,
    )


def event_rows(events: Iterable[Event], *, named: bool = True) -> list[tuple[str, ...]]:
    """Events, those that read the same once: one change in both eras of a server is two of them."""
    return list(dict.fromkeys(_event_row(event, named=named) for event in events))


def _event_row(event: Event, *, named: bool) -> tuple[str, ...]:
    """When, how bad, where unless that is known, and what in the words of a message."""
    note = describe(Story(event, event), Voice())
    phrase = f"{note.phrase}{note.release.ending}" if note.release else note.phrase
    where = (event.server or "driftwatch",) if named else ()
    return (moment(event.at), event.level.value, *where, phrase)


def run_row(run: RunSummary) -> tuple[str, ...]:
    """One probe: when, why, how deep, how long, and the states by number."""
    counts = ", ".join(
        f"{run.counts[state.value]} {state.words}" for state in State if run.counts.get(state.value)
    )
    reach = "" if run.reachable else "unreachable"
    return (moment(run.taken_at), run.trigger, run.depth, f"{run.duration_s:.2f} s", counts, reach)


def columns(rows: Sequence[tuple[str, ...]], width: int | None = None) -> str:
    """Rows as aligned columns, two spaces apart; with a width the widest are folded until all of it fits."""
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    room = sum(widths) if width is None else width - 2 * (len(widths) - 1)
    while sum(widths) > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    lines = (line for row in rows for line in zip_longest(*map(_folded, row, widths), fillvalue=""))
    return "\n".join("  ".join(map(str.ljust, cells, widths)).rstrip() for cells in lines)


def _folded(cell: str, width: int) -> Sequence[str]:
    return [cell] if len(cell) <= width else textwrap.wrap(cell, width, break_on_hyphens=False)


def ago(span: timedelta) -> str:
    """``3 min ago``."""
    return f"{_span(span)} ago"


def due(at: datetime, now: datetime) -> str:
    """``in 3 min``, or ``3 min late``."""
    late = now - at
    return f"{_span(late)} late" if late > LATE else _ahead(at, now)


def _ahead(at: datetime, now: datetime) -> str:
    return f"in {_span(at - now)}" if at > now else "now"


def _span(span: timedelta) -> str:
    seconds = max(0, int(span.total_seconds()))
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def moment(at: datetime) -> str:
    """``2026-11-30 09:55:39Z``."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
