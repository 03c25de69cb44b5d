"""A few more connections, to see whether every instance behind the address shows the same."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from driftwatch.evidence import (
    NOT_ASKED,
    Exchange,
    Greeting,
    Instance,
    Missing,
    Opening,
    Replicas,
    Surface,
)
from driftwatch.model import Era, Json
from driftwatch.probe.conversation import eras, outcome
from driftwatch.probe.conversation.dialogue import Dialogue, Opened
from driftwatch.probe.conversation.farewell import FAREWELL_S
from driftwatch.probe.conversation.listing import Page, read_list
from driftwatch.probe.conversation.surface import NO_TOOLS, declares_tools, instructions, server_info
from driftwatch.probe.steps.cut_off import SHUT, shut_out
from driftwatch.probe.steps.further import ERAS, OTHER_ERA, Begun, Door, begin, greet, refusal, settled
from driftwatch.probe.wire.request import Limits
from driftwatch.toolset.canonical import written_alike

CONNECTIONS = 2
"""Besides the probe's own."""
MAX_REQUESTS = 4
"""On one connection, the DELETE of its session included.

What a server opens within a session, against the rules, is ended all the same.
"""

_BROKEN = frozenset(
    {"refused", "reset", "timeout", "http-5xx", "tls", "certificate", "protocol", "auth", "access-gate"}
)
"""What says that an instance serves nobody, or not whom the probe's own connection was served as; other
refusals may be meant for whoever asks again and again."""

NO_TIME = Missing("no time was left for further connections", "deadline", "tools/pagination")
OLD_TRANSPORT = Missing("not asked over the old HTTP+SSE transport", "not-applicable")


async def look(
    door: Door,
    surfaces: Sequence[Surface],
    openings: Sequence[Opening],
    limits: Limits,
    *,
    ends: float,
    turned: bool = False,
    provoked: str | None = None,
) -> Replicas | Missing:
    """Begin anew on ``CONNECTIONS`` connections one after the other, and ask in both eras what fits.

    Where one era is spoken, the other is asked for, unless the probe itself was left in doubt about it. Ends
    at ``ends`` of the event loop's clock, give or take a farewell. The first connection begins with the
    server's first era, or with the other one if ``turned``: an instance that is met by every second
    connection is to be asked everything in the course of a few probes. ``provoked`` names what was asked
    before that is wrong on purpose: where every connection is turned away then, the probe was shut out.
    """
    if surfaces[0].era not in ERAS:
        return OLD_TRANSPORT
    share = (ends - asyncio.get_running_loop().time()) / CONNECTIONS - FAREWELL_S
    if share < 1:
        return NO_TIME
    timeout_s = min(limits.timeout_s, share)
    narrow = replace(limits, deadline_s=share, timeout_s=timeout_s, max_requests=MAX_REQUESTS)
    sought = _sought(surfaces, openings)
    seen = _Look(era=surfaces[0].era, sought=sought[::-1] if turned else sought)
    while seen.connections < CONNECTIONS and not seen.limited:
        seen.connections += 1
        async with door.dialogue(narrow) as dialogue:
            await seen.visit(dialogue, last=seen.connections == CONNECTIONS)
    return seen.replicas(provoked)


@dataclass(slots=True, kw_only=True)
class _Sought:
    """One era, and what is to be asked in it."""

    era: Era
    surface: Surface
    """Where the era is not spoken, that of the other one."""
    answered: bool = False
    """Whether all that is to be asked in it was asked."""

    @property
    def greeting(self) -> int:
        """The requests of its first words, with the DELETE of a session that they may open."""
        return 1 if self.era is Era.MODERN else 2

    @property
    def pages(self) -> int:
        """Of its list; 0 where there is none to be compared."""
        surface = self.surface
        known = surface.era is self.era and not isinstance(surface.tools, Missing)
        return surface.listing.pages if known and not isinstance(surface.listing, Missing) else 0

    @property
    def whole(self) -> int:
        """The requests from its first words to the end of its list."""
        return (1 if self.era is Era.MODERN else 2 + self.surface.session) + self.pages

    @property
    def fits(self) -> bool:
        """Whether its list can be read on one connection."""
        return self.pages > 0 and self.whole <= MAX_REQUESTS


def _sought(surfaces: Sequence[Surface], openings: Sequence[Opening]) -> list[_Sought]:
    """The eras that are spoken, and the other one where it is clear that it is not."""
    spoken = [_Sought(era=surface.era, surface=surface) for surface in surfaces if surface.era in ERAS]
    declined = {opening.era for opening in openings if _declined(opening.exchange)}
    if len(surfaces) == 1:
        spoken += [_Sought(era=era, surface=surfaces[0]) for era in (ERAS - {surfaces[0].era}) & declined]
    return spoken


@dataclass(slots=True, kw_only=True)
class _Look:
    """What the further connections have shown so far."""

    era: Era
    sought: list[_Sought]
    connections: int = 0
    limited: bool = False
    """Whether the server asked for fewer requests."""
    instances: list[Instance] = field(default_factory=list)
    greetings: list[Greeting] = field(default_factory=list)
    unanswered: list[str] = field(default_factory=list)
    broken: list[Missing] = field(default_factory=list)

    async def visit(self, dialogue: Dialogue, *, last: bool) -> None:
        """Ask on one connection what its requests allow, beginning with what no other one could be asked.

        On the last of all, what is left is for another read of a list that was the known one: instances that
        take turns request by request may show the same list to every conversation.
        """
        read: Begun | None = None
        answered = len(self.greetings)
        for sought in sorted(self.sought, key=lambda each: each.answered):
            if dialogue.remaining < sought.greeting:
                continue
            whole = sought.fits and sought.whole <= dialogue.remaining
            opened = await greet(dialogue, sought.surface, sought.era)
            sought.answered = whole or not sought.fits
            why = self._heard(opened.exchange, sought.era)
            if why is not None:
                gone = why.code in _BROKEN and opened.exchange.error is None
                if sought.era is self.era or (gone and len(self.greetings) == answered):
                    self._note(why)
                    return
            if sought.surface.era is sought.era and settled(opened.exchange, sought.era):
                begun = await begin(dialogue, opened, sought.surface) if whole else None
                self.instances.append(await self._instance(opened, sought, begun))
                read = begun if begun and sought.pages == 1 else read
        if read is not None and last and dialogue.remaining:
            await self._read_again(read)

    def _heard(self, exchange: Exchange, era: Era) -> Missing | None:
        """Take in a clear answer to an era's first words; why there was none."""
        revision, why = settled(exchange, era), refusal(exchange)
        if revision is None and why.code != OTHER_ERA:
            return why
        listed = eras.supported_versions(exchange) if era is Era.MODERN else ()
        said = f"HTTP {exchange.status}"
        self.greetings.append(Greeting(era=era, revision=revision, said=said, supported_versions=listed))
        return None

    def _note(self, why: Missing) -> None:
        if why.code in _BROKEN:
            self.broken.append(why)
        else:
            self.unanswered.append(why.reason)
            self.limited = why.code == "rate-limited"

    async def _instance(self, opened: Opened, sought: _Sought, begun: Begun | None) -> Instance:
        result = opened.exchange.result
        if not declares_tools(result):
            tools: tuple[Json, ...] | Missing = NO_TOOLS
        elif begun is not None:
            tools = await _tools(begun)
        elif sought.pages and not sought.fits:
            fitting = MAX_REQUESTS - sought.whole + sought.pages
            reason = f"the list has {sought.pages} pages, a further connection reads {fitting}"
            tools = Missing(reason, "pages")
        else:
            tools = NOT_ASKED
        return Instance(
            address=opened.exchange.address,
            server_info=server_info(result, sought.era),
            instructions=instructions(result),
            tools=tools,
            other_era=None if sought.era is self.era else sought.era,
        )

    async def _read_again(self, begun: Begun) -> None:
        """Another read of a list, which counts where the first one was the known list."""
        surface = begun.talk.surface
        other = None if surface.era is self.era else surface.era
        number = max(at for at, one in enumerate(self.instances) if one.other_era is other)
        if self.instances[number].tools is surface.tools:
            again = await _tools(begun)
            if not isinstance(again, Missing):
                self.instances[number] = replace(self.instances[number], tools=again)

    def replicas(self, provoked: str | None) -> Replicas | Missing:
        """All of it."""
        # A server error to all of them is as likely a limit that this very probe has reached.
        silent = not self.instances and not self.greetings
        if silent and all(one.code == "http-5xx" for one in self.broken):
            reason = (self.unanswered or [one.reason for one in self.broken])[0]
            return Missing(f"no further connection was answered: {reason}", "no-reply")
        if silent and provoked and not self.unanswered and all(one.code in SHUT for one in self.broken):
            return shut_out(provoked)
        return Replicas(
            era=self.era,
            instances=tuple(self.instances),
            unanswered=tuple(self.unanswered),
            broken=tuple(one.reason for one in self.broken),
            greetings=tuple(self.greetings),
            connections=self.connections,
        )


def _declined(exchange: Exchange) -> bool:
    return outcome.blocked(exchange) is None and eras.declines(exchange)


async def _tools(begun: Begun) -> tuple[Json, ...] | Missing:
    """The list; the known one itself where it is written alike."""
    talk, dialogue = begun.talk, begun.talk.dialogue

    async def ask(page: Page) -> Exchange:  # never on a new connection: this one is the point
        return (await dialogue.send(talk.further("tools/list", "tools/list", page.params))).exchange

    modern, known = talk.surface.era is Era.MODERN, talk.surface.tools
    listing = await read_list(ask, limits=dialogue.limits, wait=dialogue.wait, modern=modern)
    if listing.complete:
        return known if written_alike(known, listing.tools) else listing.tools
    why = listing.fault.message if listing.fault else "it did not end"
    return Missing(f"the list was not read to its end: {why}", "incomplete-list")
