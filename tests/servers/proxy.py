"""An HTTP proxy: tunnels, absolute URLs, and the ways in which it can refuse."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from urllib.parse import urlsplit

_OURS = re.compile(rb"Proxy-[^\r\n]*\r\n")
"""Headers that are for the proxy itself."""


@dataclass
class ForwardProxy:
    """Counts what goes through it. ``ways`` maps the host names that only it knows to addresses."""

    ways: dict[str, str] = field(default_factory=dict)
    wants: str | None = None
    """The value of Proxy-Authorization that it asks for."""
    refusal: bytes = b""
    """An answer for everything; empty for none."""
    port: int = 0
    asked: list[str] = field(default_factory=list)
    """The request lines."""
    heads: list[bytes] = field(default_factory=list)

    @property
    def url(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: a tunnel, or one server after another."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, EOFError):
            while await self._request(reader, writer):
                pass
        writer.close()

    async def _request(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        line = head.split(b"\r\n", 1)[0].decode()
        self.asked.append(line)
        self.heads.append(head)
        method, target, _ = line.split(" ")
        if self.refusal:
            writer.write(self.refusal)
            return False
        if self.wants is not None and f"Proxy-Authorization: {self.wants}".encode() not in head:
            writer.write(b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n")
            return False
        parts = urlsplit(f"//{target}" if method == "CONNECT" else target)
        host = self.ways.get(parts.hostname or "", parts.hostname)
        try:
            there, onward = await asyncio.open_connection(host, parts.port or 80)
        except OSError:
            writer.write(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n")
            return False
        if method == "CONNECT":
            writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            path = f"{parts.path}?{parts.query}" if parts.query else parts.path
            rest = head.split(b"\r\n", 1)[1]
            onward.write(_OURS.sub(b"", f"{method} {path} HTTP/1.1\r\n".encode() + rest))
        await asyncio.gather(_pass_on(reader, onward), _pass_on(there, writer))
        return False


async def _pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while data := await reader.read(65536):
            # Further requests of a kept connection: one comes at a time, in one piece.
            writer.write(_OURS.sub(b"", data))
            await writer.drain()
    writer.close()


@asynccontextmanager
async def proxying(**settings: object) -> AsyncIterator[ForwardProxy]:
    """A proxy on loopback."""
    proxy = ForwardProxy(**settings)  # type: ignore[arg-type]
    server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = server.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        server.close()
