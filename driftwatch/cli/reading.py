"""``history`` and ``events``: what happened, read beside the service."""

import difflib
from datetime import UTC, datetime
from typing import Annotated

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, print_json, reading, remembered, terminal_width
from driftwatch.errors import UsageError

LimitOption = Annotated[int, typer.Option("--limit", "-n", min=1, max=1000, help="How many, newest first.")]


def history(
    server: Annotated[str, typer.Argument(help="A server's name.")],
    config: ConfigOption = None,
    *,
    limit: LimitOption = 20,
    as_json: JsonOption = False,
) -> None:
    """Show what happened to one server, and its last probes."""
    from driftwatch import views
    from driftwatch.cli import tables

    with reading(config) as reader:
        remembered(reader, server)
        events = reader.events(server, limit=limit)
        runs = reader.runs(server, limit=limit)
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
    width = terminal_width()
    typer.echo(tables.columns(tables.event_rows(events, named=False), width) or "  none")
    typer.echo(f"\n{server}: probes, newest first")
    typer.echo(tables.columns([tables.run_row(run) for run in runs], width) or "  none")


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
    """Show what happened on every server, newest first.

    In the words of the messages, whether it was told or not.
    """
    from driftwatch import views
    from driftwatch.cli import tables
    from driftwatch.model import EventKind

    after = _since(since, datetime.now(UTC)) if since else None
    known = {each.value: each for each in EventKind}
    unknown = [each for each in kind or () if each not in known]
    if unknown:
        near = difflib.get_close_matches(unknown[0], known, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known))}"
        raise UsageError(f"no event has the kind {unknown[0]!r}; {hint}")
    with reading(config) as reader:
        if server is not None:
            remembered(reader, server)
        found = reader.events(server, limit=limit, kinds=[known[each] for each in kind or ()], since=after)
    if as_json:
        print_json({"schema": "driftwatch/events/1", "events": [views.event(event) for event in found]})
        return
    typer.echo(tables.columns(tables.event_rows(found), terminal_width()) or "Nothing happened.")


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
                f"--since: {given!r} is neither a duration nor a day: write it like 2h, 7d or 2026-11-30"
            ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
