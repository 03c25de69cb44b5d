from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from driftwatch.errors import StoreError
from driftwatch.model import Depth, ProbeRequest, Trigger
from driftwatch.store.due import LEASE
from driftwatch.store.ports import Schedule, ServerRecord, Store
from driftwatch.transitions import Changes, ConfirmProbe
from tests.store.world import (
    DAY,
    FULL_INTERVAL,
    HOUR,
    INTERVAL,
    MINUTE,
    START,
    World,
    failed,
    request,
    schedule,
    server,
    together,
)

SECOND = timedelta(seconds=1)


def confirm(at: datetime, depth: Depth = Depth.LIGHT) -> Changes:
    return Changes(confirm=ConfirmProbe(due_at=at, depth=depth))


class TestTheTick:
    def test_what_is_due_is_handed_out_once_and_planned_again(self, world: World) -> None:
        (taken,) = world.take()

        assert taken == request("api", START, depth=Depth.FULL, config_revision="r1")
        assert world.row().next_due_at == START + INTERVAL
        assert world.row().next_full_at == START + FULL_INTERVAL
        assert world.take() == []

    def test_the_next_is_light_until_a_full_one_is_due(self, world: World) -> None:
        depths = []
        for _ in range(25):
            (taken,) = world.take()
            depths.append(taken.depth)
            world.record(asked=taken)
            world.clock.advance(INTERVAL)
        assert depths == [Depth.FULL, *[Depth.LIGHT] * 23, Depth.FULL]

    def test_missed_times_coalesce(self, world: World) -> None:
        world.clock.advance(3 * DAY)
        (taken,) = world.take()
        assert taken.due_at == START
        assert world.row().next_due_at == world.clock() + INTERVAL

    def test_the_longest_overdue_goes_first_and_the_limit_holds(self, world: World) -> None:
        with world.store.write() as tx:
            tx.import_servers([server(f"s{n}", START + n * MINUTE) for n in (3, 1, 2, 9)], START)
        world.clock.advance(5 * MINUTE)
        assert [taken.server for taken in world.take(limit=2)] == ["s1", "s2"]
        assert [taken.server for taken in world.take(limit=2)] == ["s3"]
        assert world.take(limit=0) == []

    def test_a_busy_server_is_left_for_a_later_tick(self, world: World) -> None:
        world.add("api", "other")
        assert [taken.server for taken in world.take(busy=["api"])] == ["other"]
        assert [taken.server for taken in world.take(busy=["other"])] == ["api"]

    def test_a_server_whose_probe_takes_longer_than_its_interval_is_not_handed_out_twice(
        self, world: World
    ) -> None:
        world.take()
        world.clock.advance(INTERVAL)
        assert world.take(busy=["api"]) == []

    def test_a_servers_own_pause_is_respected(self, world: World) -> None:
        with world.store.write() as tx:
            tx.postpone("api", START + HOUR)
        assert (world.take(), world.next_due()) == ([], START + HOUR)
        world.enqueue(request("api", START, Trigger.MANUAL))
        assert (world.take(), world.next_due()) == ([], START + HOUR)
        world.clock.advance(HOUR)
        assert [taken.trigger for taken in world.take()] == [Trigger.MANUAL]

    def test_two_ticks_at_once_share_the_servers(self, world: World) -> None:
        names = [f"s{number}" for number in range(60)]
        world.add(*names)
        taken: list[ProbeRequest] = []

        def tick() -> None:
            for _ in range(6):
                taken.extend(world.take(limit=10))

        together(tick, tick)
        assert sorted(item.server for item in taken) == sorted(names)

    def test_a_plan_that_fails_hands_out_nothing(self, world: World) -> None:
        def broken(record: ServerRecord, now: datetime) -> Schedule:
            raise KeyError(record.name)

        with pytest.raises(KeyError), world.store.write() as tx:
            tx.take_due(START, 10, broken)
        assert [taken.server for taken in world.take()] == ["api"]


class TestConfirming:
    def test_a_confirmation_repeats_the_depth_that_saw_the_change_and_moves_no_interval(
        self, world: World
    ) -> None:
        world.record(asked=world.take()[0], changes=confirm(START + 15 * SECOND, Depth.FULL))
        planned = world.row()
        assert world.next_due() == START + 15 * SECOND
        world.clock.advance(15 * SECOND)

        (taken,) = world.take()
        assert (taken.trigger, taken.depth, taken.due_at) == (Trigger.CONFIRM, Depth.FULL, world.clock())
        assert taken.priority > 0
        assert world.row() == replace(planned, confirm_due_at=None, confirm_depth=None)

    def test_one_probe_serves_a_confirmation_and_the_interval(self, world: World) -> None:
        world.record(asked=world.take()[0], changes=confirm(START + INTERVAL - SECOND))
        world.clock.advance(INTERVAL)

        (taken,) = world.take()
        assert (taken.trigger, taken.depth) == (Trigger.CONFIRM, Depth.LIGHT)
        assert world.row().next_due_at == world.clock() + INTERVAL
        world.record(asked=taken)
        assert world.take() == []

    def test_the_deeper_of_both_is_asked(self, world: World) -> None:
        world.record(asked=world.take()[0], changes=confirm(START + FULL_INTERVAL, Depth.LIGHT))
        world.clock.advance(FULL_INTERVAL)
        (taken,) = world.take()
        assert (taken.trigger, taken.depth) == (Trigger.CONFIRM, Depth.FULL)


class TestRequests:
    def test_a_request_waits_until_it_is_due_and_goes_before_the_interval(self, world: World) -> None:
        manual = request("api", START + 10 * SECOND, Trigger.MANUAL, priority=10, release_ref="abc \ud800")
        assert world.enqueue(manual) == [True]
        assert [taken.trigger for taken in world.take()] == [Trigger.INTERVAL]
        world.clock.advance(10 * SECOND)

        assert world.take() == []  # the first probe is still on its way
        with world.store.write() as tx:
            tx.request_done(request("api", START))
        assert world.take() == [manual]

    def test_the_higher_priority_goes_first(self, world: World) -> None:
        world.add("api", "b", "c")
        manual = [
            request(name, START, Trigger.MANUAL, priority=n) for n, name in enumerate(["b", "api", "c"])
        ]
        world.enqueue(*manual)
        assert world.take(limit=3) == manual[::-1]

    def test_one_request_of_a_kind_waits_for_each_server_and_the_newest_release_wins(
        self, world: World
    ) -> None:
        first = request("api", START, Trigger.DEPLOY, release_ref="one")
        second = request(
            "api", START + SECOND, Trigger.DEPLOY, release_ref="two", depth=Depth.FULL, priority=3
        )
        manual = request("api", START, Trigger.MANUAL)
        assert world.enqueue(first, second, manual, first) == [True, False, True, False]
        assert world.waiting() == [
            replace(first, release_ref="one", depth=Depth.FULL, priority=3),
            manual,
        ]

    def test_a_request_during_a_run_of_its_kind_waits_for_its_turn(self, world: World) -> None:
        first = request("api", START, Trigger.DEPLOY, release_ref="one")
        second = request("api", START + SECOND, Trigger.DEPLOY, release_ref="two")
        world.enqueue(first)
        assert world.take() == [first]
        assert world.enqueue(second) == [True]
        world.clock.advance(SECOND)
        assert world.take(busy=["api"]) == []
        with world.store.write() as tx:
            tx.request_done(first)
        assert world.take() == [second]

    def test_a_deploy_is_only_done_when_it_is_said_to_be(self, world: World) -> None:
        deploy = request("api", START, Trigger.DEPLOY)
        world.enqueue(deploy)
        world.take()
        world.record(asked=deploy)
        assert world.waiting() == [deploy]
        with world.store.write() as tx:
            tx.request_done(deploy)
        assert world.waiting() == []

    def test_a_request_for_an_unknown_server_is_refused_and_its_end_is_not(self, world: World) -> None:
        with pytest.raises(StoreError, match="no server named 'nobody'"):
            world.enqueue(request("nobody", START, Trigger.MANUAL))
        with world.store.write() as tx:
            tx.request_done(request("nobody", START, Trigger.MANUAL))


class TestCrashes:
    def restart(self, world: World) -> World:
        return World(store=world.database.open(), clock=world.clock, database=world.database)

    def test_what_was_handed_out_and_not_recorded_is_due_again_after_a_restart(self, world: World) -> None:
        (taken,) = world.take()
        assert world.waiting() == [taken]
        world.clock.advance(SECOND)

        after = self.restart(world)
        assert after.next_due() == START
        assert after.take() == [replace(taken, attempt=2)]
        after.record(asked=taken)
        assert (after.take(), after.waiting()) == ([], [])

    def test_a_confirmation_and_a_deploy_survive_a_restart(self, world: World) -> None:
        world.add("api", "b")
        world.record(asked=request("api", START), changes=confirm(START))
        deploy = request("b", START, Trigger.DEPLOY, release_ref="one")
        world.enqueue(deploy)
        first, second = world.take()
        assert first == deploy

        again = self.restart(world).take()
        assert again == [replace(deploy, attempt=2), replace(second, attempt=2)]
        assert second.trigger is Trigger.CONFIRM

    def test_a_lost_probe_and_the_next_one_become_one(self, world: World) -> None:
        (lost,) = world.take()
        assert lost.depth is Depth.FULL
        world.clock.advance(DAY)

        after = self.restart(world)
        (taken,) = after.take()
        assert (taken.due_at, taken.attempt) == (START + INTERVAL, 1)
        assert taken.depth is Depth.FULL
        assert after.waiting() == [taken]

    def test_a_probe_that_its_process_forgot_is_due_again_after_a_while(self, world: World) -> None:
        (taken,) = world.take()
        world.clock.advance(LEASE - SECOND)
        assert (world.take(), world.next_due()) == ([], None)
        world.clock.advance(SECOND)
        assert world.take(busy=["api"]) == []
        assert world.take() == [replace(taken, attempt=2)]

    def test_a_run_that_is_recorded_twice_ends_the_hand_out_once(self, world: World) -> None:
        (taken,) = world.take()
        world.record(asked=taken)
        late = self.restart(world)
        with late.store.write() as tx:
            tx.lock_server("api")
            tx.request_done(taken)
        assert late.take() == []


class TestClockSteps:
    def test_due_times_that_lie_too_far_ahead_come_back(self, world: World) -> None:
        world.take()
        with world.store.write() as tx:
            tx.postpone("api", START + 2 * HOUR)
        world.clock.advance(-HOUR)
        with world.store.write() as tx:
            assert tx.repair_due(world.clock(), schedule) == 1
            assert tx.repair_due(world.clock(), schedule) == 0

        assert world.row().next_due_at == world.clock() + INTERVAL
        assert world.row().next_full_at == world.clock() + FULL_INTERVAL
        assert world.row().not_before == world.clock() + INTERVAL

    def test_a_due_time_within_the_schedule_stays(self, world: World) -> None:
        world.take()
        world.clock.advance(MINUTE)
        planned = world.row()
        with world.store.write() as tx:
            assert tx.repair_due(world.clock(), schedule) == 0
        assert world.row() == planned

    def test_a_slot_that_comes_twice_is_probed_twice(self, world: World) -> None:
        every_quarter = quarters()
        with world.store.write() as tx:
            (first,) = tx.take_due(world.clock(), 1, every_quarter)
        world.record(asked=first)
        with world.store.write() as tx:
            tx.repair_due(world.clock.advance(-MINUTE), every_quarter)
        world.clock.advance(MINUTE + SECOND)
        with world.store.write() as tx:
            (again,) = tx.take_due(world.clock(), 1, every_quarter)
        assert first.due_at == START
        world.record(asked=again)  # asserts that it is no replay
        assert world.waiting() == []

    def test_a_lease_from_the_future_is_no_lease(self, world: World) -> None:
        (taken,) = world.take()
        world.clock.advance(-DAY)
        assert world.take() == [replace(taken, attempt=2)]

    def test_waits_in_the_outbox_come_back_too(self, world: World) -> None:
        world.tell("e1", "chat")
        world.tell("e2", "chat")
        world.freeze("m1", "chat", "e1")
        with world.store.write() as tx:
            claim = tx.claim("me", MINUTE, ["chat"])
            assert claim is not None
            tx.settle(claim, failed(world.clock(), HOUR))
        now = world.clock.advance(-365 * DAY)
        with world.store.write() as tx:
            assert tx.pending_deliveries(now) == []
            assert tx.claim("me", MINUTE, ["chat"]) is None
            tx.repair_due(now, schedule)
            assert [item.event.id for item in tx.pending_deliveries(now)] == ["e2"]
            assert tx.claim("me", MINUTE, ["chat"]) is not None


def quarters() -> Callable[[ServerRecord, datetime], Schedule]:
    """A schedule with fixed slots, as cron lines have them: at START, a quarter later, and so on."""

    def plan(record: ServerRecord, now: datetime) -> Schedule:
        slot = START + INTERVAL * ((now - START) // INTERVAL + 1)
        return Schedule(next_due_at=slot, next_full_at=slot)

    return plan


def test_the_next_probe_is_the_earliest_of_all(store: Store, world: World) -> None:
    world.take()
    world.add("api", "later", "much-later", due=START + 5 * MINUTE)
    assert world.next_due() == START + 5 * MINUTE
    world.enqueue(request("later", START + MINUTE, Trigger.MANUAL))
    assert world.next_due() == START + MINUTE
