"""The dialogue of 2026-07-28: ``server/discover``, then ``tools/list``; every request stands alone."""

from driftwatch.evidence import Exchange, Listing, Missing, Opening, Surface
from driftwatch.model import Era, Json
from driftwatch.probe.conversation import eras
from driftwatch.probe.conversation.dialogue import ACCEPT, CLIENT_INFO, REVISION_HEADER, Dialogue, Opened
from driftwatch.probe.conversation.listing import Page, read_list
from driftwatch.probe.conversation.surface import NO_TOOLS, declares_tools, instructions, server_info
from driftwatch.probe.conversation.talk import Talk
from driftwatch.probe.wire.request import Request

_META = "io.modelcontextprotocol"


async def discover(dialogue: Dialogue, *, label: str = "discover", extra: bool = False) -> Opened:
    """Ask with server/discover; once more when it is refused with a list that contains the very revision."""
    opened = await dialogue.open(request(dialogue, label, "server/discover", {}, extra=extra))
    if not eras.offers_modern_again(opened.exchange):
        return opened
    again = request(dialogue, "discover:again", "server/discover", {}, accept=opened.accept, extra=True)
    reply = await dialogue.send(again)
    return Opened(attempts=(*opened.attempts, reply.exchange), reply=reply, accept=opened.accept)


def opening(opened: Opened) -> Opening:
    """What server/discover established."""
    return Opening(era=Era.MODERN, attempts=opened.attempts, established=eras.is_modern(opened.exchange))


async def read(dialogue: Dialogue, opened: Opened) -> Surface:
    """The surface behind an answered server/discover."""
    result = opened.exchange.result
    return Surface(
        era=Era.MODERN,
        revision=eras.MODERN_REVISION,
        opening=opened.exchange,
        server_info=server_info(result, Era.MODERN),
        capabilities=result.get("capabilities"),
        instructions=instructions(result),
        supported_versions=eras.supported_versions(opened.exchange),
        session=False,
        session_ended=None,
        acknowledgement=None,
        listing=await _listing(dialogue, opened),
    )


async def _listing(dialogue: Dialogue, opened: Opened) -> Listing | Missing:
    if not declares_tools(opened.exchange.result):
        return NO_TOOLS

    async def ask(page: Page) -> Exchange:
        asked = request(dialogue, "tools/list", "tools/list", page.params, accept=opened.accept)
        return (await dialogue.send(page.asked(asked), fresh=page.fresh)).exchange

    return await read_list(ask, limits=dialogue.limits, wait=dialogue.wait, modern=True)


def talk(dialogue: Dialogue, opened: Opened, surface: Surface) -> Talk:
    """The conversation, for whatever else is to be asked in it."""

    def first(label: str) -> Request:
        return request(dialogue, label, "server/discover", {}, accept=opened.accept)

    def further(label: str, method: str, params: dict[str, Json]) -> Request:
        return request(dialogue, label, method, params, accept=opened.accept)

    headers = ((REVISION_HEADER, eras.MODERN_REVISION),)
    return Talk(dialogue=dialogue, surface=surface, first=first, further=further, headers=headers)


def request(
    dialogue: Dialogue,
    label: str,
    method: str,
    params: dict[str, Json],
    *,
    accept: str = ACCEPT,
    revision: str = eras.MODERN_REVISION,
    extra: bool = False,
) -> Request:
    """A request that stands alone: revision, client and method are in it, in the body and in the headers."""
    meta = {
        f"{_META}/protocolVersion": revision,
        f"{_META}/clientInfo": CLIENT_INFO,
        f"{_META}/clientCapabilities": {},
    }
    return Request(
        label=label,
        rpc=dialogue.rpc(method, {**params, "_meta": meta}),
        headers=((REVISION_HEADER, revision), ("Mcp-Method", method)),
        accept=accept,
        extra=extra,
    )
