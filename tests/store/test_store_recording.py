from dataclasses import replace

import pytest

from driftwatch.errors import StoreError
from driftwatch.model import Depth, EventKind, Level, Trigger
from driftwatch.store.ports import DeliveryPlan, Store
from driftwatch.transitions import Changes, ConfirmProbe, Incident, Interval, Memory, SubjectState
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
    request,
    results,
    run,
    state,
    toolset,
)

DNS = "check:transport/endpoint"
TOOLSET = "toolset:modern:token"


def remembered(world: World, name: str = "api") -> Memory:
    with world.store.read() as reader:
        memory = reader.memory(name)
    assert memory is not None
    return memory


def test_a_run_is_remembered_with_its_counts_and_not_its_results(world: World) -> None:
    world.record(results=results(verified=20, failed=2, observed_risk=3, not_checked=1), reachable=False)

    with world.store.read() as reader:
        (summary,) = reader.runs("api")
    assert summary.id == "run-1"
    assert summary.taken_at == START
    assert (summary.trigger, summary.depth) == ("interval", "light")
    assert (summary.duration_s, summary.requests, summary.reachable) == (0.25, 5, False)
    assert summary.counts == {"verified": 20, "failed": 2, "observed_risk": 3, "not_checked": 1}


def test_replaying_a_run_changes_nothing(world: World) -> None:
    record = world.record(changes=Changes(states=(state(DNS, "verified"),)))

    with world.store.write() as tx:
        tx.lock_server("api")
        assert not tx.record_run(replace(record, id="another id for the same probe"))
    with world.store.read() as reader:
        assert [summary.id for summary in reader.runs("api")] == ["run-1"]


def test_the_same_moment_with_another_trigger_is_another_run(world: World) -> None:
    world.record()
    world.record(asked=request("api", START, Trigger.CONFIRM))

    with world.store.read() as reader:
        assert {summary.trigger for summary in reader.runs("api")} == {"interval", "confirm"}


def test_nothing_of_a_transaction_that_failed_is_left(world: World) -> None:
    def fail_at_the_end() -> None:
        with world.store.write() as tx:
            tx.lock_server("api")
            tx.record_run(run("api", id_="run", taken_at=START, toolsets=[toolset("abc")]))
            tx.apply("api", Changes(states=(state(DNS, "verified"),)), ())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_at_the_end()

    assert remembered(world) == Memory(server="api")
    with world.store.read() as reader:
        assert reader.runs("api") == []
        assert reader.toolset("api", fingerprint("abc").pair) is None


def test_a_server_that_was_never_configured_is_unknown(store: Store) -> None:
    with store.read() as reader:
        assert reader.memory("nobody") is None
        assert reader.runs("nobody") == []
    with store.write() as tx:
        assert tx.lock_server("nobody") is None
        with pytest.raises(StoreError, match="no server named 'nobody'"):
            tx.record_run(run("nobody", id_="run", taken_at=START))


def test_every_field_of_a_state_comes_back(world: World) -> None:
    full = SubjectState(
        subject=DNS,
        confirmed="failed:dns",
        confirmed_since=START - HOUR,
        last_observed_at=START,
        accepted="verified",
        pending="verified",
        pending_count=2,
        pending_since=START - MINUTE,
        blocked_by="tls/chain",
        blocked_since=START - 2 * MINUTE,
        blocked_code="certificate",
        flap_times=(START - HOUR, START - MINUTE),
        flap_values=("verified", "failed:dns"),
        flapping=True,
        flap_muted=3,
        turns={"verified": 2, "": 1},
        turning_since=START - 3 * MINUTE,
        stable_count=4,
        incident="incident-1",
        version=7,
        settings="digest",
        detail={"findings": [{"message": "x", "pointer": None}], "n": 1.5},
    )
    world.record(changes=Changes(states=(full,)))

    assert remembered(world).states == {DNS: full}


def test_an_unchanged_probe_rewrites_no_state_and_still_says_when_each_was_seen(world: World) -> None:
    light, deep, lost = (state(subject, "verified") for subject in ("check:a/light", "check:a/deep", TOOLSET))
    world.record(changes=Changes(states=(light, deep, lost)))
    later = world.clock.advance(INTERVAL)
    # A light probe with an unreadable list: only one of the three was seen, and it is as it was.
    seen = replace(light, last_observed_at=later)
    with world.statements() as sent:
        world.record(changes=Changes(states=(seen,)))

    assert [statement for statement in sent if statement.startswith("INSERT")] == [
        statement for statement in sent if statement.startswith("INSERT INTO run")
    ]
    memory = remembered(world)
    assert memory.last_run_at == later
    assert memory.states == {state.subject: state for state in (seen, deep, lost)}


def test_a_state_that_was_read_back_and_not_changed_is_not_a_change(world: World) -> None:
    detail = {"clients": ("Claude.ai",), "nested": {"b": 1, "a": ("x",)}}
    world.record(changes=Changes(states=(state(DNS, "verified", detail=detail),)))
    again = state(DNS, "verified", detail=detail, last_observed_at=world.clock.advance(INTERVAL))

    with world.statements() as sent:
        world.record(changes=Changes(states=(again,)))
    assert not any("INTO subject_state" in statement for statement in sent)
    assert remembered(world).states[DNS].last_observed_at == world.clock()


def test_a_run_that_was_recorded_and_not_applied_leaves_the_states_as_last_seen(world: World) -> None:
    world.record(changes=Changes(states=(state(DNS, "verified"),)))
    later = world.clock.advance(INTERVAL)
    with world.store.write() as tx:
        tx.lock_server("api")
        tx.record_run(run("api", id_="offline", taken_at=later))

    memory = remembered(world)
    assert (memory.last_run_at, memory.states[DNS].last_observed_at) == (later, START)


def test_a_state_may_change_without_a_probe(world: World) -> None:
    world.record(
        changes=Changes(states=(state(DNS, "failed:dns", accepted=None), state("check:x/y", "verified")))
    )
    memory = remembered(world)
    world.clock.advance(HOUR)
    accepted = replace(memory.states[DNS], accepted="failed:dns")

    with world.store.write() as tx:
        assert tx.lock_server("api") == memory
        tx.apply("api", Changes(states=(accepted,)), ())
    assert remembered(world) == replace(memory, states={**memory.states, DNS: accepted})


def test_a_new_stretch_ends_the_one_before(world: World) -> None:
    world.record(changes=Changes(intervals=(Interval(subject=DNS, value="verified", since=START),)))
    failed_at = world.clock.advance(HOUR)
    world.record(
        changes=Changes(intervals=(Interval(subject=DNS, value="failed:dns", since=failed_at, event="e1"),))
    )

    with world.store.read() as reader:
        newest, oldest = reader.intervals("api", DNS)
    assert (newest.value, newest.since, newest.until, newest.event) == ("failed:dns", failed_at, None, "e1")
    assert (oldest.value, oldest.since, oldest.until) == ("verified", START, failed_at)


def test_a_stretch_never_ends_before_it_began(world: World) -> None:
    world.record(changes=Changes(intervals=(Interval(subject=DNS, value="a", since=START),)))
    before = world.clock.advance(-HOUR)
    world.record(changes=Changes(intervals=(Interval(subject=DNS, value="b", since=before),)))

    with world.store.read() as reader:
        stretches = {stretch.value: stretch for stretch in reader.intervals("api", DNS)}
    assert stretches["a"].until == START


def test_an_incident_is_open_until_it_is_closed_and_the_next_may_open_in_the_same_breath(
    world: World,
) -> None:
    first = incident("i1", DNS, START, next_reminder_at=START + DAY)
    world.record(changes=Changes(incidents=(first,)))
    assert remembered(world).incidents == {DNS: first}
    acked = replace(first, acked_at=START + HOUR, acked_by="on call: \ud800")
    with world.store.write() as tx:
        tx.apply("api", Changes(incidents=(acked,)), ())
    assert remembered(world).incidents == {DNS: acked}

    world.clock.advance(INTERVAL)
    second = incident("i2", DNS, world.clock())
    closed = replace(acked, closed_at=world.clock(), closing_event="e2", next_reminder_at=None)
    world.record(changes=Changes(incidents=(second, closed)))
    assert remembered(world).incidents == {DNS: second}


def test_events_and_their_deliveries_are_written_once_however_often_they_are_told(world: World) -> None:
    happened = event(
        "e1", subject=DNS, before="verified", after="failed:dns", since=START - MINUTE, run="run-1"
    )
    plans = [DeliveryPlan(event="e1", channel="chat", not_before=START)]
    world.record(changes=Changes(events=(happened,)), plans=plans)
    with world.store.write() as tx:
        tx.record_event(happened, plans)

    with world.store.read() as reader:
        assert reader.events("api") == [happened]
    with world.store.write() as tx:
        (waiting,) = tx.pending_deliveries(START)
    assert (waiting.event, waiting.channel, waiting.not_before) == (happened, "chat", START)


def test_an_event_of_driftwatch_itself_has_no_server(world: World) -> None:
    own = event("e1", server=None, kind=EventKind.MONITOR_OFFLINE, level=Level.ERROR, details={"hosts": 3})
    with world.store.write() as tx:
        tx.record_event(own, ())
    with world.store.read() as reader:
        assert reader.events() == [own]
        assert reader.events("api") == []


def test_a_planned_confirmation_stays_until_a_run_says_otherwise(world: World) -> None:
    plan = ConfirmProbe(due_at=START + MINUTE, depth=Depth.FULL)
    world.record(changes=Changes(confirm=plan))
    with world.store.read() as reader:
        record = reader.server("api")
    assert record is not None
    assert (record.confirm_due_at, record.confirm_depth) == (START + MINUTE, "full")

    world.clock.advance(MINUTE)
    world.record(changes=Changes())
    with world.store.read() as reader:
        record = reader.server("api")
    assert record is not None
    assert (record.confirm_due_at, record.confirm_depth) == (None, None)


class TestToolsets:
    def test_a_tool_list_comes_back_in_its_order_with_its_instructions(self, world: World) -> None:
        shown = toolset("ba", instructions="Ask first.")
        world.record(toolsets=[shown])

        with world.store.read() as reader:
            stored = reader.toolset("api", fingerprint("ba").pair)
        assert stored is not None
        assert stored.fingerprint == shown.fingerprint
        assert stored.tools == shown.tools
        assert (stored.instructions, stored.revision) == ("Ask first.", "2026-07-28")
        assert stored.first_seen_at == START

    def test_the_other_lists_come_back_with_it_and_outlive_a_clean_up(self, world: World) -> None:
        further = (("prompts", ({"name": "a"}, {"name": "b"})), ("templates", ({"uriTemplate": "x:{y}"},)))
        shown = replace(toolset("ba", instructions="Ask first."), further=further)
        world.record(changes=confirmed("ba", START), toolsets=[shown])
        world.prune(INTERVAL)

        with world.store.read() as reader:
            stored = reader.toolset("api", fingerprint("ba").pair)
        assert stored is not None
        assert stored.content == shown.content
        assert stored.further == further

    def test_each_content_is_stored_once(self, world: World) -> None:
        world.add("api", "other")
        world.record(toolsets=[toolset("abc", instructions="hello"), toolset("abc", era="legacy")])
        world.clock.advance(INTERVAL)
        world.record(toolsets=[toolset("abcd", instructions="hello")])
        world.record("other", toolsets=[toolset("ab")])
        # The same tool twice in one list, and the same again with its keys in another order.
        twice = {"name": "a", "inputSchema": {"type": "object"}}
        turned = {"inputSchema": {"type": "object"}, "name": "a"}
        world.clock.advance(INTERVAL)
        world.record(toolsets=[toolset("aaa", twice, twice, turned)])

        with world.store.read() as reader:
            count = reader._connection.exec_driver_sql("SELECT count(*) FROM body").scalar()  # type: ignore[attr-defined]
            again = reader.toolset("api", fingerprint("aaa").pair)
        assert count == len("abcd") + 1
        assert again is not None
        assert again.tools == (twice, twice, turned)

    def test_what_a_hostile_server_says_comes_back_as_it_was(self, world: World) -> None:
        hostile = {
            "name": "nul \x00, lone \ud800 and \udfff, emoji \U0001f600, bidi \u202e",
            "\x00\ud83d": ["1e400", float("inf"), float("-inf"), 'quote " Infinity \\', 10**400, 1e22, -0.0],
            "inputSchema": {"deep": [[[[[]]]]], "big": 9007199254740993, "1.0": 1.0, "true": True},
        }
        world.record(toolsets=[toolset("h", hostile, instructions="\x00\ud800")])

        with world.store.read() as reader:
            stored = reader.toolset("api", fingerprint("h").pair)
        assert stored is not None
        assert stored.tools == (hostile,)
        assert stored.instructions == "\x00\ud800"

    def test_an_empty_list_is_a_list(self, world: World) -> None:
        shown = replace(toolset("x"), tools=(), per_tool=(), fingerprint=fingerprint("none"))
        world.record(toolsets=[shown])
        with world.store.read() as reader:
            stored = reader.toolset("api", fingerprint("none").pair)
        assert stored is not None
        assert stored.tools == ()

    def test_a_list_knows_when_it_last_became_or_ceased_to_be_the_confirmed_one(self, world: World) -> None:
        world.record(changes=confirmed("a", START), toolsets=[toolset("a")])
        assert remembered(world).seen_fingerprints == {fingerprint("a").pair: START}
        changed = world.clock.advance(HOUR)
        world.record(changes=confirmed("b", changed), toolsets=[toolset("b")])
        world.clock.advance(HOUR)
        world.record(toolsets=[toolset("c")])  # seen once, never confirmed

        seen = remembered(world).seen_fingerprints
        assert seen == {fingerprint("a").pair: changed, fingerprint("b").pair: changed}


class TestCertificates:
    def test_the_last_leaf_is_remembered_also_when_a_later_probe_saw_none(self, world: World) -> None:
        leaf = certificate("aa", START + 60 * DAY)
        world.record(certificate=leaf)
        world.clock.advance(INTERVAL)
        world.record(certificate=None)

        assert remembered(world).certificate == leaf
        with world.store.read() as reader:
            assert reader.status()[0].certificate == leaf

    def test_a_network_that_alternates_two_leaves_has_two_rows(self, world: World) -> None:
        old, new = certificate("old", START + DAY), certificate("new", START + 90 * DAY)
        for leaf in (old, new, old, new, replace(new, chain_length=3)):
            world.record(certificate=leaf)
            world.clock.advance(INTERVAL)

        assert remembered(world).certificate == replace(new, chain_length=3)
        with world.store.read() as reader:
            rows = reader._connection.exec_driver_sql(  # type: ignore[attr-defined]
                "SELECT leaf_sha256, (last_seen_at - first_seen_at) / 60000000 FROM certificate ORDER BY 1"
            ).all()
        assert [tuple(row) for row in rows] == [("new", 45), ("old", 30)]


def test_incidents_of_all_kinds_come_back_whole(world: World) -> None:
    whole = Incident(
        id="i",
        subject=DNS,
        opened_at=START,
        opening_event="e",
        value="failed:dns",
        acked_at=START,
        acked_by="me",
        next_reminder_at=START + DAY,
    )
    world.record(changes=Changes(incidents=(whole,)))
    assert remembered(world).incidents[DNS] == whole
