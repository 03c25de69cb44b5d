"""Faults in how GET, other Accept headers, a foreign Origin and ended sessions are answered."""

from driftwatch.model import Era
from tests.specimens.answering import error, one, status, when
from tests.specimens.healthy import MODERN_ONLY
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp, as_sse, page_html, refusal
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, Specimen

LEGACY = (Era.LEGACY,)
MODERN = (Era.MODERN,)
ODD = "s3cret session é"


def _is_get(incoming: Incoming) -> bool:
    return incoming.method == "GET"


def _is_json_only(incoming: Incoming) -> bool:
    return incoming.headers.get("accept") == "application/json"


def _is_foreign(incoming: Incoming) -> bool:
    return "origin" in incoming.headers


def _ignores_origin(_: Mcp, incoming: Incoming) -> Answer | None:
    incoming.headers.pop("origin", None)
    return None


def _streams_always(incoming: Incoming, answer: Answer) -> Answer:
    if not _is_json_only(incoming):
        return answer
    return answer.but(body=as_sse(answer.body.decode()).body).with_header("Content-Type", "text/event-stream")


def _ends_nothing(server: Mcp, incoming: Incoming) -> Answer | None:
    return Answer(status=200) if incoming.method == "DELETE" else None


def _odd_session(_: Incoming, answer: Answer) -> Answer:
    issued = any(name == "Mcp-Session-Id" for name, _ in answer.headers)
    return answer.with_header("Mcp-Session-Id", ODD) if issued else answer


def _knows_odd_sessions(server: Mcp, incoming: Incoming) -> Answer | None:
    if incoming.headers.get("mcp-session-id") == ODD:
        server.open_sessions.add(ODD)
    return None


def _start_page(_: Incoming, answer: Answer) -> Answer:
    return page_html("Welcome", status=200) if answer.status == 404 else answer


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


GETS = (
    one(
        "get-406-in-session",
        "GET is refused with 406, with a session and the right headers",
        when(_is_get, status(406)),
        "transport/get",
        (FAILED, "refused"),
    ),
    one(
        "get-500",
        "GET meets a server error in both eras",
        when(_is_get, status(500)),
        "transport/get",
        (NOT_CHECKED, "http-5xx"),
    ),
    one(
        "get-501",
        "GET is a method that is not implemented",
        when(_is_get, status(501)),
        "transport/get",
        (FAILED, "refused"),
    ),
    one(
        "get-web-page",
        "GET shows a web page",
        when(_is_get, lambda _: page_html("Welcome", status=200)),
        "transport/get",
        (FAILED, "not-a-stream"),
    ),
    Specimen(
        name="get-stream",
        deviation="GET opens a stream that stays open without a byte",
        make=when(
            _is_get,
            lambda _: Answer(headers=(("Content-Type", "text/event-stream"),), stays_open=True),
        ),
    ),
    one(
        "get-400-without-sessions",
        "GET wants a session from a server that issues none",
        when(_is_get, status(400), modern=False, sessions=False),
        "transport/get",
        (NOT_CHECKED, "no-session"),
        eras=LEGACY,
    ),
    one(
        "get-404-modern-only",
        "GET is not found on a server of 2026-07-28 alone",
        when(_is_get, status(404), legacy=False),
        "transport/get",
        (RISK, "not-405"),
        eras=MODERN,
        expect=MODERN_ONLY,
    ),
)


ACCEPTS = (
    one(
        "json-only-empty-406",
        "an empty 406 to a request that accepts JSON alone",
        when(_is_json_only, status(406)),
        "transport/accept-json-only",
        (FAILED, "bare"),
    ),
    one(
        "json-only-406-page",
        "a web page with 406 to a request that accepts JSON alone",
        when(_is_json_only, lambda _: page_html("Not Acceptable", status=406)),
        "transport/accept-json-only",
        (FAILED, "bare"),
    ),
    Specimen(
        name="json-only-406-named",
        deviation="a 406 that names the missing type, in plain text",
        make=when(
            _is_json_only,
            lambda _: Answer(
                status=406,
                headers=(("Content-Type", "text/plain"),),
                body=b"Accept must list application/json and text/event-stream",
            ),
        ),
    ),
    one(
        "json-only-406-unnamed",
        "a JSON-RPC error with 406 that does not name the missing type",
        when(_is_json_only, error(-32600, 406)),
        "transport/accept-json-only",
        (RISK, "unnamed"),
    ),
    one(
        "json-only-400",
        "a JSON-RPC error with 400 to a request that accepts JSON alone",
        when(_is_json_only, error(-32600, 400)),
        "transport/accept-json-only",
        (RISK, "refused"),
    ),
    one(
        "json-only-sse",
        "an event stream for a request that accepts JSON alone",
        lambda: Mcp(after=_streams_always),
        "transport/accept-json-only",
        (RISK, "sse-reply"),
    ),
    one(
        "json-only-html",
        "a web page for a request that accepts JSON alone",
        when(_is_json_only, lambda _: page_html("Welcome", status=200)),
        "transport/accept-json-only",
        (FAILED, "wrong-type"),
    ),
    one(
        "json-only-429",
        "a limit is hit half-way through a full probe",
        when(_is_json_only, status(429)),
        "transport/accept-json-only",
        (NOT_CHECKED, "rate-limited"),
        expect=dict.fromkeys(
            (
                "transport/get",
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
    one(
        "origin-ignored",
        "every Origin is accepted",
        lambda: Mcp(before=_ignores_origin),
        "transport/origin",
        (FAILED, "accepted"),
    ),
    one(
        "origin-open",
        "every Origin is accepted, and it is declared to be so",
        lambda: Mcp(before=_ignores_origin),
        "transport/origin",
        (NOT_CHECKED, "declared-open"),
        target={"origin": "open"},
    ),
    one(
        "origin-400",
        "a foreign Origin gets 400",
        when(_is_foreign, status(400)),
        "transport/origin",
        (FAILED, "not-403"),
    ),
    one(
        "origin-400-older",
        "a foreign Origin gets 400, from a server of 2025-06-18",
        when(_is_foreign, status(400), modern=False, revisions=("2025-06-18",)),
        "transport/origin",
        (RISK, "not-403"),
        eras=LEGACY,
    ),
    one(
        "origin-401",
        "a foreign Origin is refused with 401",
        when(_is_foreign, status(401)),
        "transport/origin",
        (FAILED, "not-403"),
    ),
)


SESSIONS = (
    one(
        "session-outlives-its-end",
        "DELETE is answered 200 and does nothing",
        lambda: Mcp(before=_ends_nothing),
        "session/ended",
        (FAILED, "still-served"),
        leaves_sessions=True,
    ),
    one(
        "session-ended-400",
        "an ended session gets 400",
        lambda: Mcp(before=_ForgetsBadly()),
        "session/ended",
        (FAILED, "not-404"),
    ),
    one(
        "session-odd-id",
        "a session id with a blank and an accent",
        lambda: Mcp(after=_odd_session, before=_knows_odd_sessions),
        "session/ended",
        (FAILED, "id-characters"),
        leaves_sessions=True,
    ),
    one(
        "session-without-delete",
        "clients may not end their sessions",
        when(lambda incoming: incoming.method == "DELETE", status(405)),
        "session/ended",
        (NOT_CHECKED, "no-delete"),
        leaves_sessions=True,
    ),
    one(
        "session-ended-page",
        "a web application answers every 404 with its start page",
        lambda: Mcp(modern=False, after=_start_page),
        "session/ended",
        (FAILED, "not-404"),
        eras=(Era.LEGACY,),
    ),
    one(
        "session-delete-501",
        "DELETE is a method that is not implemented",
        when(lambda incoming: incoming.method == "DELETE", status(501)),
        "session/ended",
        (NOT_CHECKED, "no-delete"),
        leaves_sessions=True,
    ),
)


TRANSPORT = (*GETS, *ACCEPTS, *ORIGINS, *SESSIONS)
