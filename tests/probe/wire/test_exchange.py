"""The wire with servers that behave: what is sent, what is recorded, which connection carries it."""

import asyncio
import json
import socket
from collections.abc import Sequence
from typing import Any

import pytest

from driftwatch import __version__
from driftwatch.probe.wire.exchange import Read, Request, Wire
from tests.servers.certificates import intermediate
from tests.servers.raw import ASK, RESET, STALL, chunked, events, http, open_ended, serve


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


HAS_IPV6 = has_ipv6()
OURS: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"ok": True}}
ANSWER = json.dumps(OURS).encode()


def request(**changes: Any) -> Request:
    rpc = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
    return Request(**{"label": "tools/list", "rpc": rpc, **changes})


NOTIFICATION = request(label="initialized", rpc={"jsonrpc": "2.0", "method": "notifications/initialized"})


def sent_headers(raw: bytes) -> list[tuple[str, str]]:
    lines = raw.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    return [(name, value) for name, _, value in (line.partition(": ") for line in lines)]


async def test_a_request_says_what_it_is_and_nothing_else(open_wire: Any) -> None:
    asked = request(headers=(("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")))
    async with serve([ASK, http(ANSWER)]) as server, open_wire(server.url) as wire:
        await wire.send(asked)
    head, _, body = server.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /mcp HTTP/1.1\r\n")
    assert json.loads(body) == asked.rpc
    assert dict(sent_headers(head)) == {
        "Host": f"127.0.0.1:{server.port}",
        "User-Agent": f"driftwatch/{__version__} (+https://github.com/driftwatch/driftwatch)",
        "Accept": "application/json, text/event-stream",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "MCP-Protocol-Version": "2026-07-28",
        "Mcp-Method": "tools/list",
    }


async def test_a_get_without_a_message_has_no_body(open_wire: Any) -> None:
    asked = request(http_method="GET", rpc=None, accept=None, read=Read.BODY)
    async with serve([ASK, http(b"{}")]) as server, open_wire(server.url) as wire:
        await wire.send(asked)
    names = {name for name, _ in sent_headers(server.requests[0])}
    assert names == {"Host", "User-Agent", "Accept-Encoding"}


async def test_an_exchange_records_what_was_said(open_wire: Any) -> None:
    reply = http(ANSWER, headers=("Content-Type: application/json", "X-Two: 1", "x-two: 2"))
    async with serve([ASK, reply]) as server, open_wire(server.url) as wire:
        exchange = (await wire.send(request())).exchange
    assert (exchange.label, exchange.http_method, exchange.rpc_method) == ("tools/list", "POST", "tools/list")
    assert exchange.url == server.url
    assert exchange.status == 200
    assert exchange.headers == (
        ("content-type", "application/json"),
        ("x-two", "1"),
        ("x-two", "2"),
        ("content-length", str(len(ANSWER))),
    )
    assert (exchange.answer, exchange.result, exchange.error) == (OURS, {"ok": True}, None)
    assert (exchange.excerpt, exchange.size) == (ANSWER.decode(), len(ANSWER))
    assert (exchange.fault, exchange.remarks) == (None, ())
    assert exchange.address == f"127.0.0.1:{server.port}"
    assert exchange.first_byte_s is not None
    assert 0 < exchange.first_byte_s <= exchange.duration_s


@pytest.mark.parametrize(
    "reply",
    [
        http(ANSWER),
        chunked(ANSWER[:7], ANSWER[7:], headers=("content-type: application/json",)),
        events(ANSWER),
        http(ANSWER, status="404 Not Found"),
        http(ANSWER, status="400 "),
        http(b"", status="202 Accepted"),
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n" + http(ANSWER),
    ],
)
async def test_one_connection_carries_the_whole_dialogue(reply: bytes, open_wire: Any) -> None:
    async with serve([ASK, reply, ASK, reply, ASK, reply]) as server, open_wire(server.url) as wire:
        statuses = [(await wire.send(request())).exchange.status for _ in range(3)]
    assert server.connections == 1
    assert len(set(statuses)) == 1
    assert wire.requests == 3


@pytest.mark.parametrize(
    "reply",
    [
        http(ANSWER, headers=("content-type: application/json", "connection: close")),
        http(ANSWER).replace(b"HTTP/1.1", b"HTTP/1.0"),
        open_ended(ANSWER),
    ],
)
async def test_a_server_that_closes_gets_a_new_connection(reply: bytes, open_wire: Any) -> None:
    async with serve([ASK, reply]) as server, open_wire(server.url) as wire:
        exchanges = [(await wire.send(request())).exchange for _ in range(2)]
    assert [exchange.answer for exchange in exchanges] == [OURS, OURS]
    assert server.connections == 2


async def test_a_session_goes_back_without_the_blanks_after_it(open_wire: Any) -> None:
    reply = http(ANSWER, headers=("content-type: application/json", "mcp-session-id: abc \t"))
    async with serve([ASK, reply]) as server, open_wire(server.url) as wire:
        session = (await wire.send(request())).session
    assert session == "abc"


async def test_a_fresh_request_gets_a_connection_of_its_own_that_then_is_kept(open_wire: Any) -> None:
    script = [ASK, http(ANSWER)] * 3
    async with serve(script) as server, open_wire(server.url) as wire:
        await wire.send(request())
        await wire.send(request(), fresh=True)
        await wire.send(request())
    assert server.connections == 2


async def test_a_kept_connection_that_the_server_closed_without_a_word_is_no_fault(open_wire: Any) -> None:
    async with serve([ASK, http(ANSWER)], [ASK, http(ANSWER)]) as server, open_wire(server.url) as wire:
        exchanges = [(await wire.send(request())).exchange for _ in range(2)]
    assert [exchange.fault for exchange in exchanges] == [None, None]
    assert server.connections == 2


@pytest.mark.parametrize("end", [[], [RESET]])
async def test_a_kept_connection_that_breaks_at_the_next_request_is_tried_anew(
    end: Sequence[Any], open_wire: Any
) -> None:
    scripts = [[ASK, http(ANSWER), ASK, *end], [ASK, http(ANSWER)]]
    async with serve(*scripts) as server, open_wire(server.url) as wire:
        exchanges = [(await wire.send(request())).exchange for _ in range(2)]
    assert [exchange.fault for exchange in exchanges] == [None, None]
    assert (server.connections, len(server.requests), wire.requests) == (2, 3, 3)


async def test_a_call_of_a_tool_is_never_sent_twice(open_wire: Any) -> None:
    call = request(rpc={"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "pay"}})
    async with serve([ASK, http(ANSWER), ASK]) as server, open_wire(server.url) as wire:
        await wire.send(request())
        exchange = (await wire.send(call)).exchange
    assert exchange.fault is not None
    assert exchange.fault.code == "reset"
    assert len(server.requests) == 2


async def test_only_the_headers_are_read_when_nothing_else_is_wanted(open_wire: Any) -> None:
    reply = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    asked = request(http_method="GET", rpc=None, read=Read.HEADERS)
    async with serve([ASK, reply, STALL]) as server, open_wire(server.url) as wire:
        exchange = (await wire.send(asked)).exchange
    assert (exchange.status, exchange.media_type, exchange.fault) == (200, "text/event-stream", None)
    assert (exchange.size, exchange.excerpt) == (0, "")


async def test_a_stream_in_reply_to_a_notification_is_left_alone(open_wire: Any) -> None:
    reply = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
    async with serve([ASK, reply, STALL]) as server, open_wire(server.url) as wire:
        exchange = (await wire.send(NOTIFICATION)).exchange
    assert (exchange.status, exchange.fault, exchange.answer) == (200, None, None)


@pytest.mark.parametrize("body", [b"", b"ok", b"<html>", b"{}"])
async def test_a_notification_needs_no_answer(body: bytes, open_wire: Any) -> None:
    async with serve([ASK, http(body, status="202 Accepted")]) as server, open_wire(server.url) as wire:
        exchange = (await wire.send(NOTIFICATION)).exchange
    assert (exchange.fault, exchange.answer, exchange.excerpt) == (None, None, body.decode())


async def test_an_error_to_a_notification_is_kept(open_wire: Any) -> None:
    error = {"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": "no"}}
    reply = http(json.dumps(error).encode(), status="400 Bad Request")
    async with serve([ASK, reply]) as server, open_wire(server.url) as wire:
        exchange = (await wire.send(NOTIFICATION)).exchange
    assert (exchange.answer, exchange.remarks) == (error, ())


async def test_the_whole_body_is_read_when_it_is_wanted(open_wire: Any) -> None:
    document = {"resource": "https://mcp.test/mcp"}
    asked = request(http_method="GET", rpc=None, read=Read.BODY)
    async with (
        serve([ASK, http(json.dumps(document).encode()), ASK, http(b"<html>"), ASK, http(b"[1]")]) as server,
        open_wire(server.url) as wire,
    ):
        exchanges = [(await wire.send(asked)).exchange for _ in range(3)]
    assert [exchange.answer for exchange in exchanges] == [document, None, None]
    assert [exchange.fault for exchange in exchanges] == [None, None, None]


async def test_a_redirect_is_told_and_not_followed(open_wire: Any) -> None:
    reply = http(status="307 Temporary Redirect", headers=("location: /mcp/?key=abc",))
    async with serve([ASK, reply]) as server, open_wire(server.url) as wire:
        found = await wire.send(request())
    assert found.location == "/mcp/?key=abc"
    assert found.exchange.header("location") == "/mcp/?<redacted>"
    assert (found.exchange.status, found.exchange.fault, len(server.requests)) == (307, None, 1)


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        (" 7 ", 7.0),
        ("Sun, 06 Nov 1994 08:49:37 GMT", 0.0),
        ("soon", None),
        ("-1", None),
        ("9" * 400, 999999999.0),
        ("Sun, 06 Nov 1994 08:49:37", None),
    ],
)
async def test_the_pause_that_a_server_asks_for_is_read(
    value: str, seconds: float | None, open_wire: Any
) -> None:
    reply = http(status="429 Too Many Requests", headers=(f"retry-after: {value}",))
    async with serve([ASK, reply]) as server, open_wire(server.url) as wire:
        assert (await wire.send(request())).retry_after_s == seconds


async def test_a_session_id_is_handed_out_and_never_recorded(open_wire: Any) -> None:
    session = "0a1b2c3d4e5f"
    body = json.dumps({**OURS, "result": {"echo": session}}).encode()
    reply = http(body, headers=("content-type: application/json", f"Mcp-Session-Id: {session}"))
    async with serve([ASK, reply, ASK, reply]) as server, open_wire(server.url) as wire:
        first = await wire.send(request())
        second = await wire.send(request(headers=(("Mcp-Session-Id", session),)))
    assert first.session == second.session == session
    assert ("mcp-session-id", "<session>") in first.exchange.headers
    assert ("Mcp-Session-Id", "<session>") in second.exchange.request_headers
    assert ("Mcp-Session-Id", session) in sent_headers(server.requests[1])
    assert first.exchange.result == {"echo": "<session>"}
    assert session not in repr([first.exchange, second.exchange])


async def test_an_empty_session_id_is_recorded_as_such(open_wire: Any) -> None:
    reply = http(ANSWER, headers=("content-type: application/json", "Mcp-Session-Id:"))
    async with serve([ASK, reply]) as server, open_wire(server.url) as wire:
        exchange = (await wire.send(request())).exchange
    assert exchange.header("mcp-session-id") == ""


async def test_tls_carries_the_same_dialogue_on_one_connection(open_wire: Any) -> None:
    script = [ASK, http(ANSWER), ASK, events(ANSWER), ASK, http(ANSWER)]
    context = intermediate().issue("mcp.test").context()
    async with serve(script, tls=context) as server, open_wire(server.at("mcp.test")) as wire:
        exchanges = [(await wire.send(request())).exchange for _ in range(3)]
    assert [exchange.answer for exchange in exchanges] == [OURS] * 3
    assert server.connections == 1


@pytest.mark.skipif(not HAS_IPV6, reason="this machine has no IPv6 loopback")
async def test_an_ipv6_address_is_spoken_to_and_recorded(open_wire: Any) -> None:
    async with serve([ASK, http(ANSWER)], host="::1") as server, open_wire(server.at("[::1]")) as wire:
        exchange = (await wire.send(request())).exchange
    assert (exchange.answer, exchange.address) == (OURS, f"[::1]:{server.port}")
    assert ("Host", f"[::1]:{server.port}") in sent_headers(server.requests[0])


async def test_a_request_too_large_for_one_write_arrives_whole(open_wire: Any) -> None:
    big = request(rpc={"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"text": "x" * 5_000_000}})
    for context in (None, intermediate().issue("mcp.test").context()):
        script = [ASK, http(ANSWER)]
        async with serve(script, tls=context) as server, open_wire(server.at("mcp.test")) as wire:
            assert (await wire.send(big)).exchange.answer == OURS
        assert len(server.requests[0]) > 5_000_000


@pytest.mark.parametrize("url", ["/mcp", "ftp://h/", ""])
async def test_an_endpoint_that_is_no_url_is_our_own_mistake(url: str, open_wire: Any) -> None:
    with pytest.raises(ValueError, match="absolute http or https URL"):
        open_wire(url)


async def test_leaving_the_wire_closes_its_connections(open_wire: Any) -> None:
    async with serve([ASK, http(ANSWER), STALL]) as server:
        wire: Wire
        async with open_wire(server.url) as wire:
            await wire.send(request())
            (connection,) = wire._kept.values()
        assert connection.stream.closed


async def test_requests_side_by_side_have_connections_of_their_own_and_leave_none_open(
    open_wire: Any,
) -> None:
    async with serve([ASK, http(ANSWER), ASK, http(ANSWER), STALL]) as server, open_wire(server.url) as wire:
        for _ in range(2):
            replies = await asyncio.gather(*(wire.send(request()) for _ in range(3)))
            assert [reply.exchange.answer for reply in replies] == [OURS] * 3
        assert len(wire._kept) == 1
    assert server.connections == 5
