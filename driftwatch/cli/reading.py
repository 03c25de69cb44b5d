"""``status``, ``history`` and ``events``: what the service remembers, read beside it."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, load_beside, open_readonly, print_json, reading
from driftwatch.errors import UsageError

if TYPE_CHECKING:
    from driftwatch.store.ports import ServerOverview, ServerStatus

T = TypeVar("T", "ServerOverview", "ServerStatus")

LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many, newest first.")]


def status(config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Show every server as the service last saw it: states, toolset, certificate, when and when next."""
    from driftwatch import views
    from driftwatch.cli import tables

    loaded, now = load_beside(config), datetime.now(UTC)
    store = open_readonly(loaded)
    try:
        with store.read() as reader:
            if as_json:
                quiet = reader.silences(now)
                servers = [views.status(item, now, quiet) for item in _every(reader.status)]
                print_json({"schema": "driftwatch/status/1", "servers": servers})
                return
            items = list(_every(reader.overview))
            quiet = reader.silences(now)
    finally:
        store.close()
    if not items:
        typer.echo("No server is configured, or the service has not started yet.")
        return
    typer.echo(tables.columns([tables.HEADING, *(tables.status_row(item, now) for item in items)]))
    incidents = [
        tables.incident_row(item.record.name, each, now) for item in items for each in item.incidents
    ]
    if incidents:
        typer.echo(f"\nopen incidents, for driftwatch ack:\n{tables.columns(incidents)}")
    if quiet:
        typer.echo(
            f"\nsilences in force:\n{tables.columns([tables.silence_row(each, now) for each in quiet])}"
        )


def history(
    server: Annotated[str, typer.Argument(help="A server's name.")],
    config: ConfigOption = None,
    *,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """Show what happened to one server, newest first: every event, and the last runs."""
    from driftwatch import views
    from driftwatch.cli import tables

    loaded = load_beside(config)
    store = open_readonly(loaded)
    try:
        with store.read() as reader:
            if reader.server(server) is None:
                names = ", ".join(item.record.name for item in reader.overview(limit=10)) or "none"
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
                "events": [views.event(event) for event in events],
                "runs": [views.run(run) for run in runs],
            }
        )
        return
    typer.echo(f"{server}: events, newest first")
    typer.echo(tables.columns(tables.event_rows(events, named=False)) or "  none")
    typer.echo(f"\n{server}: runs, newest first")
    typer.echo(tables.columns([tables.run_row(run) for run in runs]) or "  none")


def events(
    config: ConfigOption = None,
    *,
    since: Annotated[
        str | None, typer.Option(help="How far back, such as 2h or 7d, or a day such as 2026-11-30.")
    ] = None,
    server: Annotated[str | None, typer.Option(help="Of this server only.")] = None,
    kind: Annotated[list[str] | None, typer.Option(help="Of this kind only; may be repeated.")] = None,
    limit: LimitOption = 50,
    as_json: JsonOption = False,
) -> None:
    """Show what happened everywhere, newest first, in the words of the messages."""
    from driftwatch import views
    from driftwatch.cli import tables
    from driftwatch.model import EventKind

    after = _since(since, datetime.now(UTC)) if since else None
    known = {each.value: each for each in EventKind}
    unknown = [each for each in kind or () if each not in known]
    if unknown:
        raise UsageError(f"no event has the kind {unknown[0]!r}; there are {', '.join(sorted(known))}")
    with reading(config) as reader:
        if server is not None and reader.server(server) is None:
            raise UsageError(f"no server is named {server!r}")
        found = reader.events(server, limit=limit, kinds=[known[each] for each in kind or ()], since=after)
    if as_json:
        print_json({"schema": "driftwatch/events/1", "events": [views.event(event) for event in found]})
        return
    typer.echo(tables.columns(tables.event_rows(found)) or "Nothing happened.")


def _since(given: str, now: datetime) -> datetime:
    """``2h`` ago, or the beginning of a day, or a time; in UTC where it names no zone."""
    from driftwatch.config import InvalidValueError, parse_duration

    try:
        return now - parse_duration(given)
    except InvalidValueError:
        try:
            moment = datetime.fromisoformat(given)
        except ValueError:
            raise UsageError(
                f"--since: {given!r} is neither a duration such as 2h nor a day or time"
            ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _every(page_after: Callable[[str], Sequence[T]]) -> Iterator[T]:
    """All configured servers by name, read a page at a time."""
    page = page_after("")
    while page:
        yield from page
        page = page_after(page[-1].record.name)
