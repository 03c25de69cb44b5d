"""Simulated MCP servers on loopback, in a process of their own: they answer at once, or fail as told."""

import asyncio
import contextlib
import json
import multiprocessing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Literal, TypeAlias

TOOL = {
    "name": "lookup",
    "description": "Looks something up.",
    "inputSchema": {
        "type": "object",
        "properties": {"query": {"type": "string", "description": "What to look up."}},
        "required": ["query"],
    },
}
REVISION = "2026-07-28"
LOOPBACK = "127.0.0.1"

Tools: TypeAlias = Sequence[Mapping[str, Any]]
Fault: TypeAlias = Literal["down", "error", "drip", "cut", "mistyped"]
"""Nobody listens; 503 to everything; a byte a second; a list that breaks off; JSON that is called text."""


def tools_of(count: int, end: str = "") -> Tools:
    """So many tools, named with this end."""
    return tuple({**TOOL, "name": f"lookup_{number}{end}"} for number in range(count))


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """What one server shows from now on."""

    tools: Tools
    fault: Fault | None = None
    reads: int | None = None
    """After so many reads of the list everything is as it was before."""


class Fleet:
    """Answers for every server of the fleet, whose number is the path: modern servers with some tools."""

    def __init__(self, tools: Tools, addresses: Mapping[str, str]) -> None:
        self._usual = Shown(tools=tools)
        self._addresses = addresses
        self._shown: dict[str, Shown] = {}
        self._before: dict[str, Shown] = {}
        self._reads: dict[str, int] = {}
        self._listening: dict[str, asyncio.Server] = {}
        self._port = 0

    async def open(self) -> int:
        """Listen everywhere; the port, which all addresses share."""
        for address in self._addresses.values() or [LOOPBACK]:
            await self._listen(address)
        return self._port

    async def _listen(self, address: str) -> None:
        server = await asyncio.start_server(self.serve, address, self._port, backlog=2048)
        self._listening[address] = server
        self._port = server.sockets[0].getsockname()[1]

    async def obey(self, path: str, shown: Shown) -> None:
        """Let one server show something else."""
        self._before[path] = self._now(path)
        self._shown[path], self._reads[path] = shown, 0
        address = self._addresses.get(path)
        if address and shown.fault == "down" and address in self._listening:
            self._listening.pop(address).close()
        elif address and shown.fault != "down" and address not in self._listening:
            await self._listen(address)

    def _now(self, path: str) -> Shown:
        return self._shown.get(path, self._usual)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                line, *fields = head.split("\r\n")
                headers = {k.lower(): v for k, _, v in (field.partition(": ") for field in fields)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                method, path, _ = line.split(" ", 2)
                fault = self._now(path).fault
                if fault == "down":
                    break
                status, answer = self.answer(method, path, headers, body)
                kind = "text/plain" if fault == "mistyped" else "application/json"
                fields = [f"content-type: {kind}", f"content-length: {len(answer)}"]
                writer.write("\r\n".join([f"HTTP/1.1 {status}", *fields, "\r\n"]).encode())
                if fault == "drip":
                    await drip(writer, answer)
                elif fault == "cut" and b"inputSchema" in answer:
                    writer.write(answer[: len(answer) // 2])
                    break
                else:
                    writer.write(answer)
        writer.close()

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[str, bytes]:
        """Status and body."""
        if self._now(path).fault == "error":
            return "503 Service Unavailable", b"{}"
        if method != "POST":
            return "405 Method Not Allowed", b""
        if "origin" in headers:
            return "403 Forbidden", b""
        message = json.loads(body)
        status, content = self.rpc(path, message, headers)
        return status, json.dumps({"jsonrpc": "2.0", "id": message.get("id"), **content}).encode()

    def rpc(self, path: str, message: dict[str, Any], headers: dict[str, str]) -> tuple[str, dict[str, Any]]:
        """Status, and result or error."""
        method = message.get("method")
        meta = message.get("params", {}).get("_meta", {})
        if meta.get("io.modelcontextprotocol/protocolVersion") != REVISION:
            data = {"supported": [REVISION]}
            return "400 Bad Request", {"error": {"code": -32022, "message": "unsupported", "data": data}}
        if headers.get("mcp-method") != method:
            return "400 Bad Request", {"error": {"code": -32020, "message": "header mismatch"}}
        result: dict[str, Any] = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
        if method == "server/discover":
            result |= {"supportedVersions": [REVISION], "capabilities": {"tools": {}}}
        elif method == "tools/list":
            result["tools"] = self._read(path)
        else:
            return "404 Not Found", {"error": {"code": -32601, "message": "method not found"}}
        return "200 OK", {"result": result}

    def _read(self, path: str) -> Tools:
        shown = self._now(path)
        if shown.reads is not None:
            self._reads[path] += 1
            if self._reads[path] >= shown.reads:
                self._shown[path] = self._before[path]
        return shown.tools


async def drip(writer: asyncio.StreamWriter, answer: bytes) -> None:
    """A byte a second, until the other side has had enough."""
    for place in range(len(answer)):
        writer.write(answer[place : place + 1])
        await writer.drain()
        await asyncio.sleep(1)


def simulate(control: Connection, tools: Tools, addresses: Mapping[str, str]) -> None:
    """Run the fleet until the process is ended; it says its port and then takes (path, Shown)."""

    async def run() -> None:
        fleet = Fleet(tools, addresses)
        control.send(await fleet.open())
        orders: asyncio.Queue[tuple[str, Shown]] = asyncio.Queue()
        asyncio.get_running_loop().add_reader(control.fileno(), lambda: orders.put_nowait(control.recv()))
        while True:
            await fleet.obey(*await orders.get())

    asyncio.run(run())


@contextlib.contextmanager
def fleet(tools: Tools, addresses: Mapping[str, str] | None = None) -> Iterator[tuple[int, Connection]]:
    """A fleet's port, and where it takes orders.

    ``addresses`` names a loopback address for each path; without it all of them are at LOOPBACK.
    """
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=simulate, args=(theirs, tools, addresses or {}), daemon=True)
    process.start()
    try:
        yield ours.recv(), ours
    finally:
        process.terminate()
        process.join()
