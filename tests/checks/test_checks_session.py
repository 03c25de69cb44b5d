import pytest

from driftwatch.evidence import Exchange, Instance, Missing, Replicas
from driftwatch.model import DEPTH_CODE, Depth, Era, Result, State
from tests.checks.factories import (
    answered,
    broken,
    evidence,
    exchange,
    fault,
    judged,
    opening,
    refused,
    surface,
)


def ended(reply: Exchange | Missing, *, session: bool = True, visible: bool = True) -> Result:
    seen = surface(Era.LEGACY, session=session, session_visible=visible, session_after_end=reply)
    return judged("session/ended", evidence(seen))


def test_an_ended_session_that_gets_404_is_verified() -> None:
    assert ended(refused("tools/list", 404, -32600)).state is State.VERIFIED
    assert ended(refused("tools/list", 404)).state is State.VERIFIED


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (answered("tools/list"), "still-served"),
        (refused("tools/list", 400, -32000), "not-404"),
        (refused("tools/list", 400), "not-404"),
        (refused("tools/list", 200, -32600), "not-404"),
        (refused("tools/list", 500, -32603), "not-404"),
        (refused("tools/list", 401), "not-404"),
    ],
)
def test_an_ended_session_that_gets_anything_else_is_failed(reply: Exchange, code: str) -> None:
    result = ended(reply)
    assert (result.state, result.code) == (State.FAILED, code)
    (found,) = result.findings
    assert (found.era, found.expected) == (Era.LEGACY, "HTTP 404")


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (exchange("tools/list", status=401, headers=(("www-authenticate", "Bearer"),)), "auth"),
        (refused("tools/list", 403), "forbidden"),
        (refused("tools/list", 429), "rate-limited"),
        (refused("tools/list", 502, -32603), "http-5xx"),
        (exchange("tools/list", None, fault=fault("reset")), "reset"),
        (Missing("the server does not let clients end sessions (405)", "no-delete"), "no-delete"),
    ],
)
def test_what_says_nothing_about_the_session_is_not_checked(reply: Exchange | Missing, code: str) -> None:
    result = ended(reply)
    assert (result.state, result.code) == (State.NOT_CHECKED, code)


@pytest.mark.parametrize(
    "reply",
    [
        refused("tools/list", 200, -32603),
        refused("tools/list", 200, -32601),
        refused("tools/list", 307),
        refused("tools/list", 404),
    ],
)
def test_what_a_session_that_lives_gets_as_well_says_nothing_about_one_that_ended(reply: Exchange) -> None:
    shut = broken("page-error", tools=(), pages=0, exchanges=(reply,))
    seen = surface(Era.LEGACY, session=True, session_after_end=reply, listing=shut)
    result = judged("session/ended", evidence(seen))
    assert (result.state, result.code) == (State.NOT_CHECKED, "same-answer")
    assert result.cause == "tools/pagination"


def test_a_broken_list_does_not_excuse_another_answer_to_an_ended_session() -> None:
    shut = broken("page-error", tools=(), pages=0, exchanges=(refused("tools/list", 200, -32603),))
    seen = surface(Era.LEGACY, session=True, session_after_end=refused("tools/list", 400), listing=shut)
    assert judged("session/ended", evidence(seen)).code == "not-404"


def test_a_server_without_tools_cannot_be_asked_for_them_in_an_ended_session() -> None:
    missing = Missing("the server declares no tools capability", "no-tools-capability")
    unknown = refused("tools/list", 200, -32601)
    seen = surface(Era.LEGACY, session=True, session_after_end=unknown, listing=missing)
    result = judged("session/ended", evidence(seen))
    assert (result.state, result.code) == (State.NOT_CHECKED, "no-tools-capability")


def test_a_server_without_sessions_is_verified_and_says_so() -> None:
    result = ended(Missing("the server issued no session", "no-session"), session=False)
    assert (result.state, result.reason) == (State.VERIFIED, "the server works without sessions")


def test_an_id_that_no_header_carries_is_failed_whatever_becomes_of_the_session() -> None:
    result = ended(refused("tools/list", 404), visible=False)
    assert (result.state, result.code) == (State.FAILED, "id-characters")
    assert result.findings[0].measured == "other characters"


def test_an_empty_id_is_told_as_such() -> None:
    opened = answered("initialize", headers=(("mcp-session-id", ""),))
    seen = surface(Era.LEGACY, session=True, session_visible=False, opening=opened)
    (finding,) = judged("session/ended", evidence(seen)).findings
    assert (finding.message, finding.measured) == ("The session's id is empty.", "an empty header")


def not_ended(status: int, acknowledged: int, *further: Instance) -> Result:
    seen = surface(
        Era.LEGACY,
        session=True,
        session_ended=refused("", status),
        session_after_end=Missing(f"the session could not be ended: HTTP {status} to DELETE", "not-ended"),
        acknowledgement=refused("notifications/initialized", acknowledged),
    )
    replicas = Replicas(era=Era.LEGACY, instances=further, unanswered=())
    return judged("session/ended", evidence(seen, replicas=replicas))


def test_a_session_that_cannot_be_ended_is_put_down_to_what_lost_it() -> None:
    instance = Instance(address=None, server_info=None, instructions=None, tools=())
    assert (not_ended(400, 400).code, not_ended(400, 400).cause) == ("session-lost", "mcp/initialized-ack")
    assert (not_ended(404, 202, instance).code, not_ended(404, 202, instance).cause) == (
        "not-ended",
        "release/replicas",
    )
    assert (not_ended(404, 202).code, not_ended(404, 202).cause) == ("not-ended", None)


def test_an_id_in_two_headers_is_told_as_such() -> None:
    opened = answered("initialize", headers=(("mcp-session-id", "<session>"),) * 2)
    seen = surface(Era.LEGACY, session=True, session_visible=False, opening=opened)
    result = judged("session/ended", evidence(seen))
    assert (result.state, result.code, result.findings[0].measured) == (
        State.FAILED,
        "id-repeated",
        "2 of them",
    )


def test_a_light_probe_leaves_sessions_alone() -> None:
    assert judged("session/ended", evidence(depth=Depth.LIGHT)).code == DEPTH_CODE


def first(*attempts: Exchange, **headers: str) -> Result:
    last = attempts[-1]
    seen = evidence(
        surface(Era.MODERN, opening=last), openings=(opening(Era.MODERN, *attempts), opening(Era.LEGACY))
    )
    return judged("session/stateless", seen)


DISCOVERED = answered("server/discover")


def test_an_answer_to_the_very_first_request_is_verified() -> None:
    assert first(DISCOVERED).state is State.VERIFIED


@pytest.mark.parametrize(
    "refusal", [refused("server/discover", 404), refused("server/discover", 400, -32600)]
)
def test_a_request_that_is_refused_first_and_answered_later_is_failed(refusal: Exchange) -> None:
    result = first(refusal, exchange("server/discover", label="discover:again"))
    assert (result.state, result.code) == (State.FAILED, "needs-earlier-request")


@pytest.mark.parametrize(
    ("refusal", "label"),
    [
        (refused("server/discover", 503), "discover:again"),
        (exchange("server/discover", None, fault=fault("timeout")), "discover:again"),
        (refused("server/discover", 307), "discover:redirected"),
        (refused("server/discover", 406), "discover:json-only"),
    ],
)
def test_a_fault_on_the_way_a_redirect_and_a_refused_accept_are_no_state(
    refusal: Exchange, label: str
) -> None:
    assert first(refusal, exchange("server/discover", label=label)).state is State.VERIFIED


def test_a_session_for_a_modern_client_is_a_risk() -> None:
    headers = (("content-type", "application/json"), ("mcp-session-id", "<session>"))
    result = first(exchange("server/discover", headers=headers))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "session-header")


def test_the_older_era_may_keep_state() -> None:
    result = judged("session/stateless", evidence(surface(Era.LEGACY)))
    assert (result.state, result.code) == (State.NOT_CHECKED, "not-applicable")
