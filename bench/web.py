"""Server time of pages and API on a large fleet's database, and how long others wait meanwhile.

    python bench/fleet_db.py fleet.db
    python bench/web.py fleet.db [--rounds 20]

Each address is asked for without a network in between: wall and CPU time from the request to the last byte of
the answer, the median of so many rounds. ``largest pause`` is the longest time in which the event loop, which
also probes and answers health checks, could do nothing else.
"""

import argparse
import asyncio
import statistics
import time
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from driftwatch import config as configuration
from driftwatch.clock import SystemClock
from driftwatch.store.sqlite import SqliteStore
from driftwatch.web.application import application
from driftwatch.web.context import Context
from driftwatch.web.health import Health
from driftwatch.web.vitals import Vitals

SERVER = "server-00500"
"""One with drift."""

ADDRESSES = (
    "/api/v1/servers?limit=50",
    "/api/v1/servers?limit=200",
    "/api/v1/servers?limit=200&state=failed",
    f"/api/v1/servers/{SERVER}",
    f"/api/v1/servers/{SERVER}/history?limit=200",
    f"/api/v1/servers/{SERVER}/runs?limit=200",
    f"/api/v1/servers/{SERVER}/diff",
    f"/api/v1/servers/{SERVER}/toolset",
    "/api/v1/events?limit=200",
    "/api/v1/events?limit=200&kind=test",
    "/api/v1/messages?limit=200",
    "/",
    "/?state=failed&page=2",
    f"/servers/{SERVER}",
    f"/servers/{SERVER}?days=90",
    f"/servers/{SERVER}/diff",
    "/events",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("path", type=Path)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    asyncio.run(measure(options.path, options.rounds))


async def measure(path: Path, rounds: int) -> None:
    store = SqliteStore(path)
    store.migrate()
    clock = SystemClock()
    vitals = Vitals(started_at=clock.now(), config_loaded_at=clock.now())
    config = configuration.adhoc("https://bench.example/mcp")
    health = Health(migrated=True, tick_age_s=0, database=True, oldest_message_s=None)
    app = application(
        Context(
            config=lambda: config,
            store=lambda: store,
            health=lambda: health,
            vitals=lambda: vitals,
            clock=clock,
            wake=lambda: None,
        )
    )
    print(f"{'address':48} {'status':>6} {'bytes':>9} {'wall ms':>8} {'CPU ms':>7} {'largest pause ms':>17}")
    for address in ADDRESSES:
        found = [await ask(app, address) for _ in range(rounds)]
        status, size = found[-1][:2]
        wall, cpu, pause = (statistics.median(each[place] for each in found) for place in (2, 3, 4))
        print(f"{address:48} {status:6} {size:9} {wall:8.1f} {cpu:7.1f} {pause:17.1f}")
    store.close()


async def ask(app: ASGIApp, address: str) -> tuple[int, int, float, float, float]:
    """Status, bytes, wall time, CPU time of all threads, largest pause of the loop; times in ms."""
    answered: list[MutableMapping[str, Any]] = []
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "scheme": "http",
        "http_version": "1.1",
        "server": ("127.0.0.1", 8080),
        "client": ("127.0.0.1", 50_000),
        "headers": [(b"host", b"127.0.0.1:8080")],
    }

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        answered.append(message)

    pauses: list[float] = []
    watching = asyncio.create_task(watch(pauses))
    await asyncio.sleep(0)
    wall, cpu = time.perf_counter(), time.process_time()
    await app(scope, receive, send)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    await asyncio.sleep(0.002)
    watching.cancel()
    size = sum(len(message.get("body", b"")) for message in answered)
    return answered[0]["status"], size, 1000 * wall, 1000 * cpu, 1000 * max(pauses, default=0)


async def watch(pauses: list[float]) -> None:
    """Note how much later than asked for the loop comes back."""
    while True:
        before = time.perf_counter()
        await asyncio.sleep(0.001)
        pauses.append(time.perf_counter() - before - 0.001)


if __name__ == "__main__":
    main()
