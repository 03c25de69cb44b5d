"""Events, a clock that stands still, a store that can die, a sender that obeys, receivers on loopback."""

import asyncio
import contextlib
import shutil
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, TypeVar, cast
from zoneinfo import ZoneInfo

import pytest
from pydantic import SecretStr

from driftwatch.alerts.compose import TEXT_LIMIT, compose
from driftwatch.alerts.route import ChannelRule
from driftwatch.alerts.wording import Voice
from driftwatch.config import Channel
from driftwatch.errors import StoreError
from driftwatch.model import Event, EventKind, Json, Level
from driftwatch.store.ports import (
    DeliveryOutcome,
    DeliveryPlan,
    MessageRecord,
    MessageStatus,
    Reader,
    ServerRecord,
    Tx,
)
from driftwatch.store.sqlite import SqliteStore
from tests.alerts.house import House
from tests.alerts.told import FIXES, NOON, Message
from tests.clocks import StandingClock

T = TypeVar("T")


class EventMaker(Protocol):
    def __call__(
        self,
        kind: EventKind,
        level: Level = ...,
        *,
        server: str | None = ...,
        subject: str | None = ...,
        before: str | None = ...,
        after: str | None = ...,
        at: datetime = ...,
        since: datetime | None = ...,
        alerts: bool = ...,
        **details: Json,
    ) -> Event: ...


@pytest.fixture
def event() -> EventMaker:
    """Events numbered in the order of their making; first seen a minute before they were confirmed."""
    made = iter(range(1, 1_000_000))

    def make(
        kind: EventKind,
        level: Level = Level.ERROR,
        *,
        server: str | None = "api-prod",
        subject: str | None = "check:transport/endpoint",
        before: str | None = "verified",
        after: str | None = "failed:refused",
        at: datetime = NOON,
        since: datetime | None = None,
        alerts: bool = True,
        **details: Json,
    ) -> Event:
        return Event(
            id=f"00000000-0000-4000-8000-{next(made):012}",
            server=server,
            kind=kind,
            level=level,
            alerts=alerts,
            at=at,
            run="run-1",
            subject=subject,
            before=before,
            after=after,
            since=since or at - timedelta(minutes=1),
            details=details,
        )

    return make


@pytest.fixture
def message() -> Message:
    """The message that a chat channel gets, title first."""

    def write(*events: Event) -> str:
        voice = Voice(zone=ZoneInfo("Europe/Berlin"), fixes=FIXES.get)
        composed = compose(events, ChannelRule(name="ops", scheme="slack"), voice=voice)
        assert len(composed.body) <= TEXT_LIMIT
        return f"{composed.title}\n\n{composed.body}\n"

    return write


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock(NOON)


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("database") / "empty.db"
    with closing(SqliteStore(path)) as store:
        store.migrate()
    return path


class DiesError(BaseException):
    """The process is gone; nothing catches this."""


class MortalStore:
    """The real store in a process that can be ended.

    ``dies_after`` names the call ("freeze", "claim", "settle") whose commit is the last thing that happens;
    ``dies_before`` the call that is not reached any more. ``faults`` is how many transactions the database
    refuses from now on, by call.
    """

    dies = DiesError

    def __init__(self, store: SqliteStore) -> None:
        self.real = store
        self.dies_after: str | None = None
        self.dies_before: str | None = None
        self.faults: dict[str, int] = {}
        self._servers: dict[str, None] = {}

    async def transact(self, work: Callable[[Tx], T]) -> T:
        calls: list[str] = []
        result = await self.real.transact(lambda tx: work(cast("Tx", _Watched(tx, self, calls))))
        if self.dies_after in calls:
            raise DiesError(self.dies_after)
        return result

    async def query(self, work: Callable[[Reader], T]) -> T:
        return await self.real.query(work)

    def record(self, *events: Event, plans: Sequence[DeliveryPlan]) -> None:
        self._servers |= {event.server: None for event in events if event.server}
        with self.real.write() as tx:
            tx.import_servers([_server(name) for name in self._servers], NOON)
            for event in events:
                tx.record_event(event, [plan for plan in plans if plan.event == event.id])

    def messages(self, status: MessageStatus | None = None) -> list[MessageRecord]:
        """Oldest first."""
        with self.real.read() as reader:
            return reader.messages(status, 1000)[::-1]

    def events(self) -> list[Event]:
        with self.real.read() as reader:
            return reader.events(limit=1000)


def _server(name: str) -> ServerRecord:
    return ServerRecord(
        name=name,
        url=f"https://{name}.example/mcp",
        host=f"{name}.example:443",
        credential="anonymous",
        revision="1",
        next_due_at=NOON,
        next_full_at=NOON,
    )


class _Watched:
    def __init__(self, tx: Tx, store: MortalStore, calls: list[str]) -> None:
        self._tx, self._store, self._calls = tx, store, calls

    def __getattr__(self, name: str) -> Any:
        if self._store.dies_before == name:
            raise DiesError(name)
        if self._store.faults.get(name):
            self._store.faults[name] -= 1
            raise StoreError("the disk is full")
        call = getattr(self._tx, name)

        def watched(*args: Any, **named: Any) -> Any:
            result = call(*args, **named)
            if result:
                self._calls.append(name)
            return result

        return watched


@pytest.fixture
def store(empty_database: Path, tmp_path: Path, clock: StandingClock) -> Iterator[MortalStore]:
    path = tmp_path / "driftwatch.db"
    shutil.copy(empty_database, path)
    with closing(SqliteStore(path, clock=clock.now)) as real:
        yield MortalStore(real)


@dataclass
class ObedientSender:
    """Remembers what it was given, and answers what it was told to, the last answer for ever."""

    answers: list[tuple[DeliveryOutcome, str | None]] = field(
        default_factory=lambda: [(DeliveryOutcome.SENT, None)]
    )
    sent: list[dict[str, Any]] = field(default_factory=list)
    before: Callable[[], None] = lambda: None

    async def send(self, url: str, **message: Any) -> tuple[DeliveryOutcome, str | None]:
        self.before()
        self.sent.append({"url": url, **message})
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def sender() -> ObedientSender:
    return ObedientSender()


@pytest.fixture
def channel() -> Callable[..., Channel]:
    def make(name: str = "ops", **settings: Any) -> Channel:
        url = settings.pop("url", f"json://127.0.0.1:9/{name}-secret")
        pace = {"per_second": 100, "per_hour": 1000}
        return Channel.model_validate({"name": name, "url": SecretStr(url), "pace": pace, **settings})

    return make


@pytest.fixture
def house(store: Any, sender: Any, clock: Any, channel: Callable[..., Channel]) -> House:
    return House(store, sender, clock, [channel("ops")])


@pytest.fixture
def two(store: Any, sender: Any, clock: Any, channel: Callable[..., Channel]) -> House:
    """A house with two channels."""
    return House(store, sender, clock, [channel("ops"), channel("mail")])


@dataclass
class Received:
    """One request that reached a receiver."""

    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Receiver:
    """An HTTP receiver; ``manner`` decides how it answers."""

    manner: str = "ok"
    port: int = 0
    received: list[Received] = field(default_factory=list)
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    open: set[asyncio.StreamWriter] = field(default_factory=set)

    def url(self, scheme: str = "json", path: str = "/secret-path-1234") -> str:
        return f"{scheme}://127.0.0.1:{self.port}{path}"

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            request = await _read_request(reader)
            self.received.append(request)
            self.reached.set()
            await self._answer(request, reader, writer)
        self.open.discard(writer)
        writer.close()

    async def _answer(
        self, request: Received, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        match self.manner:
            case "hang":
                await reader.read()
            case "drip":
                for byte in b"HTTP/1.1 200 OK\r\n" + b"X-Slow: yes\r\n" * 10_000:
                    writer.write(bytes([byte]))
                    await writer.drain()
                    await asyncio.sleep(0.01)
            case "die":
                pass
            case "garbage":
                writer.write(b"\x00\x01\x02 nonsense\r\n\r\n")
                await writer.drain()
            case "redirect" if not request.path.startswith("/elsewhere"):
                writer.write(
                    b"HTTP/1.1 307 Temporary Redirect\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"
                )
                await writer.drain()
            case status if status.isdigit():
                writer.write(f"HTTP/1.1 {status} Status\r\nContent-Length: 0\r\n\r\n".encode())
                await writer.drain()
            case _:
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                await writer.drain()


async def _read_request(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode()
    request, *lines = head.rstrip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return Received(path=request.split()[1], headers=headers, body=body)


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    served = Receiver()
    server = await asyncio.start_server(served, "127.0.0.1", 0)
    served.port = server.sockets[0].getsockname()[1]
    yield served
    server.close()
    for writer in list(served.open):
        writer.transport.abort()
    await server.wait_closed()
