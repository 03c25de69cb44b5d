"""One host, several servers: who is looked at soon when one of them goes down or comes back."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from driftwatch import checks, transitions
from driftwatch.evidence import Evidence
from driftwatch.model import Depth, ProbeRequest, Trigger
from driftwatch.observe import Observer, Watched
from driftwatch.probe import Target
from driftwatch.store.ports import Schedule, ServerRecord
from driftwatch.store.sqlite import SqliteStore
from tests.checks.factories import evidence, shut
from tests.clocks import StandingClock
from tests.store.world import server

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
URLS = {
    "one": "https://mcp.example:8443/one",
    "two": "https://mcp.example:8443/two",
    "third": "https://mcp.example/third",
    "elsewhere": "https://other.example/mcp",
}


@dataclass
class Desk:
    """An observer of servers that answer, or do not, as a test says."""

    store: SqliteStore
    clock: StandingClock = field(default_factory=lambda: StandingClock(START))
    down: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        with self.store.write() as tx:
            tx.import_servers([server(name, START + DAY) for name in URLS], START)
        self.observer = Observer(
            watched={
                name: Watched(
                    target=Target(name=name, url=url),
                    tags=(),
                    revision="r1",
                    checks=checks.Policy(),
                    transitions=transitions.Policy(),
                )
                for name, url in URLS.items()
            },
            store=self.store,
            prober=self._probe,
            clock=self.clock,
            channels=[],
            group_wait=timedelta(seconds=30),
        )

    async def _probe(self, target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        seen = shut("refused") if target.name in self.down else evidence()
        return replace(seen, server=target.name, taken_at=self.clock.now(), depth=depth, trigger=trigger)

    async def probe(self, *names: str) -> set[str]:
        """Probe some servers, one after the other; who is to be probed at once after that."""
        for name in names:
            self.clock.advance(timedelta(seconds=1))
            request = ProbeRequest(
                server=name, due_at=self.clock.now(), trigger=Trigger.INTERVAL, depth=Depth.LIGHT
            )
            assert await self.observer.observe(request) is not None
        with self.store.write() as tx:
            taken = tx.take_due(self.clock.now(), 99, _in_a_day)
            for request in taken:
                tx.request_done(request)
        return {request.server for request in taken} - set(names)


def _in_a_day(record: ServerRecord, now: datetime) -> Schedule:
    return Schedule(next_due_at=now + DAY, next_full_at=now + DAY)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    with closing(SqliteStore(tmp_path / "driftwatch.db")) as store:
        store.migrate()
        yield Desk(store)


async def test_when_a_server_fails_again_all_on_its_host_are_looked_at(desk: Desk) -> None:
    await desk.probe(*URLS)
    desk.down = {"one", "two", "third"}
    assert await desk.probe("one") == set(), "once may be a hiccup"
    assert await desk.probe("one") == {"two", "third"}, "whatever port they have"


async def test_who_was_seen_failing_already_is_not_hurried(desk: Desk) -> None:
    await desk.probe(*URLS)
    desk.down = {"one", "two", "third"}
    assert await desk.probe("one", "two", "one") == {"third"}


async def test_when_a_server_is_back_those_that_were_down_with_it_are_looked_at(desk: Desk) -> None:
    await desk.probe(*URLS)
    desk.down = {"one", "two"}
    for _ in range(3):
        await desk.probe("one", "two", "third")
    desk.down = set()
    assert await desk.probe("one") == {"two"}


async def test_a_crowded_host_is_looked_at_in_part(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftwatch.observe.neighbours.MOST_AT_ONCE", 1)
    await desk.probe(*URLS)
    desk.down = {"one", "two", "third"}
    assert await desk.probe("one", "one") == {"two"}


async def test_servers_that_go_up_and_down_do_not_hurry_each_other_all_the_time(desk: Desk) -> None:
    await desk.probe(*URLS)
    hurried = []
    for _ in range(10):
        desk.down = {"one"}
        hurried.append(await desk.probe("one", "one"))
        desk.down = set()
        await desk.probe("one", "two", "third")
    assert hurried == [{"two", "third"}] + [set()] * 9


FLEET = {name: f"https://{name}.example/mcp" for name in ("one", "two", "three", "four", "five")}


async def test_when_several_hosts_go_down_or_come_back_everybody_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "URLS", FLEET)
    with closing(SqliteStore(tmp_path / "driftwatch.db")) as store:
        store.migrate()
        desk = Desk(store)
        await desk.probe(*FLEET)
        desk.down = {"one", "two", "three", "four"}
        assert await desk.probe("one", "one", "two", "two") == set(), "two may be two outages"
        assert await desk.probe("three", "three") == {"four", "five"}
        for _ in range(3):
            await desk.probe(*FLEET)
        desk.down = set()
        assert await desk.probe("one", "two") == set()
        assert await desk.probe("three") == {"four"}
