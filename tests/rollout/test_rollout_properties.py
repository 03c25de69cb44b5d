"""Whatever a server answers, whenever a release is announced: every run ends, and nothing stays untold."""

from hypothesis import given, settings
from hypothesis import strategies as st

from driftwatch import deploys
from driftwatch.model import EventKind
from tests.rollout.scene import SECOND, Scene, scene
from tests.store.world import HOUR


@settings(max_examples=25, deadline=None)
@given(
    story=st.lists(st.tuples(st.sampled_from("hhdeddee--rw"), st.integers(1, 12)), min_size=3, max_size=25),
    last=st.sampled_from("de"),
)
def test_every_run_ends_and_nothing_stays_untold(story: list[tuple[str, int]], last: str) -> None:
    with scene() as it:
        it.announce()
        for act, seconds in story:
            it.clock.advance(seconds * SECOND)
            if act == "h":
                it.announce()
            elif act == "r":
                it.restart()
            elif act != "w":
                it.probe(act)
            # A server has one read ahead as long as a release waits for it, and none afterwards.
            assert len(it.deploy_reads()) == bool(it.under_way())
        for _ in range(40):
            it.clock.advance(10 * SECOND)
            it.probe(last)
        assert it.under_way() == []
        assert it.deploy_reads() == []
        _nothing_is_held_back(it)


def _nothing_is_held_back(it: Scene) -> None:
    it.clock.advance(HOUR)
    with it.store.write() as tx:
        due = {each.event.id for each in tx.pending_deliveries(it.clock())}
        events = tx.events(limit=1000)
        memory = tx.memory("api")
    assert memory is not None
    assert {event.id for event in events if event.alerts} == due
    changes = [event for event in events if event.kind in deploys.attribution.TOOLSETS]
    if changes:
        # The newest first: what was told last is what is confirmed now.
        assert memory.states[changes[0].subject or ""].confirmed == changes[0].after
    ends = [event for event in events if event.kind is EventKind.DEPLOYED]
    with it.store.read() as reader:
        runs = {outcome.run_release for id_ in it.announced for outcome in reader.deploy(id_)}
    assert {event.details["release"]["id"] for event in ends} == runs
