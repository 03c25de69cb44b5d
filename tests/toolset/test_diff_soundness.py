"""No breaking change goes by unseen: the diff against a JSON Schema validator, on made-up values."""

import json
from typing import Any

import jsonschema
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftwatch.toolset import Diff, Toolset, diff
from tests.toolset.strategies import TYPES

NAMES = st.sampled_from("ab")
SMALL = st.integers(0, 4)

values: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.sampled_from([0, 1, 2, 5, -1, 0.5, 1.5, "", "a", "b", "abc"])),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(NAMES, inner, max_size=2)),
    max_leaves=4,
)


def _keywords(inner: st.SearchStrategy[Any]) -> dict[str, st.SearchStrategy[Any]]:
    branches = st.lists(inner, min_size=1, max_size=3)
    return {
        **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"), SMALL),
        **dict.fromkeys(("minLength", "maxLength", "minItems", "maxItems", "minProperties"), SMALL),
        **dict.fromkeys(("anyOf", "oneOf", "allOf", "prefixItems"), branches),
        **dict.fromkeys(("items", "not", "if", "then", "contains", "propertyNames"), inner),
        "$ref": st.sampled_from(["#/$defs/a", "#/$defs/b"]),
        "additionalProperties": st.one_of(st.booleans(), inner),
        "const": values,
        "dependentRequired": st.dictionaries(NAMES, st.lists(NAMES, max_size=1), max_size=1),
        "enum": st.lists(values, min_size=1, max_size=3),
        "multipleOf": st.sampled_from([1, 2, 0.5, 3]),
        "pattern": st.sampled_from(["a", "b", "^a"]),
        "patternProperties": st.dictionaries(st.sampled_from(["a", "^b"]), inner, max_size=1),
        "properties": st.dictionaries(NAMES, inner, max_size=2),
        "required": st.lists(NAMES, max_size=2, unique=True),
        "type": st.one_of(
            st.sampled_from(TYPES), st.lists(st.sampled_from(TYPES), min_size=1, max_size=3, unique=True)
        ),
        "uniqueItems": st.booleans(),
    }


def _schemas(*, references: bool) -> st.SearchStrategy[Any]:
    def extended(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
        keywords = _keywords(inner)
        if not references:
            del keywords["$ref"]

        def with_value(keyword: str) -> st.SearchStrategy[tuple[str, Any]]:
            return st.tuples(st.just(keyword), keywords[keyword])

        chosen = st.sampled_from(sorted(keywords)).flatmap(with_value)
        return st.lists(chosen, min_size=1, max_size=4).map(dict)

    simple: st.SearchStrategy[Any] = st.one_of(
        st.booleans(), st.sampled_from(TYPES).map(lambda kind: {"type": kind}), st.just({})
    )
    return st.recursive(simple, extended, max_leaves=8)


schemas = _schemas(references=True)
definitions = st.fixed_dictionaries(
    dict.fromkeys("ab", _schemas(references=False))
)  # no cycles: validators overflow


@st.composite
def editions(draw: st.DrawFn) -> tuple[Any, Any]:
    """Two schemas, the second as a rule an edit of the first."""
    old, defined = draw(schemas), draw(definitions)
    new = draw(schemas)
    if isinstance(old, dict) and isinstance(new, dict) and draw(st.booleans()):
        kept = {name: item for name, item in old.items() if draw(st.integers(0, 5))}
        new = {**kept, **dict(list(new.items())[:1])}
    redefined = draw(definitions) if draw(st.booleans()) else defined
    return whole(old, defined), whole(json.loads(json.dumps(new)), redefined)


def whole(schema: Any, defined: dict[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": {"p": schema}, "required": ["p"], "$defs": defined}


def compared(old: Any, new: Any, member: str) -> Diff:
    before, after = (Toolset(({"name": "t", "inputSchema": {}, member: schema},)) for schema in (old, new))
    return diff(before, after)


def accepts(schema: Any, value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(schema).is_valid({"p": value}))


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(editions(), st.lists(values, min_size=4, max_size=10))
def test_what_a_validator_newly_refuses_is_breaking(both: tuple[Any, Any], sent: list[Any]) -> None:
    old, new = both
    found = compared(old, new, "inputSchema")
    # Declaring a parameter that unknown ones were accepted for is an addition, by definition.
    added = any(change.kind == "parameter-added" for change in found.changes)
    silent = all(change.klass in {"text", "cosmetic"} for change in found.changes)
    for value in sent:
        before, after = accepts(old, value), accepts(new, value)
        assert found.breaking or added or not before or after, value
        assert not silent or before == after, value


@settings(max_examples=200, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(editions(), st.lists(values, min_size=4, max_size=10))
def test_what_an_output_may_newly_be_is_breaking_for_its_readers(
    both: tuple[Any, Any], sent: list[Any]
) -> None:
    old, new = both
    found = compared(old, new, "outputSchema")
    # A reader passes over properties that it does not know.
    passed_over = {"output-property-added", "output-additional-properties"}
    more = any(change.kind in passed_over for change in found.changes)
    for value in sent:
        assert found.breaking or more or accepts(old, value) or not accepts(new, value), value
