"""The guard over a real store: whose probes count, who is hurried, what a restart remembers."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from driftwatch.alerts.route import ChannelRule
from driftwatch.guard import AGAIN, NetworkGuard
from driftwatch.model import Depth, Event, EventKind, Level, ProbeRequest, Trigger
from driftwatch.store.sqlite import SqliteStore
from driftwatch.transitions import Memory
from tests.clocks import StandingClock
from tests.store.world import schedule, server
from tests.transitions.timeline import HEALTHY, Timeline, View, down

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)


@dataclass
class Desk:
    """A guard that is shown what servers answer."""

    store: SqliteStore
    clock: StandingClock
    names: tuple[str, ...]
    with_canary: bool = True
    canary: bool = True
    asked: int = 0
    memories: dict[str, Memory] = field(default_factory=dict)

    def __post_init__(self) -> None:
        with self.store.write() as tx:
            tx.import_servers([server(name, START + HOUR) for name in self.names], START)
        self.restart()

    def restart(self) -> None:
        self.guard = NetworkGuard(
            store=self.store,
            clock=self.clock,
            hosts={name: f"{name}.example" for name in self.names},
            channels=[ChannelRule(name="ops", min_level=Level.ERROR, tags=("elsewhere",))],
            canary=self._canary if self.with_canary else None,
        )

    async def _canary(self) -> bool:
        self.asked += 1
        return self.canary

    async def probe(
        self, name: str, view: View, depth: Depth = Depth.LIGHT, trigger: Trigger = Trigger.INTERVAL
    ) -> bool:
        """Whether the probe met driftwatch's own network."""
        self.clock.advance(timedelta(seconds=1))
        report = Timeline(now=self.clock.now()).report(view, depth, trigger)
        report = replace(report, server=name, reachable=view is HEALTHY)
        request = ProbeRequest(server=name, due_at=self.clock.now(), trigger=trigger, depth=depth)
        return await self.guard.is_ours(request, report, self.memories.get(name))

    async def each(self, view: View) -> list[bool]:
        return [await self.probe(name, view) for name in self.names]

    def events(self) -> list[Event]:
        with self.store.read() as reader:
            return reader.events(kinds=[EventKind.MONITOR_OFFLINE])[::-1]

    def due(self, name: str) -> timedelta:
        with self.store.read() as reader:
            record = reader.server(name)
        assert record
        return record.next_due_at - self.clock.now()


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore(tmp_path / "driftwatch.db")) as store:
        store.migrate()
        yield store


@pytest.mark.parametrize("number", [1, 2])
async def test_a_small_fleet_that_is_down_is_down(store: SqliteStore, number: int) -> None:
    desk = Desk(store, StandingClock(START), tuple("abc"[:number]), canary=False)
    assert await desk.each(down()) == [False] * number
    assert await desk.each(down("timeout")) == [False] * number
    assert desk.asked == 0


async def test_the_third_host_shows_it_and_the_probe_is_made_again(store: SqliteStore) -> None:
    desk = Desk(store, StandingClock(START), tuple("abc"), canary=False)
    assert await desk.each(down()) == [False, False, True]
    assert desk.due("c") <= AGAIN
    assert await desk.each(down()) == [True] * 3
    (began,) = desk.events()
    assert (began.level, began.alerts, began.details["failed"]) == (Level.ERROR, True, 3)
    with store.write() as tx:
        waiting = tx.pending_deliveries(desk.clock.now())
    assert [item.event.id for item in waiting] == [began.id], "whatever tags a channel wants"


async def test_it_is_over_when_the_canary_answers_and_says_for_how_long(store: SqliteStore) -> None:
    desk = Desk(store, StandingClock(START), tuple("abc"), canary=False)
    await desk.each(down())
    desk.clock.advance(HOUR)
    desk.canary = True
    assert not await desk.probe("a", down())
    began, over = desk.events()
    assert over.details == {"over": True, "duration_s": pytest.approx(3600, abs=5)}
    assert over.since == began.since
    assert desk.guard.settled(None) is None


async def test_while_the_canary_answers_nobody_is_hurried(store: SqliteStore) -> None:
    desk = Desk(store, StandingClock(START), tuple("abcdefghij"), canary=True)
    assert not await desk.probe("a", down())
    assert desk.asked == 1
    assert all(desk.due(name) > timedelta(0) for name in desk.names)


async def test_while_only_some_fail_nothing_waits(store: SqliteStore) -> None:
    desk = Desk(store, StandingClock(START), tuple("abcdefghij"), canary=False)
    assert not await desk.probe("a", down())
    for name in "bcdefgh":
        assert not await desk.probe(name, HEALTHY)
    assert not await desk.probe("i", down())
    assert not await desk.probe("j", down())
    assert desk.events() == []


async def test_three_of_many_wait_for_witnesses_who_are_probed_at_once(store: SqliteStore) -> None:
    desk = Desk(store, StandingClock(START), tuple("abcdefghij"), with_canary=False)
    for name in "abc":
        assert not await desk.probe(name, down())
    hurried = [name for name in desk.names if desk.due(name) <= timedelta(0)]
    assert len(hurried) == 8
    assert "a" not in hurried
    for name in hurried:
        assert not await desk.probe(name, HEALTHY)
    assert desk.events() == []


async def test_without_a_canary_every_host_has_to_fail_and_the_first_answer_ends_it(
    store: SqliteStore,
) -> None:
    desk = Desk(store, StandingClock(START), tuple("abc"), with_canary=False)
    assert await desk.each(down()) == [False, False, True]
    assert not await desk.probe("b", HEALTHY)
    assert not await desk.probe("a", down())
    assert [event.details["over"] for event in desk.events()] == [False, True]


async def test_a_restart_in_the_middle_of_it_changes_nothing(store: SqliteStore) -> None:
    desk = Desk(store, StandingClock(START), tuple("abc"), canary=False)
    await desk.each(down())
    desk.restart()
    assert await desk.each(down()) == [True] * 3
    desk.restart()
    assert not await desk.probe("a", HEALTHY)
    began, over = desk.events()
    assert over.since == began.since
    desk.restart()
    assert await desk.each(HEALTHY) == [False] * 3
    assert len(desk.events()) == 2


async def test_servers_that_were_down_before_say_nothing(store: SqliteStore) -> None:
    desk = Desk(store, StandingClock(START), tuple("abcd"), with_canary=False)
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, down())
    assert timeline.memory
    desk.memories = dict.fromkeys("bcd", timeline.memory)
    assert await desk.each(down()) == [False] * 4
    assert desk.events() == []


async def test_a_full_probe_and_a_deploy_are_made_again_as_what_they_were(store: SqliteStore) -> None:
    desk = Desk(store, StandingClock(START), tuple("abc"), canary=False)
    await desk.each(down())
    assert await desk.probe("a", down(), depth=Depth.FULL)
    assert await desk.probe("b", down(), trigger=Trigger.DEPLOY)
    desk.clock.advance(AGAIN)
    with store.write() as tx:
        taken = {
            (item.server, item.trigger, item.depth) for item in tx.take_due(desk.clock.now(), 9, schedule)
        }
    assert ("a", Trigger.INTERVAL, Depth.FULL) in taken
    assert ("b", Trigger.DEPLOY, Depth.LIGHT) in taken
