import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from apscheduler.events import EVENT_JOB_MAX_INSTANCES

from driftwatch.errors import StoreError
from driftwatch.model import Depth, EventKind, ProbeRequest, Trigger
from driftwatch.schedule.due import DueTimes
from driftwatch.schedule.queue import ProbeQueue
from driftwatch.schedule.ticker import TICK, Ticker
from driftwatch.store.ports import Reader, ServerRecord
from driftwatch.store.sqlite import SqliteStore
from tests.clocks import StandingClock

START = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
QUARTER = timedelta(minutes=15)

T = TypeVar("T")


@dataclass
class Desk:
    """A ticker, its queue and its store, without anybody who carries requests out."""

    clock: StandingClock
    store: SqliteStore
    queue: ProbeQueue
    ticker: Ticker

    def take(self) -> list[tuple[str, Depth, Trigger]]:
        """What the ticks have put into the queue; it is empty afterwards."""
        taken = [(item.server, item.depth, item.trigger) for _, _, item in sorted(self.queue._waiting)]
        self.queue._waiting.clear()
        return taken


def record(name: str, due: datetime) -> ServerRecord:
    return ServerRecord(
        name=name,
        url=f"http://127.0.0.1:1/{name}",
        host=f"{name}:1",
        credential="anonymous",
        revision="r1",
        next_due_at=due,
        next_full_at=due,
    )


@contextlib.asynccontextmanager
async def desk(
    folder: Path, *servers: str, concurrency: int = 8, tick: timedelta = TICK
) -> AsyncIterator[Desk]:
    clock = StandingClock(START)
    store = SqliteStore(folder / "driftwatch.db", clock=clock.now)
    store.migrate()
    with store.write() as tx:
        tx.import_servers([record(name, START) for name in servers], START)
    queue = ProbeQueue(concurrency=concurrency, per_host=2, host_of=lambda server: server)
    due_times = {
        name: DueTimes(name, interval=QUARTER, full_interval=QUARTER * 24, random=lambda: 0.0)
        for name in servers
    }
    ticker = Ticker(store=store, queue=queue, clock=clock, due_times=due_times, chores={}, tick=tick)
    try:
        yield Desk(clock, store, queue, ticker)
    finally:
        store.close()


async def test_what_is_due_is_handed_out_once_and_the_first_probe_is_a_full_one(tmp_path: Path) -> None:
    async with desk(tmp_path, "a", "b") as at:
        await at.ticker.tick()
        assert sorted(at.take()) == [
            ("a", Depth.FULL, Trigger.INTERVAL),
            ("b", Depth.FULL, Trigger.INTERVAL),
        ]
        await at.ticker.tick()
        assert at.take() == []


async def test_the_next_probes_are_light_ones_an_interval_later(tmp_path: Path) -> None:
    async with desk(tmp_path, "a") as at:
        await at.ticker.tick()
        (request,) = (item for _, _, item in at.queue._waiting)
        at.take()
        with at.store.write() as tx:
            tx.request_done(request)
        at.clock.advance(QUARTER)
        await at.ticker.tick()
        assert at.take() == [("a", Depth.LIGHT, Trigger.INTERVAL)]


async def test_a_full_queue_leaves_what_is_due_for_a_later_tick(tmp_path: Path) -> None:
    async with desk(tmp_path, *"abcdef", concurrency=1) as at:
        await at.ticker.tick()
        first = at.take()
        assert len(first) == 2
        await at.ticker.tick()
        assert not {name for name, *_ in at.take()} & {name for name, *_ in first}


async def test_a_clock_that_was_stepped_back_keeps_nobody_waiting(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk(tmp_path, "a") as at:
        await at.ticker.tick()
        (request,) = (item for _, _, item in at.queue._waiting)
        at.take()
        with at.store.write() as tx:
            tx.request_done(request)
        at.clock.wall -= timedelta(hours=5)
        with caplog.at_level(logging.WARNING, "driftwatch.service"):
            await at.ticker.tick()
        assert "the clock was stepped" in caplog.text
        with at.store.read() as reader:
            (event,) = reader.events(kinds=[EventKind.CLOCK_STEP])
        assert (event.details["seconds"], event.alerts) == (-5 * 3600, False)
        at.clock.advance(QUARTER)
        await at.ticker.tick()
        assert [name for name, *_ in at.take()] == ["a"]


async def test_a_clock_that_was_stepped_forward_makes_one_probe_not_many(tmp_path: Path) -> None:
    async with desk(tmp_path, "a") as at:
        at.clock.wall += timedelta(days=3)
        await at.ticker.tick()
        assert len(at.take()) == 1
        await at.ticker.tick()
        assert at.take() == []


async def test_a_database_that_does_not_answer_delays_the_tick_and_does_not_end_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk(tmp_path, "a") as at:

        async def broken(_: Callable[[Reader], T]) -> T:
            raise StoreError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(at.store, "query", broken)
            await at.ticker.tick()
            await at.ticker.tick()
            assert not at.ticker.storing
            assert caplog.text.count("the tick could not use the database") == 1
            assert "Traceback" not in caplog.text
            at.clock.advance(timedelta(minutes=1))
            await at.ticker.tick()
            assert caplog.text.count("the tick could not use the database") == 2
        assert at.take() == []
        await at.ticker.tick()
        assert at.ticker.storing
        assert [name for name, *_ in at.take()] == ["a"]


async def test_a_tick_that_takes_long_is_no_trouble_that_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk(tmp_path, "a", tick=timedelta(milliseconds=10)) as at:
        go_on, skipped = asyncio.Event(), asyncio.Event()

        async def slow(_: Callable[[Reader], T]) -> T:
            await go_on.wait()
            raise StoreError("locked")

        monkeypatch.setattr(at.store, "query", slow)
        at.ticker._scheduler.add_listener(lambda _: skipped.set(), EVENT_JOB_MAX_INSTANCES)
        at.ticker.start()
        await asyncio.wait_for(skipped.wait(), 60)
        go_on.set()
        await at.ticker.stop()
    assert "late or still running" not in caplog.text


async def test_the_age_of_the_last_tick_tells_a_stuck_loop(tmp_path: Path) -> None:
    async with desk(tmp_path, "a") as at:
        await at.ticker.tick()
        assert at.ticker.age_s == 0
        at.clock.advance(timedelta(seconds=45))
        assert at.ticker.age_s == 45


async def test_workers_that_are_done_do_not_wait_for_the_next_second(tmp_path: Path) -> None:
    names = [f"server-{number}" for number in range(20)]
    probed: list[str] = []
    done = asyncio.Event()
    async with desk(tmp_path, *names, concurrency=1, tick=timedelta(hours=1)) as at:

        async def handle(request: ProbeRequest) -> None:
            await at.store.transact(lambda tx: tx.request_done(request))
            probed.append(request.server)
            if len(probed) == len(names):
                done.set()

        working = asyncio.create_task(at.queue.run(handle))
        at.ticker.start()
        # Two are handed out at a time, and the tick comes once an hour.
        await at.ticker.tick()
        async with asyncio.timeout(60):
            await done.wait()
        await at.ticker.stop()
        working.cancel()
    assert sorted(probed) == sorted(names)


async def test_a_step_that_the_database_refused_is_repaired_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path, "a") as at:
        await at.ticker.tick()
        at.take()
        at.clock.wall -= timedelta(hours=5)

        async def broken(_: object) -> None:
            raise StoreError("the disk is full")

        with monkeypatch.context() as patch:
            patch.setattr(at.store, "transact", broken)
            await at.ticker.tick()
        await at.ticker.tick()
        with at.store.read() as reader:
            kept = reader.server("a")
            assert len(reader.events(kinds=[EventKind.CLOCK_STEP])) == 1
        assert kept is not None
        assert kept.next_due_at <= at.clock.now() + QUARTER


async def test_a_server_that_its_due_time_has_passed_over_is_probed_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk(tmp_path, "a") as at:
        await at.ticker.tick()
        for _, _, item in at.queue._waiting:
            with at.store.write() as tx:
                tx.request_done(item)
        at.take()
        never = replace(record("a", START + timedelta(days=3650)))
        with at.store.write() as tx:
            tx.import_servers([], START)
            tx.import_servers([never], START)
        for _ in range(32):
            at.clock.advance(timedelta(minutes=1))
            await at.ticker.tick()
        assert "overdue servers are probed now" in caplog.text
        assert [name for name, *_ in at.take()] == ["a"]


async def test_a_server_that_asked_for_a_pause_is_not_overdue(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with desk(tmp_path, "a") as at:
        await at.ticker.tick()
        for _, _, item in at.queue._waiting:
            with at.store.write() as tx:
                tx.request_done(item)
                tx.postpone("a", START + timedelta(hours=1))
        at.take()
        for _ in range(50):
            at.clock.advance(timedelta(minutes=1))
            await at.ticker.tick()
        assert "overdue" not in caplog.text
