"""What a probe asks, in which order, and where it stops asking."""

from dataclasses import dataclass, field, replace

from driftwatch.evidence import Opening, Surface
from driftwatch.model import Depth
from driftwatch.probe.conversation import eras, further_lists, http_sse, legacy, modern, outcome
from driftwatch.probe.conversation.dialogue import Dialogue, Opened
from driftwatch.probe.conversation.sharing import share
from driftwatch.probe.conversation.talk import Talk
from driftwatch.probe.steps import full
from driftwatch.probe.target import Target

LIGHT, FULL, FULL_BOTH_ERAS = 12, 16, 26
"""Requests of one probe, the DELETE of every session that the server opened included. On top come further
pages, what is asked again after a fault, a list that is watched beside the tools, and what is asked about
authorization, each with the DELETE of a session that it may open. A healthy server is asked 3 to 8 times by a
light probe; when the budget of a full one is spent, the rest is not asked."""


@dataclass(slots=True)
class Seen:
    """What a probe has found so far."""

    openings: list[Opening] = field(default_factory=list)
    surfaces: list[Surface] = field(default_factory=list)


async def take(dialogue: Dialogue, seen: Seen, target: Target, depth: Depth) -> None:
    """Find every era that the server speaks and read its surface in each, then end every session.

    ``server/discover`` comes first; whatever it finds, ``initialize`` follows, because clients in the field
    use that surface; a server that answers neither is asked for the old HTTP+SSE transport. A refusal to talk
    at all ends the probe, except a server error and a bare 403: real servers of the older eras answer 500 to
    a method they do not know, and gateways forbid one that is not on their list. What only a full probe asks
    comes after both lists were read, except where a session has to live for it: a server that is slow to
    refuse then costs no list.
    """
    steps = _Steps(dialogue=dialogue, seen=seen, target=target, full=depth is Depth.FULL)
    dialogue.budget = FULL if steps.full else LIGHT
    discovered = await modern.discover(dialogue)
    await steps.note_modern(discovered)
    refusal = None if seen.surfaces else outcome.blocked(discovered.exchange)
    if refusal is None or refusal.code in _MAY_BE_OLDER:
        await steps.take_older(discovered, patient=refusal is None)
    await steps.ask_more_of_modern()
    # An older server issues a session to any first request, also to one that it refuses.
    await dialogue.end_all()


_MAY_BE_OLDER = frozenset({"http-5xx", "forbidden"})
"""Refusals of server/discover after which ``initialize`` may still be answered."""


@dataclass(slots=True, kw_only=True)
class _Steps:
    dialogue: Dialogue
    seen: Seen
    target: Target
    full: bool
    modern: Talk | None = None
    """The modern era's conversation, once its surface was read."""

    async def note_modern(self, discovered: Opened) -> None:
        opening = modern.opening(discovered)
        self.seen.openings.append(opening)
        if opening.established:
            surface = await modern.read(self.dialogue, discovered)
            surface = await self.read_further(modern.talk(self.dialogue, discovered, surface))
            self.modern = modern.talk(self.dialogue, discovered, surface)
            self.seen.surfaces.append(surface)

    async def read_further(self, talk: Talk) -> Surface:
        if not self.target.watch:
            return talk.surface
        return replace(talk.surface, further=await further_lists.read(talk, self.target.watch))

    async def ask_more_of_modern(self) -> None:
        if self.full and self.modern is not None:
            place = self.seen.surfaces.index(self.modern.surface)
            self.seen.surfaces[place] = await full.of_modern(self.modern, self.target)

    async def take_older(self, discovered: Opened, *, patient: bool) -> None:
        seen = self.seen
        initialized = await legacy.initialize(self.dialogue, patient=patient)
        if eras.negotiated(initialized.exchange) is not None:
            initialized = await self.note_legacy(initialized)
        elif not seen.surfaces and eras.offers_modern_again(initialized.exchange):
            again = await modern.discover(self.dialogue, label="discover:again", extra=True)
            seen.openings.clear()
            await self.note_modern(replace(again, attempts=discovered.attempts + again.attempts))
        seen.openings.append(legacy.opening(initialized))
        if not seen.surfaces and http_sse.may_speak(initialized.exchange):
            opening, old = await http_sse.read(self.dialogue, self.target.watch)
            seen.openings.append(opening)
            if old is not None:
                seen.surfaces.append(full.of_http_sse(old) if self.full else old)

    async def note_legacy(self, initialized: Opened) -> Opened:
        if self.full and self.seen.surfaces:
            self.dialogue.budget = FULL_BOTH_ERAS
        handshake, surface = await legacy.read(self.dialogue, initialized)
        if self.modern is not None:
            surface = await share(surface, self.modern.surface)
        surface = await self.read_further(legacy.talk(self.dialogue, handshake, surface))
        if self.full:
            surface = await full.of_legacy(legacy.talk(self.dialogue, handshake, surface), self.target)
        surface = await legacy.end(self.dialogue, handshake, surface)
        if self.full:
            surface = await full.after_session(legacy.talk(self.dialogue, handshake, surface), self.target)
        self.seen.surfaces.append(surface)
        return handshake.opened
