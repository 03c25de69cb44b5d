"""HTTP/1.1 as bytes: what is asked is valid, and a reply is read alike however it arrives."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.probe.wire.http1 import ReplyParser, head, in_utf8

OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
HELLO = OK + b"Content-Length: 5\r\n\r\nhello"
CHUNKS = OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;note=1\r\nllo\r\n0\r\nTrailer: x\r\n\r\n"
UNTIL_CLOSE = OK + b"\r\nhello"
KEPT = b"1.0 200 OK\r\nConnection: keep-alive\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"


def parsed(*pieces: bytes) -> ReplyParser:
    reply = ReplyParser()
    for piece in pieces:
        if reply.ended or reply.broken:
            break
        reply.feed(piece)
    return reply


def told(reply: ReplyParser) -> tuple[object, ...]:
    fault = reply.broken.fault if reply.broken else None
    return reply.status, tuple(reply.headers), b"".join(reply.body), reply.ended, reply.reusable, fault


REPLIES = {
    "length": (HELLO, b"hello", True),
    "chunks": (CHUNKS, b"hello", True),
    "until-close": (UNTIL_CLOSE, b"hello", False),
    "old": (HELLO.replace(b"1.1", b"1.0"), b"hello", False),
    "said-to-close": (HELLO.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n"), b"hello", False),
    "nothing": (b"HTTP/1.1 204 No Content\r\n\r\n", b"", True),
    "hints": (HINTS + HELLO, b"hello", True),
    "no-reason": (HELLO.replace(b" OK", b""), b"hello", True),
    "chunks-and-length": (CHUNKS.replace(b"OK\r\n", b"OK\r\nContent-Length: 9\r\n"), b"hello", False),
    "old-keep-alive": (HELLO.replace(b"1.1 200 OK\r\n", KEPT), b"hello", True),
    "old-chunks": (CHUNKS.replace(b"1.1 200 OK\r\n", KEPT), b"hello", False),
}


@pytest.mark.parametrize(("raw", "body", "reusable"), REPLIES.values(), ids=REPLIES)
def test_a_reply_ends_where_its_framing_says(raw: bytes, body: bytes, *, reusable: bool) -> None:
    reply = parsed(raw, b"")
    assert reply.broken is None
    assert (b"".join(reply.body), reply.ended, reply.reusable) == (body, True, reusable)
    assert not [name for name, _ in reply.headers if name in {"link", "trailer"}]


@given(
    raw=st.sampled_from([raw for raw, *_ in REPLIES.values()]).flatmap(
        lambda raw: st.one_of(st.just(raw), st.integers(1, len(raw)).map(lambda end: raw[:end]))
    ),
    cuts=st.lists(st.integers(1, 400)),
)
def test_how_a_reply_is_cut_into_pieces_makes_no_difference(raw: bytes, cuts: list[int]) -> None:
    ends = [0, *sorted({cut for cut in cuts if cut < len(raw)}), len(raw)]
    pieces = [raw[start:end] for start, end in pairwise(ends)]
    assert told(parsed(*pieces, b"")) == told(parsed(raw, b""))


@given(st.binary(max_size=300).map(lambda junk: (b"HTTP/1.1 ", OK, HELLO, CHUNKS)[len(junk) % 4] + junk))
def test_no_reply_breaks_the_parser(raw: bytes) -> None:
    reply = parsed(raw, b"")
    assert reply.ended or reply.broken


def test_the_blanks_around_a_value_are_none_of_it() -> None:
    reply = parsed(b"HTTP/1.1 200 OK\r\nA:\t b c \t\r\nB: \r\nTransfer-Encoding: chunked \r\n\r\n0\r\n\r\n")
    assert (reply.headers[:2], reply.ended, reply.broken) == ([("a", "b c"), ("b", "")], True, None)


def test_nothing_of_a_reply_is_left_for_the_next_one_on_the_connection() -> None:
    reply = parsed(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\nA: trailer\r\n\r\n")
    assert reply.reusable
    reply.begin()
    assert (reply.status, reply.ended, list(reply.body), reply.headers) == (0, False, [], [])
    reply.feed(HELLO)
    assert told(reply) == told(parsed(HELLO))


DOUBTS = {
    "none": (HINTS.partition(b"HTTP/1.1 100")[0] + HELLO, []),
    "continue": (
        HINTS + HELLO,
        ["100 Continue comes before the reply, unasked: agents on Node give up at it"],
    ),
    "headers": (
        HELLO.replace(b"OK\r\n", b"OK\r\nLink: %b\r\n" % (b"x" * 17_000)),
        ["the headers are 17,047 bytes: agents on Node give up at 16,384"],
    ),
}


@pytest.mark.parametrize(("raw", "doubts"), DOUBTS.values(), ids=DOUBTS)
def test_what_some_clients_give_up_at_is_told(raw: bytes, doubts: list[str]) -> None:
    assert parsed(raw).doubts == doubts


SURPLUS = {
    "text": HELLO + b" world",
    "another-reply": HELLO * 2,
    "after-close": HELLO.replace(b"OK\r\n", b"OK\r\nConnection: close\r\n") + b"!",
    "after-chunks": CHUNKS + b"!",
    "body-of-none": b"HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n{}",
}


@pytest.mark.parametrize("raw", SURPLUS.values(), ids=SURPLUS)
def test_what_comes_after_the_end_is_surplus_and_costs_the_connection(raw: bytes) -> None:
    reply = parsed(raw)
    assert (reply.ended, reply.surplus, reply.reusable, reply.broken) == (True, True, False, None)
    assert b"".join(reply.body) in {b"hello", b""}


REFUSED = {
    "doubled-length": (
        b"Content-Length: 2\r\nContent-Length: 2\r\n",
        "duplicate Content-Length (curl and others read it, agents on Node 24 do not)",
    ),
    "folded-line": (b"Server: a\r\n b\r\n", "unexpected whitespace after header value (curl"),
    "lines-without-a-return": (b"Server: a\nVia: b\r\n", "missing expected CR after header value (curl"),
    "name-with-a-space": (b"Bad Name: a\r\n", "invalid header token"),
    "two-codings": (b"Transfer-Encoding: gzip, chunked\r\n", "'gzip, chunked', where clients know only"),
    "doubled-coding": (b"Transfer-Encoding: chunked\r\n" * 2, "'chunked, chunked', where clients know only"),
}


@pytest.mark.parametrize(("lines", "words"), REFUSED.values(), ids=REFUSED)
def test_what_no_client_for_node_24_reads_is_no_valid_http(lines: bytes, words: str) -> None:
    reply = parsed(b"HTTP/1.1 200 OK\r\n" + lines + b"\r\n")
    assert reply.broken is not None
    assert reply.broken.fault.code == "protocol"
    assert words in reply.broken.fault.message


def test_a_request_head_is_written_as_it_is_given() -> None:
    block = head("POST", "/mcp?a=b", [("Host", "mcp.test"), ("X-Empty", ""), ("X-Text", in_utf8("ä b"))])
    assert block == b"POST /mcp?a=b HTTP/1.1\r\nHost: mcp.test\r\nX-Empty: \r\nX-Text: \xc3\xa4 b\r\n\r\n"


@pytest.mark.parametrize(
    ("target", "field"),
    [
        ("/m cp", ("A", "")),
        ("/", ("A ", "c")),
        ("/", ("", "c")),
        ("/", ("A", "b\r\nC: d")),
        ("/", ("A", "b\nC: d")),
        ("/", ("A", " ")),
        ("/", ("A", "\x00")),
        ("/", ("A: b\r\nC", "d")),
    ],
)
def test_no_header_smuggles_in_another(target: str, field: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="request head"):
        head("GET", target, [field])
