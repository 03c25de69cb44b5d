"""Whatever a server sends, every check answers, and none of them by a crash."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftwatch import checks
from driftwatch.checks import Policy
from driftwatch.evidence import Evidence
from driftwatch.model import Era, Json, State
from tests.checks.factories import evidence, exchange, listing, surface

KEYWORDS = [
    *(
        "name",
        "description",
        "title",
        "inputSchema",
        "type",
        "properties",
        "required",
        "items",
        "prefixItems",
    ),
    *("anyOf", "oneOf", "allOf", "$ref", "$defs", "additionalProperties", "enum", "format", "const", "then"),
    *("x-mcp-header", "annotations", "outputSchema", "patternProperties", "dependentSchemas", "_meta"),
    *("url", "when", "startTime"),
]
VALUES = [
    "object",
    "string",
    "null",
    "#",
    "#/$defs/a",
    "#/inputSchema",
    "#/properties/url/~1",
    "date-time",
    "",
]

scalars = (
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(VALUES) | st.text(max_size=20)
)
anything: st.SearchStrategy[Json] = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(KEYWORDS) | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=40,
)
tools = st.lists(
    anything | st.fixed_dictionaries({"name": anything, "inputSchema": anything}), max_size=5
).map(tuple)


def answered(seen: Evidence) -> dict[str, State]:
    results = checks.run(seen, fingerprints={}, remembered={}, policy=Policy())
    assert [result.check for result in results] == [declaration.id for declaration in checks.catalogue]
    assert not [result.reason for result in results if result.code == "bug"]
    for result in results:
        assert result.reason or result.state is not State.NOT_CHECKED
        assert bool(result.findings) is (result.state in {State.FAILED, State.OBSERVED_RISK})
        assert all(finding.message.endswith(".") and finding.subject for finding in result.findings)
    return {result.check: result.state for result in results}


@given(tools=tools, instructions=st.none() | st.text(max_size=50), revision=st.text(max_size=12))
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_json_in_the_place_of_tools_is_judged(
    tools: tuple[Json, ...], instructions: str | None, revision: str
) -> None:
    changes: dict[str, Any] = {"listing": listing(*tools), "instructions": instructions, "revision": revision}
    answered(evidence(surface(Era.MODERN, **changes), surface(Era.LEGACY, **changes)))


@given(schema=anything)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_json_in_the_place_of_a_schema_is_judged(schema: Json) -> None:
    answered(evidence(surface(Era.MODERN, {"name": "t", "description": "d", "inputSchema": schema})))


answers = anything | st.fixed_dictionaries(
    {},
    optional={
        "result": anything | st.fixed_dictionaries({"isError": anything, "content": st.lists(anything)}),
        "error": anything
        | st.fixed_dictionaries(
            {
                "code": st.sampled_from([-32601, -32602, -32020, -32022, -32001]) | anything,
                "data": anything | st.fixed_dictionaries({"supported": st.lists(anything) | anything}),
            }
        ),
    },
)
PARTS = (
    *("get", "json_only", "foreign_origin", "unknown_method", "invalid_cursor", "header_mismatch"),
    *("unsupported_version", "tool_arguments", "session_after_end"),
)


@given(
    answer=answers,
    status=st.none() | st.sampled_from([200, 202, 302, 400, 401, 403, 404, 405, 406, 429, 500, 503]),
    content_type=st.none() | st.sampled_from(["application/json", "text/event-stream", "text/html", ""]),
    revision=st.sampled_from(["2025-06-18", "2025-11-25", "2026-07-28", "never"]),
)
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_answer_to_what_a_full_probe_asks_is_judged(
    answer: Json, status: int | None, content_type: str | None, revision: str
) -> None:
    # The wire hands out an object or nothing.
    answer = answer if isinstance(answer, dict) else None
    reply = exchange("anything", status, content_type=content_type, answer=answer)
    changes: dict[str, Any] = {"revision": revision, **dict.fromkeys(PARTS, reply)}
    answered(evidence(surface(Era.MODERN, **changes), surface(Era.LEGACY, session=True, **changes)))


def test_a_healthy_server_has_no_finding() -> None:
    states = answered(evidence())
    assert {check for check, state in states.items() if state is not State.VERIFIED} == {
        *("release/fingerprint", "auth/challenge", "auth/resource-metadata", "auth/invalid-token"),
        *("auth/credential", "auth/credential-echo"),
    }
