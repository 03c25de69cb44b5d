"""``[[server]]``: one MCP endpoint that is watched."""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationInfo,
    field_validator,
)

from driftwatch.config.masking import mask_url
from driftwatch.config.quantities import InvalidValueError, format_duration
from driftwatch.config.secret_files import SecretPath, Token, from_file
from driftwatch.config.server_tables import Checks, ClientLimits, Logs, OAuth, RateLimit, SlowTool, ToolCall
from driftwatch.config.values import (
    Boolean,
    CronText,
    Duration,
    ExistingFile,
    Kind,
    Name,
    Names,
    ProxyUrl,
    Table,
    WebUrl,
    is_in_clear,
)
from driftwatch.model import Json

OWN_HEADERS = frozenset(
    {
        "accept", "accept-encoding", "connection", "content-length", "content-type", "host", "keep-alive",
        "last-event-id", "origin", "proxy-authorization", "proxy-connection", "te", "trailer",
        "transfer-encoding", "upgrade",
    }
)  # fmt: skip
"""Headers that the dialogue itself sets or that belong to one connection; so does every ``Mcp-…`` header."""

DEFAULT_PORTS = {"http": 80, "https": 443}


def _header_name(value: str) -> str:
    if not re.fullmatch(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", value):
        raise InvalidValueError("not a header's name: letters, digits and -, without colon or blank")
    if value.lower() in OWN_HEADERS or value.lower().startswith("mcp-"):
        raise InvalidValueError("driftwatch sets this header itself: remove it")
    return value


def _header_value(value: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[\x21-\x7e]([\x20-\x7e\t]*[\x21-\x7e])?", value.get_secret_value()):
        raise InvalidValueError("a header's value is visible ASCII on one line, without blanks at its ends")
    return value


def _distinct_names(value: dict[str, SecretStr]) -> dict[str, SecretStr]:
    if len({name.lower() for name in value}) < len(value):
        raise InvalidValueError("two headers differ in upper and lower case only: remove one of them")
    return value


Headers: TypeAlias = Annotated[
    dict[Annotated[str, AfterValidator(_header_name)], Annotated[SecretStr, AfterValidator(_header_value)]],
    AfterValidator(_distinct_names),
    Kind("table of secrets"),
]


def _with_tools(value: tuple[str, ...]) -> tuple[str, ...]:
    if "tools" not in value:
        raise InvalidValueError(
            'tools are always watched: write ["tools"], and perhaps "prompts" or "resources"'
        )
    return tuple(dict.fromkeys(value))


class Server(Table):
    """One MCP endpoint: where it is, what opens it, and how it is watched.

    ``interval``, ``full_interval``, ``timeout`` and ``deadline`` are what is in force: the server's own, or
    else those of ``[monitor]``.
    """

    name: Name = Field(description="What reports and alerts call it; unique.", examples=["api-prod"])
    previous_name: Name | None = Field(
        default=None, description="Its name until now: a renamed server keeps its history."
    )
    url: WebUrl = Field(
        description="The MCP endpoint, exactly as clients are given it.",
        examples=["https://mcp.example.com/mcp"],
    )
    tags: Names = Field(
        default=(), description="Words by which channels and maintenance windows choose servers."
    )
    schedule: CronText | None = Field(
        default=None,
        description="A cron line (minute hour day month weekday, in the time zone of `[monitor]`) in place "
        "of both intervals; every probe is a full one.",
    )
    interval: Annotated[timedelta, Duration("1s", "31d")] = Field(
        default=timedelta(minutes=15), description="Time between two probes."
    )
    full_interval: Annotated[timedelta, Duration("1s", "90d")] = Field(
        default=timedelta(hours=6),
        description="Time between two full probes, which add the deliberate bad requests.",
    )
    timeout: Annotated[timedelta, Duration("100ms", "10m")] = Field(
        default=timedelta(seconds=20), description="Longest wait for one answer."
    )
    deadline: Annotated[timedelta, Duration("1s", "1h")] = Field(
        default=timedelta(minutes=1),
        description="Longest time for a whole probe; a longer timeout is cut at it.",
    )
    headers: Headers = Field(
        default_factory=dict, description="Extra request headers; the values are secrets."
    )
    token_file: SecretPath | None = Field(
        default=None, description="File with the bearer token; read again when it changes."
    )
    token: Token | None = Field(default=None, validate_default=True, description="The bearer token itself.")
    oauth: OAuth | None = Field(default=None, description="OAuth 2 client credentials.")
    credential: Name | None = Field(
        default=None,
        description="What reports call the credential: change it when the account changes, not when a token "
        "is renewed. Without it: token, oauth, headers or anonymous.",
    )
    proxy: ProxyUrl | None = Field(
        default=None,
        description="HTTP proxy that every connection goes through, those for a token too; the "
        "environment is ignored.",
    )
    ca_file: ExistingFile | None = Field(
        default=None,
        description="PEM file with certificate authorities to trust beside the public ones.",
    )
    client_cert: ExistingFile | None = Field(
        default=None,
        description="PEM file with the client certificate, and its key unless `client_key` is given.",
    )
    client_key: ExistingFile | None = Field(
        default=None, description="PEM file with the client certificate's key."
    )
    accept: Literal["deploy", "manual", "always"] = Field(
        default="deploy",
        description="What becomes the accepted toolset by itself: `deploy` what a deploy brings, breaking "
        "changes excepted; `manual` nothing; `always` everything.",
    )
    watch: Annotated[tuple[Literal["tools", "prompts", "resources"], ...], AfterValidator(_with_tools)] = (
        Field(default=("tools",), description="Which lists are compared: tools, prompts, resources.")
    )
    negative_probes: Boolean = Field(
        default=True,
        description="Whether full probes send deliberate bad requests to see how they are refused.",
    )
    origin: Literal["checked", "open"] = Field(
        default="checked", description="`open` for a server that is meant to accept every Origin."
    )
    checks: Checks = Field(default_factory=Checks, description="Checks that are switched off.")
    limits: dict[str, ClientLimits] = Field(
        default_factory=dict, description="What clients take, by client, where you know better."
    )
    tool_call: ToolCall | None = Field(
        default=None, description="A tool that may be called with bad arguments."
    )
    slow_tool: SlowTool | None = Field(
        default=None, description="A tool that may be called because it is slow."
    )
    rate_limit: RateLimit = Field(default_factory=RateLimit, description="A burst, with your consent only.")
    logs: Logs = Field(default_factory=Logs, description="Log files to search for credentials.")

    @field_validator("limits")
    @classmethod
    def _make_sense(cls, value: dict[str, ClientLimits], info: ValidationInfo) -> dict[str, ClientLimits]:
        check = (info.context or {}).get("check_limits")
        if check is None:
            return value
        wrong = []
        for name, limits in value.items():
            try:
                check(name, limits.figures)
            except ValueError as error:
                wrong.append(f"{name}: {error}")
        if wrong:
            raise InvalidValueError("; ".join(wrong))
        return value

    _bounds: tuple[int, ...] = PrivateAttr(default=())
    """What ``[monitor]`` allows one list to be; it shapes results."""
    _hidden: tuple[str, ...] = PrivateAttr(default=())
    """Secrets that interpolation brought in; they may stand inside the URL."""

    def model_post_init(self, context: Any, /) -> None:
        """Keep what the surroundings know and a table's own keys do not say."""
        context = context or {}
        self._bounds = context.get("bounds", ())
        self._hidden = context.get("secrets", ())

    @property
    def credential_label(self) -> str:
        """What reports, fingerprints and alerts call the credential; never the credential."""
        if self.credential is not None:
            return self.credential
        if self.token is not None:
            return "token"
        if self.oauth is not None:
            return "oauth"
        return "headers" if self.headers else "anonymous"

    @property
    def host(self) -> str:
        """``host:port``, lower case and with the port always there: the unit of limits per host."""
        parts = urlsplit(self.url)
        host = (parts.hostname or "").rstrip(".")
        return f"{f'[{host}]' if ':' in host else host}:{parts.port or DEFAULT_PORTS[parts.scheme]}"

    @property
    def sends_secret_in_clear(self) -> bool:
        """A credential goes over plain http to another machine."""
        return is_in_clear(self.url) and bool(self.token or self.oauth or self.headers)

    @property
    def shown_url(self) -> str:
        """The URL as people may see it: its query's values and what came from secret files are ``***``."""
        return mask_url(self.url, self._hidden)

    @property
    def client_limits(self) -> Mapping[str, Mapping[str, str | int]]:
        """The figures of ``limits`` by client, only those that are given."""
        return {client: limits.figures for client, limits in self.limits.items()}

    @property
    def revision(self) -> str:
        """A digest of everything that shapes results; a name, a tag or an interval does not.

        Secret values are left out, so that a renewed token changes nothing; the credential's label, the names
        of headers and the exact URL are in.
        """
        text = json.dumps(self.shape, sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    @property
    def shape(self) -> dict[str, Json]:
        """What ``revision`` digests."""
        oauth = self.oauth
        return {
            "url": self.url,
            "credential": self.credential_label,
            "headers": sorted(name.lower() for name in self.headers),
            "oauth": oauth and [oauth.client_id, oauth.token_url, oauth.scope, oauth.resource],
            "proxy": self.proxy and mask_url(self.proxy),
            "trust": [str(file) if file else None for file in (self.ca_file, self.client_cert)],
            "watch": sorted(self.watch),
            "negative_probes": self.negative_probes,
            "origin": self.origin,
            "off": sorted(self.checks.off),
            "limits": {client: dict(figures) for client, figures in self.client_limits.items()},
            "timeouts": [format_duration(self.timeout), format_duration(self.deadline)],
            "bounds": list(self._bounds),
            "tool_call": self.tool_call and self.tool_call.model_dump(),
            "slow_tool": self.slow_tool
            and [self.slow_tool.name, self.slow_tool.arguments, format_duration(self.slow_tool.max)],
            "rate_limit": self.rate_limit.model_dump(),
            "logs": [str(file) for file in self.logs.files],
        }

    _read_file = field_validator("token", mode="before")(from_file)

    @field_validator("interval", "full_interval")
    @classmethod
    def _one_rhythm(cls, value: timedelta, info: ValidationInfo) -> timedelta:
        # The defaults of [monitor] are not handed to a server that has a schedule.
        if info.data.get("schedule") is not None:
            raise InvalidValueError(f"{info.field_name} and schedule are both given: keep one")
        return value

    @field_validator("token", "oauth")
    @classmethod
    def _one_authorization(cls, value: Any, info: ValidationInfo) -> Any:
        if value is None:
            return value
        if info.field_name == "oauth" and info.data.get("token") is not None:
            raise InvalidValueError("oauth and token are both given: keep one")
        if any(name.lower() == "authorization" for name in info.data.get("headers", ())):
            raise InvalidValueError(f"{info.field_name} and an Authorization header are both given: keep one")
        return value

    @field_validator("client_key")
    @classmethod
    def _key_of_certificate(cls, value: Path | None, info: ValidationInfo) -> Path | None:
        if value is not None and info.data.get("client_cert", value) is None:
            raise InvalidValueError("client_key without client_cert: give the certificate too")
        return value
