"""GET, an Accept header without event streams, a foreign Origin, a made-up cursor."""

import pytest

from driftwatch.evidence import Exchange, Missing
from driftwatch.model import Era, Result, State
from tests.checks.factories import answered, evidence, exchange, fault, judged, refused, surface

MODERN, LEGACY = Era.MODERN, Era.LEGACY


def get(status: int | None, content_type: str | None = None, **changes: object) -> Exchange:
    return exchange("", status, http_method="GET", rpc_method=None, content_type=content_type, **changes)


def got(reply: Exchange, era: Era = LEGACY, *, session: bool = True) -> Result:
    return judged("transport/get", evidence(surface(era, get=reply, session=session)))


@pytest.mark.parametrize(
    "reply", [get(405), get(200, "text/event-stream"), get(200, "text/event-stream; a=b")]
)
def test_a_stream_and_405_are_the_two_right_answers_to_get(reply: Exchange) -> None:
    assert got(reply).state is State.VERIFIED


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (get(404, "text/html"), "refused"),
        (get(406), "refused"),
        (get(400), "refused"),
        (get(307), "refused"),
        (get(200, "text/html"), "not-a-stream"),
        (get(200), "not-a-stream"),
        (get(204), "not-a-stream"),
    ],
)
def test_anything_else_breaks_clients_of_the_older_era(reply: Exchange, code: str) -> None:
    result = got(reply)
    assert (result.state, result.code) == (State.FAILED, code)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (get(401), "auth"),
        (get(403), "forbidden"),
        (get(451), "forbidden"),
        (get(408), "timeout"),
        (get(429), "rate-limited"),
        (get(503), "http-5xx"),
        (get(None, fault=fault("timeout")), "timeout"),
    ],
)
def test_a_get_that_did_not_reach_the_server_is_not_checked(reply: Exchange, code: str) -> None:
    result = got(reply)
    assert (result.state, result.code) == (State.NOT_CHECKED, code)


def test_a_get_that_wants_a_session_where_none_is_issued_is_not_checked() -> None:
    assert got(get(400), session=False).code == "no-session"


def test_a_server_that_refuses_every_event_stream_is_told_so_once() -> None:
    opening = exchange("initialize", accept="application/json")
    seen = evidence(surface(LEGACY, get=get(406), session=True, opening=opening))
    assert judged("transport/get", seen).code == "accept-refused"


@pytest.mark.parametrize("reply", [get(404), get(400), get(200, "text/html"), get(200, "text/event-stream")])
def test_a_server_of_2026_alone_should_say_405(reply: Exchange) -> None:
    result = got(reply, MODERN, session=False)
    assert (result.state, result.code) == (State.OBSERVED_RISK, "not-405")
    assert got(get(405), MODERN, session=False).state is State.VERIFIED


def test_a_dual_era_server_is_judged_by_what_clients_of_the_older_era_get() -> None:
    seen = evidence(surface(MODERN, get=get(404)), surface(LEGACY, get=get(405)))
    assert judged("transport/get", seen).state is State.VERIFIED


@pytest.mark.parametrize("status", [401, 405, 500])
def test_what_the_modern_era_gets_does_not_stand_for_a_get_that_nobody_answered(status: int) -> None:
    seen = evidence(surface(MODERN, get=get(status)), surface(LEGACY, get=get(500)))
    result = judged("transport/get", seen)
    assert (result.state, result.code) == (State.NOT_CHECKED, "http-5xx")
    assert "HTTP 500" in str(result.reason)


def json_only(reply: Exchange, opening: Exchange | None = None) -> Result:
    seen = surface(MODERN, json_only=reply, opening=opening or answered("server/discover"))
    return judged("transport/accept-json-only", evidence(seen))


NAMES_IT = "Not Acceptable: Client must accept both application/json and text/event-stream"


@pytest.mark.parametrize(
    "reply",
    [
        answered("server/discover"),
        exchange("server/discover", 406, excerpt=NAMES_IT, size=78, content_type="text/plain"),
        exchange("server/discover", 406, excerpt=NAMES_IT.upper(), size=78),
    ],
)
def test_an_answer_and_a_406_that_names_the_missing_type_are_right(reply: Exchange) -> None:
    assert json_only(reply).state is State.VERIFIED


@pytest.mark.parametrize(
    ("reply", "state", "code"),
    [
        (refused("server/discover", 406), State.FAILED, "bare"),
        (exchange("server/discover", 406, content_type="text/html", size=90), State.FAILED, "bare"),
        (refused("server/discover", 400), State.FAILED, "bare"),
        (refused("server/discover", 406, -32600), State.OBSERVED_RISK, "unnamed"),
        (refused("server/discover", 400, -32600), State.OBSERVED_RISK, "refused"),
        (refused("server/discover", 200, -32600), State.OBSERVED_RISK, "refused"),
        (
            exchange("server/discover", 400, excerpt=NAMES_IT, size=78, content_type="text/plain"),
            State.OBSERVED_RISK,
            "refused",
        ),
        (answered("server/discover", content_type="text/event-stream"), State.OBSERVED_RISK, "sse-reply"),
        (answered("server/discover", content_type="text/html"), State.FAILED, "wrong-type"),
        (refused("server/discover", 401), State.NOT_CHECKED, "auth"),
        (refused("server/discover", 502), State.NOT_CHECKED, "http-5xx"),
    ],
)
def test_other_answers_to_json_alone(reply: Exchange, state: State, code: str) -> None:
    result = json_only(reply)
    assert (result.state, result.code) == (state, code)


def test_a_wrong_type_that_every_reply_has_is_said_by_the_check_of_types_alone() -> None:
    html = answered("server/discover", content_type="text/html")
    assert json_only(html, html).state is State.VERIFIED


def origin(reply: Exchange | Missing, revision: str = "2025-11-25") -> Result:
    return judged("transport/origin", evidence(surface(LEGACY, foreign_origin=reply, revision=revision)))


@pytest.mark.parametrize("reply", [refused("initialize", 403), refused("initialize", 403, -32600)])
def test_a_foreign_origin_that_gets_403_is_verified_in_every_revision(reply: Exchange) -> None:
    for revision in ("2024-11-05", "2025-06-18", "2025-11-25"):
        assert origin(reply, revision).state is State.VERIFIED


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_a_foreign_origin_that_is_served_is_failed_in_every_revision(revision: str) -> None:
    result = origin(answered("initialize"), revision)
    assert (result.state, result.code) == (State.FAILED, "accepted")


@pytest.mark.parametrize(
    "reply",
    [
        *(refused("initialize", 400), refused("initialize", 401), refused("initialize", 200, -32600)),
        exchange("initialize", content_type="text/html", size=60),
        exchange("initialize", 202, content_type=None),
    ],
)
def test_another_refusal_is_failed_since_the_status_is_named(reply: Exchange) -> None:
    assert (origin(reply).state, origin(reply).code) == (State.FAILED, "not-403")
    older = origin(reply, "2025-06-18")
    assert (older.state, older.code) == (State.OBSERVED_RISK, "not-403")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (exchange("initialize", 401, headers=(("www-authenticate", "Bearer"),)), "auth"),
        (refused("initialize", 503), "http-5xx"),
        (exchange("initialize", None, fault=fault("reset")), "reset"),
        (Missing("the server is declared to accept every Origin (origin)", "declared-open"), "declared-open"),
    ],
)
def test_a_foreign_origin_that_was_not_looked_at_is_not_checked(reply: Exchange | Missing, code: str) -> None:
    result = origin(reply)
    assert (result.state, result.code) == (State.NOT_CHECKED, code)


def cursor(reply: Exchange | Missing, *, session: bool = False) -> Result:
    seen = evidence(surface(LEGACY, invalid_cursor=reply, session=session))
    return judged("tools/invalid-cursor", seen)


@pytest.mark.parametrize("status", [200, 400])
def test_a_made_up_cursor_that_is_refused_is_verified(status: int) -> None:
    assert cursor(refused("tools/list", status, -32602)).state is State.VERIFIED


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (answered("tools/list", {"tools": []}), "accepted"),
        (refused("tools/list", 200, -32603), "other-error"),
        (refused("tools/list", 500, -32603), "other-error"),
        (refused("tools/list", 400), "other-error"),
    ],
)
def test_a_made_up_cursor_that_is_not_refused_as_such_is_a_risk(reply: Exchange, code: str) -> None:
    result = cursor(reply)
    assert (result.state, result.code) == (State.OBSERVED_RISK, code)


def test_cursors_say_nothing_where_none_is_issued_or_the_session_is_gone() -> None:
    assert cursor(Missing("the server issued no cursor", "no-cursor")).code == "no-cursor"
    assert cursor(refused("tools/list", 404, -32600), session=True).code == "session-lost"


def test_a_stream_of_the_type_that_every_reply_wrongly_has_is_not_judged_again() -> None:
    html = exchange(content_type="text/html")
    result = judged("transport/get", evidence(surface(LEGACY, opening=html, get=get(200, "text/html"))))
    assert (result.state, result.cause) == (State.NOT_CHECKED, "transport/content-type")
