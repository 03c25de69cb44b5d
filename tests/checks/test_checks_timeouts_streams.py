"""timeouts/stream-buffering and timeouts/slow-tool."""

from typing import Any

import pytest

from driftwatch.evidence import Fault, Missing
from driftwatch.model import Era, Result, State
from tests.checks.factories import called, evidence, exchange, judged, subscribed, surface

LATE = Fault(code="timeout", phase="body", message="nothing came within 10 s")
ENDED = Fault(code="no-answer", phase="body", message="the stream ended without a message")
REFUSED = Fault(code="refused", phase="connect", message="192.0.2.1:443 refused the connection")


def listened(**changes: Any) -> Result:
    seen = surface(Era.MODERN, subscription=subscribed(**changes))
    return judged("timeouts/stream-buffering", evidence(seen))


def slow(**changes: Any) -> Result:
    return judged("timeouts/slow-tool", evidence(slow_call=called(**changes)))


def test_an_event_that_comes_through_at_once_is_verified_with_its_time() -> None:
    result = listened()
    assert (result.state, result.reason) == (State.VERIFIED, "the first event came after 0.02 s")


@pytest.mark.parametrize(
    ("changes", "state", "code"),
    [
        ({"accel_buffering": None}, State.OBSERVED_RISK, "unmarked"),
        ({"accel_buffering": "yes"}, State.OBSERVED_RISK, "unmarked"),
        ({"first_message": "notifications/message"}, State.OBSERVED_RISK, "not-acknowledged"),
        ({"first_message": None, "first_event_s": None, "fault": LATE}, State.OBSERVED_RISK, "held"),
        ({"status": None, "first_message": None, "fault": LATE}, State.OBSERVED_RISK, "held"),
        ({"first_message": None, "fault": ENDED}, State.FAILED, "cut"),
        ({"status": 404, "first_message": "error -32601"}, State.NOT_CHECKED, "refused"),
        ({"first_message": "error -32603"}, State.NOT_CHECKED, "refused"),
        ({"status": 503, "first_message": None}, State.NOT_CHECKED, "refused"),
        ({"status": None, "first_message": None, "fault": REFUSED}, State.NOT_CHECKED, "refused"),
    ],
)
def test_what_else_a_subscription_shows(changes: dict[str, Any], state: State, code: str) -> None:
    result = listened(**changes)
    assert (result.state, result.code) == (state, code)


def test_where_it_is_not_offered_the_reason_says_so() -> None:
    why = Missing("the server does not offer subscriptions/listen (no tools.listChanged)", "not-offered")
    result = judged("timeouts/stream-buffering", evidence(surface(Era.MODERN, subscription=why)))
    assert (result.state, result.reason) == (State.NOT_CHECKED, why.reason)


def test_the_older_eras_have_no_such_stream() -> None:
    result = judged("timeouts/stream-buffering", evidence(surface(Era.LEGACY)))
    assert (result.state, result.code) == (State.NOT_CHECKED, "not-applicable")


def test_a_slow_tool_whose_progress_arrives_as_it_happens_is_verified() -> None:
    result = slow()
    assert (result.state, result.reason) == (State.VERIFIED, "answered after 10.0 s, 3 progress events")
    assert slow(progress_s=()).reason == "answered after 10.0 s, no progress was reported"
    assert slow(media_type="application/json", accel_buffering=None, progress_s=()).state is State.VERIFIED


@pytest.mark.parametrize(
    ("changes", "state", "code"),
    [
        ({"progress_s": (9.7, 9.8, 9.9)}, State.OBSERVED_RISK, "progress-held"),
        ({"progress_s": (0.5, 0.5), "answer_s": 0.5}, State.VERIFIED, None),
        ({"progress_s": (9.9,)}, State.VERIFIED, None),
        ({"accel_buffering": None}, State.OBSERVED_RISK, "unmarked"),
        ({"accel_buffering": None, "era": Era.LEGACY}, State.VERIFIED, None),
        ({"answer_s": None, "fault": LATE}, State.FAILED, "no-answer"),
        ({"answer_s": None, "fault": ENDED}, State.FAILED, "cut"),
        ({"answer_s": None, "status": 504}, State.FAILED, "gateway-timeout"),
        ({"answer_s": None, "status": 401}, State.NOT_CHECKED, "http-status"),
        ({"is_error": True}, State.NOT_CHECKED, "call-failed"),
        ({"error": "error -32602"}, State.NOT_CHECKED, "call-failed"),
    ],
)
def test_what_else_a_slow_call_shows(changes: dict[str, Any], state: State, code: str | None) -> None:
    result = slow(**changes)
    assert (result.state, result.code) == (state, code)


def test_the_figures_of_held_progress_are_said() -> None:
    (finding,) = slow(progress_s=(9.7, 9.8, 9.9)).findings
    assert finding.measured == "3 events in the last 0.3 s of 10.0 s"


def test_without_a_configured_tool_nothing_is_called() -> None:
    result = judged(
        "timeouts/slow-tool", evidence(slow_call=Missing("no slow tool configured", "not-configured"))
    )
    assert (result.state, result.reason) == (State.NOT_CHECKED, "no slow tool configured")


def test_a_stream_of_the_wrong_type_is_told_by_its_type_alone() -> None:
    html = exchange("server/discover", content_type="text/html")
    seen = subscribed(status=None, media_type=None, first_message=None, fault=LATE)
    result = judged(
        "timeouts/stream-buffering", evidence(surface(Era.MODERN, opening=html, subscription=seen))
    )
    assert (result.state, result.cause) == (State.NOT_CHECKED, "transport/content-type")


@pytest.mark.parametrize("server", ["nginx", "nginx/1.27.0", "openresty"])
def test_the_mark_that_nginx_keeps_to_itself_is_not_missed(server: str) -> None:
    headers = (("content-type", "application/json"), ("server", server))
    behind = exchange("server/discover", headers=headers)
    seen = surface(Era.MODERN, opening=behind, subscription=subscribed(accel_buffering=None))
    result = judged("timeouts/stream-buffering", evidence(seen))
    assert result.state is State.VERIFIED
    assert result.reason is not None
    assert "nginx" in result.reason
