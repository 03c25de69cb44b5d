"""Everything that can go wrong on the way is data: a code, a phase and a sentence."""

import asyncio
import errno
import json
import socket
import ssl
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftwatch.evidence import Exchange, Missing
from driftwatch.probe.wire.connect import Address
from driftwatch.probe.wire.exchange import Credential, Request
from driftwatch.probe.wire.fault import Broken, of_os_error
from tests.servers.certificates import intermediate
from tests.servers.raw import ASK, CUT, RESET, Drip, chunked, http, open_ended, serve, serve_openssl

OURS: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "result": {"ok": True}}
ANSWER = json.dumps(OURS).encode()
REQUEST = Request(label="tools/list", rpc={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
HEADERS = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


async def ask(open_wire: Any, *script: Any, **limits: Any) -> Exchange:
    async with serve([ASK, *script]) as server, open_wire(server.url, **limits) as wire:
        exchange: Exchange = (await wire.send(REQUEST)).exchange
        return exchange


BROKEN = {
    "closed-without-an-answer": ([], "reset", "headers", "closed the connection without an answer"),
    "reset-without-an-answer": ([RESET], "reset", "headers", "reset the connection"),
    "cut-status-line": ([b"HTTP/1.1 20"], "reset", "headers", "inside the header block"),
    "cut-header-block": ([HEADERS], "reset", "headers", "inside the header block"),
    "cut-body": ([http(ANSWER[:10], length=400)], "reset", "body", "the body was cut: 10 of 400 bytes came"),
    "reset-body": ([http(ANSWER[:10], length=400), RESET], "reset", "body", ""),
    "cut-between-chunks": (
        [chunked(ANSWER[:10], end=False)],
        "reset",
        "body",
        "10 bytes came, and no last chunk",
    ),
    "cut-chunk": ([chunked()[:-5] + b"40\r\nabc"], "reset", "body", "and no last chunk"),
    "cut-events": (
        [chunked(b"data: " + ANSWER, headers=("content-type: text/event-stream",), end=False)],
        "reset",
        "body",
        "and no last chunk",
    ),
    "garbage": ([b"\x00\x01\x02\x03 garbage"], "protocol", "headers", r"begins with b'\x00\x01"),
    "another-protocol": ([b"SSH-2.0-OpenSSH_9.9\r\n"], "protocol", "headers", "begins with b'SSH-2.0"),
    "http-0.9": ([b"<html>hello</html>"], "protocol", "headers", "not HTTP"),
    "http-2-alone": (
        [b"\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80"],
        *("protocol", "headers", "not HTTP: the port speaks HTTP/2 alone"),
    ),
    "leading-blank-line": ([b"\r\n" + http(ANSWER)], "protocol", "headers", "not HTTP"),
    "tls": ([b"\x15\x03\x01\x00\x02\x02\x0a"], "protocol", "headers", "the port speaks TLS"),
    "garbage-status-line": (
        [b"HTTP/1.1 abc\r\n\r\n"],
        "protocol",
        "headers",
        "invalid status code; the reply begins with b'HTTP/1.1 abc",
    ),
    "long-garbage-status-line": (
        [b"HTTP/1.1 " + b"x" * 5000 + b"\r\n\r\n"],
        "protocol",
        "headers",
        "invalid status code; the reply begins with b'HTTP/1.1 xxx",
    ),
    "http-2": ([b"HTTP/2 200\r\n\r\n"], "protocol", "headers", "expected dot; the reply begins"),
    "no-such-status": ([b"HTTP/1.1 000 OK\r\n\r\n"], "protocol", "headers", "HTTP: the status code 0 does"),
    "long-chunk-header": (
        [HEADERS + b"transfer-encoding: chunked\r\n\r\n" + b"f" * 1000 + b"\r\n"],
        "protocol",
        "body",
        "chunk size overflow",
    ),
    "garbage-header": (
        [b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n"],
        "protocol",
        "headers",
        "invalid header token",
    ),
    "header-with-a-zero-byte": (
        [b"HTTP/1.1 200 OK\r\na: \x00\r\n\r\n"],
        "protocol",
        "headers",
        "not valid HTTP",
    ),
    "two-lengths": (
        [HEADERS + b"content-length: 1, 2\r\n\r\n"],
        "protocol",
        "headers",
        "invalid character in Content-Length",
    ),
    "garbage-length": (
        [HEADERS + b"content-length: ten\r\n\r\n"],
        "protocol",
        "headers",
        "invalid character in Content-Length, after the header 'content-type'",
    ),
    "unknown-transfer-encoding": (
        [HEADERS + b"transfer-encoding: gzip\r\n\r\n"],
        "protocol",
        "headers",
        "Transfer-Encoding 'gzip', where clients know only chunked",
    ),
    "garbage-chunk": (
        [HEADERS + b"transfer-encoding: chunked\r\n\r\nzz\r\n"],
        "protocol",
        "body",
        "invalid character in chunk size",
    ),
    "garbage-after-chunk": (
        [HEADERS + b"transfer-encoding: chunked\r\n\r\n1\r\n{}\r\n"],
        "protocol",
        "body",
        "expected LF after chunk data",
    ),
    "longer-chunk-than-it-says": (
        [HEADERS + b"transfer-encoding: chunked\r\n\r\n1\r\n{\n\r\n"],
        "protocol",
        "body",
        "missing expected CR after chunk data",
    ),
    "no-reply-after-a-hint": (
        [b"HTTP/1.1 103 Early Hints\r\n\r\nhello"],
        "protocol",
        "headers",
        "not valid HTTP: expected HTTP/; the reply begins",
    ),
    "switched-protocols": (
        [b"HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\n\r\n"],
        "protocol",
        "headers",
        "switches to another protocol (status 101)",
    ),
}


@pytest.mark.parametrize(("script", "code", "phase", "words"), BROKEN.values(), ids=BROKEN)
async def test_a_broken_exchange_is_a_fault(
    script: list[Any], code: str, phase: str, words: str, open_wire: Any
) -> None:
    exchange = await ask(open_wire, *script)
    assert exchange.fault is not None
    assert (exchange.fault.code, exchange.fault.phase) == (code, phase)
    assert words in exchange.fault.message
    assert len(exchange.fault.message) < 400
    assert phase == "headers" or "curl" not in exchange.fault.message
    assert exchange.answer is None
    assert exchange.address is not None


async def test_a_cut_body_keeps_what_came(open_wire: Any) -> None:
    exchange = await ask(open_wire, http(ANSWER[:10], length=400))
    assert (exchange.status, exchange.size, exchange.excerpt) == (200, 10, ANSWER[:10].decode())


async def test_the_wire_goes_on_after_a_fault(open_wire: Any) -> None:
    async with serve([ASK, RESET], [ASK, http(ANSWER)]) as server, open_wire(server.url) as wire:
        first, second = [(await wire.send(REQUEST)).exchange for _ in range(2)]
    assert first.fault is not None
    assert second.answer == OURS


async def test_a_refused_connection_names_the_address(open_wire: Any) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # never listening: it refuses, and nobody else gets the port
        port = taken.getsockname()[1]
        async with open_wire(f"https://mcp.test:{port}/mcp") as wire:
            exchange = (await wire.send(REQUEST)).exchange
    assert exchange.fault is not None
    assert (exchange.fault.code, exchange.fault.phase) == ("refused", "connect")
    assert exchange.fault.message == f"127.0.0.1:{port} refused the connection"
    assert (exchange.status, exchange.address, exchange.first_byte_s) == (None, None, None)
    assert wire.tls == Missing(exchange.fault.message, "refused", "transport/endpoint")
    assert wire.requests == 0


class Nowhere:
    async def resolve(self, host: str, port: int) -> list[Address]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


async def test_a_name_that_does_not_resolve_is_a_dns_fault(open_wire: Any) -> None:
    async with open_wire("https://mcp.test/mcp", resolver=Nowhere()) as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert exchange.fault is not None
    assert (exchange.fault.code, exchange.fault.phase) == ("dns", "resolve")
    assert exchange.fault.message == "mcp.test does not resolve: Name or service not known"


@pytest.mark.parametrize(
    "url", ["http://169.254.169.254/latest", "http://[fd00:ec2::254]/", "http://[fe80::1]/"]
)
async def test_a_configured_metadata_address_is_refused(url: str, open_wire: Any) -> None:
    async with open_wire(url) as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert exchange.fault is not None
    assert (exchange.fault.code, exchange.fault.phase) == ("address", "connect")


async def test_an_address_that_a_server_names_must_be_public_or_its_own(open_wire: Any) -> None:
    async with serve([ASK, http(ANSWER)]) as server, open_wire(server.at("mcp.test")) as wire:
        own = (
            await wire.send(Request(label="x", url=server.at("mcp.test", "/other"), rpc=REQUEST.rpc))
        ).exchange
        other = (await wire.send(Request(label="x", url=server.at("evil.test"), rpc=REQUEST.rpc))).exchange
        literal = (await wire.send(Request(label="x", url=server.url, rpc=REQUEST.rpc))).exchange
        nonsense = (await wire.send(Request(label="x", url="javascript:alert(1)", rpc=REQUEST.rpc))).exchange
    assert own.answer == OURS
    assert [one.fault and one.fault.code for one in (other, literal, nonsense)] == ["address"] * 3
    assert server.connections == 1


async def test_tls_on_a_port_that_was_thought_plain_is_told(open_wire: Any) -> None:
    context = intermediate().issue("mcp.test").context()
    with serve_openssl(ANSWER, context) as server:
        async with open_wire(f"http://mcp.test:{server.port}/mcp") as wire:
            exchange = (await wire.send(REQUEST)).exchange
    assert exchange.fault is not None
    assert exchange.fault.phase == "headers"
    assert exchange.fault.code in {"protocol", "reset"}  # an alert, where its reset did not come first


CUT_TLS = {
    "complete-length": ([http(ANSWER), CUT], None),
    "complete-chunks": ([chunked(ANSWER, headers=("content-type: application/json",)), CUT], None),
    "no-length": ([open_ended(ANSWER), CUT], "may be cut"),
    "cut-length": ([http(ANSWER, length=400), CUT], "of 400 bytes came"),
    "cut-chunks": ([chunked(ANSWER, end=False), CUT], "and no last chunk"),
    "no-length-but-a-goodbye": ([open_ended(ANSWER)], None),
}


@pytest.mark.parametrize(("script", "words"), CUT_TLS.values(), ids=CUT_TLS)
async def test_a_missing_goodbye_of_tls_matters_only_where_nothing_else_says_that_all_came(
    script: list[Any], words: str | None, open_wire: Any
) -> None:
    context = intermediate().issue("mcp.test").context()
    async with serve([ASK, *script], tls=context) as server, open_wire(server.at("mcp.test")) as wire:
        exchange = (await wire.send(REQUEST)).exchange
    if words is None:
        assert (exchange.fault, exchange.answer) == (None, OURS)
    else:
        assert exchange.fault is not None
        assert (exchange.fault.code, exchange.fault.phase) == ("reset", "body")
        assert words in exchange.fault.message


async def test_the_answer_of_a_server_that_refuses_before_it_has_read_is_heard(open_wire: Any) -> None:
    big = Request(label="x", rpc={"jsonrpc": "2.0", "id": 1, "method": "x", "params": "x" * 3_000_000})
    early = http(b"too much", status="413 Content Too Large")
    async with serve([early]) as server, open_wire(server.url) as wire:
        exchange = (await wire.send(big)).exchange
    # The reset that follows may overtake the answer: then there is a fault, and never an exception.
    assert exchange.status == 413 or (exchange.fault is not None and exchange.fault.code == "reset")


async def test_a_credential_that_is_no_header_is_not_quoted(open_wire: Any) -> None:
    credential = Credential.bearer("token", "secret-with\nnewline")
    async with serve([ASK]) as server, open_wire(server.url, credential=credential) as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert exchange.fault is not None
    assert (exchange.fault.code, exchange.fault.phase) == ("protocol", "send")
    assert "secret" not in repr(exchange)


async def test_headers_outside_of_ascii_are_no_fault(open_wire: Any) -> None:
    reply = http(ANSWER, headers=("content-type: application/json", "x-name: caf\xe9"))
    assert (await ask(open_wire, reply)).header("x-name") == "caf\xe9"


async def test_cancellation_passes_and_closes_the_connection(open_wire: Any) -> None:
    async with (
        serve([ASK, Drip(b"HTTP/1.1 200 OK\r\n", forever=True)]) as server,
        open_wire(server.url) as wire,
    ):
        task = asyncio.create_task(wire.send(REQUEST))
        await server.asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert wire._kept == {}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60)
@given(
    st.lists(
        st.sampled_from(
            [
                b"HTTP/1.1 200 OK\r\n",
                b"HTTP/1.0 200\r\n",
                b"content-type: text/event-stream\r\n",
                b"content-encoding: gzip\r\n",
                b"transfer-encoding: chunked\r\n",
                b"content-length: 5\r\n",
                b"\r\n",
                b"4\r\n",
                b"data: {}\n\n",
                b"\x1f\x8b\x08\x00",
                b"\xff",
                ANSWER,
            ]
        )
        | st.binary(max_size=10),
        max_size=10,
    )
)
async def test_no_bytes_of_a_server_are_an_exception(open_wire: Any, parts: list[bytes]) -> None:
    exchange = await ask(open_wire, b"".join(parts))
    assert exchange.fault is not None or exchange.answer is not None or (exchange.status or 0) >= 300


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConnectionRefusedError(), "refused"),
        (ConnectionResetError(), "reset"),
        (BrokenPipeError(), "reset"),
        (ConnectionAbortedError(), "reset"),
        (OSError(errno.ENOTCONN, "x"), "reset"),
        (TimeoutError(), "timeout"),
        (OSError(errno.ETIMEDOUT, "x"), "timeout"),
        (OSError(errno.ENETUNREACH, "x"), "unreachable"),
        (OSError(errno.EHOSTUNREACH, "x"), "unreachable"),
        (OSError(errno.EADDRNOTAVAIL, "x"), "unreachable"),
        (OSError(errno.EPERM, "x"), "unreachable"),
        (socket.gaierror(socket.EAI_AGAIN, "x"), "dns"),
        (ssl.SSLError(1, "x"), "tls"),
        (ssl.SSLEOFError(8, "x"), "tls"),
        (ssl.SSLCertVerificationError(1, "x"), "tls"),
    ],
)
def test_every_error_of_a_socket_is_a_fault(error: OSError, code: str) -> None:
    assert of_os_error(error, "connect", "192.0.2.1:443").fault.code == code


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS])
def test_trouble_of_this_machine_is_not_blamed_on_the_server(number: int) -> None:
    with pytest.raises(OSError, match="ours") as caught:
        raise of_os_error(OSError(number, "ours"), "connect", "192.0.2.1:443")
    assert not isinstance(caught.value, Broken)
