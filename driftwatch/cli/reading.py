"""``status`` and ``history``: what the service remembers, read beside it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, load_config, open_readonly, print_json
from driftwatch.errors import UsageError
from driftwatch.model import Event, Json, State

if TYPE_CHECKING:
    from driftwatch.store.ports import RunSummary, ServerStatus

LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many, newest first.")]


def status(config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Show every server as the service last saw it: states, toolset, certificate, when and when next."""
    loaded = load_config(config)
    store = open_readonly(loaded)
    try:
        with store.read() as reader:
            servers = reader.status()
    finally:
        store.close()
    now = datetime.now(UTC)
    if as_json:
        print_json(
            {"schema": "driftwatch/status/1", "servers": [_status_json(item, now) for item in servers]}
        )
        return
    if not servers:
        typer.echo("No server is configured, or the service has not started yet.")
        return
    heading = ("server", *(state.words for state in State), "tools", "certificate", "last probe", "next")
    typer.echo(_columns([heading, *(_status_row(item, now) for item in servers)]))


def history(
    server: Annotated[str, typer.Argument(help="A server's name.")],
    config: ConfigOption = None,
    *,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """Show what happened to one server, newest first: every event, and the last runs."""
    loaded = load_config(config)
    store = open_readonly(loaded)
    try:
        with store.read() as reader:
            if reader.server(server) is None:
                names = ", ".join(item.record.name for item in reader.status()[:10]) or "none"
                raise UsageError(f"no server is named {server!r}; remembered: {names}")
            events = reader.events(server, limit=limit)
            runs = reader.runs(server, limit=limit)
    finally:
        store.close()
    if as_json:
        print_json(
            {
                "schema": "driftwatch/history/1",
                "server": server,
                "events": [_event_json(event) for event in events],
                "runs": [_run_json(run) for run in runs],
            }
        )
        return
    typer.echo(f"{server}: events, newest first")
    typer.echo(_columns([_event_row(event) for event in events]) or "  none")
    typer.echo(f"\n{server}: runs, newest first")
    typer.echo(_columns([_run_row(run) for run in runs]) or "  none")


def _status_row(item: "ServerStatus", now: datetime) -> tuple[str, ...]:
    run = item.last_run
    counts = run.counts if run else {}
    pairs = {
        state.confirmed.rsplit(":", 1)[-1][:12]
        for subject, state in item.memory.states.items()
        if subject.startswith("toolset:")
    }
    return (
        item.record.name,
        *(str(counts.get(state.value, 0)) if run else "-" for state in State),
        " ".join(sorted(pairs)) or "-",
        f"{item.certificate.days_left(now)} days" if item.certificate else "-",
        _ago(now - run.taken_at) if run else "never",
        _ahead(item.record.confirm_due_at or item.record.next_due_at, now),
    )


def _status_json(item: "ServerStatus", now: datetime) -> Json:
    certificate = item.certificate
    return {
        "name": item.record.name,
        "url": item.record.url,
        "last_run": _run_json(item.last_run) if item.last_run else None,
        "next_due_at": _iso(item.record.confirm_due_at or item.record.next_due_at),
        "certificate": None
        if certificate is None
        else {"not_after": _iso(certificate.not_after), "days_left": certificate.days_left(now)},
        "subjects": {
            subject: {
                "value": state.confirmed,
                "since": _iso(state.confirmed_since),
                "accepted": state.accepted,
                "pending": state.pending,
                "blocked_by": state.blocked_by,
            }
            for subject, state in sorted(item.memory.states.items())
        },
        "incidents": [
            {"subject": incident.subject, "value": incident.value, "opened_at": _iso(incident.opened_at)}
            for incident in item.memory.incidents.values()
        ],
    }


def _event_row(event: Event) -> tuple[str, ...]:
    change = " -> ".join(_short(value) for value in (event.before, event.after) if value)
    return (_minute(event.at), event.level.value, event.kind.value, event.subject or "", change)


def _event_json(event: Event) -> Json:
    return {
        "id": event.id,
        "at": _iso(event.at),
        "kind": event.kind.value,
        "severity": event.level.value,
        "subject": event.subject,
        "before": event.before,
        "after": event.after,
        "since": _iso(event.since) if event.since else None,
        "run": event.run,
        "details": event.details,
    }


def _run_row(run: "RunSummary") -> tuple[str, ...]:
    counts = ", ".join(
        f"{run.counts[state.value]} {state.words}" for state in State if run.counts.get(state.value)
    )
    reach = "" if run.reachable else "unreachable"
    return (_minute(run.taken_at), run.trigger, run.depth, f"{run.duration_s:.2f} s", counts, reach)


def _run_json(run: "RunSummary") -> Json:
    return {
        "id": run.id,
        "taken_at": _iso(run.taken_at),
        "trigger": run.trigger,
        "depth": run.depth,
        "duration_s": run.duration_s,
        "requests": run.requests,
        "reachable": run.reachable,
        "states": dict(run.counts),
    }


def _columns(rows: Sequence[tuple[str, ...]]) -> str:
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


def _iso(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
