"""What a pipeline's gate says of a toolset that nobody has accepted, however often the job is run."""

from driftwatch import actions
from driftwatch.demo.sample import RELEASES
from driftwatch.deploys import GATES, DeployOutcome
from driftwatch.model import DeployVerdict, Era, EventKind
from driftwatch.store.sqlite import SqliteStore
from driftwatch.transitions import toolset_subject
from tests.service.world import World

MORE = {**RELEASES["v1"][0], "name": "cancel_order"}


async def deployed(world: World, ref: str) -> tuple[set[str], DeployOutcome]:
    """The gates that do not let a release pass, and what became of it."""
    outcome = await world.settle(world.announce(ref))
    return {gate for gate in GATES if outcome.trips(gate)} - {"risk"}, outcome


def accept(world: World) -> None:
    """A person makes what is served the baseline."""
    store = SqliteStore(world.folder / "driftwatch.db")
    try:
        with store.write() as tx:
            memory = tx.memory("bookshop")
            assert memory is not None
            served = memory.states[toolset_subject(Era.MODERN, "anonymous")].confirmed
            actions.accept(tx, "bookshop", served, by="ann", reason="meant", now=world.clock.now())
    finally:
        store.close()


async def test_a_breaking_release_passes_no_gate_until_somebody_accepts_it(world: World) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.tools = RELEASES["v1"][:-1]
        tripped, outcome = await deployed(world, "v2")
        assert tripped == {"drift", "breaking"}
        assert outcome.summary == "1 tool removed"
        for ref in ("v2", "v3"):
            tripped, outcome = await deployed(world, ref)
            assert tripped == {"drift", "breaking"}
            assert outcome.verdict is DeployVerdict.BREAKING
            assert outcome.summary == "differs from the accepted baseline since release v2: 1 tool removed"
        accept(world)
        tripped, outcome = await deployed(world, "v3")
    assert tripped == set()
    assert (outcome.verdict, outcome.summary) == (DeployVerdict.OK, "")


async def test_a_release_on_top_of_an_unaccepted_one_is_judged_with_it_as_a_whole(world: World) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.tools = RELEASES["v1"][1:]
        await deployed(world, "v2")
        world.sample.tools = (*RELEASES["v1"][1:], MORE)
        tripped, outcome = await deployed(world, "v3")
    assert tripped == {"drift", "breaking"}
    # The tool that was removed came back with another name: for who knows the accepted list it is renamed.
    assert outcome.summary == "differs from the accepted baseline since release v2: 1 tool renamed"


async def test_a_rollback_to_the_accepted_list_passes_the_first_time(world: World) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.tools = (*RELEASES["v1"][1:], MORE)
        await deployed(world, "v2")
        world.sample.tools = RELEASES["v1"]
        tripped, outcome = await deployed(world, "v1")
    assert tripped == set()
    assert outcome.verdict is DeployVerdict.OK


async def test_what_a_deploy_makes_the_baseline_by_itself_is_drift_once(world: World) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.tools = (*RELEASES["v1"], MORE)
        assert (await deployed(world, "v2"))[0] == {"drift"}
        assert (await deployed(world, "v2"))[0] == set()


async def test_a_change_that_was_there_before_any_release_says_since_when(world: World) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.tools = (*RELEASES["v1"], MORE)
        await world.clock.advance_until(lambda: EventKind.TOOLSET_CHANGED in world.kinds())
        tripped, outcome = await deployed(world, "v2")
    assert tripped == {"drift"}
    assert outcome.verdict is DeployVerdict.DRIFT
    assert outcome.summary.startswith("differs from the accepted baseline since 20")
    assert outcome.summary.endswith(" UTC: 1 tool added")
