"""``subscriptions/listen`` and the second read of the list."""

import json
from collections.abc import Callable
from itertools import count

import pytest

from driftwatch.evidence import Evidence, Missing, Streaming
from driftwatch.model import DEPTH_CODE, Depth
from driftwatch.probe import Limits
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import TOOLS, Json, Mcp, refusal, tool
from tests.specimens.running import running

LISTENS = {"tools": {"listChanged": True}}
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


def listening(answer: Callable[[Json], Answer]) -> Mcp:
    """A modern server that takes subscriptions and answers them so."""

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        return answer(incoming.rpc) if incoming.rpc_method == "subscriptions/listen" else None

    return Mcp(legacy=False, capabilities=LISTENS, before=before)


def stream(*messages: Json, ends: bool = False, **headers: str) -> Answer:
    body = "".join(f"data: {json.dumps(message)}\n\n" for message in messages)
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    kind = (("Content-Type", "text/event-stream"), *named)
    return Answer(headers=kind, body=body.encode(), stays_open=not ends)


async def heard(mcp: Mcp) -> Streaming:
    async with running(mcp) as server:
        evidence = await server.probe(depth=Depth.FULL, limits=Limits(timeout_s=1))
    seen = evidence.surfaces[0].subscription
    assert isinstance(seen, Streaming)
    return seen


async def test_the_stream_is_read_to_its_acknowledgement_and_closed() -> None:
    acknowledgement = {"jsonrpc": "2.0", "method": ACKNOWLEDGED}
    seen = await heard(listening(lambda _: stream(acknowledgement, X_Accel_Buffering="no")))
    assert (seen.status, seen.first_message, seen.accel_buffering) == (200, ACKNOWLEDGED, "no")
    assert seen.fault is None
    assert seen.headers_s is not None
    assert seen.first_event_s is not None


async def test_a_stream_that_says_nothing_is_given_up() -> None:
    seen = await heard(listening(lambda _: stream()))
    assert (seen.status, seen.first_event_s) == (200, None)
    assert seen.fault is not None
    assert seen.fault.code == "timeout"


async def test_a_stream_that_ends_without_a_word_is_told_apart() -> None:
    seen = await heard(listening(lambda _: stream(ends=True)))
    assert seen.fault is not None
    assert seen.fault.code == "no-answer"


async def test_a_refusal_is_quoted_by_its_code() -> None:
    seen = await heard(listening(lambda rpc: refusal(rpc, -32601, "no such method", status=404)))
    assert (seen.status, seen.first_message, seen.fault) == (404, "error -32601", None)


async def test_nothing_is_asked_where_changes_of_the_list_are_not_offered() -> None:
    async with running() as server:
        evidence = await server.probe(depth=Depth.FULL)
    assert "subscriptions/listen" not in server.asked
    modern, legacy = (surface.subscription for surface in evidence.surfaces)
    assert modern == Missing(
        "the server does not offer subscriptions/listen (no tools.listChanged)", "not-offered"
    )
    assert isinstance(legacy, Missing)
    assert legacy.code == "not-applicable"


def again(evidence: Evidence) -> list[object]:
    return [surface.second_read for surface in evidence.surfaces]


async def test_the_list_is_read_twice_in_each_era_on_one_connection() -> None:
    async with running() as server:
        evidence = await server.probe(depth=Depth.FULL)
    assert again(evidence) == [TOOLS, TOOLS]


async def test_every_page_is_read_twice() -> None:
    pages = tuple(tool(f"t{number}") for number in range(40))
    async with running(Mcp(page_size=1, tools=pages)) as server:
        evidence = await server.probe(depth=Depth.FULL)
    assert again(evidence) == [pages, pages]


@pytest.mark.parametrize(("instances", "pages"), [(2, 2), (2, 4), (3, 3), (3, 2), (4, 3)])
async def test_a_mixture_of_pages_from_instances_in_turn_is_not_read_twice_alike(
    instances: int, pages: int
) -> None:
    lists = [tuple(tool(f"t{n}", title=f"of {number}") for n in range(pages)) for number in range(instances)]
    turn = count()

    def before(mcp: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.rpc_method == "tools/list":
            mcp.tools = lists[next(turn) % instances]
        return None

    async with running(Mcp(legacy=False, page_size=1, tools=lists[0], before=before)) as server:
        evidence = await server.probe(depth=Depth.FULL)
    (surface,) = evidence.surfaces
    assert surface.second_read != surface.tools


async def test_a_second_read_that_fails_does_not_touch_the_first() -> None:
    reads = 0

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        nonlocal reads
        reads += incoming.rpc_method == "tools/list"
        if incoming.rpc_method != "tools/list" or reads == 1:
            return None
        return refusal(incoming.rpc, -32603, "not now", status=401)

    async with running(Mcp(legacy=False, before=before)) as server:
        evidence = await server.probe(depth=Depth.FULL)
    (surface,) = evidence.surfaces
    assert surface.tools == TOOLS
    assert isinstance(surface.second_read, Missing)
    assert surface.second_read.code == "second-read"


async def test_a_light_probe_reads_once() -> None:
    async with running() as server:
        evidence = await server.probe()
    assert server.asked.count("tools/list") == 2
    assert [part.code for part in again(evidence) if isinstance(part, Missing)] == [DEPTH_CODE] * 2
