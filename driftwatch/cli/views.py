"""How ``status`` and ``history`` show what is remembered: rows of a table, or JSON."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from driftwatch.model import Event, Json, State
from driftwatch.store.ports import RunSummary, ServerStatus

HEADING = ("server", *(state.words for state in State), "fingerprint", "certificate", "last probe", "next")
"""The columns of status_row."""


def status_row(item: ServerStatus, now: datetime) -> tuple[str, ...]:
    """One server: its states by number, fingerprint, certificate, and when it is visited."""
    run, counts = item.last_run, _counts(item)
    pairs = {
        state.confirmed.rsplit(":", 1)[-1][:12]
        for subject, state in item.memory.states.items()
        if subject.startswith("toolset:")
    }
    return (
        item.record.name,
        *(str(counts[state]) if run else "-" for state in State),
        " ".join(sorted(pairs)) or "-",
        f"{item.certificate.days_left(now)} days" if item.certificate else "-",
        _ago(now - run.taken_at) if run else "never",
        _ahead(item.record.confirm_due_at or item.record.next_due_at, now),
    )


def status_json(item: ServerStatus, now: datetime) -> Json:
    """One server with every subject that is remembered."""
    certificate = item.certificate
    return {
        "name": item.record.name,
        "url": item.record.url,
        "states": {state.value: number for state, number in _counts(item).items()},
        "last_run": run_json(item.last_run) if item.last_run else None,
        "next_due_at": iso(item.record.confirm_due_at or item.record.next_due_at),
        "certificate": None
        if certificate is None
        else {"not_after": iso(certificate.not_after), "days_left": certificate.days_left(now)},
        "subjects": {
            subject: {
                "value": state.confirmed,
                "since": iso(state.confirmed_since),
                "accepted": state.accepted,
                "pending": state.pending,
                "blocked_by": state.blocked_by,
            }
            for subject, state in sorted(item.memory.states.items())
        },
        "incidents": [
            {"subject": incident.subject, "value": incident.value, "opened_at": iso(incident.opened_at)}
            for incident in item.memory.incidents.values()
        ],
    }


def _counts(item: ServerStatus) -> dict[State, int]:
    """How many checks are in each state now: a light run does not look at all, so runs do not tell."""
    counts = dict.fromkeys(State, 0)
    for subject, state in item.memory.states.items():
        if subject.startswith("check:"):
            value = State.NOT_CHECKED if state.blocked_by else State(state.confirmed.partition(":")[0])
            counts[value] += 1
    return counts


def event_row(event: Event) -> tuple[str, ...]:
    """One event: when, how bad, what, about what, from what to what."""
    change = " -> ".join(_short(value) for value in (event.before, event.after) if value)
    return (_minute(event.at), event.level.value, event.kind.value, event.subject or "", change)


def event_json(event: Event) -> Json:
    """One event, whole."""
    return {
        "id": event.id,
        "at": iso(event.at),
        "kind": event.kind.value,
        "severity": event.level.value,
        "subject": event.subject,
        "before": event.before,
        "after": event.after,
        "since": iso(event.since) if event.since else None,
        "run": event.run,
        "details": event.details,
    }


def run_row(run: RunSummary) -> tuple[str, ...]:
    """One run: when, why, how deep, how long, and the states by number."""
    counts = ", ".join(
        f"{run.counts[state.value]} {state.words}" for state in State if run.counts.get(state.value)
    )
    reach = "" if run.reachable else "unreachable"
    return (_minute(run.taken_at), run.trigger, run.depth, f"{run.duration_s:.2f} s", counts, reach)


def run_json(run: RunSummary) -> Json:
    """One run, whole."""
    return {
        "id": run.id,
        "taken_at": iso(run.taken_at),
        "trigger": run.trigger,
        "depth": run.depth,
        "duration_s": run.duration_s,
        "requests": run.requests,
        "reachable": run.reachable,
        "states": dict(run.counts),
    }


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows as aligned columns, two spaces apart."""
    if not rows:
        return ""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _short(value: str) -> str:
    """A value for a table: a fingerprint's pair by its first digits."""
    if not value.startswith("dw"):
        return value
    algorithm, _, pair = value.partition(":")
    return f"{algorithm}:{'.'.join(part[:8] for part in pair.split('.'))}"


def _ago(span: timedelta) -> str:
    return f"{_span(span)} ago"


def _ahead(at: datetime, now: datetime) -> str:
    return f"in {_span(at - now)}" if at > now else "now"


def _span(span: timedelta) -> str:
    seconds = max(0, int(span.total_seconds()))
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{seconds // size} {unit}"
    return f"{seconds} s"


def _minute(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def iso(at: datetime) -> str:
    """A time as JSON documents carry it, in UTC with a Z."""
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
