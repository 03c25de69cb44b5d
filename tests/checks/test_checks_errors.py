from dataclasses import replace
from typing import Any

import pytest

from driftwatch.evidence import Exchange, Greeting, Remark, Replicas
from driftwatch.model import Era, Json, Result, State
from tests.checks.factories import answered, evidence, exchange, fault, judged, refused, surface

UNKNOWN = "driftwatch/no_such_method"
MODERN, LEGACY = Era.MODERN, Era.LEGACY


def asked(check: str, part: str, reply: Exchange, era: Era = MODERN, **changes: Any) -> Result:
    return judged(check, evidence(surface(era, **{part: reply, **changes})))


def unknown(reply: Exchange, era: Era = MODERN, **changes: Any) -> Result:
    return asked("errors/unknown-method", "unknown_method", reply, era, **changes)


@pytest.mark.parametrize("status", [200, 400, 404])
def test_the_older_era_may_refuse_an_unknown_method_with_any_status(status: int) -> None:
    assert unknown(refused(UNKNOWN, status, -32601), LEGACY).state is State.VERIFIED


@pytest.mark.parametrize(("code", "state"), [(-32601.0, State.VERIFIED), (-32601.5, State.FAILED)])
def test_a_whole_code_is_an_integer_however_it_is_written(code: float, state: State) -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "Method not found"}}
    assert unknown(exchange(UNKNOWN, 404, answer=error, size=60)).state is state


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (refused(UNKNOWN, 200, -32601), "wrong-status"),
        (refused(UNKNOWN, 404, -32602), "wrong-code"),
        (refused(UNKNOWN, 500, -32603), "wrong-code"),
        (refused(UNKNOWN, 404), "no-error"),
        (refused(UNKNOWN, 400), "no-error"),
        (exchange(UNKNOWN, 404, content_type="text/html", size=900), "no-error"),
        (answered(UNKNOWN), "accepted"),
    ],
)
def test_since_2026_an_unknown_method_gets_404_and_its_code(reply: Exchange, code: str) -> None:
    result = unknown(reply)
    assert (result.state, result.code) == (State.FAILED, code)
    assert result.findings[0].expected == "HTTP 404, error -32601"


@pytest.mark.parametrize(
    ("check", "part", "right"),
    [
        ("errors/unknown-method", "unknown_method", refused(UNKNOWN, 404, -32601)),
        ("errors/header-mismatch", "header_mismatch", refused("server/discover", 400, -32020)),
        ("errors/unsupported-version", "unsupported_version", None),
        ("transport/accept-json-only", "json_only", answered("server/discover")),
    ],
)
def test_while_instances_without_the_era_take_turns_nobody_knows_who_refused(
    check: str, part: str, right: Exchange | None
) -> None:
    refused_era = Greeting(era=MODERN, revision=None, said="HTTP 400")
    further = Replicas(era=MODERN, instances=(), unanswered=(), greetings=(refused_era,))
    older = refused("server/discover", 400, -32600)
    result = judged(check, evidence(surface(MODERN, **{part: older}), replicas=further))
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, "eras-differ", "release/replicas")
    result = judged(check, evidence(surface(MODERN, **{part: older})))
    assert result.state in {State.FAILED, State.OBSERVED_RISK}
    if right is not None:
        assert (
            judged(check, evidence(surface(MODERN, **{part: right}), replicas=further)).state
            is State.VERIFIED
        )


def test_each_era_is_judged_by_its_own_rule() -> None:
    reply = refused(UNKNOWN, 200, -32601)
    both = evidence(surface(MODERN, unknown_method=reply), surface(LEGACY, unknown_method=reply))
    result = judged("errors/unknown-method", both)
    assert [(found.era, found.code) for found in result.findings] == [(MODERN, "wrong-status")]


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (refused(UNKNOWN, 401), "auth"),
        (refused(UNKNOWN, 403), "forbidden"),
        (refused(UNKNOWN, 429, -32000), "rate-limited"),
        (refused(UNKNOWN, 500), "http-5xx"),
        (refused(UNKNOWN, 503, -32601), "http-5xx"),
        (exchange(UNKNOWN, None, fault=fault("timeout")), "timeout"),
        (exchange(UNKNOWN, 200, fault=fault("reset")), "reset"),
    ],
)
def test_an_answer_that_is_not_the_servers_is_not_held_against_it(reply: Exchange, code: str) -> None:
    result = unknown(reply)
    assert (result.state, result.code) == (State.NOT_CHECKED, code)


def test_a_session_that_was_lost_meanwhile_is_no_wrong_refusal() -> None:
    lost = refused(UNKNOWN, 404, -32600)
    assert unknown(lost, LEGACY, session=True).code == "session-lost"
    assert unknown(lost, LEGACY).code == "wrong-code"
    ended = exchange("DELETE", status=200)
    assert unknown(lost, LEGACY, session=True, session_ended=ended).code == "wrong-code"


def mismatch(reply: Exchange) -> Result:
    return asked("errors/header-mismatch", "header_mismatch", reply)


@pytest.mark.parametrize(
    ("reply", "code"),
    [
        (answered("server/discover"), "accepted"),
        (refused("server/discover", 400, -32600), "wrong-code"),
        (refused("server/discover", 200, -32020), "wrong-status"),
        (refused("server/discover", 400), "no-error"),
    ],
)
def test_a_header_that_contradicts_the_body_gets_400_and_its_code(reply: Exchange, code: str) -> None:
    assert mismatch(refused("server/discover", 400, -32020)).state is State.VERIFIED
    result = mismatch(reply)
    assert (result.state, result.code) == (State.FAILED, code)


def test_the_codes_of_a_draft_are_named_as_such() -> None:
    (found,) = mismatch(refused("server/discover", 400, -32001)).findings
    assert "draft" in found.message


def version(reply: Exchange) -> Result:
    return asked("errors/unsupported-version", "unsupported_version", reply)


def refusal(data: Json, sent: str = "2099-01-01") -> Exchange:
    reply = refused("server/discover", 400, -32022, data=data)
    headers = (("accept", "application/json"), ("MCP-Protocol-Version", sent))
    return exchange("server/discover", 400, answer=reply.answer, request_headers=headers, size=60)


def test_the_refusal_of_a_revision_lists_others() -> None:
    assert version(refusal({"supported": ["2026-07-28"], "requested": "2099-01-01"})).state is State.VERIFIED


@pytest.mark.parametrize(
    ("data", "measured"),
    [
        (None, "no list of revisions"),
        ([], "no list of revisions"),
        ({}, "no list of revisions"),
        ({"supported": []}, "an empty list"),
        ({"supported": None}, "null instead of a list"),
        ({"supported": "2026-07-28"}, '"2026-07-28" instead of a list'),
        ({"supported": {"2026-07-28": True}}, "an object instead of a list"),
        ({"supported": [1]}, "a list with 1 in it"),
        ({"supported": ["2026-07-28", None]}, "a list with null in it"),
    ],
)
def test_a_refusal_that_lists_none_is_failed(data: Json, measured: str) -> None:
    result = version(refusal(data))
    assert (result.state, result.code) == (State.FAILED, "no-versions")
    assert result.findings[0].measured == measured


def test_a_refusal_that_lists_what_it_refuses_is_a_risk() -> None:
    result = version(refusal({"supported": ["2026-07-28", "2099-01-01"]}))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "lists-the-refused")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"id": 1, "error": {"code": -32601, "message": "no"}}, "jsonrpc-version"),
        ({"jsonrpc": "1.0", "id": 1, "error": {"code": -32601, "message": "no"}}, "jsonrpc-version"),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": -32601}}, "error-object"),
    ],
)
def test_a_refusal_that_clients_cannot_read_as_json_rpc_is_failed(answer: Json, code: str) -> None:
    refusal = exchange("driftwatch/no_such_method", 404, answer=answer, size=60)
    result = judged("errors/unknown-method", evidence(surface(Era.MODERN, unknown_method=refusal)))
    assert (result.state, result.code) == (State.FAILED, code)


def test_another_code_is_said_once_and_the_list_is_not_looked_for() -> None:
    assert [found.code for found in version(refused("server/discover", 400, -32600)).findings] == [
        "wrong-code"
    ]


def called(reply: Exchange, revision: str = "2026-07-28") -> Result:
    era = MODERN if revision == "2026-07-28" else LEGACY
    return asked("errors/tool-arguments", "tool_arguments", reply, era, revision=revision)


def outcome(*content: Json, is_error: Json = True) -> Exchange:
    return answered("tools/call", {"content": list(content), "isError": is_error})


def test_is_error_with_a_text_is_what_a_model_can_act_on() -> None:
    assert called(outcome({"type": "text", "text": "text: a string is expected"})).state is State.VERIFIED


@pytest.mark.parametrize(
    ("reply", "state", "code"),
    [
        (outcome({"type": "text", "text": "ok"}, is_error=False), State.FAILED, "accepted"),
        (outcome({"type": "text", "text": "ok"}, is_error="true"), State.FAILED, "accepted"),
        (answered("tools/call"), State.FAILED, "accepted"),
        (outcome(), State.OBSERVED_RISK, "no-text"),
        (outcome({"type": "text", "text": "  "}), State.OBSERVED_RISK, "no-text"),
        (outcome({"type": "image", "data": "x"}, "text", None), State.OBSERVED_RISK, "no-text"),
        (refused("tools/call", 200, -32602), State.OBSERVED_RISK, "protocol-error"),
        (refused("tools/call", 200, -32603), State.FAILED, "wrong-error"),
        (refused("tools/call", 400), State.FAILED, "wrong-error"),
        (refused("tools/call", 500), State.NOT_CHECKED, "http-5xx"),
    ],
)
def test_anything_else_is_not(reply: Exchange, state: State, code: str) -> None:
    result = called(reply)
    assert (result.state, result.code) == (state, code)


@pytest.mark.parametrize(
    ("revision", "state"),
    [("2025-03-26", State.VERIFIED), ("2025-06-18", State.VERIFIED), ("2025-11-25", State.OBSERVED_RISK)],
)
def test_a_protocol_error_for_wrong_arguments_was_usual_once(revision: str, state: State) -> None:
    assert called(refused("tools/call", 200, -32602), revision).state is state


@pytest.mark.parametrize("era", [MODERN, LEGACY])
def test_a_refusal_is_judged_whatever_its_id(era: Era) -> None:
    remark = Remark(code="id-wrong", message='"server-error" instead of 5')
    refusal = replace(refused(UNKNOWN, 404, -32601), remarks=(remark,))
    result = unknown(refusal, era)
    if era is LEGACY:
        assert result.state is State.VERIFIED
    else:
        assert (result.state, result.code) == (State.OBSERVED_RISK, "id-wrong")
        assert result.findings[0].measured == remark.message


def test_an_answer_to_another_request_is_not_judged_as_the_answer_to_this_one() -> None:
    foreign = answered(UNKNOWN, remarks=(Remark(code="id-wrong", message="1 instead of 5"),))
    result = unknown(foreign)
    assert (result.state, result.code) == (State.NOT_CHECKED, "foreign-answer")
