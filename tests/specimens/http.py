"""A loopback HTTP/1.1 server that says exactly what it is told to, however wrong."""

import asyncio
import contextlib
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from tests.servers.raw import Peer, RawServer, Script, play


@dataclass(frozen=True, kw_only=True)
class Incoming:
    """One request as it arrived."""

    method: str
    path: str
    """With its query."""
    headers: dict[str, str]
    """Names in lower case."""
    body: bytes

    @property
    def rpc(self) -> dict[str, Any]:
        try:
            message = json.loads(self.body)
        except ValueError:
            return {}
        return message if isinstance(message, dict) else {}

    @property
    def rpc_method(self) -> str | None:
        return self.rpc.get("method")


@dataclass(frozen=True, kw_only=True)
class Answer:
    """One reply, byte for byte."""

    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    later: AsyncIterator[bytes] | None = None
    """Bytes after the body; the reply is chunked then."""
    stays_open: bool = False
    """True: the stream is left open after everything was sent, until the client goes."""
    cut: bool = False
    """True: the connection is closed without a word; status and headers are not sent."""
    abrupt: bool = False
    """True: TCP is closed right after the body, without the end of its chunks and without TLS's goodbye."""
    measured: bool = True
    """False: the reply does not say how long it is."""
    script: Script = ()
    """Bytes and steps that are played in the place of all this; then the connection is closed."""

    def but(self, **changes: Any) -> "Answer":
        return replace(self, **changes)

    def with_header(self, name: str, value: str | None) -> "Answer":
        """The reply with one header replaced, or taken away with None."""
        kept = tuple(item for item in self.headers if item[0].lower() != name.lower())
        return replace(self, headers=kept if value is None else (*kept, (name, value)))


Respond: TypeAlias = Callable[[Incoming], Awaitable[Answer]]
Greet: TypeAlias = Callable[[int], Script]
"""What the n-th connection, counted from 1, is met with before anything is read; then it is closed. An empty
script: it is served."""

REASONS = {200: "OK", 202: "Accepted", 307: "Temporary Redirect", 400: "Bad Request", 404: "Not Found"}


@dataclass
class Loopback:
    """A running server and what it was asked."""

    respond: Respond
    greet: Greet = lambda _: ()
    port: int = 0
    tls: bool = False
    host: str = "127.0.0.1"
    log: list[Incoming] = field(default_factory=list)
    connections: int = 0
    turned_away: int = 0
    """Connections that were greeted instead of served."""

    @property
    def origin(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    def url(self, path: str = "/mcp") -> str:
        return self.origin + path

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        peer = Peer(reader, writer, RawServer(self.port, self.tls))
        try:
            if greeting := self.greet(self.connections):
                self.turned_away += 1
                await play(greeting, peer)
                return
            while (incoming := await _read(reader)) is not None:
                self.log.append(incoming)
                answer = await self.respond(incoming)
                if answer.script:
                    await play(answer.script, peer)
                if answer.cut or answer.script:
                    break
                await _write(reader, writer, answer)
                if answer.abrupt:
                    writer.transport.abort()
                if answer.stays_open or answer.abrupt:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()


@asynccontextmanager
async def serving(
    respond: Respond,
    *,
    greet: Greet = lambda _: (),
    context: ssl.SSLContext | None = None,
    host: str = "127.0.0.1",
) -> AsyncIterator[Loopback]:
    """Run a server on a free port of 127.0.0.1 for as long as the block lasts."""
    loopback = Loopback(respond, greet=greet, tls=context is not None, host=host)
    tasks: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(loopback.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=context)
    loopback.port = server.sockets[0].getsockname()[1]
    try:
        yield loopback
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        await server.wait_closed()


async def _read(reader: asyncio.StreamReader) -> Incoming | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Incoming(method=method, path=path, headers=headers, body=body)


async def _write(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, answer: Answer) -> None:
    streamed = answer.later is not None or answer.stays_open
    headers = list(answer.headers)
    names = {name.lower() for name, _ in headers}
    if streamed:
        headers.append(("Transfer-Encoding", "chunked"))
    elif "content-length" not in names and answer.measured:
        headers.append(("Content-Length", str(len(answer.body))))
    reason = REASONS.get(answer.status, "Status")
    head = [f"HTTP/1.1 {answer.status} {reason}", *(f"{name}: {value}" for name, value in headers)]
    writer.write("\r\n".join([*head, "", ""]).encode("latin-1"))
    if not streamed:
        writer.write(answer.body)
        await writer.drain()
        return
    if answer.body:
        writer.write(_chunk(answer.body))
    await writer.drain()
    if answer.later is not None:
        gone = asyncio.create_task(reader.read(1))
        try:
            await _stream(writer, answer.later, gone)
        finally:
            gone.cancel()
            await asyncio.gather(gone, return_exceptions=True)
    if answer.stays_open:
        await reader.read(1)
        return
    if answer.abrupt:
        return
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def _stream(
    writer: asyncio.StreamWriter, later: AsyncIterator[bytes], gone: "asyncio.Task[bytes]"
) -> None:
    """Send what comes until it ends or the client goes."""
    source = later.__aiter__()
    while True:
        following = asyncio.ensure_future(anext(source, None))
        try:
            await asyncio.wait({following, gone}, return_when=asyncio.FIRST_COMPLETED)
            if not following.done():
                raise ConnectionResetError
        finally:
            following.cancel()
            await asyncio.gather(following, return_exceptions=True)
        chunk = following.result()
        if chunk is None:
            return
        writer.write(_chunk(chunk))
        await writer.drain()


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)
