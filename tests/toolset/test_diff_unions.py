"""Unions, parts and conditions: what is told of schemas that cannot be said by plain keywords."""

from typing import Any

import pytest

from driftwatch.toolset import Toolset, diff
from tests.toolset.scene import SAME, messages

CIRCLE: dict[str, Any] = {
    "type": "object",
    "title": "Circle",
    "properties": {"kind": {"const": "circle"}, "r": {"type": "number"}},
}
SQUARE: dict[str, Any] = {
    "type": "object",
    "properties": {"kind": {"const": "square"}, "a": {"type": "number"}},
}
POINT: dict[str, Any] = {"type": "object", "properties": {"kind": {"const": "point"}}}
SHORT: dict[str, Any] = {"type": "string", "maxLength": 5}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            {"anyOf": [CIRCLE, SQUARE]},
            {"anyOf": [CIRCLE, SQUARE, POINT]},
            [("compatible", '"p" now also accepts object with "kind" "point"')],
        ),
        (
            {"oneOf": [CIRCLE, SQUARE]},
            {"oneOf": [SQUARE]},
            [("breaking", '"p" no longer accepts object "Circle"')],
        ),
        (
            {"anyOf": [CIRCLE, SQUARE]},
            {"anyOf": [SQUARE, {**CIRCLE, "properties": {**CIRCLE["properties"], "r": {"type": "integer"}}}]},
            [("breaking", '"p.r" must now be integer (was number)')],
        ),
        (
            {"type": ["integer", "string"], "minimum": 1},
            {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "string"}]},
            [("cosmetic", SAME)],
        ),
        (
            {"type": ["integer", "string"]},
            {"anyOf": [{"type": "number", "minimum": 1}, SHORT]},
            [
                ("breaking", '"p" must now be at least 1 (no limit before)'),
                ("breaking", '"p" must now have at most 5 characters (no limit before)'),
                ("compatible", '"p" may now be number (was integer)'),
            ],
        ),
        (
            {"anyOf": [{"anyOf": [SHORT, CIRCLE]}, {"type": "null"}]},
            {"anyOf": [SHORT, CIRCLE, {"type": "null"}]},
            [("cosmetic", SAME)],
        ),
        (
            {"anyOf": [SHORT, {"type": "string", "format": "uuid"}]},
            {"type": "string", "anyOf": [{"maxLength": 5}, {"format": "uuid"}]},
            [("cosmetic", SAME)],
        ),
        (
            {"oneOf": [CIRCLE], "discriminator": {"propertyName": "kind"}},
            {"oneOf": [CIRCLE, SQUARE], "discriminator": {"propertyName": "kind"}},
            [("compatible", '"p" now also accepts object with "kind" "square"')],
        ),
        (
            {"oneOf": [CIRCLE, {**SQUARE, "required": ["kind"]}]},
            {"oneOf": [CIRCLE, {**POINT, "required": ["kind"]}]},
            [
                ("breaking", '"p" no longer accepts object with "kind" "square"'),
                ("compatible", '"p" now also accepts object with "kind" "point"'),
            ],
        ),
        (
            {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            [("breaking", '"p" must now be only one of: one with "a", one with "b" (was one or more)')],
        ),
        (
            {"oneOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            [("compatible", '"p" may now be more than one of: one with "a", one with "b"')],
        ),
        ({"anyOf": [SHORT, CIRCLE]}, {"oneOf": [SHORT, CIRCLE]}, [("cosmetic", SAME)]),
        (
            {"anyOf": [CIRCLE, {"type": "null"}]},
            {"anyOf": [CIRCLE, SQUARE, {"type": "null"}]},
            [("compatible", '"p" now also accepts object with "kind" "square"')],
        ),
        (
            {"allOf": [CIRCLE]},
            {"anyOf": [CIRCLE, SQUARE], "title": "Shape"},
            [
                ("compatible", '"p" now also accepts object with "kind" "square"'),
                ("text", 'title of "p" changed: "Circle" -> "Shape"'),
            ],
        ),
        ({"anyOf": [SHORT, CIRCLE]}, SHORT, [("breaking", '"p" no longer accepts object "Circle"')]),
        (SHORT, {"anyOf": [SHORT, CIRCLE]}, [("compatible", '"p" now also accepts object "Circle"')]),
        (
            {"anyOf": [SHORT, CIRCLE]},
            {"anyOf": [SHORT, CIRCLE, {"type": "null"}]},
            [("compatible", '"p" now also accepts null')],
        ),
        ({}, {"anyOf": [SHORT, CIRCLE]}, [("breaking", '"p" must now be one of: string, object "Circle"')]),
        (
            {"anyOf": [SHORT, CIRCLE]},
            {},
            [("compatible", '"p" need no longer be one of: string, object "Circle"')],
        ),
        (
            {"type": "object", "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
            {"type": "object"},
            [("compatible", '"p" need no longer be one of: one with "a", one with "b"')],
        ),
        (
            {"allOf": [{"pattern": "a"}, {"pattern": "b"}]},
            {"allOf": [{"pattern": "a"}, {"pattern": "b"}, {"pattern": "c"}]},
            [("breaking", '"p" has one more rule in `allOf`')],
        ),
        (
            {"allOf": [{"pattern": "a"}, {"pattern": "b"}]},
            {"allOf": [{"pattern": "a"}, {"pattern": "c"}]},
            [("breaking", '"p" must now match "c" (was "b")')],
        ),
        ({"not": {"const": 1}}, {"not": {"const": 2}}, [("breaking", 'the rule "not" of "p" changed')]),
        ({"if": {"const": 1}, "then": {}}, {}, [("cosmetic", SAME)]),
        (
            {"if": {"const": 1}, "then": {"maximum": 3}},
            {},
            [("compatible", '"p" no longer has the rule "if"')],
        ),
        (
            {"items": [{"type": "string"}], "additionalItems": False},
            {"items": [{"type": "string"}, {"type": "integer"}], "additionalItems": False},
            [("compatible", '"p[1]" is now accepted')],
        ),
        (
            {"prefixItems": [{"type": "string"}]},
            {"prefixItems": [{"type": "integer"}]},
            [("breaking", '"p[0]" is now integer (was string)')],
        ),
        (
            {"patternProperties": {"^x": {"type": "string"}}},
            {"patternProperties": {"^x": {"type": ["string", "null"]}}},
            [("compatible", '"p./^x/" may now be null')],
        ),
        (
            {"propertyNames": {"maxLength": 5}},
            {"propertyNames": {"maxLength": 3}},
            [("breaking", '"p.(names)" must now have at most 3 characters (was 5)')],
        ),
        (
            {"dependencies": {"a": ["b", "c"]}},
            {"dependencies": {"a": ["b"]}},
            [("compatible", '"p.a" no longer needs "c" beside it')],
        ),
        (
            {"$ref": "https://example.org/a.json"},
            {"$ref": "https://example.org/b.json"},
            [("breaking", 'the rule "$ref" of "p" changed')],
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "object", "additionalProperties": {"type": "integer"}},
            [("breaking", '"p.*" is now integer (was string)')],
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string"}},
            {"type": "object", "additionalProperties": False},
            [("breaking", 'unknown properties of "p" are now refused')],
        ),
        (None, {}, [("breaking", 'the schema of "p" is now {} (was null)')]),
        ([1], [2], [("breaking", 'the schema of "p" is now [2] (was [1])')]),
    ],
)
def test_a_change_of_forms_and_rules_is_told(old: Any, new: Any, told: list[tuple[str, str]]) -> None:
    assert messages(old, new) == told


def test_a_new_form_of_an_output_is_breaking_for_its_readers() -> None:
    assert messages({"anyOf": [CIRCLE, SQUARE]}, {"anyOf": [CIRCLE, SQUARE, POINT]}, "outputSchema") == [
        ("breaking", 'output "p" may now also be object with "kind" "point"')
    ]
    assert messages({"anyOf": [CIRCLE, SQUARE]}, {"anyOf": [SQUARE]}, "outputSchema") == [
        ("compatible", 'output "p" is no longer object "Circle"')
    ]


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ({"required": ["x"]}, '"p.x" is now required'),
        ({"minProperties": 2}, '"p" must now have at least 2 properties (no limit before)'),
        ({"not": {"required": ["r"]}}, '"p" has a new rule, "not"'),
        ({"additionalProperties": False}, 'unknown properties of "p" are now refused'),
    ],
)
@pytest.mark.parametrize("union", ["anyOf", "oneOf"])
@pytest.mark.parametrize("typed", [{}, {"type": "object"}])
def test_a_rule_that_is_new_beside_a_union_of_the_same_forms_is_told(
    rule: dict[str, Any], told: str, union: str, typed: dict[str, Any]
) -> None:
    forms = {**typed, union: [CIRCLE, SQUARE]}
    assert messages(forms, {**forms, **rule}) == [("breaking", told)]
    assert [klass for klass, _ in messages({**forms, **rule}, forms)] == ["compatible"]


def test_a_change_in_the_only_form_that_is_left_points_into_that_form() -> None:
    forms = [CIRCLE, SQUARE], [{**CIRCLE, "required": ["r"]}]
    before, after = (
        Toolset(({"name": "t", "inputSchema": {"properties": {"p": {"oneOf": each, "discriminator": {}}}}},))
        for each in forms
    )
    required = next(change for change in diff(before, after).changes if change.kind == "required")
    assert required.pointer == "/inputSchema/properties/p/oneOf/0/required"
