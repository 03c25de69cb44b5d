"""``notify test``: does a message reach the people it is for?"""

from typing import Annotated

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, load_config, print_json
from driftwatch.errors import UsageError

app = typer.Typer(help="Try the alert channels.", no_args_is_help=True, rich_markup_mode=None)


@app.command("test")
def send_test(
    channel: Annotated[str | None, typer.Argument(help="A channel's name; without it every channel.")] = None,
    config: ConfigOption = None,
    *,
    timeout: Annotated[float, typer.Option(min=1, max=300, help="Seconds to wait for the delivery.")] = 40,
    as_json: JsonOption = False,
) -> None:
    """Send a test message, and say what became of it.

    It goes through the outbox, as every alert does. A running service delivers it; without one this command
    does. Exits with 1 when a channel did not take it.
    """
    import asyncio
    from dataclasses import asdict

    from driftwatch.app import notify_test

    loaded = load_config(config)
    names = [item.name for item in loaded.channels]
    if channel is not None and channel not in names:
        raise UsageError(f"no alert channel is named {channel!r}; configured: {', '.join(names) or 'none'}")
    if not names:
        raise UsageError("no alert channel is configured; add an [[alert]] table with a name and a url")
    tested = asyncio.run(notify_test(loaded, [channel] if channel else names, timeout))
    if as_json:
        print_json({"schema": "driftwatch/notify-test/1", "channels": [asdict(each) for each in tested]})
    else:
        for each in tested:
            typer.echo(f"{each.channel}: {'sent' if each.sent else f'not sent: {each.problem}'}")
    raise typer.Exit(0 if all(each.sent for each in tested) else 1)
