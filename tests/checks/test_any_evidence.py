"""Whatever a server sends, every check answers, and none of them by a crash."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftwatch import checks
from driftwatch.checks import Policy
from driftwatch.evidence import Evidence
from driftwatch.model import Era, Json, State
from tests.checks.factories import evidence, listing, surface

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


def test_a_healthy_server_has_no_finding() -> None:
    states = answered(evidence())
    assert {check for check, state in states.items() if state is not State.VERIFIED} == {
        *("release/fingerprint", "auth/challenge", "auth/resource-metadata", "auth/invalid-token"),
        "auth/credential",
    }
