"""One HTTP/1.1 connection of a probe: httpcore's, on a socket of our own."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterable
from typing import cast

import httpcore

from driftwatch.evidence import Tls
from driftwatch.probe.connect import READ_SIZE, SocketStream
from driftwatch.probe.fault import HTTPCORE, Broken
from driftwatch.probe.place import Place
from driftwatch.probe.proxy import Proxy

SETTLE_S = 0.05
"""How long the next request waits for the end of a reply that was left early, to use its connection again."""
_SETTLE_CHUNKS = 32


class _Http11(httpcore.AsyncHTTP11Connection):
    READ_NUM_BYTES = READ_SIZE
    MAX_INCOMPLETE_EVENT_SIZE = 2**24  # the stream counts, and says what was too large

    def __init__(self, origin: httpcore.Origin, stream: SocketStream) -> None:
        super().__init__(origin, stream)
        # Nobody shares a connection of a probe; the lock would cost two turns of the event loop per request.
        self._state_lock = contextlib.nullcontext()  # type: ignore[assignment]

    @property
    def surplus(self) -> int:
        """Bytes that came after the end of the reply."""
        return len(self._h11_state.trailing_data[0])


class Connection:
    """Asks one thing at a time and hands out the body in chunks as they come."""

    def __init__(
        self,
        stream: SocketStream,
        place: Place,
        certificate: Tls | None = None,
        *,
        forwarder: Proxy | None = None,
    ) -> None:
        self.stream = stream
        self.place = place
        self._forwarder = forwarder
        """The proxy that every single request is addressed to; None for a tunnel too."""
        self.certificate = certificate
        """What its handshake showed; None for plain TCP."""
        self._http = _Http11(place.origin if forwarder is None else forwarder.place.origin, stream)
        self._response: httpcore.Response | None = None
        self._ended = False
        self._chunks: AsyncGenerator[bytes, None] | None = None

    async def ask(
        self, method: str, place: Place, headers: list[tuple[bytes, bytes]], content: bytes, max_headers: int
    ) -> httpcore.Response:
        """Send a request and read the header block of its reply."""
        self.stream.expect(max_headers)
        url = place.url
        if self._forwarder is not None:
            origin = self._forwarder.place.origin
            url = httpcore.URL(
                scheme=origin.scheme, host=origin.host, port=origin.port, target=bytes(place.url)
            )
            headers = [*headers, *self._forwarder.headers]
        request = httpcore.Request(method, url, headers=headers, content=content)
        self._response = response = await self._http.handle_async_request(request)
        self._chunks = cast(
            "AsyncGenerator[bytes, None]", aiter(cast("AsyncIterable[bytes]", response.stream))
        )
        return response

    def expect_body(self, max_bytes: int) -> None:
        """Allow the body this many bytes, framing and all."""
        self.stream.expect_body(max_bytes)

    async def chunk(self) -> bytes:
        """The next bytes of the body as they came; none at its end."""
        if self._chunks is None:
            return b""
        chunk = await anext(self._chunks, b"")
        self._ended = not chunk
        return chunk

    @property
    def surplus(self) -> int:
        """Bytes that came after the end of the reply, against its own Content-Length."""
        return self._http.surplus

    async def settle(self) -> bool:
        """Finish the last reply; False, with the connection closed, when no other request can follow."""
        with contextlib.suppress(TimeoutError, Broken, *HTTPCORE):
            if not self._ended:
                async with asyncio.timeout(SETTLE_S):
                    for _ in range(_SETTLE_CHUNKS):
                        if not await self.chunk():
                            break
            if self._response is not None and not self.surplus:
                await self._response.aclose()
        if self._http.is_idle() and not self.stream.is_readable():
            self._chunks = self._response = None
            return True
        await self.close()
        return False

    async def close(self) -> None:
        """Close the connection, whatever is still on its way."""
        self.stream.close()
        if self._chunks is not None:
            chunks, self._chunks = self._chunks, None
            await chunks.aclose()
