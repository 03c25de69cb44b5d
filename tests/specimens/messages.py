"""Faults, and oddities that are none, of the messages: event streams, envelopes, text."""

import gzip
import json
from collections.abc import Callable

from tests.specimens.http import Answer, Incoming
from tests.specimens.lists import INCOMPLETE
from tests.specimens.mcp import Json, Mcp, as_json
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, Specimen


def _sse(frame: Callable[[str], Answer]) -> Callable[[], Mcp]:
    """Replies framed as an event stream in one particular way."""

    def changed(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.method != "POST" or answer.status != 200 or "id" not in incoming.rpc:
            return answer
        if "text/event-stream" not in incoming.headers["accept"]:
            return answer
        return frame(answer.body.decode()).but(
            headers=(
                *(item for item in answer.headers if item[0] != "Content-Type"),
                ("Content-Type", "text/event-stream"),
            )
        )

    return lambda: Mcp(after=changed)


def _stream(body: str, *, stays_open: bool = False) -> Answer:
    return Answer(body=body.encode(), stays_open=stays_open)


PROGRESS = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"working"}}'

STREAMS = (
    Specimen(
        name="stream-stays-open",
        deviation="the stream is left open after the answer",
        make=_sse(lambda content: _stream(f"data: {content}\n\n", stays_open=True)),
    ),
    Specimen(
        name="stream-notifications-first",
        deviation="a notification, a comment and a foreign event before the answer",
        make=_sse(
            lambda content: _stream(
                f": ping\n\nevent: ping\ndata: now\n\ndata: {PROGRESS}\n\n"
                f"id: 7\nretry: 100\ndata: {content}\n\n"
            )
        ),
    ),
    Specimen(
        name="stream-crlf",
        deviation="lines end with CRLF",
        make=_sse(lambda content: _stream(f"event: message\r\ndata: {content}\r\n\r\n")),
    ),
    Specimen(
        name="stream-cr",
        deviation="lines end with CR",
        make=_sse(lambda content: _stream(f"event: message\rdata:{content}\r\r")),
    ),
    Specimen(
        name="stream-priming-event",
        deviation="an event with an id and empty data comes first (2025-11-25)",
        make=_sse(lambda content: _stream(f"id: 1\ndata: \n\ndata: {content}\n\n")),
    ),
    Specimen(
        name="stream-bom",
        deviation="a byte order mark before the first event",
        make=_sse(lambda content: _stream(f"\ufeffdata: {content}\n\n")),
    ),
    Specimen(
        name="stream-many-data-lines",
        deviation="one message over many data lines",
        make=_sse(
            lambda content: _stream(
                "".join(f"data: {line}\n" for line in json.dumps(json.loads(content), indent=1).split("\n"))
                + "\n"
            )
        ),
    ),
    Specimen(
        name="stream-unterminated",
        deviation="the stream ends without the blank line after the answer",
        make=_sse(lambda content: _stream(f"data: {content}\n")),
        expect={"mcp/message-text": (RISK, "unterminated-event")},
    ),
)


def _message(change: Callable[[Json], Json]) -> Callable[[], Mcp]:
    """Replies whose JSON-RPC frame is changed."""

    def changed(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.method != "POST" or answer.status != 200 or "id" not in incoming.rpc:
            return answer
        return answer.but(body=json.dumps(change(json.loads(answer.body))).encode())

    return lambda: Mcp(after=changed)


def _body(change: Callable[[bytes], bytes]) -> Callable[[], Mcp]:
    """Replies to tools/list whose bytes are changed."""

    def changed(incoming: Incoming, answer: Answer) -> Answer:
        return answer.but(body=change(answer.body)) if incoming.rpc_method == "tools/list" else answer

    return lambda: Mcp(after=changed)


def _errs(name: str, deviation: str, error: Json) -> Specimen:
    """tools/list is answered with an error that is none of JSON-RPC."""

    def changed(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.rpc_method != "tools/list" or answer.status != 200:
            return answer
        return as_json(json.dumps({"jsonrpc": "2.0", "id": incoming.rpc["id"], "error": error}))

    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(after=changed),
        expect={"mcp/envelope": (FAILED, "error-object"), "tools/pagination": (FAILED, "page-error")},
        blocked=INCOMPLETE,
    )


def _compressed(incoming: Incoming, answer: Answer) -> Answer:
    if incoming.rpc_method != "tools/list":
        return answer
    return answer.but(body=gzip.compress(answer.body)).with_header("Content-Encoding", "gzip")


MESSAGES = (
    Specimen(
        name="id-as-string",
        deviation="the number of the request comes back as a string",
        make=_message(lambda message: {**message, "id": str(message["id"])}),
        expect={"mcp/envelope": (RISK, "id-type")},
    ),
    Specimen(
        name="batch-reply",
        deviation="the answer is an array of one",
        make=_message(lambda message: [message]),
        expect={"mcp/envelope": (FAILED, "batch")},
    ),
    Specimen(
        name="result-and-error",
        deviation="an error stands beside every result, and is null",
        make=_message(lambda message: {**message, "error": None} if "result" in message else message),
        expect={"mcp/envelope": (FAILED, "result-and-error")},
    ),
    Specimen(
        name="jsonrpc-missing",
        deviation="no answer says which JSON-RPC it is",
        make=_message(lambda message: {name: message[name] for name in message if name != "jsonrpc"}),
        expect={"mcp/envelope": (FAILED, "jsonrpc-version")},
    ),
    Specimen(
        name="jsonrpc-1.0",
        deviation="the answers are those of JSON-RPC 1.0",
        make=_message(lambda message: {**message, "jsonrpc": "1.0"}),
        expect={"mcp/envelope": (FAILED, "jsonrpc-version")},
    ),
    Specimen(
        name="jsonrpc-as-number",
        deviation="the version of JSON-RPC is a number",
        make=_message(lambda message: {**message, "jsonrpc": 2.0}),
        expect={"mcp/envelope": (FAILED, "jsonrpc-version")},
    ),
    _errs("error-as-string", "the list is refused with an error that is a text", "boom"),
    _errs(
        "error-code-as-string",
        "the list is refused with a code that is a text",
        {"code": "E1", "message": "no"},
    ),
    _errs("error-without-message", "the list is refused with a code alone", {"code": -32603}),
    Specimen(
        name="gzip-unasked",
        deviation="the list is compressed though nobody offered it",
        make=lambda: Mcp(after=_compressed),
        expect={"transport/encoding": (RISK, "unrequested")},
    ),
    Specimen(
        name="bom-in-json",
        deviation="a byte order mark before the list",
        make=_body(lambda body: b"\xef\xbb\xbf" + body),
        expect={"mcp/message-text": (RISK, "bom")},
    ),
    Specimen(
        name="not-json",
        deviation="the list is cut in the middle",
        make=_body(lambda body: body[: len(body) // 2]),
        expect={"mcp/message-text": (FAILED, "json"), "tools/pagination": (NOT_CHECKED, "json")},
        blocked=INCOMPLETE,
    ),
    Specimen(
        name="not-utf-8",
        deviation="the list holds a byte that is no UTF-8",
        make=_body(lambda body: body.replace(b"What to write", b"What to \xff write")),
        expect={"mcp/message-text": (FAILED, "utf-8"), "tools/pagination": (NOT_CHECKED, "utf-8")},
        blocked=INCOMPLETE,
    ),
)
