"""CPU of one probe, side by side in one run: bare sockets, driftwatch, the official mcp client.

    python -m bench.probe [--full] [--rounds N] [--repeat N] [URL]

Without a URL the demo's sample server runs in a process of its own: in the modern era only, in the legacy
one only, in both; in the clear and over TLS 1.3, as production is reached. The floor replays the very bytes
that driftwatch sent, recorded by a proxy in between, over bare asyncio streams and reads each answer to its
end, without looking at it. The client's shared HTTP client keeps its connection from run to run.
Contenders take turns, so that a noisy machine hurts all alike. Figures are process CPU: the server's work
does not count.
"""

import argparse
import asyncio
import contextlib
import multiprocessing
import ssl
import statistics
import time
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import trustme

from driftwatch.checks import Policy
from driftwatch.demo.sample import SampleServer
from driftwatch.judging import judge
from driftwatch.model import Depth, Trigger
from driftwatch.probe import SystemResolver, Target, TrustStore, probe
from driftwatch.web.server import HttpServer

Run = Callable[[], Awaitable[object]]


SERVERS: dict[str, Callable[[], SampleServer]] = {
    "modern only": partial(SampleServer, legacy=False),
    "legacy only": partial(SampleServer, modern=False),
    "dual era": SampleServer,
}


def serve(ready: Connection, make: Callable[[], SampleServer], certificate: Path | None = None) -> None:
    """Run the sample server until the process is ended, with a certificate over TLS too; sends its ports."""
    server = HttpServer("127.0.0.1", 0)

    async def run() -> None:
        ports = [server.port]
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            front = await asyncio.start_server(partial(forward, server.port), "127.0.0.1", 0, ssl=context)
            ports.append(front.sockets[0].getsockname()[1])
        ready.send(ports)
        await server.run(make().application)

    asyncio.run(run())


async def forward(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Pass a connection on to a port, both ways."""
    there, away = await asyncio.open_connection("127.0.0.1", port)

    async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
        try:
            while data := await source.read(65536):
                sink.write(data)
        finally:
            sink.close()

    await asyncio.gather(pump(reader, away), pump(there, writer), return_exceptions=True)


class Recorder:
    """A proxy that notes what each connection sends, request by request."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.dialogues: list[list[bytes]] = []
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, in a task that does not outlive the recording."""
        self._tasks.add(asyncio.create_task(self._serve(reader, writer)))

    async def stop(self) -> None:
        """End what is still open."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, away = await asyncio.open_connection(self.host, self.port)
        requests: list[bytes] = []
        self.dialogues.append(requests)
        answered = True

        async def outward() -> None:
            nonlocal answered
            while data := await reader.read(65536):
                if answered:
                    requests.append(b"")
                    answered = False
                requests[-1] += data
                away.write(data)
            away.write_eof()

        async def inward() -> None:
            nonlocal answered
            while data := await there.read(65536):
                answered = True
                writer.write(data)
            writer.close()

        try:
            await asyncio.gather(outward(), inward(), return_exceptions=True)
        finally:
            away.close()
            writer.close()


async def read_answer(reader: asyncio.StreamReader) -> None:
    """Read one HTTP/1.1 answer to its end."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    if b"transfer-encoding: chunked" in head:
        while size := int((await reader.readline()).split(b";")[0], 16):
            await reader.readexactly(size + 2)
        await reader.readline()
    elif b"content-length:" in head:
        await reader.readexactly(int(head.split(b"content-length:")[1].split(b"\r\n")[0]))


async def bare(host: str, port: int, tls: ssl.SSLContext | None, dialogues: list[list[bytes]]) -> None:
    """The recorded bytes over bare streams, one connection per recorded connection."""
    for requests in dialogues:
        reader, writer = await asyncio.open_connection(host, port, ssl=tls)
        for request in requests:
            writer.write(request)
            await read_answer(reader)
        writer.close()
        await writer.wait_closed()


async def cpu_ms(runs: dict[str, Run], rounds: int, repeat: int) -> dict[str, list[float]]:
    """The CPU of one run of each contender in milliseconds, in ``repeat`` batches of ``rounds``."""
    figures: dict[str, list[float]] = {name: [] for name in runs}
    for run_once in runs.values():
        for _ in range(5):
            await run_once()
    for _ in range(repeat):
        for name, run_once in runs.items():
            began = time.process_time()
            for _ in range(rounds):
                await run_once()
            figures[name].append((time.process_time() - began) / rounds * 1000)
    return figures


async def measure(
    name: str,
    url: str,
    *,
    rounds: int,
    repeat: int,
    depth: Depth,
    plain: str | None = None,
    roots: Path | None = None,
) -> None:
    """Print one table for one server; one over TLS is at ``plain`` too, where its dialogue is recorded."""
    parts, recorded = urlsplit(url), urlsplit(plain or url)
    host, port = parts.hostname or "127.0.0.1", parts.port or 80
    trust, resolver = TrustStore(), SystemResolver()
    tls = trust.get(ca_file=roots).context if parts.scheme == "https" else None

    async def run_once(address: str = url) -> object:
        return await probe(
            Target(name="bench", url=address, ca_file=roots),
            depth=depth,
            trigger=Trigger.MANUAL,
            trust=trust,
            resolver=resolver,
            now=lambda: datetime.now(UTC),
        )

    recorder = Recorder(recorded.hostname or host, recorded.port or 80)
    async with await asyncio.start_server(recorder, "127.0.0.1", 0) as proxy:
        await run_once(f"http://127.0.0.1:{proxy.sockets[0].getsockname()[1]}{parts.path}")
        await recorder.stop()
    dialogues = recorder.dialogues
    requests = sum(map(len, dialogues))

    async def judged() -> object:
        return judge(await run_once(), Policy())  # type: ignore[arg-type]

    contenders: dict[str, Run] = {
        "bare sockets, same bytes": lambda: bare(host, port, tls, dialogues),
        "driftwatch probe": run_once,
        "driftwatch probe and checks": judged,
        **mcp_clients(url, tls),
    }
    print(f"\n{name}, {depth.value}: {requests} requests on {len(dialogues)} connections")
    floor = 0.0
    for label, figures in (await cpu_ms(contenders, rounds, repeat)).items():
        median, best = statistics.median(figures), min(figures)
        floor = floor or median
        print(f"  {label:<42} {median:7.2f} ms CPU (best {best:.2f})  {median / floor:5.2f}x", flush=True)


def mcp_clients(url: str, tls: ssl.SSLContext | None) -> dict[str, Run]:
    """The official client over a shared HTTP client, in the clear a fresh one too; empty without it."""
    try:
        import httpx2  # noqa: PLC0415
        from mcp import Client  # noqa: PLC0415
        from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415
    except ImportError:
        print("(the official mcp client is not installed: pip install mcp)")
        return {}
    shared = httpx2.AsyncClient(verify=tls or True)

    async def fresh() -> object:
        async with Client(url) as client:
            return await client.list_tools()

    async def over_shared() -> object:
        async with Client(streamable_http_client(url, http_client=shared)) as client:
            return await client.list_tools()

    clients: dict[str, Run] = {"mcp client, shared HTTP client (2 requests)": over_shared}
    # A fresh one makes a client of its own, which knows nothing of the bench's certificate.
    return clients if tls else {**clients, "mcp client, fresh (2 requests)": fresh}


def main() -> None:
    """Measure a given server, or each kind of the sample server."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("url", nargs="?")
    parser.add_argument("--full", action="store_true", help="a full probe instead of a light one")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    depth = Depth.FULL if given.full else Depth.LIGHT
    table = partial(measure, rounds=given.rounds, repeat=given.repeat, depth=depth)
    if given.url:
        asyncio.run(table(given.url, given.url))
        return
    with TemporaryDirectory() as folder:
        authority = trustme.CA()
        certificate, roots = Path(folder, "server.pem"), Path(folder, "roots.pem")
        authority.issue_cert("127.0.0.1").private_key_and_cert_chain_pem.write_to_path(str(certificate))
        authority.cert_pem.write_to_path(str(roots))
        for name, make in SERVERS.items():
            with served(make, certificate) as (plain, secure):
                url, over_tls = f"http://127.0.0.1:{plain}/mcp", f"https://127.0.0.1:{secure}/mcp"
                asyncio.run(table(f"{name}, in the clear", url))
                asyncio.run(table(f"{name}, TLS 1.3", over_tls, plain=url, roots=roots))


@contextlib.contextmanager
def served(make: Callable[[], SampleServer], certificate: Path | None = None) -> Iterator[list[int]]:
    """The ports of a sample server in a process of its own: in the clear, and over TLS with a certificate."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(
        target=serve, args=(there, make, certificate), daemon=True
    )
    process.start()
    there.close()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


if __name__ == "__main__":
    main()
