"""``status``: the fleet, or one server, as the service last saw it."""

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from driftwatch.cli.options import (
    ConfigOption,
    JsonOption,
    colourful,
    find_config,
    print_json,
    reading,
    remembered,
    terminal_width,
)
from driftwatch.errors import ConfigError, UsageError

if TYPE_CHECKING:
    from driftwatch.alerts.quiet import Quiet
    from driftwatch.cli.one_server import Standing
    from driftwatch.store.ports import Reader, ServerOverview, ServerStatus

T = TypeVar("T", "ServerOverview", "ServerStatus")


def status(
    server: Annotated[str | None, typer.Argument(help="One server, in full; without it all of them.")] = None,
    config: ConfigOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Show every server as it was last probed, or one in full.

    Without a name one line for each, then what is open, what is silenced, and which alerts do not get
    through. With a name every check of that server: its state, since when, and why.
    """
    now = datetime.now(UTC)
    if server is None:
        _fleet(config, now, as_json=as_json)
    else:
        _one(server, config, now, as_json=as_json)


def _fleet(config: Path | None, now: datetime, *, as_json: bool) -> None:
    from driftwatch import views
    from driftwatch.cli import fleet, tables

    with reading(config) as reader:
        silences, backlog, windows = reader.silences(now), reader.backlog(), _windows(config, now)
        if as_json:
            servers = [views.status(item, now, silences) for item in _every(reader.status)]
        else:
            items = list(_every(reader.overview))
    if as_json:
        print_json(
            {
                "schema": "driftwatch/status/1",
                "servers": servers,
                "windows": [views.window(each) for each in windows],
                "backlog": [views.backlog(each) for each in backlog],
            }
        )
        return
    if not items:
        typer.echo("No server is configured, or the service has not started yet.")
        return
    width = terminal_width()
    typer.echo(fleet.to_text(items, now, width=width))
    below = {
        "open incidents, for driftwatch ack": [
            tables.incident_row(item.record.name, each, now) for item in items for each in item.incidents
        ],
        "silences in force": [tables.silence_row(each, now) for each in silences],
        "maintenance windows that are on": [tables.window_row(each) for each in windows],
        "alerts that do not get through": [tables.backlog_row(each, now) for each in backlog if each.stuck],
    }
    for heading, rows in below.items():
        if rows:
            typer.echo(f"\n{heading}:\n{tables.columns(rows, width)}")


def _one(name: str, config: Path | None, now: datetime, *, as_json: bool) -> None:
    from driftwatch.cli.one_server import to_text

    with reading(config) as reader:
        standing = _standing(reader, name, config, now)
    if as_json:
        print_json({"schema": "driftwatch/server/1", **_json(standing, now)})
    else:
        width = shutil.get_terminal_size((100, 24)).columns
        typer.echo(to_text(standing, now, colour=colourful(), width=width))


def _standing(reader: "Reader", name: str, config: Path | None, now: datetime) -> "Standing":
    from driftwatch.alerts.wording.note import Voice
    from driftwatch.cli.one_server import Standing

    record, item = remembered(reader, name), reader.server_status(name)
    if item is None:
        raise UsageError(f"{name} is no longer configured; driftwatch history {name} has what happened")
    tags = set(record.tags)
    return Standing(
        status=item,
        release=next(iter(reader.releases(name, limit=1)), None),
        outcome=next(iter(reader.outcomes(name, limit=1)), None),
        silences=[
            each for each in reader.silences(now) if name in each.servers or not tags.isdisjoint(each.tags)
        ],
        windows=[each for each in _windows(config, now) if each.is_about(name, record.tags)],
        voice=Voice(option="" if config is None else f" -c {quote(str(config))}"),
    )


def _json(standing: "Standing", now: datetime) -> dict[str, object]:
    from driftwatch import views

    release, outcome = standing.release, standing.outcome
    deploy = None
    if release is not None:
        deploy = {**views.release(release), "verdict": outcome.verdict if outcome else None}
    return {
        **views.server(standing.status, now, standing.silences),
        "last_deploy": deploy,
        "windows": [views.window(each) for each in standing.windows],
    }


def _windows(config: Path | None, now: datetime) -> "Sequence[Quiet]":
    """The maintenance windows that are on; a configuration that cannot be read is told beside the answer."""
    from driftwatch.alerts.quiet import in_force
    from driftwatch.config import load_windows

    try:
        return in_force([], load_windows(find_config(config), os.environ), now)
    except ConfigError as error:
        typer.echo(f"{error}\ndriftwatch: maintenance windows are not shown", err=True)
        return ()


def _every(page_after: Callable[[str], Sequence[T]]) -> Iterator[T]:
    """All configured servers by name, read a page at a time."""
    page = page_after("")
    while page:
        yield from page
        page = page_after(page[-1].record.name)
