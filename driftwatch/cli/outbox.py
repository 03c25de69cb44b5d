"""``outbox``: what was written, what became of it, and what to do with what is stuck."""

from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, print_json, reading, terminal_width, writing

if TYPE_CHECKING:
    from driftwatch.store.ports import MessageRecord

app = typer.Typer(help="See what was sent, and what waits.", no_args_is_help=True, rich_markup_mode=None)

MessageArgument = Annotated[str, typer.Argument(metavar="ID", help="A message's id, or its beginning.")]


class Status(StrEnum):
    """The states of a message that a list can be limited to."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DEAD = "dead"
    DROPPED = "dropped"


@app.command("list")
def list_messages(
    config: ConfigOption = None,
    *,
    status: Annotated[Status | None, typer.Option(help="Only messages in this state.")] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", min=1, max=1000, help="How many, newest first.")
    ] = 20,
    as_json: JsonOption = False,
) -> None:
    """List messages and what became of them, newest first."""
    from driftwatch import views
    from driftwatch.cli import tables
    from driftwatch.store.ports import MessageStatus

    with reading(config) as reader:
        found = reader.messages(MessageStatus(status.value) if status else None, limit)
        backlog = reader.backlog()
    if as_json:
        print_json(
            {
                "schema": "driftwatch/outbox/1",
                "messages": [views.message(each) for each in found],
                "backlog": [views.backlog(each) for each in backlog],
            }
        )
        return
    now, width = datetime.now(UTC), terminal_width()
    none = f"No message is {status.value}." if status else "No message was written yet."
    typer.echo(tables.columns([tables.message_row(each, now) for each in found], width) or none)
    stuck = [
        tables.backlog_row(each, now) for each in backlog if each.stuck and status in (None, Status.PENDING)
    ]
    if stuck:
        heading = "channels that are stuck (outbox retry or drop ID moves them on)"
        typer.echo(f"\n{heading}:\n{tables.columns(stuck, width)}")


@app.command()
def retry(named: MessageArgument, config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Send a message now that waits or was given up."""
    from driftwatch import actions

    with writing(config) as tx:
        done = actions.retry(tx, named, now=datetime.now(UTC))
    _told(done, "is sent within a second, by the running service", as_json=as_json)


@app.command()
def drop(named: MessageArgument, config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Give up a message that waits: the next one can go."""
    from driftwatch import actions

    with writing(config) as tx:
        done = actions.drop(tx, named, now=datetime.now(UTC))
    _told(done, "is dropped", as_json=as_json)


def _told(record: "MessageRecord", what: str, *, as_json: bool) -> None:
    from driftwatch import views

    if as_json:
        print_json({"schema": "driftwatch/message/1", **views.message(record)})
    else:
        typer.echo(f"{record.message.channel}: message {record.message.id[:8]} {what}")
