"""Failures that people reported about the conversation itself, replayed: transport, messages, pages, outages.

Each test is named by the case's id. docs/decisions/0003-field-cases.md says where an expectation was decided.
"""

import asyncio
import gzip
import json
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest

from driftwatch.checks.clients import FIRST_ANSWER_S
from driftwatch.model import EventKind, State
from driftwatch.probe import Limits
from driftwatch.probe.address import Address
from tests.servers import certificates
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json, Mcp, as_json, page_html, refusal, tool
from tests.specimens.watching import Watch, watching

VERIFIED = State.VERIFIED, None
Watching = Callable[..., AbstractAsyncContextManager[Watch]]
Before = Callable[[Mcp, Incoming], Answer | None]


@pytest.fixture
def ca_file(tmp_path: Path) -> Path:
    return certificates.write_root(tmp_path)


@pytest.fixture
def watch(tmp_path: Path) -> Watching:
    """A specimen that was seen twice, so that it has a past."""

    @asynccontextmanager
    async def make(mcp: Mcp, **options: Any) -> AsyncIterator[Watch]:
        async with watching(mcp, tmp_path, **options) as made:
            await made.look(2)
            assert made.alerts == []
            yield made

    return make


def to(method: str, answer: Callable[[Incoming], Answer]) -> Before:
    """Answer this JSON-RPC method, or HTTP method, so; leave the rest to the server."""

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        return answer(incoming) if method in {incoming.rpc_method, incoming.method} else None

    return before


def rewritten(change: Callable[[Json], str], *, kind: str = "application/json") -> Mcp:
    """A modern server whose list comes as whatever is made of the message."""

    def after(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.rpc_method != "tools/list" or answer.status != 200:
            return answer
        body = change(json.loads(answer.body)).encode()
        return answer.but(body=body).with_header("Content-Type", kind)

    return Mcp(legacy=False, after=after)


async def one_message(watched: Watch, *, kind: EventKind = EventKind.CHANGE) -> None:
    """Nothing more is said than one message, however often the server is looked at."""
    await watched.look(6)
    assert watched.messages == [{kind}]


# content-type


async def test_ct_html_200(watch: Watching) -> None:
    async with watch(Mcp()) as watched:
        before = watched.pairs
        watched.server.before = lambda *_: page_html("Welcome", status=200)
        await watched.look(3)
        assert watched.state("transport/content-type") == (State.FAILED, "html")
        assert watched.last is not None
        finding = watched.last.result("transport/content-type").findings[0]
        assert "text/html" in finding.measured
        assert "probably not the MCP endpoint" in finding.message
        for check in ("release/fingerprint", "tools/pagination", "tool/steering-text"):
            result = watched.last.result(check)
            assert (result.state, result.cause) == (State.NOT_CHECKED, "transport/endpoint")
        await watched.look(3)
        assert len(watched.messages) == 1
        watched.server.before = None
        await watched.look(3)
        assert watched.pairs == before
        assert watched.state("release/fingerprint") == VERIFIED


@pytest.mark.parametrize("kind", ["application/json, application/json", "Application/JSON; Charset=UTF-8"])
async def test_ct_odd_but_legal(watch: Watching, kind: str) -> None:
    def after(incoming: Incoming, answer: Answer) -> Answer:
        return answer.with_header("Content-Type", kind) if answer.body else answer

    async with watch(Mcp(after=after)) as watched:
        assert watched.state("transport/content-type")[0] is State.VERIFIED
        assert None not in watched.pairs


async def test_ct_odd_but_legal_event_stream(watch: Watching) -> None:
    def after(incoming: Incoming, answer: Answer) -> Answer:
        if not answer.body.startswith(b"event:"):
            return answer
        return answer.with_header("Content-Type", "text/event-stream;charset=utf-8")

    async with watch(Mcp(replies="sse", after=after)) as watched:
        assert watched.state("transport/content-type") == VERIFIED
        assert None not in watched.pairs


# accept-and-get


async def test_accept_matrix(watch: Watching) -> None:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        accept = incoming.headers.get("accept", "")
        if incoming.method != "POST" or ("application/json" in accept and "text/event-stream" in accept):
            return None
        what = "Not Acceptable: accept both application/json and text/event-stream"
        return refusal(incoming.rpc, -32000, what, status=406)

    async with watch(Mcp(before=before)) as watched:
        assert watched.state("transport/accept-sse") == VERIFIED
        assert watched.state("transport/accept-json-only")[0] is State.VERIFIED
        assert None not in watched.pairs


@pytest.mark.parametrize("status", [400, 401, 404, 405, 406])
async def test_get_is_no_health_check(watch: Watching, status: int) -> None:
    async with watch(Mcp(legacy=False, before=to("GET", lambda _: Answer(status=status)))) as watched:
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.state("transport/get")[0] is not State.FAILED
        assert None not in watched.pairs
        assert watched.last is not None
        assert watched.last.reachable


async def test_get_is_no_health_check_but_older_revisions_have_a_rule_for_it(tmp_path: Path) -> None:
    mcp = Mcp(modern=False, before=to("GET", lambda _: Answer(status=404)))
    async with watching(mcp, tmp_path) as watched:
        await watched.look()
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.state("transport/get")[0] is State.FAILED
        assert None not in watched.pairs


async def test_legacy_sse_only(watch: Watching) -> None:
    async with watch(Mcp(http_sse=True)) as watched:
        assert watched.state("transport/endpoint") == (State.OBSERVED_RISK, "deprecated-transport")
        assert watched.last is not None
        assert watched.last.reachable


# session


async def test_session_unknown_400(watch: Watching) -> None:
    def after(incoming: Incoming, answer: Answer) -> Answer:
        gone = answer.status == 404 and "mcp-session-id" in incoming.headers
        return refusal(incoming.rpc, -32000, "Bad Request: no such session") if gone else answer

    async with watch(Mcp(modern=False)) as watched:
        before = watched.pairs
        watched.server.after = after
        await one_message(watched)
        assert watched.state("session/ended")[0] is State.FAILED
        assert watched.pairs == before


async def test_session_none_issued(watch: Watching) -> None:
    async with watch(Mcp(modern=False, sessions=False)) as watched:
        assert None not in watched.pairs
        assert watched.state("session/ended")[0] is not State.FAILED
        assert not any("mcp-session-id" in asked.headers for asked in watched.visit.loopback.log)


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
        sent = [asked.rpc["params"].get("cursor") for asked in watched.visit.loopback.log if asked.rpc]
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


# transient-and-limits


async def test_one_502(watch: Watching) -> None:
    async with watch(Mcp()) as watched:
        before = watched.pairs
        answers = [Answer(status=502)]
        watched.server.before = lambda *_: answers.pop() if answers else None
        await watched.look()
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.pairs == before
        assert watched.alerts == []


async def test_429_on_second_request(watch: Watching) -> None:
    async with watch(Mcp(legacy=False)) as watched:
        before = watched.pairs
        limited = to("tools/list", lambda asked: refusal(asked.rpc, -32000, "slow down", status=429))
        watched.server.before = limited
        await watched.look()
        assert watched.state("tools/pagination") == (State.NOT_CHECKED, "rate-limited")
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.pairs == [None]
        watched.server.before = None
        await watched.look(3)
        assert watched.pairs == before
        assert watched.alerts == []


async def test_cold_start(watch: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftwatch.checks.timeouts.FIRST_ANSWER_S", FIRST_ANSWER_S / 50)
    async with watch(Mcp(legacy=False)) as watched:
        before = watched.pairs
        respond, asleep = watched.visit.loopback.respond, [FIRST_ANSWER_S / 20]

        async def waking(incoming: Incoming) -> Answer:
            if asleep:
                await asyncio.sleep(asleep.pop())
            return await respond(incoming)

        watched.visit.loopback.respond = waking
        await watched.look()
        assert watched.state("timeouts/first-answer")[0] is State.OBSERVED_RISK
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.pairs == before
        await watched.look(3)
        assert watched.alerts == []


# compression, network-path


async def test_brotli_on_big_list(watch: Watching) -> None:
    async with watch(Mcp(legacy=False)) as watched:
        compressed = to(
            "tools/list",
            lambda _: Answer(
                headers=(("Content-Type", "application/json"), ("Content-Encoding", "br")),
                body=b"\x8b\x02\x80raw brotli\x03",
            ),
        )
        watched.server.before = compressed
        await watched.look(6)
        assert watched.state("transport/encoding")[0] is not State.VERIFIED
        assert watched.pairs == [None]
        assert len(watched.messages) == 1


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


class _DeadIpv6:
    """A name whose IPv6 address refuses and whose IPv4 address works."""

    def __init__(self) -> None:
        self.dead = False

    async def resolve(self, host: str, port: int) -> list[Address]:
        other = [Address(ip_address("::1"), port)] if self.dead else []
        return [*other, Address(ip_address("127.0.0.1"), port)]


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
async def test_dead_aaaa(watch: Watching) -> None:
    name = _DeadIpv6()
    async with watch(Mcp(legacy=False), resolver=name) as watched:
        watched.visit.loopback.host = "localhost"
        await watched.look(2)
        before = watched.pairs
        name.dead = True
        await one_message(watched)
        assert watched.state("network/addresses") == (State.OBSERVED_RISK, "ipv6-dead")
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.pairs == before


async def _in_chunks(body: bytes) -> AsyncIterator[bytes]:
    yield body[:20]
    yield body[20:]


@pytest.mark.parametrize(
    ("ends", "complete"),
    [
        pytest.param(lambda answer: answer, True, id="with-its-length"),
        pytest.param(lambda answer: answer.but(measured=False), False, id="without-length"),
        pytest.param(lambda answer: answer.but(body=b"", later=_in_chunks(answer.body)), False, id="chunked"),
    ],
)
async def test_no_close_notify(
    watch: Watching, ca_file: Path, ends: Callable[[Answer], Answer], complete: object
) -> None:
    def after(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.rpc_method != "tools/list":
            return answer
        return ends(answer.with_header("Connection", "close").but(abrupt=True))

    context = certificates.intermediate().issue("127.0.0.1").context()
    async with watch(Mcp(legacy=False), context=context, ca_file=ca_file) as watched:
        before = watched.pairs
        watched.server.after = after
        await watched.look(6)
        assert watched.state("transport/endpoint") == VERIFIED
        if complete:
            assert watched.pairs == before
            assert watched.alerts == []
        else:
            assert watched.pairs == [None]
            assert watched.state("tools/pagination")[0] is not State.VERIFIED
            assert len(watched.messages) == 1
            watched.server.after = None
            await watched.look()
            assert watched.pairs == before


# names-text-size


async def test_list_too_big(watch: Watching) -> None:
    filler = {"filler": "x" * 400_000}
    async with watch(Mcp(legacy=False)) as watched:
        before = watched.pairs
        watched.server.tools = (*watched.server.tools[:-1], {**watched.server.tools[-1], "_meta": filler})
        await watched.look(4)
        assert watched.pairs == before
        assert watched.alerts == []


async def _endless() -> AsyncIterator[bytes]:
    yield b'{"jsonrpc":"2.0","id":1,"result":{"tools":["'
    while True:
        yield b"x" * 64 * 1024


BOMB = gzip.compress(b'{"jsonrpc":"2.0","id":1,"result":{"tools":["' + b"x" * 9_000_000)
JSON = ("Content-Type", "application/json")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: Answer(headers=(JSON,), later=_endless()), id="endless"),
        pytest.param(lambda _: Answer(headers=(JSON, ("Content-Encoding", "gzip")), body=BOMB), id="bomb"),
    ],
)
async def test_list_without_end(watch: Watching, answer: Callable[[Incoming], Answer]) -> None:
    limits = Limits(max_body=2**20)
    async with watch(Mcp(legacy=False), limits=limits) as watched:
        watched.server.before = to("tools/list", answer)
        await watched.look(6, every=timedelta(seconds=30))
        assert watched.state("release/fingerprint")[0] is State.NOT_CHECKED
        assert watched.state("tools/pagination")[0] is not State.VERIFIED
        assert watched.pairs == [None]
        assert len(watched.messages) == 1
