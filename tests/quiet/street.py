"""A street of servers, a service that watches them without sockets, and a clock that a test moves."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from pydantic import SecretStr

from driftwatch import actions, checks, transitions
from driftwatch.alerts.outbox import Outbox
from driftwatch.alerts.route import ChannelRule
from driftwatch.alerts.wording import Voice
from driftwatch.config import Alerts, Channel
from driftwatch.evidence import Evidence
from driftwatch.model import Depth, Event, EventKind, ProbeRequest, Trigger
from driftwatch.observe import Observer, Watched
from driftwatch.probe import Target
from driftwatch.schedule.reminders import Reminders
from driftwatch.schedule.resuming import Resuming
from driftwatch.store.ports import Delivery, DeliveryOutcome, MessageRecord, Reader, ServerRecord, Tx
from driftwatch.store.sqlite import SqliteStore
from tests.checks.factories import evidence, shut
from tests.clocks import StandingClock

T = TypeVar("T")

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
"""A Monday."""

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)

UP, DOWN, REFUSED = evidence(), shut("timeout"), shut("refused")


@dataclass
class Postman:
    """Takes every message while its round is open."""

    taken: list[dict[str, Any]] = field(default_factory=list)
    open: bool = True

    async def send(self, url: str, **message: Any) -> tuple[DeliveryOutcome, str | None]:
        if not self.open:
            return DeliveryOutcome.FAILED, "closed"
        self.taken.append({"url": url, **message})
        return DeliveryOutcome.SENT, None


class Street:
    """Servers ``api`` (tag prod) and ``lab``, and what the service does about them."""

    def __init__(
        self,
        path: Path,
        *,
        start: datetime = NOON,
        alerts: Alerts | None = None,
        channels: Sequence[Channel] = (),
    ) -> None:
        self.path = path
        self.clock = StandingClock(start)
        self.alerts = alerts or Alerts()
        self.channels = tuple(channels) or (channel("ops"),)
        self.servers: dict[str, tuple[str, ...]] = {"api": ("prod",), "lab": ()}
        self.policy = transitions.Policy(confirm=1, reminder=self.alerts.reminder)
        self.postman = Postman()
        self.seen: dict[str, Evidence] = dict.fromkeys(self.servers, UP)
        self.store = SqliteStore(path, clock=self.clock.now)
        self.store.migrate()
        with self.store.write() as tx:
            tx.import_servers([_record(name, tags, start) for name, tags in self.servers.items()], start)
        self.restart()

    def restart(self) -> None:
        """Another process on the same database."""
        rules = [ChannelRule.of(item) for item in self.channels]
        self.outbox = Outbox(
            store=self.store,
            sender=self.postman,
            channels=self.channels,
            clock=self.clock,
            voice=Voice(),
            group_wait=self.alerts.group_wait,
            jitter=lambda: 0.5,
        )
        watched = {
            name: Watched(
                target=Target(name=name, url=f"https://{name}.example/mcp"),
                tags=tags,
                revision="r1",
                checks=checks.Policy(),
                transitions=self.policy,
            )
            for name, tags in self.servers.items()
        }
        self.observer = Observer(
            watched=watched,
            store=self.store,
            prober=self._probe,
            clock=self.clock,
            channels=rules,
            group_wait=self.alerts.group_wait,
            windows=self.alerts.windows,
        )
        reminders = Reminders(
            store=self.store,
            clock=self.clock,
            watched=watched,
            channels=rules,
            windows=self.alerts.windows,
            full_intervals={},
            told=lambda: None,
        )
        self.chores: list[Callable[[], Any]] = [
            Resuming(store=self.store, clock=self.clock, alerts=lambda: self.alerts, told=lambda: None).run,
            reminders.run,
            reminders.look_for_stale,
        ]

    async def _probe(self, target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        seen = self.seen[target.name]
        return replace(seen, server=target.name, taken_at=self.clock.now(), depth=depth, trigger=trigger)

    async def probe(self, server: str = "api", seen: Evidence | None = None) -> None:
        """One probe now; what was seen stays so."""
        self.seen[server] = seen or self.seen[server]
        self.clock.advance(SECOND)
        request = ProbeRequest(
            server=server, due_at=self.clock.now(), trigger=Trigger.INTERVAL, depth=Depth.LIGHT
        )
        assert await self.observer.observe(request) is not None

    async def wait(self, span: timedelta = MINUTE, *, step: timedelta | None = None) -> list[str]:
        """Let time pass, in steps in which the chores and the outbox work; the titles that arrived."""
        before, end = len(self.postman.taken), self.clock.now() + span
        while self.clock.now() < end:
            self.clock.advance(min(step or span, end - self.clock.now()))
            await self.work()
        return [message["title"].removeprefix("[driftwatch] ") for message in self.postman.taken[before:]]

    async def work(self) -> None:
        """What a running service does now."""
        for chore in self.chores:
            await chore()
        await self.outbox.run_once()

    def act(self, work: Callable[[Tx], T]) -> T:
        with self.store.write() as tx:
            return work(tx)

    def read(self, question: Callable[[Reader], T]) -> T:
        with self.store.read() as reader:
            return question(reader)

    def silence(self, *servers: str, lasting: timedelta = 2 * HOUR, **how: Any) -> str:
        now = self.clock.now()
        return self.act(
            lambda tx: actions.silence(
                tx, servers=servers, lasting=lasting, reason="maintenance", by="ann", now=now, **how
            )
        ).id

    def unsilence(self, silence: str) -> None:
        self.act(lambda tx: actions.unsilence(tx, silence, by="ann", now=self.clock.now()))

    def ack(self, named: str = "api") -> None:
        self.act(lambda tx: actions.ack(tx, named, by="ann", now=self.clock.now()))

    def events(self, *kinds: EventKind) -> list[Event]:
        return self.read(lambda reader: reader.events(limit=10_000, kinds=kinds))

    def deliveries(self, event: str) -> list[Delivery]:
        return self.read(lambda reader: reader.deliveries(event))

    def messages(self) -> list[MessageRecord]:
        return self.read(lambda reader: reader.messages(None, 10_000))


def channel(name: str, **settings: Any) -> Channel:
    pace = {"per_second": 100, "per_hour": 100_000}
    url = SecretStr(f"json://127.0.0.1:9/{name}")
    return Channel.model_validate({"name": name, "url": url, "pace": pace, **settings})


def _record(name: str, tags: tuple[str, ...], due: datetime) -> ServerRecord:
    return ServerRecord(
        name=name,
        url=f"https://{name}.example/mcp",
        host=f"{name}.example:443",
        credential="anonymous",
        revision="r1",
        next_due_at=due,
        next_full_at=due,
        tags=tags,
    )
