"""What the store gives back is what the state machine says it should remember."""

from datetime import timedelta
from random import Random

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftwatch.model import Depth, Era, Report, Trigger
from driftwatch.store.ports import DeliveryPlan, RunRecord, Tx
from driftwatch.transitions import Changes, Memory, Policy
from tests.store.world import World, request
from tests.store.world import toolset as tool_list
from tests.transitions.timeline import HEALTHY, START, Timeline, View, down

VIEWS = [
    HEALTHY,
    HEALTHY.offering("abcd"),
    HEALTHY.offering("ab"),
    HEALTHY.offering("xyz", Era.LEGACY),
    HEALTHY.but(tools__pagination="failed:loop"),
    HEALTHY.but(tools__pagination="observed_risk:cap", session__ended="failed:alive"),
    HEALTHY.but(tls__expiry="observed_risk:expiring"),
    down("dns"),
    down("http-5xx"),
    View(leaf="one"),
    View(leaf="two"),
    View(tools={}),
]
STEPS = st.tuples(
    st.integers(0, len(VIEWS) - 1),
    st.sampled_from(Depth),
    st.sampled_from([Trigger.INTERVAL, Trigger.CONFIRM, Trigger.DEPLOY]),
    st.sampled_from([15, 60, 15 * 60, 24 * 3600]),
)


class StoredTimeline(Timeline):
    """A timeline whose memory goes through the store at every probe."""

    world: World

    def through(self, world: World) -> "StoredTimeline":
        self.world = world
        return self

    def compare(self, view: View, depth: Depth, trigger: Trigger) -> tuple[Memory | None, Memory]:
        """What the state machine and what the store remembers after one probe."""
        before = self.memory
        self.probe(view, depth=depth, trigger=trigger)
        report = self.report(view, depth, trigger)
        with self.world.store.write() as tx:
            assert tx.lock_server("api") == (before or Memory(server="api"))
            self._write(tx, report, view, self.changes)
        with self.world.store.read() as reader:
            stored = reader.memory("api")
        assert stored is not None
        return self.memory, stored

    def _write(self, tx: Tx, report: Report, view: View, changes: Changes) -> None:
        asked = request("api", report.taken_at, report.trigger, depth=report.depth)
        lists = tuple(
            tool_list(tools, era=era.value, credential=self.credential) for era, tools in view.tools.items()
        )
        run = RunRecord(id=f"run-{self.made}", request=asked, report=report, toolsets=lists)
        assert tx.record_run(run)
        plans = [
            DeliveryPlan(event=event.id, channel="chat", not_before=event.at)
            for event in changes.events
            if event.alerts
        ]
        tx.apply("api", changes, plans)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEPS, min_size=1, max_size=25), number=st.integers(0, 10**9))
def test_the_store_remembers_what_the_state_machine_says(
    world: World, steps: list[tuple[int, Depth, Trigger, int]], number: int
) -> None:
    forget_everything(world)
    timeline = StoredTimeline(policy=Policy(confirm=2, flap_count=3)).through(world)
    random = Random(number)
    for index, depth, trigger, seconds in steps:
        # A view often lasts, else nothing would ever be confirmed.
        for _ in range(random.choice([1, 1, 3])):
            expected, stored = timeline.compare(VIEWS[index], depth, trigger)
            assert stored == expected
            timeline.now += timedelta(seconds=seconds)


def test_every_event_of_a_long_history_is_stored_once_and_waits_for_its_channel(world: World) -> None:
    timeline = StoredTimeline().through(world)
    for view in (HEALTHY, down(), down(), down(), HEALTHY, HEALTHY, HEALTHY, HEALTHY.offering("abcd")):
        for _ in range(2):
            timeline.compare(view, Depth.FULL, Trigger.INTERVAL)
            timeline.now += timedelta(minutes=15)

    with world.store.read() as reader:
        stored = reader.events("api", limit=1000)
    assert {event.id: event for event in stored} == {event.id: event for event in timeline.events}
    with world.store.write() as tx:
        waiting = tx.pending_deliveries(timeline.now)
    assert [item.event.id for item in waiting] == [
        event.id for event in sorted(timeline.events, key=lambda event: (event.at, event.id)) if event.alerts
    ]


def forget_everything(world: World) -> None:
    """Hypothesis runs many histories through one database."""
    with world.store.write() as tx:
        tx.import_servers([], START)
    with world.store._writing.begin() as connection:  # type: ignore[attr-defined]
        for table in ("event_delivery", "event", "server"):
            connection.exec_driver_sql(f"DELETE FROM {table}")
    world.add("api", due=START)
