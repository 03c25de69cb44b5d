"""One HTTP/1.1 connection of a probe, on a socket of our own."""

import asyncio
import contextlib

from driftwatch.evidence import Tls
from driftwatch.probe.wire import http1
from driftwatch.probe.wire.fault import Broken, OutOfTime
from driftwatch.probe.wire.http1 import Fields, ReplyParser
from driftwatch.probe.wire.place import Place
from driftwatch.probe.wire.proxy import Proxy
from driftwatch.probe.wire.tcp import READ_SIZE, SocketStream

SETTLE_S = 0.05
"""How long the next request waits for the end of a reply that was left early, to use its connection again."""
_SETTLE_CHUNKS = 32


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
        self._reply = ReplyParser()

    async def ask(
        self, method: str, place: Place, fields: Fields, content: bytes, max_headers: int
    ) -> ReplyParser:
        """Send a request and read its reply up to the end of the header block."""
        self.stream.expect(max_headers)
        target = place.target
        if self._forwarder is not None:
            target = place.absolute
            fields = [*fields, *self._forwarder.fields]
        try:
            self.stream.write(http1.head(method, target, fields) + content)
        except ValueError:
            # Not quoted: it may be the credential.
            what = "the request cannot be sent: one of its headers is not valid HTTP"
            raise Broken("protocol", "send", what) from None
        reply = self._reply
        reply.begin()
        while not reply.status:
            await self._read()
        return reply

    async def _read(self) -> None:
        """Read more of the reply, once there is nothing left of it that was read before."""
        if self._reply.broken is not None:
            raise self._reply.broken
        self._reply.feed(await self.stream.read(READ_SIZE))

    def expect_body(self, max_bytes: int) -> None:
        """Allow the body this many bytes, framing and all."""
        self.stream.expect_body(max_bytes)

    async def chunk(self) -> bytes:
        """The next bytes of the body as they came; none at its end."""
        reply = self._reply
        while not reply.body:
            if reply.ended:
                return b""
            await self._read()
        return reply.body.popleft()

    @property
    def ended(self) -> bool:
        """Whether nothing of the reply is left to come."""
        return self._reply.ended

    @property
    def cut(self) -> bool:
        """Whether the reply may be: it ends with the connection, and TLS ended without a goodbye."""
        return self.stream.cut and self._reply.until_close

    @property
    def surplus(self) -> bool:
        """Whether more came after the end of the reply, against its own framing."""
        return self._reply.surplus

    async def settle(self) -> bool:
        """Finish the last reply; False, with the connection closed, when no other request can follow."""
        if not self._reply.ended:
            with contextlib.suppress(TimeoutError, OutOfTime, Broken):
                async with asyncio.timeout(SETTLE_S):
                    for _ in range(_SETTLE_CHUNKS):
                        if not await self.chunk():
                            break
        if self._reply.reusable and not self.stream.is_readable():
            return True
        self.close()
        return False

    def close(self) -> None:
        """Close the connection, whatever is still on its way."""
        self.stream.close()
