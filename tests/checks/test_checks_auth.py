"""Authorization, judged without a socket: how a resource differs, and whatever else metadata may say."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftwatch import checks
from driftwatch.evidence import NEEDS_FULL, Authorization, Exchange, Metadata, Missing, Remark
from driftwatch.model import Depth, Era, Json, Result, State
from driftwatch.probe.credentials import challenge
from tests.checks.factories import (
    evidence,
    exchange,
    fault,
    judged,
    listing,
    schema,
    shut,
    surface,
    tool,
)
from tests.checks.test_any_evidence import anything

ENDPOINT = "https://h.example/mcp"
WELL_KNOWN = "https://h.example/.well-known/oauth-protected-resource"
NAMED = f'Bearer resource_metadata="{WELL_KNOWN}/mcp"'


def looked(place: str = "path", status: int | None = 200, **changes: Any) -> Metadata:
    suffix = "" if place == "root" else "/mcp"
    changes = {"content_type": "application/json", **changes}
    reply = exchange("GET", status, http_method="GET", rpc_method=None, **changes)
    return Metadata(place=place, url=WELL_KNOWN + suffix, reply=reply)


def document(**changes: Json) -> dict[str, Json]:
    return {"resource": ENDPOINT, "authorization_servers": ["https://as.example"], **changes}


def authorization(header: str | None = NAMED, status: int = 401, **changes: Any) -> Authorization:
    headers = () if header is None else (("www-authenticate", header),)
    challenges, malformed = challenge.parse(value for _, value in headers)
    values: dict[str, Any] = {
        "refusal": exchange("server/discover", status, headers=headers),
        "challenges": challenges,
        "malformed": malformed,
        "resource": ENDPOINT,
        "metadata": (looked(answer=document()),),
        "invalid_token": exchange("server/discover", 401),
    }
    return Authorization(**{**values, **changes})


def judge(check: str, seen: Authorization | Missing, *surfaces: Any, **changes: Any) -> Result:
    return judged(check, evidence(*surfaces, authorization=seen, **changes))


def resource_of(named: Json, resource: str = ENDPOINT) -> tuple[State, str | None]:
    seen = authorization(metadata=(looked(answer=document(resource=named)),), resource=resource)
    found = judge("auth/resource-metadata", seen)
    return found.state, found.code


@pytest.mark.parametrize(
    ("named", "resource"),
    [
        (ENDPOINT, ENDPOINT),
        ("HTTPS://H.example:443/mcp", ENDPOINT),
        ("https://h.example", "https://h.example/"),
        ("https://h.example/", "https://h.example"),
        ("http://127.0.0.1:80/mcp", "http://127.0.0.1/mcp"),
    ],
)
def test_one_address_in_two_forms_is_the_same_resource(named: str, resource: str) -> None:
    assert resource_of(named, resource) == (State.VERIFIED, None)


@pytest.mark.parametrize(
    ("named", "code"),
    [
        ("https://h.example/mcp/", "last-slash"),
        ("http://h.example/mcp", "other-scheme"),
        ("https://h.example:8443/mcp", "other-resource"),
        ("https://other.example/mcp", "other-resource"),
        ("https://h.example/MCP", "other-resource"),
        ("https://h.example/mcp/v1", "other-resource"),
        ("https://h.example/mcp?a=1", "other-resource"),
        ("https://h.example/mc", "other-resource"),
        ("/mcp", "no-resource"),
        ("h.example/mcp", "no-resource"),
        ("https://[::1", "no-resource"),
        ("", "no-resource"),
        (None, "no-resource"),
        (["https://h.example/mcp"], "no-resource"),
    ],
)
def test_another_resource_is_failed_with_how_it_differs(named: Json, code: str) -> None:
    assert resource_of(named) == (State.FAILED, code)


@pytest.mark.parametrize("named", ["https://h.example", "https://h.example/"])
def test_a_resource_above_the_endpoint_is_a_risk(named: str) -> None:
    assert resource_of(named) == (State.OBSERVED_RISK, "broader-resource")


@pytest.mark.parametrize(
    ("revision", "header", "expected"),
    [
        ("2025-03-26", None, (State.OBSERVED_RISK, "absent")),
        ("2025-06-18", None, (State.FAILED, "absent")),
        ("2025-11-25", None, (State.OBSERVED_RISK, "absent")),
        ("2025-03-26", "Bearer", (State.VERIFIED, None)),
        ("2025-06-18", "Bearer", (State.FAILED, "no-metadata-url")),
        ("2025-11-25", "Bearer", (State.OBSERVED_RISK, "no-metadata-url")),
        ("2025-06-18", NAMED, (State.VERIFIED, None)),
    ],
)
def test_the_revision_decides_what_the_challenge_has_to_say(
    revision: str, header: str | None, expected: tuple[State, str | None]
) -> None:
    found = judge("auth/challenge", authorization(header), surface(revision=revision))
    assert (found.state, found.code) == expected


def test_of_two_surfaces_the_newer_one_decides() -> None:
    older, newer = surface(revision="2025-06-18"), surface(revision="2025-11-25")
    found = judge("auth/challenge", authorization(None), older, newer)
    assert found.state is State.OBSERVED_RISK


@pytest.mark.parametrize(
    "code", ["dns", "timeout", "tls", "bot-page", "access-gate", "rate-limited", "forbidden"]
)
def test_what_hides_the_server_hides_its_authorization(code: str) -> None:
    seen = shut(code)
    hidden = judged("auth/challenge", shut(code, authorization=seen.blocker))
    assert (hidden.state, hidden.code) == (State.NOT_CHECKED, code)
    ours = judged("auth/credential", shut(code, credential="token"))
    assert (ours.state, ours.code) == (State.NOT_CHECKED, code)


def test_a_light_probe_says_what_it_saw_and_leaves_the_rest_to_a_full_one() -> None:
    seen = authorization(None, metadata=NEEDS_FULL, invalid_token=NEEDS_FULL)
    for check in ("auth/challenge", "auth/resource-metadata", "auth/invalid-token"):
        found = judge(check, seen, depth=Depth.LIGHT)
        assert (found.state, found.code) == (State.NOT_CHECKED, "depth")


metadata = st.lists(
    st.builds(
        looked,
        st.sampled_from(["header", "path", "root", "rfc8414"]),
        st.sampled_from([None, 200, 302, 404, 429, 500]),
        answer=st.none() | st.dictionaries(st.sampled_from(["resource", "authorization_servers"]), anything),
        content_type=st.sampled_from([None, "text/html", "application/json"]),
        fault=st.sampled_from([None, fault("timeout")]),
    ),
    min_size=1,
    max_size=4,
).map(tuple)


@given(
    metadata=metadata,
    header=st.none() | st.text(max_size=60),
    status=st.sampled_from([200, 302, 400, 401, 403, 503]),
    revision=st.sampled_from(["2024-11-05", "2025-06-18", "2026-07-28", "never"]),
    resource=st.sampled_from([ENDPOINT, "", "https://[::1"]),
)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_whatever_a_server_says_of_its_authorization_is_judged(
    metadata: tuple[Metadata, ...], header: str | None, status: int, revision: str, resource: str
) -> None:
    reply: Exchange = exchange("server/discover", status)
    seen = authorization(header, status, metadata=metadata, invalid_token=reply, resource=resource)
    for check in ("auth/challenge", "auth/resource-metadata", "auth/invalid-token", "auth/credential"):
        found = judge(check, seen, surface(revision=revision), credential="token")
        assert found.code != "bug", found.reason
        assert found.reason or found.state is not State.NOT_CHECKED


def echoing(*tools: Json, code: str = "credential-echo", **changes: Any) -> Any:
    remarks = (Remark(code=code, message="at /result/tools/0/name"),) if code else ()
    page = exchange("tools/list", remarks=remarks)
    return evidence(surface(listing=listing(*tools, exchanges=(page,))), **{"credential": "token", **changes})


def test_a_credential_that_comes_back_is_said_with_its_place() -> None:
    result = judged("auth/credential-echo", echoing(tool("get_<token>")))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "echoed")
    (finding,) = result.findings
    assert (finding.subject, finding.measured) == ("tools/list", "<token> at /result/tools/0/name")
    assert judged("auth/credential-echo", echoing(tool(), code="")).state is State.VERIFIED


def marked(mark: str) -> dict[str, Json]:
    """A tool with a mark in whatever its rules look at, and nothing else that they have against it."""
    parameters = {
        f"{mark} {mark}": {"type": "string", "title": mark, "description": mark},
        "kind": {"type": "string", "enum": [mark], "default": mark, "x-mcp-header": "Kind"},
    }
    output = {"type": "object", "properties": {mark: {"const": mark}}}
    return tool(
        f"get_{mark}", description=mark, title=mark, inputSchema=schema(**parameters), outputSchema=output
    )


@pytest.mark.parametrize(
    ("mark", "code"),
    [
        ("<token>", "credential-echo"),
        ("<url-secret>", "url-echo"),
        ("<session>", "other-echo"),
        ("<redacted>", "other-echo"),
    ],
)
@pytest.mark.parametrize(
    "check", [declared.id for declared in checks.catalogue if "tools" in declared.needs], ids=str
)
def test_no_rule_judges_the_mark_that_stands_in_a_secrets_place(check: str, mark: str, code: str) -> None:
    seen = echoing(marked(mark), code=code)
    seen = replace(seen, surfaces=(replace(seen.surfaces[0], era=Era.MODERN, revision="2026-07-28"),))
    assert judged(check, seen).state is State.VERIFIED


def test_findings_about_a_tool_whose_name_held_a_secret_call_it_as_the_report_does() -> None:
    (finding,) = judged("tool/missing-description", echoing(tool("get_<token>", description=""))).findings
    assert finding.subject == "get_<token>"


def test_what_looks_like_the_mark_and_is_the_servers_own_is_judged() -> None:
    assert judged("tool/name-charset", echoing(tool("get_<token>"), code="")).code == "charset"
