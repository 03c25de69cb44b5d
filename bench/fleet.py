"""A fleet of simulated servers on loopback, watched by a real service in a process of its own.

    python bench/fleet.py --servers 1000 --every 60 [--minutes 3] [--drift 0]

Every server is first baselined (a full probe each), then measured for so many minutes at its interval: how
late probes start (p50, p99, worst), the CPU of the service as a share of one core and per probe, its memory,
threads and files, and what the database grew by for each probe. ``--drift N`` lets N servers change their
tools while it is measured; each has to be told exactly once at a loopback receiver.
The simulated servers run in another process and answer at once; their work does not count.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, ClassVar

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
TICKS = os.sysconf("SC_CLK_TCK")


class Fleet:
    """Answers for every server of the fleet, whose number is the path: modern servers with some tools."""

    def __init__(self, tools: int) -> None:
        self.tools = [{**TOOL, "name": f"lookup_{number}"} for number in range(tools)]
        self.changed: set[str] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection."""
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                line, *fields = head.split("\r\n")
                headers = {k.lower(): v for k, _, v in (field.partition(": ") for field in fields)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                method, path, _ = line.split(" ", 2)
                status, answer = self.answer(method, path, headers, body)
                writer.write(
                    f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n"
                    f"content-length: {len(answer)}\r\n\r\n".encode()
                    + answer
                )
        writer.close()

    def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[str, bytes]:
        """Status and body."""
        if method != "POST":
            return "405 Method Not Allowed", b""
        if path == "/drift":
            self.changed.update(json.loads(body))
            return "200 OK", b"{}"
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
            end = "_v2" if path in self.changed else ""
            result["tools"] = [{**tool, "name": f"{tool['name']}{end}"} for tool in self.tools]
        else:
            return "404 Not Found", {"error": {"code": -32601, "message": "method not found"}}
        return "200 OK", {"result": result}


def simulate(port: Connection, tools: int) -> None:
    """Run the fleet until the process is ended."""

    async def run() -> None:
        server = await asyncio.start_server(Fleet(tools).serve, "127.0.0.1", 0, backlog=2048)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(run())


class Receiver(BaseHTTPRequestHandler):
    """Counts which servers were spoken about."""

    told: ClassVar[Counter[str]] = Counter()

    def do_POST(self) -> None:
        """Take one message."""
        message = json.loads(self.rfile.read(int(self.headers["content-length"])))
        for word in (message["title"] + " " + message["message"]).replace(":", " ").replace(",", " ").split():
            if word.startswith("s") and word[1:].isdecimal():
                self.told[word] += 1
        self.send_response(200)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing."""


@contextlib.contextmanager
def receiving() -> Iterator[int]:
    """A loopback receiver of alerts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


def configure(folder: Path, arguments: argparse.Namespace, port: int, receiver: int) -> Path:
    """A configuration that watches the whole fleet."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        listen = taken.getsockname()[1]
    rhythm = f'interval = "{arguments.every}s"\nfull_interval = "90d"\nconcurrency = {arguments.concurrency}'
    channel = (
        f'name = "ops"\nurl = "json://127.0.0.1:{receiver}/"\npace = {{ per_second = 50, per_hour = 99999 }}'
    )
    tables = [
        f"[monitor]\n{rhythm}\nper_host = 100",
        f'[http]\nlisten = "127.0.0.1:{listen}"',
        f"[[alert]]\n{channel}",
    ]
    tables += [
        f'[[server]]\nname = "s{number}"\nurl = "http://127.0.0.1:{port}/s{number}"'
        for number in range(arguments.servers)
    ]
    path = folder / "config.toml"
    path.write_text("\n\n".join(tables))
    return path


class Process:
    """What the kernel says of the service."""

    def __init__(self, pid: int) -> None:
        self._folder = Path(f"/proc/{pid}")

    def cpu_s(self) -> float:
        """User and system time so far."""
        fields = (self._folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    def status(self, name: str) -> int:
        """A number of /proc/PID/status, such as VmRSS in kB."""
        for line in (self._folder / "status").read_text().splitlines():
            if line.startswith(name + ":"):
                return int(line.split()[1])
        return 0

    def files(self) -> int:
        """Open file descriptors."""
        return len(list((self._folder / "fd").iterdir()))


def rows(database: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """Ask the database beside the service."""
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=30)) as connection:
        return connection.execute(query, values).fetchall()


def used_bytes(database: Path) -> int:
    """What the database holds, without what is free in it; the log is brought in first."""
    with contextlib.closing(sqlite3.connect(database, timeout=30)) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        pages, free, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "freelist_count", "page_size")
        )
    return int((pages - free) * size)


def microseconds(at: float) -> int:
    """A moment as the database writes it."""
    return int(at * 1_000_000)


def warm_up(database: Path, servers: int, process: subprocess.Popen[bytes]) -> float:
    """Wait until every server has its baseline; how long that took."""
    began = time.monotonic()
    while True:
        if process.poll() is not None:
            sys.exit(f"the service ended with {process.returncode}")
        with contextlib.suppress(sqlite3.Error):
            known = rows(database, "SELECT count(*) FROM server WHERE last_run_at IS NOT NULL")[0][0]
            if known >= servers:
                return time.monotonic() - began
        time.sleep(1)


def percentile(values: list[float], share: float) -> float:
    """The value below which this share lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def measure(arguments: argparse.Namespace, folder: Path, process: subprocess.Popen[bytes], port: int) -> None:
    """Baseline, measure, print."""
    database, watched = folder / "driftwatch.db", Process(process.pid)
    began = watched.cpu_s()
    took = warm_up(database, arguments.servers, process)
    full = (watched.cpu_s() - began) / arguments.servers
    print(f"baseline of {arguments.servers} servers: {took:.0f} s, {full * 1000:.1f} ms of CPU a full probe")
    # One whole interval until everyone is back in his own phase.
    time.sleep(min(arguments.every, 60))
    start, cpu, size = time.time(), watched.cpu_s(), used_bytes(database)
    if arguments.drift:
        names = [f"/s{number}" for number in range(arguments.drift)]
        body = json.dumps(names).encode()
        with socket.create_connection(("127.0.0.1", port)) as sock:
            sock.sendall(b"POST /drift HTTP/1.1\r\ncontent-length: %d\r\n\r\n%b" % (len(body), body))
            sock.recv(1000)
    peak = 0
    while time.time() < start + arguments.minutes * 60:
        time.sleep(1)
        peak = max(peak, watched.status("VmRSS"))
    elapsed, cpu = time.time() - start, watched.cpu_s() - cpu
    late = [
        (taken - due) / 1_000_000
        for due, taken in rows(
            database,
            "SELECT due_at, taken_at FROM run WHERE taken_at > ? AND trigger = 'interval'",
            microseconds(start),
        )
    ]
    probes = rows(database, "SELECT count(*) FROM run WHERE taken_at > ?", microseconds(start))[0][0]
    grown = used_bytes(database) - size
    print(
        f"{arguments.servers} servers every {arguments.every} s for {elapsed:.0f} s: {probes} probes "
        f"({probes / elapsed:.1f}/s)\n"
        f"  start lag   p50 {statistics.median(late):.2f} s   p99 {percentile(late, 0.99):.2f} s   "
        f"worst {max(late):.2f} s\n"
        f"  CPU         {100 * cpu / elapsed:.0f} % of a core, {1000 * cpu / probes:.2f} ms a probe\n"
        f"  memory      {peak / 1024:.0f} MB  {watched.status('Threads')} threads  {watched.files()} files\n"
        f"  database    {grown / probes:.0f} bytes a probe, {used_bytes(database) / 2**20:.1f} MB in all"
    )
    if arguments.drift:
        told = Counter(Receiver.told)
        wanted = {f"s{number}" for number in range(arguments.drift)}
        known, others = len(wanted & told.keys()), len(told.keys() - wanted)
        print(f"  drift       {known} of {len(wanted)} told, {others} others")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--servers", type=int, default=100)
    parser.add_argument("--every", type=int, default=60, help="seconds")
    parser.add_argument("--minutes", type=float, default=2)
    parser.add_argument("--tools", type=int, default=5)
    parser.add_argument("--drift", type=int, default=0)
    parser.add_argument("--concurrency", type=int, default=8)
    arguments = parser.parse_args()
    ours, theirs = multiprocessing.Pipe()
    fleet = multiprocessing.Process(target=simulate, args=(theirs, arguments.tools), daemon=True)
    fleet.start()
    port = ours.recv()
    with tempfile.TemporaryDirectory() as name, receiving() as receiver:
        folder = Path(name)
        config = configure(folder, arguments, port, receiver)
        began = time.monotonic()
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "driftwatch", "run", "--config", str(config)], stdout=log, stderr=log
            )
        try:
            while not (folder / "driftwatch.db").exists() and process.poll() is None:
                time.sleep(0.05)
            print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} started in {time.monotonic() - began:.1f} s")
            measure(arguments, folder, process, port)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(30)
            fleet.terminate()
        faults = [
            line
            for line in (folder / "log").read_text().splitlines()
            if '"level": "ERROR"' in line or "Traceback" in line
        ]
        print(f"  ended with {process.returncode}, {len(faults)} errors in the log", *faults[:3], sep="\n  ")


if __name__ == "__main__":
    main()
