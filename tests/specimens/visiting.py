"""Probing a specimen as the tests do: no pauses, a fixed clock."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from driftwatch.evidence import Evidence
from driftwatch.model import Depth, Trigger
from driftwatch.probe import Limits, Resolver, SystemResolver, Target, TrustStore, probe
from tests.specimens.http import Loopback, serving
from tests.specimens.mcp import Mcp

TAKEN_AT = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
TRUST = TrustStore()


@dataclass
class Visit:
    """A running specimen that can be probed."""

    mcp: Mcp
    loopback: Loopback
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
        """One visit; with a resolver the server has a name."""
        if resolver is not None:
            self.loopback.host = "localhost"
        return await probe(
            Target(name="specimen", url=url or self.loopback.url(path), limits=limits or Limits(), **target),
            depth=depth,
            trigger=trigger,
            trust=TRUST,
            resolver=resolver or SystemResolver(),
            now=lambda: TAKEN_AT,
            pause=self.pause,
        )

    @property
    def asked(self) -> list[str]:
        """What was asked, in order: the JSON-RPC method, or the HTTP method without one."""
        return [incoming.rpc_method or incoming.method for incoming in self.loopback.log]


@asynccontextmanager
async def visiting(mcp: Mcp | None = None, *, context: ssl.SSLContext | None = None) -> AsyncIterator[Visit]:
    server = mcp or Mcp()
    async with serving(server.respond, context=context) as loopback:
        yield Visit(mcp=server, loopback=loopback)
