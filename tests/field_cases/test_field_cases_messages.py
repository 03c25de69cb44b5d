"""Failures that people reported about event streams, envelopes and pages, replayed.

Each test is named by the case's id. docs/decisions/0003-field-cases.md says where an expectation was decided.
"""

import json
from collections.abc import Callable

import pytest

from driftwatch.model import EventKind, State
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json, Mcp, as_json, tool
from tests.specimens.replay import VERIFIED, Watching, one_message, rewritten, to

# sse-framing, stream-timing: the same list as the plain JSON body


def _crlf(message: Json) -> str:
    head, tail = json.dumps(message).split('"result"', 1)
    return f'event: message\r\ndata: {head}\r\ndata: "result"{tail}\r\n\r\n'


def _primed(message: Json) -> str:
    return f"id: 1\nretry: 3000\ndata:\n\ndata: {json.dumps(message)}\n\n"


def _noisy(message: Json) -> str:
    log = {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "x"}}
    return f"data: {json.dumps(log)}\n\ndata: {json.dumps(message)}\n\n"


@pytest.mark.parametrize(
    "frame",
    [
        pytest.param(_crlf, id="sse-crlf-multi-data"),
        pytest.param(_primed, id="sse-priming-empty"),
        pytest.param(_noisy, id="sse-notification-first"),
    ],
)
async def test_sse_framing(watch: Watching, frame: Callable[[Json], str]) -> None:
    async with watch(Mcp(legacy=False)) as watched:
        before = watched.pairs
        watched.server.after = rewritten(frame, kind="text/event-stream").after
        await watched.look(4)
        assert watched.pairs == before
        assert watched.state("transport/content-type") == VERIFIED
        assert watched.state("mcp/envelope") == VERIFIED
        assert watched.alerts == []


async def test_sse_notification_first_with_a_request_of_our_id(watch: Watching) -> None:
    def after(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.rpc_method != "tools/list" or answer.status != 200:
            return answer
        ping = {"jsonrpc": "2.0", "id": incoming.rpc["id"], "method": "ping"}
        body = f"data: {json.dumps(ping)}\n\ndata: {answer.body.decode()}\n\n".encode()
        return answer.but(body=body).with_header("Content-Type", "text/event-stream")

    async with watch(Mcp(modern=False)) as watched:
        before = watched.pairs
        watched.server.after = after
        await watched.look(4)
        assert watched.pairs == before
        assert watched.alerts == []


async def test_stream_stays_open(watch: Watching) -> None:
    async with watch(Mcp(legacy=False)) as watched:
        before = watched.pairs
        framed = rewritten(_noisy, kind="text/event-stream").after

        def after(incoming: Incoming, answer: Answer) -> Answer:
            assert framed is not None
            changed = framed(incoming, answer)
            return changed.but(stays_open=changed is not answer)

        watched.server.after = after
        report = await watched.look(4)
        assert watched.pairs == before
        assert report.duration_s < 15
        assert watched.alerts == []


# json-rpc-envelope, handshake-ack


async def test_id_as_string(watch: Watching) -> None:
    async with watch(Mcp(legacy=False)) as watched:
        before = watched.pairs
        changed = rewritten(lambda message: json.dumps({**message, "id": str(message["id"])}))
        watched.server.after = changed.after
        await one_message(watched)
        assert watched.state("mcp/envelope") == (State.OBSERVED_RISK, "id-type")
        assert watched.pairs == before


@pytest.mark.parametrize(
    ("revision", "state"), [("2025-06-18", (State.FAILED, "batch")), ("2025-03-26", VERIFIED)]
)
async def test_batch_reply(watch: Watching, revision: str, state: tuple[State, str | None]) -> None:
    async with watch(Mcp(modern=False, revisions=(revision,))) as watched:
        before = watched.pairs
        watched.server.after = rewritten(lambda message: json.dumps([message])).after
        await watched.look(6)
        assert watched.state("mcp/envelope") == state
        assert watched.pairs == before
        assert watched.messages == ([] if state == VERIFIED else [{EventKind.CHANGE}])


async def test_initialized_200_null(watch: Watching) -> None:
    async with watch(Mcp(modern=False)) as watched:
        before = watched.pairs
        watched.server.before = to("notifications/initialized", lambda _: as_json("null"))
        await one_message(watched)
        assert watched.state("mcp/initialized-ack") == (State.OBSERVED_RISK, "not-202")
        assert watched.pairs == before


# pagination


async def test_cursor_empty_is_valid(watch: Watching) -> None:
    def page(cursor: Json) -> Json:
        if cursor is None:
            return {"tools": [tool("one")], "nextCursor": ""}
        return {"tools": [tool("two")], "nextCursor": None}

    async with watch(Mcp(legacy=False, pages=page)) as watched:
        assert watched.state("tools/pagination") == VERIFIED
        assert watched.last is not None
        (surface,) = watched.last.surfaces
        assert (surface.pages, surface.tools, surface.complete) == (2, 2, True)
        sent = [asked.rpc["params"].get("cursor") for asked in watched.running.loopback.log if asked.rpc]
        assert "" in sent


async def test_cursor_not_advancing(watch: Watching) -> None:
    eight = [tool(f"t{number}") for number in range(8)]
    async with watch(Mcp(legacy=False, tools=tuple(eight))) as watched:
        watched.server.pages = lambda _: {"tools": eight, "nextCursor": "p2"}
        await watched.look(6)
        assert watched.state("tools/pagination") == (State.FAILED, "repeated-cursor")
        assert watched.pairs == [None]
        assert len(watched.messages) == 1


async def test_page_size_changes(watch: Watching) -> None:
    twelve = tuple(tool(f"t{number:02}") for number in range(12))
    async with watch(Mcp(legacy=False, tools=twelve, page_size=8)) as watched:
        before = watched.pairs
        watched.server.page_size = 5
        await watched.look(4)
        assert watched.pairs == before
        assert watched.state("tools/pagination") == VERIFIED
        assert watched.alerts == []
