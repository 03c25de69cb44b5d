"""The SSE reader against streams that broke other readers, cut in every place."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.probe.wire.sse import SseEvent, SseReader

ANSWER = b'{"jsonrpc":"2.0","id":1,"result":{}}'


def message(data: bytes, name: str = "message", *, terminated: bool = True) -> SseEvent:
    return SseEvent(name=name, raw=data, terminated=terminated)


STREAMS = {
    "lines-end-with-lf": (b"event: message\ndata: " + ANSWER + b"\n\n", [message(ANSWER)]),
    "lines-end-with-crlf": (b"event: message\r\ndata: " + ANSWER + b"\r\n\r\n", [message(ANSWER)]),
    "lines-end-with-cr": (b"event: message\rdata: " + ANSWER + b"\r\r", [message(ANSWER)]),
    "line-ends-are-mixed": (
        b"data: a\r\ndata: b\rdata: c\n\r\ndata: d\n\rdata: e\r\n\n",
        [message(b"a\nb\nc"), message(b"d"), message(b"e")],
    ),
    "one-byte-order-mark": (b"\xef\xbb\xbfdata: a\n\n", [message(b"a")]),
    "a-second-byte-order-mark-is-a-field-name": (
        b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n",
        [message(b"b")],
    ),
    "data-over-several-lines": (
        b'data: {"jsonrpc":"2.0","id":2,\r\ndata: "result":{"tools":[]}}\r\n\r\n',
        [message(b'{"jsonrpc":"2.0","id":2,\n"result":{"tools":[]}}')],
    ),
    "data-without-a-space": (b"data:a\ndata:  b\n\n", [message(b"a\n b")]),
    "comments-and-unknown-fields": (
        b": keep-alive\n\n:\nid: 7\nretry: 10\nfoo: bar\ndata: a\n\n",
        [message(b"a")],
    ),
    "a-priming-event-without-data": (
        b"id: 1\nretry: 3000\ndata:\n\ndata: " + ANSWER + b"\n\n",
        [message(ANSWER)],
    ),
    "data-as-a-bare-field-name": (b"data\n\ndata\ndata: x\n\n", [message(b"\nx")]),
    "a-named-event": (b"event: ping\ndata: {}\n\ndata: a\n\n", [message(b"{}", "ping"), message(b"a")]),
    "the-name-does-not-outlive-its-event": (
        b"event: endpoint\ndata: /m\n\ndata: a\n\n",
        [message(b"/m", "endpoint"), message(b"a")],
    ),
    "an-empty-name-is-a-message": (b"event:\ndata: a\n\n", [message(b"a")]),
    "unicode-line-separators-end-no-line": (
        "data: a\u2028b\u0085c\x0bd\x0ce\n\n".encode(),
        [message("a\u2028b\u0085c\x0bd\x0ce".encode())],
    ),
    "characters-of-several-bytes": ("data: ü€😀\n\n".encode(), [message("ü€😀".encode())]),
    "no-utf-8-at-all": (b"data: \xff\xfe\n\n", [message(b"\xff\xfe")]),
    "the-last-event-has-no-blank-line": (
        b"data: a\n\ndata: b\n",
        [message(b"a"), message(b"b", terminated=False)],
    ),
    "the-last-line-has-no-end": (b"data: a\n\ndata: b", [message(b"a"), message(b"b", terminated=False)]),
    "the-last-line-ends-with-cr": (b"data: a\r", [message(b"a", terminated=False)]),
    "nothing": (b"", []),
    "half-a-byte-order-mark": (b"\xef\xbb", []),
    "json": (ANSWER, []),
}


def read(*chunks: bytes) -> list[SseEvent]:
    reader = SseReader()
    events = [event for chunk in chunks for event in reader.feed(chunk)]
    last = reader.end()
    return events if last is None else [*events, last]


@pytest.mark.parametrize(("stream", "events"), STREAMS.values(), ids=STREAMS)
def test_a_stream_gives_the_same_events_wherever_it_is_cut_in_two(
    stream: bytes, events: list[SseEvent]
) -> None:
    for place in range(len(stream) + 1):
        assert read(stream[:place], stream[place:]) == events


@pytest.mark.parametrize(("stream", "events"), STREAMS.values(), ids=STREAMS)
def test_a_stream_gives_the_same_events_byte_by_byte(stream: bytes, events: list[SseEvent]) -> None:
    assert read(*(stream[place : place + 1] for place in range(len(stream)))) == events


@given(
    st.lists(
        st.sampled_from([b"data: a", b"data", b"event: x", b":", b"", b"\xef\xbb\xbf", b"\r", b"\n", b"\r\n"])
    ),
    st.randoms(use_true_random=False),
)
def test_how_a_stream_is_cut_changes_nothing(parts: list[bytes], random: Random) -> None:
    stream = b"".join(parts)
    places = sorted(random.randrange(len(stream) + 1) for _ in range(4))
    chunks = [stream[start:end] for start, end in zip([0, *places], [*places, len(stream)], strict=True)]
    assert read(*chunks) == read(stream)


@given(st.lists(st.tuples(st.sampled_from(["message", "ping"]), st.text(min_size=1)), max_size=5))
def test_what_was_written_is_what_is_read(events: list[tuple[str, str]]) -> None:
    stream = b""
    expected = []
    for name, text in events:
        lines = text.encode("utf-8", "replace").replace(b"\r", b"").split(b"\n")
        stream += b"event: %b\n" % name.encode() + b"".join(b"data: %b\n" % line for line in lines) + b"\n"
        if b"\n".join(lines):
            expected.append(message(b"\n".join(lines), name))
    assert read(stream) == expected


@given(st.lists(st.binary(max_size=40), max_size=20))
def test_no_bytes_break_the_reader(chunks: list[bytes]) -> None:
    assert all(event.raw for event in read(*chunks))


def test_a_long_line_in_small_pieces_is_not_copied_again_and_again() -> None:
    reader = SseReader()
    for _ in range(200_000):
        reader.feed(b"data: xxxx")
    assert len(reader.feed(b"\n\n")) == 1


def test_text_is_read_leniently_only_when_it_is_asked_for_as_text() -> None:
    (event,) = read(b"data: \xffa\n\n")
    assert event.raw == b"\xffa"
    assert event.data == "\ufffda"
