"""One visit to a server, from the first address to the last DELETE, as evidence."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from driftwatch import __version__
from driftwatch.evidence import Evidence
from driftwatch.model import Depth, Trigger
from driftwatch.probe import outcome, steps
from driftwatch.probe.beside import Beside, marker
from driftwatch.probe.connect import Resolver
from driftwatch.probe.dialogue import Dialogue, Pause
from driftwatch.probe.farewell import end_sessions
from driftwatch.probe.further import Door
from driftwatch.probe.log_files import MARKER_HEADER
from driftwatch.probe.request import Limits
from driftwatch.probe.steps import Seen
from driftwatch.probe.target import Target
from driftwatch.probe.tls import TrustStore
from driftwatch.probe.wire import Wire


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
    ``FAREWELL_S``; a slow tool and a burst, which only the configuration asks for, take their own time after
    it. Every session that the server issued is ended with DELETE, also when the visit fails or is
    cancelled. Raises OSError or ssl.SSLError when a configured certificate file cannot be read.
    """
    clock = asyncio.get_running_loop().time
    begun, taken_at = clock(), now()
    roots = trust.get(ca_file=target.ca_file, client_cert=target.client_cert, client_key=target.client_key)

    def wire(limits: Limits) -> Wire:
        return Wire(
            url=target.url,
            tls=roots,
            resolver=resolver,
            clock=now,
            limits=limits,
            credential=target.credential,
        )

    seen, mark = Seen(), marker()
    headers = ((MARKER_HEADER, mark),) if target.log_files and depth is Depth.FULL else ()
    async with wire(_with_pages(target.limits)) as outward:
        dialogue = Dialogue(outward, url=target.url, limits=target.limits, pause=pause, headers=headers)
        try:
            await steps.take(dialogue, seen, target, depth)
        finally:
            late = await end_sessions(dialogue, wire)
    evidence = Evidence(
        driftwatch=__version__,
        server=target.name,
        url=target.public_url,
        taken_at=taken_at,
        depth=depth,
        trigger=trigger,
        duration_s=0.0,
        requests=outward.requests + late,
        credential=target.credential_label,
        settings=target.settings,
        outcome=outcome.conclude(seen.openings),
        openings=tuple(seen.openings),
        surfaces=tuple(seen.surfaces),
        tls=outward.tls,
        retry_after_s=dialogue.retry_after_s,
    )
    if depth is Depth.FULL:
        door = Door(target=target, url=dialogue.url, wire=wire, pause=pause, headers=headers)
        beside = Beside(door=door, resolver=resolver, marker=mark, seconds=dialogue.remaining_s)
        evidence = await beside.complete(evidence)
    if not evidence.outcome.reachable:
        evidence = replace(evidence, openings=evidence.blocker)
    return replace(evidence, duration_s=clock() - begun)


def _with_pages(limits: Limits) -> Limits:
    """The budget of requests, with room for the pages of two surfaces, read twice and begun anew."""
    return replace(limits, max_requests=limits.max_requests + 8 * limits.max_pages)
