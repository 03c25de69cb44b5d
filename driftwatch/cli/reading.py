"""``status`` and ``history``: what the service remembers, read beside it."""

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, load_beside, open_readonly, print_json
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
            rows = [tables.status_row(item, now) for item in _every(reader.overview)]
    finally:
        store.close()
    if not rows:
        typer.echo("No server is configured, or the service has not started yet.")
        return
    typer.echo(tables.columns([tables.HEADING, *rows]))


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
    typer.echo(tables.columns([tables.event_row(event) for event in events]) or "  none")
    typer.echo(f"\n{server}: runs, newest first")
    typer.echo(tables.columns([tables.run_row(run) for run in runs]) or "  none")


def _every(page_after: Callable[[str], Sequence[T]]) -> Iterator[T]:
    """All configured servers by name, read a page at a time."""
    page = page_after("")
    while page:
        yield from page
        page = page_after(page[-1].record.name)
