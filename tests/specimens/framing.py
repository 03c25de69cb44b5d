"""How HTTP frames a reply: trailers, lengths, early answers, spelling, and connections that end."""

import gzip
from collections.abc import Callable
from typing import Any

from tests.servers.raw import Flood, http
from tests.specimens.http import REASONS, Answer, Incoming
from tests.specimens.lists import INCOMPLETE
from tests.specimens.mcp import Mcp
from tests.specimens.specimen import FAILED, RISK, Specimen

Frame = Callable[[Answer], Answer]

JSON_TYPE = b"content-type: application/json\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n"


def _replies(frame: Frame) -> Callable[[], Mcp]:
    """Every reply to a request, successful or not, is framed in this way."""
    return lambda: Mcp(after=lambda incoming, answer: frame(answer) if "id" in incoming.rpc else answer)


def _list(frame: Frame) -> Callable[[], Mcp]:
    """Only the list is answered in this way."""

    def after(incoming: Incoming, answer: Answer) -> Answer:
        listed = incoming.rpc_method == "tools/list" and answer.status == 200
        return frame(answer) if listed else answer

    return lambda: Mcp(after=after)


def _raw(change: Callable[[bytes], bytes]) -> Frame:
    """The whole reply, head and body; then the connection is closed."""

    def frame(answer: Answer) -> Answer:
        headers = tuple(f"{name}: {value}" for name, value in answer.headers)
        status = f"{answer.status} {REASONS.get(answer.status, 'Status')}"
        return Answer(script=(change(http(answer.body, status=status, headers=headers)),))

    return frame


def _chunks(trailers: bytes, *more: Any) -> Frame:
    """In chunks, with these trailers."""

    def frame(answer: Answer) -> Answer:
        body = b"%x\r\n%b\r\n0\r\n" % (len(answer.body), answer.body)
        head = b"HTTP/1.1 200 OK\r\n" + JSON_TYPE + b"transfer-encoding: chunked\r\n\r\n"
        return Answer(script=(head + body + trailers, *more))

    return frame


def _both_lengths(answer: Answer) -> Answer:
    head = b"HTTP/1.1 200 OK\r\n" + JSON_TYPE + b"content-length: 3\r\ntransfer-encoding: chunked\r\n\r\n"
    return Answer(script=(head + b"%x\r\n%b\r\n0\r\n\r\n" % (len(answer.body), answer.body),))


def _events(body: bytes) -> Frame:
    return lambda answer: answer.but(body=body).with_header("Content-Type", "text/event-stream")


def _shouting(answer: Answer) -> Answer:
    renamed = {"Content-Type": "CONTENT-TYPE", "Mcp-Session-Id": "MCP-SESSION-ID"}
    typed = (
        answer.with_header("Content-Type", 'Application/JSON ; Charset="UTF-8"') if answer.body else answer
    )
    return answer.but(headers=tuple((renamed.get(name, name), value) for name, value in typed.headers))


def _packed_stream(answer: Answer) -> Answer:
    events = b": ping\n\nevent: message\ndata: %b\n\n" % answer.body
    packed = _events(gzip.compress(events))(answer)
    return packed.with_header("Content-Encoding", "gzip")


def _two_sessions(answer: Answer) -> Answer:
    session = dict(answer.headers).get("Mcp-Session-Id")
    if session is None:
        return answer
    return answer.but(headers=(*answer.headers, ("mcp-session-id", session)))


FRAMING = (
    Specimen(
        name="trailers",
        deviation="fields come after the last chunk of the list",
        make=_list(_chunks(b"x-checksum: 1\r\nserver-timing: a\r\n\r\n")),
    ),
    Specimen(
        name="trailers-without-end",
        deviation="fields without end come after the last chunk of the list",
        make=_list(_chunks(b"", Flood(b"x-checksum: 1\r\n" * 4096))),
        expect={"tools/pagination": (FAILED, "too-large")},
        blocked=INCOMPLETE,
    ),
    Specimen(
        name="early-hints",
        deviation="an informational response comes before every reply",
        make=_replies(_raw(lambda reply: HINTS + b"\r\n" + reply)),
    ),
    Specimen(
        name="early-hints-with-a-body",
        deviation="an informational response has a body, which none may have",
        make=lambda: Mcp(
            before=lambda _, __: Answer(script=(HINTS + b"content-length: 5\r\n\r\nhello" + http(b"{}"),))
        ),
        eras=(),
        expect={"transport/endpoint": (FAILED, "protocol")},
        blocked="protocol",
    ),
    Specimen(
        name="two-kinds-of-length",
        deviation="Content-Length and chunks in one reply, which Node.js refuses to read",
        make=_list(_both_lengths),
        expect={"mcp/message-text": (RISK, "wrong-length")},
    ),
    Specimen(
        name="continue-unasked",
        deviation="100 Continue comes before the list, which Node.js gives up at",
        make=_list(_raw(lambda reply: b"HTTP/1.1 100 Continue\r\n\r\n" + reply)),
        expect={"mcp/message-text": (RISK, "refused-by-some")},
    ),
    Specimen(
        name="large-headers",
        deviation="the list comes with more headers than Node.js reads",
        make=_list(lambda answer: answer.with_header("Link", "</a>; rel=preload, " * 1000)),
        expect={"mcp/message-text": (RISK, "refused-by-some")},
    ),
    Specimen(
        name="encoded-as-text",
        deviation="every reply has a Content-Encoding that is a charset",
        make=_replies(lambda answer: answer.with_header("Content-Encoding", "utf-8")),
        expect={"transport/encoding": (RISK, "unrequested")},
    ),
    Specimen(
        name="hangs-up-unannounced",
        deviation="every connection is closed after one reply, without Connection: close",
        make=_replies(_raw(bytes)),
    ),
    Specimen(
        name="junk-after-the-last-chunk",
        deviation="a second reply that nobody asked for follows the list",
        make=_list(_chunks(b"\r\n" + http(b"{}"))),
        expect={"mcp/message-text": (RISK, "wrong-length")},
    ),
    Specimen(
        name="shouting",
        deviation="header names and media types in unusual case, with a quoted parameter",
        make=_replies(_shouting),
    ),
    Specimen(
        name="session-twice",
        deviation="the session header is there twice, in two spellings",
        make=_replies(_two_sessions),
        expect={"mcp/initialized-ack": (FAILED, "session-lost"), "session/ended": (FAILED, "id-repeated")},
    ),
    Specimen(
        name="stream-of-comments",
        deviation="the event stream of the list has comments and a retry field, and ends",
        make=_list(_events(b": ping\n\nretry: 3000\n\n: ping\n\n")),
        expect={"tools/pagination": (FAILED, "no-answer")},
        blocked=INCOMPLETE,
    ),
    Specimen(
        name="stream-to-be-resumed",
        deviation="the event stream of the list names an id and ends: the answer is for who comes back",
        make=_list(_events(b"id: 1\nretry: 500\ndata:\n\n")),
        expect={"tools/pagination": (FAILED, "no-answer")},
        blocked=INCOMPLETE,
    ),
    Specimen(
        name="stream-gzip",
        deviation="the list comes as a packed event stream",
        make=_list(_packed_stream),
        expect={"transport/encoding": (RISK, "unrequested")},
    ),
)
