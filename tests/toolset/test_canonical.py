"""The canonical form dw1: one spelling for what means the same, another for everything else."""

import json
import random
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.toolset.canonical import canonical, canonical_schema
from tests.toolset.strategies import json_values, schemas


def nested(depth: int, keyword: str = "not") -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth):
        value = {keyword: value}
    return value


def shuffled(value: Any, seed: int) -> Any:
    """The same JSON with the members of every object in another order."""
    if isinstance(value, dict):
        items = [(key, shuffled(item, seed + 1)) for key, item in value.items()]
        random.Random(seed).shuffle(items)
        return dict(items)
    return [shuffled(item, seed + 1) for item in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("1", "1"),
        ("1.0", "1"),
        ("1e0", "1"),
        ("100e-2", "1"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1e2", "100"),
        ("1e21", "1000000000000000000000"),
        ("1e23", "100000000000000000000000"),
        ("9007199254740993", "9007199254740993"),
        ("123456789012345678901234567890", "123456789012345678901234567890"),
        ("0.1", "0.1"),
        ("1.50", "1.5"),
        ("0.00001", "1e-05"),
        ("-2.5e-7", "-2.5e-07"),
        ("true", "true"),
        ("null", "null"),
        ('"\\u00e9"', '"\\u00e9"'),
        ('"é"', '"\\u00e9"'),
        ('"\\ud83d\\ude00"', '"\\ud83d\\ude00"'),
        ('"😀"', '"\\ud83d\\ude00"'),
        ('"\\ud800"', '"\\ud800"'),
        ('"\\u007f\\b/"', '"\\u007f\\b/"'),
        ('{"b": [1.0, {"d": 1, "c": 2}], "a": {}}', '{"a":{},"b":[1,{"c":2,"d":1}]}'),
        ('{"\\ue000": 1, "\\ud800\\udc00": 2}', '{"\\ue000":1,"\\ud800\\udc00":2}'),
    ],
)
def test_a_value_has_one_spelling(text: str, form: str) -> None:
    assert canonical(json.loads(text)) == form


def test_numbers_beyond_json_still_have_a_spelling() -> None:
    assert canonical(float("inf")) == "Infinity"
    assert canonical([-float("inf")]) == "[-Infinity]"
    big = 10**5000 + 7
    assert canonical({"n": big}) == '{"n":' + format(Decimal(big), "f") + "}"


def test_composed_and_decomposed_letters_stay_different() -> None:
    assert canonical("é") != canonical("e\u0301")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"required": ["a", "b"]}, {"required": ["b", "a", "b"]}),
        ({"type": ["string", "null"]}, {"type": ["null", "string"]}),
        ({"enum": [1, "a", [2, 1]]}, {"enum": ["a", [2, 1], 1.0]}),
        ({"dependentRequired": {"a": ["b", "c"]}}, {"dependentRequired": {"a": ["c", "b"]}}),
        ({"dependencies": {"a": ["b", "c"]}}, {"dependencies": {"a": ["c", "b"]}}),
        ({"properties": {"x": {"required": ["a", "b"]}}}, {"properties": {"x": {"required": ["b", "a"]}}}),
        ({"items": [{"enum": [1, 2]}]}, {"items": [{"enum": [2, 1]}]}),
        ({"anyOf": [{"enum": [1, 2]}]}, {"anyOf": [{"enum": [2, 1]}]}),
        ({"$defs": {"d": {"enum": [1, 2]}}}, {"$defs": {"d": {"enum": [2, 1]}}}),
        ({"dependencies": {"a": {"enum": [1, 2]}}}, {"dependencies": {"a": {"enum": [2, 1]}}}),
        ({"additionalProperties": {"type": ["a", "b"]}}, {"additionalProperties": {"type": ["b", "a"]}}),
    ],
)
def test_arrays_that_are_sets_are_compared_as_sets(one: Any, other: Any) -> None:
    assert canonical_schema(one) == canonical_schema(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # A property that is called like a keyword is no keyword.
        (
            {"properties": {"required": {"default": ["a", "b"]}}},
            {"properties": {"required": {"default": ["b", "a"]}}},
        ),
        ({"properties": {"enum": ["a", "b"]}}, {"properties": {"enum": ["b", "a"]}}),
        # Data that looks like a schema is data.
        ({"default": {"required": ["a", "b"]}}, {"default": {"required": ["b", "a"]}}),
        ({"const": {"enum": [1, 2]}}, {"const": {"enum": [2, 1]}}),
        ({"examples": [{"type": ["a", "b"]}]}, {"examples": [{"type": ["b", "a"]}]}),
        ({"enum": [{"required": ["a", "b"]}]}, {"enum": [{"required": ["b", "a"]}]}),
        ({"default": ["a", "b"]}, {"default": ["b", "a"]}),
        ({"x-order": ["a", "b"]}, {"x-order": ["b", "a"]}),
        # Order means something, or may.
        ({"anyOf": [{}, {"type": "null"}]}, {"anyOf": [{"type": "null"}, {}]}),
        ({"prefixItems": [{}, {"type": "null"}]}, {"prefixItems": [{"type": "null"}, {}]}),
        # Equal in Python only.
        ({"default": True}, {"default": 1}),
        ({"enum": [False]}, {"enum": [0]}),
        ({"default": None}, {}),
        ({"default": "1"}, {"default": 1}),
    ],
)
def test_everything_else_keeps_its_order_and_its_type(one: Any, other: Any) -> None:
    assert canonical_schema(one) != canonical_schema(other)


@pytest.mark.parametrize(
    "schema", [True, False, None, [], "object", 3, {"properties": None, "required": {}, "type": 1}]
)
def test_what_is_no_schema_has_a_form_too(schema: Any) -> None:
    assert json.loads(canonical_schema(schema)) == schema


@pytest.mark.parametrize("depth", [200, 900, 20_000])
@pytest.mark.parametrize("keyword", ["not", "properties", "x", "default"])
def test_depth_is_no_obstacle(depth: int, keyword: str) -> None:
    deep = nested(depth, keyword)
    assert canonical_schema(deep) == f'{{"{keyword}":' * depth + "{}" + "}" * depth
    lists: list[Any] = []
    for _ in range(depth):
        lists = [lists]
    assert canonical(lists) == "[" * (depth + 1) + "]" * (depth + 1)


def test_references_are_not_followed() -> None:
    loop = {"$ref": "#", "properties": {"a": {"$ref": "#/properties/a"}}}
    assert canonical_schema(loop) == '{"$ref":"#","properties":{"a":{"$ref":"#/properties/a"}}}'


@given(schemas, st.integers(0, 9))
def test_the_order_of_members_means_nothing(schema: Any, seed: int) -> None:
    assert canonical_schema(shuffled(schema, seed)) == canonical_schema(schema)


@given(json_values)
def test_the_form_of_data_reads_back_as_the_same_value(value: Any) -> None:
    form = canonical(value)
    assert form.isascii()
    assert canonical(json.loads(form)) == form


@given(schemas)
def test_the_form_of_a_schema_is_its_own_form(schema: Any) -> None:
    form = canonical_schema(schema)
    assert canonical_schema(json.loads(form)) == form


@given(json_values)
def test_the_input_is_left_as_it_was(value: Any) -> None:
    before = repr(value)
    canonical_schema(value)
    assert repr(value) == before
