from dataclasses import replace

import pytest

from driftwatch.model import EventKind, Level, State
from driftwatch.store.ports import Store
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
    fingerprint,
    incident,
    results,
    state,
    toolset,
)

CHECK = "check:transport/endpoint"


def test_events_are_paged_below_a_keyset_without_gaps_or_repeats(world: World) -> None:
    # Several at the same moment, so that time alone cannot tell pages apart.
    happened = [event(f"e{number:02}", at=START + (number // 4) * MINUTE) for number in range(22)]
    with world.store.write() as tx:
        for item in happened:
            tx.record_event(item, ())

    found, before = [], None
    while True:
        with world.store.read() as reader:
            page = reader.events("api", before=before, limit=5)
        if not page:
            break
        found += page
        before = (page[-1].at, page[-1].id)
    assert found == happened[::-1]


def test_events_can_be_asked_for_by_kind_and_server(world: World) -> None:
    world.add("api", "other")
    with world.store.write() as tx:
        tx.record_event(event("e1", kind=EventKind.CHANGE), ())
        tx.record_event(event("e2", kind=EventKind.RECOVERY, level=Level.INFO), ())
        tx.record_event(event("e3", server="other", kind=EventKind.CHANGE), ())
        tx.record_event(event("e4", server=None, kind=EventKind.CLOCK_STEP), ())
    with world.store.read() as reader:
        assert [item.id for item in reader.events(kinds=[EventKind.CHANGE])] == ["e3", "e1"]
        assert [item.id for item in reader.events("api")] == ["e2", "e1"]
        assert [item.id for item in reader.events(limit=2)] == ["e4", "e3"]
        assert reader.events("nobody") == []


def test_runs_are_paged_newest_first(world: World) -> None:
    for _ in range(7):
        world.record()
        world.clock.advance(INTERVAL)
    with world.store.read() as reader:
        newest = reader.runs("api", limit=3)
        older = reader.runs("api", before=newest[-1].taken_at, limit=3)
        assert [run.id for run in newest + older] == ["run-7", "run-6", "run-5", "run-4", "run-3", "run-2"]


def test_stretches_can_be_asked_for_by_subject(world: World) -> None:
    for number, value in enumerate(["verified", "failed:dns", "verified"]):
        since = START + number * HOUR
        stretches = (
            Interval(subject=CHECK, value=value, since=since),
            Interval(subject="eras", value=value, since=since),
        )
        world.record(changes=Changes(intervals=stretches), taken_at=since)
    with world.store.read() as reader:
        assert [(item.value, item.until) for item in reader.intervals("api", CHECK)] == [
            ("verified", None),
            ("failed:dns", START + 2 * HOUR),
            ("verified", START + HOUR),
        ]
        assert len(reader.intervals("api")) == 6
        newest = reader.intervals("api", limit=3)
        older = reader.intervals("api", before=(newest[-1].since, newest[-1].id), limit=4)
        assert newest + older == reader.intervals("api")
        assert reader.intervals("nobody") == []


def test_the_status_shows_every_configured_server_by_name_with_what_is_remembered(world: World) -> None:
    world.add("api", "zoo", "beta")
    leaf = certificate("aa", START + 30 * DAY)
    open_incident = incident("i1", CHECK, START)
    changes = confirmed("abc", START)
    world.record(
        changes=Changes(states=(*changes.states, state(CHECK, "failed:dns")), incidents=(open_incident,)),
        toolsets=[toolset("abc")],
        certificate=leaf,
        results=results(verified=3, failed=1),
    )
    world.clock.advance(INTERVAL)
    world.record("zoo", results=results(verified=2))

    with world.store.read() as reader:
        api, beta, zoo = reader.status()
        assert [item.record.name for item in (api, beta, zoo)] == ["api", "beta", "zoo"]
        assert api.memory == reader.memory("api")
        assert (api.certificate, beta.certificate) == (leaf, None)
        assert api.memory.incidents == {CHECK: open_incident}
        assert api.memory.seen_fingerprints == {fingerprint("abc").pair: START}
        assert (beta.last_run, beta.memory.last_run_at) == (None, None)
        assert zoo.last_run is not None
        assert (zoo.last_run.id, zoo.last_run.counts["verified"]) == ("run-2", 2)


def test_the_fleet_is_paged_by_name_with_the_states_of_its_checks_counted(world: World) -> None:
    world.add("api", "zoo", "beta")
    open_incident = incident("i1", CHECK, START)
    pair = fingerprint("abc").pair
    changes = Changes(
        states=(
            state(CHECK, "failed:dns"),
            state("check:mcp/a", "observed_risk:b"),
            state("check:mcp/b", "verified", blocked_by="transport/endpoint", blocked_since=START + HOUR),
            state("check:mcp/c", "verified"),
            state("toolset:modern:token", pair),
        ),
        incidents=(open_incident,),
    )
    world.record(changes=changes, results=results(failed=1))
    world.record("zoo", Changes(states=(state("check:mcp/a", "observed_risk:b"),)))

    with world.store.read() as reader:
        api, beta, zoo = reader.overview()
        assert [item.record.name for item in (api, beta, zoo)] == ["api", "beta", "zoo"]
        assert {each.value: number for each, number in api.counts.items()} == {
            "verified": 1,
            "failed": 1,
            "observed_risk": 1,
            "not_checked": 1,
        }
        assert api.changed_at == START + HOUR
        assert [each.confirmed for each in api.toolsets] == [pair]
        assert api.incidents == (open_incident,)
        assert (beta.changed_at, beta.last_run, sum(beta.counts.values())) == (None, None, 0)
        assert [item.record.name for item in reader.overview(limit=2)] == ["api", "beta"]
        assert [item.record.name for item in reader.overview("beta", 2)] == ["zoo"]
        assert [item.record.name for item in reader.overview(state=State.FAILED)] == ["api"]
        assert [item.record.name for item in reader.overview(state=State.OBSERVED_RISK)] == ["api", "zoo"]
        assert [item.record.name for item in reader.status("api", 1)] == ["beta"]


def test_messages_are_paged_below_a_keyset(world: World) -> None:
    for number in range(5):
        world.tell(f"e{number}", "chat")
        world.freeze(f"m{number}", "chat", f"e{number}")
    with world.store.read() as reader:
        newest = reader.messages(limit=2)
        last = newest[-1].message
        older = reader.messages(before=(last.created_at, last.id))
    assert [item.message.id for item in newest + older] == ["m4", "m3", "m2", "m1", "m0"]


def test_events_can_be_asked_for_from_a_time_on(world: World) -> None:
    with world.store.write() as tx:
        for number in range(4):
            tx.record_event(event(f"e{number}", at=START + number * HOUR), ())
    with world.store.read() as reader:
        assert [item.id for item in reader.events(since=START + 2 * HOUR)] == ["e3", "e2"]


def test_a_read_sees_one_moment(world: World) -> None:
    with world.store.read() as reader:
        before = reader.runs("api")
        world.record()
        assert reader.runs("api") == before == []
    with world.store.read() as reader:
        assert len(reader.runs("api")) == 1


def test_a_toolset_of_another_server_is_not_shown(world: World) -> None:
    world.add("api", "other")
    world.record("other", toolsets=[toolset("abc")])
    with world.store.read() as reader:
        assert reader.toolset("api", fingerprint("abc").pair) is None
        assert reader.toolset("nobody", fingerprint("abc").pair) is None
        assert reader.toolset("other", "dw1:never.seen") is None


async def test_work_runs_on_other_threads_and_its_value_and_errors_come_back(
    store: Store, world: World
) -> None:
    await store.transact(lambda tx: tx.record_event(event("e1"), ()))
    assert [item.id for item in await store.query(lambda reader: reader.events())] == ["e1"]
    with pytest.raises(ZeroDivisionError):
        await store.transact(lambda _: 1 / 0)
    assert [item.id for item in await store.query(lambda reader: reader.events())] == ["e1"]


def test_what_was_last_known_of_a_tool_is_what_the_newest_confirmed_list_had_of_it(world: World) -> None:
    world.add("api")
    a1, a2, a3 = ({"name": "a", "title": title} for title in ("first", "second", "never confirmed"))
    lists = {"one": [a1, {"name": "b"}], "two": [a2], "three": [{"name": "c"}]}
    for word, tools in lists.items():
        at = world.clock.advance(HOUR)
        world.record(changes=confirmed(word, at), toolsets=[toolset(word, *tools)])
    world.clock.advance(HOUR)
    world.record(toolsets=[toolset("four", a3)])
    with world.store.read() as reader:
        known = reader.last_known("api", "toolset:modern:token", ["a", "b", "d"])
        assert known.tools == (a2, {"name": "b"})
        assert reader.last_known("api", "toolset:modern:token", ["a", "b"], at - HOUR).tools == (
            a1,
            {"name": "b"},
        )
        assert reader.last_known("api", "toolset:legacy:token", ["a"]).tools == ()
        assert reader.last_known("nobody", "toolset:modern:token", ["a"]).tools == ()


def test_what_was_last_known_of_a_prompt_is_found_too(world: World) -> None:
    world.add("api")
    lists = {"one": [{"name": "p", "title": "old"}, {"name": "q"}], "two": [{"name": "p", "title": "new"}]}
    for word, prompts in lists.items():
        at = world.clock.advance(HOUR)
        record = replace(toolset(word, {"name": "a"}), further=(("prompts", tuple(prompts)),))
        world.record(changes=confirmed(word, at), toolsets=[record])
    with world.store.read() as reader:
        known = reader.last_known("api", "toolset:modern:token", ["p"])
        assert known.further == (("prompts", ({"name": "p", "title": "new"},)),)
