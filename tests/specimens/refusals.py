"""Faults in the answers to what a full probe asks beside the plain requests."""

import json
from collections.abc import Callable

from driftwatch.model import Era, State
from driftwatch.probe import ToolCall
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json, Mcp, as_json, as_sse, page_html, refusal, tool
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, VERIFIED, Specimen

LEGACY = (Era.LEGACY,)
MODERN = (Era.MODERN,)
METHOD = "driftwatch/no_such_method"
CURSOR = "driftwatch-not-a-cursor"
ODD = "s3cret session é"
CALL = {"tool_call": ToolCall(name="add_note", arguments={"text": 7})}

When = Callable[[Incoming], bool]


def _is_get(incoming: Incoming) -> bool:
    return incoming.method == "GET"


def _is_json_only(incoming: Incoming) -> bool:
    return incoming.headers.get("accept") == "application/json"


def _is_foreign(incoming: Incoming) -> bool:
    return "origin" in incoming.headers


def _is_unknown(incoming: Incoming) -> bool:
    return incoming.rpc_method == METHOD


def _is_future(incoming: Incoming) -> bool:
    return incoming.headers.get("mcp-protocol-version") == "2099-01-01"


def _is_mismatched(incoming: Incoming) -> bool:
    return incoming.headers.get("mcp-method", incoming.rpc_method) != incoming.rpc_method


def _has_wrong_cursor(incoming: Incoming) -> bool:
    return bool(incoming.rpc.get("params", {}).get("cursor") == CURSOR)


def _when(asked: When, answer: Callable[[Incoming], Answer], **server: Json) -> Callable[[], Mcp]:
    """A server that gives another answer to one request."""

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        return answer(incoming) if asked(incoming) else None

    return lambda: Mcp(**{"before": before, **server})


def _status(status: int) -> Callable[[Incoming], Answer]:
    return lambda _: Answer(status=status)


def _error(code: int, status: int, data: Json = None) -> Callable[[Incoming], Answer]:
    return lambda incoming: refusal(incoming.rpc, code, "no", status=status, data=data)


def _result(incoming: Incoming) -> Answer:
    return as_json(json.dumps({"jsonrpc": "2.0", "id": incoming.rpc.get("id"), "result": {}}))


def _ignores_origin(_: Mcp, incoming: Incoming) -> Answer | None:
    incoming.headers.pop("origin", None)
    return None


def _streams_always(incoming: Incoming, answer: Answer) -> Answer:
    if not _is_json_only(incoming):
        return answer
    return answer.but(body=as_sse(answer.body.decode()).body).with_header("Content-Type", "text/event-stream")


def _called(change: Callable[[Json], Json]) -> Callable[[], Mcp]:
    def changed(method: str, _: Json, result: Json) -> Json:
        return change(result) if method == "tools/call" else result

    return lambda: Mcp(result=changed)


def _one(
    name: str,
    deviation: str,
    make: Callable[[], Mcp],
    check: str,
    outcome: tuple[State, str],
    **more: Json,
) -> Specimen:
    expect = {check: outcome, **more.pop("expect", {})}
    return Specimen(name=name, deviation=deviation, make=make, expect=expect, **more)


def _ends_nothing(server: Mcp, incoming: Incoming) -> Answer | None:
    return Answer(status=200) if incoming.method == "DELETE" else None


def _odd_session(_: Incoming, answer: Answer) -> Answer:
    issued = any(name == "Mcp-Session-Id" for name, _ in answer.headers)
    return answer.with_header("Mcp-Session-Id", ODD) if issued else answer


def _knows_odd_sessions(server: Mcp, incoming: Incoming) -> Answer | None:
    if incoming.headers.get("mcp-session-id") == ODD:
        server.open_sessions.add(ODD)
    return None


class _ForgetsBadly:
    """Knows ended sessions only as bad requests."""

    def __init__(self) -> None:
        self.ended: set[str] = set()

    def __call__(self, _: Mcp, incoming: Incoming) -> Answer | None:
        session = incoming.headers.get("mcp-session-id", "")
        if incoming.method == "DELETE":
            self.ended.add(session)
        elif session in self.ended:
            return refusal(incoming.rpc, -32000, "No valid session ID provided")
        return None


MODERN_ONLY = {"mcp/era-coverage": (RISK, "modern-only")}

GETS = (
    _one(
        "get-406-in-session",
        "GET is refused with 406, with a session and the right headers",
        _when(_is_get, _status(406)),
        "transport/get",
        (FAILED, "refused"),
    ),
    _one(
        "get-web-page",
        "GET shows a web page",
        _when(_is_get, lambda _: page_html("Welcome", status=200)),
        "transport/get",
        (FAILED, "not-a-stream"),
    ),
    Specimen(
        name="get-stream",
        deviation="GET opens a stream that stays open without a byte",
        make=_when(
            _is_get,
            lambda _: Answer(headers=(("Content-Type", "text/event-stream"),), stays_open=True),
        ),
    ),
    _one(
        "get-400-without-sessions",
        "GET wants a session from a server that issues none",
        _when(_is_get, _status(400), modern=False, sessions=False),
        "transport/get",
        (NOT_CHECKED, "no-session"),
        eras=LEGACY,
    ),
    _one(
        "get-404-modern-only",
        "GET is not found on a server of 2026-07-28 alone",
        _when(_is_get, _status(404), legacy=False),
        "transport/get",
        (RISK, "not-405"),
        eras=MODERN,
        expect=MODERN_ONLY,
    ),
)

ACCEPTS = (
    _one(
        "json-only-empty-406",
        "an empty 406 to a request that accepts JSON alone",
        _when(_is_json_only, _status(406)),
        "transport/accept-json-only",
        (FAILED, "bare"),
    ),
    _one(
        "json-only-406-page",
        "a web page with 406 to a request that accepts JSON alone",
        _when(_is_json_only, lambda _: page_html("Not Acceptable", status=406)),
        "transport/accept-json-only",
        (FAILED, "bare"),
    ),
    Specimen(
        name="json-only-406-named",
        deviation="a 406 that names the missing type, in plain text",
        make=_when(
            _is_json_only,
            lambda _: Answer(
                status=406,
                headers=(("Content-Type", "text/plain"),),
                body=b"Accept must list application/json and text/event-stream",
            ),
        ),
    ),
    _one(
        "json-only-406-unnamed",
        "a JSON-RPC error with 406 that does not name the missing type",
        _when(_is_json_only, _error(-32600, 406)),
        "transport/accept-json-only",
        (RISK, "unnamed"),
    ),
    _one(
        "json-only-400",
        "a JSON-RPC error with 400 to a request that accepts JSON alone",
        _when(_is_json_only, _error(-32600, 400)),
        "transport/accept-json-only",
        (RISK, "refused"),
    ),
    _one(
        "json-only-sse",
        "an event stream for a request that accepts JSON alone",
        lambda: Mcp(after=_streams_always),
        "transport/accept-json-only",
        (RISK, "sse-reply"),
    ),
    _one(
        "json-only-html",
        "a web page for a request that accepts JSON alone",
        _when(_is_json_only, lambda _: page_html("Welcome", status=200)),
        "transport/accept-json-only",
        (FAILED, "wrong-type"),
    ),
    _one(
        "json-only-429",
        "a limit is hit half-way through a full probe",
        _when(_is_json_only, _status(429)),
        "transport/accept-json-only",
        (NOT_CHECKED, "rate-limited"),
        expect=dict.fromkeys(
            (
                "transport/origin",
                "tools/invalid-cursor",
                "errors/unknown-method",
                "errors/header-mismatch",
                "errors/unsupported-version",
                "errors/tool-arguments",
                "timeouts/stream-buffering",
            ),
            (NOT_CHECKED, "rate-limited"),
        ),
    ),
)

ORIGINS = (
    _one(
        "origin-ignored",
        "every Origin is accepted",
        lambda: Mcp(before=_ignores_origin),
        "transport/origin",
        (FAILED, "accepted"),
    ),
    _one(
        "origin-open",
        "every Origin is accepted, and it is declared to be so",
        lambda: Mcp(before=_ignores_origin),
        "transport/origin",
        (NOT_CHECKED, "declared-open"),
        target={"origin": "open"},
    ),
    _one(
        "origin-400",
        "a foreign Origin gets 400",
        _when(_is_foreign, _status(400)),
        "transport/origin",
        (FAILED, "not-403"),
    ),
    _one(
        "origin-400-older",
        "a foreign Origin gets 400, from a server of 2025-06-18",
        _when(_is_foreign, _status(400), modern=False, revisions=("2025-06-18",)),
        "transport/origin",
        (RISK, "not-403"),
        eras=LEGACY,
    ),
    _one(
        "origin-401",
        "a foreign Origin is asked for credentials",
        _when(_is_foreign, _status(401)),
        "transport/origin",
        (NOT_CHECKED, "auth"),
    ),
)

SESSIONS = (
    _one(
        "session-outlives-its-end",
        "DELETE is answered 200 and does nothing",
        lambda: Mcp(before=_ends_nothing),
        "session/ended",
        (FAILED, "still-served"),
        leaves_sessions=True,
    ),
    _one(
        "session-ended-400",
        "an ended session gets 400",
        lambda: Mcp(before=_ForgetsBadly()),
        "session/ended",
        (FAILED, "not-404"),
    ),
    _one(
        "session-odd-id",
        "a session id with a blank and an accent",
        lambda: Mcp(after=_odd_session, before=_knows_odd_sessions),
        "session/ended",
        (FAILED, "id-characters"),
        leaves_sessions=True,
    ),
    _one(
        "session-without-delete",
        "clients may not end their sessions",
        _when(lambda incoming: incoming.method == "DELETE", _status(405)),
        "session/ended",
        (NOT_CHECKED, "no-delete"),
        leaves_sessions=True,
    ),
)

CURSORS = (
    _one(
        "cursor-any",
        "a cursor that was never issued gets the first page",
        _when(
            _has_wrong_cursor,
            lambda incoming: as_json(
                json.dumps(
                    {
                        "jsonrpc": "2.0",
                        "id": incoming.rpc["id"],
                        "result": {"tools": [], "resultType": "complete"},
                    }
                )
            ),
            page_size=1,
        ),
        "tools/invalid-cursor",
        (RISK, "accepted"),
    ),
    _one(
        "cursor-crash",
        "a cursor that was never issued is an internal error",
        _when(_has_wrong_cursor, _error(-32603, 500), page_size=1),
        "tools/invalid-cursor",
        (RISK, "other-error"),
    ),
)

ERRORS = (
    _one(
        "unknown-method-empty",
        "an empty 404 to an unknown method",
        _when(_is_unknown, _status(404), sessions=False),
        "errors/unknown-method",
        (FAILED, "no-error"),
    ),
    _one(
        "unknown-method-wrong-code",
        "-32602 to an unknown method",
        _when(_is_unknown, _error(-32602, 400)),
        "errors/unknown-method",
        (FAILED, "wrong-code"),
    ),
    _one(
        "unknown-method-200",
        "-32601 with HTTP 200 to an unknown method, in both eras",
        _when(_is_unknown, _error(-32601, 200)),
        "errors/unknown-method",
        (FAILED, "wrong-status"),
    ),
    _one(
        "unknown-method-accepted",
        "a result for an unknown method",
        _when(_is_unknown, _result),
        "errors/unknown-method",
        (FAILED, "accepted"),
    ),
    _one(
        "unknown-method-502",
        "a gateway stops the unknown method",
        _when(_is_unknown, _error(-32603, 502)),
        "errors/unknown-method",
        (NOT_CHECKED, "http-5xx"),
    ),
    _one(
        "mismatch-ignored",
        "a header that contradicts the body is ignored",
        _when(_is_mismatched, _result),
        "errors/header-mismatch",
        (FAILED, "accepted"),
    ),
    _one(
        "mismatch-draft-code",
        "a header that contradicts the body gets the code of a draft",
        _when(_is_mismatched, _error(-32001, 400)),
        "errors/header-mismatch",
        (FAILED, "wrong-code"),
    ),
    _one(
        "version-accepted",
        "a revision of the far future is taken as good",
        _when(_is_future, _result),
        "errors/unsupported-version",
        (FAILED, "accepted"),
    ),
    _one(
        "version-without-list",
        "the refusal of a revision does not say which are supported",
        _when(_is_future, _error(-32022, 400)),
        "errors/unsupported-version",
        (FAILED, "no-versions"),
    ),
    _one(
        "version-lists-the-refused",
        "the refusal of a revision lists that very revision",
        _when(_is_future, _error(-32022, 400, {"supported": ["2099-01-01"], "requested": "2099-01-01"})),
        "errors/unsupported-version",
        (RISK, "lists-the-refused"),
    ),
)

CALLS = (
    Specimen(
        name="call-refused-well",
        deviation="none: wrong arguments get isError and a text",
        target=CALL,
        expect={"errors/tool-arguments": VERIFIED},
    ),
    _one(
        "call-accepted",
        "wrong arguments are taken as good",
        _called(lambda result: {**result, "isError": False}),
        "errors/tool-arguments",
        (FAILED, "accepted"),
        target=CALL,
    ),
    _one(
        "call-without-words",
        "isError without a text",
        _called(lambda result: {**result, "content": []}),
        "errors/tool-arguments",
        (RISK, "no-text"),
        target=CALL,
    ),
    _one(
        "call-protocol-error",
        "wrong arguments get a protocol error",
        _when(lambda incoming: incoming.rpc_method == "tools/call", _error(-32602, 200)),
        "errors/tool-arguments",
        (RISK, "protocol-error"),
        target=CALL,
    ),
    _one(
        "call-crash",
        "wrong arguments get an internal error",
        _when(lambda incoming: incoming.rpc_method == "tools/call", _error(-32603, 200)),
        "errors/tool-arguments",
        (FAILED, "wrong-error"),
        target=CALL,
    ),
    _one(
        "call-of-no-tool",
        "the configured tool is not in the list",
        lambda: Mcp(tools=(tool("read_note"),)),
        "errors/tool-arguments",
        (NOT_CHECKED, "no-such-tool"),
        target=CALL,
    ),
)

REFUSALS = (*GETS, *ACCEPTS, *ORIGINS, *SESSIONS, *CURSORS, *ERRORS, *CALLS)
