"""One HTTP/1.1 connection of a probe: h11 on a socket of our own."""

import asyncio
import contextlib
from dataclasses import dataclass

import h11

from driftwatch.evidence import Tls
from driftwatch.probe.connect import READ_SIZE, SocketStream
from driftwatch.probe.fault import Broken, of_http
from driftwatch.probe.place import Place
from driftwatch.probe.proxy import Proxy

SETTLE_S = 0.05
"""How long the next request waits for the end of a reply that was left early, to use its connection again."""
_SETTLE_CHUNKS = 32
_UNBOUNDED = 2**24
"""h11 bounds only what is incomplete; the stream counts everything, and says what was too large."""

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Head:
    """How a reply begins."""

    status: int
    headers: Headers
    """Names as they were sent."""


class Connection:
    """Asks one thing at a time and hands out the body in chunks as they come; Broken is every fault."""

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
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=_UNBOUNDED)
        self._ended = True

    async def ask(
        self, method: str, place: Place, headers: Headers, content: bytes, max_headers: int
    ) -> Head:
        """Send a request and read the header block of its reply."""
        self.stream.expect(max_headers)
        target = place.target
        if self._forwarder is not None:
            target = place.absolute
            headers = [*headers, *self._forwarder.headers]
        try:
            self._send(h11.Request(method=method, target=target, headers=headers))
            self._send(h11.Data(content))
            self._send(h11.EndOfMessage())
        except h11.LocalProtocolError as error:
            # The text quotes the header, which may be the credential.
            what = "the request cannot be sent: one of its headers is not valid HTTP"
            raise Broken("protocol", "send", what) from error
        self._ended = False
        while not isinstance(event := await self._event(), h11.Response):
            pass
        return Head(event.status_code, event.headers.raw_items())

    def _send(self, event: h11.Event) -> None:
        self.stream.write(self._http.send(event) or b"")

    async def _event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """The next part of the reply."""
        stream = self.stream
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(await stream.read(READ_SIZE))
        except h11.RemoteProtocolError as error:
            head = stream.describe_head()
            raise of_http(error, stream.phase, received=stream.received, head=head) from error
        return event

    def expect_body(self, max_bytes: int) -> None:
        """Allow the body this many bytes, framing and all."""
        self.stream.expect_body(max_bytes)

    async def chunk(self) -> bytes:
        """The next bytes of the body as they came; none at its end."""
        if self._ended:
            return b""
        event = await self._event()
        if isinstance(event, h11.Data):
            return bytes(event.data)
        self._ended = True
        return b""

    @property
    def surplus(self) -> int:
        """Bytes that came after the end of the reply, against its own Content-Length."""
        return len(self._http.trailing_data[0])

    async def settle(self) -> bool:
        """Finish the last reply; False, with the connection closed, when no other request can follow."""
        with contextlib.suppress(TimeoutError, Broken):
            async with asyncio.timeout(SETTLE_S):
                for _ in range(_SETTLE_CHUNKS):
                    if self._ended or not await self.chunk():
                        break
        done = self._http.our_state is self._http.their_state is h11.DONE and not self.surplus
        if done and not self.stream.is_readable():
            self._http.start_next_cycle()
            return True
        self.close()
        return False

    def close(self) -> None:
        """Close the connection, whatever is still on its way."""
        self.stream.close()
