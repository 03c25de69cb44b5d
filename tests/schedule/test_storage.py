"""A fault of the database is told when it is over, if it lasted."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from driftwatch.alerts.route import ChannelRule
from driftwatch.errors import StoreError
from driftwatch.model import Event, EventKind, Level
from driftwatch.schedule.storage import CALM, StorageFaults
from driftwatch.store.sqlite import SqliteStore
from tests.clocks import StandingClock

START = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock(START)


@pytest.fixture
def store(tmp_path: Path, clock: StandingClock) -> Iterator[SqliteStore]:
    path = tmp_path / "driftwatch.db"
    with closing(SqliteStore(path, clock=clock.now, busy_timeout=timedelta(milliseconds=1))) as store:
        store.migrate()
        yield store


def faults(store: SqliteStore, clock: StandingClock) -> StorageFaults:
    return StorageFaults(
        store=store,
        clock=clock,
        channels=[ChannelRule(name="ops")],
        group_wait=timedelta(seconds=30),
        told=lambda: None,
    )


def events(store: SqliteStore) -> list[Event]:
    with store.read() as reader:
        return reader.events(kinds=[EventKind.STORAGE_FAULT])


async def test_a_database_that_another_process_holds_is_a_fault_until_it_lets_go(
    store: SqliteStore, clock: StandingClock
) -> None:
    chore = faults(store, clock)
    with closing(sqlite3.connect(store.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for _ in range(20):
            with pytest.raises(StoreError, match="another process is writing") as refused:
                await store.transact(lambda tx: tx.drop_channels((), clock.now()))
            chore.refused(str(refused.value))
            clock.advance(timedelta(minutes=1))
            await chore.run()
        assert events(store) == []
        other.execute("ROLLBACK")
    clock.advance(CALM)
    await chore.run()
    (event,) = events(store)
    assert event.since == START
    assert event.details["duration_s"] == 19 * 60
    assert event.details["over"]
    assert "another process is writing" in event.details["error"]
    with store.write() as tx:
        assert len(tx.pending_deliveries(clock.now() + timedelta(minutes=1))) == 1
    await chore.run()
    assert len(events(store)) == 1


async def test_a_fault_that_goes_on_is_told_once_and_so_is_its_end(
    store: SqliteStore, clock: StandingClock
) -> None:
    chore = faults(store, clock)
    for _ in range(40):
        chore.refused("no space is left")
        clock.advance(timedelta(minutes=1))
        await chore.run()
    (event,) = events(store)
    assert (event.alerts, event.details["over"]) == (True, False)
    clock.advance(CALM)
    await chore.run()
    assert [(event.alerts, event.details["over"]) for event in events(store)] == [
        (True, True),
        (True, False),
    ]
    assert [event.level for event in events(store)] == [Level.INFO, Level.ERROR]


async def test_a_moment_is_history_only(store: SqliteStore, clock: StandingClock) -> None:
    chore = faults(store, clock)
    chore.refused("the disk is full")
    clock.advance(timedelta(seconds=20))
    chore.refused("and something else")
    await chore.run()
    assert events(store) == []
    clock.advance(CALM)
    await chore.run()
    (event,) = events(store)
    assert (event.alerts, event.details["error"]) == (False, "the disk is full")
    with store.write() as tx:
        assert tx.pending_deliveries(clock.now() + timedelta(minutes=1)) == []


async def test_without_a_fault_nothing_is_written(store: SqliteStore, clock: StandingClock) -> None:
    await faults(store, clock).run()
    assert events(store) == []
