"""``ack``, ``silence``, ``unsilence`` and ``silences``: what people know of already."""

from datetime import UTC, datetime
from typing import Annotated

import typer

from driftwatch.cli.options import (
    ConfigOption,
    JsonOption,
    person,
    print_json,
    reading,
    terminal_width,
    writing,
)
from driftwatch.errors import UsageError


def ack(
    named: Annotated[
        str, typer.Argument(metavar="ID|NAME", help="An incident's id or its beginning, or a server's name.")
    ],
    config: ConfigOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Acknowledge an open incident, or all of a server.

    No more reminders until it is over or becomes another one; its end is told.
    """
    from driftwatch import actions, views
    from driftwatch.alerts.wording.subjects import subject_words, value_words

    with writing(config) as tx:
        acked = actions.ack(tx, named, by=person(), now=datetime.now(UTC))
    if as_json:
        incidents = [{"server": each.server, **views.incident(each.incident)} for each in acked]
        print_json({"schema": "driftwatch/ack/1", "incidents": incidents})
        return
    for each in acked:
        again = " already" if each.again else ""
        what = f"{subject_words(each.incident.subject)} {value_words(each.incident.value)}"
        typer.echo(f"{each.server}: {what} acknowledged{again}")


def silence(
    server: Annotated[str | None, typer.Argument(help="A server's name.")] = None,
    config: ConfigOption = None,
    *,
    tag: Annotated[list[str] | None, typer.Option(help="Servers with this tag; may be repeated.")] = None,
    check: Annotated[list[str] | None, typer.Option(help="Only this check; may be repeated.")] = None,
    lasting: Annotated[str, typer.Option("--for", help="How long, at most 30d, such as 2h.")],
    reason: Annotated[str, typer.Option(help="Why; it is kept with the silence.")],
    as_json: JsonOption = False,
) -> None:
    """Send nothing about some servers for a while.

    They are still probed; what is still so when the silence ends is told then, once.
    """
    from driftwatch import actions, views
    from driftwatch.config import InvalidValueError, parse_duration

    try:
        span = parse_duration(lasting)
    except InvalidValueError as error:
        raise UsageError(f"--for: {error}") from error
    now = datetime.now(UTC)
    with writing(config) as tx:
        made = actions.silence(
            tx,
            servers=[server] if server else [],
            tags=tag or [],
            only=check or [],
            lasting=span,
            reason=reason,
            by=person(),
            now=now,
        )
    if as_json:
        print_json({"schema": "driftwatch/silence/1", **views.silence(made, now)})
    else:
        until = f"{made.ends_at:%Y-%m-%d %H:%M} UTC"
        typer.echo(f"silenced until {until}; to lift it: driftwatch unsilence {made.id[:8]}")


def unsilence(
    named: Annotated[str, typer.Argument(metavar="ID", help="A silence's id, or its beginning.")],
    config: ConfigOption = None,
    *,
    as_json: JsonOption = False,
) -> None:
    """Lift a silence; what is still open is told now."""
    from driftwatch import actions, views

    now = datetime.now(UTC)
    with writing(config) as tx:
        lifted = actions.unsilence(tx, named, by=person(), now=now)
    if as_json:
        print_json({"schema": "driftwatch/silence/1", **views.silence(lifted, now)})
    else:
        typer.echo(f"lifted {lifted.id[:8]}; what is still open is told now")


def silences(
    config: ConfigOption = None,
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also those that are over.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the silences in force, newest first."""
    from driftwatch import views
    from driftwatch.cli import tables

    now = datetime.now(UTC)
    with reading(config) as reader:
        found = reader.silences(None if everything else now)
    if as_json:
        print_json(
            {"schema": "driftwatch/silences/1", "silences": [views.silence(each, now) for each in found]}
        )
        return
    typer.echo(
        tables.columns([tables.silence_row(each, now) for each in found], terminal_width())
        or "No silence is in force."
    )
