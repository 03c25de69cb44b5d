"""What the reads after a release find out, over sockets."""

from datetime import timedelta
from pathlib import Path

import pytest

from driftwatch.model import EventKind
from tests.observe.balanced import HOUR, NEW, OLD, SECOND, lines, watching
from tests.specimens.http import Answer

MINUTE = timedelta(minutes=1)


@pytest.mark.parametrize("answer", [Answer(status=503), Answer(status=401), Answer(cut=True)])
async def test_a_server_that_a_release_takes_down_is_down_since_its_first_read(
    tmp_path: Path, answer: Answer
) -> None:
    async with watching(tmp_path) as watch:
        chosen, announced = watch.server.mcp.before, watch.clock.now()
        watch.server.mcp.before = lambda _, __: answer
        watch.deploy()
        told = await watch.watch(HOUR)
        assert len({event.run for event in told}) == 1, lines(told)
        assert {event.details["release"]["relation"] for event in told} == {"after"}
        assert all(event.since and event.since - announced < 5 * SECOND for event in told)
        watch.server.mcp.before = chosen
        (back,) = await watch.watch(HOUR)
        assert HOUR - MINUTE < timedelta(seconds=back.details["duration_s"]) < HOUR + HOUR / 4


async def test_a_server_that_is_away_while_it_is_released_is_told_only_for_what_the_release_changed(
    tmp_path: Path,
) -> None:
    async with watching(tmp_path) as watch:
        chosen = watch.server.mcp.before
        watch.server.mcp.before = lambda _, __: Answer(status=503)
        watch.deploy()
        assert await watch.watch(2 * MINUTE) == []
        watch.server.mcp.before, watch.server.instances = chosen, [NEW]
        told = await watch.watch(HOUR)
        assert {event.kind for event in told} == {EventKind.TOOLSET_CHANGED}
        assert {event.details["release"]["relation"] for event in told} == {"by"}
        watch.server.instances = [OLD]
        assert {event.kind for event in await watch.watch(HOUR)} == {EventKind.TOOLSET_RETURNED}
