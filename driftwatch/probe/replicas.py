"""A few more connections, to see whether every instance behind the address shows the same."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from driftwatch.evidence import Exchange, Greeting, Instance, Missing, Opening, Replicas, Surface
from driftwatch.model import Era, Json
from driftwatch.probe import eras, legacy, modern, outcome
from driftwatch.probe.farewell import FAREWELL_S
from driftwatch.probe.further import ERAS, OTHER_ERA, Begun, Door, begin
from driftwatch.probe.listing import Page, read_list
from driftwatch.probe.request import Limits
from driftwatch.probe.surface import NO_TOOLS, declares_tools, instructions, server_info
from driftwatch.toolset.canonical import written_alike

CONNECTIONS = 2
"""Besides the probe's own, so that three reads are compared."""
MAX_REQUESTS = 8
"""On one connection, the DELETE of every session included; of a healthy server at most 7."""
_PAGES = {Era.MODERN: 3, Era.LEGACY: 1}
"""What is left of them for a list, after the handshakes and before the DELETE."""

_BROKEN = frozenset({"refused", "reset", "timeout", "http-5xx", "tls", "certificate", "protocol"})
"""What says that an instance is gone; other refusals may be meant for whoever asks again and again."""

NO_TIME = Missing("no time was left for further connections", "deadline", "tools/pagination")
OLD_TRANSPORT = Missing("not asked over the old HTTP+SSE transport", "not-applicable")


async def look(
    door: Door, surfaces: Sequence[Surface], openings: Sequence[Opening], limits: Limits, *, ends: float
) -> Replicas | Missing:
    """Begin anew on ``CONNECTIONS`` connections one after the other, and read the lists of both eras on each.

    Where one era is spoken, the other is asked for, unless the probe itself was left in doubt about it. Ends
    at ``ends`` of the event loop's clock, give or take a farewell. A list of more pages than ``MAX_REQUESTS``
    allow is not compared.
    """
    surface = surfaces[0]
    era = surface.era
    if era not in ERAS:
        return OLD_TRANSPORT
    other = _other(surfaces, openings)
    instances, unanswered, broken = list[Instance](), list[str](), list[Missing]()
    greetings = list[Greeting]()
    share = (ends - asyncio.get_running_loop().time()) / CONNECTIONS - FAREWELL_S
    if share < 1:
        return NO_TIME
    narrow = replace(
        limits,
        deadline_s=share,
        timeout_s=min(limits.timeout_s, share),
        max_requests=MAX_REQUESTS,
        max_pages=_PAGES[era],
    )
    for number in range(CONNECTIONS):
        async with door.conversation(surface, narrow) as begun:
            if isinstance(begun, Missing) and begun.code in _BROKEN:
                broken.append(begun)
            elif isinstance(begun, Missing) and begun.code == OTHER_ERA:
                greetings.append(Greeting(era=era, revision=None, said=begun.reason))
            elif isinstance(begun, Missing):
                unanswered.append(begun.reason)
                if begun.code == "rate-limited":
                    break
            else:
                greetings.append(_greeting(era, begun.opened.exchange))
                instances.append(await _instance(begun, last=number == CONNECTIONS - 1))
                greeted, shown = await _other_way(begun, other)
                greetings += greeted
                instances += shown
    # A server error to all of them is as likely a limit that this very probe has reached.
    if not instances and not greetings and all(one.code == "http-5xx" for one in broken):
        reason = (unanswered or [one.reason for one in broken])[0]
        return Missing(f"no further connection was answered: {reason}", "no-reply")
    return Replicas(
        era=era,
        instances=tuple(instances),
        unanswered=tuple(unanswered),
        broken=tuple(one.reason for one in broken),
        greetings=tuple(greetings),
    )


def _other(surfaces: Sequence[Surface], openings: Sequence[Opening]) -> Era | Surface | None:
    """The other era, or its surface; None where it is not clear whether it is spoken."""
    if len(surfaces) > 1:
        return surfaces[1] if surfaces[1].era in ERAS else None
    (other,) = ERAS - {surfaces[0].era}
    tried = [opening.exchange for opening in openings if opening.era is other]
    return other if any(map(_declined, tried)) else None


async def _other_way(
    begun: Begun, other: Era | Surface | None
) -> tuple[Sequence[Greeting], Sequence[Instance]]:
    """What the same connection says and shows in the other era."""
    if other is None:
        return (), ()
    if isinstance(other, Era) or isinstance(other.tools, Missing):
        return await _greet(begun, other), ()
    also = await begin(begun.talk.dialogue, other)
    if isinstance(also, Begun):
        shown = replace(await _instance(also, last=False), other_era=other.era)
        return [_greeting(other.era, also.opened.exchange)], [shown]
    refused = [Greeting(era=other.era, revision=None, said=also.reason)]
    return refused if also.code == OTHER_ERA else (), ()


async def _greet(begun: Begun, other: Era | Surface) -> list[Greeting]:
    """What the other era's first request gets on the same connection; nothing where it is no clear answer."""
    dialogue = begun.talk.dialogue
    era = other.era if isinstance(other, Surface) else other
    if era is Era.MODERN:
        request = modern.request(dialogue, "discover", "server/discover", {}, accept=begun.opened.accept)
    else:
        revision = legacy.offered(other) if isinstance(other, Surface) else eras.OFFERED[0]
        request = legacy.initialization(dialogue, revision, accept=begun.opened.accept)
    exchange = (await dialogue.send(request)).exchange
    greeting = _greeting(era, exchange)
    return [greeting] if greeting.revision or _declined(exchange) else []


def _declined(exchange: Exchange) -> bool:
    return outcome.blocked(exchange) is None and eras.declines(exchange)


def _greeting(era: Era, exchange: Exchange) -> Greeting:
    if era is Era.MODERN:
        revision = eras.MODERN_REVISION if eras.is_modern(exchange) else None
    else:
        revision = eras.negotiated(exchange)
    listed = eras.supported_versions(exchange) if era is Era.MODERN else ()
    return Greeting(era=era, revision=revision, said=f"HTTP {exchange.status}", supported_versions=listed)


async def _instance(begun: Begun, *, last: bool) -> Instance:
    exchange = begun.opened.exchange
    result = exchange.result
    return Instance(
        address=exchange.address,
        server_info=server_info(result, begun.talk.surface.era),
        instructions=instructions(result),
        tools=await _tools(begun, result, twice=last and begun.talk.surface.era is Era.MODERN),
    )


async def _tools(begun: Begun, result: dict[str, Json], *, twice: bool) -> tuple[Json, ...] | Missing:
    """The list; with ``twice`` it is read again where it is the known one.

    Instances that take turns request by request may show the same list to every conversation.
    """
    if not declares_tools(result):
        return NO_TOOLS
    talk, era = begun.talk, begun.talk.surface.era
    first = talk.surface.listing
    if not isinstance(first, Missing) and first.pages > _PAGES[era]:
        return Missing(f"the list has {first.pages} pages, a further connection reads {_PAGES[era]}", "pages")

    async def ask(page: Page) -> Exchange:  # never on a new connection: this one is the point
        return (await talk.dialogue.send(talk.further("tools/list", "tools/list", page.params))).exchange

    dialogue = talk.dialogue
    modern = era is Era.MODERN
    known = talk.surface.tools
    listing = await read_list(ask, limits=dialogue.limits, wait=dialogue.wait, modern=modern)
    if twice and listing.complete and listing.pages == 1 and written_alike(known, listing.tools):
        again = await read_list(ask, limits=dialogue.limits, wait=dialogue.wait, modern=modern)
        listing = again if again.complete else listing
    if listing.complete:
        return known if written_alike(known, listing.tools) else listing.tools
    why = listing.fault.message if listing.fault else "it did not end"
    return Missing(f"the list was not read to its end: {why}", "incomplete-list")
