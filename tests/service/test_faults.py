"""A full disk, a locked database, a clock that is set: no alert is lost, and none is false."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import timedelta

import pytest

from driftwatch.app import Service
from driftwatch.model import EventKind
from driftwatch.store.ports import Store, Tx
from tests.service.world import MovedClock, Receiver, World

FREE = ("freelist_count", "page_size")
FALSE = {EventKind.CHANGE, EventKind.RECOVERY, EventKind.MONITOR_GAP, EventKind.COVERAGE_LOST}


def store_of(service: Service) -> Store:
    assert service._store is not None
    return service._store


def storing(service: Service) -> bool:
    return service._works is not None and service._works.storing


def fault(service: Service) -> str:
    return (service._works and service._works.faults.error) or ""


async def fill(service: Service, *, full: bool = True) -> None:
    """Let the database grow no further, or without end again."""

    def set_limit(tx: Tx) -> None:
        connection = tx._connection  # type: ignore[attr-defined]
        if full:
            free, size = (connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in FREE)
            connection.exec_driver_sql("CREATE TABLE filler (content BLOB)")
            connection.exec_driver_sql(f"INSERT INTO filler VALUES (zeroblob({free * size}))")
        most = connection.exec_driver_sql("PRAGMA page_count").scalar() if full else 2**30
        connection.exec_driver_sql(f"PRAGMA max_page_count = {most}")

    await store_of(service).transact(set_limit)


def about_the_release(receiver: Receiver) -> list[str]:
    return [message["title"] for message in receiver.messages if "order_status" in message["message"]]


async def test_what_a_full_disk_did_not_take_is_found_again_and_told_once(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    async with world.running() as service:
        await world.rounds(1)
        # What was handed out and not recorded would look like a probe under way for ever.
        clock.busy = lambda: False
        await fill(service)
        # Half empty pages take some more probes before the first one is refused.
        await clock.advance_until(lambda: not storing(service), step_s=300)
        world.sample.deploy("v2")
        healed_at = clock.now() + timedelta(hours=1)
        # What is small may still fit into a page, and the fault then seems over for a while.
        await clock.advance_until(lambda: clock.now() > healed_at and "no space is left" in fault(service))
        assert about_the_release(receiver) == []
        await fill(service, full=False)
        await clock.advance_until(lambda: bool(about_the_release(receiver)))
        # What was handed out and lost is handed out again once its lease is over.
        await clock.advance_until(lambda: not world.busy())
        clock.busy = world.busy
        await world.rounds(3)
    assert len(about_the_release(receiver)) == 1
    assert not FALSE & set(world.kinds()) - {EventKind.MONITOR_GAP}


async def test_a_lock_that_another_process_holds_delays_and_loses_nothing(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    async with world.running() as service:
        await world.rounds(1)
        world.sample.deploy("v2")
        clock.busy = lambda: False
        with held(world):
            await clock.advance_until(lambda: not storing(service), step_s=1)
            assert receiver.messages == []
        await clock.advance_until(lambda: bool(about_the_release(receiver)))
        # What was handed out and lost is handed out again once its lease is over.
        await clock.advance_until(lambda: not world.busy())
        clock.busy = world.busy
        await world.rounds(3)
    assert len(about_the_release(receiver)) == 1


@contextmanager
def held(world: World) -> Iterator[None]:
    """Another process has the write lock."""
    with closing(sqlite3.connect(world.folder / "driftwatch.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@pytest.mark.parametrize("hours", [1, -1])
async def test_a_clock_that_is_set_by_an_hour_says_nothing_and_hides_nothing(
    world: World, clock: MovedClock, receiver: Receiver, hours: int
) -> None:
    async with world.running():
        await world.rounds(2)
        clock.step(hours=hours)
        await clock.advance_until(lambda: EventKind.CLOCK_STEP in world.kinds(), step_s=1)
        await world.rounds(3)
        assert receiver.messages == []
        assert not FALSE & set(world.kinds())
        world.sample.deploy("v2")
        await clock.advance_until(lambda: bool(receiver.messages))
        await world.rounds(3)
    assert len(about_the_release(receiver)) == len(receiver.messages) == 1
