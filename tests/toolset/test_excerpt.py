"""What is left out of two schemas changes nothing about their comparison."""

import copy
from collections.abc import Callable
from typing import Any

import pytest

from driftwatch.toolset.sameness import Sameness
from driftwatch.toolset.schema.compare import compare_schemas
from driftwatch.toolset.schema.excerpt import excerpt
from driftwatch.toolset.schema.ledger import INPUT
from driftwatch.toolset.schema.views import Allowance

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "plain": {"type": "string"},
        "limit": {"type": "integer", "maximum": 9},
        "filter": {"$ref": "#/$defs/Filter"},
    },
    "required": ["plain"],
    "$defs": {"Filter": {"type": "string", "maxLength": 9}, "Other": {"type": "string"}},
}


def a_limit(schema: dict[str, Any]) -> None:
    schema["properties"]["limit"]["maximum"] = 5


def a_definition(schema: dict[str, Any]) -> None:
    schema["$defs"]["Filter"]["maxLength"] = 5


def what_is_required(schema: dict[str, Any]) -> None:
    schema["required"] = ["limit"]


def a_required_list_of_no_names(schema: dict[str, Any]) -> None:
    schema["required"] = ["plain", 1]


def a_limit_that_others_point_to(schema: dict[str, Any]) -> None:
    a_limit(schema)
    schema["properties"]["filter"] = {"$ref": "#/properties/limit"}


def a_combination(schema: dict[str, Any]) -> None:
    schema["allOf"] = [{"properties": {"plain": {"type": "integer"}}}]


EDITS = (
    a_limit,
    a_definition,
    what_is_required,
    a_required_list_of_no_names,
    a_limit_that_others_point_to,
    a_combination,
)


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("back", [False, True], ids=["there", "back"])
def test_an_excerpt_compares_like_the_whole(edit: Callable[[dict[str, Any]], None], *, back: bool) -> None:
    old, new = SCHEMA, copy.deepcopy(SCHEMA)
    edit(new)
    if back:
        old, new = new, old

    def compared(one: Any, other: Any) -> Any:
        return compare_schemas(INPUT, one, other, "", sameness=Sameness(), pool=Allowance(1_000))

    assert compared(old, new)
    assert compared(*excerpt(old, new, Sameness())) == compared(old, new)


def test_only_what_may_differ_is_left() -> None:
    limited, defined = copy.deepcopy(SCHEMA), copy.deepcopy(SCHEMA)
    a_limit(limited)
    a_definition(defined)

    assert [schema["properties"].keys() for schema in excerpt(SCHEMA, limited, Sameness())] == [{"limit"}] * 2
    assert [schema["properties"].keys() for schema in excerpt(SCHEMA, defined, Sameness())] == [
        {"filter"}
    ] * 2


def test_schemas_that_changed_alike_have_one_excerpt_whatever_else_their_texts_say() -> None:
    def edited(title: str) -> tuple[Any, Any]:
        old = {**copy.deepcopy(SCHEMA), "title": title}
        new = copy.deepcopy(old)
        a_limit(new)
        return excerpt(old, new, Sameness())

    assert edited("Input of one") == edited("Input of the other")
