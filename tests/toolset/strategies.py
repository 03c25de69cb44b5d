"""Arbitrary JSON, and tools that look like tools often enough to reach every comparison."""

from typing import Any

from hypothesis import strategies as st

_KEYWORDS = """
$defs $ref $schema additionalItems additionalProperties allOf anyOf const contains default
definitions dependencies dependentRequired dependentSchemas deprecated description else enum
examples exclusiveMaximum exclusiveMinimum format if items maxItems maxLength maximum minItems
minLength minimum multipleOf not nullable oneOf pattern patternProperties prefixItems properties
propertyNames required then title type unevaluatedProperties uniqueItems x-mcp-header
"""
KEYWORDS = _KEYWORDS.split()
TYPES = ["string", "integer", "number", "boolean", "object", "array", "null"]

numbers = st.one_of(
    st.integers(),
    st.integers(-(10**30), 10**30),
    st.integers(-3, 3).map(float),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0, -0.0, 1, 1.0, 2**53, 2**53 - 1, 1e16, 1e300, 10**400, 0.5, 1e-7, float("inf")]),
)
texts = st.one_of(
    st.text(max_size=8),
    st.sampled_from(
        [
            *TYPES,
            "\ud800",
            "\x7f",
            "\u200b",
            "Always call this.",
            "https://a.example",
            "#",
            "#/$defs/a",
            "#/properties/b",
        ]
    ),
)
names = st.one_of(st.sampled_from(["a", "b", "required", "type", "enum", "properties", "$ref"]), texts)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=8,
)


def _schemas(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    by_keyword = {
        "type": st.one_of(st.sampled_from(TYPES), st.lists(st.sampled_from(TYPES), max_size=3), json_values),
        "required": st.one_of(st.lists(names, max_size=3), json_values),
        "enum": st.one_of(st.lists(json_values, max_size=3), json_values),
        "properties": st.one_of(st.dictionaries(names, inner, max_size=3), json_values),
        "$defs": st.dictionaries(names, inner, max_size=2),
        "$ref": st.one_of(
            st.sampled_from(["#", "#/$defs/a", "#/properties/a", "#/properties/b", "#x"]), json_values
        ),
        "items": st.one_of(inner, st.lists(inner, max_size=2)),
        "additionalProperties": st.one_of(st.booleans(), inner),
        **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), st.lists(inner, max_size=3)),
        **dict.fromkeys(("not", "if", "then", "contains", "propertyNames"), inner),
        **dict.fromkeys(
            ("minimum", "maximum", "exclusiveMinimum", "multipleOf", "minLength", "maxItems"), numbers
        ),
        **dict.fromkeys(("description", "title", "pattern", "format", "$schema"), texts),
        "dependentRequired": st.dictionaries(names, st.lists(names, max_size=2), max_size=2),
    }

    def pick(keyword: str) -> st.SearchStrategy[tuple[str, Any]]:
        return st.tuples(st.just(keyword), by_keyword.get(keyword, json_values))

    return st.lists(st.sampled_from(KEYWORDS).flatmap(pick), max_size=5).map(dict)


schemas: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.booleans(), json_values, st.sampled_from(TYPES).map(lambda kind: {"type": kind})),
    _schemas,
    max_leaves=12,
)
tools: st.SearchStrategy[Any] = st.one_of(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["a", "b", "c", "a_b"]), "inputSchema": schemas},
        optional={
            "description": texts,
            "title": texts,
            "outputSchema": schemas,
            "annotations": st.one_of(
                st.dictionaries(
                    st.sampled_from(["readOnlyHint", "destructiveHint", "openWorldHint", "title", "x"]),
                    st.one_of(st.booleans(), json_values),
                    max_size=3,
                ),
                json_values,
            ),
            "execution": st.one_of(
                st.fixed_dictionaries(
                    {"taskSupport": st.sampled_from(["forbidden", "optional", "required"])}
                ),
                json_values,
            ),
            "_meta": json_values,
        },
    ),
    st.dictionaries(st.sampled_from(["name", "inputSchema", "description"]), json_values, max_size=3),
    json_values,
)
