"""One server as a probe needs it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from driftwatch.config import Config, OAuth, Server
from driftwatch.config.masking import mask_url
from driftwatch.evidence import ANONYMOUS
from driftwatch.model import Json
from driftwatch.probe.credentials.oauth import Client, ClientCredentials
from driftwatch.probe.credentials.source import Source, TokenFile, secret_file
from driftwatch.probe.wire.credential import Credential
from driftwatch.probe.wire.proxy import Proxy
from driftwatch.probe.wire.request import Limits


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call that the configuration allows."""

    name: str
    arguments: dict[str, Json]


@dataclass(frozen=True, slots=True, kw_only=True)
class SlowTool(ToolCall):
    """A call that may take a while."""

    max_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BurstPlan:
    """A burst of requests that the owner agreed to."""

    requests: int
    on: str
    """``deploy`` (after a deploy or when asked), ``interval`` (every full probe) or ``manual``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where to knock, with what in hand, and when to give up."""

    name: str
    url: str = field(repr=False)
    """Exactly as configured; its query may be a secret."""
    shown_url: str = ""
    """The URL for people; empty: the URL with the values of its query masked."""
    credential: Credential | None = None
    """One that never changes."""
    source: Source | None = None
    """Where the credential comes from anew for every probe; takes the place of ``credential``."""
    limits: Limits = field(default_factory=Limits)
    ca_file: Path | None = None
    client_cert: Path | None = None
    client_key: Path | None = None
    proxy: Proxy | None = None
    """Where every connection goes through, those for a token too."""
    negative_probes: bool = True
    """False: a full probe leaves the deliberate bad requests out."""
    origin: str = "checked"
    """``checked``, or ``open`` for a server that is meant to accept every Origin."""
    checks_off: tuple[str, ...] = ()
    watch: tuple[str, ...] = ("tools",)
    """The lists that belong to the fingerprint: tools, prompts, resources."""
    tool_call: ToolCall | None = None
    """A tool that a full probe may call, with arguments that are wrong."""
    slow_tool: SlowTool | None = None
    """A tool that a full probe may call because it takes long."""
    burst: BurstPlan | None = None
    """None: no burst, ever."""
    log_files: tuple[Path, ...] = ()
    """The server's own logs, as absolute paths or patterns."""

    @property
    def public_url(self) -> str:
        """The URL as evidence names it."""
        return self.shown_url or mask_url(self.url)

    @property
    def credential_label(self) -> str:
        """What reports call the credential."""
        held = self.source or self.credential
        return ANONYMOUS if held is None else held.label

    @property
    def settings(self) -> dict[str, Json]:
        """What shapes a probe of this target, without secrets."""
        limits = self.limits
        return {
            "timeout_s": limits.timeout_s,
            "deadline_s": limits.deadline_s,
            "max_body": limits.max_body,
            "max_pages": limits.max_pages,
            "max_tools": limits.max_tools,
            "trust": "default" if self.ca_file is None else self.ca_file.name,
            "client_certificate": self.client_cert is not None,
            "proxy": self.proxy is not None,
            "negative_probes": self.negative_probes,
            "origin": self.origin,
            "checks_off": list(self.checks_off),
            "watch": list(self.watch),
            "tool_call": None if self.tool_call is None else self.tool_call.name,
            "slow_tool": None if self.slow_tool is None else self.slow_tool.name,
            "burst": None if self.burst is None else self.burst.requests,
            "logs": bool(self.log_files),
        }

    @classmethod
    def of(cls, config: Config, server: Server) -> Self:
        """The target of one configured server."""
        monitor, call, slow, limit = config.monitor, server.tool_call, server.slow_tool, server.rate_limit
        return cls(
            name=server.name,
            url=server.url,
            shown_url=server.shown_url,
            credential=_credential(server),
            source=_source(server),
            limits=Limits(
                timeout_s=server.timeout.total_seconds(),
                deadline_s=server.deadline.total_seconds(),
                max_body=monitor.max_body,
                max_pages=monitor.max_pages,
                max_tools=monitor.max_tools,
            ),
            ca_file=server.ca_file,
            client_cert=server.client_cert,
            client_key=server.client_key,
            proxy=None if server.proxy is None else Proxy.of(server.proxy),
            negative_probes=server.negative_probes,
            origin=server.origin,
            checks_off=tuple(server.checks.off),
            watch=tuple(server.watch),
            tool_call=None if call is None else ToolCall(name=call.name, arguments=call.arguments),
            slow_tool=None
            if slow is None
            else SlowTool(name=slow.name, arguments=slow.arguments, max_s=slow.max.total_seconds()),
            burst=BurstPlan(requests=limit.burst, on=limit.on) if limit.enabled else None,
            log_files=server.logs.files,
        )


def _headers(server: Server) -> tuple[tuple[str, str], ...]:
    return tuple((name, value.get_secret_value()) for name, value in server.headers.items())


def _credential(server: Server) -> Credential | None:
    headers = _headers(server)
    if server.token is not None:
        headers = (*headers, ("Authorization", f"Bearer {server.token.get_secret_value()}"))
    return Credential(label=server.credential_label, headers=headers) if headers else None


def _source(server: Server) -> Source | None:
    label, headers = server.credential_label, _headers(server)
    if server.token_file is not None:
        return TokenFile(label=label, path=server.token_file.path, headers=headers)
    if server.oauth is None:
        return None
    client = Client(
        client_id=server.oauth.client_id,
        secret=_secret(server.oauth),
        endpoint=server.url,
        token_url=server.oauth.token_url,
        scope=server.oauth.scope,
        resource=server.oauth.resource,
    )
    return ClientCredentials(client, label=label, headers=headers)


def _secret(oauth: OAuth) -> Callable[[], str]:
    file = oauth.client_secret_file
    return oauth.client_secret.get_secret_value if file is None else secret_file(file.path)
