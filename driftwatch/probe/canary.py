"""Whether anything at all can be reached from here."""

from collections.abc import Callable
from datetime import datetime

from driftwatch.probe.wire.connect import Resolver
from driftwatch.probe.wire.exchange import Wire
from driftwatch.probe.wire.request import Limits, Read, Request
from driftwatch.probe.wire.tls import TrustStore

PATIENCE_S = 10.0


async def answers(
    url: str,
    *,
    trust: TrustStore,
    resolver: Resolver,
    now: Callable[[], datetime],
    patience_s: float = PATIENCE_S,
) -> bool:
    """Whether an address gives any HTTP answer, within ``patience_s``; addresses are vetted as a server's."""
    limits = Limits(timeout_s=patience_s, deadline_s=patience_s)
    async with Wire(url=url, tls=trust.get(), resolver=resolver, clock=now, limits=limits) as wire:
        asked = Request(label="canary", http_method="GET", accept=None, read=Read.HEADERS)
        return (await wire.send(asked)).exchange.status is not None
