"""Servers that are broken on purpose, or might as well be: floods, drips, bombs and half answers."""

import gzip
import json
from collections.abc import Callable
from typing import Any

from driftwatch.model import Era
from driftwatch.probe import Limits
from tests.servers.raw import RESET, STALL, Drip, Flood, Script, http
from tests.specimens.http import REASONS, Answer, Incoming
from tests.specimens.lists import INCOMPLETE
from tests.specimens.mcp import Json, Mcp
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, VERIFIED, Specimen

IMPATIENT = {"limits": Limits(timeout_s=0.3)}
"""Where nothing comes in time anyway."""
JSON_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
SSE_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n"
PING = b": ping\n\n"
EVENT = b'data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'
HEADERS_SEEN = {
    "transport/redirect": VERIFIED,
    "transport/accept-sse": VERIFIED,
    "transport/content-type": VERIFIED,
}
"""What can be told of a reply that never ends."""


def _door(name: str, deviation: str, script: Script, code: str, **more: Any) -> Specimen:
    """Whatever is asked, these bytes are the answer."""
    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(before=lambda _, __: Answer(script=script)),
        eras=(),
        expect={"transport/endpoint": (FAILED, code), **more.pop("seen", {})},
        blocked=code,
        **more,
    )


DRIPS = (
    _door("silent", "requests are taken and never answered", (STALL,), "timeout", target=IMPATIENT),
    _door(
        "drips-headers",
        "the header block comes byte by byte and never ends",
        (b"HTTP/1.1 200 OK\r\n", Drip(b"x-filler: y\r\n", forever=True)),
        "timeout",
        target=IMPATIENT,
    ),
    _door(
        "drips-body",
        "the body comes byte by byte and never ends",
        (JSON_HEAD + b"content-length: 1000000\r\n\r\n", Drip(b" ", forever=True)),
        "timeout",
        target=IMPATIENT,
        seen=HEADERS_SEEN,
    ),
    _door(
        "drips-events",
        "an event stream of comments, byte by byte",
        (SSE_HEAD, Drip(PING, forever=True)),
        "timeout",
        target=IMPATIENT,
        seen=HEADERS_SEEN,
    ),
)

FLOODS = (
    _door(
        "endless-body",
        "a body without end",
        (JSON_HEAD + b"\r\n", Flood(b" " * 65536)),
        "not-mcp",
        seen=HEADERS_SEEN,
    ),
    _door(
        "endless-pings",
        "an event stream of comments without end",
        (SSE_HEAD, Flood(PING * 8192)),
        "not-mcp",
        seen=HEADERS_SEEN,
    ),
    _door(
        "endless-events",
        "an event stream of notifications without end",
        (SSE_HEAD, Flood(EVENT * 1024)),
        "not-mcp",
        seen=HEADERS_SEEN,
    ),
    _door(
        "headers-3-mb",
        "a header block of 3 MB",
        (b"HTTP/1.1 200 OK\r\n" + b"x-filler: %b\r\n" % (b"y" * 990) * 3000 + b"\r\n",),
        "protocol",
    ),
    _door(
        "1xx-flood",
        "informational responses without end",
        (Flood(b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n" * 512),),
        "protocol",
    ),
    _door("no-http", "the greeting of a mail server", (b"220 mail.example ESMTP\r\n\r\n",), "protocol"),
    _door("reset", "a TCP reset to every request", (RESET,), "reset"),
)

Frame = Callable[[Answer], Answer]


def _list(name: str, deviation: str, frame: Frame, **expect: Any) -> Specimen:
    """Only the list is answered in this way; every byte arrives, and clients can read it."""

    def after(incoming: Incoming, answer: Answer) -> Answer:
        listed = incoming.rpc_method == "tools/list" and answer.status == 200
        return frame(answer) if listed else answer

    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(after=after),
        expect={check.replace("__", "/").replace("_", "-"): state for check, state in expect.items()},
    )


def _unread(name: str, deviation: str, frame: Frame, code: str, **expect: Any) -> Specimen:
    """Only the list is answered in this way, and it cannot be read."""
    whole = _list(name, deviation, frame, **{"tools__pagination": (FAILED, code), **expect})
    return Specimen(name=name, deviation=deviation, make=whole.make, expect=whole.expect, blocked=INCOMPLETE)


def _encoded(encoding: str, change: Callable[[bytes], bytes]) -> Frame:
    return lambda answer: answer.but(body=change(answer.body)).with_header("Content-Encoding", encoding)


def _bytes(change: Callable[[bytes], bytes]) -> Frame:
    """The whole reply, head and body."""

    def frame(answer: Answer) -> Answer:
        status = f"{answer.status} {REASONS[answer.status]}"
        return Answer(script=(change(http(answer.body, status=status)),))

    return frame


def _text(old: str, new: str) -> Frame:
    return lambda answer: answer.but(body=answer.body.decode().replace(old, new, 1).encode())


def _message(**members: Json) -> Frame:
    return lambda answer: answer.but(body=json.dumps({**json.loads(answer.body), **members}).encode())


def _twice(body: bytes) -> bytes:
    return gzip.compress(gzip.compress(body))


BOMB = gzip.compress(b" " * 64 * 2**20)
DEEP = b"[" * 100_000 + b"]" * 100_000
OBJECT = '"type": "object"'
UNDECODABLE = {
    "transport__encoding": (FAILED, "undecodable"),
    "tools__pagination": (NOT_CHECKED, "encoding"),
}

ENCODINGS = (
    _unread(
        "gzip-bomb",
        "a list that unpacks to 64 MB",
        _encoded("gzip", lambda _: BOMB),
        "too-large",
        transport__encoding=(RISK, "unrequested"),
    ),
    _unread("gzip-in-gzip", "packed twice", _encoded("gzip, gzip", _twice), "encoding", **UNDECODABLE),
    _unread("gzip-bad", "no gzip under its label", _encoded("gzip", bytes), "encoding", **UNDECODABLE),
    _unread(
        "gzip-cut",
        "a part of a gzip file",
        _encoded("gzip", lambda body: gzip.compress(body)[:-20]),
        "encoding",
        **UNDECODABLE,
    ),
    _unread("br", "br, which nobody offered", _encoded("br", bytes), "encoding", **UNDECODABLE),
)

FRAMES = (
    Specimen(
        name="body-cut",
        deviation="the connection closes in the middle of the list",
        make=_list("", "", _bytes(lambda raw: raw[:-20])).make,
        expect={"tools/pagination": (NOT_CHECKED, "reset")},
        blocked=INCOMPLETE,
    ),
    _list(
        "body-too-long",
        "more bytes than Content-Length says",
        _bytes(lambda raw: raw + b" trailing"),
        mcp__message_text=(RISK, "wrong-length"),
    ),
    _list("http-1.0", "HTTP/1.0", _bytes(lambda raw: raw.replace(b"HTTP/1.1", b"HTTP/1.0"))),
)

TEXTS = (
    _unread(
        "json-100000-deep",
        "JSON nested 100,000 levels deep",
        lambda answer: answer.but(body=DEEP),
        "depth",
        mcp__message_text=(FAILED, "depth"),
        tools__pagination=(NOT_CHECKED, "depth"),
    ),
    _unread(
        "json-nan",
        "NaN in a schema",
        _text(OBJECT, f'{OBJECT}, "maxProperties": NaN'),
        "json",
        mcp__message_text=(FAILED, "json"),
        tools__pagination=(NOT_CHECKED, "json"),
    ),
    _list(
        "json-duplicate-member",
        "a member that is there twice",
        _text(OBJECT, f'"type": "array", {OBJECT}'),
        mcp__message_text=(RISK, "duplicate-member"),
    ),
    _list(
        "json-lone-surrogate",
        "half a surrogate pair in a description",
        _text("Does what", r"Does \ud83d what"),
        mcp__message_text=(RISK, "lone-surrogate"),
    ),
    _list(
        "json-huge-integer",
        "an integer of 5,000 digits in a schema",
        _text(OBJECT, f'{OBJECT}, "maxProperties": {"9" * 5000}'),
        mcp__message_text=(RISK, "number-range"),
    ),
    _list("id-null", "the answer carries no id", _message(id=None), mcp__envelope=(FAILED, "id-wrong")),
    _list(
        "id-wrong",
        "the answer carries the id of another request",
        _message(id=7777),
        mcp__envelope=(FAILED, "id-wrong"),
    ),
    _unread(
        "result-and-error-set",
        "an error stands beside the list",
        _message(error={"code": -32603, "message": "boom"}),
        "page-error",
        mcp__envelope=(FAILED, "result-and-error"),
    ),
)


class _Once:
    """Answers one request and none after it."""

    def __init__(self) -> None:
        self.answered = False

    def __call__(self, _: Mcp, __: Incoming) -> Answer | None:
        silent, self.answered = self.answered, True
        return Answer(script=(STALL,)) if silent else None


ONCE = (
    Specimen(
        name="answers-once",
        deviation="the first request is answered, and none after it",
        make=lambda: Mcp(before=_Once()),
        eras=(Era.MODERN,),
        target={"limits": Limits(timeout_s=2, deadline_s=4)},
        expect={
            "mcp/era-coverage": (NOT_CHECKED, "initialize-unclear"),
            "tools/pagination": (FAILED, "timeout"),
            **dict.fromkeys(
                (
                    "errors/header-mismatch",
                    "errors/unknown-method",
                    "errors/unsupported-version",
                    "network/addresses",
                    "release/replicas",
                    "transport/accept-json-only",
                    "transport/get",
                    "transport/origin",
                ),
                (NOT_CHECKED, "deadline"),
            ),
        },
        blocked=INCOMPLETE,
    ),
)

HOSTILE = (*DRIPS, *FLOODS, *ENCODINGS, *FRAMES, *TEXTS, *ONCE)
