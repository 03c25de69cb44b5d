"""``config init``, ``config check`` and ``config show``."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from driftwatch.cli.options import (
    ConfigOption,
    JsonOption,
    file_trouble,
    find_config,
    load_config,
    load_to_alert,
    print_json,
)
from driftwatch.errors import ConfigError, Problem, UsageError

if TYPE_CHECKING:
    from driftwatch.config import Config

app = typer.Typer(help="Begin, check or show the configuration.", no_args_is_help=True, rich_markup_mode=None)

STARTER = """\
# What is not here has its default: `driftwatch config show` prints all of it.

[[server]]
name = {name}
url = {url}
# token_file = "token"        # or token = "${{API_TOKEN}}", headers, [server.oauth]

# [[alert]]
# name = "ops"
# url = "${{SLACK_URL}}"        # Slack's webhook address, or any of Apprise's services: mailto://..., json://...

# [hook]
# tokens = ["${{HOOK_TOKEN}}"]  # for `driftwatch deploy`, after every release
"""


@app.command("init")
def init(
    url: Annotated[str, typer.Argument(help="The URL of a server.")] = "https://your-server.example.com/mcp",
    *,
    name: Annotated[str, typer.Option(help="What to call it.")] = "api-prod",
    file: Annotated[Path, typer.Option(help="The file to write; it must not exist.")] = Path("config.toml"),
) -> None:
    """Write a first configuration, with one server.

    Nothing is overwritten. It says what to do next.
    """
    from driftwatch.config import adhoc

    adhoc(url, name=name)
    # A JSON string is a TOML string, unless it spells a character as two surrogates.
    name, url = (json.dumps(text, ensure_ascii=False) for text in (name, url))
    text = STARTER.format(name=name, url=url)
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(text)
    except FileExistsError:
        raise UsageError(f"{file} exists already: name another one with --file") from None
    except OSError as error:
        raise UsageError(f"--file {file}: {file_trouble(error)}") from error
    where = "" if file == Path("config.toml") else f" -c {file}"
    typer.echo(
        f"wrote {file}; next: fill in the URL and [[alert]], "
        f"then driftwatch config check{where}, driftwatch run{where}"
    )


@app.command("check")
def check(config: ConfigOption = None) -> None:
    """Check the whole configuration, every alert URL included.

    Exits with 2 and tells every problem at once; if there is none, certificate files that cannot be used.
    """
    from driftwatch.observe import checks_policy

    path = find_config(config)
    loaded = load_to_alert(config)
    for server in loaded.servers:
        checks_policy(loaded, server)
    if problems := list(_unusable_files(path, loaded)):
        raise ConfigError(problems)
    for warning in loaded.warnings:
        typer.echo(f"{path}: warning: {warning}", err=True)
    counts = f"servers: {len(loaded.servers)}, alert channels: {len(loaded.channels)}"
    typer.echo(f"{path}: fine ({counts})")


def _unusable_files(path: Path, loaded: "Config") -> Iterator[Problem]:
    """Certificate files that no probe can use; a service starts all the same, for they may be renewed."""
    from driftwatch.config.toml_lines import find_line, index_lines
    from driftwatch.probe import TrustStore, file_fault

    trust, lines = TrustStore(), index_lines(path.read_text(encoding="utf-8"))
    for number, server in enumerate(loaded.servers):
        try:
            trust.get(ca_file=server.ca_file, client_cert=server.client_cert, client_key=server.client_key)
        except OSError as why:
            key = "ca_file" if why.filename == str(server.ca_file) else "client_cert"
            line = find_line(lines, ("server", number, key))
            message = f"{file_fault(why)}: give a PEM file with what belongs there"
            yield Problem(str(path), line, f'server "{server.name}".{key}', message)


@app.command("show")
def show(config: ConfigOption = None, *, as_json: JsonOption = False) -> None:
    """Show the configuration with its defaults, secrets redacted."""
    loaded = load_config(config)
    if as_json:
        print_json(loaded.to_json())
    else:
        typer.echo(loaded.redacted())
