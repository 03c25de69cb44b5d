"""Instances that speak different eras or revisions in turn: told as that, and never as a change of eras."""

from pathlib import Path
from typing import Any

import pytest

from driftwatch.model import DeployState, Event, EventKind, Trigger
from tests.observe.balanced import HOUR, NEW, OLD, TURNS, connections_at_random, lines, watching
from tests.specimens.mcp import tool

SPOKEN: dict[str, list[dict[str, Any]]] = {
    "one-without-modern": [{}, {"modern": False}],
    "one-without-legacy": [{}, {"legacy": False}],
    "one-of-each": [{"modern": False}, {"legacy": False}],
    "older-revision": [{}, {"revisions": ("2024-11-05",)}],
    "other-offers": [{}, {"supported": ("2025-11-25", "2026-07-28")}],
    "one-of-three": [{}, {}, {"modern": False}],
}
SPOKEN_IN_TURN = [
    *((spoken, "connection") for spoken in SPOKEN),
    *((spoken, "half-of-connections") for spoken in list(SPOKEN)[:-1]),
]


@pytest.mark.parametrize(("spoken", "turn"), SPOKEN_IN_TURN)
async def test_instances_that_speak_otherwise_are_told_as_that_and_as_no_change_of_eras(
    tmp_path: Path, spoken: str, turn: str
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.spoken, watch.server.turn = SPOKEN[spoken], TURNS[turn]()
        told = await watch.watch(3 * HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)
        watch.server.spoken = [{}]
        told = await watch.watch(3 * HOUR)
        assert lines(told) == ["recovery check:release/replicas: verified"]


@pytest.mark.parametrize("spoken", ["one-without-modern", "one-without-legacy", "older-revision"])
async def test_an_instance_that_does_not_understand_what_another_has_begun_breaks_no_rule(
    tmp_path: Path, spoken: str
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.spoken, watch.server.turn = SPOKEN[spoken], TURNS["half-of-requests"]()
        told = await watch.watch(3 * HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)
        with watch.store.read() as reader:
            triggers = [run.trigger for run in reader.runs("api", limit=1000)]
        assert triggers.count(Trigger.CONFIRM) <= 45
        watch.server.spoken = [{}]
        told = await watch.watch(16 * HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)
        assert told[-1].after == "verified"


@pytest.mark.parametrize("spoken", ["one-without-modern", "one-without-legacy"])
async def test_an_era_that_every_instance_has_lost_is_told_once_with_what_hangs_on_it(
    tmp_path: Path, spoken: str
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.spoken, watch.server.turn = SPOKEN[spoken], TURNS["connection"]()
        await watch.watch(2 * HOUR)
        watch.server.spoken = SPOKEN[spoken][1:]
        told = await watch.watch(2 * HOUR)
        assert {event.subject for event in told} <= {
            *("eras", "check:release/replicas", "check:mcp/era-coverage")
        }
        assert len({event.run for event in told}) == 1
        assert sum(event.kind is EventKind.ERA_CHANGED for event in told) == 1


@pytest.mark.parametrize("spoken", ["older-revision", "other-offers"])
async def test_a_revision_of_every_instance_is_told_once_and_once_more_when_it_is_back(
    tmp_path: Path, spoken: str
) -> None:
    async with watching(tmp_path) as watch:
        of_version = [] if spoken == "other-offers" else ["check:mcp/protocol-version"]
        subject = "revision:legacy" if of_version else "revision:modern"
        first: list[dict[str, Any]] = [{}]
        for spoken_now in (SPOKEN[spoken][1:], first):
            watch.server.spoken = spoken_now
            told = await watch.watch(2 * HOUR)
            assert sorted({str(event.subject) for event in told}) == [*of_version, subject], lines(told)
            assert sum(event.kind is EventKind.REVISION_CHANGED for event in told) == 1
            assert len({event.run for event in told}) == 1


@pytest.mark.parametrize(("spoken", "turn"), SPOKEN_IN_TURN)
async def test_a_deploy_that_leaves_instances_of_other_eras_behind_has_not_settled(
    tmp_path: Path, spoken: str, turn: str
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.spoken, watch.server.turn = SPOKEN[spoken], TURNS[turn]()
        release = watch.deploy()
        told = await watch.watch(HOUR / 10)
        with watch.store.read() as reader:
            (outcome,) = reader.deploy(release.id)
        assert outcome.state is DeployState.UNSETTLED
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)


@pytest.mark.parametrize("spoken", ["one-without-modern", "older-revision", None])
@pytest.mark.parametrize("seed", range(2))
async def test_what_a_deploy_left_half_way_is_told_once_when_every_instance_has_it(
    tmp_path: Path, seed: int, spoken: str | None
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.turn = connections_at_random(0.5, 10 + seed)
        if spoken:
            watch.server.spoken = SPOKEN[spoken]
        else:
            watch.server.instances = [OLD, NEW]
        watch.deploy()
        told = await watch.watch(HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)
        watch.server.spoken, watch.server.instances = watch.server.spoken[-1:], watch.server.instances[-1:]
        told = await watch.watch(4 * HOUR)
        assert len({event.run for event in told}) == 1, lines(told)
        assert len(told) > 1
        assert any(event.kind is EventKind.RECOVERY for event in told)
        assert {event.details["release"]["relation"] for event in told} == {"after"}
        # From here on a change is not the release's any more.
        watch.server.instances = [(*NEW, tool("later"))]
        told = await watch.watch(2 * HOUR)
        assert told
        assert not any("release" in event.details for event in told)


async def test_rules_that_come_back_when_eras_have_settled_are_told_with_them(tmp_path: Path) -> None:
    async with watching(tmp_path) as watch:
        told: list[Event] = []
        for spoken in ({"modern": False}, {}) * 4:
            watch.server.spoken = [spoken]
            told += await watch.watch(3 * HOUR / 4)
        told += await watch.watch(12 * HOUR)
        assert {event.subject for event in told} == {"eras"}, lines(told)
        assert told[-1].kind is EventKind.SETTLED
        assert told[-1].details["applicable"]
