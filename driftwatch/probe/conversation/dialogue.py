"""The conversation with one server: its patience, its endpoint, and the sessions that must be ended."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Protocol
from urllib.parse import urldefrag, urljoin

from driftwatch import __version__
from driftwatch.evidence import Exchange, Missing
from driftwatch.model import Json
from driftwatch.probe.conversation import outcome
from driftwatch.probe.wire.request import Limits, Read, Reply, Request
from driftwatch.probe.wire.stream import Stream

CLIENT_INFO = {"name": "driftwatch", "version": __version__}
ACCEPT = "application/json, text/event-stream"
JSON_ONLY = "application/json"
SESSION_HEADER = "Mcp-Session-Id"
REVISION_HEADER = "MCP-Protocol-Version"

PACE_S = 1.0
"""The pause before a transient fault is looked at again."""

Pause = Callable[[float], Awaitable[None]]
Renew = Callable[[], Awaitable[bool]]
"""Gets another credential and puts it to use; False when there is no other."""


class Sender(Protocol):
    """What a dialogue needs of the wire."""

    requests: int
    url: str
    """Where a request without a URL of its own goes."""

    async def send(self, request: Request, *, fresh: bool = False, budget: int | None = None) -> Reply:
        """Send one request, unless ``budget`` were sent; a fault of the server is in the reply."""

    def stream(self, request: Request, *, budget: int | None = None) -> AbstractAsyncContextManager[Stream]:
        """Open a stream for its SSE events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """How the first request of an era went."""

    attempts: tuple[Exchange, ...]
    reply: Reply
    """The reply to the last attempt."""
    accept: str
    """The Accept header that the server took: the rest of the era's dialogue carries it."""

    @property
    def exchange(self) -> Exchange:
        """The attempt that decided."""
        return self.reply.exchange


class Dialogue:
    """One probe's requests, one at a time."""

    def __init__(
        self,
        wire: Sender,
        *,
        url: str,
        limits: Limits,
        pause: Pause = asyncio.sleep,
        headers: tuple[tuple[str, str], ...] = (),
        renew: Renew | None = None,
        wary: bool = True,
    ) -> None:
        """``headers`` go with every request, whatever it is. The first 401 is answered with ``renew``.

        A ``wary`` dialogue is prepared for any answer to open a session, which has to be ended.
        """
        self.wire = wire
        self.limits = limits
        self.url = url
        """The endpoint; another one of the same origin once a redirect was followed."""
        self.retry_after_s: float | None = None
        """The longest pause that a 429 or 503 asked for."""
        self.provoked: str | None = None
        """What was asked last of all that is wrong on purpose, in words."""
        self.shut_out: Missing | None = None
        """Why nothing more is asked, once the server stopped answering because of that."""
        self._pause = pause
        self._headers = headers
        self._renew = renew
        self._wary = wary
        self._clock = asyncio.get_running_loop().time
        self.ends = self._clock() + limits.deadline_s
        """When the probe's deadline is, on the event loop's clock."""
        self.budget = limits.max_requests
        """How many requests may be sent, the DELETE of every session included; extra ones are not counted."""
        self._extra = 0
        self._next_id = 0
        self._sessions: dict[str, tuple[tuple[str, str], ...]] = {}

    @property
    def remaining_s(self) -> float:
        """Seconds until the probe's deadline."""
        return self.ends - self._clock()

    @property
    def remaining(self) -> int:
        """How many requests may still be sent, when every session that is open has been ended."""
        return self.budget + self._extra - len(self._sessions) - self.wire.requests

    def rpc(self, method: str, params: dict[str, Json]) -> dict[str, Json]:
        """A JSON-RPC request. Its id is an integer, as the official clients send."""
        self._next_id += 1
        return {"jsonrpc": "2.0", "id": self._next_id, "method": method, "params": params}

    async def send(self, request: Request, *, fresh: bool = False) -> Reply:
        """Send one request to the endpoint and note what outlives the exchange.

        A redirect of a POST within the origin is followed once, by hand, as clients do.
        """
        reply = await self._asked(request, fresh=fresh)
        target = _followed(self.url, reply) if request.url is None and request.http_method == "POST" else None
        return reply if target is None else await self._asked(replace(request, url=target), fresh=False)

    async def _asked(self, request: Request, *, fresh: bool) -> Reply:
        reply = await self._send(request, fresh=fresh)
        if reply.exchange.status == HTTPStatus.UNAUTHORIZED and request.credential and await self._renewed():
            reply = await self._send(replace(request, extra=True), fresh=fresh)
        return reply

    async def _send(self, request: Request, *, fresh: bool) -> Reply:
        before = self.wire.requests
        reply = await self.wire.send(self._addressed(request), fresh=fresh, budget=self._allowed(request))
        self._note(request, reply, before)
        return reply

    @asynccontextmanager
    async def listening(self, request: Request) -> AsyncIterator[Stream]:
        """Send one request on a connection of its own and hand out the events of its reply one by one."""
        before = self.wire.requests
        async with self.wire.stream(self._addressed(request), budget=self._allowed(request)) as stream:
            self._note(request, stream.reply, before)
            yield stream

    def _allowed(self, request: Request) -> int:
        """How many requests may have been sent before this one.

        Enough are kept back to end every session that is open, and the one that this very request may open.
        """
        return self.budget + self._extra + 2 * request.extra - len(self._sessions) - self._wary

    def _note(self, request: Request, reply: Reply, before: int) -> None:
        """Take in what outlives the exchange: its session, its cost, and the pause that was asked for."""
        session, known = reply.session, len(self._sessions)
        if session is not None and session not in dict(request.headers).values():
            self._sessions.setdefault(session, ())
        sent = self.wire.requests - before
        # What is sent again, because the connection was just being closed, is a retry like any other.
        self._extra += sent + len(self._sessions) - known if request.extra else max(0, sent - 1)
        if reply.exchange.status in {429, 503} and reply.retry_after_s is not None:
            self.retry_after_s = max(reply.retry_after_s, self.retry_after_s or 0.0)

    async def _renewed(self) -> bool:
        renew, self._renew = self._renew, None
        return renew is not None and await renew()

    def _addressed(self, request: Request) -> Request:
        url = request.url or self.url
        if url == self.wire.url and not self._headers:
            return request
        return replace(request, url=url, headers=(*request.headers, *self._headers))

    async def open(self, request: Request, *, patient: bool = True) -> Opened:
        """Send the first request of an era, and once more for each fault that a variant may get around.

        A redirect within the origin is followed by hand, a refused Accept is repeated with JSON only, and a
        server error, reset or timeout is looked at again on a fresh connection if ``patient``. The label of
        each variant says which: ``:redirected``, ``:json-only``, ``:again``.
        """
        base, accept = request.label, ACCEPT
        attempts: list[Exchange] = []
        left = {"redirected", "json-only"} | ({"again"} if patient else set())
        fresh = False
        while True:
            asked_to_wait = self.retry_after_s
            reply = await self._asked(request, fresh=fresh)
            exchange = reply.exchange
            attempts.append(exchange)
            fresh = False
            if "again" in left and outcome.is_transient(exchange) and self._can_wait(exchange):
                left.remove("again")
                self.retry_after_s = asked_to_wait
                await self._pause(PACE_S)
                request, fresh = replace(request, label=f"{base}:again", extra=True), True
            elif "redirected" in left and (target := _followed(self.url, reply)) is not None:
                left.remove("redirected")
                self.url = target
                request = replace(request, label=f"{base}:redirected", extra=True)
            elif "json-only" in left and outcome.refuses_accept(exchange):
                left.remove("json-only")
                accept = JSON_ONLY
                request = replace(request, label=f"{base}:json-only", accept=accept, extra=True)
            else:
                return Opened(attempts=tuple(attempts), reply=reply, accept=accept)

    async def wait(self, exchange: Exchange) -> bool:
        """Pause after a transient fault; False, at once, when the deadline leaves no room for another try."""
        if not self._can_wait(exchange):
            return False
        await self._pause(PACE_S)
        return True

    def _can_wait(self, exchange: Exchange) -> bool:
        # What took a whole timeout once may take it again.
        return self.remaining_s >= PACE_S + exchange.duration_s

    def carry(self, session: str, headers: tuple[tuple[str, str], ...]) -> None:
        """Note with which headers a session is to be ended."""
        self._sessions[session] = headers

    async def end(self, session: str) -> Exchange:
        """End one session with DELETE, at the second try if need be.

        It stays open only where the deadline came first, or the requests had been spent.
        """
        before = self.wire.requests
        exchange = (await self.wire.send(self.farewell(session))).exchange
        if outcome.is_transient(exchange) and await self.wait(exchange):
            exchange = (await self.wire.send(self.farewell(session), fresh=True)).exchange
        sent = self.wire.requests - before
        self._extra += max(0, sent - 1)
        if sent or exchange.fault is None or exchange.fault.code not in {"deadline", "budget"}:
            self._sessions.pop(session, None)
        return exchange

    async def end_all(self) -> None:
        """End every session that is still open."""
        for session in self.open_sessions:
            await self.end(session)

    @property
    def open_sessions(self) -> tuple[str, ...]:
        """The sessions that were issued and not ended."""
        return tuple(self._sessions)

    def farewell(self, session: str) -> Request:
        """The DELETE that ends a session: of an id in several headers the first, which a server may know."""
        return Request(
            label="delete",
            http_method="DELETE",
            url=self.url,
            headers=((SESSION_HEADER, session.partition(", ")[0]), *self._sessions.get(session, ())),
            accept=None,
            read=Read.BODY,
        )


def _followed(url: str, reply: Reply) -> str | None:
    """Where a redirect that may be followed leads: same origin, and a POST stays a POST."""
    if reply.exchange.status not in outcome.KEEPS_METHOD or reply.location is None:
        return None
    if not outcome.same_origin(url, reply.location):
        return None
    return urldefrag(urljoin(url, reply.location)).url
