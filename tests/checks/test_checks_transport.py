from typing import Any

import pytest

from driftwatch.evidence import Exchange, FurtherList
from driftwatch.model import Era, Severity, State
from tests.checks.factories import (
    BOTH_TYPES,
    broken,
    evidence,
    exchange,
    fault,
    judged,
    listing,
    opening,
    remarked,
    shut,
    surface,
    tool,
)


def opened(*attempts: Exchange, era: Era = Era.LEGACY) -> Any:
    """Evidence of one era whose opening went like this."""
    return evidence(surface(era), openings=(opening(era, *attempts),))


@pytest.mark.parametrize(
    "code",
    [
        *("dns", "refused", "unreachable", "timeout", "reset", "deadline", "protocol", "redirect"),
        *("http-5xx", "http-4xx", "not-mcp", "no-handshake"),
    ],
)
def test_an_endpoint_without_a_usable_answer_is_failed_with_the_outcome_as_its_code(code: str) -> None:
    result = judged("transport/endpoint", shut(code, message="what was seen"))
    assert (result.state, result.code, result.cause) == (State.FAILED, code, None)
    assert "what was seen" in result.findings[0].message


@pytest.mark.parametrize("code", ["auth", "forbidden", "rate-limited", "bot-page", "access-gate", "address"])
def test_a_closed_door_says_nothing_about_the_endpoint(code: str) -> None:
    result = judged("transport/endpoint", shut(code))
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, code, None)


@pytest.mark.parametrize("code", ["certificate", "tls"])
def test_a_certificate_fault_leaves_the_endpoint_unchecked_because_of_the_chain(code: str) -> None:
    result = judged("transport/endpoint", shut(code))
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, code, "tls/chain")


@pytest.mark.parametrize(("code", "cause"), [("refused", "transport/endpoint"), ("tls", "tls/chain")])
def test_everything_behind_a_root_is_not_checked_with_its_code(code: str, cause: str) -> None:
    for check in ("transport/content-type", "transport/accept-sse", "transport/redirect", "mcp/era-coverage"):
        result = judged(check, shut(code, message="why"))
        assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, code, cause)
        assert result.reason == "why"


def test_only_the_old_transport_is_a_risk() -> None:
    result = judged("transport/endpoint", evidence(surface(Era.HTTP_SSE)))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "deprecated-transport")


@pytest.mark.parametrize(
    ("status", "location", "state", "code"),
    [
        (307, "/mcp/", State.OBSERVED_RISK, "same-origin"),
        (308, "https://mcp.example.org/v2", State.OBSERVED_RISK, "same-origin"),
        (301, "/mcp/", State.FAILED, "method-lost"),
        (302, "/login", State.FAILED, "method-lost"),
        (303, "/mcp/", State.FAILED, "method-lost"),
        (307, "https://other.example.org/mcp", State.FAILED, "other-host"),
        (307, "https://mcp.example.org:8443/mcp", State.FAILED, "other-host"),
        (302, "https://idp.example/login", State.FAILED, "other-host"),
        (307, "http://mcp.example.org/mcp/", State.FAILED, "plain-http"),
        (307, "http://[::1/", State.FAILED, "other-host"),
        (307, "javascript:alert(1)", State.FAILED, "other-host"),
        (308, "https://mcp.example.org:443/mcp/", State.OBSERVED_RISK, "same-origin"),
    ],
)
def test_a_redirect_is_judged_by_where_it_leads(status: int, location: str, state: State, code: str) -> None:
    hop = exchange(status=status, headers=(("location", location),))
    result = judged("transport/redirect", shut("redirect", hop))
    assert (result.state, result.code) == (state, code)
    assert location[:200] in result.findings[0].measured


@pytest.mark.parametrize(
    ("location", "code", "message"),
    [
        ("https://mcp.example.org/mcp", "to-https", "is plain http and redirects to https"),
        ("http://mcp.example.org:8080/mcp", "other-host", "another port of its host"),
        ("http://www.mcp.example.org/mcp", "other-host", "another host"),
        ("gopher://mcp.example.org/mcp", "other-host", "something that is no web address"),
        ("file:///etc/passwd", "other-host", "something that is no web address"),
        ("", "same-origin", "The URL redirects to itself"),
        ("http://mcp.example.org/mcp#again", "same-origin", "The URL redirects to itself"),
        ("?<redacted>", "same-origin", "another address of the same server"),
    ],
)
def test_a_redirect_from_plain_http_says_what_changes(location: str, code: str, message: str) -> None:
    hop = exchange(status=308, headers=(("location", location),), url="http://mcp.example.org/mcp")
    (found,) = judged("transport/redirect", shut("redirect", hop)).findings
    assert found.code == code
    assert message in found.message


def test_a_redirect_without_an_address_says_so() -> None:
    hop = exchange(status=307, headers=(("location", ""),))
    (found,) = judged("transport/redirect", shut("redirect", hop)).findings
    assert found.measured == "HTTP 307 to an empty Location"


@pytest.mark.parametrize(
    ("check", "code", "last"),
    [
        ("transport/redirect", "redirect", exchange(status=301, headers=(("location", "/mcp/"),))),
        ("transport/accept-sse", "http-4xx", exchange(status=406)),
        ("transport/content-type", "not-mcp", exchange(content_type="text/html")),
    ],
)
def test_what_keeps_every_client_out_is_told_by_the_root_alone(check: str, code: str, last: Exchange) -> None:
    result = judged(check, shut(code, last))
    assert (result.state, result.cause) == (State.FAILED, "transport/endpoint")
    result = judged(check, opened(last, exchange()) if check != "transport/content-type" else opened(last))
    assert (result.state, result.cause) == (State.FAILED, None)


def test_a_redirect_of_one_era_is_said_once_for_the_server() -> None:
    hop = exchange("server/discover", 307, headers=(("location", "/mcp/"),))
    seen = evidence(
        surface(Era.LEGACY),
        openings=(
            opening(Era.MODERN, hop, exchange("server/discover", 400), established=False),
            opening(Era.LEGACY),
        ),
    )
    result = judged("transport/redirect", seen)
    assert [(finding.code, finding.era) for finding in result.findings] == [("same-origin", None)]


def test_an_error_page_at_the_url_itself_is_no_redirect() -> None:
    assert judged("transport/redirect", shut("http-4xx", exchange(status=404))).state is State.VERIFIED


@pytest.mark.parametrize("status", [401, 403, 429, 500, 503])
def test_a_closed_door_does_not_tell_whether_the_url_redirects(status: int) -> None:
    result = judged("transport/redirect", shut("auth", exchange(status=status)))
    assert (result.state, result.code) == (State.NOT_CHECKED, "auth")


@pytest.mark.parametrize(
    "content_type",
    [
        "application/json",
        "text/event-stream",
        "Application/JSON; Charset=UTF-8",
        "text/event-stream;charset=utf-8",
        "application/json, application/json",
        'application/json;x="a, text/html"',
    ],
)
def test_both_content_types_are_right_in_every_spelling(content_type: str) -> None:
    result = judged("transport/content-type", opened(exchange(content_type=content_type)))
    assert result.state is State.VERIFIED


@pytest.mark.parametrize(
    ("content_type", "is_list"),
    [
        ("application/json, text/html", True),
        ("application/json, application/json", True),
        ('application/json;x="a", text/html', True),
        ('application/json;x="a, text/html"', False),
        (r'application/json;x="a\", text/html"', False),
        ('application/json;x="a, text/html', False),
        ("application/json; charset=utf-8", False),
    ],
)
def test_a_header_with_more_than_one_media_type_is_remarked(content_type: str, *, is_list: bool) -> None:
    result = judged("transport/content-type", opened(exchange(content_type=content_type)))
    assert result.state is State.VERIFIED
    assert result.reason == ("the header names more than one media type" if is_list else None)


@pytest.mark.parametrize(
    ("content_type", "code"),
    [
        ("text/plain", "wrong"),
        ("application/json-rpc", "wrong"),
        ("application/jsonl", "wrong"),
        ("", "absent"),
        (None, "absent"),
        ("text/html; charset=utf-8", "html"),
    ],
)
def test_any_other_content_type_is_failed_and_quoted(content_type: str | None, code: str) -> None:
    result = judged("transport/content-type", opened(exchange(content_type=content_type)))
    assert (result.state, result.code) == (State.FAILED, code)
    assert content_type is None or content_type in result.findings[0].measured
    assert result.findings[0].era is Era.LEGACY


def test_a_list_beside_the_tools_is_read_by_its_type_too() -> None:
    page = exchange("prompts/list", content_type="text/html", fault=fault("json"))
    further = FurtherList(kind="prompts", listing=broken("json", exchanges=(page,)))
    seen = evidence(surface(Era.LEGACY, further=(further,)))
    result = judged("transport/content-type", seen)
    assert (result.state, result.code) == (State.FAILED, "html")
    assert "prompts/list" in result.findings[0].message
    assert judged("mcp/message-text", seen).cause == "transport/content-type"


def test_a_web_page_in_the_place_of_an_endpoint_is_named_as_such() -> None:
    result = judged("transport/content-type", shut("not-mcp", exchange(content_type="text/html")))
    assert (result.state, result.code) == (State.FAILED, "html")
    assert "web page" in result.findings[0].message


def test_an_error_page_has_no_content_type_to_judge() -> None:
    result = judged(
        "transport/content-type", shut("http-5xx", exchange(status=502, content_type="text/html"))
    )
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, "http-5xx", "transport/endpoint")


@pytest.mark.parametrize("code", ["auth", "forbidden", "rate-limited", "bot-page", "access-gate"])
def test_a_page_in_front_of_a_shut_door_is_not_the_servers_content_type(code: str) -> None:
    result = judged("transport/content-type", shut(code, exchange(content_type="text/html")))
    assert (result.state, result.code) == (State.NOT_CHECKED, code)


def test_a_list_of_another_content_type_is_failed_and_its_request_named() -> None:
    page = exchange("tools/list", content_type="text/plain", answer={})
    seen = evidence(surface(listing=listing(exchanges=(exchange("tools/list"), page, page))))
    result = judged("transport/content-type", seen)
    assert (result.state, result.code, len(result.findings)) == (State.FAILED, "wrong", 1)
    assert "the answer to tools/list and drop it" in result.findings[0].message


def test_replies_that_all_have_the_same_wrong_type_are_one_finding() -> None:
    first, page = (exchange(method, content_type="text/plain") for method in ("initialize", "tools/list"))
    seen = evidence(
        surface(opening=first, listing=listing(exchanges=(page,))), openings=(opening(Era.LEGACY, first),)
    )
    (found,) = judged("transport/content-type", seen).findings
    assert "the answer to initialize and tools/list" in found.message


def test_a_web_page_instead_of_a_list_does_not_put_the_url_in_doubt() -> None:
    page = exchange("tools/list", content_type="text/html")
    seen = evidence(surface(listing=broken("json", exchanges=(page,))))
    result = judged("transport/content-type", seen)
    assert (result.state, result.code) == (State.FAILED, "html")
    assert result.findings[0].message == (
        "The answer to tools/list is a web page, which clients drop without a word."
    )


@pytest.mark.parametrize("check", ["transport/content-type", "mcp/message-text"])
def test_a_bot_page_instead_of_a_list_is_not_the_servers_reply(check: str) -> None:
    headers = (("content-type", "text/html"), ("cf-mitigated", "challenge"))
    page = exchange("tools/list", headers=headers, fault=fault("json"))
    seen = evidence(surface(listing=broken("http-status", exchanges=(page,))))
    assert judged(check, seen).state is State.VERIFIED


def test_over_the_old_transport_the_reply_to_a_post_is_a_receipt_of_any_type() -> None:
    receipt = exchange("tools/list", 202, content_type="text/plain")
    seen = evidence(surface(Era.HTTP_SSE, listing=listing(exchanges=(receipt,))))
    assert judged("transport/content-type", seen).state is State.VERIFIED


def test_a_legacy_server_owes_discover_no_content_type() -> None:
    refused = opening(Era.MODERN, exchange("server/discover", content_type="text/plain"), established=False)
    seen = evidence(surface(Era.LEGACY), openings=(refused, opening(Era.LEGACY)))
    assert judged("transport/content-type", seen).state is State.VERIFIED


@pytest.mark.parametrize("status", [406, 415])
def test_a_refused_accept_header_is_failed_even_though_json_alone_worked(status: int) -> None:
    seen = opened(exchange(status=status), exchange(accept="application/json"))
    result = judged("transport/accept-sse", seen)
    assert (result.state, result.code) == (State.FAILED, "refused")
    assert result.findings[0].measured == f"HTTP {status}, then HTTP 200 with JSON alone"


def test_a_415_that_outlives_the_retry_is_about_the_body() -> None:
    seen = shut("http-4xx", exchange(status=415), exchange(status=415, accept="application/json"))
    result = judged("transport/accept-sse", seen)
    assert (result.state, result.code) == (State.FAILED, "content-type-refused")


def test_a_406_to_json_alone_is_no_refusal_of_event_streams() -> None:
    seen = opened(exchange(status=406, accept="application/json"), exchange(accept=BOTH_TYPES))
    assert judged("transport/accept-sse", seen).state is State.VERIFIED


def test_both_eras_refusing_give_one_finding_each() -> None:
    refused = [exchange(status=406), exchange(accept="application/json")]
    seen = evidence(openings=(opening(Era.MODERN, *refused), opening(Era.LEGACY, *refused)))
    eras = [finding.era for finding in judged("transport/accept-sse", seen).findings]
    assert eras == [Era.MODERN, Era.LEGACY]


def test_an_encoding_that_was_not_offered_is_a_risk_and_one_that_cannot_be_undone_a_failure() -> None:
    legacy = surface(listing=listing(exchanges=(remarked("unrequested-encoding"),)))
    result = judged("transport/encoding", evidence(legacy))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "unrequested")
    legacy = surface(listing=listing(exchanges=(exchange("tools/list", fault=fault("encoding")),)))
    result = judged("transport/encoding", evidence(legacy))
    assert (result.state, result.code) == (State.FAILED, "undecodable")


@pytest.mark.parametrize("status", [200, 202, 204])
def test_an_answer_without_a_body_has_no_type_to_be_wrong(status: int) -> None:
    empty = exchange("tools/list", status, content_type=None, fault=fault("no-answer"))
    seen = evidence(surface(listing=broken("no-answer", exchanges=(empty,))))
    assert judged("transport/content-type", seen).state is State.VERIFIED
    assert judged("tools/pagination", seen).state is State.FAILED


def test_a_list_that_is_led_to_another_address_of_the_server_is_a_redirect() -> None:
    moved = exchange("tools/list", url="https://mcp.example.org/v2/mcp")
    seen = evidence(surface(listing=listing(tool(), exchanges=(moved,))))
    (found,) = judged("transport/redirect", seen).findings
    assert (found.code, found.severity) == ("same-origin", Severity.HEADS_UP)
    assert found.message == "The URL redirects tools/list to another address of the same server."
