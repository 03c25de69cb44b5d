from dataclasses import replace

from driftwatch.model import Trigger
from driftwatch.store.ports import DeliveryPlan, MessageStatus
from driftwatch.store.sqlite import SqliteStore
from driftwatch.transitions import Changes, Interval
from tests.store.world import (
    DAY,
    HOUR,
    INTERVAL,
    MINUTE,
    START,
    World,
    certificate,
    confirmed,
    event,
    failed,
    fingerprint,
    incident,
    request,
    sent,
    state,
    toolset,
)

CHECK = "check:transport/endpoint"
KEEP = 30 * DAY


def events(world: World) -> set[str]:
    with world.store.read() as reader:
        return {item.id for item in reader.events(limit=10_000)}


def count(world: World, table: str) -> int:
    with world.store.read() as reader:
        rows: int = reader._connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar()  # type: ignore[attr-defined]
    return rows


def deliver(world: World, *channels: str) -> None:
    with world.store.write() as tx:
        claim = tx.claim("me", MINUTE, channels)
        assert claim is not None
        assert tx.settle(claim, sent(world.clock()))


def test_old_runs_and_ended_stretches_go_and_the_present_stays(world: World) -> None:
    world.record(changes=Changes(intervals=(Interval(subject=CHECK, value="a", since=START),)))
    world.clock.advance(DAY)
    changed = (Interval(subject=CHECK, value="b", since=world.clock()),)
    world.record(changes=Changes(states=(state(CHECK, "b"),), intervals=changed))
    world.clock.advance(KEEP + DAY)
    world.record()

    pruned = world.prune(KEEP)
    assert (pruned.runs, pruned.intervals) == (2, 1)
    with world.store.read() as reader:
        assert [run.id for run in reader.runs("api")] == ["run-3"]
        assert [stretch.value for stretch in reader.intervals("api")] == ["b"]
        memory = reader.memory("api")
    assert memory is not None
    assert memory.states[CHECK].confirmed == "b"


def test_many_rows_go_in_small_transactions(world: World) -> None:
    world.add("api", "other")
    for name in ("api", "other"):
        with world.store.write() as tx:
            for number in range(23):
                tx.record_event(event(f"{name}-{number}", server=name), ())
    for name in ("api", "other"):
        for _ in range(7):
            world.record(name)
            world.clock.advance(MINUTE)
    world.clock.advance(KEEP + DAY)

    with world.statements() as sent_statements:
        pruned = world.prune(KEEP, batch=10)
    assert (pruned.runs, pruned.events) == (14, 46)
    deletes = [statement for statement in sent_statements if statement.startswith("DELETE FROM event")]
    assert len(deletes) == 5


def test_what_an_open_incident_began_with_stays_until_it_is_closed(world: World) -> None:
    opened = incident("i1", CHECK, START, opening_event="e1")
    world.record(changes=Changes(incidents=(opened,), events=(event("e1"), event("e2"))))
    world.clock.advance(KEEP + DAY)
    world.prune(KEEP)
    assert events(world) == {"e1"}
    with world.store.read() as reader:
        memory = reader.memory("api")
    assert memory is not None
    assert memory.incidents == {CHECK: opened}

    with world.store.write() as tx:
        closed = replace(opened, closed_at=world.clock(), closing_event="e3")
        tx.apply("api", Changes(incidents=(closed,)), ())
    world.prune(KEEP)
    assert events(world) == set()
    assert count(world, "incident") == 1
    world.clock.advance(KEEP + DAY)
    world.prune(KEEP)
    assert count(world, "incident") == 0


def test_what_somebody_is_still_to_be_told_stays(world: World) -> None:
    for id_, channels in (
        ("waits", ["chat"]),
        ("frozen", ["chat", "mail"]),
        ("told", ["chat"]),
        ("dead", ["chat"]),
    ):
        world.tell(id_, *channels)
    with world.store.write() as tx:
        tx.record_event(
            event("silenced"),
            [DeliveryPlan(event="silenced", channel="chat", not_before=START, suppressed_by="s")],
        )
    world.freeze("m1", "chat", "told")
    deliver(world, "chat")
    world.freeze("m2", "chat", "dead")
    with world.store.write() as tx:
        claim = tx.claim("me", MINUTE, ["chat"])
        assert claim is not None
        tx.settle(claim, failed(START, None))
    world.freeze("m3", "chat", "frozen")
    world.clock.advance(KEEP + DAY)

    pruned = world.prune(KEEP)
    assert events(world) == {"waits", "frozen"}
    assert (pruned.events, pruned.messages) == (3, 2)
    with world.store.read() as reader:
        assert [record.message.id for record in reader.messages()] == ["m3"]
        assert reader.messages(MessageStatus.PENDING)


def test_tool_lists_that_matter_now_stay_with_their_bodies(world: World) -> None:
    world.record(changes=confirmed("a", START), toolsets=[toolset("a", instructions="one")])
    world.clock.advance(HOUR)
    world.record(toolsets=[toolset("never")])
    world.clock.advance(HOUR)
    world.record(changes=confirmed("b", world.clock()), toolsets=[toolset("b")])
    world.clock.advance(HOUR)
    now = confirmed("c", world.clock(), accepted=fingerprint("b").pair, pending=fingerprint("d").pair)
    world.record(changes=now, toolsets=[toolset("c"), toolset("d", era="legacy"), toolset("d")])
    world.clock.advance(KEEP + DAY)

    pruned = world.prune(KEEP)
    with world.store.read() as reader:
        kept = {
            word for word in ("a", "never", "b", "c", "d") if reader.toolset("api", fingerprint(word).pair)
        }
        memory = reader.memory("api")
    assert kept == {"b", "c", "d"}  # accepted, confirmed, in doubt
    assert pruned.toolsets == 3
    assert count(world, "body") == 3
    assert memory is not None
    assert set(memory.seen_fingerprints) == {fingerprint("b").pair, fingerprint("c").pair}


def test_certificates_that_are_gone_go_and_the_present_one_stays(world: World) -> None:
    for leaf in ("old", "new"):
        world.record(certificate=certificate(leaf, START + 90 * DAY))
        world.clock.advance(INTERVAL)
    world.clock.advance(KEEP + DAY)
    world.prune(KEEP)
    with world.store.read() as reader:
        memory = reader.memory("api")
    assert memory is not None
    assert memory.certificate == certificate("new", START + 90 * DAY)
    assert count(world, "certificate") == 1


def test_a_removed_server_goes_when_its_history_has_aged_away(world: World) -> None:
    world.record(changes=Changes(states=(state(CHECK, "a"),), events=(event("e1"),)), toolsets=[toolset("a")])
    world.add("other")
    world.clock.advance(KEEP - DAY)
    world.prune(KEEP)
    assert count(world, "server") == 2
    world.clock.advance(2 * DAY)
    world.prune(KEEP)
    assert [count(world, table) for table in ("server", "subject_state", "toolset", "run", "event")] == [
        1,
        0,
        0,
        0,
        0,
    ]
    world.prune(KEEP)
    assert count(world, "body") == 0


def test_a_size_limit_shortens_the_history_and_the_file_gets_smaller(world: World) -> None:
    assert isinstance(world.store, SqliteStore)
    for day in range(60):
        with world.store.write() as tx:
            for number in range(40):
                tx.record_event(event(f"{day}-{number}", at=world.clock(), details={"text": "x" * 2000}), ())
        world.clock.advance(DAY)
    world.record(
        asked=request("api", world.clock(), Trigger.MANUAL), changes=Changes(states=(state(CHECK, "a"),))
    )
    limit = 2 * 2**20

    pruned = world.prune(keep=365 * DAY, max_bytes=limit)
    assert pruned.events > 1000
    assert pruned.bytes_freed > 2 * limit
    world.store.close()
    assert world.store.path.stat().st_size < limit
    left = events(world)
    assert {f"59-{number}" for number in range(40)} <= left, "the newest stay"
    with world.store.read() as reader:
        assert reader.runs("api")


def test_a_limit_that_cannot_be_met_leaves_the_last_day(world: World) -> None:
    for hour in range(72):
        with world.store.write() as tx:
            tx.record_event(event(f"e{hour}", at=START + hour * HOUR), ())
    world.clock.advance(72 * HOUR)
    world.prune(keep=90 * DAY, max_bytes=1)
    assert events(world) == {f"e{hour}" for hour in range(48, 72)}
