"""Instances whose tool lists take turns: they are told as that, and never as a change of tools."""

from collections.abc import Callable
from pathlib import Path

import pytest

from driftwatch.model import DeployState, EventKind
from tests.observe.balanced import (
    HOUR,
    NEW,
    NEWER,
    OLD,
    TURNS,
    Tools,
    about_tools,
    lines,
    sessions_at_random,
    watching,
)
from tests.specimens.http import Incoming
from tests.specimens.mcp import Mcp, tool

SERVERS: dict[str, Callable[[], Mcp]] = {
    "both-eras": Mcp,
    "modern": lambda: Mcp(legacy=False),
    "legacy": lambda: Mcp(modern=False),
    "pages": lambda: Mcp(page_size=3),
}


# A list of two pages within a session is more than a further connection reads.
@pytest.mark.parametrize(
    ("made", "turn"),
    [(made, turn) for made in SERVERS for turn in TURNS if (made, turn) != ("pages", "session")],
)
async def test_instances_in_turn_are_told_as_that_and_then_what_they_agree_on(
    tmp_path: Path, made: str, turn: str
) -> None:
    async with watching(tmp_path, SERVERS[made]()) as watch:
        watch.server.instances, watch.server.turn = [OLD, NEW], TURNS[turn]()
        told = await watch.watch(2 * HOUR)
        assert about_tools(told) == []
        assert told or turn.startswith("tenth")
        watch.server.instances = [NEWER]
        told = await watch.watch(4 * HOUR)
        eras = 2 if made in {"both-eras", "pages"} else 1
        assert len(about_tools(told)) == eras, lines(told)


@pytest.mark.parametrize("turn", ["request", "list", "connection"])
@pytest.mark.parametrize("instances", [[OLD, OLD, NEW], [OLD, NEW, NEWER]])
async def test_three_instances_are_told_first_and_only_as_instances_that_differ(
    tmp_path: Path, instances: list[Tools], turn: str
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.instances, watch.server.turn = instances, TURNS[turn]()
        told = await watch.watch(3 * HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}
        watch.server.instances = [OLD]
        told = await watch.watch(16 * HOUR)
        assert [event.subject for event in told] == ["check:release/replicas"]
        assert told[0].after == "verified"


@pytest.mark.parametrize("seed", range(4))
async def test_instances_that_sessions_stick_to_and_that_differ_in_one_era_alone_are_no_change_of_tools(
    tmp_path: Path, seed: int
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.instances, watch.server.turn = [OLD, NEW], sessions_at_random(0.5, seed)
        told = await watch.watch(5 * HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)
        watch.server.instances = [OLD]
        told = await watch.watch(5 * HOUR)
        assert lines(told) == ["recovery check:release/replicas: verified"]


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("turn", ["request", "list"])
async def test_instances_that_differ_in_one_era_alone_are_no_change_of_tools(
    tmp_path: Path, turn: str, *, legacy: bool
) -> None:
    async with watching(tmp_path) as watch:
        chosen = TURNS[turn]()

        def answers(incoming: Incoming, connection: int, begins: str) -> int:
            number = chosen(incoming, connection, begins)
            return number if ("mcp-session-id" in incoming.headers) is legacy else 0

        watch.server.instances, watch.server.turn = [OLD, NEW], answers
        told = await watch.watch(3 * HOUR)
        assert about_tools(told) == []
        assert told


async def test_a_list_that_is_new_at_every_read_is_told_as_that_alone(tmp_path: Path) -> None:
    async with watching(tmp_path) as watch:
        watch.server.once = lambda number: (*OLD, tool(f"at_{number}"))
        told = await watch.watch(3 * HOUR)
        assert lines(told) == ["change check:release/stable-listing: observed_risk:volatile"]
        watch.server.once = None
        told = await watch.watch(3 * HOUR)
        assert lines(told) == ["recovery check:release/stable-listing: verified"]


async def test_a_rollout_that_ends_is_told_as_a_change_soon_after(tmp_path: Path) -> None:
    async with watching(tmp_path) as watch:
        watch.server.instances, watch.server.turn = [OLD, NEW], TURNS["connection"]()
        told = await watch.watch(HOUR / 2)
        assert lines(told) == ["change check:release/replicas: failed:tools-differ"]
        watch.server.instances = [NEW]
        told = await watch.watch(HOUR / 3)
        assert sorted(event.kind for event in told) == ["recovery", "toolset_changed", "toolset_changed"]


async def test_a_tool_that_one_era_alone_has_is_told_with_both_lists(tmp_path: Path) -> None:
    async with watching(tmp_path) as watch:
        watch.server.turn = lambda incoming, _, __: int("mcp-session-id" in incoming.headers)
        watch.server.instances = [OLD, NEW]
        told = await watch.watch(HOUR)
        assert {event.kind for event in told} == {EventKind.TOOLSET_CHANGED, EventKind.CHANGE}
        assert len(about_tools(told)) == 2


@pytest.mark.parametrize("turn", ["request", "list", "connection"])
async def test_a_deploy_that_leaves_instances_behind_has_not_settled(tmp_path: Path, turn: str) -> None:
    async with watching(tmp_path) as watch:
        watch.server.instances, watch.server.turn = [OLD, NEW], TURNS[turn]()
        release = watch.deploy()
        told = await watch.watch(HOUR / 10)
        with watch.store.read() as reader:
            (outcome,) = reader.deploy(release.id)
        assert outcome.state is DeployState.UNSETTLED
        assert about_tools(told) == []
        assert {event.subject for event in told} == {"check:release/replicas"}
