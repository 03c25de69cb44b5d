"""The kinds of values that keys hold, and the base of every table.

Each kind is an ``Annotated`` type: it reads what TOML gave, checks its bounds, and says what to write
instead. No message repeats the value.
"""

import ipaddress
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, timedelta, tzinfo
from pathlib import Path
from typing import Annotated, Any, Self, TypeAlias
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import idna
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    PrivateAttr,
    ValidationInfo,
)
from pydantic_core import CoreSchema, core_schema

from driftwatch.config.cron import Cron, parse_cron
from driftwatch.config.files import read_start
from driftwatch.config.quantities import (
    InvalidValueError,
    Rate,
    parse_duration,
    parse_rate,
    parse_size,
)
from driftwatch.model import Json, is_loopback


@dataclass(frozen=True, slots=True)
class Kind:
    """What documentation calls a kind of value."""

    name: str


FOLDER = "folder"
"""In the validation context: where relative paths start."""


class Table(BaseModel):
    """One TOML table: frozen, and nothing in it that is not declared."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        arbitrary_types_allowed=True,
        defer_build=True,  # a table alone is validated by nobody: it is built once, as a part of the whole
    )

    _line: int | None = PrivateAttr(default=None)

    @property
    def line(self) -> int | None:
        """Where the table, or the key that names its target, stands in the file; None without a file."""
        return self._line

    def standing_at(self, line: int | None) -> Self:
        """Remember the line."""
        self._line = line
        return self

    def __repr_args__(self) -> list[tuple[str | None, Any]]:
        """Only the name: a traceback or a log may show a table, and many tables hold secrets."""
        name = getattr(self, "name", None)
        return [] if name is None else [("name", name)]


@dataclass(frozen=True, slots=True)
class Duration:
    """A duration string between two bounds, such as ``Duration("10s", "31d")``."""

    low: str
    high: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Read text, take a timedelta as it is."""
        low, high = parse_duration(self.low), parse_duration(self.high)

        def read(value: object) -> timedelta:
            if isinstance(value, str):
                value = parse_duration(value)
            if not isinstance(value, timedelta):
                raise InvalidValueError('not a duration: write it in quotes and with its unit, such as "15m"')
            if not low <= value <= high:
                raise InvalidValueError(f"out of range: write a duration from {self.low} to {self.high}")
            return value

        return core_schema.no_info_plain_validator_function(read)


@dataclass(frozen=True, slots=True)
class Size:
    """A size string between two bounds, as a number of bytes."""

    low: str
    high: str

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Read text only: a bare number would leave its unit to guesswork."""
        low, high = parse_size(self.low), parse_size(self.high)

        def read(value: object) -> int:
            if not isinstance(value, str):
                raise InvalidValueError('not a size: write it in quotes and with its unit, such as "4MiB"')
            size = parse_size(value)
            if not low <= size <= high:
                raise InvalidValueError(f"out of range: write a size from {self.low} to {self.high}")
            return size

        return core_schema.no_info_plain_validator_function(read)


def _unquoted_int(value: object) -> object:
    """A whole number may come out of an interpolated string."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,12}", value) else value


def _unquoted_bool(value: object) -> object:
    return {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value


Integer: TypeAlias = Annotated[int, BeforeValidator(_unquoted_int), Field(strict=True), Kind("whole number")]
Boolean: TypeAlias = Annotated[
    bool, BeforeValidator(_unquoted_bool), Field(strict=True), Kind("true or false")
]


def _number(value: object) -> float:
    if isinstance(value, str) and re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", value):
        return float(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidValueError("not a number: write one such as 0.1, without quotes")
    return float(value)


Number: TypeAlias = Annotated[float, BeforeValidator(_number), Kind("number")]


def valid_name(value: str) -> str:
    """The name itself. Raises InvalidValueError for one that cannot be used."""
    if not 1 <= len(value) <= 64 or value != value.strip() or not value.isprintable():  # noqa: PLR2004
        raise InvalidValueError("a name has 1 to 64 printable characters and no blank at its ends")
    if "/" in value or value.startswith("-"):
        raise InvalidValueError(
            'a name has no "/" and does not begin with "-": addresses and commands use it'
        )
    if value in {".", ".."}:
        raise InvalidValueError('"." and ".." are no names: browsers drop them from an address')
    return value


Name: TypeAlias = Annotated[str, AfterValidator(valid_name), Kind("name")]


def _distinct(value: tuple[Any, ...]) -> tuple[Any, ...]:
    if len(set(value)) < len(value):
        raise InvalidValueError("the list names something twice: remove one of them")
    return value


Names: TypeAlias = Annotated[tuple[Name, ...], AfterValidator(_distinct), Kind("list of names")]


def read_by(parse: Callable[[str], Any], example: str) -> BeforeValidator:
    """A value that is written as text and read by a function that raises InvalidValueError."""

    def read(value: object) -> object:
        if not isinstance(value, str):
            raise InvalidValueError(f"write it as text, such as {example}")
        return parse(value)

    return BeforeValidator(read)


CronText: TypeAlias = Annotated[Cron, read_by(parse_cron, '"30 4 * * *"'), Kind("cron line")]
RateText: TypeAlias = Annotated[Rate, read_by(parse_rate, '"10/min"'), Kind("rate")]


def _zone(value: object) -> tzinfo:
    if isinstance(value, tzinfo):
        return value
    if value == "UTC":
        return UTC
    try:
        return ZoneInfo(value if isinstance(value, str) else "")
    except (KeyError, OSError, ValueError):
        # In this order: an unknown name, a folder of names, a path that leaves the database.
        raise InvalidValueError('not a time zone: write its IANA name, such as "Europe/Berlin"') from None


Zone: TypeAlias = Annotated[tzinfo, BeforeValidator(_zone), Kind("IANA time zone")]


@dataclass(frozen=True, slots=True)
class Listen:
    """An address to listen on."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


_LISTEN = re.compile(r"(?:\[(?P<v6>[0-9A-Fa-f:.]+)\]|(?P<host>[A-Za-z0-9.-]+)):(?P<port>[0-9]{1,5})")
_MAX_PORT = 65535


def parse_listen(text: str) -> Listen:
    """Read ``127.0.0.1:8080`` or ``[::1]:8080``; port 0 lets the system choose."""
    found = _LISTEN.fullmatch(text)
    if found is None:
        raise InvalidValueError(
            'not an address and a port: write "127.0.0.1:8080", or "0.0.0.0:8080" for every interface'
        )
    host, port = found["v6"] or found["host"], int(found["port"])
    if port > _MAX_PORT:
        raise InvalidValueError("a port is 0 to 65535")
    if found["v6"] or re.fullmatch(r"[0-9.]+", host):
        try:
            host = str(ipaddress.ip_address(host))
        except ValueError:
            raise InvalidValueError("not an IP address: correct it, or write a host's name") from None
    return Listen(host, port)


ListenText: TypeAlias = Annotated[Listen, read_by(parse_listen, '"127.0.0.1:8080"'), Kind("host:port")]


def _folder(info: ValidationInfo) -> Path:
    return Path((info.context or {}).get(FOLDER, Path.cwd()))


def absolute_path(value: object, info: ValidationInfo) -> Path:
    """A path as it is written, relative ones from the folder of the configuration."""
    if not isinstance(value, str | Path) or not str(value) or "\0" in str(value):
        raise InvalidValueError("not a path: write it as text; a relative one starts at this file's folder")
    return _folder(info) / value


FilePath: TypeAlias = Annotated[Path, BeforeValidator(absolute_path), Kind("path")]
"""An absolute path; nothing need be there."""


def _existing(value: Path) -> Path:
    read_start(value, 0)
    return value


ExistingFile: TypeAlias = Annotated[
    Path, BeforeValidator(absolute_path), AfterValidator(_existing), Kind("file")
]


URL_LIMIT = 8000
"""Characters; proxies and servers refuse much shorter ones."""

_NETLOC = re.compile(r"(?:[^@\[\]]*@)?(?:\[[0-9A-Fa-f]*:[0-9A-Za-z:.%]+\]|[^\[\]:@]+)(?::[0-9]*)?", re.ASCII)


def _is_host(host: str) -> bool:
    """False for what no resolver and no HTTP client takes: a typing error is told before the first probe."""
    if ":" in host or re.fullmatch(r"\d+(\.\d+){3}", host, re.ASCII):
        try:
            ipaddress.ip_address(host)
        except ValueError:
            return False
        return True
    if not host.isascii() or "xn--" in host:
        try:
            idna.decode(idna.encode(host))
        except (idna.IDNAError, ValueError):
            return False
        return True
    return re.fullmatch(r"(?:[\w-]{1,63}\.)*[\w-]{1,63}\.?", host, re.ASCII) is not None


def _require_visible(value: str) -> None:
    if len(value) > URL_LIMIT:
        raise InvalidValueError(f"longer than {URL_LIMIT} characters: this is hardly a URL")
    if re.search(r"[\x00-\x20\x7f\\]", value):
        raise InvalidValueError("a URL has no blanks, control characters or backslashes: a blank is %20")
    if not value.isprintable():
        raise InvalidValueError("a URL has no characters that cannot be seen: remove or percent-encode them")


def _web_url(value: str, *, userinfo: bool) -> str:
    _require_visible(value)
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        raise InvalidValueError("not a URL: its host or its port cannot be read") from None
    if parts.scheme not in {"http", "https"}:
        raise InvalidValueError('not a web address: a URL begins with "https://" or "http://"')
    if not parts.hostname or port == 0:
        raise InvalidValueError('a URL names a host, such as "https://mcp.example.com/mcp"')
    if not _NETLOC.fullmatch(parts.netloc):
        raise InvalidValueError("not a URL: its host or its port cannot be read")
    if not _is_host(parts.hostname):
        raise InvalidValueError("the URL's host is neither a name nor an IP address: correct it")
    if parts.username is not None and not userinfo:
        raise InvalidValueError("a URL holds no user or password here: use token, token_file or headers")
    if "#" in value:
        raise InvalidValueError("a URL has no fragment here: remove the # and what follows")
    return value


def is_in_clear(url: str) -> bool:
    """Whether what goes to a web address can be read on the way: plain http to another machine."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not is_loopback(parts.hostname or "")


def _plain_url(value: str) -> str:
    return _web_url(value, userinfo=False)


def _proxy_url(value: str) -> str:
    parts = urlsplit(_web_url(value, userinfo=True))
    if parts.scheme != "http":
        raise InvalidValueError("driftwatch speaks with proxies over plain http only")
    if parts.path not in {"", "/"} or parts.query:
        raise InvalidValueError('a proxy is a scheme, a host and a port: "http://proxy.example.com:3128"')
    return value


WebUrl: TypeAlias = Annotated[str, AfterValidator(_plain_url), Kind("URL")]
"""http or https, exactly as written. Its query may hold a secret: show it through ``mask_url`` only."""
ProxyUrl: TypeAlias = Annotated[str, AfterValidator(_proxy_url), Kind("URL")]


def json_object(value: object) -> dict[str, Json]:
    """A TOML table whose values JSON knows too."""
    if not isinstance(value, dict):
        raise InvalidValueError("write a table of arguments, such as { id = 1 }")
    if not _is_json(value):
        raise InvalidValueError("JSON knows no dates, times, nan or inf: write them as text")
    return value


def _is_json(value: object) -> bool:
    match value:
        case dict():
            return all(map(_is_json, value.values()))
        case list():
            return all(map(_is_json, value))
        case float():
            return math.isfinite(value)
        case _:
            return isinstance(value, str | int)


Arguments: TypeAlias = Annotated[dict[str, Json], BeforeValidator(json_object), Kind("table")]
