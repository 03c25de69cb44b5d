"""Events, a clock that stands still, a store in memory, a sender that obeys, and receivers on loopback."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol, TypeVar

import pytest
from pydantic import SecretStr

from driftwatch.config import Channel
from driftwatch.model import Event, EventKind, Json, Level
from driftwatch.store.ports import (
    ClaimedMessage,
    DeliveryOutcome,
    DeliveryPlan,
    FrozenMessage,
    MessageRecord,
    MessageStatus,
    PendingDelivery,
    Settlement,
)

T = TypeVar("T")

NOON = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)


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


@dataclass
class StandingClock:
    """Time moves when a test says so; both clocks together."""

    wall: datetime = NOON
    ticks: float = 1000.0

    def now(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.ticks

    def advance(self, span: timedelta) -> None:
        self.wall += span
        self.ticks += span.total_seconds()


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@dataclass
class _Row:
    message: FrozenMessage
    status: MessageStatus = MessageStatus.PENDING
    attempts: int = 0
    owner: str | None = None
    until: datetime | None = None
    next_attempt_at: datetime | None = None
    possible_repeat: bool = False
    last: DeliveryOutcome | None = None
    error: str | None = None
    sent_at: datetime | None = None


class DiesError(BaseException):
    """The process is gone: nothing catches this."""


@dataclass
class MemoryStore:
    """The part of the store that an outbox uses, after the store's ports.

    ``dies_at`` names a commit ("freeze", "claim", "settle") right after which the process is gone; before
    ``settle`` it is gone before the commit when the name is "send".
    """

    clock: Callable[[], datetime]
    events: dict[str, Event] = field(default_factory=dict)
    waiting: list[DeliveryPlan] = field(default_factory=list)
    rows: dict[str, _Row] = field(default_factory=dict)
    dies_at: str | None = None
    calls: list[str] = field(default_factory=list)

    async def transact(self, work: Callable[["MemoryStore"], T]) -> T:
        del self.calls[:]
        result = work(self)
        if self.dies_at in self.calls:
            raise DiesError(self.dies_at)
        return result

    async def query(self, work: Callable[["MemoryStore"], T]) -> T:
        return work(self)

    # Tx

    def record_event(self, event: Event, deliveries: Sequence[DeliveryPlan]) -> None:
        self.events.setdefault(event.id, event)
        self.waiting.extend(deliveries)

    def pending_deliveries(
        self, now: datetime, limit: int = 500, channel: str | None = None
    ) -> list[PendingDelivery]:
        due = {plan.channel for plan in self.waiting if plan.not_before <= now}
        rows = [plan for plan in self.waiting if plan.channel in due and channel in (None, plan.channel)]
        return [
            PendingDelivery(event=self.events[plan.event], channel=plan.channel, not_before=plan.not_before)
            for plan in rows[:limit]
        ]

    def freeze(self, message: FrozenMessage) -> bool:
        if message.id in self.rows:
            return False
        self.calls.append("freeze")
        self.rows[message.id] = _Row(message)
        self.waiting = [
            plan
            for plan in self.waiting
            if plan.channel != message.channel or plan.event not in message.events
        ]
        return True

    def claim(self, owner: str, lease: timedelta, channels: Sequence[str]) -> ClaimedMessage | None:
        now = self.clock()
        for name in channels:
            rows = [
                row for row in self._of(name) if row.status in (MessageStatus.PENDING, MessageStatus.SENDING)
            ]
            if not rows:
                continue
            row = min(rows, key=lambda row: row.message.created_at)
            held = row.status is MessageStatus.SENDING and row.until is not None and row.until > now
            if held or (row.next_attempt_at is not None and row.next_attempt_at > now):
                continue
            self.calls.append("claim")
            row.possible_repeat |= row.status is MessageStatus.SENDING or row.last is DeliveryOutcome.UNKNOWN
            row.status, row.owner, row.until = MessageStatus.SENDING, owner, now + lease
            row.attempts += 1
            return ClaimedMessage(
                message=row.message,
                owner=owner,
                attempts=row.attempts,
                lease=lease,
                possible_repeat=row.possible_repeat,
            )
        return None

    def settle(self, claim: ClaimedMessage, settlement: Settlement) -> bool:
        if self.dies_at == "send":
            raise DiesError("send")
        row = self.rows[claim.message.id]
        if (row.owner, row.attempts, row.status) != (claim.owner, claim.attempts, MessageStatus.SENDING):
            return False
        self.calls.append("settle")
        row.owner = row.until = None
        row.last, row.error = settlement.outcome, settlement.error
        row.next_attempt_at = settlement.next_attempt_at
        if settlement.outcome is DeliveryOutcome.SENT:
            row.status, row.sent_at = MessageStatus.SENT, settlement.at
        else:
            row.status = MessageStatus.PENDING if settlement.next_attempt_at else MessageStatus.DEAD
        return True

    def drop_channels(self, keep: Sequence[str], now: datetime) -> int:
        gone = [plan for plan in self.waiting if plan.channel not in keep]
        self.waiting = [plan for plan in self.waiting if plan.channel in keep]
        return len(gone)

    # Reader

    def messages(self, status: MessageStatus | None = None, limit: int = 100) -> list[MessageRecord]:
        rows = [row for row in self.rows.values() if status in (None, row.status)]
        return [
            MessageRecord(
                message=row.message,
                status=row.status,
                attempts=row.attempts,
                next_attempt_at=row.next_attempt_at,
                last_error=row.error,
                sent_at=row.sent_at,
                possible_repeat=row.possible_repeat,
            )
            for row in reversed(rows)
        ][:limit]

    def _of(self, channel: str) -> Iterator[_Row]:
        return (row for row in self.rows.values() if row.message.channel == channel)


@pytest.fixture
def memory_store(clock: StandingClock) -> MemoryStore:
    return MemoryStore(clock=clock.now)


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
    open: set[asyncio.StreamWriter] = field(default_factory=set)

    def url(self, scheme: str = "json", path: str = "/secret-path-1234") -> str:
        return f"{scheme}://127.0.0.1:{self.port}{path}"

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open.add(writer)
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            request = await _read_request(reader)
            self.received.append(request)
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
