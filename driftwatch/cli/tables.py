"""How ``status`` and ``history`` show what is remembered: rows of a table."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from driftwatch.model import Event, State
from driftwatch.store.ports import RunSummary, ServerOverview

HEADING = ("server", *(state.words for state in State), "fingerprint", "certificate", "last probe", "next")
"""The columns of status_row."""


def status_row(item: ServerOverview, now: datetime) -> tuple[str, ...]:
    """One server: its states by number, fingerprint, certificate, and when it is visited."""
    run = item.last_run
    pairs = {state.confirmed.rsplit(":", 1)[-1][:12] for state in item.toolsets}
    return (
        item.record.name,
        *(str(item.counts[state]) if run else "-" for state in State),
        " ".join(sorted(pairs)) or "-",
        f"{item.certificate.days_left(now)} days" if item.certificate else "-",
        _ago(now - run.taken_at) if run else "never",
        _ahead(item.record.confirm_due_at or item.record.next_due_at, now),
    )


def event_row(event: Event) -> tuple[str, ...]:
    """One event: when, how bad, what, about what, from what to what."""
    change = " -> ".join(_short(value) for value in (event.before, event.after) if value)
    return (_minute(event.at), event.level.value, event.kind.value, event.subject or "", change)


def run_row(run: RunSummary) -> tuple[str, ...]:
    """One run: when, why, how deep, how long, and the states by number."""
    counts = ", ".join(
        f"{run.counts[state.value]} {state.words}" for state in State if run.counts.get(state.value)
    )
    reach = "" if run.reachable else "unreachable"
    return (_minute(run.taken_at), run.trigger, run.depth, f"{run.duration_s:.2f} s", counts, reach)


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
