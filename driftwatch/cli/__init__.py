"""The commands, a module for each group; heavy imports happen inside a command, so ``--help`` stays fast."""

import atexit
import errno
import gc
import os
import sys
from pathlib import Path
from typing import TextIO

import typer

import driftwatch
from driftwatch.cli import (
    catalogue,
    configuration,
    database,
    deploying,
    drift,
    notify,
    outbox,
    probing,
    quieting,
    reading,
    service,
    status,
    tour,
)
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
app.command("status")(status.status)
app.command("history")(reading.history)
app.command("diff")(drift.diff)
app.command("accept")(drift.accept)
app.command("events")(reading.events)
app.command("ack")(quieting.ack)
app.command("silence")(quieting.silence)
app.command("unsilence")(quieting.unsilence)
app.command("silences")(quieting.silences)
app.command("deploy")(deploying.deploy)
app.command("checks")(catalogue.checks)
app.command("explain")(catalogue.explain)
app.command("demo")(tour.demo)
app.command("healthcheck")(service.healthcheck)
app.add_typer(configuration.app, name="config")
app.add_typer(database.app, name="db")
app.add_typer(notify.app, name="notify")
app.add_typer(outbox.app, name="outbox")


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


_OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EBADF)


def _abandon_output() -> None:
    """Let what is still buffered go nowhere; Python would complain once more while flushing at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")


def main() -> None:
    """Run the command line; an expected error is one message on standard error, never a traceback."""
    # What a command has loaded goes with its process: a search for garbage in it on the way out would cost a
    # seventh of a probe.
    atexit.register(gc.freeze)
    # Where a stream is closed (`>&-`), Python has none; what nobody can read goes nowhere.
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    try:
        app()
    except DriftwatchError as error:
        typer.echo(f"{error}" if "\n" in str(error) else f"driftwatch: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of our output has gone (`| head`).
        _abandon_output()
        sys.exit(1)
    except OSError as error:
        # Files are opened and sockets used under their own handlers: what is left is writing the output.
        if error.errno not in _OUTPUT_ERRORS:
            raise
        _abandon_output()
        typer.echo(f"driftwatch: the output cannot be written: {error.strerror}", err=True)
        sys.exit(3)
    except KeyboardInterrupt:
        sys.exit(130)
