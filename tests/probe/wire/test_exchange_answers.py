"""How the answer is found in what a server sends, and what is said when it is not there."""

import gzip
import json
import zlib
from typing import Any

import pytest

from driftwatch.evidence import Exchange
from driftwatch.probe.wire.exchange import Request
from tests.servers.raw import ASK, STALL, chunked, events, http, open_ended, serve

OURS: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"ok": True}}
ANSWER = json.dumps(OURS).encode()
NOTE = b'{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
PING = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
REQUEST = Request(label="tools/list", rpc={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
SSE = ("content-type: text/event-stream",)
JSON = ("content-type: application/json",)


async def ask(open_wire: Any, *script: Any, **limits: Any) -> Exchange:
    async with serve([ASK, *script]) as server, open_wire(server.url, **limits) as wire:
        exchange: Exchange = (await wire.send(REQUEST)).exchange
        return exchange


def remarks(exchange: Exchange) -> list[str]:
    return [remark.code for remark in exchange.remarks]


def fault(exchange: Exchange) -> tuple[str, str] | None:
    return None if exchange.fault is None else (exchange.fault.code, exchange.fault.phase)


FOUND = {
    "json": (http(ANSWER), []),
    "json-with-parameters-and-case": (
        http(ANSWER, headers=("Content-Type: Application/JSON; Charset=UTF-8",)),
        [],
    ),
    "json-doubled-type": (http(ANSWER, headers=("content-type: application/json, application/json",)), []),
    "json-in-chunks-of-one-byte": (
        chunked(*(ANSWER[place : place + 1] for place in range(len(ANSWER))), headers=JSON),
        [],
    ),
    "json-with-a-byte-order-mark": (http(b"\xef\xbb\xbf" + ANSWER), ["bom"]),
    "json-until-the-end-of-the-connection": (open_ended(ANSWER), []),
    "json-as-html": (http(ANSWER, headers=("content-type: text/html",)), []),
    "json-without-a-type": (http(ANSWER, headers=()), ["no-content-type"]),
    "events": (events(ANSWER), []),
    "events-as-plain-text": (
        chunked(b": hello\n\n", b"data: %b\n\n" % ANSWER, headers=("content-type: text/plain",)),
        [],
    ),
    "events-after-notifications": (events(NOTE, NOTE, ANSWER), []),
    "events-after-a-request-of-the-server": (events(PING, ANSWER), ["server-request"]),
    "events-after-another-answer": (events(ANSWER.replace(b'"id": 1', b'"id": 9'), ANSWER), []),
    "events-after-something-that-is-no-json": (events(b"hello", ANSWER), []),
    "events-after-a-priming-one": (
        chunked(b"id: 1\ndata:\n\n", b"data: " + ANSWER + b"\n\n", headers=SSE),
        [],
    ),
    "events-after-a-named-one": (
        chunked(b"event: ping\ndata: {}\n\ndata: " + ANSWER + b"\n\n", headers=SSE),
        [],
    ),
    "an-event-without-its-blank-line": (chunked(b"data: " + ANSWER, headers=SSE), ["unterminated-event"]),
    "events-without-length": (open_ended(b"data: %b\n\n" % ANSWER, headers=SSE), []),
    "an-array": (http(b"[%b,%b]" % (NOTE, ANSWER)), ["batch"]),
    "another-id": (http(ANSWER.replace(b'"id": 1', b'"id": 2')), ["id-wrong"]),
    "another-type-of-id": (http(ANSWER.replace(b'"id": 1', b'"id": "1"')), ["id-type"]),
    "duplicate-members": (http(ANSWER.replace(b'"id": 1', b'"id": 2, "id": 1')), ["duplicate-member"]),
}


@pytest.mark.parametrize(("reply", "codes"), FOUND.values(), ids=FOUND)
async def test_the_answer_is_found(reply: bytes, codes: list[str], open_wire: Any) -> None:
    exchange = await ask(open_wire, reply)
    assert exchange.result == {"ok": True}
    assert (exchange.fault, remarks(exchange)) == (None, codes)


@pytest.mark.parametrize("before", [b"", b"data: %b\n\n" % NOTE])
async def test_the_reading_stops_at_the_answer_though_the_stream_stays_open(
    before: bytes, open_wire: Any
) -> None:
    reply = chunked(before + b"data: %b\n\n" % ANSWER, headers=SSE, end=False)
    async with serve([ASK, reply, STALL]) as server, open_wire(server.url) as wire:
        exchanges = [(await wire.send(REQUEST)).exchange for _ in range(2)]
    assert [exchange.answer for exchange in exchanges] == [OURS, OURS]
    assert [exchange.fault for exchange in exchanges] == [None, None]
    assert server.connections == 2


ABSENT = {
    "nothing": (http(b""), "no-answer", "the body is empty"),
    "no-content": (b"HTTP/1.1 204 No Content\r\n\r\n", "no-answer", "the body is empty"),
    "accepted": (http(b"", status="202 Accepted"), "no-answer", "the body is empty"),
    "html": (http(b"<html>hello</html>", headers=("content-type: text/html",)), "json", "not JSON but a"),
    "text": (http(b"event horizon"), "json", "not JSON: "),
    "cut-json": (http(ANSWER[:-3]), "json", "not JSON: "),
    "latin-1": (http(b'{"a":"\xe9"}'), "utf-8", "byte 0xe9 at offset 6 is not UTF-8"),
    "deep": (http(b"[" * 500 + b"]" * 500), "depth", "JSON nested deeper than 200 levels"),
    "other-json": (
        http(b'{"status":"ok"}'),
        "envelope",
        "the JSON is no JSON-RPC message: an object with status",
    ),
    "only-a-notification": (http(NOTE), "no-answer", "JSON-RPC without an answer to the request"),
    "two-other-answers": (
        http(b'[{"id":7,"result":{}},{"id":8,"result":{}}]'),
        "no-answer",
        "JSON-RPC without an answer",
    ),
    "events-labelled-json": (http(b"data: %b\n\n" % ANSWER), "json", "not JSON: "),
    "json-labelled-events": (
        http(ANSWER, headers=SSE),
        "no-answer",
        "the body is labelled as an event stream and is JSON",
    ),
    "no-events": (events(), "no-answer", "the body is empty"),
    "events-without-the-answer": (
        events(NOTE, NOTE),
        "no-answer",
        "the stream ended after 2 events without the answer",
    ),
    "one-event-without-the-answer": (
        events(NOTE),
        "no-answer",
        "the stream ended after 1 event without the answer",
    ),
    "an-event-with-another-id": (
        chunked(
            b"id: 1\ndata:\n\nid: 2\ndata: " + ANSWER.replace(b'"id": 1', b'"id": 7') + b"\n\n", headers=SSE
        ),
        "no-answer",
        "the stream ended with an answer that does not carry the request's id",
    ),
    "events-to-be-resumed": (
        chunked(b"id: 1\nretry: 500\ndata:\n\n", headers=SSE),
        "no-answer",
        "the stream ended after 0 events without the answer, which a client would have to resume",
    ),
    "events-that-are-no-json": (events(b"hello", NOTE), "json", "not JSON: "),
    "events-that-are-no-json-rpc": (events(b"[]"), "envelope", "the JSON is no JSON-RPC message"),
    "events-in-latin-1": (events(b'{"a":"\xe9"}'), "utf-8", "byte 0xe9 at offset 6"),
    "an-event-cut-in-the-middle": (chunked(b"data: " + ANSWER[:-3], headers=SSE), "json", "not JSON: "),
}


@pytest.mark.parametrize(("reply", "code", "message"), ABSENT.values(), ids=ABSENT)
async def test_a_missing_answer_is_a_fault_that_says_why(
    reply: bytes, code: str, message: str, open_wire: Any
) -> None:
    exchange = await ask(open_wire, reply)
    assert fault(exchange) == (code, "message")
    assert exchange.fault is not None
    assert exchange.fault.message.startswith(message)
    assert exchange.answer is None
    assert exchange.status in {200, 202, 204}


@pytest.mark.parametrize(
    "status", ["400 Bad Request", "404 Not Found", "500 Oops", "401 Unauthorized", "302 Found"]
)
async def test_an_error_status_needs_no_answer_but_may_have_one(status: str, open_wire: Any) -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
    with_one = await ask(open_wire, http(json.dumps(error).encode(), status=status))
    without = await ask(open_wire, http(b"<h1>no</h1>", status=status, headers=("content-type: text/html",)))
    assert (with_one.error, with_one.fault) == (error["error"], None)
    assert (without.answer, without.fault, without.excerpt) == (None, None, "<h1>no</h1>")


async def test_json_that_is_no_json_rpc_is_no_answer_to_an_error(open_wire: Any) -> None:
    exchange = await ask(open_wire, http(b'{"detail":"Not Found"}', status="404 Not Found"))
    assert (exchange.answer, exchange.fault, exchange.excerpt) == (None, None, '{"detail":"Not Found"}')


async def test_an_error_without_an_id_is_taken(open_wire: Any) -> None:
    reply = http(
        b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}', status="400 Bad Request"
    )
    exchange = await ask(open_wire, reply)
    assert (exchange.error["code"], remarks(exchange)) == (-32700, ["id-null"])


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "GZIP"])
async def test_an_encoding_that_nobody_asked_for_is_undone_and_remarked(
    encoding: str, open_wire: Any
) -> None:
    packed = zlib.compress(ANSWER) if encoding == "deflate" else gzip.compress(ANSWER)
    exchange = await ask(open_wire, http(packed, headers=(*JSON, f"content-encoding: {encoding}")))
    assert (exchange.answer, exchange.fault, remarks(exchange)) == (OURS, None, ["unrequested-encoding"])
    assert (exchange.size, exchange.excerpt) == (len(packed), ANSWER.decode())


async def test_an_encoding_that_is_none_is_remarked_and_the_body_read_as_it_is(open_wire: Any) -> None:
    exchange = await ask(open_wire, http(ANSWER, headers=(*JSON, "content-encoding: UTF-8")))
    assert (exchange.answer, exchange.fault, remarks(exchange)) == (OURS, None, ["unrequested-encoding"])


async def test_a_reply_that_some_clients_give_up_at_is_read_and_remarked(open_wire: Any) -> None:
    exchange = await ask(open_wire, b"HTTP/1.1 100 Continue\r\n\r\n" + http(ANSWER))
    assert (exchange.answer, exchange.fault, remarks(exchange)) == (OURS, None, ["refused-by-some"])


async def test_an_encoded_event_stream_is_undone_as_it_comes(open_wire: Any) -> None:
    packer = zlib.compressobj(wbits=31)
    first = packer.compress(b"data: %b\n\n" % NOTE) + packer.flush(zlib.Z_SYNC_FLUSH)
    second = packer.compress(b"data: %b\n\n" % ANSWER) + packer.flush(zlib.Z_SYNC_FLUSH)
    reply = chunked(first, second, headers=(*SSE, "content-encoding: gzip"), end=False)
    exchange = await ask(open_wire, reply, STALL)
    assert (exchange.answer, exchange.fault) == (OURS, None)


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip"])
async def test_an_encoding_that_cannot_be_undone_is_a_fault(encoding: str, open_wire: Any) -> None:
    exchange = await ask(open_wire, http(b"\x1b\x00", headers=(*JSON, f"content-encoding: {encoding}")))
    assert fault(exchange) == ("encoding", "body")
    assert exchange.fault is not None
    assert f"({encoding})" in exchange.fault.message
    assert exchange.status == 200


async def test_a_body_that_is_not_encoded_as_it_says_is_a_fault(open_wire: Any) -> None:
    exchange = await ask(open_wire, http(ANSWER, headers=(*JSON, "content-encoding: gzip")))
    assert fault(exchange) == ("encoding", "body")


async def test_bytes_beyond_the_length_are_remarked_and_end_the_connection(open_wire: Any) -> None:
    short = http(ANSWER, length=len(ANSWER) - 2)
    async with serve([ASK, short], [ASK, http(ANSWER)]) as server, open_wire(server.url) as wire:
        first, second = [(await wire.send(REQUEST)).exchange for _ in range(2)]
    assert (fault(first), remarks(first)) == (("json", "message"), ["wrong-length"])
    assert first.fault is not None
    told = f"its Content-Length of {len(ANSWER) - 2} is too small (more came): not JSON: "
    assert first.fault.message.startswith(told)
    assert second.answer == OURS


async def test_a_length_that_leaves_a_whole_message_is_not_to_blame(open_wire: Any) -> None:
    exchange = await ask(open_wire, http(b'{"jsonrpc":"2.0","method":"notifications/x"}') + b"\r\n\r\nmore")
    assert remarks(exchange) == ["wrong-length"]
    assert exchange.fault is not None
    assert exchange.fault.message == "JSON-RPC without an answer to the request"


async def test_a_length_of_zero_before_a_body_is_named(open_wire: Any) -> None:
    exchange = await ask(open_wire, http(ANSWER, length=0))
    assert exchange.fault is not None
    assert exchange.fault.message == "its Content-Length of 0 is too small (more came): the body is empty"


async def test_a_body_where_none_may_be_is_remarked(open_wire: Any) -> None:
    exchange = await ask(open_wire, b"HTTP/1.1 204 No Content\r\n\r\n" + ANSWER)
    assert (fault(exchange), remarks(exchange)) == (("no-answer", "message"), ["wrong-length"])


async def test_a_large_answer_is_read_without_holding_up_the_loop(open_wire: Any) -> None:
    big = {**OURS, "result": {"text": "x" * 300_000, "list": list(range(10_000))}}
    assert (await ask(open_wire, http(json.dumps(big).encode()))).answer == big
    assert (await ask(open_wire, events(json.dumps(big).encode()))).answer == big


async def test_an_excerpt_is_2000_characters_read_leniently(open_wire: Any) -> None:
    exchange = await ask(open_wire, http(b"\xff" + "ü€😀".encode() * 5000, status="500 Oops"))
    assert len(exchange.excerpt) == 2000
    assert exchange.excerpt.startswith("\ufffdü€😀")
    assert exchange.size == 1 + 9 * 5000
