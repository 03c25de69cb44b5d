from dataclasses import replace

import pytest

from driftwatch.evidence import Exchange, Fault, Opening, Remark
from driftwatch.model import Era
from driftwatch.probe.conversation import outcome
from tests.specimens.exchanges import error, exchange, result

HTML = (("content-type", "text/html; charset=utf-8"),)
JSON = (("content-type", "application/json"),)
IMPERVA = '<META NAME="robots" CONTENT="noindex,nofollow"><script src="/_Incapsula_Resource?SWJIYLWA=719d">'


def fault(code: str, *, status: int | None = None) -> Exchange:
    return exchange(status, fault=Fault(code=code, phase="body", message=f"a {code} happened"))


def redirect(status: int, location: str, url: str = "https://a.example/mcp") -> Exchange:
    return exchange(status, headers=(("location", location),), url=url)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (fault("dns"), "dns"),
        (fault("refused"), "refused"),
        (fault("timeout"), "timeout"),
        (fault("timeout", status=200), "timeout"),
        (fault("reset", status=200), "reset"),
        (fault("certificate"), "certificate"),
        (fault("deadline"), "deadline"),
        (fault("protocol"), "protocol"),
        (fault("headers"), "protocol"),
        (exchange(401), "auth"),
        (exchange(403, headers=(("www-authenticate", "Bearer"),)), "auth"),
        (exchange(403), "forbidden"),
        (exchange(429), "rate-limited"),
        (exchange(500), "http-5xx"),
        (exchange(503), "http-5xx"),
        (fault("reset", status=502), "http-5xx"),
        (redirect(302, "/login"), "redirect"),
        (redirect(307, "https://b.example/mcp"), "redirect"),
    ],
)
def test_a_refusal_to_talk_is_told_apart(answer: Exchange, code: str) -> None:
    found = outcome.blocked(answer)
    assert found is not None
    assert found.code == code
    assert found.status == answer.status


@pytest.mark.parametrize(
    "answer",
    [
        result({"supportedVersions": []}),
        error(-32600, "Missing session ID"),
        error(-32601, status=404),
        exchange(404),
        exchange(405),
        exchange(406),
        exchange(200, excerpt="<html>", headers=HTML),
        fault("json", status=200),
        fault("no-answer", status=200),
        exchange(304),
    ],
)
def test_an_answer_of_the_server_itself_is_no_refusal_to_talk(answer: Exchange) -> None:
    assert outcome.blocked(answer) is None


@pytest.mark.parametrize(
    "answer",
    [
        exchange(403, excerpt="<title>Just a moment...</title>", headers=HTML),
        exchange(503, excerpt="<p>Checking your browser before accessing</p>", headers=HTML),
        exchange(403, excerpt="<title>One moment, please</title>", headers=HTML),
        exchange(403, excerpt="", headers=(("cf-mitigated", "challenge"),)),
        exchange(202, excerpt="", headers=(("x-amzn-waf-action", "challenge"),)),
        exchange(405, excerpt="<script src='/captcha-delivery'>", headers=HTML),
        exchange(
            200, excerpt="<title>Just a moment...</title>", headers=(*HTML, ("cf-mitigated", "challenge"))
        ),
        exchange(200, excerpt=IMPERVA, headers=HTML),
        exchange(200, excerpt="<body>Incapsula incident ID: 1-2</body>", headers=HTML),
    ],
)
def test_a_bot_protection_page_is_not_the_servers_answer_and_not_worth_a_retry(answer: Exchange) -> None:
    found = outcome.blocked(answer)
    assert found is not None
    assert found.code == "bot-page"
    assert not outcome.is_transient(answer)


def test_an_owners_page_in_which_imperva_put_its_script_is_no_bot_page() -> None:
    page = "<title>Welcome</title><script src='/_Incapsula_Resource?SWJIYLWA=719d'></script>"
    assert outcome.blocked(exchange(200, excerpt=page, headers=HTML)) is None


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (exchange(503, excerpt="<h1>Maintenance, please wait</h1>", headers=HTML), "http-5xx"),
        (exchange(403, excerpt="<h1>Forbidden</h1>", headers=HTML), "forbidden"),
        (exchange(403, excerpt='{"error": "please wait a moment"}', headers=JSON), "forbidden"),
    ],
)
def test_an_owners_own_page_is_no_bot_protection(answer: Exchange, code: str) -> None:
    found = outcome.blocked(answer)
    assert found is not None
    assert found.code == code


@pytest.mark.parametrize(
    ("answer", "transient"),
    [
        (exchange(500), True),
        (exchange(503), True),
        (fault("reset"), True),
        (fault("timeout"), True),
        (fault("timeout", status=200), True),
        (fault("refused"), False),
        (fault("dns"), False),
        (fault("certificate"), False),
        (fault("deadline"), False),
        (exchange(429), False),
        (exchange(404), False),
        (result({}), False),
    ],
)
def test_what_may_pass_by_itself_is_worth_another_look(answer: Exchange, *, transient: bool) -> None:
    assert outcome.is_transient(answer) is transient


@pytest.mark.parametrize(
    ("url", "reference", "same"),
    [
        ("https://a.example/mcp", "/mcp/", True),
        ("https://a.example/mcp", "mcp/", True),
        ("https://a.example/mcp", "https://A.example:443/mcp/", True),
        ("http://127.0.0.1:8000/mcp", "http://127.0.0.1:8000/mcp/?x=1", True),
        ("https://a.example/mcp", "http://a.example/mcp/", False),
        ("http://a.example/mcp", "https://a.example/mcp", False),
        ("https://a.example/mcp", "https://a.example:8443/mcp", False),
        ("https://a.example/mcp", "//b.example/mcp", False),
        ("https://a.example/mcp", "https://a.example.evil.test/mcp", False),
        ("https://a.example/mcp", "https://a.example@evil.test/mcp", False),
        ("https://a.example/mcp", "https://user:pass@a.example/mcp", False),
        ("https://a.example/mcp", "https://[::1/mcp", False),
        ("https://a.example/mcp", "https://a.example:port/mcp", False),
        ("https://a.example/mcp", "http://169.254.169.254/latest/meta-data", False),
        ("https://a.example/mcp", "file:///etc/passwd", False),
    ],
)
def test_an_origin_is_scheme_host_and_port(url: str, reference: str, *, same: bool) -> None:
    assert outcome.same_origin(url, reference) is same


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (redirect(307, "http://a.example/mcp/"), "it leads away from TLS"),
        (redirect(308, "https://b.example/"), "it leads to another origin"),
        (redirect(307, "https://[::1/"), "it leads to another origin"),
        (redirect(301, "/mcp/"), "clients turn a POST into a GET there"),
        (redirect(307, "/mcp/"), "one redirect is followed, not two"),
    ],
)
def test_a_redirect_that_is_not_followed_says_why(answer: Exchange, reason: str) -> None:
    found = outcome.blocked(answer)
    assert found is not None
    assert found.message.endswith(f": not followed, because {reason}")


def test_a_redirect_without_an_address_says_so() -> None:
    found = outcome.blocked(redirect(307, ""))
    assert found is not None
    assert found.message.startswith("HTTP 307 to an empty Location: not followed")


def opening(answer: Exchange, *, era: Era = Era.LEGACY, established: bool = False) -> Opening:
    return Opening(era=era, attempts=(answer,), established=established)


@pytest.mark.parametrize(
    ("answer", "code", "message"),
    [
        (exchange(200, headers=HTML), "not-mcp", "HTTP 200 with text/html instead of an MCP answer"),
        (exchange(200), "not-mcp", "HTTP 200 with no content type instead of an MCP answer"),
        (result({}), "not-mcp", "HTTP 200, but the answer to initialize names no revision"),
        (exchange(404), "http-4xx", "HTTP 404 to initialize"),
        (
            error(-32601, "Method not found"),
            "no-handshake",
            'HTTP 400: initialize was refused with the error -32601 "Method not found"',
        ),
        (fault("dns"), "dns", "a dns happened"),
        (exchange(401), "auth", "HTTP 401: the server asks for credentials"),
    ],
)
def test_the_last_answer_says_why_there_is_no_surface(answer: Exchange, code: str, message: str) -> None:
    found = outcome.conclude([opening(exchange(404), era=Era.MODERN), opening(answer)])
    assert (found.code, found.message) == (code, message)


def test_unreadable_json_is_named_with_its_fault() -> None:
    unreadable = exchange(
        200, headers=JSON, fault=Fault(code="json", phase="message", message="no JSON at offset 7")
    )
    found = outcome.conclude([opening(unreadable)])
    assert (found.code, found.message) == ("not-mcp", "HTTP 200, but no JSON at offset 7")


def test_a_stream_that_is_not_the_old_transports_is_told_beside_the_refusal() -> None:
    fault = Fault(code="address", phase="message", message="the endpoint event names another origin")
    got = exchange(200, headers=(("content-type", "text/event-stream"),), fault=fault)
    found = outcome.conclude([opening(exchange(405)), opening(got, era=Era.HTTP_SSE)])
    assert found.code == "http-4xx"
    assert found.message.endswith("; GET opens an event stream, but the endpoint event names another origin")


def test_a_stream_that_does_not_begin_is_told_beside_the_refusal() -> None:
    got = exchange(None, fault=Fault(code="timeout", phase="headers", message="no answer came within 20 s"))
    found = outcome.conclude([opening(exchange(404)), opening(got, era=Era.HTTP_SSE)])
    assert found.code == "http-4xx"
    assert "; to GET no answer came within 20 s, as where something on the way holds" in found.message


@pytest.mark.parametrize(
    ("supported", "said"),
    [(["2099-01-01"], "no revision in common: the server lists 2099-01-01"), (["2025-06-18"], "-32022")],
)
def test_a_refusal_that_lists_newer_revisions_alone_is_told_by_them(supported: list[str], said: str) -> None:
    refused = error(-32022, data={"supported": supported, "requested": "2026-07-28"}, status=400)
    found = outcome.conclude([opening(refused, era=Era.MODERN), opening(error(-32601, status=404))])
    assert found.code == "no-handshake"
    assert said in found.message


def test_a_server_of_an_unknown_modern_revision_is_told_by_what_it_lists() -> None:
    discovered = result({"supportedVersions": ["2099-01-01"]})
    found = outcome.conclude([opening(discovered, era=Era.MODERN), opening(error(-32601, status=404))])
    assert (found.code, found.message) == (
        "no-handshake",
        "no revision in common: the server lists 2099-01-01",
    )


def test_stripped_headers_are_told_by_the_error_that_correct_headers_cannot_cause() -> None:
    stripped = exchange(
        400, rpc_method="server/discover", answer={"error": {"code": -32020, "message": "header mismatch"}}
    )
    found = outcome.conclude([opening(stripped, era=Era.MODERN), opening(exchange(404))])
    assert found.code == "no-handshake"
    assert "something before the server strips or changes them" in found.message


def test_a_refusal_that_lists_what_it_refuses_says_so() -> None:
    data = {"supported": ["2025-06-18", "2025-11-25"], "requested": "2024-11-05"}
    found = outcome.conclude(
        [opening(exchange(404), era=Era.MODERN), opening(error(-32602, "no", data=data))]
    )
    assert found.message == (
        'HTTP 400: initialize was refused with the error -32602 "no", at every revision that the refusal '
        "lists: 2025-11-25, 2025-06-18"
    )


def test_one_established_surface_is_enough() -> None:
    found = outcome.conclude([opening(exchange(404), era=Era.MODERN), opening(result({}), established=True)])
    assert (found.code, found.reachable, found.status) == ("ok", True, 200)


@pytest.mark.parametrize(
    ("answers", "reachable"),
    [
        ([fault("dns")], False),
        ([fault("certificate")], False),
        ([exchange(503)], True),
        ([exchange(401)], True),
        ([fault("reset"), exchange(503)], True),
    ],
)
def test_reachable_means_that_any_http_answer_came(answers: list[Exchange], *, reachable: bool) -> None:
    attempts = Opening(era=Era.MODERN, attempts=tuple(answers), established=False)
    assert outcome.conclude([attempts]).reachable is reachable


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (exchange(421, excerpt="Invalid Host header"), 'HTTP 421 to initialize: "Invalid Host header"'),
        (
            exchange(400, excerpt="<title>400 The plain HTTP request was sent to HTTPS port</title>"),
            'HTTP 400 to initialize: "The plain HTTP request was sent to HTTPS port"',
        ),
        (exchange(503, excerpt="<h1>Back at noon</h1>"), 'HTTP 503 to initialize: "Back at noon"'),
        (exchange(403, excerpt='{"message": "policy 7"}'), 'HTTP 403 to initialize: "policy 7"'),
        (
            exchange(200, excerpt="<title>Maintenance</title>", headers=HTML),
            'HTTP 200 with text/html instead of an MCP answer: "Maintenance"',
        ),
    ],
)
def test_a_page_that_came_instead_is_quoted(answer: Exchange, message: str) -> None:
    assert outcome.conclude([opening(answer)]).message == message


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ("<title>400 No required SSL certificate was sent</title>", "client-certificate"),
        ("<title>400 The SSL certificate error</title>", "client-certificate"),
        ("Client certificate required", "client-certificate"),
        ("<title>400 Bad Request</title>", "http-4xx"),
    ],
)
def test_a_client_certificate_that_is_missed_after_the_handshake_is_a_shut_door(said: str, code: str) -> None:
    found = outcome.conclude([opening(exchange(400, excerpt=said, headers=HTML))])
    assert found.code == code
    answered = error(-32600, "no client certificate in params")
    assert outcome.conclude([opening(answered)]).code == "no-handshake"


def test_the_answer_to_an_earlier_request_is_not_taken_for_a_lack_of_revisions() -> None:
    late = replace(
        result({"supportedVersions": ["2026-07-28"]}),
        remarks=(Remark(code="id-wrong", message="the only answer carries another id"),),
    )
    found = outcome.conclude([opening(late)])
    assert found.code == "no-handshake"
    assert found.message == "HTTP 200, but what came does not carry the id of initialize"


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ("3600", ", and it asks for a pause of 3600 s"),
        ("Mon, 30 Nov 2026 18:00:00 GMT", ", and it asks for a pause until Mon, 30 Nov 2026 18:00:00 GMT"),
        ("", ""),
        (None, ""),
    ],
)
def test_the_pause_that_a_limit_asks_for_has_a_unit(wanted: str | None, said: str) -> None:
    headers = () if wanted is None else (("retry-after", wanted),)
    found = outcome.blocked(exchange(429, headers=headers))
    assert found is not None
    assert found.message == f"HTTP 429: the server limits how often it is asked{said}"


@pytest.mark.parametrize(("status", "transient"), [(500, True), (503, True), (501, False), (505, False)])
def test_what_a_server_does_not_implement_is_not_asked_for_again(status: int, transient: bool) -> None:  # noqa: FBT001
    assert outcome.is_transient(exchange(status=status)) is transient
