"""CPU of a modern light dialogue (discover, tools/list) at the wire, beside the same bytes over bare sockets.

    python bench/wire.py [--rounds N] [--repeat N] [--tools N] [--profile]

The server is a process of its own and answers from memory, once in the clear and once over TLS 1.3. The
floor writes and reads the very same bytes over bare asyncio streams, without and with reading the JSON.
Contenders take turns, so that a noisy machine hurts all alike; figures are process CPU of the client, the
smallest batch.
"""

import argparse
import asyncio
import cProfile
import json
import multiprocessing
import pstats
import ssl
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory

import trustme

from driftwatch.model import Json
from driftwatch.probe.wire.connect import SystemResolver
from driftwatch.probe.wire.exchange import Request, Wire
from driftwatch.probe.wire.tls import Trust, TrustStore

Probe = Callable[[], Awaitable[None]]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "driftwatch", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def requests() -> list[Request]:
    """What a light probe of a modern server asks."""
    return [
        Request(
            label=method,
            rpc={"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": META}},
            headers=(("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", method)),
        )
        for number, method in enumerate(("server/discover", "tools/list"), 1)
    ]


def replies(tools: int) -> list[bytes]:
    """What the server answers: the second is the list."""
    tool = {
        "description": "Looks something up and says what it found, in a sentence or two. " * 3,
        "inputSchema": {
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "What to look for, in the words of the user."},
                "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 10},
                "kinds": {"type": "array", "items": {"type": "string", "enum": ["page", "file", "person"]}},
            },
            "required": ["query"],
            "additionalProperties": False,
        },
    }
    complete = {"resultType": "complete", "ttlMs": 0, "cacheScope": "public"}
    results: list[Json] = [
        {**complete, "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}},
        {**complete, "tools": [{"name": f"look_up_{number}", **tool} for number in range(tools)]},
    ]
    bodies = [
        json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()
        for number, result in enumerate(results, 1)
    ]
    return [
        b"HTTP/1.1 200 OK\r\ndate: Mon, 30 Nov 2026 03:00:00 GMT\r\nserver: bench\r\n"
        b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body)
        for body in bodies
    ]


class Replay(asyncio.Protocol):
    """Answers each request on a connection with the next reply, and notes the requests."""

    def __init__(self, canned: list[bytes], notes: list[bytes] | None = None) -> None:
        self.canned, self.notes = iter(canned), notes
        self.pending = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """Answer once a whole request is there."""
        self.pending += data
        head, blank, body = self.pending.partition(b"\r\n\r\n")
        if blank and len(body) == int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0]):
            if self.notes is not None:
                self.notes.append(self.pending)
            self.pending = b""
            self.transport.write(next(self.canned))


def serve(ready: Connection, certificate: str, tools: int) -> None:
    """Run the server until the process is ended."""

    async def run() -> None:
        loop, canned = asyncio.get_running_loop(), replies(tools)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        plain = await loop.create_server(lambda: Replay(canned), "127.0.0.1", 0)
        secure = await loop.create_server(lambda: Replay(canned), "127.0.0.1", 0, ssl=context)
        ready.send([server.sockets[0].getsockname()[1] for server in (plain, secure)])
        await asyncio.Event().wait()

    asyncio.run(run())


async def sent_bytes(tools: int, trust: Trust) -> list[bytes]:
    """The bytes that the wire sends."""
    notes: list[bytes] = []
    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: Replay(replies(tools), notes), "127.0.0.1", 0) as server:
        await wire(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp", trust)
    return notes


async def wire(url: str, trust: Trust) -> None:
    """The dialogue over driftwatch's wire."""
    async with Wire(url=url, tls=trust, resolver=RESOLVER, clock=lambda: datetime.now(UTC)) as open_wire:
        for request in requests():
            exchange = (await open_wire.send(request)).exchange
            assert exchange.result is not None, exchange


async def bare(port: int, context: ssl.SSLContext | None, sent: list[bytes], *, read_json: bool) -> None:
    """The same bytes over bare asyncio streams."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context)
    for request in sent:
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(int(head.split(b"content-length: ")[1].split(b"\r\n")[0]))
        if read_json:
            json.loads(body)
    writer.close()


async def compare(contenders: dict[str, Probe], rounds: int, repeat: int) -> dict[str, float]:
    """The CPU of one dialogue in milliseconds, for each contender."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(repeat):
        for name, probe in contenders.items():
            began = time.process_time()
            for _ in range(rounds):
                await probe()
            best[name] = min(best[name], (time.process_time() - began) / rounds * 1000)
    return best


RESOLVER = SystemResolver()


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--repeat", type=int, default=10)
    parser.add_argument("--tools", type=int, default=30)
    parser.add_argument("--profile", action="store_true", help="where the time goes, instead")
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        authority = trustme.CA()
        pem, roots = Path(folder, "server.pem"), Path(folder, "roots.pem")
        authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(pem))
        authority.cert_pem.write_to_path(str(roots))
        ready, theirs = multiprocessing.Pipe()
        server = multiprocessing.get_context("spawn").Process(
            target=serve, args=(theirs, str(pem), options.tools), daemon=True
        )
        server.start()
        plain, secure = ready.recv()
        trust = TrustStore().get(ca_file=roots)
        sent = await sent_bytes(options.tools, trust)
        print(f"{sum(map(len, sent)):,} bytes sent, {sum(map(len, replies(options.tools))):,} received")
        for name, scheme, port, context in (
            ("plain", "http", plain, None),
            ("TLS 1.3", "https", secure, trust.context),
        ):
            url = f"{scheme}://127.0.0.1:{port}/mcp"
            contenders: dict[str, Probe] = {
                "bare sockets": partial(bare, port, context, sent, read_json=False),
                "bare sockets, JSON read": partial(bare, port, context, sent, read_json=True),
                "driftwatch wire": partial(wire, url, trust),
            }
            if options.profile:
                profile = cProfile.Profile()
                profile.enable()
                for _ in range(options.rounds):
                    await wire(url, trust)
                profile.disable()
                pstats.Stats(profile).sort_stats("tottime").print_stats(40)
                continue
            figures = await compare(contenders, options.rounds, options.repeat)
            floor = figures["bare sockets"]
            for contender, figure in figures.items():
                print(f"{name:<8} {contender:<26} {figure:6.3f} ms CPU  {figure / floor:5.2f}x")
        server.terminate()
        server.join()


if __name__ == "__main__":
    asyncio.run(main())
