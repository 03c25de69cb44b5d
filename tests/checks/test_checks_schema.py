from typing import Any

import pytest

from driftwatch.checks import Policy
from driftwatch.model import Era, Json, Severity, State
from tests.checks.factories import evidence, judged, of_tools, schema, surface, tool

STRING = {"type": "string"}


def with_schema(root: Json, name: str = "add_note") -> Json:
    return tool(name, inputSchema=root)


def semantic(**properties: Json) -> list[str]:
    """The parameters that lack a format."""
    result = of_tools("schema/semantic-format", with_schema(schema(**properties)))
    return [name for finding in result.findings for name in finding.measured.split(" and ")]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("time", "date-time"),
        ("collection_time", "date-time"),
        ("startTime", "date-time"),
        ("STARTED_AT", "date-time"),
        ("due-date", "date-time"),
        ("when", "date-time"),
        ("time_interval_name", "date-time"),
        ("HTTPTime", "date-time"),
        ("time2", "date-time"),
        ("email", "email"),
        ("contact.mail", "email"),
        ("repo_url", "uri"),
        ("attachUrl", "uri"),
        ("webhook endpoint", "uri"),
        ("URL", "uri"),
        ("date_url", "uri"),  # the last word decides
        ("url_date", "date-time"),
    ],
)
def test_a_word_of_the_name_promises_a_format(name: str, kind: str) -> None:
    assert semantic(**{name: STRING}) == [f"{name}: {kind}"]


@pytest.mark.parametrize(
    "name",
    [
        "format",
        "category",
        "status",
        "update",
        "data",
        "timezone",
        "datetimes",
        "curl",
        "hyperlinks",
        "",
        "id",
    ],
)
def test_a_substring_promises_nothing(name: str) -> None:
    assert semantic(**{name: STRING}) == []


@pytest.mark.parametrize(
    "settled",
    [
        {"type": "string", "format": "date"},
        {"type": "string", "enum": ["now"]},
        {"type": "string", "const": "now"},
        {"type": "integer"},
        {"type": ["string", "integer"]},
        {"type": "array", "items": STRING},
        {"anyOf": [{"type": "string", "format": "date-time"}, {"type": "null"}]},
        {"anyOf": [STRING, {"type": "integer"}]},
        {"description": "no type at all"},
        True,
        None,
        {},
    ],
)
def test_what_is_settled_or_no_string_lacks_nothing(settled: Json) -> None:
    assert semantic(when=settled) == []


@pytest.mark.parametrize(
    "bare",
    [
        STRING,
        {"type": ["string", "null"]},
        {"type": ["string"]},
        {"anyOf": [STRING, {"type": "null"}]},
        {"oneOf": [{"type": "null"}, {"type": "string", "minLength": 1}]},
        {"type": "string", "pattern": ".*", "description": "a date"},
    ],
)
def test_a_string_stays_one_when_it_may_be_null(bare: Json) -> None:
    assert semantic(when=bare) == ["when: date-time"]


def test_nested_and_referenced_parameters_count_too() -> None:
    root = schema(
        range={"type": "object", "properties": {"start_time": STRING}},
        hooks={"type": "array", "items": {"type": "object", "properties": {"url": STRING}}},
        owner={"$ref": "#/$defs/Person"},
        when={"$ref": "#/$defs/Text"},
    )
    root["$defs"] = {
        "Person": {"type": "object", "properties": {"email": STRING}},
        "Text": STRING,
        "Unused": {"type": "object", "properties": {"deadline": STRING}},
    }
    (finding,) = of_tools("schema/semantic-format", with_schema(root)).findings
    names = "email: email, url: uri, start_time: date-time and when: date-time"
    assert finding.measured == names
    assert finding.pointer == "/inputSchema/$defs/Person/properties/email"


def test_one_tool_is_one_finding_whatever_the_order_of_its_members() -> None:
    forth = of_tools("schema/semantic-format", with_schema(schema(url=STRING, email=STRING)))
    back = of_tools("schema/semantic-format", with_schema(schema(email=STRING, url=STRING)))
    assert len(forth.findings) == 1
    assert forth.findings == back.findings


@pytest.mark.parametrize(
    "root",
    [
        {"type": "object", "properties": {"q": STRING}},
        {"type": "object", "properties": {"q": STRING}, "required": []},
        {"type": "object", "properties": {"q": True}, "required": None},
        {"$ref": "#/$defs/In", "$defs": {"In": {"type": "object", "properties": {"q": STRING}}}},
        {"type": "object", "allOf": [{"properties": {"q": STRING}}]},
    ],
)
def test_parameters_without_any_required_are_a_risk(root: Json) -> None:
    result = of_tools("schema/missing-required", with_schema(root))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "none-required")


@pytest.mark.parametrize(
    "root",
    [
        {"type": "object"},
        {"type": "object", "properties": {}},
        {"type": "object", "properties": {"q": STRING}, "required": ["q"]},
        {"type": "object", "properties": {"q": STRING}, "anyOf": [{"required": ["q"]}, {}]},
        {"type": "object", "properties": {"q": STRING}, "oneOf": [{"required": ["q"]}]},
        {"type": "object", "properties": {"q": STRING}, "allOf": [{"allOf": [{"required": ["q"]}]}]},
        {"$ref": "#/$defs/In", "$defs": {"In": {"properties": {"q": STRING}, "required": ["q"]}}},
        {"type": "object", "properties": ["not", "a", "map"]},
        None,
        True,
    ],
)
def test_a_tool_without_parameters_or_with_a_required_one_is_fine(root: Json) -> None:
    assert of_tools("schema/missing-required", with_schema(root)).state is State.VERIFIED


def nested(levels: int) -> dict[str, Json]:
    """Objects within objects; the root is level 1."""
    root: dict[str, Json] = schema(leaf=STRING)
    for _ in range(levels - 1):
        root = schema(inner=root)
    return root


@pytest.mark.parametrize(("levels", "fires"), [(1, False), (3, False), (4, True), (20, True)])
def test_more_than_three_levels_of_objects_are_too_deep(levels: int, *, fires: bool) -> None:
    result = of_tools("schema/deep-nesting", with_schema(nested(levels)))
    assert bool(result.findings) is fires
    assert [finding.measured for finding in result.findings] == ([f"{levels} levels"] if fires else [])


def array(items: Json) -> Json:
    return {"type": "array", "items": items}


@pytest.mark.parametrize(
    ("root", "levels"),
    [
        (schema(tags=array(STRING)), 2),
        (schema(rows=array(schema(name=STRING))), 3),
        (schema(rows=array(array(STRING))), 3),
        (schema(rows=array(schema(tags=array(STRING)))), 4),
        (schema(rows={"type": "array", "prefixItems": [schema(a=schema(b=STRING))]}), 4),
        (schema(maybe={"anyOf": [schema(a=schema(b=schema(c=STRING))), {"type": "null"}]}), 4),
        (schema(maybe={"type": ["object", "null"], "properties": {"a": schema(b=schema(c=STRING))}}), 4),
        (schema(map={"type": "object", "additionalProperties": schema(a=schema(b=STRING))}), 4),
        ({"allOf": [nested(4)]}, 4),
        ({**schema(a={"$ref": "#/$defs/A"}), "$defs": {"A": nested(3)}}, 4),
        (schema(a={"if": True, "then": nested(3)}), 4),
        (schema(a=True, b=array(items=True), c=array([STRING])), 2),
    ],
)
def test_items_and_objects_add_a_level_and_compositions_none(root: Json, levels: int) -> None:
    policy = Policy(max_nesting=levels - 1)
    (finding,) = of_tools("schema/deep-nesting", with_schema(root), policy=policy).findings
    assert finding.measured == f"{levels} levels"
    assert (
        of_tools("schema/deep-nesting", with_schema(root), policy=Policy(max_nesting=levels)).findings == ()
    )


@pytest.mark.parametrize(
    "root",
    [
        {**schema(next={"$ref": "#"})},
        {
            **schema(tree={"$ref": "#/$defs/Node"}),
            "$defs": {"Node": schema(kids=array({"$ref": "#/$defs/Node"}))},
        },
    ],
)
def test_a_schema_that_contains_itself_has_no_end(root: Json) -> None:
    (finding,) = of_tools("schema/deep-nesting", with_schema(root)).findings
    assert finding.measured == "levels without end"


def test_references_that_only_go_round_add_no_level() -> None:
    root = schema(a={"$ref": "#/$defs/A"})
    root["$defs"] = {"A": {"$ref": "#/$defs/B"}, "B": {"anyOf": [{"$ref": "#/$defs/A"}, STRING]}}
    assert of_tools("schema/deep-nesting", with_schema(root)).state is State.VERIFIED


def test_references_out_of_the_schema_are_not_followed() -> None:
    root = schema(a={"$ref": "https://example.org/schema.json"}, b={"$ref": "#/nowhere"}, c={"$ref": 7})
    for check in ("schema/deep-nesting", "schema/semantic-format", "schema/not-an-object"):
        assert of_tools(check, with_schema(root)).state is State.VERIFIED


def test_a_reference_may_be_escaped_and_lead_into_a_list() -> None:
    root = schema(a={"$ref": "#/$defs/odd~1name~0%20x/anyOf/1"})
    root["$defs"] = {"odd/name~ x": {"anyOf": [STRING, nested(3)]}}
    (finding,) = of_tools("schema/deep-nesting", with_schema(root)).findings
    assert finding.measured == "4 levels"


@pytest.mark.parametrize(
    ("root", "pointer"),
    [
        ({**schema(q=STRING), "additionalProperties": False}, "/inputSchema/additionalProperties"),
        (
            schema(q={**schema(a=STRING), "additionalProperties": False}),
            "/inputSchema/properties/q/additionalProperties",
        ),
        (
            {**schema(q=STRING), "$defs": {"Never": {"additionalProperties": False}}},
            "/inputSchema/$defs/Never/additionalProperties",
        ),
        (
            schema(q={"anyOf": [{"additionalProperties": False}]}),
            "/inputSchema/properties/q/anyOf/0/additionalProperties",
        ),
    ],
)
def test_a_schema_that_refuses_unknown_keys_is_a_risk_at_any_depth(root: Json, pointer: str) -> None:
    result = of_tools("schema/additionalProperties-strict", with_schema(root))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "strict")
    assert result.findings[0].pointer == pointer


@pytest.mark.parametrize(
    "root",
    [
        {"type": "object", "additionalProperties": False},
        {"type": "object", "properties": {}, "additionalProperties": False},
        {**schema(q=STRING), "additionalProperties": True},
        {**schema(q=STRING), "additionalProperties": {}},
        {**schema(q=STRING), "additionalProperties": 0},
        schema(additionalProperties={"const": False}),
    ],
)
def test_the_recommended_form_without_parameters_is_exempt(root: Json) -> None:
    assert of_tools("schema/additionalProperties-strict", with_schema(root)).state is State.VERIFIED


@pytest.mark.parametrize(
    ("root", "measured"),
    [
        (None, "null"),
        (True, "true"),
        ([], "a list"),
        ("object", '"object"'),
        ({}, "no type"),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema"}, "no type"),
        ({"anyOf": [{"type": "object"}]}, "no type"),
        ({"type": "string"}, 'type "string"'),
        ({"type": ["object", "null"]}, "type a list"),
        ({"type": None}, "type null"),
    ],
)
def test_a_root_that_is_no_object_schema_loses_the_list(root: Json, measured: str) -> None:
    result = of_tools("schema/not-an-object", with_schema(root))
    assert (result.state, result.code) == (State.FAILED, "root")
    assert result.findings[0].measured == measured
    assert "on the official SDKs drop the whole list" in result.findings[0].message


def test_a_tool_without_an_input_schema_is_told_from_one_that_is_null() -> None:
    result = of_tools("schema/not-an-object", {"name": "add_note", "description": "Adds a note."})
    assert (result.code, result.findings[0].measured) == ("root", "no inputSchema")


@pytest.mark.parametrize(
    ("revision", "properties", "told"),
    [
        ("2025-11-25", {"x": "string"}, "on the official SDKs drop the whole list"),
        ("2025-03-26", {"x": "string"}, "on the official SDKs drop the whole list"),
        ("2025-11-25", {"x": []}, "on the Python SDK drop the whole list"),
        ("2026-07-28", {"x": "string"}, "interfaces of models and validators"),
        ("2025-11-25", {"x": {"type": "array", "items": "string"}}, "interfaces of models and validators"),
    ],
)
def test_who_refuses_what_is_no_schema_depends_on_the_revision_and_the_place(
    revision: str, properties: dict[str, Json], told: str
) -> None:
    era = Era.MODERN if revision == "2026-07-28" else Era.LEGACY
    seen = evidence(surface(era, with_schema(schema(**properties)), revision=revision))
    (finding,) = judged("schema/not-an-object", seen).findings
    assert (finding.code, finding.severity) == ("no-schema", Severity.WILL_BREAK)
    assert told in finding.message


def test_a_boolean_in_the_place_of_a_schema_is_a_risk_with_its_path() -> None:
    result = of_tools("schema/not-an-object", with_schema(schema(x=True, y=STRING)))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "boolean")
    assert result.findings[0].pointer == "/inputSchema/properties/x"


@pytest.mark.parametrize(
    ("value", "measured"), [(None, "null"), ("string", '"string"'), (7, "7"), ([], "a list")]
)
def test_what_is_no_schema_at_all_loses_the_tool(value: Json, measured: str) -> None:
    result = of_tools("schema/not-an-object", with_schema(schema(x=True, y=value)))
    assert (result.state, result.code) == (State.FAILED, "no-schema")
    assert (result.findings[0].measured, result.findings[0].severity) == (measured, Severity.WILL_BREAK)


@pytest.mark.parametrize(
    "root",
    [
        {**schema(x=STRING), "additionalProperties": False, "unevaluatedProperties": True},
        schema(pair={"type": "array", "prefixItems": [STRING, STRING], "items": False}),
        schema(pair={"type": "array", "items": [STRING, STRING], "additionalItems": False}),
    ],
)
def test_booleans_where_they_belong_are_fine(root: Json) -> None:
    assert of_tools("schema/not-an-object", with_schema(root)).state is State.VERIFIED


def header(value: Json, **more: Json) -> dict[str, Json]:
    return {"type": "string", "x-mcp-header": value, **more}


@pytest.mark.parametrize(
    "root",
    [
        schema(region=header("Region"), limit=header("Limit", type="integer")),
        schema(options=schema(deep=header("Deep", type="boolean"))),
        schema(**{"x-mcp-header": STRING}),
        {**schema(q=STRING), "$defs": {"Never": header("")}},
    ],
)
def test_plain_parameters_may_name_a_header(root: Json) -> None:
    assert of_tools("schema/x-mcp-header", with_schema(root)).state is State.VERIFIED


@pytest.mark.parametrize(
    ("root", "code"),
    [
        (schema(a=header("")), "name"),
        (schema(a=header("has space")), "name"),
        (schema(a=header("größe")), "name"),
        (schema(a=header(None)), "name"),
        (schema(a=header("Twice"), b=header("twice")), "duplicate"),
        (schema(a=header("A", type="number")), "type"),
        (schema(a=header("A", type=["string", "null"])), "type"),
        (schema(a={"type": "object", "x-mcp-header": "A"}), "type"),
        ({**schema(q=STRING), "x-mcp-header": "Root"}, "type"),
        (schema(a=array(header("A"))), "place"),
        (schema(a={"anyOf": [header("A")]}), "place"),
        ({**schema(a={"$ref": "#/$defs/A"}), "$defs": {"A": header("A")}}, "place"),
    ],
)
def test_an_annotation_that_breaks_the_rules_loses_the_tool(root: Json, code: str) -> None:
    result = of_tools("schema/x-mcp-header", with_schema(root))
    assert (result.state, result.code) == (State.FAILED, code)
    assert result.findings[0].pointer is not None
    assert result.findings[0].pointer.endswith("/x-mcp-header")


def test_annotations_are_of_the_modern_era() -> None:
    legacy = evidence(surface(Era.LEGACY, with_schema(schema(a=header("")))))
    assert judged("schema/x-mcp-header", legacy).code == "not-applicable"


def chain(length: int) -> dict[str, Any]:
    """A schema whose one parameter goes through many references."""
    root = schema(a={"$ref": "#/$defs/r0"})
    root["$defs"] = {f"r{number}": {"$ref": f"#/$defs/r{number + 1}"} for number in range(length)}
    root["$defs"][f"r{length}"] = nested(3)
    return root


def test_thousands_of_references_are_walked_without_recursion() -> None:
    (finding,) = of_tools("schema/deep-nesting", with_schema(chain(3000))).findings
    assert finding.measured == "4 levels"


def test_a_schema_of_a_hundred_thousand_places_ends_at_the_limit() -> None:
    wide = schema(**{f"p{number}": {"type": "string"} for number in range(100_000)}, last_url=STRING)
    assert of_tools("schema/semantic-format", with_schema(wide)).state is State.VERIFIED
