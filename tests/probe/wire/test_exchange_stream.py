"""The old transport's stream: a GET that stays open, read event by event while requests are posted."""

import asyncio
import json
from typing import Any

import pytest

from driftwatch.evidence import Fault
from driftwatch.probe.wire.exchange import Read, Request
from driftwatch.probe.wire.sse import SseEvent
from tests.servers.raw import ASK, RESET, STALL, Drip, Flood, chunked, http, serve

GET = Request(label="endpoint", http_method="GET", accept="text/event-stream")
POST = Request(label="tools/list", rpc={"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, read=Read.BODY)
SSE = ("content-type: text/event-stream",)
ENDPOINT = b"event: endpoint\ndata: /messages?session_id=0815\n\n"
OURS: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"ok": True}}
ANSWER = b"event: message\ndata: %b\n\n" % json.dumps(OURS).encode()
NOTE = b'data: {"jsonrpc":"2.0","method":"x"}\n\n'
ACCEPTED = http(b"Accepted", status="202 Accepted")


def stream(*chunks: bytes, end: bool = False) -> bytes:
    return chunked(*chunks, headers=SSE, end=end)


async def test_events_come_one_by_one_while_the_stream_stays_open(open_wire: Any) -> None:
    script = [ASK, stream(ENDPOINT, NOTE + ANSWER), STALL]
    async with serve(script) as server, open_wire(server.url) as wire, wire.stream(GET) as opened:
        found = [await opened.next_event() for _ in range(3)]
    assert [isinstance(event, SseEvent) and event.name for event in found] == [
        "endpoint",
        "message",
        "message",
    ]
    assert isinstance(found[0], SseEvent)
    assert found[0].data == "/messages?session_id=0815"
    exchange = opened.reply.exchange
    assert (exchange.status, exchange.media_type, exchange.fault) == (200, "text/event-stream", None)
    assert (exchange.label, exchange.http_method, exchange.excerpt) == ("endpoint", "GET", "")


async def test_the_end_of_a_stream_is_none_after_its_last_event(open_wire: Any) -> None:
    script = [ASK, stream(ENDPOINT, b"data: cut", end=True)]
    async with serve(script) as server, open_wire(server.url) as wire, wire.stream(GET) as opened:
        found = [await opened.next_event() for _ in range(4)]
    assert [event and (event.data, event.terminated) for event in found] == [
        ("/messages?session_id=0815", True),
        ("cut", False),
        None,
        None,
    ]


async def test_requests_go_out_beside_an_open_stream_and_its_events_answer_them(open_wire: Any) -> None:
    scripts = ([ASK, stream(ENDPOINT, NOTE, b"data: hello\n\n", ANSWER), STALL], [ASK, ACCEPTED])
    async with serve(*scripts) as server, open_wire(server.url) as wire, wire.stream(GET) as opened:
        assert isinstance(await opened.next_event(), SseEvent)
        reply = await opened.answer(POST, await wire.send(POST))
    exchange = reply.exchange
    assert (exchange.status, exchange.answer, exchange.fault) == (202, OURS, None)
    assert json.loads(exchange.excerpt) == OURS
    assert exchange.size == len(exchange.excerpt)
    assert server.connections == 2


NO_ANSWER = {
    "the-end": ([stream(NOTE, end=True)], "no-answer", "the stream ended without the answer"),
    "no-json": ([stream(b"data: hello\n\n", end=True)], "json", "not JSON"),
    "a-reset": ([stream(NOTE), RESET], "reset", ""),
    "silence": ([stream(NOTE), STALL], "timeout", "within 1 s"),
    "no-stream": ([http(b"no", status="405 Method Not Allowed")], "no-answer", "there is no stream"),
}


@pytest.mark.parametrize(("script", "code", "words"), NO_ANSWER.values(), ids=NO_ANSWER)
async def test_an_answer_that_does_not_come_over_the_stream_is_a_fault(
    script: list[Any], code: str, words: str, open_wire: Any
) -> None:
    async with (
        serve([ASK, *script], [ASK, ACCEPTED]) as server,
        open_wire(server.url, timeout_s=1) as wire,
        wire.stream(GET) as opened,
    ):
        exchange = (await opened.answer(POST, await wire.send(POST))).exchange
    assert exchange.fault is not None
    assert exchange.fault.code == code
    assert words in exchange.fault.message
    assert exchange.answer is None


async def test_a_get_that_is_no_stream_has_its_reply_and_no_event(open_wire: Any) -> None:
    script = [ASK, http(b"<h1>no</h1>", status="405 Method Not Allowed")]
    async with serve(script) as server, open_wire(server.url) as wire, wire.stream(GET) as opened:
        assert await opened.next_event() is None
    exchange = opened.reply.exchange
    assert (exchange.status, exchange.excerpt, exchange.fault) == (405, "<h1>no</h1>", None)


async def test_a_get_that_gets_no_reply_has_its_fault(open_wire: Any) -> None:
    async with serve([ASK, RESET]) as server, open_wire(server.url) as wire, wire.stream(GET) as opened:
        event = await opened.next_event()
    assert isinstance(event, Fault)
    assert (event.code, opened.reply.exchange.fault) == ("reset", event)


ENDLESS = {
    "silence": ([STALL], {"timeout_s": 1}, "timeout"),
    "comments": ([Drip(b"6\r\n: ping\r\n", forever=True)], {"timeout_s": 1}, "timeout"),
    "the-deadline": ([STALL], {"deadline_s": 1}, "deadline"),
    "bytes": ([Flood(b"3e8\r\n%b\r\n" % (b"x" * 1000))], {"max_body": 50_000}, "too-large"),
}


@pytest.mark.parametrize(("script", "limits", "code"), ENDLESS.values(), ids=ENDLESS)
async def test_waiting_for_an_event_is_bounded(
    script: list[Any], limits: dict[str, Any], code: str, open_wire: Any
) -> None:
    async with (
        serve([ASK, stream(), *script]) as server,
        open_wire(server.url, **limits) as wire,
        wire.stream(GET) as opened,
    ):
        found = [await opened.next_event() for _ in range(2)]
    assert [isinstance(event, Fault) and event.code for event in found] == [code, code]


async def test_the_events_of_a_stream_are_bounded(open_wire: Any) -> None:
    script = [ASK, stream(), Flood(b"%x\r\n%b\r\n" % (len(NOTE), NOTE))]
    async with (
        serve(script) as server,
        open_wire(server.url, max_events=3) as wire,
        wire.stream(GET) as opened,
    ):
        found = [await opened.next_event() for _ in range(4)]
    assert isinstance(found[2], SseEvent)
    assert isinstance(found[3], Fault)
    assert found[3].code == "too-large"


async def test_cancellation_of_a_wait_passes(open_wire: Any) -> None:
    script = [ASK, stream(ENDPOINT), STALL]
    async with serve(script) as server, open_wire(server.url) as wire, wire.stream(GET) as opened:
        await opened.next_event()
        waiting = asyncio.create_task(opened.next_event())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
