"""``notify test``: does a message reach the people it is for?"""

import contextlib
from typing import TYPE_CHECKING, Annotated

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, load_config, print_json
from driftwatch.errors import StoreBusyError, UsageError

if TYPE_CHECKING:
    from driftwatch.store.ports import MessageRecord

app = typer.Typer(help="Try the alert channels.", no_args_is_help=True, rich_markup_mode=None)


@app.command("test")
def send_test(
    channel: Annotated[str | None, typer.Argument(help="A channel's name; without it every channel.")] = None,
    config: ConfigOption = None,
    *,
    timeout: Annotated[float, typer.Option(min=1, max=300, help="Seconds to wait for the delivery.")] = 40,
    as_json: JsonOption = False,
) -> None:
    """Send a test message through the outbox, the way every alert goes, and say what became of it.

    A running service delivers it; without one this command does. Exits with 1 when a channel did not take it.
    """
    import asyncio

    from driftwatch.app import notify_test

    loaded = load_config(config)
    names = [item.name for item in loaded.channels]
    if channel is not None and channel not in names:
        raise UsageError(f"no alert channel is named {channel!r}; configured: {', '.join(names) or 'none'}")
    if not names:
        raise UsageError("no alert channel is configured; add an [[alert]] table with a name and a url")
    with contextlib.suppress(StoreBusyError):
        records = asyncio.run(notify_test(loaded, [channel] if channel else names, timeout))
    if as_json:
        print_json({"schema": "driftwatch/notify-test/1", "channels": [_json(record) for record in records]})
    else:
        for record in records:
            typer.echo(_line(record))
    raise typer.Exit(0 if all(record.sent_at for record in records) else 1)


def _line(record: "MessageRecord") -> str:
    name = record.message.channel
    if record.sent_at:
        return f"{name}: sent"
    error = record.last_error or "nobody has taken it up yet"
    return f"{name}: {record.status.value}: {error}"


def _json(record: "MessageRecord") -> dict[str, object]:
    return {
        "channel": record.message.channel,
        "status": record.status.value,
        "message_id": record.message.id,
        "error": record.last_error,
    }
