"""Rules that stand beside each other: read together, once, and never mixed with those of another schema."""

from typing import Any

import pytest

from tests.toolset.scene import SAME, messages

TEXT = {"type": "string"}
ONLY_A = {"properties": {"a": TEXT}, "additionalProperties": False}
BOTH = {"properties": {"a": TEXT, "b": TEXT}}
CHOICE = {"if": {"required": ["a"]}, "then": {"required": ["b"]}}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            {"allOf": [ONLY_A, {"properties": {"b": TEXT}}]},
            {**BOTH, "additionalProperties": False},
            [
                ("compatible", 'parameter "p.b" (string, optional) added'),
                ("compatible", '"p" no longer has one of the rules in `allOf`'),
            ],
        ),
        (
            {
                "allOf": [{"properties": {"a": TEXT}}, {"properties": {"b": TEXT}}],
                "unevaluatedProperties": False,
            },
            {**BOTH, "additionalProperties": False},
            [("cosmetic", SAME)],
        ),
        (ONLY_A, {"properties": {"a": TEXT}, "unevaluatedProperties": False}, [("cosmetic", SAME)]),
        (
            {"allOf": [{"prefixItems": [TEXT]}, {"items": False}]},
            {"prefixItems": [TEXT], "items": False},
            [
                ("compatible", '"p" no longer has one of the rules in `allOf`'),
                ("breaking", '"p[1+]" is now refused'),
            ],
        ),
        (
            {"additionalProperties": TEXT},
            {"properties": {"a": {"type": "integer"}}, "additionalProperties": TEXT},
            [
                ("breaking", '"p.a" is now integer (was string)'),
                ("compatible", 'parameter "p.a" (integer, optional) added'),
            ],
        ),
        (
            {"patternProperties": {"^x": TEXT}, "additionalProperties": False},
            {"additionalProperties": False},
            [("breaking", '"p./^x/" is now refused')],
        ),
        (
            {"additionalProperties": False},
            {"patternProperties": {"^x": TEXT}, "additionalProperties": False},
            [("compatible", '"p./^x/" is now accepted')],
        ),
        ({}, {"propertyNames": TEXT}, [("cosmetic", SAME)]),
        ({"dependencies": {"a": ["b"]}}, {"dependentRequired": {"a": ["b"]}}, [("cosmetic", SAME)]),
        (
            {"dependentRequired": {"a": ["b"]}},
            {"dependentSchemas": {"a": {"required": ["b", "c"]}}},
            [("breaking", '"p.a" now needs "c" beside it')],
        ),
        (
            {},
            {"dependentSchemas": {"a": {"properties": {"b": {"minLength": 3}}}}},
            [("breaking", 'the rule for what stands beside "p.a" is now there')],
        ),
        ({}, CHOICE, [("breaking", '"p" has a new rule, "if"')]),
        ({}, {"then": {"required": ["b"]}}, [("cosmetic", SAME)]),
        (
            CHOICE,
            {**CHOICE, "then": {"required": ["c"]}},
            [("breaking", 'the rule "then" of "p" changed')],
        ),
        (
            {"contains": TEXT},
            {"contains": TEXT, "minContains": 0},
            [("compatible", '"p" may now have as few as 0 matching items (was 1)')],
        ),
        ({}, {"minContains": 2}, [("cosmetic", SAME)]),
    ],
)
def test_rules_that_are_read_together_are_told_as_what_they_say(
    old: Any, new: Any, told: list[tuple[str, str]]
) -> None:
    assert sorted(messages(old, new)) == sorted(told)
