"""Specimens that run, and can be probed as the tests do: no pauses, a fixed clock."""

import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from driftwatch.evidence import Evidence
from driftwatch.model import Depth, Trigger
from driftwatch.probe import Limits, Resolver, SystemResolver, Target, TrustStore, probe
from tests.servers.raw import serve_openssl
from tests.specimens.http import Loopback, serving
from tests.specimens.mcp import Mcp
from tests.specimens.specimen import Specimen

TAKEN_AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TRUST = TrustStore()


@dataclass
class Running:
    """A running specimen that can be probed."""

    mcp: Mcp
    loopback: Loopback
    now: Callable[[], datetime] = lambda: TAKEN_AT
    pauses: list[float] = field(default_factory=list)

    async def pause(self, seconds: float) -> None:
        self.pauses.append(seconds)

    async def probe(
        self,
        *,
        path: str = "/mcp",
        depth: Depth = Depth.LIGHT,
        trigger: Trigger = Trigger.MANUAL,
        resolver: Resolver | None = None,
        limits: Limits | None = None,
        url: str | None = None,
        **target: Any,
    ) -> Evidence:
        """One probe; with a resolver the server has a name."""
        if resolver is not None:
            self.loopback.host = "localhost"
        return await probe(
            Target(name="specimen", url=url or self.loopback.url(path), limits=limits or Limits(), **target),
            depth=depth,
            trigger=trigger,
            trust=TRUST,
            resolver=resolver or SystemResolver(),
            now=self.now,
            pause=self.pause,
        )

    @property
    def asked(self) -> list[str]:
        """What was asked, in order: the JSON-RPC method, or the HTTP method without one."""
        return [incoming.rpc_method or incoming.method for incoming in self.loopback.log]


@asynccontextmanager
async def running(mcp: Mcp | None = None, *, context: ssl.SSLContext | None = None) -> AsyncIterator[Running]:
    """Run a server, with TLS where there is a context."""
    mcp = mcp or Mcp()
    async with serving(mcp.respond, greet=mcp.greet, context=context) as loopback:
        yield Running(mcp=mcp, loopback=loopback)


@asynccontextmanager
async def at_home(specimen: Specimen) -> AsyncIterator[Running]:
    """Run a specimen in whatever it needs around it."""
    context = specimen.certificate() if specimen.certificate else None
    if specimen.handshake_only and context is not None:
        with serve_openssl(b"", context) as silent:
            loopback = Loopback(Mcp().respond, port=silent.port, tls=True, turned_away=1)
            yield Running(mcp=Mcp(), loopback=loopback, now=_now)
        return
    async with running(specimen.make(), context=context) as server:
        server.loopback.tls = specimen.secure
        # Certificates are as old as this process.
        server.now = _now if specimen.secure else server.now
        yield server


def _now() -> datetime:
    return datetime.now(UTC)
