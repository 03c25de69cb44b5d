"""What holds for every history: of three servers, two channels, a restless clock, a database that fails."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import SecretStr

from driftwatch import checks, transitions
from driftwatch.alerts.outbox import Outbox
from driftwatch.alerts.route import ChannelRule
from driftwatch.config import Channel
from driftwatch.errors import StoreError
from driftwatch.evidence import Evidence
from driftwatch.guard import NetworkGuard
from driftwatch.model import Depth, Era, Event, EventKind, ProbeRequest, Trigger
from driftwatch.observe import CONFIRMED, Observer, Watched
from driftwatch.probe import Target
from driftwatch.schedule.certificates import CertificateDates
from driftwatch.store.ports import DeliveryOutcome, MessageStatus, Tx
from driftwatch.store.sqlite import SqliteStore
from tests.checks.factories import NOW, certificate, evidence, shut, surface, tls, tool
from tests.clocks import StandingClock
from tests.store.world import server

SERVERS = ("one", "two", "three")
WAIT = timedelta(seconds=30)
HOUR_S = 3600
OLD = tls(certificate=certificate(leaf_sha256="old", not_before=NOW, not_after=NOW + timedelta(days=20)))
NEW = tls(certificate=certificate(leaf_sha256="new", not_before=NOW, not_after=NOW + timedelta(days=90)))
VIEWS = {
    "well": evidence(tls=OLD),
    "renewed": evidence(tls=NEW),
    "changed": evidence(surface(Era.MODERN, tool("other")), surface(Era.LEGACY, tool("other")), tls=OLD),
    "dns": shut("dns"),
    "timeout": shut("timeout"),
    "http-5xx": shut("http-5xx"),
}


@dataclass
class Life:
    """A service that is restarted at will, and everybody around it."""

    store: SqliteStore
    clock: StandingClock
    view: Evidence = VIEWS["well"]
    moods: dict[str, DeliveryOutcome] = field(default_factory=dict)
    arrived: list[tuple[str, str, bool]] = field(default_factory=list)
    last: ProbeRequest | None = None

    def __post_init__(self) -> None:
        self.channels = [
            Channel.model_validate(
                {
                    "name": name,
                    "url": SecretStr(f"json://127.0.0.1:9/{name}"),
                    "pace": {"per_second": 100, "per_hour": 1000},
                }
            )
            for name in ("ops", "mail")
        ]
        with self.store.write() as tx:
            tx.import_servers([server(name, NOW) for name in SERVERS], NOW)
        self.restart()

    def restart(self) -> None:
        watched = {
            name: Watched(
                target=Target(name=name, url=f"https://{name}.example/mcp"),
                tags=(),
                revision="r1",
                checks=checks.Policy(),
                transitions=transitions.Policy(gap=timedelta(hours=1)),
            )
            for name in SERVERS
        }
        rules = [ChannelRule.of(channel) for channel in self.channels]
        self.observer = Observer(
            watched=watched,
            store=self.store,
            prober=self._probe,
            clock=self.clock,
            channels=rules,
            group_wait=WAIT,
            guard=NetworkGuard(
                store=self.store, clock=self.clock, hosts={name: name for name in SERVERS}, channels=rules
            ),
        )
        self.dates = CertificateDates(
            store=self.store,
            clock=self.clock,
            watched=watched,
            channels=rules,
            group_wait=WAIT,
            told=lambda: None,
        )
        self.outbox = Outbox(
            store=self.store, sender=self, channels=self.channels, clock=self.clock, jitter=lambda: 0.5
        )

    async def _probe(self, target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        return replace(self.view, server=target.name, taken_at=self.clock.now(), depth=depth, trigger=trigger)

    async def send(
        self, url: str, *, message_id: str, body: str, **_: Any
    ) -> tuple[DeliveryOutcome, str | None]:
        mood = self.moods.get(url.rpartition("/")[2], DeliveryOutcome.SENT)
        if mood is not DeliveryOutcome.FAILED:
            self.arrived.append((url, message_id, "possible repeat" in body))
        return mood, None if mood is DeliveryOutcome.SENT else mood.value

    def confirmed(self) -> dict[tuple[str, str], str]:
        with self.store.read() as reader:
            memories = {name: reader.memory(name) for name in SERVERS}
        return {
            (name, subject): state.confirmed
            for name, memory in memories.items()
            if memory
            for subject, state in memory.states.items()
        }

    def events(self) -> list[Event]:
        with self.store.read() as reader:
            return reader.events(limit=10_000)

    # --- what may happen

    async def probe(self, name: str, view: str, times: int) -> None:
        for _ in range(times):
            self.clock.advance(timedelta(seconds=20))
            self.view = VIEWS[view]
            self.last = ProbeRequest(
                server=name, due_at=self.clock.now(), trigger=Trigger.INTERVAL, depth=Depth.FULL
            )
            before = self.confirmed()
            if await self.observer.observe(self.last) is None:
                assert self.confirmed() == before, "an inconclusive probe moved a state"

    async def cut_off(self) -> None:
        for _ in range(3):
            for name in SERVERS:
                await self.probe(name, "dns", 1)

    async def replay(self) -> None:
        if self.last is not None:
            before, said = self.confirmed(), len(self.events())
            with self.store.read() as reader:
                known = any(run.taken_at == self.last.due_at for run in reader.runs(self.last.server))
            if known:
                await self.observer.observe(self.last)
                assert (self.confirmed(), len(self.events())) == (before, said), "a replay did something"

    async def fault(self, name: str, view: str) -> None:
        before, said = self.confirmed(), len(self.events())
        transact = self.store.transact

        async def full(_: Callable[[Tx], Any]) -> Any:
            raise StoreError("the disk is full")

        self.store.transact = full  # type: ignore[assignment, method-assign]
        await self.probe(name, view, 1)
        self.store.transact = transact  # type: ignore[method-assign]
        assert (self.confirmed(), len(self.events())) == (before, said), "a storage fault moved a state"

    async def deliver(self) -> None:
        self.clock.advance(timedelta(seconds=31))
        await self.outbox.run_once()

    async def drain(self) -> None:
        self.moods.clear()
        for _ in range(8):
            self.clock.advance(timedelta(seconds=2 * HOUR_S))
            await self.outbox.run_once()

    async def end(self) -> None:
        self.restart()
        await self.drain()


names, views = st.sampled_from(SERVERS), st.sampled_from(list(VIEWS))
moods = st.sampled_from(DeliveryOutcome).filter(lambda mood: mood is not DeliveryOutcome.REJECTED)
steps = st.one_of(
    st.tuples(st.just("probe"), names, views, st.integers(1, 4)),
    st.tuples(st.just("probe"), names, views, st.just(3)),
    st.tuples(st.just("fault"), names, views),
    st.tuples(st.just("pass"), st.sampled_from([60, 3600, 86_400, 5 * 86_400])),
    st.tuples(st.just("step"), st.sampled_from([-3600, 3600])),
    st.tuples(st.just("mood"), st.sampled_from(["ops", "mail"]), moods),
    st.tuples(st.sampled_from(["deliver", "restart", "replay", "dates", "cut_off"])),
)


async def walk(life: Life, history: Sequence[tuple[Any, ...]]) -> None:
    for what, *how in history:
        match what:
            case "pass":
                if how[0] > HOUR_S:
                    await life.drain()  # what is undelivered for three days is given up, and told so
                life.clock.advance(timedelta(seconds=how[0]))
            case "step":
                life.clock.wall += timedelta(seconds=how[0])
            case "mood":
                life.moods[how[0]] = how[1]
            case "restart":
                life.restart()
            case "dates":
                await life.dates.run()
            case _:
                await getattr(life, what)(*how)
    await life.end()


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(steps, max_size=14))
def test_the_invariants_hold(history: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        clock = StandingClock(NOW)
        with closing(SqliteStore(Path(folder) / "driftwatch.db", clock=clock.now)) as store:
            store.migrate()
            life = Life(store, clock)
            asyncio.run(walk(life, history))
            check(life)


def check(life: Life) -> None:
    events = {event.id: event for event in life.events()}
    with life.store.read() as reader:
        messages = reader.messages(limit=10_000)[::-1]
        stretches = [item for name in SERVERS for item in reader.intervals(name, limit=10_000)]
    confirming = Counter(
        (event.run, event.subject) for event in events.values() if event.kind in CONFIRMED and event.subject
    )
    assert set(confirming.values()) <= {1}, "I1: a confirmed change has one event"
    assert {item.event for item in stretches if item.event} <= set(events), "I1"
    told = Counter((record.message.channel, id_) for record in messages for id_ in record.message.events)
    alerting = {event.id for event in events.values() if event.alerts}
    assert told == Counter({(name, id_): 1 for name in ("ops", "mail") for id_ in alerting}), "I2, I3, I7"
    assert {record.status for record in messages} <= {MessageStatus.SENT}
    for event in events.values():
        incident = event.details.get("incident")
        if event.kind is EventKind.RECOVERY and event.alerts and incident:
            assert any(
                other.alerts
                and (other.details.get("incident") == incident or other.kind is EventKind.ADDED_WITH_PROBLEMS)
                for other in events.values()
                if other.server == event.server and other.id != event.id
            ), "I4: a recovery has a beginning that was told"
    reminders = Counter(
        (event.server, event.details["leaf_sha256"], event.details["threshold_days"])
        for event in events.values()
        if event.kind is EventKind.TLS_REMINDER
    )
    assert set(reminders.values()) <= {1}, "I5: a threshold of a certificate is told once"
    seen: set[tuple[str, str]] = set()
    for url, message, labelled in life.arrived:
        assert labelled or (url, message) not in seen, "an unlabelled repeat"
        seen.add((url, message))
    assert len(seen) == len(messages), "every message arrived"
