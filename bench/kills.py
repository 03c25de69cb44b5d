"""Nothing is lost and no repeat is unlabelled, whenever the process is killed.

    python bench/kills.py [--kills 200] [--seed N]

A process observes servers that change at every other probe and tells two channels, on a real database and
over real HTTP; one channel is down a third of the time, and both sometimes take a message and hang up without
an answer. SIGKILL comes at a random moment, and another process goes on. Time runs a hundred times as fast,
so that leases and retries are over in a moment. At the end everything is counted: what happened, what was
written about it, and what arrived.
"""

import argparse
import asyncio
import contextlib
import logging
import os
import random
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from pydantic import SecretStr

from driftwatch import checks, transitions
from driftwatch.alerts.deliver import MESSAGE_HEADER, AppriseSender
from driftwatch.alerts.outbox import Outbox
from driftwatch.alerts.route import ChannelRule
from driftwatch.alerts.services import validate
from driftwatch.config import Channel
from driftwatch.evidence import Evidence
from driftwatch.model import Depth, Trigger
from driftwatch.observe import Observer, Watched
from driftwatch.probe import Target
from driftwatch.store.ports import MessageStatus, Schedule, ServerRecord
from driftwatch.store.sqlite import SqliteStore
from tests.checks.factories import evidence, shut

START = datetime(2026, 3, 1, tzinfo=UTC)
FASTER = 100
SERVERS = tuple(f"api-{number}" for number in range(6))
INTERVAL = timedelta(seconds=20)
GROUP_WAIT = timedelta(seconds=5)
CHANNELS = ("steady", "shaky")


@dataclass(frozen=True)
class FastClock:
    """A clock that all processes share."""

    began: float

    def now(self) -> datetime:
        """The wall time."""
        return START + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Seconds since the beginning."""
        return (time.monotonic() - self.began) * FASTER


@dataclass(frozen=True)
class Scene:
    """What the processes have in common."""

    folder: Path
    port: int
    clock: FastClock

    @property
    def arrivals(self) -> Path:
        """One line for each message that reached a receiver."""
        return self.folder / "arrivals"

    @property
    def calm(self) -> Path:
        """Exists when the receivers have no more moods."""
        return self.folder / "calm"

    def store(self) -> SqliteStore:
        """The database, opened by this process."""
        return SqliteStore(self.folder / "driftwatch.db", clock=self.clock.now)

    def channels(self) -> list[Channel]:
        """The two channels, without a pace that would matter."""
        pace = {"per_second": 100, "per_hour": 1000}
        return [
            Channel.model_validate(
                {"name": name, "url": SecretStr(f"json://127.0.0.1:{self.port}/{name}"), "pace": pace}
            )
            for name in CHANNELS
        ]


class Receivers(ThreadingHTTPServer):
    """Whoever hangs up, or is killed, is no news."""

    def handle_error(self, *_: object) -> None:
        """Say nothing."""


class Receiver(BaseHTTPRequestHandler):
    """Two receivers, by path; whatever reaches them is written down before it is answered."""

    scene: Scene
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Take a message, or be down, or hang up without an answer."""
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        channel, calm = self.path.strip("/"), self.scene.calm.exists()
        if not calm and channel == "shaky" and int(time.monotonic() / 2) % 3 == 0:
            self.send_response(503)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        label = "repeat" if "possible repeat" in body else "first"
        with self.scene.arrivals.open("a") as file:
            file.write(f"{channel} {self.headers[MESSAGE_HEADER]} {label}\n")
        if not calm and random.random() < 0.03:
            self.close_connection = True
            self.connection.close()
            return
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


async def work(scene: Scene) -> None:
    """One life of the service; killed, or over when the receivers are calm and everything has arrived."""
    store, clock = scene.store(), scene.clock
    rules = [ChannelRule.of(channel) for channel in scene.channels()]

    async def probe(target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        seen = evidence() if random.random() < 0.5 else shut("refused")
        return replace(seen, server=target.name, taken_at=clock.now(), depth=depth, trigger=trigger)

    watched = {
        name: Watched(
            target=Target(name=name, url=f"https://{name}.example/mcp"),
            tags=(),
            revision="r1",
            checks=checks.Policy(),
            transitions=transitions.Policy(confirm=1, flap_count=1_000_000),
        )
        for name in SERVERS
    }
    observer = Observer(
        watched=watched, store=store, prober=probe, clock=clock, channels=rules, group_wait=GROUP_WAIT
    )
    outbox = Outbox(
        store=store,
        sender=AppriseSender(secrets=()),
        channels=scene.channels(),
        clock=clock,
        group_wait=GROUP_WAIT,
    )
    while True:
        calm = scene.calm.exists()
        if not calm:
            now = clock.now()
            for request in await store.transact(lambda tx: tx.take_due(now, 10, _schedule)):  # noqa: B023
                await observer.observe(request)
                await outbox.run_once()
        await outbox.run_once()
        if calm and not await _waits(store, clock.now() + GROUP_WAIT):
            store.close()
            return
        await asyncio.sleep(0.01)


async def _waits(store: SqliteStore, until: datetime) -> bool:
    statuses = (MessageStatus.PENDING, MessageStatus.SENDING)
    if await store.query(lambda reader: any(reader.messages(status, 1) for status in statuses)):
        return True
    return bool(await store.transact(lambda tx: tx.pending_deliveries(until, 1)))


def _schedule(_: ServerRecord, now: datetime) -> Schedule:
    return Schedule(next_due_at=now + INTERVAL, next_full_at=now + INTERVAL)


def live(scene: Scene) -> int:
    """Start a life; its process id."""
    child = os.fork()
    if child == 0:
        with contextlib.suppress(BaseException):
            asyncio.run(work(scene))
            os._exit(0)
        os._exit(1)
    return child


@contextlib.contextmanager
def receivers(scene: Scene, server: ThreadingHTTPServer) -> Iterator[None]:
    """The receivers, in a process that nobody kills."""
    Receiver.scene = scene
    child = os.fork()
    if child == 0:
        server.serve_forever()
        os._exit(0)
    try:
        yield
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def play(scene: Scene, kills: int, chance: random.Random) -> None:
    """So many lives that end by SIGKILL, and one that comes to its end."""
    for _ in range(kills):
        child = live(scene)
        time.sleep(chance.uniform(0.05, 2.0))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    scene.calm.touch()
    _, status = os.waitpid(live(scene), 0)
    if status:
        raise SystemExit("the last life did not come to its end")


def count(scene: Scene) -> dict[str, int]:
    """What happened, what was written about it and what arrived."""
    store = scene.store()
    with store.read() as reader:
        events = [event for event in reader.events(limit=1_000_000) if event.alerts]
        messages = reader.messages(limit=1_000_000)[::-1]
        runs = sum(len(reader.runs(name, limit=1_000_000)) for name in SERVERS)
    written = Counter(
        (message.message.channel, id_) for message in messages for id_ in message.message.events
    )
    arrived: dict[str, list[str]] = {name: [] for name in CHANNELS}
    unlabelled = repeats = 0
    for line in scene.arrivals.read_text().splitlines():
        channel, id_, label = line.split()
        if id_ in arrived[channel]:
            repeats += 1
            unlabelled += label != "repeat"
        else:
            arrived[channel].append(id_)
    sent = {message.message.id for message in messages if message.status is MessageStatus.SENT}
    order = [
        [message.message.id for message in messages if message.message.channel == name] != arrived[name]
        for name in CHANNELS
    ]
    faults = store.check()
    store.close()
    return {
        "probes recorded": runs,
        "events": len(events),
        "messages": len(messages),
        "attempts": sum(message.attempts for message in messages),
        "arrivals": sum(map(len, arrived.values())) + repeats,
        "repeats, labelled": repeats - unlabelled,
        "repeats, unlabelled": unlabelled,
        "events lost": sum((name, event.id) not in written for name in CHANNELS for event in events),
        "events in two messages": sum(number > 1 for number in written.values()),
        "messages lost": len(sent - {id_ for ids in arrived.values() for id_ in ids})
        + len(messages)
        - len(sent),
        "channels out of order": sum(order),
        "faults of the database": len(faults),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    logging.disable()
    validate("json://localhost")  # loads Apprise, for every process that is forked from here
    with tempfile.TemporaryDirectory() as name:
        server = Receivers(("127.0.0.1", 0), Receiver)
        scene = Scene(Path(name), server.server_port, FastClock(time.monotonic()))
        scene.arrivals.touch()
        store = scene.store()
        store.migrate()
        due = scene.clock.now()
        with store.write() as tx:
            tx.import_servers([_record(each, due) for each in SERVERS], due)
        store.close()
        began = time.monotonic()
        with receivers(scene, server):
            play(scene, options.kills, random.Random(options.seed))
        print(f"{options.kills} kills in {time.monotonic() - began:.0f} s")
        for what, number in count(scene).items():
            print(f"{what:26}{number:8}")


def _record(name: str, due: datetime) -> ServerRecord:
    return ServerRecord(
        name=name,
        url=f"https://{name}.example/mcp",
        host=f"{name}.example:443",
        credential="anonymous",
        revision="r1",
        next_due_at=due,
        next_full_at=due,
    )


if __name__ == "__main__":
    main()
