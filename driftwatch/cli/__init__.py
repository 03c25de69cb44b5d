"""The commands, a module for each group; heavy imports happen inside a command, so ``--help`` stays fast."""

import os
import sys

import typer

import driftwatch
from driftwatch.cli import catalogue, configuration, drift, notify, probing, reading, service, tour
from driftwatch.errors import DriftwatchError

app = typer.Typer(
    name="driftwatch",
    help="Watch remote MCP servers from outside and say so, once, when something changes.",
    epilog="Exit codes: 0 fine; 1 a check failed, or drift; 2 usage or configuration; 3 could not check.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)

app.command("run")(service.run)
app.command("probe")(probing.probe)
app.command("judge")(probing.judge)
app.command("status")(reading.status)
app.command("history")(reading.history)
app.command("diff")(drift.diff)
app.command("accept")(drift.accept)
app.command("checks")(catalogue.checks)
app.command("explain")(catalogue.explain)
app.command("demo")(tour.demo)
app.command("healthcheck")(service.healthcheck)
app.add_typer(configuration.app, name="config")
app.add_typer(notify.app, name="notify")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"driftwatch {driftwatch.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    *,
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Watch remote MCP servers from outside and say so, once, when something changes."""


def main() -> None:
    """Run the command line; an expected error is one message on standard error, never a traceback."""
    try:
        app()
    except DriftwatchError as error:
        typer.echo(f"{error}" if "\n" in str(error) else f"driftwatch: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`); Python would complain again while flushing at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
