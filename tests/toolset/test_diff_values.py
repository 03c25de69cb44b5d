"""Edits to the values of a parameter (lists, limits, defaults): each is one change in its words."""

from typing import Any

import pytest

from driftwatch.toolset import Toolset, diff
from driftwatch.toolset.schema.keywords import SPEAKS_OF
from tests.toolset.scene import Case, case, check, item_schema, messages

CASES = [
    case(
        "an enum narrowed",
        lambda s: s.parameters("create_order")["priority"].update(enum=["normal", "high"]),
        "breaking values-removed /inputSchema/properties/priority/enum",
        '"create_order": "priority" no longer accepts "low"',
    ),
    case(
        "an enum widened",
        lambda s: s.parameters("create_order")["priority"]["enum"].append("urgent"),
        "compatible values-added /inputSchema/properties/priority/enum",
        '"create_order": "priority" now also accepts "urgent"',
    ),
    case(
        "a minimum raised",
        lambda s: s.parameters("search")["limit"].update(minimum=5),
        "breaking limit-tightened /inputSchema/properties/limit/minimum",
        '"search": "limit" must now be at least 5 (was 1)',
    ),
    case(
        "another default",
        lambda s: s.parameters("search")["limit"].update(default=10),
        "compatible default /inputSchema/properties/limit/default",
        '"search": "limit" now defaults to 10 (was 20)',
    ),
    case(
        "another constant",
        lambda s: s.parameters("search").update(mode={"const": "exact"}),
        "breaking values-removed /inputSchema/properties/mode/const",
        '"search": "mode" must now be "exact" (was "fast")',
    ),
    case(
        "values listed for the first time",
        lambda s: s.parameters("create_order")["note"].update(enum=["a", "b"]),
        "breaking values-removed /inputSchema/properties/note/enum",
        '"create_order": "note" must now be one of "a", "b"',
    ),
    case(
        "values no longer listed",
        lambda s: s.parameters("create_order")["priority"].pop("enum"),
        "compatible values-added /inputSchema/properties/priority/enum",
        '"create_order": "priority" is no longer limited to "high", "low", "normal"',
    ),
    case(
        "a constant that becomes a choice",
        lambda s: s.parameters("search").update(mode={"enum": ["fast", "exact"]}),
        "compatible values-added /inputSchema/properties/mode/enum",
        '"search": "mode" now also accepts "exact"',
    ),
    case(
        "1 that becomes true",
        lambda s: s.parameters("search")["limit"].update(default=True),
        "compatible default /inputSchema/properties/limit/default",
        '"search": "limit" now defaults to true (was 20)',
    ),
    case(
        "a maximum lowered",
        lambda s: s.parameters("search")["limit"].update(maximum=50),
        "breaking limit-tightened /inputSchema/properties/limit/maximum",
        '"search": "limit" must now be at most 50 (was 100)',
    ),
    case(
        "a maximum raised",
        lambda s: s.parameters("search")["limit"].update(maximum=500),
        "compatible limit-loosened /inputSchema/properties/limit/maximum",
        '"search": "limit" may now be at most 500 (was 100)',
    ),
    case(
        "a maximum dropped",
        lambda s: s.parameters("search")["limit"].pop("maximum"),
        "compatible limit-loosened /inputSchema/properties/limit/maximum",
        '"search": "limit" no longer has an upper limit (was 100)',
    ),
    case(
        "a first maximum",
        lambda s: s.parameters("search")["score"].update(maximum=9.5),
        "breaking limit-tightened /inputSchema/properties/score/maximum",
        '"search": "score" must now be at most 9.5 (no limit before)',
    ),
    case(
        "an exclusive bound that becomes inclusive",
        lambda s: s.parameters("search").update(score={"type": "number", "minimum": 0, "multipleOf": 0.5}),
        "compatible limit-loosened /inputSchema/properties/score/minimum",
        '"search": "score" may now be at least 0 (was more than 0)',
    ),
    case(
        "a longer minimum length",
        lambda s: s.parameters("create_order")["customer"].update(minLength=8),
        "breaking limit-tightened /inputSchema/properties/customer/minLength",
        '"create_order": "customer" must now have at least 8 characters (was 3)',
    ),
    case(
        "no minimum length",
        lambda s: s.parameters("create_order")["customer"].update(minLength=0),
        "compatible limit-loosened /inputSchema/properties/customer/minLength",
        '"create_order": "customer" may now have any number of characters (was at least 3)',
    ),
    case(
        "fewer items",
        lambda s: s.parameters("search")["tags"].update(maxItems=1),
        "breaking limit-tightened /inputSchema/properties/tags/maxItems",
        '"search": "tags" must now have at most 1 item (was 5)',
    ),
    case(
        "unique items",
        lambda s: s.parameters("search")["tags"].update(uniqueItems=True),
        "breaking limit-tightened /inputSchema/properties/tags/uniqueItems",
        '"search": the items of "tags" must now be unique',
    ),
    case(
        "a finer multiple",
        lambda s: s.parameters("search")["score"].update(multipleOf=0.1),
        "compatible limit-loosened /inputSchema/properties/score/multipleOf",
        '"search": "score" may now be a multiple of 0.1 (was 0.5)',
    ),
    case(
        "another multiple",
        lambda s: s.parameters("search")["score"].update(multipleOf=0.3),
        "breaking limit-changed /inputSchema/properties/score/multipleOf",
        '"search": "score" must now be a multiple of 0.3 (was 0.5)',
    ),
    case(
        "another pattern",
        lambda s: item_schema(s)["properties"]["sku"].update(pattern="^[A-Z]{4}"),
        "breaking pattern /inputSchema/properties/items/items/properties/sku/pattern",
        '"create_order": "items[].sku" must now match "^[A-Z]{4}" (was "^[A-Z]{3}")',
    ),
    case(
        "no pattern",
        lambda s: item_schema(s)["properties"]["sku"].pop("pattern"),
        "compatible pattern /inputSchema/properties/items/items/properties/sku/pattern",
        '"create_order": "items[].sku" need no longer match "^[A-Z]{3}"',
    ),
    case(
        "another format",
        lambda s: s.parameters("create_order")["when"].update(format="date-time"),
        "breaking format /inputSchema/properties/when/format",
        '"create_order": "when" must now be of the format "date-time" (was "date")',
    ),
    case(
        "a first format",
        lambda s: s.parameters("create_order")["note"].update(format="uri"),
        "breaking format /inputSchema/properties/note/format",
        '"create_order": "note" must now be of the format "uri" (no format before)',
    ),
    case(
        "a format that nothing checks",
        lambda s: s.parameters("search")["limit"].update(format="int64"),
        "compatible format /inputSchema/properties/limit/format",
        '"search": "limit" is now marked with the format "int64" (no format before)',
    ),
    case(
        "a single value",
        lambda s: s.parameters("create_order")["note"].update(const="a"),
        "breaking values-removed /inputSchema/properties/note/const",
        '"create_order": "note" must now be "a"',
    ),
    case(
        "a limit on what is never there",
        lambda s: s.parameters("create_order")["note"].update(maxItems=3),
        "cosmetic rewritten /inputSchema",
        '"create_order": input schema written differently, same meaning',
    ),
    case(
        "a format of texts on an integer",
        lambda s: s.parameters("search")["limit"].update(format="date-time"),
        "compatible format /inputSchema/properties/limit/format",
        '"search": "limit" is now marked with the format "date-time" (no format before)',
    ),
    case(
        "a multiple that every integer is",
        lambda s: s.parameters("search")["limit"].update(multipleOf=1),
        "cosmetic rewritten /inputSchema",
        '"search": input schema written differently, same meaning',
    ),
    case(
        "null among the types, not among the values",
        lambda s: s.parameters("create_order")["priority"].update(type=["string", "null"]),
        "cosmetic rewritten /inputSchema",
        '"create_order": input schema written differently, same meaning',
    ),
    case(
        "a value of no type that is accepted",
        lambda s: s.parameters("create_order")["priority"]["enum"].append(None),
        "cosmetic rewritten /inputSchema",
        '"create_order": input schema written differently, same meaning',
    ),
]


@pytest.mark.parametrize("edit", CASES, ids=str)
def test_an_edit_to_values_is_one_change_with_its_class_and_its_words(edit: Case) -> None:
    check(edit)


RULES_OF_ONE_TYPE: dict[str, dict[str, Any]] = {
    "number": {"minimum": 1, "maximum": 9, "exclusiveMinimum": 0, "exclusiveMaximum": 10, "multipleOf": 2},
    "string": {"minLength": 1, "maxLength": 9, "pattern": "^a", "format": "email"},
    "array": {
        **{key: {"type": "string"} for key in ("items", "additionalItems", "unevaluatedItems", "contains")},
        "prefixItems": [{"type": "string"}],
        "minItems": 1,
        "maxItems": 9,
        "uniqueItems": True,
        "minContains": 2,
        "maxContains": 3,
    },
    "object": {
        **{key: {"a": {"type": "string"}} for key in ("properties", "patternProperties", "dependentSchemas")},
        **{key: {"a": ["b"]} for key in ("dependencies", "dependentRequired")},
        **dict.fromkeys(("additionalProperties", "unevaluatedProperties"), False),
        "required": ["a"],
        "propertyNames": {"pattern": "^a"},
        "minProperties": 1,
        "maxProperties": 9,
    },
}


def test_every_rule_of_one_type_is_among_these() -> None:
    named = {name for rules in RULES_OF_ONE_TYPE.values() for name in rules}
    assert named == SPEAKS_OF.keys() | {"format"}


@pytest.mark.parametrize("side", ["inputSchema", "outputSchema"])
@pytest.mark.parametrize(
    ("kind", "rule"), [(kind, rule) for kind in RULES_OF_ONE_TYPE for rule in RULES_OF_ONE_TYPE[kind]]
)
def test_the_rules_of_a_type_that_is_newly_accepted_refuse_nothing_that_was_accepted(
    kind: str, rule: str, side: str
) -> None:
    plain = Toolset(({"name": "t", side: {"type": "object", "properties": {"p": {"type": "boolean"}}}},))
    ruled = {"type": ["boolean", kind], rule: RULES_OF_ONE_TYPE[kind][rule]}
    wider = Toolset(({"name": "t", side: {"type": "object", "properties": {"p": ruled}}},))
    prefix = "output-" if side == "outputSchema" else ""
    assert [change.kind for change in diff(plain, wider).changes] == [f"{prefix}type-widened"]
    assert [change.kind for change in diff(wider, plain).changes] == [f"{prefix}type-narrowed"]


def test_a_type_that_no_specification_knows_makes_no_rule_idle() -> None:
    old = Toolset(
        ({"name": "t", "inputSchema": {"properties": {"p": {"type": "Object", "required": ["a"]}}}},)
    )
    new = Toolset(({"name": "t", "inputSchema": {"properties": {"p": {"type": "Object"}}}},))
    assert [change.kind for change in diff(old, new).changes] == ["optional"]


@pytest.mark.parametrize("constant", [None, True, False])
def test_a_constant_that_no_accepted_type_has_refuses_everything(constant: object) -> None:
    told = messages({"type": "object"}, {"type": "object", "const": constant})
    assert [klass for klass, _ in told] == ["breaking"]
