"""The dialogue of 2026-07-28: ``server/discover``, then ``tools/list``; every request stands alone."""

from driftwatch.evidence import Exchange, Listing, Missing, Opening, Surface
from driftwatch.model import Era, Json
from driftwatch.probe import eras
from driftwatch.probe.dialogue import ACCEPT, CLIENT_INFO, REVISION_HEADER, Dialogue, Opened
from driftwatch.probe.listing import read_tools
from driftwatch.probe.request import Request
from driftwatch.probe.surface import NO_TOOLS, declares_tools, instructions

_META = "io.modelcontextprotocol"


async def discover(dialogue: Dialogue, *, label: str = "discover") -> Opened:
    """Ask with server/discover; once more when it is refused with a list that contains the very revision."""
    opened = await dialogue.open(_request(dialogue, label, "server/discover", {}))
    if not eras.offers_modern_again(opened.exchange):
        return opened
    request = _request(dialogue, "discover:again", "server/discover", {}, accept=opened.accept)
    reply = await dialogue.send(request)
    return Opened(attempts=(*opened.attempts, reply.exchange), reply=reply, accept=opened.accept)


def opening(opened: Opened) -> Opening:
    """What server/discover established."""
    return Opening(era=Era.MODERN, attempts=opened.attempts, established=eras.is_modern(opened.exchange))


async def read(dialogue: Dialogue, opened: Opened) -> Surface:
    """The surface behind an answered server/discover."""
    result = opened.exchange.result
    meta = result.get("_meta")
    return Surface(
        era=Era.MODERN,
        revision=eras.MODERN_REVISION,
        opening=opened.exchange,
        server_info=meta.get(f"{_META}/serverInfo") if isinstance(meta, dict) else None,
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

    async def page(cursor: str | None, *, fresh: bool) -> Exchange:
        params = {} if cursor is None else {"cursor": cursor}
        request = _request(dialogue, "tools/list", "tools/list", params, accept=opened.accept)
        return (await dialogue.send(request, fresh=fresh)).exchange

    return await read_tools(page, limits=dialogue.limits, wait=dialogue.wait, modern=True)


def _request(
    dialogue: Dialogue,
    label: str,
    method: str,
    params: dict[str, Json],
    *,
    accept: str = ACCEPT,
) -> Request:
    meta = {
        f"{_META}/protocolVersion": eras.MODERN_REVISION,
        f"{_META}/clientInfo": CLIENT_INFO,
        f"{_META}/clientCapabilities": {},
    }
    return Request(
        label=label,
        rpc=dialogue.rpc(method, {**params, "_meta": meta}),
        headers=((REVISION_HEADER, eras.MODERN_REVISION), ("Mcp-Method", method)),
        accept=accept,
    )
