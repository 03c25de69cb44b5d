"""Every limit is a fault with its figures: never a hang, never a crash, never memory without end."""

import asyncio
import gzip
import json
import threading
import tracemalloc
from typing import Any

import pytest

from driftwatch.evidence import Exchange
from driftwatch.probe.wire import body, message
from driftwatch.probe.wire.connect import Address
from driftwatch.probe.wire.exchange import Read, Request
from driftwatch.probe.wire.tcp import READ_SIZE
from tests.servers.raw import ASK, STALL, Drip, Flood, events, http, serve

OURS: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"ok": True}}
ANSWER = json.dumps(OURS).encode()
REQUEST = Request(label="tools/list", rpc={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
HEADERS = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
EVENTS = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
SOON = 1.0
"""Seconds in which a busy machine still brings what a script sends before it falls silent."""


async def ask(open_wire: Any, *script: Any, request: Request = REQUEST, **limits: Any) -> Exchange:
    async with serve(script) as server, open_wire(server.url, **limits) as wire:
        exchange: Exchange = (await wire.send(request)).exchange
        return exchange


def fault(exchange: Exchange) -> tuple[str, str, str]:
    assert exchange.fault is not None
    return exchange.fault.code, exchange.fault.phase, exchange.fault.message


SLOW = {
    "silence": ([ASK, STALL], "headers", "no answer came within 1 s"),
    "silence-inside-the-headers": (
        [ASK, HEADERS, STALL],
        "headers",
        f"the header block did not end ({len(HEADERS)} bytes came) within 1 s",
    ),
    "dripping-headers": (
        [ASK, b"HTTP/1.1 200 OK\r\n", Drip(b"x-a: b\r\n", forever=True)],
        "headers",
        "the header block did not end",
    ),
    "silence-inside-the-body": (
        [ASK, http(ANSWER[:10], length=400), STALL],
        "body",
        "the answer did not end (10 bytes came) within 1 s",
    ),
    "dripping-body": (
        [ASK, http(b"", length=10**6), Drip(b" ", forever=True)],
        "body",
        "the answer did not end",
    ),
    "a-stream-without-the-answer": (
        [ASK, events(b'{"jsonrpc":"2.0","method":"x"}', end=False), STALL],
        "body",
        "the answer did not end (38 bytes came) within 1 s",
    ),
    "a-stream-of-comments": (
        [ASK, EVENTS, Drip(b": ping\n\n", forever=True)],
        "body",
        "the answer did not end",
    ),
}


@pytest.mark.parametrize(("script", "phase", "message"), SLOW.values(), ids=SLOW)
async def test_one_clock_ends_every_request(
    script: list[Any], phase: str, message: str, open_wire: Any
) -> None:
    code, where, said = fault(await ask(open_wire, *script, timeout_s=SOON))
    assert (code, where) == ("timeout", phase)
    assert said.startswith(message)


async def test_a_name_that_takes_for_ever_to_resolve_ends_too(open_wire: Any) -> None:
    class Asleep:
        async def resolve(self, host: str, port: int) -> list[Address]:
            await asyncio.Event().wait()
            return []

    async with open_wire("https://mcp.test/", resolver=Asleep(), timeout_s=SOON) as wire:
        found = fault((await wire.send(REQUEST)).exchange)
    assert found == ("timeout", "resolve", "the name did not resolve within 1 s")


async def test_what_takes_long_to_decode_ends_too(open_wire: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    decoded = threading.Event()
    monkeypatch.setattr(body, "_WORTH_A_THREAD", 0)
    monkeypatch.setattr(message, "decode", lambda *_, **__: decoded.wait())
    try:
        exchange = await ask(open_wire, ASK, http(ANSWER), timeout_s=SOON)
    finally:
        decoded.set()
    assert fault(exchange)[:2] == ("timeout", "body")


async def test_the_deadline_of_the_probe_cuts_a_request_short_and_sends_no_other(open_wire: Any) -> None:
    async with serve([ASK, STALL]) as server, open_wire(server.url, deadline_s=SOON) as wire:
        first = fault((await wire.send(REQUEST)).exchange)
        second = fault((await wire.send(REQUEST)).exchange)
    assert first[:2] == ("deadline", "headers")
    assert second == ("deadline", "send", "not sent: the 1 s of this probe are over")
    assert (len(server.requests), wire.requests) == (1, 1)


async def test_a_budget_of_requests_is_kept(open_wire: Any) -> None:
    async with serve([ASK, http(ANSWER)] * 3) as server, open_wire(server.url, max_requests=2) as wire:
        exchanges = [(await wire.send(REQUEST)).exchange for _ in range(3)]
    assert [exchange.fault for exchange in exchanges[:2]] == [None, None]
    assert fault(exchanges[2]) == ("budget", "send", "not sent: 2 requests is the limit of one probe")
    assert (len(server.requests), wire.requests) == (2, 2)


async def test_a_header_block_has_a_limit(open_wire: Any) -> None:
    found = fault(
        await ask(open_wire, ASK, HEADERS, Flood(b"x-a: %b\r\n" % (b"b" * 1000)), max_headers=50_000)
    )
    assert found == ("headers", "headers", "the header block is larger than 50,000 bytes")


@pytest.mark.parametrize("hints", [b"", b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"])
async def test_the_limit_of_a_header_block_counts_to_the_byte_however_much_comes_at_once(
    hints: bytes, open_wire: Any
) -> None:
    block = hints + HEADERS + b"content-length: %d\r\nx-a: \r\n\r\n" % len(ANSWER)
    limit = 20_000
    exact, longer, far_longer = (
        block.replace(b"x-a: ", b"x-a: " + b"b" * (limit - len(block) + more)) for more in (0, 1, 45_000)
    )
    assert (await ask(open_wire, ASK, exact + ANSWER, max_headers=limit)).answer == OURS
    for reply in (longer, far_longer):
        found = fault(await ask(open_wire, ASK, reply + ANSWER, max_headers=limit))
        assert found == ("headers", "headers", "the header block is larger than 20,000 bytes")


async def test_a_header_block_below_the_limit_is_read_and_recorded_within_64_kib(open_wire: Any) -> None:
    many = b"".join(b"x-%d: %b\r\n" % (place, b"b" * 1000) for place in range(200))
    reply = HEADERS + many + b"content-length: %d\r\n\r\n%b" % (len(ANSWER), ANSWER)
    exchange = await ask(open_wire, ASK, reply)
    assert (exchange.answer, exchange.fault) == (OURS, None)
    assert 60 < len(exchange.headers) < 70


async def test_informational_replies_without_end_have_the_same_limit(open_wire: Any) -> None:
    found = fault(
        await ask(open_wire, ASK, Flood(b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50), max_headers=50_000)
    )
    assert found == ("headers", "headers", "the header block is larger than 50,000 bytes")


ENDLESS = {
    "json": [HEADERS + b"\r\n", Flood(b"[" * 1000)],
    "json-in-chunks": [
        HEADERS + b"transfer-encoding: chunked\r\n\r\n",
        Flood(b"3e8\r\n%b\r\n" % (b" " * 1000)),
    ],
    "one-event": [EVENTS, b"data: ", Flood(b"x" * 1000)],
    "comments": [EVENTS, Flood(b": ping\n\n" * 100)],
    "html": [b"HTTP/1.1 500 Oops\r\ncontent-type: text/html\r\n\r\n", Flood(b"<p>" * 300)],
}


@pytest.mark.parametrize("script", ENDLESS.values(), ids=ENDLESS)
async def test_a_body_without_end_stops_at_the_limit(script: list[Any], open_wire: Any) -> None:
    exchange = await ask(open_wire, ASK, *script, max_body=100_000)
    assert fault(exchange) == ("too-large", "body", "the body is larger than 100,000 bytes")
    assert exchange.size < 100_000 + READ_SIZE + 1
    assert len(exchange.excerpt) <= 2000
    assert exchange.status in {200, 500}


async def test_a_body_of_exactly_the_limit_is_read(open_wire: Any) -> None:
    padded = ANSWER + b" " * (10_000 - len(ANSWER))
    assert (await ask(open_wire, ASK, http(padded), max_body=10_000)).answer == OURS
    assert fault(await ask(open_wire, ASK, http(padded), max_body=9_999))[0] == "too-large"


async def test_a_body_that_only_wants_to_be_read_is_limited_too(open_wire: Any) -> None:
    asked = Request(label="metadata", http_method="GET", read=Read.BODY)
    found = fault(
        await ask(open_wire, ASK, HEADERS + b"\r\n", Flood(b"x" * 1000), request=asked, max_body=5_000)
    )
    assert found[0] == "too-large"


async def test_chunks_of_one_byte_cost_their_sender_more_than_us(
    open_wire: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(body, "MAX_CHUNKS", 1_000)
    script = [HEADERS + b"transfer-encoding: chunked\r\n\r\n", Flood(b"1\r\n \r\n" * 1000)]
    found = fault(await ask(open_wire, ASK, *script))
    assert found == ("too-large", "body", "the body comes in more than 1,000 chunks")


async def test_the_framing_of_chunks_is_counted(open_wire: Any) -> None:
    extended = b"1;%b\r\n \r\n" % (b"x" * 5_000)
    script = [HEADERS + b"transfer-encoding: chunked\r\n\r\n", Flood(extended)]
    code, phase, message = fault(await ask(open_wire, ASK, *script, max_body=10_000))
    assert (code, phase) == ("too-large", "body")
    assert message.startswith("the body with its framing is larger than")


async def test_a_compressed_bomb_takes_no_memory(open_wire: Any) -> None:
    bomb = gzip.compress(b"\0" * 100_000_000)
    reply = http(bomb, headers=("content-type: application/json", "content-encoding: gzip"))
    tracemalloc.start()
    try:
        exchange = await ask(open_wire, ASK, reply, max_body=1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert fault(exchange) == ("too-large", "body", "the body decodes (gzip) to more than 1,000,000 bytes")
    assert peak < 10_000_000


async def test_the_events_of_a_stream_have_a_limit(open_wire: Any) -> None:
    script = [EVENTS, Flood(b'data: {"jsonrpc":"2.0","method":"x"}\n\n' * 20)]
    found = fault(await ask(open_wire, ASK, *script, max_events=100))
    assert found == ("too-large", "body", "more than 100 events without the answer")


async def test_the_depth_of_json_has_a_limit(open_wire: Any) -> None:
    deep = http(b'{"jsonrpc":"2.0","id":1,"result":' + b"[" * 30 + b"]" * 30 + b"}")
    assert fault(await ask(open_wire, ASK, deep, max_depth=30))[0] == "depth"
    assert (await ask(open_wire, ASK, deep, max_depth=31)).fault is None


async def test_others_run_while_a_fast_server_floods(open_wire: Any) -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    script = [HEADERS + b"transfer-encoding: chunked\r\n\r\n", Flood(b"1\r\n \r\n" * 2000)]
    await ask(open_wire, ASK, *script, max_body=20_000)
    task.cancel()
    assert turns > 20_000 / 64


async def test_a_stream_that_stays_open_after_its_answer_is_drained_only_for_a_moment(open_wire: Any) -> None:
    reply = events(ANSWER, end=False)
    async with serve([ASK, reply, Flood(b"6\r\n: ping\r\n" * 100)]) as server, open_wire(server.url) as wire:
        exchanges = [(await wire.send(REQUEST)).exchange for _ in range(2)]
    assert [exchange.answer for exchange in exchanges] == [OURS, OURS]
    assert server.connections == 2
