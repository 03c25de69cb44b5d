"""Options and outputs that several commands share."""

import getpass
import json
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from driftwatch.errors import UsageError, no_server
from driftwatch.fail_on import FailOn

if TYPE_CHECKING:
    from collections.abc import Callable

    from driftwatch.config import Config
    from driftwatch.store.ports import Reader, ServerRecord, Tx
    from driftwatch.store.sqlite import SqliteStore

ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        "-c",
        envvar="DRIFTWATCH_CONFIG",
        readable=False,  # whether it can be read is said by the configuration, like everything about it
        help="The configuration file; without it ./config.toml, then /etc/driftwatch/config.toml.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else.")]
FailOnOption = Annotated[
    list[FailOn] | None,
    typer.Option(
        "--fail-on",
        show_default="failed",
        help="What exits with 1: failed checks, observed risks too, checks that could not be made too (as "
        "behind a 401), or drift alone. Drift always does. May repeat.",
    ),
]
JUnitOption = Annotated[Path | None, typer.Option(help="Write JUnit XML to a file; - is standard output.")]
SarifOption = Annotated[Path | None, typer.Option(help="Write SARIF to a file; - is standard output.")]
MarkdownOption = Annotated[Path | None, typer.Option(help="Write Markdown to a file; - is standard output.")]
BaselineOption = Annotated[
    Path | None,
    typer.Option(help="Compare with an earlier probe: a file of probe --save (best), or of --json."),
]


def terminal_width() -> int | None:
    """Columns of the terminal; None for a pipe or a file, whose lines are for programs."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def is_configured(path: Path | None) -> bool:
    """Whether a configuration is named, or lies where one is looked for."""
    from driftwatch.config.files import PLACES

    return path is not None or any(Path(place).exists() for place in PLACES)


def find_config(path: Path | None) -> Path:
    """The configuration file to use. Raises UsageError when there is none."""
    from driftwatch.config.files import PLACES

    if path is not None:
        return path
    for place in map(Path, PLACES):
        if place.exists():
            return place
    raise UsageError(
        f"no configuration found (looked for {' and '.join(PLACES)}); name one with --config FILE, "
        "or begin with `driftwatch config init`"
    )


def load_config(
    path: Path | None, *, refuse_channel: "Callable[[str], str | None] | None" = None
) -> "Config":
    """The validated configuration; ``refuse_channel`` says what is wrong with a channel's URL.

    Raises ConfigError with every problem at once, UsageError when there is no file.
    """
    from driftwatch import checks, config

    return config.load(
        find_config(path),
        os.environ,
        known_checks=[declared.id for declared in checks.catalogue],
        check_limits=checks.client,
        refuse_channel=refuse_channel,
    )


def load_to_alert(path: Path | None) -> "Config":
    """The same, with every alert URL judged, in a process of its own."""
    from driftwatch.alerts import urls

    with urls.judging() as refuse:
        return load_config(path, refuse_channel=refuse)


def load_beside(path: Path | None) -> "Config":
    """Where the database is and where the service listens; no secret has to be set for that.

    Raises ConfigError when these keys are wrong, UsageError when there is no file.
    """
    from driftwatch import config

    return config.load_beside(find_config(path), os.environ)


@contextmanager
def writing(path: Path | None) -> "Iterator[Tx]":
    """One write transaction beside a running service, which sees the result within a second."""
    from driftwatch.store.sqlite import SqliteStore

    store = SqliteStore(load_beside(path).storage.path)
    try:
        with store.write() as tx:
            yield tx
    finally:
        store.close()


@contextmanager
def reading(path: Path | None) -> "Iterator[Reader]":
    """One read beside a running service. Raises StoreError when there is no database yet."""
    store = open_readonly(load_beside(path))
    try:
        with store.read() as reader:
            yield reader
    finally:
        store.close()


def remembered(reader: "Reader", name: str) -> "ServerRecord":
    """A server's row, also of one that is no longer configured. Raises UnknownError."""
    record = reader.server(name)
    if record is None:
        raise no_server(name, (each.name for each in reader.servers()))
    return record


def open_readonly(config: "Config") -> "SqliteStore":
    """The database for reading, beside a running service. Raises StoreError when there is none yet."""
    from driftwatch.store.sqlite import SqliteStore

    return SqliteStore.open_readonly(config.storage.path)


def read_token(path: Path) -> str:
    """The token in a file of --token-file. Raises UsageError where there is none."""
    try:
        token = path.read_text(encoding="utf-8").strip()
    except OSError as error:
        raise UsageError(f"--token-file {path}: {file_trouble(error)}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"--token-file {path}: not UTF-8 text: save the token alone in it") from error
    if not token:
        raise UsageError(f"--token-file {path}: the file is empty: write the token into it")
    return token


def file_trouble(error: OSError) -> str:
    """What is wrong with a file that somebody named, and what to do."""
    match error:
        case FileNotFoundError():
            return "No such file or folder: correct the path, or create its folder"
        case IsADirectoryError():
            return "this is a folder: name a file in it"
        case PermissionError():
            return "this user may not use it: change its rights, or name another file"
        case _:
            return error.strerror or str(error)


def person() -> str:
    """Who runs this command, for the history; in a container the user may have no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"uid {os.getuid()}"


def print_json(value: Any) -> None:
    """One JSON document on standard output; foreign text cannot break the encoding.

    UTF-8 has no half of a surrogate pair: it is escaped, as JSON writes it in ASCII.
    """
    text = json.dumps(value, indent=2, ensure_ascii=not _utf8(), default=str)
    typer.echo(text.encode("utf-8", "backslashreplace").decode())


def colourful() -> bool:
    """True when standard output is a terminal that has not asked for plain text (NO_COLOR, TERM=dumb)."""
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _utf8() -> bool:
    return (sys.stdout.encoding or "").lower().replace("-", "") == "utf8"
