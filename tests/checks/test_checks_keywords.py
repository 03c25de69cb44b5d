"""Schemas against the rules of JSON Schema, dialect by dialect."""

from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftwatch.checks.dialects import dialect
from driftwatch.checks.json_schema import MAX_PLACES
from driftwatch.checks.keywords import misuses
from driftwatch.model import Era, Json, State
from tests.checks.factories import evidence, judged, schema, surface, tool

NEWEST = "https://json-schema.org/draft/2020-12/schema"
DRAFT_07 = "http://json-schema.org/draft-07/schema#"
DRAFT_04 = "http://json-schema.org/draft-04/schema#"
DRAFT_03 = "http://json-schema.org/draft-03/schema#"


def found(revision: str = "2026-07-28", **members: Json) -> list[tuple[str, str]]:
    """Code and measured value of what is wrong with the schemas of a tool."""
    era = Era.MODERN if revision == "2026-07-28" else Era.LEGACY
    result = judged("schema/invalid", evidence(surface(era, tool(**members), revision=revision)))
    assert result.state is (State.FAILED if result.findings else State.VERIFIED)
    return [(finding.code, finding.measured) for finding in result.findings]


def of_parameter(
    keywords: Json, revision: str = "2026-07-28", root: dict[str, Json] | None = None
) -> list[tuple[str, str]]:
    return found(revision, inputSchema={**schema(a=keywords), **(root or {})})


@pytest.mark.parametrize("revision", ["2024-11-05", "2025-06-18", "2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("members", "measured"),
    [
        ({"properties": []}, "/inputSchema/properties is an empty list"),
        ({"required": "a"}, '/inputSchema/required is "a"'),
        ({"required": [1]}, "/inputSchema/required is [1]"),
        ({"required": True}, "/inputSchema/required is true"),
    ],
)
def test_a_root_that_clients_cannot_read_fails_in_every_revision(
    revision: str, members: dict[str, Json], measured: str
) -> None:
    seen = evidence(surface(Era.LEGACY, tool(inputSchema={"type": "object", **members}), revision=revision))
    (finding,) = judged("schema/invalid", seen).findings
    assert (finding.code, finding.measured) == ("keyword", measured)
    sdks = "TypeScript SDK drop" if revision == "2026-07-28" else "official SDKs drop"
    assert f"clients on the {sdks} the whole list" in finding.message


@pytest.mark.parametrize(
    ("members", "measured", "told"),
    [
        ({"properties": None}, "/inputSchema/properties is null", "on the TypeScript SDK drop"),
        ({"required": None}, "/inputSchema/required is null", "on the TypeScript SDK drop"),
        (
            {"required": ["a", "b", "a", "b"]},
            '/inputSchema/required is ["a", "b", "a", …]',
            "interfaces of models and validators",
        ),
    ],
)
def test_of_a_root_that_some_clients_read_those_that_do_not_are_named(
    members: dict[str, Json], measured: str, told: str
) -> None:
    seen = evidence(surface(Era.LEGACY, tool(inputSchema={"type": "object", **members})))
    (finding,) = judged("schema/invalid", seen).findings
    assert finding.measured == measured
    assert told in finding.message


@pytest.mark.parametrize(
    ("keywords", "code", "measured"),
    [
        ({"enum": "a"}, "keyword", '/enum is "a"'),
        ({"minimum": "1"}, "keyword", '/minimum is "1"'),
        ({"exclusiveMinimum": True}, "keyword", "/exclusiveMinimum is true"),
        ({"multipleOf": 0}, "keyword", "/multipleOf is 0"),
        ({"maxLength": -1}, "keyword", "/maxLength is -1"),
        ({"minItems": 1.5}, "keyword", "/minItems is 1.5"),
        ({"required": True}, "keyword", "/required is true"),
        ({"description": None}, "keyword", "/description is null"),
        ({"format": 5}, "keyword", "/format is 5"),
        ({"pattern": None}, "keyword", "/pattern is null"),
        ({"examples": "x"}, "keyword", '/examples is "x"'),
        ({"anyOf": []}, "keyword", "/anyOf is an empty list"),
        ({"anyOf": {"type": "string"}}, "keyword", "/anyOf is an object"),
        ({"items": [{"type": "string"}]}, "keyword", "/items is [an object]"),
        ({"not": "string"}, "keyword", '/not is "string"'),
        ({"readOnly": "yes"}, "keyword", '/readOnly is "yes"'),
        ({"$ref": 5}, "keyword", "/$ref is 5"),
        ({"$defs": []}, "keyword", "/$defs is an empty list"),
        ({"type": None}, "keyword", "/type is null"),
        ({"type": []}, "type", "/type is an empty list"),
        ({"type": "str"}, "type", '/type is "str"'),
        ({"type": ["string", "date"]}, "type", '/type is ["string", "date"]'),
        ({"$ref": "#/$defs/nope"}, "reference", '/$ref is "#/$defs/nope"'),
        ({"$ref": "#/components/schemas/User"}, "reference", '/$ref is "#/components/schemas/User"'),
    ],
)
def test_a_keyword_with_a_value_that_it_cannot_have_fails(
    keywords: dict[str, Json], code: str, measured: str
) -> None:
    assert of_parameter(keywords) == [(code, f"/inputSchema/properties/a{measured}")]


def test_every_written_subschema_counts_used_or_not() -> None:
    deep = {"type": "object", "properties": {"b": {"items": {"anyOf": [{"not": {"minimum": "1"}}]}}}}
    assert of_parameter(deep)
    assert of_parameter({}, root={"$defs": {"unused": {"type": "int"}}})
    assert of_parameter({"if": True, "then": {"type": "int"}})
    assert found(outputSchema={"type": "object", "properties": {"a": "string"}}) == [
        ("keyword", '/outputSchema/properties/a is "string"')
    ]


@pytest.mark.parametrize(
    "keywords",
    [
        {"enum": [], "const": None, "default": {"type": "str"}, "examples": [{"minimum": "1"}]},
        {"x-order": None, "nullable": "yes", "example": 5, "discriminator": []},
        {"minLength": 0.0, "maximum": 1e300, "multipleOf": 0.01},
        {"type": ["string", "null"], "additionalItems": "x"},
        {"$ref": "https://schemas.invalid/a.json"},
        {"$ref": "#anchor"},
        {"properties": {"again": {"$ref": "#/properties/a"}}, "items": {"$ref": "#"}},
        {"items": False, "prefixItems": [True]},
        {"dependentRequired": {"b": ["a"]}, "properties": {"type": {"type": "string"}}},
    ],
)
def test_what_json_schema_allows_is_fine(keywords: dict[str, Json]) -> None:
    assert of_parameter(keywords) == []


@pytest.mark.parametrize(
    ("declared", "keywords", "valid"),
    [
        (NEWEST, {"items": [{}]}, False),
        (DRAFT_07, {"items": [{}]}, True),
        (DRAFT_07, {"items": [{"type": "str"}]}, False),
        (DRAFT_07, {"prefixItems": "x"}, True),
        (DRAFT_07, {"exclusiveMinimum": True}, False),
        (DRAFT_04, {"exclusiveMinimum": True}, True),
        (DRAFT_04, {"examples": "x"}, True),
        (DRAFT_04, {"minimum": "1"}, False),
        (DRAFT_03, {"required": True, "type": "any"}, True),
        (5, {}, False),
    ],
)
def test_a_schema_is_judged_by_the_dialect_that_it_declares(
    declared: Json, keywords: dict[str, Json], *, valid: bool
) -> None:
    assert (of_parameter(keywords, root={"$schema": declared}) == []) is valid


@pytest.mark.parametrize(
    ("revision", "keywords", "valid"),
    [
        ("2025-06-18", {"items": [{}]}, True),
        ("2025-06-18", {"exclusiveMinimum": True}, True),
        ("2025-06-18", {"minimum": "1"}, False),
        ("2025-11-25", {"items": [{}]}, False),
        ("2025-11-25", {"exclusiveMinimum": True}, False),
    ],
)
def test_without_a_declared_dialect_the_revision_decides(
    revision: str, keywords: dict[str, Json], *, valid: bool
) -> None:
    assert (of_parameter(keywords, revision) == []) is valid


def test_references_within_a_part_with_an_id_of_its_own_are_relative_to_it() -> None:
    part = {"$id": "https://example.org/part", "$ref": "#/$defs/here", "$defs": {"here": {}}}
    assert of_parameter(part) == []
    lost = ("reference", '/inputSchema/properties/a/$ref is "#/$defs/there"')
    assert of_parameter({**part, "$ref": "#/$defs/there"}) == [lost]
    root = {"$id": "https://example.org/whole", "$defs": {"b": {"$id": "part", "$defs": {"c": {}}}}}
    assert of_parameter({"$ref": "part#/$defs/c"}, root=root) == []
    assert of_parameter({"$ref": "whole#/$defs/b"}, root=root) == []
    assert of_parameter({"$ref": "part#/$defs/d"}, root=root) == [
        ("reference", '/inputSchema/properties/a/$ref is "part#/$defs/d"')
    ]


BESIDE = {"$ref": "#/definitions/A", "type": "str", "minLength": -1, "properties": []}


@pytest.mark.parametrize("declared", [DRAFT_04, DRAFT_07])
def test_what_stands_beside_a_reference_is_nothing_until_draft_07(declared: str) -> None:
    root: dict[str, Json] = {"$schema": declared, "definitions": {"A": {"minLength": 1}}}
    assert of_parameter(BESIDE, root=root) == []
    whole = {**root, "type": "object", "$ref": "#/definitions/A", "minProperties": "1"}
    assert found(inputSchema=whole) == []
    whole["definitions"] = {"A": {"minLength": -1}}
    assert found(inputSchema=whole) == [("keyword", "/inputSchema/definitions/A/minLength is -1")]


def test_what_stands_beside_a_reference_counts_since_2019_09_and_for_clients_at_the_root() -> None:
    ((code, measured),) = of_parameter(BESIDE, root={"definitions": {"A": {}}})
    assert (code, measured.count(" is ")) == ("keyword", 3)
    root: dict[str, Json] = {"$schema": DRAFT_07, "type": "object", "$ref": "#/definitions/A"}
    root |= {"definitions": {"A": {}}, "required": "a"}
    assert found(inputSchema=root) == [("keyword", '/inputSchema/required is "a"')]


@pytest.mark.parametrize("checked", ["schema/missing-required", "schema/semantic-format"])
def test_no_check_counts_what_stands_beside_a_reference_in_draft_07(checked: str) -> None:
    root: dict[str, Json] = {"type": "object", "properties": {"url": {"type": "string"}}}
    root |= {"$ref": "#/definitions/A", "definitions": {"A": {"type": "object"}}}
    for declared, state in ((DRAFT_07, State.VERIFIED), (NEWEST, State.OBSERVED_RISK)):
        seen = evidence(surface(Era.MODERN, tool(inputSchema={"$schema": declared, **root})))
        assert judged(checked, seen).state is state


@pytest.mark.parametrize(
    "root",
    [
        {"type": "object", "$ref": "#"},
        {"type": "object", "$schema": DRAFT_07, "$ref": "#"},
        {"type": "object", "$id": "https://example.org/a", "$ref": "a"},
        {"type": "object", "allOf": [{"$ref": "#/allOf/0"}]},
        {"type": "object", "allOf": [{}, {"anyOf": [{"$ref": "#"}, {}]}]},
        schema(a={"$ref": "#/properties/a"}),
        {
            **schema(a={"$ref": "#/$defs/a"}),
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}},
        },
    ],
)
def test_a_reference_that_only_leads_back_to_itself_has_no_end(root: dict[str, Json]) -> None:
    ((code, measured),) = found(inputSchema=root)
    assert code == "endless"
    assert "$ref is " in measured


@pytest.mark.parametrize(
    "root",
    [
        schema(a={"$ref": "#"}, b={"type": "array", "items": {"$ref": "#"}}),
        {**schema(), "additionalProperties": {"$ref": "#"}},
        {
            **schema(a={"$ref": "#/$defs/tree"}),
            "$defs": {"tree": {"anyOf": [{"type": "null"}, {"items": {"$ref": "#/$defs/tree"}}]}},
        },
        {**schema(a={"$ref": "#/$defs/x"}, b={"$ref": "#/$defs/x"}), "$defs": {"x": {"allOf": [{}, {}]}}},
        {**schema(), "allOf": [{"$ref": "#/$defs/x"}, {"$ref": "#/$defs/x"}], "$defs": {"x": {}}},
    ],
)
def test_a_schema_that_contains_itself_is_fine(root: dict[str, Json]) -> None:
    assert found(inputSchema=root) == []


@pytest.mark.parametrize("pattern", ["[", "(a", "a)", "*", "a{2,1}", "^+", "[z-a]", "\\", "(?<1>a)"])
def test_a_pattern_that_is_no_regular_expression_fails(pattern: str) -> None:
    ((code, measured),) = of_parameter({"pattern": pattern})
    assert (code, "/pattern is " in measured) == ("pattern", True)
    ((code, _),) = of_parameter({"patternProperties": {pattern: {}}})
    assert code == "pattern"


def test_a_pattern_of_another_engine_is_a_risk_and_no_failure() -> None:
    for pattern in ("(?P<year>[0-9]{4})", "(?i)abc", "(?>a)", "a++"):
        seen = evidence(surface(Era.MODERN, tool(inputSchema=schema(a={"pattern": pattern}))))
        result = judged("schema/invalid", seen)
        assert (result.state, result.code) == (State.OBSERVED_RISK, "pattern-syntax")
    worse = {"pattern": "(?i)a", "minLength": "1"}
    assert of_parameter(worse) == [("keyword", '/inputSchema/properties/a/minLength is "1"')]


def test_a_dialect_that_clients_need_not_know_is_a_risk_since_revisions_speak_of_dialects() -> None:
    own = {"$schema": "https://example.org/own-dialect", **schema(a={"minimum": "1"})}
    for revision, code in (("2025-06-18", None), ("2025-11-25", "dialect")):
        seen = evidence(surface(Era.LEGACY, tool(inputSchema=own), revision=revision))
        result = judged("schema/invalid", seen)
        assert (result.state is State.OBSERVED_RISK, result.code) == (code is not None, code)


EXTERNAL = {"$ref": "https://schemas.invalid/a.json"}


@pytest.mark.parametrize(
    ("members", "measured"),
    [
        ({"inputSchema": schema(a=EXTERNAL)}, '"https://schemas.invalid/a.json"'),
        ({"inputSchema": schema(a={"items": {"$ref": "common.json#/A"}})}, '"common.json#/A"'),
        ({"outputSchema": EXTERNAL}, '"https://schemas.invalid/a.json"'),
        (
            {"inputSchema": {**schema(a={"$ref": "other"}), "$id": "https://example.org/whole"}},
            '"other"',
        ),
    ],
)
def test_a_reference_to_another_document_is_a_risk_at_2026_07_28(
    members: dict[str, Json], measured: str
) -> None:
    result = judged("schema/external-reference", evidence(surface(Era.MODERN, tool(**members))))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "external")
    assert [finding.measured for finding in result.findings] == [measured]
    legacy = judged("schema/external-reference", evidence(surface(Era.LEGACY, tool(**members))))
    assert legacy.code == "not-applicable"


@pytest.mark.parametrize(
    "schema",
    [
        schema(a={"$ref": "#/properties/b"}, b={}),
        schema(a={"$ref": "#anchor"}, b={"$anchor": "anchor"}),
        {**schema(a={"$ref": "part"}), "$defs": {"b": {"$id": "part"}}},
        {**schema(a={"$ref": "whole#/$defs/b"}), "$id": "https://example.org/whole", "$defs": {"b": {}}},
        schema(a={"$ref": "https://json-schema.org/draft/2020-12/schema"}),
        schema(a={"default": EXTERNAL, "examples": [EXTERNAL], "enum": [EXTERNAL]}),
        {**schema(), "x-note": EXTERNAL},
    ],
)
def test_what_a_schema_brings_along_is_not_elsewhere(schema: dict[str, Json]) -> None:
    seen = evidence(surface(Era.MODERN, tool(inputSchema=schema)))
    assert judged("schema/external-reference", seen).state is State.VERIFIED


def test_what_another_check_says_is_not_said_twice() -> None:
    assert of_parameter("string") == []
    assert of_parameter({"items": 3}) == []
    assert found(inputSchema={"type": "array", "items": 3}) == []
    assert found(inputSchema=None, outputSchema=None) == []
    assert found("2025-03-26", outputSchema={"type": "int"}) == []


def test_a_schema_with_many_faults_is_one_finding_whose_order_is_not_the_servers() -> None:
    properties = {name: {"type": "str"} for name in "fedcba"}
    (one,) = found(inputSchema=schema(**properties))
    assert one == (
        "type",
        '/inputSchema/properties/a/type is "str", /inputSchema/properties/b/type is "str" and 4 more',
    )


PAIR = {"type": "array", "items": [{"type": "string"}, {"type": "string"}]}
DRAFT_7 = "http://json-schema.org/draft-07/schema#"


@pytest.mark.parametrize(
    ("part", "pointers"),
    [
        ({**PAIR, "$id": "urn:pair", "$schema": DRAFT_7}, []),
        ({"$schema": DRAFT_7, "properties": {"x": PAIR}}, []),
        ({"$schema": DRAFT_7, "$id": "urn:pair", "minimum": "1"}, ["/properties/pair/minimum"]),
        ({**PAIR, "$id": "urn:pair"}, ["/properties/pair/items"]),
        ({**PAIR, "$schema": "https://example.org/own-dialect", "minimum": "1"}, []),
    ],
)
def test_a_part_with_a_dialect_of_its_own_is_judged_by_that(
    part: dict[str, Json], pointers: list[str]
) -> None:
    whole: dict[str, Json] = {"type": "object", "properties": {"pair": part}}
    known = dialect(whole, "2026-07-28")
    assert known is not None
    assert [one.pointer for one in misuses(whole, "", known)] == pointers


@pytest.mark.parametrize(
    "endless", [{"anyOf": [1] * 100_000}, {"properties": {f"p{number}": None for number in range(100_000)}}]
)
def test_of_endless_faults_a_bounded_number_is_looked_at(endless: dict[str, Json]) -> None:
    known = dialect(endless, "2026-07-28")
    assert known is not None
    assert 0 < len(list(misuses(endless, "", known))) <= MAX_PLACES


KEYWORDS = [
    *("type", "properties", "required", "items", "prefixItems", "anyOf", "not", "if", "additionalProperties"),
    *("enum", "const", "default", "examples", "minimum", "exclusiveMinimum", "multipleOf", "maxLength"),
    *("uniqueItems", "title", "$defs", "dependentRequired", "dependentSchemas", "contains", "unknown"),
]
values: st.SearchStrategy[Json] = st.sampled_from(
    [None, True, 3, -1, 1.5, 2.0, "string", "str", "#", [], ["a"], ["a", "a"], ["string", "null"], [1], {}]
)
schemas: st.SearchStrategy[Json] = st.recursive(
    values,
    lambda inner: (
        st.dictionaries(st.sampled_from(KEYWORDS), inner, max_size=3)
        | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
        | st.lists(inner, max_size=2)
    ),
    max_leaves=15,
)


@pytest.mark.parametrize(
    ("declared", "validator"),
    [(NEWEST, jsonschema.Draft202012Validator), (DRAFT_07, jsonschema.Draft7Validator)],
)
@given(written=st.dictionaries(st.sampled_from(KEYWORDS), schemas, max_size=4))
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_the_verdict_is_that_of_the_metaschema(
    declared: str, validator: Any, written: dict[str, Json]
) -> None:
    known = dialect({"$schema": declared}, "2026-07-28")
    assert known is not None
    wrong = [one for one in misuses(written, "", known) if one.code != "reference"]
    meta = validator(validator.META_SCHEMA)
    if meta.is_valid(written):
        # Draft-07 does not know $defs, but who writes it there means definitions.
        assert not wrong or all("/$defs" in one.pointer for one in wrong)
    else:
        assert wrong
