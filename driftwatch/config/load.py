"""config.toml -> Config, or every problem at once."""

import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import NoReturn

from pydantic import ValidationError

from driftwatch.config.alerting import Window
from driftwatch.config.files import MAX_FILE_BYTES
from driftwatch.config.interpolation import interpolate
from driftwatch.config.problems import faults_of, readable
from driftwatch.config.rules import broken_rules
from driftwatch.config.schema import Config
from driftwatch.config.server import Server
from driftwatch.config.toml_lines import KeyPath, find_line, index_lines
from driftwatch.config.values import FOLDER
from driftwatch.errors import ConfigError, Problem
from driftwatch.model import Json


def load(
    path: Path,
    environ: Mapping[str, str],
    *,
    known_checks: Collection[str] | None = None,
    check_limits: Callable[[str, Mapping[str, str | int]], object] | None = None,
    refuse_channel: Callable[[str], str | None] | None = None,
) -> Config:
    """Read, interpolate and validate a configuration.

    What other rooms know of values; None leaves these unjudged: ``known_checks`` are the ids that
    ``checks.off`` may name, ``check_limits`` raises ValueError for the figures of a client, and
    ``refuse_channel`` says what is wrong with a channel's URL.

    Raises ConfigError with every problem, in the order of the file; no message contains a value.
    """
    text = _read(path)
    known = {"known_checks": known_checks, "check_limits": check_limits, "refuse_channel": refuse_channel}
    return _load(path, text, _parse(path, text), environ, known)


def load_beside(path: Path, environ: Mapping[str, str]) -> Config:
    """Only where the database is and where the service listens, everything else as by default.

    For commands beside a running service: a person's shell need not hold the service's secrets.

    Raises ConfigError with every problem of these keys.
    """
    text = _read(path)
    document = _parse(path, text)
    needed = {"storage": document.get("storage", {})}
    http = document.get("http")
    if isinstance(http, dict) and "listen" in http:
        needed["http"] = {"listen": http["listen"]}
    return _load(path, text, needed, environ, {})


def load_windows(path: Path, environ: Mapping[str, str]) -> tuple[Window, ...]:
    """Only the maintenance windows, for a look beside a running service.

    Raises ConfigError with every problem of theirs, except whether the servers that they name are there.
    """
    text = _read(path)
    document = _parse(path, text)
    monitor, alerts = document.get("monitor"), document.get("alerts")
    needed: dict[str, Json] = {}
    if isinstance(monitor, dict) and "timezone" in monitor:
        needed["monitor"] = {"timezone": monitor["timezone"]}
    if isinstance(alerts, dict) and "window" in alerts:
        needed["alerts"] = {"window": alerts["window"]}
    return _load(path, text, needed, environ, {}, whole=False).alerts.windows


def _load(
    path: Path,
    text: str,
    document: Mapping[str, Json],
    environ: Mapping[str, str],
    known: Mapping[str, object],
    *,
    whole: bool = True,
) -> Config:
    try:
        lines = index_lines(text)
        folder = path.absolute().parent
        interpolated = interpolate(document, environ, folder)
        context: dict[str, object] = {
            FOLDER: folder,
            **known,
            "lines": lines,
            "secrets": interpolated.secrets,
            "files": [path.absolute(), *interpolated.files],
        }
        config, faults = _validate(interpolated.document, context)
        if whole:
            faults = [*broken_rules(interpolated.document), *faults]
    except RecursionError:
        _stop(path, "arrays and tables are nested too deeply: flatten them")
    unresolved = {place for place, _ in interpolated.faults}
    # What could not be resolved is reported once, as such.
    faults = [fault for fault in faults if not _is_within(fault[0], unresolved)]
    faults.extend(interpolated.faults)
    if config is None or faults:
        raise ConfigError(
            sorted(
                dict.fromkeys(
                    Problem(
                        str(path), find_line(lines, place), readable(place, interpolated.document), message
                    )
                    for place, message in faults
                ),
                key=lambda problem: problem.line or 0,
            )
        )
    return config


def adhoc(
    url: str, *, name: str | None = None, headers: Mapping[str, str] | None = None, token: str | None = None
) -> Config:
    """The configuration of one server that is in no file, everything else as by default.

    Without a name it is called by its host. Raises ConfigError.
    """
    given = {"name": name or "server", "url": url, "headers": dict(headers or {})}
    if token is not None:
        given["token"] = token
    config, faults = _validate({"server": [given]}, {FOLDER: Path.cwd()})
    if config is None or faults:
        raise ConfigError(
            [Problem("command line", None, readable(place[2:], given), message) for place, message in faults]
        )
    if name is None:
        return adhoc(url, name=_host_name(config.servers[0]), headers=headers, token=token)
    return config


def _host_name(server: Server) -> str:
    host = re.sub(r":(80|443)$", "", server.host)
    return host.strip("-/")[:64] or "server"


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        _stop(path, "no such file: create it with `driftwatch config init`, or name another one")
    except IsADirectoryError:
        _stop(path, "this is a folder: name the configuration file in it")
    except PermissionError:
        _stop(path, "may not be read: give driftwatch's user the right to read it")
    except (OSError, ValueError) as problem:
        _stop(path, f"cannot be read ({type(problem).__name__}): correct the path")
    if len(raw) > MAX_FILE_BYTES:
        _stop(path, "longer than 16 MiB: this is hardly a configuration")
    if raw.startswith((b"\xff\xfe", b"\xfe\xff")):
        _stop(path, "UTF-16 text: save it as UTF-8", line=1)
    if raw.startswith(b"\xef\xbb\xbf"):
        _stop(path, "begins with a byte order mark: save it as UTF-8 without one", line=1)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as problem:
        line = raw.count(b"\n", 0, problem.start) + 1
        _stop(path, "not UTF-8 text: save it as UTF-8", line=line)


def _parse(path: Path, text: str) -> dict[str, Json]:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        place = re.search(r"\(at line (\d+), column \d+\)$", str(problem))
        line = int(place[1]) if place else len(text.splitlines()) or 1
        what = next((words for start, words in _TOML_WORDS.items() if str(problem).startswith(start)), None)
        _stop(path, f"not valid TOML: {what or 'this line cannot be understood: correct it'}", line=line)
    except RecursionError:
        _stop(path, "arrays and tables are nested too deeply: flatten them")
    except ValueError:
        _stop(path, "a number is too long: shorten it")


_TOML_WORDS = {
    "Invalid value": 'the value cannot be read: text needs quotes, as in key = "text"',
    "Cannot overwrite a value": "the key is given twice: keep one",
    "Duplicate inline table key": "a key is given twice: keep one",
    "Cannot declare": "the table is given twice, or its name is in use already: keep one",
    "Cannot mutate": "the table was completed in another place: write this key there",
    "Unterminated string": "a text does not end: close it with a quote",
    "Illegal character": "a text does not end on its line: close it with a quote",
    "Unescaped": "a backslash stands alone in a text: double it, or use 'single quotes'",
    "Unclosed array": "a list does not end: close it with ]",
    "Unclosed inline table": "a table does not end: close it with }",
    "Invalid statement": "a line is a [table], a key = value or a # comment",
    "Expected '=' after a key": "the key has no value: write key = value",
    "Expected ']' at the end of a table": "the table's name does not end: close it with ]",
    "Expected newline": "something follows the value: give every key its own line, and text its quotes",
}
"""What tomllib says, in our words: its own may quote the file."""


def _validate(
    document: Mapping[str, Json], context: dict[str, object]
) -> tuple[Config | None, list[tuple[KeyPath, str]]]:
    try:
        return Config.model_validate(document, context=context), []
    except ValidationError as error:
        return None, list(faults_of(error))


def _is_within(place: KeyPath, places: Iterable[KeyPath]) -> bool:
    return any(place[:length] in places for length in range(1, len(place) + 1))


def _stop(path: Path, message: str, line: int | None = None) -> NoReturn:
    raise ConfigError([Problem(str(path), line, "", message)]) from None
