"""One visit to a server, from the first address to the last DELETE, as evidence."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from driftwatch import __version__
from driftwatch.evidence import Evidence
from driftwatch.model import Depth, Trigger
from driftwatch.probe import outcome, steps
from driftwatch.probe.connect import Resolver
from driftwatch.probe.dialogue import Dialogue, Pause
from driftwatch.probe.request import Limits, Request
from driftwatch.probe.steps import Seen
from driftwatch.probe.target import Target
from driftwatch.probe.tls import TrustStore
from driftwatch.probe.wire import Wire

FAREWELL_S = 2.0
"""What a visit may take beyond its deadline, or after its cancellation, to end the sessions it opened."""

T = TypeVar("T")


async def probe(
    target: Target,
    *,
    depth: Depth,
    trigger: Trigger,
    trust: TrustStore,
    resolver: Resolver,
    now: Callable[[], datetime],
    pause: Pause = asyncio.sleep,
) -> Evidence:
    """Visit a server once and tell what was seen.

    Never raises for a fault of the server, whatever it is. Takes at most the target's deadline and
    ``FAREWELL_S``. Every session that the server issued is ended with DELETE, also when the visit fails or is
    cancelled. Raises OSError or ssl.SSLError when a configured certificate file cannot be read.
    """
    clock = asyncio.get_running_loop().time
    begun, taken_at = clock(), now()
    roots = trust.get(ca_file=target.ca_file, client_cert=target.client_cert, client_key=target.client_key)

    def wire(target: Target) -> Wire:
        return Wire(
            url=target.url,
            tls=roots,
            resolver=resolver,
            clock=now,
            limits=_with_pages(target.limits),
            credential=target.credential,
        )

    seen = Seen()
    async with wire(target) as outward:
        dialogue = Dialogue(outward, url=target.url, limits=target.limits, pause=pause)
        try:
            await steps.take(dialogue, seen, target, depth)
        finally:
            hurried = replace(target.limits, timeout_s=FAREWELL_S, deadline_s=FAREWELL_S)
            farewells = [dialogue.farewell(session) for session in dialogue.open_sessions]
            late = await _uncancelled(_send_all(wire(replace(target, limits=hurried)), farewells))
    evidence = Evidence(
        driftwatch=__version__,
        server=target.name,
        url=target.public_url,
        taken_at=taken_at,
        depth=depth,
        trigger=trigger,
        duration_s=clock() - begun,
        requests=outward.requests + late,
        credential=target.credential_label,
        settings=target.settings,
        outcome=outcome.conclude(seen.openings),
        openings=tuple(seen.openings),
        surfaces=tuple(seen.surfaces),
        tls=outward.tls,
        retry_after_s=dialogue.retry_after_s,
    )
    return evidence if evidence.outcome.reachable else replace(evidence, openings=evidence.blocker)


def _with_pages(limits: Limits) -> Limits:
    """The budget of requests, with room for the pages of two surfaces, read twice and begun anew."""
    return replace(limits, max_requests=limits.max_requests + 8 * limits.max_pages)


async def _send_all(wire: Wire, requests: list[Request]) -> int:
    """Send the requests on a wire of their own; how many were sent."""
    if not requests:
        return 0
    async with wire:
        for request in requests:
            await wire.send(request)
    return wire.requests


async def _uncancelled(work: Coroutine[Any, Any, T]) -> T:
    """Finish bounded work although this task is cancelled meanwhile; the cancellation comes after it."""
    task = asyncio.create_task(work)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return task.result()
