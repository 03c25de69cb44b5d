"""``status`` and ``history``: what the service remembers, read beside it."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, load_beside, open_readonly, print_json
from driftwatch.errors import UsageError

if TYPE_CHECKING:
    from driftwatch.store.ports import Reader, ServerStatus

LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many, newest first.")]


def status(config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Show every server as the service last saw it: states, toolset, certificate, when and when next."""
    from driftwatch.cli import views

    loaded = load_beside(config)
    store = open_readonly(loaded)
    try:
        with store.read() as reader:
            servers = list(_every_server(reader))
    finally:
        store.close()
    now = datetime.now(UTC)
    if as_json:
        print_json(
            {"schema": "driftwatch/status/1", "servers": [views.status_json(item, now) for item in servers]}
        )
        return
    if not servers:
        typer.echo("No server is configured, or the service has not started yet.")
        return
    typer.echo(views.columns([views.HEADING, *(views.status_row(item, now) for item in servers)]))


def history(
    server: Annotated[str, typer.Argument(help="A server's name.")],
    config: ConfigOption = None,
    *,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """Show what happened to one server, newest first: every event, and the last runs."""
    from driftwatch.cli import views

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
                "events": [views.event_json(event) for event in events],
                "runs": [views.run_json(run) for run in runs],
            }
        )
        return
    typer.echo(f"{server}: events, newest first")
    typer.echo(views.columns([views.event_row(event) for event in events]) or "  none")
    typer.echo(f"\n{server}: runs, newest first")
    typer.echo(views.columns([views.run_row(run) for run in runs]) or "  none")


def _every_server(reader: "Reader") -> "Iterator[ServerStatus]":
    """All configured servers by name, read a page at a time."""
    page = reader.status()
    while page:
        yield from page
        page = reader.status(after=page[-1].record.name)
