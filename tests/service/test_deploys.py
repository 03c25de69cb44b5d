"""Deploys, from the announcement to the message: real servers, a real database, a real receiver."""

from datetime import timedelta

import pytest

from driftwatch.demo.sample import RELEASES, SampleServer
from driftwatch.model import DeployState, DeployVerdict, Era, Event, EventKind, Level, Trigger
from driftwatch.transitions import toolset_subject
from tests.service.world import MovedClock, Receiver, World, serving

MODERN = toolset_subject(Era.MODERN, "anonymous")
EXTRA = {
    "name": "cancel_order",
    "description": "Cancel an order that has not left yet.",
    "inputSchema": {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]},
    "annotations": {"readOnlyHint": False, "openWorldHint": False},
}


@pytest.fixture
def world(world: World, receiver: Receiver) -> World:
    """The world of the other tests, with one channel."""
    world.channels = {"ops": receiver.url}
    return world


async def told(world: World, receiver: Receiver, number: int = 1) -> str:
    """The text of the only message, or of the last one, after some more regular probes."""
    await world.clock.advance_until(lambda: len(receiver.messages) >= number)
    await world.rounds(3)
    assert len(receiver.messages) == number
    message = receiver.messages[-1]
    return f"{message['title']}\n{message['message']}"


def triggers(world: World) -> list[str]:
    """Why the runs were made, the oldest first."""
    runs = world.read(lambda reader: reader.runs("bookshop", limit=1000))
    return [run.trigger for run in reversed(runs)]


async def test_a_release_that_changes_nothing_is_history_and_no_message(
    world: World, receiver: Receiver
) -> None:
    async with world.running():
        await world.rounds(1)
        release = world.announce("v2")
        outcome = await world.settle(release)
        await world.rounds(3)
    assert (outcome.state, outcome.verdict, outcome.changed) == (
        DeployState.SETTLED,
        DeployVerdict.OK,
        False,
    )
    assert outcome.reads == 3
    assert outcome.counts["failed"] == 0
    assert outcome.counts["verified"] > 20
    assert receiver.messages == []
    assert EventKind.DEPLOYED in world.kinds()
    runs = world.read(lambda reader: reader.runs("bookshop", limit=1000))
    looked = [run for run in reversed(runs) if run.trigger == Trigger.DEPLOY]
    # The first read is a full probe; a light one has the list and the certificate, where a rollout shows.
    assert [run.depth for run in looked] == ["full", "light", "light"]
    assert {run.release_ref for run in looked} == {release.id}


async def test_a_release_that_changes_nothing_is_told_where_that_is_asked_for(
    world: World, receiver: Receiver
) -> None:
    world.tables = "[alerts]\non_unchanged_deploy = true"
    async with world.running():
        await world.rounds(1)
        world.announce("v2", commit="abcdef0123456789", actor="ann")
        text = await told(world, receiver)
    assert "bookshop: unchanged by release v2" in text
    assert "Release: v2 (abcdef012345), by ann" in text


async def test_a_breaking_release_is_one_message_that_names_it_and_is_not_accepted(
    world: World, receiver: Receiver
) -> None:
    async with world.running():
        await world.rounds(1)
        world.announce("v1")
        await world.clock.advance_until(lambda: triggers(world).count("deploy") == 3, step_s=2)
        world.sample.deploy("v2")
        release = world.announce("v2", commit="abcdef0123456789", actor="ann", link="https://ci.example/7")
        outcome = await world.settle(release)
        text = await told(world, receiver)
        memory = world.read(lambda reader: reader.memory("bookshop"))
    assert "order_status" in text
    assert "by release v2" in text
    assert "Changed by release: v2 (abcdef012345), before it v1, by ann, https://ci.example/7" in text
    assert (outcome.verdict, outcome.breaking, outcome.level) == (DeployVerdict.BREAKING, True, Level.ERROR)
    assert "1 tool renamed" in outcome.summary
    assert memory is not None
    assert memory.states[MODERN].accepted != memory.states[MODERN].confirmed
    # Nothing was confirmed by a regular probe: those waited for the deploy's own reads.
    changed = [event for event in events(world) if event.kind is EventKind.TOOLSET_CHANGED]
    assert len(changed) == 2
    assert set(outcome.events) == {event.id for event in changed}


def events(world: World) -> list[Event]:
    return world.read(lambda reader: reader.events(limit=1000))


async def test_a_compatible_release_becomes_the_baseline_by_itself(world: World, receiver: Receiver) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.tools = (*RELEASES["v1"], EXTRA)
        outcome = await world.settle(world.announce("v1.1"))
        text = await told(world, receiver)
        memory = world.read(lambda reader: reader.memory("bookshop"))
    assert outcome.verdict is DeployVerdict.DRIFT
    assert "cancel_order" in text
    assert "Baseline: the new list" in text
    assert memory is not None
    assert memory.states[MODERN].accepted == memory.states[MODERN].confirmed


async def test_a_check_and_the_toolset_that_change_together_are_told_together(
    world: World, receiver: Receiver
) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.tools = (*RELEASES["v1"], {**EXTRA, "description": "Cancels. " * 400})
        outcome = await world.settle(world.announce("v1.1"))
        text = await told(world, receiver)
    assert "tool/description-too-long" in text
    assert "cancel_order" in text
    assert text.count("Changed by release: v1.1") == 1
    assert outcome.verdict is DeployVerdict.DRIFT
    assert outcome.trips("risk")
    assert not outcome.trips("failed")


async def test_an_announced_change_is_told_as_info(world: World, receiver: Receiver) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.deploy("v2")
        outcome = await world.settle(world.announce("v2", expect_change=True))
        await told(world, receiver)
        memory = world.read(lambda reader: reader.memory("bookshop"))
    assert outcome.level is Level.INFO
    assert outcome.verdict is DeployVerdict.BREAKING
    assert memory is not None
    assert memory.states[MODERN].accepted != memory.states[MODERN].confirmed


async def test_a_rollout_over_two_replicas_is_waited_for(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    world.tables = "[hook]\nreads = 2"
    async with world.running():
        await world.rounds(1)
        release = world.announce("v2")
        until = clock.now() + timedelta(seconds=40)

        def over() -> bool:
            # Every probe meets the other replica, until both have the release.
            new = clock.now() >= until or triggers(world).count("deploy") % 2
            world.sample.deploy("v2" if new else "v1")
            return world.outcome(release).state.over

        await clock.advance_until(over, step_s=1)
        text = await told(world, receiver)
    outcome = world.outcome(release)
    assert (outcome.state, outcome.verdict) == (DeployState.SETTLED, DeployVerdict.BREAKING)
    assert outcome.reads > 3
    assert "Changed by release: v2" in text


async def test_a_rollout_that_stops_half_way_is_told_as_unsettled_with_both_answers(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    world.tables = '[hook]\nsettle_timeout = "1m"'
    async with world.running():
        await world.rounds(1)
        release = world.announce("v2")

        def over() -> bool:
            world.sample.deploy("v2" if triggers(world).count("deploy") % 2 else "v1")
            return world.outcome(release).state.over

        await clock.advance_until(over, step_s=2)
        await clock.advance_until(lambda: bool(receiver.messages))
    (message,) = receiver.messages
    text = message["title"] + message["message"]
    outcome = world.outcome(release)
    assert (outcome.state, outcome.verdict) == (DeployState.UNSETTLED, DeployVerdict.UNSETTLED)
    assert "replicas disagree" in text
    assert text.count(" times)") >= 2
    assert "After release: v2" in text
    assert EventKind.TOOLSET_CHANGED not in world.kinds()


async def test_a_list_that_was_there_for_a_moment_is_told_although_nothing_changed(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.deploy("v2")
        release = world.announce("v2")
        await clock.advance_until(lambda: triggers(world).count("deploy") == 1, step_s=2)
        world.sample.deploy("v1")
        outcome = await world.settle(release)
        text = await told(world, receiver)
    assert outcome.verdict is DeployVerdict.OK
    assert "toolset changed for a moment by release v2" in text
    assert "get_order_status" in text


async def test_announced_twice_in_one_moment_is_one_run_and_the_latest_words(
    world: World, receiver: Receiver
) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.deploy("v2")
        first = world.announce("v2-rc")
        second = world.announce("v2")
        assert first.id == second.id
        await world.settle(second)
        text = await told(world, receiver)
    assert "by release v2" in text
    assert triggers(world).count("deploy") == 3


async def test_announced_during_a_run_is_one_more_run(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.deploy("v2")
        first = world.announce("v2")
        await clock.advance_until(lambda: triggers(world).count("deploy") == 1, step_s=1)
        clock.advance(seconds=6)
        second = world.announce("v3")
        clock.advance(seconds=6)
        third = world.announce("v4")
        await world.settle(third)
        text = await told(world, receiver)
    assert "by release v2" in text
    assert world.outcome(first).verdict is DeployVerdict.BREAKING
    assert world.outcome(second).run_release == third.id
    assert world.outcome(third).summary.startswith("differs from the accepted baseline since release v2: ")
    assert triggers(world).count("deploy") == 6


async def test_a_deploy_that_was_announced_before_a_crash_is_read_after_it(
    world: World, receiver: Receiver
) -> None:
    async with world.running():
        await world.rounds(1)
    world.sample.deploy("v2")
    release = world.announce("v2")
    async with world.running():
        await world.settle(release)
        text = await told(world, receiver)
    assert "by release v2" in text


async def test_a_run_that_was_cut_in_two_is_finished_after_the_restart(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.deploy("v2")
        release = world.announce("v2")
        await clock.advance_until(lambda: triggers(world).count("deploy") >= 1, step_s=1)
    async with world.running():
        outcome = await world.settle(release)
        text = await told(world, receiver)
    assert outcome.reads == 3
    assert "by release v2" in text


async def test_a_server_that_stays_down_after_a_deploy_is_told_once_as_after_the_release(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    sample = SampleServer("v1")
    async with serving(sample.application) as port:
        world.servers = {"bookshop": f"http://127.0.0.1:{port}/mcp"}
        async with world.running():
            await world.rounds(1)
    async with world.running():
        release = world.announce("v2")
        outcome = await world.settle(release)
        text = await told(world, receiver)
        assert outcome.verdict is DeployVerdict.FAILED
        assert "down" in text
        assert "After release: v2" in text
        assert "after release v2" in text
        async with serving(sample.application, port):
            back = await told(world, receiver, 2)
        assert "back" in back


async def test_a_server_that_restarts_during_a_deploy_is_not_told_as_down(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    async with serving(SampleServer("v1").application) as port:
        world.servers = {"bookshop": f"http://127.0.0.1:{port}/mcp"}
        async with world.running():
            await world.rounds(1)
    async with world.running():
        release = world.announce("v2")
        await clock.advance_until(lambda: triggers(world).count("deploy") >= 5, step_s=2)
        async with serving(SampleServer("v2").application, port):
            outcome = await world.settle(release)
            text = await told(world, receiver)
    assert outcome.verdict is DeployVerdict.BREAKING
    assert "down" not in text
    assert "Changed by release: v2" in text


async def test_a_change_soon_after_a_release_is_told_as_after_it(world: World, receiver: Receiver) -> None:
    async with world.running():
        await world.rounds(1)
        await world.settle(world.announce("v2"))
        world.sample.deploy("v2")
        text = await told(world, receiver)
    assert "After release: v2" in text
    assert "Changed by release" not in text


async def test_a_list_that_is_back_says_of_which_release_it_was(world: World, receiver: Receiver) -> None:
    async with world.running():
        await world.rounds(1)
        for number, (ref, tools) in enumerate((("v2", "v2"), ("v3", "v1"), ("v4", "v2")), 1):
            world.sample.deploy(tools)
            await world.settle(world.announce(ref))
            text = await told(world, receiver, number)
    assert "an earlier toolset is back" in text
    assert "It is the list of release v2 that was last seen" in text


async def test_one_release_on_several_servers_is_one_message(world: World, receiver: Receiver) -> None:
    world.servers["cellar"] = world.servers["bookshop"]
    async with world.running():
        await world.rounds(1, "cellar")
        await world.rounds(1)
        world.sample.deploy("v2")
        release = world.announce("v2", "bookshop", "cellar")
        await world.settle(release)
        text = await told(world, receiver)
    assert "2 servers" in text
    assert "by release v2" in text
    assert {world.outcome(release, name).verdict for name in release.servers} == {DeployVerdict.BREAKING}
