"""A server behind a load balancer, and a service that watches it over sockets with a clock that jumps."""

import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

from driftwatch import checks, deploys, transitions
from driftwatch.alerts.route import ChannelRule
from driftwatch.model import Event, EventKind, Release
from driftwatch.observe import Observer, Watched
from driftwatch.probe import SystemResolver, Target, prober
from driftwatch.store.ports import HookDelivery, Schedule, ServerRecord
from driftwatch.store.sqlite import SqliteStore
from tests.clocks import StandingClock
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json, Mcp, tool
from tests.specimens.running import running

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)

OLD = tuple(tool(name) for name in ("add", "find", "list", "read"))
NEW = (*OLD[:2], tool("keep"), *OLD[2:])
NEWER = (*NEW, tool("zap", description="Another one."))

Tools = tuple[Json, ...]
Turn = Callable[[Incoming, int, str], int]
"""Which instance answers: a request, the number of its connection, the session that it may begin."""


def _per_request() -> Turn:
    turn = count()
    return lambda _, __, ___: next(turn)


def _per_list() -> Turn:
    turn = count()
    return lambda incoming, _, __: next(turn) if incoming.rpc_method == "tools/list" else 0


def _per_connection() -> Turn:
    return lambda _, connection, __: connection


def _per_session() -> Turn:
    turn = count()
    bound: dict[str, int] = {}

    def chosen(incoming: Incoming, connection: int, begins: str) -> int:
        session = incoming.headers.get("mcp-session-id")
        if incoming.rpc_method == "initialize":
            return bound.setdefault(begins, next(turn))
        return connection if session is None else bound.get(session, 0)

    return chosen


def sessions_at_random(share: float, seed: int) -> Turn:
    """Each session has an instance of its own; what belongs to none meets the first."""
    dice = random.Random(seed)
    bound: dict[str, int] = {}

    def chosen(incoming: Incoming, _: int, begins: str) -> int:
        session = (
            begins if incoming.rpc_method == "initialize" else incoming.headers.get("mcp-session-id", "")
        )
        return bound.setdefault(session, int(dice.random() < share)) if session else 0

    return chosen


def _at_random(share: float, seed: int) -> Turn:
    dice = random.Random(seed)
    return lambda _, __, ___: 1 if dice.random() < share else 0


def connections_at_random(share: float, seed: int) -> Turn:
    dice = random.Random(seed)
    bound: dict[int, int] = {}
    return lambda _, connection, __: bound.setdefault(connection, 1 if dice.random() < share else 0)


TURNS: dict[str, Callable[[], Turn]] = {
    "request": _per_request,
    "list": _per_list,
    "connection": _per_connection,
    "session": _per_session,
    "half-of-requests": lambda: _at_random(0.5, 1),
    "tenth-of-requests": lambda: _at_random(0.1, 2),
    "half-of-connections": lambda: connections_at_random(0.5, 5),
    "tenth-of-connections": lambda: connections_at_random(0.1, 4),
}


@dataclass
class Balanced:
    """A server behind a load balancer: its instances, and who answers."""

    mcp: Mcp
    instances: list[Tools] = field(default_factory=lambda: [OLD])
    spoken: list[dict[str, Any]] = field(default_factory=lambda: [{}])
    """How each instance differs in what it speaks."""
    turn: Turn = lambda _, __, ___: 0
    connection: int = 0
    once: Callable[[int], Tools] | None = None
    """Another list at every read, in the place of the instances."""
    reads: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.speaks = {
            name: getattr(self.mcp, name) for name in ("modern", "legacy", "revisions", "supported")
        }
        self.mcp.greet = self._greet
        self.mcp.before = self._choose

    def _greet(self, number: int) -> tuple[()]:
        self.connection = number
        return ()

    def _choose(self, mcp: Mcp, incoming: Incoming) -> Answer | None:
        if self.once is not None:
            if incoming.rpc_method == "tools/list":
                mcp.tools = self.once(next(self.reads))
        else:
            begins = f"s3cret-session-{mcp.issued + 1}"
            turn = self.turn(incoming, self.connection, begins)
            mcp.tools = self.instances[turn % len(self.instances)]
            for name, value in {**self.speaks, **self.spoken[turn % len(self.spoken)]}.items():
                setattr(mcp, name, value)
        return None


class Watch:
    """A service that watches the server over sockets, and a clock that jumps to whatever is due."""

    def __init__(self, store: SqliteStore, clock: StandingClock, url: str, server: Balanced) -> None:
        self.store = store
        self.clock = clock
        self.server = server
        target = Target(name="api", url=url, negative_probes=False)
        policy = transitions.Policy()
        watched = Watched(target=target, tags=(), revision="r1", checks=checks.Policy(), transitions=policy)
        self.observer = Observer(
            watched={"api": watched},
            store=store,
            prober=prober(clock=clock, resolver=SystemResolver()),
            clock=clock,
            channels=[ChannelRule(name="ops")],
            group_wait=timedelta(seconds=30),
        )

    def deploy(self) -> Release:
        """Announce a release, now."""
        now = self.clock.now()
        release = Release(id="r1", ref="v2", received_at=now, servers=("api",))
        delivery = HookDelivery(id="d1", body_sha256="", received_at=now)
        with self.store.write() as tx:
            tx.announce(delivery, release, deploys.probes(release, delay=SECOND), debounce=SECOND)
        return release

    async def watch(self, span: timedelta) -> list[Event]:
        """Make every probe that is due in this time; what was told."""
        begun, end = self.clock.now(), self.clock.now() + span
        while True:
            with self.store.read() as reader:
                due = reader.next_due()
            assert due is not None
            if due >= end:
                self.clock.advance(end - self.clock.now())
                break
            self.clock.advance(max(due - self.clock.now(), timedelta(0)))
            with self.store.write() as tx:
                (request,) = tx.take_due(self.clock.now(), 1, _schedule)
            assert await self.observer.observe(request) is not None
        with self.store.read() as reader:
            told = reader.events("api", limit=1000, since=begun)
        return [event for event in reversed(told) if event.alerts]


def _schedule(record: ServerRecord, now: datetime) -> Schedule:
    full = now + HOUR if record.next_full_at <= now else record.next_full_at
    return Schedule(next_due_at=now + HOUR / 4, next_full_at=full)


@asynccontextmanager
async def watching(path: Path, mcp: Mcp | None = None) -> AsyncIterator[Watch]:
    """A service that has known the server with its first release for an hour."""
    server, clock = Balanced(mcp or Mcp()), StandingClock(START)
    store = SqliteStore(path / "driftwatch.db", clock=clock.now)
    store.migrate()
    try:
        async with running(server.mcp) as here:
            record = ServerRecord(
                name="api",
                url=here.loopback.url("/mcp"),
                host="127.0.0.1",
                credential="anonymous",
                revision="r1",
                next_due_at=START,
                next_full_at=START,
            )
            with store.write() as tx:
                tx.import_servers([record], START)
            watch = Watch(store, clock, here.loopback.url("/mcp"), server)
            assert await watch.watch(HOUR) == []
            yield watch
    finally:
        store.close()


def lines(events: list[Event]) -> list[str]:
    return [f"{event.kind} {event.subject}: {event.after}" for event in events]


def about_tools(events: list[Event]) -> list[str]:
    """What was told as a change of the tools, or of the eras' lists."""
    return [
        line
        for event, line in zip(events, lines(events), strict=True)
        if event.kind in {EventKind.TOOLSET_CHANGED, EventKind.TOOLSET_RETURNED, EventKind.FLAPPING}
        or event.subject == "check:mcp/era-coverage"
    ]
