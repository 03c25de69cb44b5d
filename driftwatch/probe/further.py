"""Further conversations with the same server, each on a connection of its own."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from driftwatch.evidence import Missing, Surface
from driftwatch.model import Era
from driftwatch.probe import eras, legacy, modern, outcome
from driftwatch.probe.dialogue import ACCEPT, Dialogue, Opened, Pause
from driftwatch.probe.farewell import end_sessions
from driftwatch.probe.request import Limits
from driftwatch.probe.talk import Talk
from driftwatch.probe.target import Target
from driftwatch.probe.wire import Wire

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
    async def conversation(self, surface: Surface, limits: Limits) -> AsyncIterator[Begun | Missing]:
        """Begin anew on a new connection, in the era of a surface that was read and within these limits.

        Missing when that fails this time. Every session is ended afterwards.
        """
        async with self.wire(limits) as wire:
            dialogue = Dialogue(wire, url=self.url, limits=limits, pause=self.pause, headers=self.headers)
            try:
                yield await begin(dialogue, surface)
                await dialogue.end_all()
            finally:
                asked = max(self.retry_after_s or 0.0, dialogue.retry_after_s or 0.0)
                self.retry_after_s = asked or None
                self.requests += wire.requests + await end_sessions(dialogue, self.wire)


async def begin(dialogue: Dialogue, surface: Surface) -> Begun | Missing:
    """Say the first words of the surface's era, with the Accept header that the server took before."""
    sent = {name.lower(): value for name, value in surface.opening.request_headers}
    accept = sent.get("accept", ACCEPT)
    if surface.era is Era.MODERN:
        request = modern.request(dialogue, "discover", "server/discover", {}, accept=accept)
    else:
        request = legacy.initialization(dialogue, legacy.offered(surface), accept=accept)
    reply = await dialogue.send(request)
    opened = Opened(attempts=(reply.exchange,), reply=reply, accept=accept)
    if surface.era is Era.MODERN and eras.is_modern(reply.exchange):
        return Begun(opened=opened, talk=modern.talk(dialogue, opened, surface))
    if surface.era is Era.LEGACY and eras.negotiated(reply.exchange) is not None:
        handshake = await legacy.acknowledge(dialogue, opened)
        return Begun(opened=opened, talk=legacy.talk(dialogue, handshake, surface))
    refusal = outcome.blocked(reply.exchange)
    if refusal is not None:
        return Missing(refusal.message, refusal.code)
    code = OTHER_ERA if eras.declines(reply.exchange) else "no-handshake"
    return Missing(f"HTTP {reply.exchange.status} without a handshake", code)
