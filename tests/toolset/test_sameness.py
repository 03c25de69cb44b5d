"""Finding that two values are the same without writing either: the quick ways agree with the plain one."""

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from driftwatch.toolset.canonical import canonical, canonical_schema, same, same_schema
from driftwatch.toolset.sameness import Sameness
from tests.toolset.strategies import json_values, schemas
from tests.toolset.test_canonical import shuffled

seeds = st.integers(0, 2**32)


def near(value: Any, seed: int) -> Any:
    """The same value again, some of it exchanged for what may or may not be the same."""
    if isinstance(value, dict):
        return {name: near(member, seed // 3 + place) for place, (name, member) in enumerate(value.items())}
    if isinstance(value, list):
        return [near(member, seed // 3 + place) for place, member in enumerate(value)]
    exchanged = {1: True, 0: 0.0, None: 0}
    return exchanged.get(value, value) if seed % 5 == 0 and value == value else value  # noqa: PLR0124 - NaN


@given(json_values, json_values, seeds)
def test_data_is_the_same_when_its_canonical_form_is(one: Any, other: Any, seed: int) -> None:
    for twin in (other, copy.deepcopy(one), near(one, seed)):
        assert same(one, twin) == (canonical(one) == canonical(twin))


@given(schemas, schemas, seeds)
def test_schemas_are_the_same_when_their_canonical_form_is(one: Any, other: Any, seed: int) -> None:
    for twin in (other, copy.deepcopy(one), shuffled(one, seed), near(one, seed)):
        assert same_schema(one, twin, Sameness()) == (canonical_schema(one) == canonical_schema(twin))


@given(json_values, json_values, seeds)
def test_what_is_written_alike_has_one_canonical_form(one: Any, other: Any, seed: int) -> None:
    for twin in (other, copy.deepcopy(one), near(one, seed)):
        if Sameness().alike(one, twin):
            assert canonical(one) == canonical(twin)


@given(st.lists(json_values, max_size=40), seeds)
def test_an_answer_does_not_depend_on_what_was_asked_before(values: list[Any], seed: int) -> None:
    asked = Sameness()
    twins = [near(value, seed + place) for place, value in enumerate(values)]
    before = asked.alike(values, twins)
    for one in values:
        for other in twins:
            assert asked.alike(one, other) == Sameness().alike(one, other)
    assert asked.alike(values, twins) == before


def test_true_is_not_taken_for_one() -> None:
    assert not Sameness().alike({"const": 1}, {"const": True})
    assert not Sameness().alike([1], [True])


def test_what_is_too_deep_is_not_called_alike() -> None:
    one: Any = {}
    other: Any = {}
    for _ in range(50_000):
        one, other = {"items": one}, {"items": other}
    assert not Sameness().alike(one, other)
