"""A server that nobody reaches gets its reminders too, and nobody hears anything twice."""

import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from driftwatch import checks, transitions
from driftwatch.alerts.route import ChannelRule
from driftwatch.model import Event, EventKind
from driftwatch.observe import Watched
from driftwatch.probe import Target
from driftwatch.schedule.certificates import CertificateDates
from driftwatch.store.sqlite import SqliteStore
from tests.clocks import StandingClock
from tests.store.world import certificate, run, server, state

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
DAY = timedelta(days=1)
ENDPOINT = "check:transport/endpoint"


@dataclass
class Desk:
    """The chore over a real store, with one server whose certificate ends in 20 days."""

    clock: StandingClock
    store: SqliteStore
    chore: CertificateDates
    told: list[str] = field(default_factory=list)

    def probed(self, endpoint: str, leaf: str = "leaf", days: float = 20) -> None:
        """A probe that saw the certificate, and what it made of the endpoint."""
        at = self.clock.now()
        with self.store.write() as tx:
            tx.lock_server("api")
            seen = certificate(leaf, START + days * DAY)
            tx.record_run(run("api", id_=f"run-{at}", taken_at=at, certificate=seen))
            tx.apply("api", transitions.Changes(states=(state(ENDPOINT, endpoint, at),)), ())

    async def later(self, span: timedelta) -> list[str]:
        """Let time pass, with the hourly look; the levels of what is said."""
        before = len(self.reminders())
        for _ in range(span // timedelta(hours=1)):
            self.clock.advance(timedelta(hours=1))
            await self.chore.run()
        return [f"{event.level} {event.details['threshold_days']}" for event in self.reminders()[before:]]

    def reminders(self) -> list[Event]:
        with self.store.read() as reader:
            return reader.events("api", limit=100, kinds=[EventKind.TLS_REMINDER])[::-1]

    def waiting(self) -> set[str]:
        with self.store.write() as tx:
            return {item.event.id for item in tx.pending_deliveries(self.clock.now() + DAY)}


@contextlib.asynccontextmanager
async def desk(folder: Path) -> AsyncIterator[Desk]:
    clock = StandingClock(START)
    store = SqliteStore(folder / "driftwatch.db", clock=clock.now)
    store.migrate()
    with store.write() as tx:
        tx.import_servers([server("api", START)], START)
    told: list[str] = []
    watched = Watched(
        target=Target(name="api", url="https://api.example/mcp"),
        tags=(),
        revision="r1",
        checks=checks.Policy(),
        transitions=transitions.Policy(),
    )
    chore = CertificateDates(
        store=store,
        clock=clock,
        watched={"api": watched},
        channels=[ChannelRule(name="ops")],
        group_wait=timedelta(seconds=30),
        told=lambda: told.append("x"),
    )
    try:
        yield Desk(clock, store, chore, told)
    finally:
        store.close()


async def test_a_server_that_nobody_reaches_gets_every_reminder_once(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.probed("failed:dns")
        assert await at.later(21 * DAY) == ["warning 14", "warning 7", "error 3", "error 1", "error 0"]
        assert len(at.told) == 5
        assert at.waiting() == {event.id for event in at.reminders()}
        assert await at.later(5 * DAY) == []


async def test_the_end_itself_is_left_to_the_probe_of_a_server_that_answers(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.probed("verified")
        assert await at.later(21 * DAY) == ["warning 14", "warning 7", "error 3", "error 1"]


async def test_what_was_told_before_a_restart_is_not_told_again(tmp_path: Path) -> None:
    async with desk(tmp_path) as at:
        at.probed("failed:dns")
        assert await at.later(7 * DAY) == ["warning 14"]
    async with desk(tmp_path) as at:
        at.clock.advance(7 * DAY)
        assert await at.later(DAY) == []
        assert len(at.reminders()) == 1


@pytest.mark.parametrize("step", [timedelta(hours=-1), timedelta(hours=1), timedelta(days=400)])
async def test_a_clock_that_was_just_stepped_says_nothing_about_dates(
    tmp_path: Path, step: timedelta
) -> None:
    async with desk(tmp_path) as at:
        at.probed("failed:dns", days=14.5)
        at.clock.wall += step
        await at.chore.run()
        assert at.reminders() == []
        at.clock.wall -= step
        await at.chore.run()
        assert at.reminders() == []
        await at.chore.run()
        assert len(at.reminders()) == 1
