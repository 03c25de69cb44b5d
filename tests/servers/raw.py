"""A TCP or TLS server that plays byte scripts: one for each connection, the last one again and again.

A script is a list of steps; bytes are sent as they are. After the last step the connection is closed, and TLS
says goodbye.
"""

import asyncio
import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Peer:
    """One connection, as a step sees it."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    server: "RawServer"

    async def send(self, data: bytes) -> None:
        """Send bytes and wait until they are gone."""
        self.writer.write(data)
        await self.writer.drain()


class Step:
    """One thing that a server does."""

    async def play(self, peer: Peer) -> None:
        """Do it."""


@dataclass(frozen=True)
class Send(Step):
    """Send some bytes."""

    data: bytes

    async def play(self, peer: Peer) -> None:
        """Do it."""
        await peer.send(self.data)


class Ask(Step):
    """Wait for a whole request."""

    async def play(self, peer: Peer) -> None:
        """Do it."""
        peer.server.requests.append(await read_request(peer.reader))
        peer.server.asked.set()


@dataclass(frozen=True)
class Drip(Step):
    """Send something byte by byte, for ever if it is asked to, and let the client read in between."""

    data: bytes
    forever: bool = False

    async def play(self, peer: Peer) -> None:
        """Do it."""
        while True:
            for place in range(len(self.data)):
                await peer.send(self.data[place : place + 1])
                await asyncio.sleep(0.001)
            if not self.forever:
                return


@dataclass(frozen=True)
class Flood(Step):
    """Send something for ever, as fast as it goes."""

    data: bytes

    async def play(self, peer: Peer) -> None:
        """Do it."""
        while True:
            await peer.send(self.data)


class Stall(Step):
    """Say nothing until the client goes."""

    async def play(self, peer: Peer) -> None:
        """Do it."""
        while await peer.reader.read(65536):
            pass


class Cut(Step):
    """Close TCP at once: no goodbye of TLS."""

    async def play(self, peer: Peer) -> None:
        """Do it."""
        peer.writer.transport.abort()


class Reset(Step):
    """Answer with a TCP reset."""

    async def play(self, peer: Peer) -> None:
        """Do it."""
        sock = peer.writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        peer.writer.transport.abort()


ASK, STALL, CUT, RESET = Ask(), Stall(), Cut(), Reset()
Script = Sequence[Any]
"""Steps and bytes."""


def http(
    body: bytes = b"",
    *,
    status: str = "200 OK",
    headers: Sequence[str] = ("content-type: application/json",),
    length: int | None = None,
) -> bytes:
    """A whole HTTP/1.1 reply with a Content-Length, right unless another is given."""
    lines = [f"HTTP/1.1 {status}", *headers, f"content-length: {len(body) if length is None else length}"]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def open_ended(body: bytes = b"", *, headers: Sequence[str] = ("content-type: application/json",)) -> bytes:
    """A reply that ends with the connection."""
    return "\r\n".join(["HTTP/1.1 200 OK", *headers]).encode() + b"\r\n\r\n" + body


def chunked(*chunks: bytes, headers: Sequence[str] = (), end: bool = True) -> bytes:
    """A reply in chunks, with its last one or without."""
    lines = ["HTTP/1.1 200 OK", *headers, "transfer-encoding: chunked"]
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks)
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body + (b"0\r\n\r\n" if end else b"")


def events(*data: bytes, end: bool = True) -> bytes:
    """A reply of server-sent events."""
    chunks = [b"data: %b\n\n" % item for item in data]
    return chunked(*chunks, headers=("content-type: text/event-stream",), end=end)


@dataclass
class RawServer:
    """What a running server has seen."""

    port: int
    secure: bool
    requests: list[bytes] = field(default_factory=list)
    connections: int = 0
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by the first request."""

    @property
    def url(self) -> str:
        """An endpoint on this server, by address."""
        return f"{'https' if self.secure else 'http'}://127.0.0.1:{self.port}/mcp"

    def at(self, host: str, path: str = "/mcp") -> str:
        """An endpoint on this server, by name."""
        return f"{'https' if self.secure else 'http'}://{host}:{self.port}{path}"


@asynccontextmanager
async def serve(
    *scripts: Script, tls: ssl.SSLContext | None = None, host: str = "127.0.0.1"
) -> AsyncIterator[RawServer]:
    """Run a server on loopback."""
    running: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        script = scripts[min(server.connections, len(scripts) - 1)]
        server.connections += 1
        task = asyncio.get_running_loop().create_task(_play(script, Peer(reader, writer, server)))
        running.add(task)
        task.add_done_callback(running.discard)

    listener = await asyncio.start_server(accept, host, 0, ssl=tls)
    server = RawServer(port=listener.sockets[0].getsockname()[1], secure=tls is not None)
    try:
        yield server
    finally:
        listener.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await listener.wait_closed()


async def play(script: Script, peer: Peer) -> None:
    """Play a script to its end. Raises ConnectionError when the client goes."""
    for step in script:
        await (Send(step) if isinstance(step, bytes) else step).play(peer)


async def _play(script: Script, peer: Peer) -> None:
    with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
        try:
            await play(script, peer)
        finally:
            peer.writer.close()
            await peer.writer.wait_closed()


@contextmanager
def serve_openssl(answer: bytes, tls: ssl.SSLContext) -> Iterator[RawServer]:
    """A TLS server on blocking sockets: unlike asyncio's, it tells by an alert why a handshake failed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = RawServer(port=listener.getsockname()[1], secure=True)

        def run() -> None:
            with suppress(OSError):  # shut down
                while True:
                    accepted, _ = listener.accept()
                    server.connections += 1
                    with accepted, suppress(OSError), tls.wrap_socket(accepted, server_side=True) as peer:
                        server.requests.append(peer.recv(65536))
                        peer.sendall(answer)
                        peer.unwrap()

        thread = threading.Thread(target=run)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


async def read_request(reader: asyncio.StreamReader) -> bytes:
    """One request with the body that its Content-Length says."""
    head = await reader.readuntil(b"\r\n\r\n")
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            return head + await reader.readexactly(int(line.split(b":")[1]))
    return head
