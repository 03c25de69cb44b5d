"""A database with servers in it, a clock that tests own, and short ways to write what happens."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol

import sqlalchemy

from driftwatch.model import (
    Certificate,
    Depth,
    Era,
    Event,
    EventKind,
    Fingerprint,
    Json,
    Level,
    ProbeRequest,
    Report,
    Result,
    State,
    SurfaceSummary,
    Trigger,
)
from driftwatch.store.ports import (
    DeliveryOutcome,
    DeliveryPlan,
    FrozenMessage,
    Pruned,
    Retention,
    RunRecord,
    Schedule,
    ServerRecord,
    Settlement,
    Store,
)
from driftwatch.toolset import ToolsetRecord
from driftwatch.transitions import Changes, Incident, Interval, SubjectState

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
INTERVAL = 15 * MINUTE
FULL_INTERVAL = 6 * HOUR


@dataclass
class Clock:
    """The database's clock."""

    time: datetime = START

    def __call__(self) -> datetime:
        return self.time

    def advance(self, span: timedelta) -> datetime:
        self.time += span
        return self.time


class Database(Protocol):
    """One database of some kind."""

    def open(self) -> Store:
        """Another process's handle on it; closed at the end of the test."""


@dataclass
class World:
    """A store and what a test does with it."""

    store: Store
    clock: Clock
    database: Database
    runs: int = field(default=0)

    def add(self, *names: str, due: datetime | None = None, **changes: Any) -> None:
        with self.store.write() as tx:
            tx.import_servers([server(name, due or self.clock(), **changes) for name in names], self.clock())

    @contextmanager
    def statements(self) -> Iterator[list[str]]:
        """The SQL that is sent in write transactions meanwhile."""
        sent: list[str] = []

        def note(_: object, __: object, statement: str, *___: object) -> None:
            sent.append(statement)

        engine = self.store._writing  # type: ignore[attr-defined]
        sqlalchemy.event.listen(engine, "before_cursor_execute", note)
        yield sent
        sqlalchemy.event.remove(engine, "before_cursor_execute", note)

    def take(self, limit: int = 100, busy: Sequence[str] = ()) -> list[ProbeRequest]:
        with self.store.write() as tx:
            return tx.take_due(self.clock(), limit, schedule, busy)

    def enqueue(self, *requests: ProbeRequest) -> list[bool]:
        """Whether each of them was not there yet."""
        with self.store.write() as tx:
            return [tx.enqueue(item) for item in requests]

    def waiting(self) -> list[ProbeRequest]:
        with self.store.read() as reader:
            return reader.waiting_requests()

    def next_due(self) -> datetime | None:
        with self.store.read() as reader:
            return reader.next_due()

    def row(self, name: str = "api") -> ServerRecord:
        with self.store.read() as reader:
            record = reader.server(name)
        assert record is not None
        return record

    def record(
        self,
        name: str = "api",
        changes: Changes | None = None,
        plans: Sequence[DeliveryPlan] = (),
        **how: Any,
    ) -> RunRecord:
        """One probe, now, with what it changes."""
        self.runs += 1
        how.setdefault("taken_at", self.clock())
        record = run(name, id_=f"run-{self.runs}", **how)
        with self.store.write() as tx:
            tx.lock_server(name)
            assert tx.record_run(record)
            tx.apply(name, changes or Changes(), plans)
        return record

    def tell(self, id_: str, *channels: str, wait: timedelta = timedelta(0), **changes: Any) -> Event:
        """An event that goes to the channels."""
        happened = event(id_, at=self.clock(), **changes)
        plans = [
            DeliveryPlan(event=id_, channel=channel, not_before=self.clock() + wait) for channel in channels
        ]
        with self.store.write() as tx:
            tx.record_event(happened, plans)
        return happened

    def freeze(self, id_: str, channel: str, *events: str) -> FrozenMessage:
        frozen = message(id_, channel, *events, created_at=self.clock())
        with self.store.write() as tx:
            assert tx.freeze(frozen)
        return frozen

    def prune(self, keep: timedelta = 90 * DAY, max_bytes: int = 2**40, batch: int = 5000) -> Pruned:
        policy = Retention(keep=keep, max_bytes=max_bytes, now=self.clock(), batch=batch)
        return self.store.prune(policy)


def server(name: str, due: datetime, **changes: Any) -> ServerRecord:
    values: dict[str, Any] = {
        "url": f"https://{name}.example/mcp",
        "host": f"{name}.example:443",
        "credential": "token",
        "revision": "r1",
        "next_due_at": due,
        "next_full_at": due,
        "tags": ("prod",),
    }
    return ServerRecord(name=name, **(values | changes))


def schedule(record: ServerRecord, now: datetime) -> Schedule:
    full = record.next_full_at
    return Schedule(next_due_at=now + INTERVAL, next_full_at=full if full > now else now + FULL_INTERVAL)


def request(name: str, due_at: datetime, trigger: Trigger = Trigger.INTERVAL, **changes: Any) -> ProbeRequest:
    values: dict[str, Any] = {"depth": Depth.LIGHT}
    return ProbeRequest(server=name, due_at=due_at, trigger=trigger, **(values | changes))


def run(
    name: str,
    *,
    id_: str,
    taken_at: datetime,
    asked: ProbeRequest | None = None,
    toolsets: Sequence[ToolsetRecord] = (),
    certificate: Certificate | None = None,
    results: Sequence[Result] = (),
    reachable: bool = True,
) -> RunRecord:
    asked = asked or request(name, taken_at)
    report = Report(
        driftwatch="0",
        server=name,
        url=f"https://{name}.example/mcp",
        taken_at=taken_at,
        depth=asked.depth,
        trigger=asked.trigger,
        duration_s=0.25,
        requests=5,
        reachable=reachable,
        credential="token",
        surfaces=tuple(
            SurfaceSummary(
                era=Era(toolset.era),
                revision=toolset.revision,
                tools=len(toolset.tools),
                pages=1,
                complete=True,
                server_info=None,
                fingerprint=toolset.fingerprint,
            )
            for toolset in toolsets
        ),
        certificate=certificate,
        results=tuple(results),
    )
    return RunRecord(id=id_, request=asked, report=report, toolsets=tuple(toolsets))


def results(**counts: int) -> list[Result]:
    return [
        Result(check=f"family/{state}-{number}", state=State(state))
        for state, count in counts.items()
        for number in range(count)
    ]


def fingerprint(word: str) -> Fingerprint:
    return Fingerprint(algorithm="dw1", contract=word, surface="0", checklist=None)


def toolset(
    word: str,
    *tools: Json,
    era: str = "modern",
    credential: str = "token",
    instructions: str | None = None,
) -> ToolsetRecord:
    """A tool list of which the fingerprint is a word."""
    tools = tools or tuple({"name": letter, "inputSchema": {"type": "object"}} for letter in word)
    return ToolsetRecord(
        era=era,
        credential=credential,
        revision="2026-07-28",
        fingerprint=fingerprint(word),
        tools=tools,
        instructions=instructions,
        per_tool=tuple((str(tool.get("name")), f"digest-{number}") for number, tool in enumerate(tools)),
    )


def state(subject: str, confirmed: str, at: datetime = START, **changes: Any) -> SubjectState:
    values: dict[str, Any] = {"confirmed_since": at, "last_observed_at": at, "accepted": confirmed}
    return SubjectState(subject=subject, confirmed=confirmed, **(values | changes))


def confirmed(word: str, at: datetime, era: str = "modern", **changes: Any) -> Changes:
    """What makes a tool list the confirmed one."""
    subject, pair = f"toolset:{era}:token", fingerprint(word).pair
    return Changes(
        states=(state(subject, pair, at, **changes),),
        intervals=(Interval(subject=subject, value=pair, since=at),),
    )


def incident(id_: str, subject: str, opened_at: datetime, **changes: Any) -> Incident:
    values: dict[str, Any] = {"opening_event": f"event-of-{id_}", "value": "failed:dns"}
    return Incident(id=id_, subject=subject, opened_at=opened_at, **(values | changes))


def event(id_: str, *, at: datetime = START, server: str | None = "api", **changes: Any) -> Event:
    values: dict[str, Any] = {"kind": EventKind.CHANGE, "level": Level.ERROR, "alerts": True, "run": None}
    return Event(id=id_, server=server, at=at, **(values | changes))


def message(
    id_: str, channel: str, *events: str, created_at: datetime = START, **changes: Any
) -> FrozenMessage:
    values: dict[str, Any] = {"title": f"title of {id_}", "body": f"body of {id_}", "level": Level.ERROR}
    return FrozenMessage(
        id=id_, channel=channel, created_at=created_at, events=tuple(events), **(values | changes)
    )


def certificate(leaf: str, not_after: datetime, **changes: Any) -> Certificate:
    values: dict[str, Any] = {
        "issuer": "CN=Test",
        "subject_alt_names": ("api.example", "*.api.example"),
        "version": "TLSv1.3",
        "chain_length": 2,
        "serial": "01",
    }
    return Certificate(
        not_before=not_after - 90 * DAY, not_after=not_after, leaf_sha256=leaf, **(values | changes)
    )


def sent(at: datetime) -> Settlement:
    return Settlement(outcome=DeliveryOutcome.SENT, at=at)


def failed(
    at: datetime,
    retry: timedelta | None = MINUTE,
    outcome: DeliveryOutcome = DeliveryOutcome.FAILED,
    error: str = "refused",
) -> Settlement:
    return Settlement(outcome=outcome, at=at, next_attempt_at=at + retry if retry else None, error=error)


def together(*works: Callable[[], object]) -> None:
    """Run in as many threads, all at the same moment; the first error is raised here."""
    barrier = threading.Barrier(len(works))

    def start(work: Callable[[], object]) -> None:
        barrier.wait()
        work()

    with ThreadPoolExecutor(len(works)) as threads:
        for result in [threads.submit(start, work) for work in works]:
            result.result()
