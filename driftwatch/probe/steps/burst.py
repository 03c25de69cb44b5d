"""A burst of small requests, sent with the owner's consent, to see how the server slows a client down."""

import asyncio
from collections import Counter
from dataclasses import replace
from http import HTTPStatus

from driftwatch.evidence import Burst, Missing, Surface
from driftwatch.model import DEPTH_CODE, Era, Trigger
from driftwatch.probe.conversation import eras
from driftwatch.probe.steps.further import ERAS, Begun, Door
from driftwatch.probe.target import BurstPlan

NO_CONSENT = Missing("a burst needs the owner's consent (rate_limit.enabled is false)", "no-consent")
OLD_TRANSPORT = Missing("no burst over the old HTTP+SSE transport", "not-applicable")

MAX_FAULTS = 3
"""Connections that broke, after which the burst ends; one request that hangs is enough."""
_HANGS = frozenset({"timeout", "deadline"})
_HANDSHAKE = 4
"""Requests beside the burst: initialize, initialized, and the DELETE of a session that each may open.

A session that a request of the burst opens is ended too.
"""

_MADE = {
    "deploy": frozenset({Trigger.DEPLOY, Trigger.MANUAL}),
    "interval": frozenset(Trigger),
    "manual": frozenset({Trigger.MANUAL}),
}


def unwanted(plan: BurstPlan, surface: Surface, trigger: Trigger) -> Missing | None:
    """Why this probe makes no burst; None when it does.

    A probe that the configuration does not choose for it says as much about the limits as a light probe.
    """
    if surface.era not in ERAS:
        return OLD_TRANSPORT
    if trigger not in _MADE[plan.on]:
        return Missing(f"the burst is made on {plan.on} only (rate_limit.on)", DEPTH_CODE)
    return None


async def send(door: Door, surface: Surface, plan: BurstPlan) -> Burst | Missing:
    """Send the configured number of requests one right after the other, on one connection."""
    limits = replace(door.target.limits, max_requests=_HANDSHAKE + 2 * plan.requests)
    async with door.conversation(surface, limits) as begun:
        if isinstance(begun, Missing):
            return Missing(f"the burst could not begin: {begun.reason}", begun.code)
        return await _send(begun, plan.requests)


async def _send(begun: Begun, number: int) -> Burst:
    talk = begun.talk
    modern = talk.surface.era is Era.MODERN
    statuses, faults = Counter[int](), Counter[str]()
    errors = retry_after = 0
    clock = asyncio.get_running_loop().time
    began = clock()
    while statuses.total() + faults.total() < number and faults.total() < MAX_FAULTS:
        request = talk.first("burst") if modern else talk.further("burst", "tools/list", {})
        reply = await talk.dialogue.send(replace(request, extra=True))
        exchange = reply.exchange
        if exchange.status is None or (exchange.fault is not None and exchange.fault.code in _HANGS):
            code = exchange.fault.code if exchange.fault else "protocol"
            faults[code] += 1
            if code in _HANGS:
                break
            continue
        statuses[exchange.status] += 1
        errors += eras.ok(exchange) and exchange.error is not None
        if exchange.status == HTTPStatus.TOO_MANY_REQUESTS:
            retry_after += exchange.header("retry-after") is not None
    return Burst(
        method=("server/discover" if modern else "tools/list"),
        planned=number,
        sent=statuses.total() + faults.total(),
        statuses=tuple(sorted(statuses.items())),
        errors=errors,
        faults=tuple(sorted(faults.items())),
        retry_after=retry_after,
        duration_s=clock() - began,
    )
