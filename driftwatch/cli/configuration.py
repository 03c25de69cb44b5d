"""``config check`` and ``config show``."""

import typer

from driftwatch.cli.options import ConfigOption, JsonOption, find_config, load_config, print_json
from driftwatch.errors import ConfigError, Problem

app = typer.Typer(
    help="Check the configuration, or show what is in force.", no_args_is_help=True, rich_markup_mode=None
)


@app.command("check")
def check(config: ConfigOption = None) -> None:
    """Check the whole configuration, every alert URL included.

    Exits with 2 and tells every problem at once.
    """
    from driftwatch.alerts import deliver
    from driftwatch.observe import checks_policy

    path = find_config(config)
    loaded = load_config(config)
    problems = [
        Problem(str(path), channel.line, f'alert "{channel.name}".url', reason)
        for channel in loaded.channels
        if (reason := deliver.validate(channel.url.get_secret_value()))
    ]
    if problems:
        raise ConfigError(problems)
    for server in loaded.servers:
        checks_policy(loaded, server)
    for warning in loaded.warnings:
        typer.echo(f"{path}: warning: {warning}", err=True)
    counts = f"servers: {len(loaded.servers)}, alert channels: {len(loaded.channels)}"
    typer.echo(f"{path}: fine ({counts})")


@app.command("show")
def show(config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Show the configuration with its defaults, secrets redacted."""
    loaded = load_config(config)
    if as_json:
        print_json(loaded.to_json())
    else:
        typer.echo(loaded.redacted())
