"""Further conversations with the same server, each on a connection of its own."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

from driftwatch.evidence import Exchange, Missing, Surface
from driftwatch.model import Era
from driftwatch.probe.conversation import eras, legacy, modern, outcome
from driftwatch.probe.conversation.dialogue import ACCEPT, Dialogue, Opened, Pause
from driftwatch.probe.conversation.farewell import end_sessions
from driftwatch.probe.conversation.talk import Talk
from driftwatch.probe.target import Target
from driftwatch.probe.wire.exchange import Wire
from driftwatch.probe.wire.request import Limits

ERAS = frozenset({Era.MODERN, Era.LEGACY})
"""The eras in which a further conversation can be had; the old HTTP+SSE transport is left alone."""

OTHER_ERA = "other-era"
"""The code of a first request that was refused as by a server that does not speak its era."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A conversation whose first words were understood."""

    opened: Opened
    talk: Talk


@dataclass(slots=True, kw_only=True)
class Door:
    """How to get to the server once more, and what that took so far."""

    target: Target
    url: str
    """The endpoint; where a redirect led, if one was followed."""
    wire: Callable[[Limits], Wire]
    pause: Pause
    headers: tuple[tuple[str, str], ...]
    """Go with every request."""
    requests: int = 0
    """Sent in all further conversations."""
    retry_after_s: float | None = None
    """The longest pause that was asked for."""

    @asynccontextmanager
    async def dialogue(self, limits: Limits) -> AsyncIterator[Dialogue]:
        """A dialogue within these limits, on a new connection; every session is ended afterwards."""
        # With room for what is asked again, which the dialogue does not count.
        async with self.wire(replace(limits, max_requests=4 * limits.max_requests)) as wire:
            dialogue = Dialogue(
                wire, url=self.url, limits=limits, pause=self.pause, headers=self.headers, wary=False
            )
            try:
                yield dialogue
                await dialogue.end_all()
            finally:
                asked = max(self.retry_after_s or 0.0, dialogue.retry_after_s or 0.0)
                self.retry_after_s = asked or None
                self.requests += wire.requests + await end_sessions(dialogue, self.wire)

    @asynccontextmanager
    async def conversation(self, surface: Surface, limits: Limits) -> AsyncIterator[Begun | Missing]:
        """Begin anew on a new connection, in the era of a surface that was read and within these limits.

        Missing when that fails this time.
        """
        async with self.dialogue(limits) as dialogue:
            opened = await greet(dialogue, surface)
            if settled(opened.exchange, surface.era) is None:
                yield refusal(opened.exchange)
            else:
                yield await begin(dialogue, opened, surface)


async def greet(dialogue: Dialogue, like: Surface, era: Era | None = None) -> Opened:
    """Say the first words of the surface's era, or of another one, as they were said where it was read."""
    sent = {name.lower(): value for name, value in like.opening.request_headers}
    accept, era = sent.get("accept", ACCEPT), era or like.era
    if era is Era.MODERN:
        request = modern.request(dialogue, "discover", "server/discover", {}, accept=accept)
    else:
        revision = legacy.offered(like) if like.era is era else eras.OFFERED[0]
        request = legacy.initialization(dialogue, revision, accept=accept)
    reply = await dialogue.send(request)
    return Opened(attempts=(reply.exchange,), reply=reply, accept=accept)


def settled(exchange: Exchange, era: Era) -> str | None:
    """The revision that an answer to an era's first words settles on; None where it settles nothing."""
    if era is Era.MODERN:
        return eras.MODERN_REVISION if eras.is_modern(exchange) else None
    return eras.negotiated(exchange)


def refusal(exchange: Exchange) -> Missing:
    """Why an era's first words were not understood this time."""
    blocked = outcome.blocked(exchange)
    if blocked is not None:
        return Missing(blocked.message, blocked.code)
    code = OTHER_ERA if eras.declines(exchange) else "no-handshake"
    return Missing(f"HTTP {exchange.status} without a handshake", code)


async def begin(dialogue: Dialogue, opened: Opened, surface: Surface) -> Begun:
    """Go on from first words of the surface's era that were understood."""
    if surface.era is Era.MODERN:
        return Begun(opened=opened, talk=modern.talk(dialogue, opened, surface))
    handshake = await legacy.acknowledge(dialogue, opened)
    return Begun(opened=opened, talk=legacy.talk(dialogue, handshake, surface))
