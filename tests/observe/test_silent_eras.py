"""An era that gives no clear answer: told once as that, and it mends nothing that was found in it."""

from pathlib import Path

import pytest

from driftwatch.model import EventKind, Level
from tests.observe.balanced import HOUR, lines, watching
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json


@pytest.mark.parametrize("answer", [Answer(status=503), Answer(status=429), Answer(cut=True)])
async def test_an_era_that_gives_no_clear_answer_mends_nothing_that_was_found_in_it(
    tmp_path: Path, answer: Answer
) -> None:
    async with watching(tmp_path) as watch:
        mcp, choose = watch.server.mcp, watch.server.mcp.before
        assert choose

        def is_legacy(incoming: Incoming) -> bool:
            return incoming.method == "POST" and "_meta" not in incoming.rpc.get("params", {})

        def faulty(incoming: Incoming, answered: Answer) -> Answer:
            acknowledges = incoming.rpc_method == "notifications/initialized"
            return answered.but(status=200, body=b"{}") if acknowledges else answered

        def without_descriptions(method: str, params: Json, result: Json) -> Json:
            if method != "tools/list" or "_meta" in params:
                return result
            bare = [{**one, "description": ""} for one in result["tools"]]
            return {**result, "tools": bare}

        mcp.after, mcp.result = faulty, without_descriptions
        told = {event.subject for event in await watch.watch(2 * HOUR)}
        assert {"check:mcp/initialized-ack", "check:tool/missing-description"} <= told
        mcp.before = lambda _, incoming: answer if is_legacy(incoming) else choose(mcp, incoming)
        events = await watch.watch(3 * HOUR)
        assert [(event.kind, event.subject) for event in events] == [
            (EventKind.COVERAGE_LOST, "check:mcp/era-coverage")
        ], lines(events)
        mcp.before = choose
        events = await watch.watch(3 * HOUR)
        assert {event.subject for event in events} == {"check:mcp/era-coverage"}, lines(events)


@pytest.mark.parametrize("status", [500, 503])
async def test_a_modern_era_that_answers_only_server_errors_is_told_once_as_that(
    tmp_path: Path, status: int
) -> None:
    async with watching(tmp_path) as watch:
        mcp, choose = watch.server.mcp, watch.server.mcp.before
        assert choose

        def is_modern(incoming: Incoming) -> bool:
            return "_meta" in incoming.rpc.get("params", {})

        assert not await watch.watch(2 * HOUR)
        mcp.before = lambda _, incoming: (
            Answer(status=status) if is_modern(incoming) else choose(mcp, incoming)
        )
        (lost,) = await watch.watch(3 * HOUR)
        assert (lost.kind, lost.subject) == (EventKind.COVERAGE_LOST, "check:mcp/era-coverage")
        assert lost.level is Level.WARNING
        mcp.before = choose
        (back,) = await watch.watch(3 * HOUR)
        assert (back.kind, back.subject) == (EventKind.COVERAGE_BACK, "check:mcp/era-coverage")
