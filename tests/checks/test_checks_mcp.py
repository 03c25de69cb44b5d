from typing import Any

import pytest

from driftwatch.checks import CLIENTS, Policy, Remembered
from driftwatch.evidence import Missing, Remark
from driftwatch.model import KNOWN_REVISIONS, Era, State
from tests.checks.factories import (
    broken,
    evidence,
    exchange,
    fault,
    judged,
    listing,
    opening,
    refused,
    remarked,
    surface,
    tool,
)


@pytest.mark.parametrize(
    ("revision", "code", "clients"),
    [
        ("2024-10-07", "too-old", ("Claude.ai", "ChatGPT", "Claude Code")),
        ("2024-11-05", "too-old", ("ChatGPT",)),
        ("2025-03-26", None, ()),
        ("2025-06-18", None, ()),
        ("2025-11-25", None, ()),
        ("2099-01-01", "unknown-revision", ()),
        ("2025-6-18", "unknown-revision", ()),
        ("", "unknown-revision", ()),
    ],
)
def test_a_revision_is_compared_with_the_oldest_of_each_client(
    revision: str, code: str | None, clients: tuple[str, ...]
) -> None:
    result = judged("mcp/protocol-version", evidence(surface(revision=revision)))
    assert result.code == code
    assert result.state is (State.OBSERVED_RISK if code else State.VERIFIED)
    assert tuple(name for finding in result.findings for name in finding.clients) == clients


def test_a_client_that_gets_in_by_the_other_era_is_not_shut_out() -> None:
    seen = evidence(surface(Era.MODERN), surface(Era.LEGACY, revision="2024-10-07"))
    (finding,) = judged("mcp/protocol-version", seen).findings
    assert finding.clients == ("ChatGPT", "Claude Code")  # Claude.ai speaks 2026-07-28


@pytest.mark.parametrize("era", [Era.LEGACY, Era.HTTP_SSE])
def test_initialize_cannot_settle_on_the_revision_that_has_no_initialize(era: Era) -> None:
    result = judged("mcp/protocol-version", evidence(surface(era, revision="2026-07-28")))
    assert (result.state, result.code) == (State.FAILED, "no-handshake-revision")
    assert result.findings[0].clients == ("Claude.ai", "ChatGPT", "Claude Code")


def test_clients_of_the_modern_era_get_in_beside_a_handshake_that_is_mixed_up() -> None:
    seen = evidence(surface(Era.MODERN), surface(Era.LEGACY, revision="2026-07-28"))
    result = judged("mcp/protocol-version", seen)
    assert (result.state, result.code) == (State.FAILED, "no-handshake-revision")
    assert result.findings[0].clients == ("ChatGPT", "Claude Code")


def test_an_endless_revision_is_quoted_and_cut() -> None:
    (finding,) = judged("mcp/protocol-version", evidence(surface(revision="9" * 5000))).findings
    assert len(finding.measured) < 50


def test_revisions_are_an_enumerated_set_in_order() -> None:
    assert KNOWN_REVISIONS == (
        "2024-10-07",
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    )


def modern_only(status: int | None = 404, **changes: Any) -> Any:
    legacy = opening(Era.LEGACY, exchange(status=status), established=False)
    return evidence(surface(Era.MODERN), openings=(opening(Era.MODERN), legacy), **changes)


def test_a_server_of_the_modern_era_alone_names_the_clients_that_fail() -> None:
    result = judged("mcp/era-coverage", modern_only())
    assert (result.state, result.code) == (State.OBSERVED_RISK, "modern-only")
    assert result.findings[0].clients == ("ChatGPT", "Claude Code")


def test_without_clients_of_the_older_era_nobody_is_left_out() -> None:
    policy = Policy(clients=tuple(client for client in CLIENTS if client.newest == "2026-07-28"))
    assert judged("mcp/era-coverage", modern_only(), policy=policy).state is State.VERIFIED


@pytest.mark.parametrize("status", [None, 401, 403, 429, 500, 503])
def test_an_initialize_that_was_not_refused_clearly_is_not_judged(status: int | None) -> None:
    result = judged("mcp/era-coverage", modern_only(status))
    assert (result.state, result.code) == (State.NOT_CHECKED, "initialize-unclear")


def test_initialize_that_was_never_asked_is_not_judged() -> None:
    seen = evidence(surface(Era.MODERN), openings=Missing("not asked", "not-asked"))
    assert judged("mcp/era-coverage", seen).code == "initialize-unclear"


@pytest.mark.parametrize("status", [None, 401, 403, 429, 500, 503])
def test_a_modern_era_that_was_there_and_gets_no_clear_answer_is_not_judged(status: int | None) -> None:
    asked = opening(Era.MODERN, exchange("server/discover", status), established=False)
    seen = evidence(surface(Era.LEGACY), openings=(asked, opening(Era.LEGACY, exchange("initialize"))))
    was = Remembered(accepted="dw1:a.b", confirmed="dw1:a.b", confirmed_at=seen.taken_at)
    result = judged("mcp/era-coverage", seen, known={Era.MODERN: was, Era.LEGACY: was})
    assert (result.state, result.code) == (State.NOT_CHECKED, "discover-unclear")
    # Of one that was never there only a gateway shuts clients out that forbids to ask for it.
    result = judged("mcp/era-coverage", seen, known={Era.LEGACY: was})
    assert result.code == ("forbidden" if status == 403 else None)


def test_a_legacy_server_is_for_everyone() -> None:
    assert judged("mcp/era-coverage", evidence(surface(Era.LEGACY))).state is State.VERIFIED


def test_eras_with_different_tools_are_a_risk_that_names_them() -> None:
    seen = evidence(surface(Era.MODERN, tool("a"), tool("b")), surface(Era.LEGACY, tool("a"), tool("c")))
    result = judged("mcp/era-coverage", seen)
    assert (result.state, result.code) == (State.OBSERVED_RISK, "eras-differ")
    assert result.findings[0].message == 'The two eras list different tools: "b" and "c".'
    assert result.findings[0].measured == "1 only in modern and 1 only in legacy"


def test_an_era_that_lists_nothing_differs() -> None:
    seen = evidence(surface(Era.MODERN), surface(Era.LEGACY, listing=listing()))
    assert judged("mcp/era-coverage", seen).code == "eras-differ"


def test_an_incomplete_list_is_compared_with_nothing() -> None:
    seen = evidence(surface(Era.MODERN), surface(Era.LEGACY, listing=broken("timeout")))
    assert judged("mcp/era-coverage", seen).state is State.VERIFIED


@pytest.mark.parametrize(
    ("status", "size", "state", "code"),
    [
        (202, 0, State.VERIFIED, None),
        (202, 4, State.OBSERVED_RISK, "body"),
        (200, 4, State.OBSERVED_RISK, "not-202"),
        (200, 0, State.OBSERVED_RISK, "not-202"),
        (204, 0, State.OBSERVED_RISK, "not-202"),
        (400, 20, State.FAILED, "refused"),
        (404, 0, State.FAILED, "refused"),
        (401, 0, State.FAILED, "refused"),
        (403, 0, State.FAILED, "refused"),
        (429, 0, State.NOT_CHECKED, "http-status"),
        (500, 0, State.FAILED, "http-5xx"),
        (503, 0, State.FAILED, "http-5xx"),
        (None, 0, State.FAILED, "no-reply"),
    ],
)
def test_the_acknowledgement_is_202_and_empty(
    status: int | None, size: int, state: State, code: str | None
) -> None:
    legacy = surface(acknowledgement=exchange("notifications/initialized", status, size=size))
    result = judged("mcp/initialized-ack", evidence(legacy))
    assert (result.state, result.code) == (state, code)


@pytest.mark.parametrize(
    ("status", "code"),
    [(401, "http-status"), (403, "http-status"), (500, "http-status"), (None, "no-reply")],
)
def test_an_acknowledgement_that_fails_with_all_that_follows_is_explained_by_the_list(
    status: int | None, code: str
) -> None:
    legacy = surface(
        acknowledgement=exchange("notifications/initialized", status),
        listing=broken("http-status", exchanges=(exchange("tools/list", status or 500),)),
    )
    result = judged("mcp/initialized-ack", evidence(legacy))
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, code, "tools/pagination")


@pytest.mark.parametrize(
    ("code", "state"),
    [
        ("timeout", State.FAILED),
        ("reset", State.FAILED),
        ("deadline", State.NOT_CHECKED),
        ("budget", State.NOT_CHECKED),
    ],
)
def test_silence_after_the_handshake_counts_where_the_session_goes_on(code: str, state: State) -> None:
    silent = exchange("notifications/initialized", None, fault=fault(code))
    result = judged("mcp/initialized-ack", evidence(surface(acknowledgement=silent)))
    assert (result.state, result.code) == (state, code if state is State.FAILED else "no-reply")


def test_an_acknowledgement_may_be_an_error_with_a_status_of_success() -> None:
    answer = {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "no such method"}}
    legacy = surface(acknowledgement=exchange("notifications/initialized", 200, answer=answer, size=80))
    result = judged("mcp/initialized-ack", evidence(legacy))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "error")
    assert result.findings[0].measured == "HTTP 200, error -32601"


def test_a_modern_server_has_no_handshake_to_acknowledge() -> None:
    result = judged("mcp/initialized-ack", evidence(surface(Era.MODERN)))
    assert (result.state, result.code) == (State.NOT_CHECKED, "not-applicable")
    assert result.reason == "the rule is about the legacy era; this server speaks modern 2026-07-28"


def with_remark(code: str, era: Era = Era.LEGACY, revision: str = "2025-11-25") -> Any:
    return evidence(surface(era, revision=revision, listing=listing(exchanges=(remarked(code),))))


@pytest.mark.parametrize(
    ("code", "state"),
    [
        ("id-type", State.OBSERVED_RISK),
        ("id-wrong", State.FAILED),
        ("id-null", State.FAILED),
        ("batch", State.FAILED),
        ("result-and-error", State.FAILED),
        ("bom", State.VERIFIED),
    ],
)
def test_an_envelope_is_judged_by_what_clients_do_with_it(code: str, state: State) -> None:
    result = judged("mcp/envelope", with_remark(code))
    assert (result.state, result.code) == (state, code if state is not State.VERIFIED else None)


def framed(status: int = 200, **members: Any) -> Any:
    """Evidence in which the list was answered with this JSON-RPC message."""
    page = exchange("tools/list", status, answer={"id": 1, **members})
    return evidence(surface(listing=listing(exchanges=(page,))))


@pytest.mark.parametrize(
    ("version", "measured"),
    [({}, "no jsonrpc"), ({"jsonrpc": "1.0"}, 'jsonrpc "1.0"'), ({"jsonrpc": 2.0}, "jsonrpc 2.0")],
)
def test_an_answer_says_jsonrpc_2_0_to_the_letter(version: dict[str, Any], measured: str) -> None:
    result = judged("mcp/envelope", framed(**version, result={}))
    assert (result.state, result.code) == (State.FAILED, "jsonrpc-version")
    assert [finding.measured for finding in result.findings] == [measured]
    assert judged("mcp/envelope", framed(jsonrpc="2.0", result={})).state is State.VERIFIED


@pytest.mark.parametrize(
    ("error", "measured"),
    [
        ("boom", 'error "boom"'),
        (None, "error null"),
        ({}, "no code, no message"),
        ({"code": "E1", "message": 5}, 'code "E1", message 5'),
        ({"code": True, "message": "no"}, 'code true, message "no"'),
        ({"code": 1.5, "message": "no"}, 'code 1.5, message "no"'),
        ({"code": float("nan"), "message": "no"}, 'code nan, message "no"'),
        ({"code": -32603}, "code -32603, no message"),
    ],
)
def test_an_error_has_an_integer_code_and_a_message(error: Any, measured: str) -> None:
    result = judged("mcp/envelope", framed(jsonrpc="2.0", error=error))
    assert (result.state, result.code) == (State.FAILED, "error-object")
    assert [finding.measured for finding in result.findings] == [measured]


@pytest.mark.parametrize("code", [-32603, -32603.0, 7])  # JSON knows one kind of number
def test_an_error_of_any_integer_is_well_formed(code: Any) -> None:
    error = {"code": code, "message": "", "data": None}
    assert judged("mcp/envelope", framed(jsonrpc="2.0", error=error)).state is State.VERIFIED


def test_the_page_of_a_refusal_need_not_be_json_rpc() -> None:
    assert judged("mcp/envelope", framed(429, error="slow down")).state is State.VERIFIED


def test_a_batch_is_right_where_the_revision_has_them() -> None:
    assert judged("mcp/envelope", with_remark("batch", revision="2025-03-26")).state is State.VERIFIED
    assert judged("mcp/envelope", with_remark("batch", revision="2025-06-18")).state is State.FAILED
    assert judged("mcp/envelope", with_remark("batch", revision="unheard of")).state is State.FAILED


def test_a_request_of_the_servers_own_is_forbidden_in_the_modern_era_alone() -> None:
    assert judged("mcp/envelope", with_remark("server-request")).state is State.VERIFIED
    modern = with_remark("server-request", Era.MODERN, "2026-07-28")
    assert judged("mcp/envelope", modern).state is State.FAILED


def test_pages_that_repeat_a_fault_are_one_finding() -> None:
    pages = listing(exchanges=tuple(remarked("id-type", "bom") for _ in range(6)), pages=6)
    seen = evidence(surface(listing=pages))
    assert len(judged("mcp/envelope", seen).findings) == 1
    assert len(judged("mcp/message-text", seen).findings) == 1


@pytest.mark.parametrize(
    "code",
    [
        "bom",
        "duplicate-member",
        "lone-surrogate",
        "unterminated-event",
        "wrong-length",
        "refused-by-some",
    ],
)
def test_text_that_lenient_parsers_forgive_is_a_risk(code: str) -> None:
    result = judged("mcp/message-text", with_remark(code))
    assert (result.state, result.code) == (State.OBSERVED_RISK, code)


@pytest.mark.parametrize(
    ("check", "code"),
    [
        ("mcp/message-text", "json"),
        ("mcp/message-text", "utf-8"),
        ("mcp/message-text", "depth"),
        ("mcp/envelope", "envelope"),
    ],
)
def test_an_unreadable_page_is_a_failure(check: str, code: str) -> None:
    page = exchange("tools/list", fault=fault(code))
    seen = evidence(surface(listing=broken(code, exchanges=(page,))))
    assert (judged(check, seen).state, judged(check, seen).code) == (State.FAILED, code)


def unacknowledged(status: int, said: str, *, session: bool, **changes: Any) -> Any:
    reply = exchange("notifications/initialized", status, excerpt=said, size=len(said))
    return evidence(surface(acknowledgement=reply, session=session, **changes))


@pytest.mark.parametrize(
    ("status", "said", "session", "code", "why"),
    [
        (404, "Session not found", True, "session-lost", "an instance that does not know it"),
        (400, "Bad Request: Missing session ID", True, "session-lost", "does not reach the instance"),
        (
            400,
            "Bad Request: No valid session ID provided",
            False,
            "session-lost",
            "did not come with the answer",
        ),
        (404, "Not Found", False, "refused", "refuses the notification"),
        (400, "unsupported protocol version", True, "refused", "refuses the notification"),
    ],
)
def test_a_session_that_gets_lost_on_the_way_is_told_from_other_refusals(
    status: int,
    said: str,
    session: bool,  # noqa: FBT001 - a row of the table
    code: str,
    why: str,
) -> None:
    result = judged("mcp/initialized-ack", unacknowledged(status, said, session=session))
    assert (result.state, result.code) == (State.FAILED, code)
    assert why in result.findings[0].message
    assert result.findings[0].measured == f'HTTP {status}: "{said}"'


@pytest.mark.parametrize(
    ("check", "part"), [("errors/unknown-method", "unknown_method"), ("transport/get", "get")]
)
def test_what_is_refused_for_want_of_a_session_is_not_judged_by_another_rule(check: str, part: str) -> None:
    lost = unacknowledged(404, "Session not found", session=True, **{part: exchange("", 404)})
    result = judged(check, lost)
    assert (result.state, result.cause) == (State.NOT_CHECKED, "mcp/initialized-ack")
    found = unacknowledged(404, "Session not found", session=True, **{part: exchange("", 406)})
    assert judged(check, found).state is State.FAILED


def test_a_refusal_by_status_may_carry_an_error_without_an_id() -> None:
    def page(status: int) -> Any:
        remarks = (Remark(code="id-null", message="no id"),)
        refused = exchange("tools/list", status, remarks=remarks)
        return evidence(surface(listing=listing(exchanges=(refused,))))

    assert judged("mcp/envelope", page(400)).state is State.VERIFIED
    assert judged("mcp/envelope", page(200)).state is State.FAILED


@pytest.mark.parametrize(("code", "expected"), [(-32020, "headers-lost"), (-32600, None)])
def test_a_modern_server_that_misses_the_headers_that_were_sent_is_named(
    code: int, expected: str | None
) -> None:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "header mismatch"}}
    refused = opening(Era.MODERN, exchange("server/discover", 400, answer=error), established=False)
    seen = evidence(surface(Era.LEGACY), openings=(refused, opening(Era.LEGACY)))
    assert judged("mcp/era-coverage", seen).code == expected


def test_initialize_may_be_refused_at_the_revisions_that_are_listed() -> None:
    def said(*supported: str) -> str:
        refusal = refused("initialize", 400, -32602, data={"supported": list(supported)})
        legacy = opening(Era.LEGACY, refusal, established=False)
        seen = evidence(surface(Era.MODERN), openings=(opening(Era.MODERN), legacy))
        (finding,) = judged("mcp/era-coverage", seen).findings
        return finding.message

    assert "also at what the refusal lists" in said("2025-11-25", "2026-07-28")
    assert said("2026-07-28").startswith("Only 2026-07-28 is spoken")


@pytest.mark.parametrize(
    ("data", "code"),
    [
        ({"supported": ["2026-07-28"]}, "lists-the-refused"),
        ({"supported": ["2025-11-25", "2026-07-28"]}, "lists-the-refused"),
        ({"supported": ["2027-03-01"]}, "no-known-version"),
        ({"supported": []}, "no-versions"),
        ({"supported": "2025-11-25"}, "no-versions"),
        ({"supported": [20251125]}, "no-versions"),
        ({"requested": "2026-07-28"}, "no-versions"),
        (None, "no-versions"),
        ({"supported": ["2025-11-25", "2025-06-18"]}, None),
    ],
)
def test_the_refusal_of_the_newest_revision_has_to_lead_somewhere(data: Any, code: str | None) -> None:
    refusal = refused("server/discover", 400, -32022, data=data)
    modern = opening(Era.MODERN, refusal, refusal, established=False)
    seen = evidence(surface(Era.LEGACY), openings=(modern, opening(Era.LEGACY)))
    result = judged("mcp/era-coverage", seen)
    assert (result.state, result.code) == (State.OBSERVED_RISK if code else State.VERIFIED, code)
    assert all(found.era is Era.MODERN for found in result.findings)
