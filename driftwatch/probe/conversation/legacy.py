"""The dialogue of the revisions with ``initialize``: handshake, acknowledgement, ``tools/list``, DELETE."""

import re
from dataclasses import dataclass, replace
from http import HTTPStatus

from driftwatch.evidence import Exchange, Listing, Missing, Opening, Surface
from driftwatch.model import Era, Json
from driftwatch.probe.conversation import eras, outcome
from driftwatch.probe.conversation.dialogue import (
    ACCEPT,
    CLIENT_INFO,
    REVISION_HEADER,
    SESSION_HEADER,
    Dialogue,
    Opened,
)
from driftwatch.probe.conversation.listing import Page, read_list
from driftwatch.probe.conversation.surface import NO_TOOLS, declares_tools, instructions
from driftwatch.probe.conversation.talk import Talk
from driftwatch.probe.wire.request import Read, Request

_SENDABLE = re.compile(r"[!-~]{1,64}")
_VISIBLE = re.compile(r"[!-~]+")


async def initialize(dialogue: Dialogue, *, patient: bool = True) -> Opened:
    """Ask with initialize at the newest revision; with others, each once, when that is refused."""
    tried: tuple[str, ...] = (eras.OFFERED[0],)
    opened = await dialogue.open(initialization(dialogue, tried[0]), patient=patient)
    while (revision := eras.next_offer(opened.exchange, tried)) is not None:
        tried = (*tried, revision)
        request = initialization(dialogue, revision, label=f"initialize:{revision}")
        opened = await _append(dialogue, opened, request)
    return opened


def opening(opened: Opened) -> Opening:
    """What initialize established."""
    established = eras.negotiated(opened.exchange) is not None
    return Opening(era=Era.LEGACY, attempts=opened.attempts, established=established)


async def read(dialogue: Dialogue, opened: Opened) -> tuple["Handshake", Surface]:
    """The surface behind an answered initialize; its session is still open.

    A session that the server loses half-way is started over once; the handshake returned is the one whose
    session was read.
    """
    handshake = await acknowledge(dialogue, opened)
    listing = await _listing(dialogue, handshake)
    if handshake.lost(listing):
        request = initialization(dialogue, handshake.revision, label="initialize:again")
        restarted = await _append(dialogue, opened, request)
        if eras.negotiated(restarted.exchange) is not None:
            opened = restarted
            handshake = await acknowledge(dialogue, opened, again=True)
            listing = await _listing(dialogue, handshake, again=True)
    return handshake, _surface(handshake, listing)


async def end(dialogue: Dialogue, handshake: "Handshake", surface: Surface) -> Surface:
    """The surface with its session ended, where the server issued one."""
    if handshake.session is None:
        return surface
    return replace(surface, session_ended=await dialogue.end(handshake.session))


def talk(dialogue: Dialogue, handshake: "Handshake", surface: Surface) -> Talk:
    """The conversation, for whatever else is to be asked in it."""

    def first(label: str) -> Request:
        return initialization(dialogue, handshake.revision, label=label, accept=handshake.opened.accept)

    def further(label: str, method: str, params: dict[str, Json]) -> Request:
        return handshake.request(label, dialogue.rpc(method, params))

    return Talk(dialogue=dialogue, surface=surface, first=first, further=further, headers=handshake.headers)


def initialization(
    dialogue: Dialogue, revision: str, *, label: str = "initialize", accept: str = ACCEPT
) -> Request:
    """The initialize request. It carries no version header: servers route by that one."""
    return Request(label=label, rpc=dialogue.rpc("initialize", initialize_params(revision)), accept=accept)


def offered(surface: Surface) -> str:
    """The revision that the initialize behind a surface asked for, as far as its label tells."""
    name, _, variant = surface.opening.label.partition(":")
    if not variant and name == "initialize":
        return eras.OFFERED[0]
    return variant if variant in eras.LEGACY_REVISIONS else surface.revision


def initialize_params(revision: str) -> dict[str, Json]:
    """The params of initialize. No capability is declared, so that no server may ask for anything."""
    return {"protocolVersion": revision, "capabilities": {}, "clientInfo": CLIENT_INFO}


@dataclass(frozen=True, slots=True, kw_only=True)
class Handshake:
    """What initialize settled."""

    opened: Opened
    revision: str
    session: str | None
    """The session's id. A secret: it is never recorded."""
    headers: tuple[tuple[str, str], ...]
    """What every later request carries: the negotiated revision, and the session if one was issued."""
    acknowledgement: Exchange

    def request(self, label: str, rpc: dict[str, Json]) -> Request:
        """A request of this session."""
        return Request(label=label, rpc=rpc, headers=self.headers, accept=self.opened.accept)

    def lost(self, listing: Listing | Missing) -> bool:
        """Whether the server answered 404 within a session: it no longer knows it."""
        exchanges = () if isinstance(listing, Missing) else listing.exchanges
        last = (self.acknowledgement, *exchanges)[-1]
        return self.session is not None and last.status == HTTPStatus.NOT_FOUND


async def _append(dialogue: Dialogue, opened: Opened, request: Request) -> Opened:
    reply = await dialogue.send(replace(request, accept=opened.accept, extra=True))
    return Opened(attempts=(*opened.attempts, reply.exchange), reply=reply, accept=opened.accept)


async def acknowledge(dialogue: Dialogue, opened: Opened, *, again: bool = False) -> Handshake:
    """Send notifications/initialized; how it is taken is judged later and never stops the probe.

    It is sent once more on a fresh connection after a server error or a reset. Silence has cost enough time.
    """
    revision = eras.negotiated(opened.exchange) or ""
    session = opened.reply.session
    # A revision that is no header value cannot be sent back; it is evidence all the same.
    version = ((REVISION_HEADER, revision),) if _SENDABLE.fullmatch(revision) else ()
    headers = version
    if session is not None:
        headers = (*version, (SESSION_HEADER, session))
        dialogue.carry(session, version)
    notification = Request(
        label="initialized",
        rpc={"jsonrpc": "2.0", "method": "notifications/initialized"},
        headers=headers,
        accept=opened.accept,
        read=Read.BODY,
        extra=again,
    )
    reply = await dialogue.send(notification)
    if _may_fare_better(reply.exchange) and await dialogue.wait(reply.exchange):
        notification = replace(notification, label="initialized:again", extra=True)
        reply = await dialogue.send(notification, fresh=True)
    return Handshake(
        opened=opened,
        revision=revision,
        session=session,
        headers=headers,
        acknowledgement=reply.exchange,
    )


def _may_fare_better(exchange: Exchange) -> bool:
    timed_out = exchange.fault is not None and exchange.fault.code == "timeout"
    return outcome.is_transient(exchange) and not timed_out


async def _listing(dialogue: Dialogue, handshake: Handshake, *, again: bool = False) -> Listing | Missing:
    if not declares_tools(handshake.opened.exchange.result):
        return NO_TOOLS

    async def ask(page: Page) -> Exchange:
        request = page.asked(handshake.request("tools/list", dialogue.rpc("tools/list", page.params)))
        if again:
            request = replace(request, extra=True)
        return (await dialogue.send(request, fresh=page.fresh)).exchange

    return await read_list(ask, limits=dialogue.limits, wait=dialogue.wait, modern=False)


def _surface(handshake: Handshake, listing: Listing | Missing) -> Surface:
    result = handshake.opened.exchange.result
    return Surface(
        era=Era.LEGACY,
        revision=handshake.revision,
        opening=handshake.opened.exchange,
        server_info=result.get("serverInfo"),
        capabilities=result.get("capabilities"),
        instructions=instructions(result),
        supported_versions=(),
        session=handshake.session is not None,
        session_visible=handshake.session is None or _VISIBLE.fullmatch(handshake.session) is not None,
        session_ended=None,
        acknowledgement=handshake.acknowledgement,
        listing=listing,
    )
