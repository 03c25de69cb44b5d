"""One bounded exchange with a server: what is asked, and what came back as data.

Nothing in here raises for a fault of the server: a refused connection, a bad certificate, a body without end
or nonsense instead of HTTP is a Fault of the Exchange. Only cancellation and our own misuse are exceptions.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from types import TracebackType
from typing import Self

from driftwatch.evidence import Exchange, Fault, Missing, Tls
from driftwatch.model import Json
from driftwatch.probe.connect import AddressFault, Resolver
from driftwatch.probe.credential import Credential
from driftwatch.probe.sse import SseEvent
from driftwatch.probe.tls import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where one probe stops reading. A limit that is hit is a Fault with its figures."""

    timeout_s: float = 20.0
    """Wall clock of one request, from resolving the name to the end of the answer."""
    deadline_s: float = 60.0
    """Wall clock of the whole probe."""
    max_body: int = 4 * 2**20
    """Bytes of one body, as sent and again after decompression."""
    max_pages: int = 100
    max_tools: int = 5000
    max_headers: int = 256 * 1024
    """Bytes of one header block, with every informational response before it."""
    max_requests: int = 26
    max_events: int = 10_000
    """Events of one SSE stream."""
    max_depth: int = 200
    """Nested arrays and objects of one JSON text."""


class Read(Enum):
    """How much of a reply is read."""

    ANSWER = "answer"
    """Up to the JSON-RPC message that answers the request, even if the stream stays open after it."""
    HEADERS = "headers"
    """Status and headers; then the connection is closed."""
    BODY = "body"
    """The whole bounded body, whatever it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request of the dialogue."""

    label: str
    """Which request of the recipe it is; becomes Exchange.label."""
    http_method: str = "POST"
    url: str | None = None
    """None: the endpoint itself."""
    rpc: dict[str, Json] | None = None
    """The JSON-RPC message to send. Its id decides which message is the answer; without one nothing is awaited."""
    headers: tuple[tuple[str, str], ...] = ()
    accept: str | None = "application/json, text/event-stream"
    read: Read = Read.ANSWER
    credential: bool = True
    """Apply the configured credential; it only ever goes to the endpoint's own origin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back, with the few things that must not be recorded."""

    exchange: Exchange
    session: str | None
    """The value of ``Mcp-Session-Id``. A secret: it is never recorded."""
    retry_after_s: float | None
    location: str | None
    """The ``Location`` header as sent, query included: not for recording."""


class Stream:
    """An open SSE stream of a GET, read event by event."""

    reply: Reply
    """Status and headers; its exchange carries the fault when there is no stream to read."""

    async def next_event(self) -> SseEvent | None | Fault:
        """The next event, None when the server ended the stream, a Fault when it broke or hit a limit."""
        raise NotImplementedError


class Wire:
    """The exchanges of one probe: a connection kept alive, a deadline, a budget and one credential.

    Use as an async context manager; leaving it closes every connection.
    """

    def __init__(
        self,
        *,
        url: str,
        tls: Trust,
        resolver: Resolver,
        clock: Callable[[], datetime],
        limits: Limits | None = None,
        credential: Credential | None = None,
    ) -> None:
        self.requests = 0
        """How many requests were sent."""
        self.tls: Tls | Missing = Missing("no connection was made", "no-connection")
        """The certificate facts of the endpoint's first connection."""
        self.address_faults: tuple[AddressFault, ...] = ()
        """The endpoint's addresses that were tried or refused before one answered."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

    async def send(self, request: Request, *, fresh: bool = False) -> Reply:
        """Send one request and read its reply as far as ``request.read`` says.

        ``fresh`` opens a new connection for it. Never raises for a fault of the server.
        """
        raise NotImplementedError

    def stream(self, request: Request) -> AbstractAsyncContextManager[Stream]:
        """Open a GET and hand out its SSE events one by one, on a connection of its own."""
        return self._stream(request)

    @asynccontextmanager
    async def _stream(self, request: Request) -> AsyncIterator[Stream]:
        raise NotImplementedError
        yield Stream()
