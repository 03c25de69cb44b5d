"""The dialogue of the old HTTP+SSE transport (2024-11-05): requests are posted, answers come on a stream."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urldefrag, urljoin

from driftwatch.config.masking import MASK, looks_secret
from driftwatch.evidence import Exchange, Fault, Listing, Missing, Opening, Surface
from driftwatch.model import Era, Json
from driftwatch.probe.conversation import eras, further_lists, outcome
from driftwatch.probe.conversation.dialogue import Dialogue
from driftwatch.probe.conversation.legacy import initialize_params
from driftwatch.probe.conversation.listing import Kind, Page, read_list
from driftwatch.probe.conversation.surface import NO_TOOLS, declares_tools, instructions
from driftwatch.probe.wire.request import Read, Request
from driftwatch.probe.wire.sse import EVENT_STREAM
from driftwatch.probe.wire.stream import Stream

_QUOTED = 60


def may_speak(initialized: Exchange) -> bool:
    """Whether the answer to a POST of initialize is one that a server of the old transport gives."""
    return initialized.status in outcome.CLIENT_ERROR and outcome.blocked(initialized) is None


async def read(dialogue: Dialogue, watch: Sequence[str] = ()) -> tuple[Opening, Surface | None]:
    """Open the stream with GET and, when its first event names an endpoint here, read the surface over it.

    The opening is the GET, and what the named endpoint answered where no surface came of it. The endpoint has
    to be of the same origin: what is posted there carries the credential.
    """
    request = Request(label="endpoint", http_method="GET", url=dialogue.url, accept=EVENT_STREAM)
    async with dialogue.listening(request) as stream:
        opened = stream.reply.exchange
        attempts: tuple[Exchange, ...] = ()
        surface = None
        if opened.fault is None and eras.ok(opened) and opened.media_type == EVENT_STREAM:
            address = await _endpoint(dialogue.url, stream)
            if isinstance(address, Fault):
                opened = replace(opened, fault=address)
            else:
                found = await _Talk(dialogue, stream, address).read(watch)
                surface, attempts = (found, ()) if isinstance(found, Surface) else (None, (found,))
    established = surface is not None
    return Opening(era=Era.HTTP_SSE, attempts=(opened, *attempts), established=established), surface


async def _endpoint(url: str, stream: Stream) -> str | Fault:
    """Where the first event says that requests are to be posted."""
    event = await stream.next_event()
    if isinstance(event, Fault):
        return event
    if event is None or event.name != "endpoint":
        what = "the stream ended" if event is None else f"its first event is {event.name[:_QUOTED]!r}"
        return Fault(code="no-answer", phase="message", message=f"{what}, an endpoint event was expected")
    if not outcome.same_origin(url, event.data):
        return Fault(code="address", phase="message", message="the endpoint event names another origin")
    return urldefrag(urljoin(url, event.data)).url


class _Talk:
    """Requests to the named endpoint, each answered on the stream."""

    def __init__(self, dialogue: Dialogue, stream: Stream, address: str) -> None:
        self._dialogue = dialogue
        self._stream = stream
        self._address = address

    async def read(self, watch: Sequence[str]) -> Surface | Exchange:
        """The surface, or what came instead of an agreement on a revision."""
        tried: tuple[str, ...] = (eras.OFFERED[0],)
        initialized = await self._ask("initialize", "initialize", initialize_params(tried[0]))
        while (revision := eras.next_offer(initialized, tried)) is not None:
            tried = (*tried, revision)
            params = initialize_params(revision)
            initialized = await self._ask(f"initialize:{revision}", "initialize", params, extra=True)
        negotiated = eras.negotiated(initialized)
        if negotiated is None:
            return initialized
        acknowledgement = await self._post("initialized", {"method": "notifications/initialized"})
        result = initialized.result
        return Surface(
            era=Era.HTTP_SSE,
            revision=negotiated,
            opening=initialized,
            server_info=result.get("serverInfo"),
            capabilities=result.get("capabilities"),
            instructions=instructions(result),
            supported_versions=(),
            session=False,
            session_ended=None,
            acknowledgement=acknowledgement,
            listing=await self._listing(result),
            further=await further_lists.read_all(
                self._ask_list, self._dialogue, result.get("capabilities"), watch, modern=False
            ),
        )

    async def _ask_list(self, kind: Kind, page: Page) -> Exchange:
        return await self._ask(kind.method, kind.method, page.params, extra=True)

    async def _listing(self, result: dict[str, Json]) -> Listing | Missing:
        if not declares_tools(result):
            return NO_TOOLS

        async def ask(page: Page) -> Exchange:  # never on a new connection: the stream is the session
            return await self._ask("tools/list", "tools/list", page.params, extra=page.extra)

        dialogue = self._dialogue
        return await read_list(ask, limits=dialogue.limits, wait=dialogue.wait, modern=False)

    async def _ask(
        self, label: str, method: str, params: dict[str, Json], *, extra: bool = False
    ) -> Exchange:
        request = self._request(label, self._dialogue.rpc(method, params))
        reply = await self._dialogue.send(replace(request, extra=extra))
        if eras.ok(reply.exchange) and not _answers(reply.exchange):
            reply = await self._stream.answer(request, reply)
        return _without_session(reply.exchange)

    async def _post(self, label: str, message: dict[str, Json]) -> Exchange:
        request = self._request(label, {"jsonrpc": "2.0", **message})
        return _without_session((await self._dialogue.send(request)).exchange)

    def _request(self, label: str, rpc: dict[str, Json]) -> Request:
        return Request(label=label, url=self._address, rpc=rpc, read=Read.BODY)


def _answers(exchange: Exchange) -> bool:
    """Whether the reply to the POST is the answer already; a body such as ``{"ok": true}`` is not."""
    return exchange.result is not None or isinstance(exchange.error, dict)


def _without_session(exchange: Exchange) -> Exchange:
    """The exchange without the session that the endpoint's path may hold; the wire hides its query."""
    address, mark, query = exchange.url.partition("?")
    scheme, slashes, rest = address.partition("://")
    host, *segments = rest.split("/")
    path = "".join(f"/{MASK if looks_secret(segment) else segment}" for segment in segments)
    return replace(exchange, url=f"{scheme}{slashes}{host}{path}{mark}{query}")
