"""From the announcement of a deploy to the message in the channel's hands.

    python bench/deploy.py [--deploys N]

A whole service in this process, on the machine's clock: the webhook over HTTP, a sample server whose tools
change with every deploy, ``delay = 0``, one agreeing read, and a channel that notes when it was handed a
message. Said are the whole time and how much of it was the probe of the server.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import httpx

from driftwatch import config as configuration
from driftwatch.app import Outside, Service
from driftwatch.clock import SystemClock
from driftwatch.demo.sample import SampleServer
from driftwatch.model import Level, Trigger
from driftwatch.probe import SystemResolver
from driftwatch.store.ports import DeliveryOutcome, RunSummary
from driftwatch.store.sqlite import SqliteStore
from driftwatch.web.server import HttpServer

TOKEN = "b3nch-t0ken-0123456789"
CONFIG = """\
[[server]]
name = "bookshop"
url = "http://127.0.0.1:{port}/mcp"

[[alert]]
name = "bench"
url = "json://127.0.0.1:9/"
pace = {{ per_second = 100, per_hour = 100000 }}

[hook]
tokens = ["{token}"]
delay = "0s"
reads = 1
rate = "1000/min"

[http]
listen = "127.0.0.1:0"
"""


@dataclass
class Noting:
    """A channel that notes when it is handed a message."""

    handed: asyncio.Queue[float] = field(default_factory=asyncio.Queue)

    async def send(
        self,
        url: str,  # noqa: ARG002
        *,
        title: str,  # noqa: ARG002
        body: str,  # noqa: ARG002
        html: str | None,  # noqa: ARG002
        level: Level,  # noqa: ARG002
        message_id: str,  # noqa: ARG002
        timeout: float,  # noqa: ARG002, ASYNC109
    ) -> tuple[DeliveryOutcome, str | None]:
        """Note the time."""
        self.handed.put_nowait(time.perf_counter())
        return DeliveryOutcome.SENT, None


async def measure(deploys: int, folder: Path) -> tuple[list[float], list[float]]:
    """The whole time of each deploy, and of its probe, in seconds."""
    sample, http, channel = SampleServer("v1"), HttpServer("127.0.0.1", 0), Noting()
    path = folder / "config.toml"
    path.write_text(CONFIG.format(port=http.port, token=TOKEN), encoding="utf-8")
    serving = asyncio.create_task(http.run(sample.application))
    outside = Outside(clock=SystemClock(), resolver=SystemResolver(), sender=channel)
    service = Service(configuration.load(path, {}), outside)
    running = asyncio.create_task(service.run())
    await service.ready()
    reading = SqliteStore.open_readonly(folder / "driftwatch.db")
    whole = []
    try:
        while not _runs(reading):  # noqa: ASYNC110 - rows of a database wake nobody
            await asyncio.sleep(0.1)  # the baseline is not made yet
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{service.port}", headers=headers) as client:
            for number in range(deploys):
                sample.deploy("v2" if number % 2 == 0 else "v1")
                began = time.perf_counter()
                answer = await client.post("/hooks/deploy", json={"ref": f"r{number}"})
                answer.raise_for_status()
                whole.append(await channel.handed.get() - began)
        probes = [run.duration_s for run in _runs(reading) if run.trigger == Trigger.DEPLOY]
    finally:
        reading.close()
        service.stop()
        await running
        http.stop()
        await serving
    return whole, probes


def _runs(store: SqliteStore) -> list[RunSummary]:
    with store.read() as reader:
        return reader.runs("bookshop", limit=1000)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deploys", type=int, default=50)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        whole, probes = asyncio.run(measure(arguments.deploys, Path(folder)))
    beside = sorted(total - probe for total, probe in zip(whole, reversed(probes), strict=True))
    print(f"{len(whole)} deploys, announced over HTTP to handed to the channel")
    for name, values in (("whole", whole), ("the probe", probes), ("driftwatch's own", beside)):
        worst = max(values)
        print(f"  {name:<18} median {statistics.median(values):.3f} s, worst {worst:.3f} s")


if __name__ == "__main__":
    main()
