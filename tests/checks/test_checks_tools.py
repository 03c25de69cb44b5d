from dataclasses import replace
from typing import Any

import pytest

from driftwatch.alerts.text import sentence
from driftwatch.checks import Policy, by_id
from driftwatch.evidence import Exchange, Missing
from driftwatch.model import Era, Result, State
from tests.checks.factories import broken, evidence, exchange, fault, judged, listing, remarked, surface, tool
from tests.checks.test_checks_auth import authorization


@pytest.mark.parametrize(
    "code",
    [
        *("repeated-cursor", "page-limit", "page-error", "cursor-type", "not-a-list", "not-a-tool"),
        *("tool-limit", "size-limit", "too-large"),
        *("no-answer", "timeout", "reset", "protocol", "headers", "refused", "tls", "certificate"),
    ],
)
def test_a_list_that_the_server_breaks_off_is_failed(code: str) -> None:
    result = judged("tools/pagination", evidence(surface(listing=broken(code))))
    assert (result.state, result.code) == (State.FAILED, code)


@pytest.mark.parametrize(
    ("code", "cause"),
    [
        *((code, "mcp/message-text") for code in ("json", "utf-8", "depth")),
        ("encoding", "transport/encoding"),
        ("envelope", "mcp/envelope"),
    ],
)
def test_what_is_wrong_with_the_text_of_a_page_is_told_by_the_check_of_texts_alone(
    code: str, cause: str
) -> None:
    seen = evidence(surface(listing=broken(code)))
    result = judged("tools/pagination", seen)
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, code, cause)
    result = judged("tools/pagination", seen, policy=Policy(off=frozenset({cause})))
    assert (result.state, result.code) == (State.FAILED, code)


def test_a_page_that_is_another_requests_answer_is_told_by_the_check_of_envelopes_alone() -> None:
    cached = remarked("id-wrong")
    seen = evidence(surface(listing=broken("not-a-list", exchanges=(cached,)), json_only=cached))
    result = judged("tools/pagination", seen)
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, "not-a-list", "mcp/envelope")
    assert judged("mcp/envelope", seen).code == "id-wrong"
    assert judged("transport/accept-json-only", seen).cause == "mcp/envelope"


@pytest.mark.parametrize("code", ["deadline", "budget", "rate-limited", "address", "proxy"])
def test_a_read_that_the_probe_itself_cut_short_says_nothing_about_the_list(code: str) -> None:
    result = judged("tools/pagination", evidence(surface(listing=broken(code))))
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, code, None)


@pytest.mark.parametrize(
    ("deadline_s", "pages_s", "code"),
    [(10.0, [9.5], "timeout"), (10.0, [2.0, 2.0, 2.0], "timeout"), (10.0, [4.0], "deadline")],
)
def test_a_list_that_takes_most_of_the_probes_time_did_not_come_in_time(
    deadline_s: float, pages_s: list[float], code: str
) -> None:
    pages = tuple(exchange("tools/list", duration_s=seconds) for seconds in pages_s)
    never = broken("deadline", exchanges=pages)
    seen = evidence(surface(listing=never), settings={"deadline_s": deadline_s})
    result = judged("tools/pagination", seen)
    assert (result.state, result.code) == (State.FAILED if code == "timeout" else State.NOT_CHECKED, code)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (404, State.FAILED),
        (400, State.FAILED),
        (401, State.NOT_CHECKED),
        (403, State.NOT_CHECKED),
        (429, State.NOT_CHECKED),
        (500, State.FAILED),
        (503, State.FAILED),
        (302, State.FAILED),
    ],
)
def test_the_status_of_a_failing_page_decides_whose_fault_it_is(status: int, state: State) -> None:
    page = exchange("tools/list", status)
    result = judged("tools/pagination", evidence(surface(listing=broken("http-status", exchanges=(page,)))))
    assert (result.state, result.code) == (state, "http-status")


def test_a_list_that_never_comes_keeps_agents_from_the_tools() -> None:
    never = broken("timeout", tools=(), pages=0)
    (finding,) = judged("tools/pagination", evidence(surface(listing=never))).findings
    assert finding.message == "Agents that wait no longer get no tools: there was a timeout."


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("repeated-cursor", "a last page without nextCursor"),
        ("not-a-tool", "an array of tools, each with a name"),
        ("timeout", "a page of tools within seconds"),
        ("http-status", "a page of tools"),
        ("reset", "a page of tools"),
    ],
)
def test_what_was_expected_fits_what_came(code: str, expected: str) -> None:
    (finding,) = judged("tools/pagination", evidence(surface(listing=broken(code)))).findings
    assert finding.expected == expected


def test_the_advice_is_short_enough_for_a_message_and_is_for_every_fault() -> None:
    advice = by_id("tools/pagination").fix
    assert sentence(advice) == " ".join(advice.split())
    assert "hangs" in advice
    assert "`nextCursor`" in advice


@pytest.mark.parametrize(("phase", "state"), [("body", State.NOT_CHECKED), ("headers", State.FAILED)])
def test_only_a_list_that_is_cut_in_its_body_may_have_been_cut_on_the_way(phase: str, state: State) -> None:
    cut = replace(fault("reset"), phase=phase)
    seen = surface(listing=broken("reset", fault=cut, exchanges=(exchange("tools/list", fault=cut),)))
    assert judged("tools/pagination", evidence(seen)).state is state


def test_a_list_behind_a_login_page_or_bot_protection_is_not_the_servers_fault() -> None:
    def judge(page: Exchange, **seen: Any) -> Result:
        shut = surface(listing=broken("http-status", exchanges=(page,)))
        return judged("tools/pagination", evidence(shut, **seen))

    login = exchange("tools/list", 302, headers=(("location", "/login"),))
    assert judge(login, authorization=authorization()).state is State.NOT_CHECKED
    page = exchange("tools/list", 503, headers=(("cf-mitigated", "challenge"),))
    assert judge(page).state is State.NOT_CHECKED


def test_a_list_that_is_lost_with_its_session_has_the_handshake_for_a_cause() -> None:
    page = exchange("tools/list", 404)
    lost = surface(
        listing=broken("http-status", exchanges=(page,)),
        acknowledgement=exchange("notifications/initialized", 404),
    )
    result = judged("tools/pagination", evidence(lost))
    assert (result.state, result.cause) == (State.NOT_CHECKED, "mcp/initialized-ack")


def test_every_check_of_the_tools_waits_for_a_complete_list() -> None:
    seen = evidence(surface(listing=broken("repeated-cursor")))
    for check in ("tool/missing-description", "schema/deep-nesting", "tool/steering-text"):
        result = judged(check, seen)
        assert (result.state, result.cause) == (State.NOT_CHECKED, "tools/pagination")
        assert result.reason == "the tool list is incomplete: there was a repeated-cursor"


def test_a_paginated_list_says_how_many_pages_it_has() -> None:
    pages = listing(tool("a"), tool("b"), pages=2, exchanges=(exchange("tools/list"),) * 2, cursors=("",))
    result = judged("tools/pagination", evidence(surface(Era.LEGACY, listing=pages)))
    assert (result.state, result.reason) == (State.VERIFIED, "2 tools on 2 pages")


def test_a_list_that_was_read_twice_is_remarked() -> None:
    result = judged("tools/pagination", evidence(surface(listing=listing(tool(), refetched=True))))
    assert result.state is State.VERIFIED
    assert result.reason is not None


def test_pages_of_different_cache_scopes_break_a_must() -> None:
    scopes = listing(tool(), pages=2, cache_scopes=("public", "private"))
    result = judged("tools/pagination", evidence(surface(Era.MODERN, listing=scopes)))
    assert (result.state, result.code) == (State.FAILED, "cache-scope")
    assert result.findings[0].measured == '"private" and "public"'


def test_a_server_without_the_tools_capability_is_not_checked_for_that_reason() -> None:
    missing = Missing("the server declares no tools capability", "no-tools-capability")
    for check in ("tools/pagination", "schema/missing-required", "release/fingerprint"):
        result = judged(check, evidence(surface(listing=missing)), fingerprints={Era.LEGACY: missing})
        assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, "no-tools-capability", None)


def test_one_era_with_a_broken_list_fails_the_server() -> None:
    seen = evidence(surface(Era.MODERN), surface(Era.LEGACY, listing=broken("not-a-list")))
    result = judged("tools/pagination", seen)
    assert (result.state, result.code, result.findings[0].era) == (State.FAILED, "not-a-list", Era.LEGACY)
