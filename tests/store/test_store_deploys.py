from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from driftwatch.deploys import DeployOutcome, Progress, probes
from driftwatch.model import DeployState, DeployVerdict, Depth, Level, ProbeRequest, Release, Trigger
from driftwatch.store.ports import DeliveryPlan, DeployRun, HookDelivery
from driftwatch.transitions import Interval
from tests.store.world import (
    DAY,
    HOUR,
    INTERVAL,
    MINUTE,
    START,
    World,
    confirmed,
    event,
    fingerprint,
    request,
    schedule,
)

SECOND = timedelta(seconds=1)
DELAY = 10 * SECOND
DEBOUNCE = 5 * SECOND


def release(id_: str, at: datetime = START, servers: Sequence[str] = ("api",), **changes: Any) -> Release:
    values: dict[str, Any] = {"ref": f"ref-{id_}"}
    return Release(id=id_, received_at=at, servers=tuple(servers), **(values | changes))


def announce(
    world: World, announced: Release, id_: str | None = None, body: str = "body", delay: timedelta = DELAY
) -> HookDelivery:
    delivery = HookDelivery(
        id=id_ or f"delivery-{announced.id}",
        body_sha256=body,
        received_at=announced.received_at,
    )
    with world.store.write() as tx:
        return tx.announce(delivery, announced, probes(announced, delay=delay), debounce=DEBOUNCE)


def run_of(world: World, server: str = "api") -> DeployRun:
    with world.store.write() as tx:
        run = tx.deploy_run(server)
    assert run is not None
    return run


def go_on(world: World, read: ProbeRequest, due: datetime, **changes: Any) -> DeployRun:
    """A read is recorded, and the next one planned."""
    run = replace(run_of(world, read.server), **({"progress": Progress(started_at=world.clock())} | changes))
    with world.store.write() as tx:
        tx.request_done(read)
        tx.go_on(run, replace(read, due_at=due, depth=Depth.LIGHT))
    return run


def end(world: World, read: ProbeRequest, **changes: Any) -> bool:
    """The last read of a server's run."""
    values: dict[str, Any] = {"state": DeployState.SETTLED, "verdict": DeployVerdict.OK}
    with world.store.write() as tx:
        run = tx.deploy_run(read.server)
        assert run is not None
        tx.request_done(read)
        outcome = DeployOutcome(
            release=run.release.id,
            server=read.server,
            run_release=run.release.id,
            finished_at=world.clock(),
            **(values | changes),
        )
        return tx.end_deploy(outcome, world.clock())


def outcomes(world: World, id_: str) -> tuple[DeployOutcome, ...]:
    with world.store.read() as reader:
        return reader.deploy(id_)


def waiting(world: World) -> list[ProbeRequest]:
    with world.store.read() as reader:
        return [item for item in reader.waiting_requests() if item.trigger is Trigger.DEPLOY]


class TestAnnouncing:
    def test_a_release_its_delivery_and_a_read_for_each_server_are_one_transaction(
        self, world: World
    ) -> None:
        world.add("api", "web")
        told = release("r1", servers=("api", "web"), commit="abc", link="https://ci.example/1", actor="ann")
        answered = announce(world, told)
        assert answered.release == "r1"
        with world.store.read() as reader:
            assert reader.release("r1") == told
            assert reader.releases("web") == [told]
        assert [(item.server, item.due_at, item.release_ref) for item in waiting(world)] == [
            ("api", START + DELAY, "r1"),
            ("web", START + DELAY, "r1"),
        ]
        assert {item.state for item in outcomes(world, "r1")} == {DeployState.WAITING}

    def test_a_repeated_delivery_gets_the_first_answer_and_writes_nothing(self, world: World) -> None:
        first = announce(world, release("r1"), id_="d")
        again = announce(world, release("r2", START + MINUTE, ref="other"), id_="d", body="another body")
        assert again == first
        assert again.body_sha256 != "another body"
        with world.store.read() as reader:
            assert [item.id for item in reader.releases()] == ["r1"]

    def test_an_id_is_free_again_after_three_days(self, world: World) -> None:
        announce(world, release("r1"), id_="d")
        later = START + timedelta(hours=72)
        assert announce(world, release("r2", later), id_="d", body="new").release == "r2"

    def test_announcements_of_one_moment_join_and_the_latest_words_win(self, world: World) -> None:
        announce(world, release("r1", ref="v1", previous_ref="v0"))
        second = release("r2", START + 3 * SECOND, ref="v2", previous_ref="v1", actor="ann")
        assert announce(world, second).release == "r1"
        with world.store.read() as reader:
            (joined,) = reader.releases()
        assert (joined.ref, joined.previous_ref, joined.actor) == ("v2", "v0", "ann")
        # The delay is that of the later one: what it announced may only be beginning.
        assert [item.due_at for item in waiting(world)] == [START + 3 * SECOND + DELAY]

    def test_joining_a_run_that_reads_makes_it_begin_anew(self, world: World) -> None:
        announce(world, release("r1"), delay=timedelta(0))
        (read,) = world.take()
        go_on(world, read, START + SECOND)
        assert announce(world, release("r2", START + SECOND, ref="v2"), delay=timedelta(0)).release == "r1"
        run = run_of(world)
        assert (run.release.ref, run.progress, run.due_at) == ("v2", None, START + SECOND)
        assert len(waiting(world)) == 1

    def test_a_read_that_is_on_its_way_is_not_asked_a_second_time(self, world: World) -> None:
        announce(world, release("r1"), delay=timedelta(0))
        (read,) = world.take()
        announce(world, release("r2", START + SECOND), delay=DELAY)
        assert waiting(world) == [read]
        assert run_of(world).due_at == START + SECOND + DELAY

    def test_after_the_moment_another_release_takes_along_the_one_that_waits(self, world: World) -> None:
        announce(world, release("r1"))
        world.clock.advance(7 * SECOND)
        assert announce(world, release("r2", world.clock())).release == "r2"
        assert [item.release_ref for item in waiting(world)] == ["r2"]
        world.clock.advance(DELAY)
        (read,) = world.take()
        end(world, read, verdict=DeployVerdict.RISK)
        for id_ in ("r1", "r2"):
            (outcome,) = outcomes(world, id_)
            assert (outcome.run_release, outcome.verdict) == ("r2", DeployVerdict.RISK)

    def test_announcements_that_keep_coming_do_not_put_it_off_for_ever(self, world: World) -> None:
        for number in range(100):
            announce(world, release(f"r{number}", world.clock()))
            world.clock.advance(6 * SECOND)
        (read,) = waiting(world)
        assert read.due_at == START + DELAY + 5 * MINUTE
        assert world.take()[0].release_ref == "r99"

    def test_hooks_during_a_run_queue_exactly_one_more(self, world: World) -> None:
        announce(world, release("r1"), delay=timedelta(0))
        (read,) = world.take()
        for number in (2, 3, 4):
            world.clock.advance(MINUTE)
            announce(world, release(f"r{number}", world.clock()))
        assert [item.release_ref for item in waiting(world)] == ["r1"]
        go_on(world, read, world.clock())
        (again,) = world.take()
        assert again.release_ref == "r1"
        end(world, again)
        world.clock.advance(DELAY)
        (following,) = world.take()
        assert following.release_ref == "r4"
        end(world, following)
        assert waiting(world) == []
        assert {outcomes(world, f"r{number}")[0].run_release for number in (2, 3, 4)} == {"r4"}

    def test_a_moment_that_was_used_before_is_no_replay(self, world: World) -> None:
        announce(world, release("r1"), delay=timedelta(0))
        (read,) = world.take()
        world.record(asked=read)
        end(world, read)
        announce(world, release("r2"), delay=timedelta(0))
        (another,) = waiting(world)
        assert another.due_at > read.due_at


class TestReading:
    def test_nothing_else_probes_a_server_while_its_deploy_is_read(self, world: World) -> None:
        world.add("api", "web")
        announce(world, release("r1"))
        with world.store.write() as tx:
            tx.enqueue(request("api", START, Trigger.MANUAL))
        assert [item.server for item in world.take()] == ["web"]
        with world.store.read() as reader:
            assert reader.next_due() == START + DELAY
        world.clock.advance(DELAY)
        (read,) = world.take()
        assert (read.trigger, read.depth, read.release_ref) == (Trigger.DEPLOY, Depth.FULL, "r1")
        go_on(world, read, world.clock() + MINUTE)
        assert world.take() == []
        world.clock.advance(MINUTE)
        (again,) = world.take()
        assert again.depth is Depth.LIGHT
        end(world, again)
        assert {item.trigger for item in world.take()} == {Trigger.MANUAL}

    def test_progress_survives_the_process(self, world: World) -> None:
        announce(world, release("r1"), delay=timedelta(0))
        (read,) = world.take()
        progress = Progress(started_at=world.clock(), before={"toolset": "a"}, reads=2, agreeing=1)
        go_on(world, read, START, progress=progress, events=("e1",))
        again = world.database.open()
        with again.write() as tx:
            run = tx.deploy_run("api")
            (taken,) = tx.take_due(world.clock(), 10, lambda *_: None)  # type: ignore[arg-type]
        assert run is not None
        assert (run.progress, run.events) == (progress, ("e1",))
        assert taken.release_ref == "r1"

    def test_a_run_that_lost_its_read_gets_another(self, world: World) -> None:
        announce(world, release("r1"), delay=timedelta(0))
        (read,) = world.take()
        with world.store.write() as tx:
            tx.request_done(read)
            assert tx.resume_deploys(world.clock()) == 1
            assert tx.resume_deploys(world.clock()) == 0
        (resumed,) = world.take()
        assert (resumed.trigger, resumed.release_ref) == (Trigger.DEPLOY, "r1")

    def test_the_run_of_a_removed_server_is_given_up(self, world: World) -> None:
        announce(world, release("r1"))
        with world.store.write() as tx:
            tx.import_servers([], world.clock())
            assert tx.resume_deploys(world.clock()) == 0
        (outcome,) = outcomes(world, "r1")
        assert (outcome.state, outcome.verdict) == (DeployState.INCONCLUSIVE, DeployVerdict.INCONCLUSIVE)

    def test_a_clock_that_is_stepped_back_keeps_no_run_waiting(self, world: World) -> None:
        announce(world, release("r1"), delay=timedelta(0))
        (read,) = world.take()
        go_on(world, read, world.clock() + 5 * SECOND)
        world.clock.advance(-HOUR)
        with world.store.write() as tx:
            tx.repair_due(world.clock(), schedule)
        assert [item.trigger for item in world.take()] == [Trigger.DEPLOY]


class TestTheEnd:
    def test_what_a_release_has_to_tell_leaves_when_its_last_server_is_done(self, world: World) -> None:
        world.add("api", "web")
        announce(world, release("r1", servers=("api", "web")), delay=timedelta(0))
        first, last = world.take()
        for read in (first, last):
            told = f"event-{read.server}"
            with world.store.write() as tx:
                held = DeliveryPlan(event=told, channel="ops", not_before=START + HOUR)
                tx.record_event(event(told, server=read.server), [held])
        assert not end(world, first, events=(f"event-{first.server}",))
        with world.store.write() as tx:
            assert tx.pending_deliveries(world.clock()) == []
        assert end(world, last, events=(f"event-{last.server}",))
        with world.store.write() as tx:
            assert {item.event.id for item in tx.pending_deliveries(world.clock())} == {
                "event-api",
                "event-web",
            }

    def test_an_outcome_is_given_back_as_it_was_written(self, world: World) -> None:
        announce(world, release("r1"), delay=timedelta(0))
        (read,) = world.take()
        facts: dict[str, Any] = {
            "verdict": DeployVerdict.BREAKING,
            "counts": {"verified": 40, "failed": 0},
            "changed": True,
            "breaking": True,
            "summary": "1 tool renamed",
            "level": Level.ERROR,
            "run": "run-7",
        }
        end(world, read, **facts)
        (outcome,) = outcomes(world, "r1")
        assert {name: getattr(outcome, name) for name in facts} == facts
        assert outcome.finished_at == START

    def test_old_releases_are_forgotten_and_those_under_way_are_not(self, world: World) -> None:
        world.add("api", "web")
        announce(world, release("old"), delay=timedelta(0))
        (read,) = (item for item in world.take() if item.trigger is Trigger.DEPLOY)
        end(world, read)
        announce(world, release("waits", servers=("web",)))
        world.clock.advance(31 * DAY)
        world.prune(30 * DAY)
        with world.store.read() as reader:
            assert [item.id for item in reader.releases()] == ["waits"]
        assert outcomes(world, "old") == ()


def test_releases_are_read_newest_first_by_server_and_ref(world: World) -> None:
    world.add("api", "web")
    for number in range(4):
        servers = ("api",) if number % 2 else ("api", "web")
        announce(world, release(f"r{number}", world.clock(), servers, ref=f"v{number // 2}"))
        world.clock.advance(MINUTE)
    with world.store.read() as reader:
        assert [item.id for item in reader.releases(limit=2)] == ["r3", "r2"]
        assert [item.id for item in reader.releases("web")] == ["r2", "r0"]
        assert [item.id for item in reader.releases(before=START + MINUTE)] == ["r0"]
        assert [item.id for item in reader.releases("api", ref="v1", limit=1)] == ["r3"]
        assert reader.releases("unknown") == []
        assert reader.release("unknown") is None


def test_what_was_confirmed_at_a_time(world: World) -> None:
    subject = "toolset:modern:token"
    world.record(changes=confirmed("old", START))
    world.clock.advance(INTERVAL)
    stretch = Interval(subject=subject, value=fingerprint("new").pair, since=world.clock())
    world.record(changes=replace(confirmed("new", world.clock()), intervals=(stretch,)))
    with world.store.read() as reader:
        assert reader.confirmed_at("api", subject, START - SECOND) is None
        assert reader.confirmed_at("api", subject, START) == fingerprint("old").pair
        assert reader.confirmed_at("api", subject, START + INTERVAL - SECOND) == fingerprint("old").pair
        assert reader.confirmed_at("api", subject, START + DAY) == fingerprint("new").pair


def test_an_event_is_found_by_its_id(world: World) -> None:
    told = world.tell("e1")
    with world.store.read() as reader:
        assert reader.event("e1") == told
        assert reader.event("e2") is None
