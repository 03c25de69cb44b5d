"""Tools and parameters under another name: called renamed where that is sure, two events where not."""

from typing import Any

import pytest

from driftwatch.model import Json
from driftwatch.toolset import Diff, Toolset, diff, pairing

ORDER: dict[str, Any] = {
    "type": "object",
    "properties": {"order_id": {"type": "string"}},
    "required": ["order_id"],
}
PAGE: dict[str, Any] = {
    "type": "object",
    "properties": {"url": {"type": "string"}, "timeout": {"type": "integer", "maximum": 60}},
    "required": ["url"],
}
EMPTY: dict[str, Any] = {"type": "object"}


def tool(name: str, schema: Any = None, description: str | None = None, **more: Any) -> dict[str, Any]:
    described = {} if description is None else {"description": description}
    return {"name": name, "inputSchema": ORDER if schema is None else schema, **described, **more}


def compared(old: list[Any], new: list[Any]) -> Diff:
    return diff(Toolset(tuple(old)), Toolset(tuple(new)))


def kinds(found: Diff) -> list[str]:
    return sorted(change.kind for change in found.changes)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (tool("status"), tool("order_status")),
        (tool("status", PAGE), tool("lookup", PAGE)),
        (tool("status", description="Tells the state."), tool("lookup", description="Tells the state.")),
        (tool("get_order"), tool("getOrder")),
        (tool("get-order", EMPTY), tool("GetOrder", EMPTY)),
        (tool("list_orders", EMPTY), tool("shop_list_orders", EMPTY)),
        (tool("ping", EMPTY, "Answers."), tool("health", EMPTY, "Answers.")),
        (
            tool("fetch", PAGE, "Reads a page."),
            tool(
                "fetch_page",
                {**PAGE, "properties": {**PAGE["properties"], "raw": {"type": "boolean"}}},
                "Reads a page.",
            ),
        ),
    ],
)
def test_one_tool_under_another_name_is_renamed(old: Any, new: Any) -> None:
    found = compared([tool("other", PAGE, "Another one."), old], [new, tool("other", PAGE, "Another one.")])
    renamed = [change for change in found.changes if change.kind == "tool-renamed"]
    assert [(change.before, change.after, change.tool) for change in renamed] == [
        (old["name"], new["name"], new["name"])
    ]
    assert not {"tool-added", "tool-removed"} & set(kinds(found))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (tool("status"), tool("lookup", PAGE)),
        (tool("ping", EMPTY), tool("restart", EMPTY)),
        (tool("list_orders", EMPTY, "Lists orders."), tool("reset_database", EMPTY, "Empties all tables.")),
        (tool("get_order"), tool("delete_order")),
        (tool("get_order", PAGE), tool("delete_order", PAGE)),
        (
            tool("status", description="Tells the state."),
            tool("cancel", description="Cancels a whole purchase."),
        ),
        (
            tool("read", PAGE, annotations={"readOnlyHint": True}),
            tool("purge", PAGE, annotations={"readOnlyHint": False}),
        ),
        (tool("a", schema=True), tool("b", schema=True)),
        ("no tool", "another"),
    ],
)
def test_what_only_might_be_one_tool_is_told_as_two_events(old: Any, new: Any) -> None:
    assert kinds(compared([old], [new])) in (["tool-added", "tool-removed"], ["schema-replaced"])


def test_an_added_tool_with_the_parameters_of_a_removed_one_says_so() -> None:
    found = compared([tool("get_page", PAGE)], [tool("drop_page", PAGE)])
    assert [change.message for change in found.changes] == [
        'tool "get_page" removed',
        'tool "drop_page" added (2 parameters, 1 required), with the parameters of the removed "get_page"',
    ]


def test_several_tools_renamed_at_once_find_their_partners() -> None:
    names = ["create", "read", "update", "delete"]
    old = [tool(f"order_{name}", description=f"Can {name} one order.") for name in names]
    new = [tool(f"orders.{name}", description=f"Can {name} one order.") for name in reversed(names)]
    found = compared(old, new)
    assert {(change.before, change.after) for change in found.changes} == {
        (f"order_{name}", f"orders.{name}") for name in names
    }
    assert found.summary == "4 tools renamed"


def test_many_tools_with_a_new_prefix_are_paired_too() -> None:
    old = [tool(f"tool_{index}", description=f"Does thing {index}.") for index in range(150)]
    new = [tool(f"v2_tool_{index}", description=f"Does thing {index}.") for index in range(150)]
    assert compared(old, new).summary == "150 tools renamed"


def test_many_tools_are_paired_however_their_schemas_are_written() -> None:
    """All have the same parameters, and only the limit tells one from another."""

    def schema(index: int, limit: float) -> Json:
        return {"type": "object", "properties": {"page": {"type": "integer", "maximum": limit + index}}}

    old = [tool(f"tool_{index}", schema(index, 1)) for index in range(150)]
    new = [tool(f"v2_tool_{index}", schema(index, 1.0)) for index in range(150)]
    new[7]["inputSchema"] = dict(reversed(new[7]["inputSchema"].items()))
    assert compared(old, new).summary == "150 tools renamed"


def test_a_renamed_tool_tells_what_else_changed_under_its_new_name() -> None:
    found = compared(
        [tool("status", description="Tells the state.")],
        [tool("order_status", {**ORDER, "additionalProperties": False}, "Tells one state.")],
    )
    assert [change.message for change in found.changes] == [
        'tool "status" renamed to "order_status" (other parameters too)',
        '"order_status": unknown parameters are now refused',
        '"order_status": description changed: "Tells the state." -> "Tells one state."',
    ]
    assert found.summary == "1 tool renamed, 1 rule for the unknown changed, 1 description changed"


def test_every_parameter_that_is_newly_required_is_told() -> None:
    found = compared(
        [inputs("a", a=STRING, b=STRING, c=STRING)], [inputs("a", "b", "c", a=STRING, b=STRING, c=STRING)]
    )
    assert parameters(found) == ['"b" is now required', '"c" is now required']


def parameters(found: Diff) -> list[str]:
    return [change.message.removeprefix('"t": ') for change in found.changes]


def inputs(*required: str, **properties: Any) -> dict[str, Any]:
    return tool("t", {"type": "object", "properties": properties, "required": list(required)})


STRING = {"type": "string"}


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (inputs(q=STRING), inputs(query=STRING), ['parameter "q" renamed to "query"']),
        (inputs("q", q=STRING), inputs("text", text=STRING), ['parameter "q" renamed to "text"']),
        (inputs(orderId=STRING), inputs(order_id=STRING), ['parameter "orderId" renamed to "order_id"']),
        (
            inputs(city={**STRING, "description": "Name of the city"}),
            inputs(place={**STRING, "description": "Name of the city", "maxLength": 9}),
            [
                '"place" must now have at most 9 characters (no limit before)',
                'parameter "city" renamed to "place"',
            ],
        ),
        (
            inputs(q=STRING),
            inputs("query", query=STRING),
            ['"query" is now required', 'parameter "q" renamed to "query"'],
        ),
        (
            inputs(from_date=STRING, to_date=STRING),
            inputs(date_from=STRING, date_to=STRING),
            ['parameter "from_date" renamed to "date_from"', 'parameter "to_date" renamed to "date_to"'],
        ),
        # Not sure: told as two events.
        (
            inputs(note={**STRING, "description": "Free text for the driver"}),
            inputs(tag={**STRING, "description": "Label that reports filter by"}),
            ['parameter "note" (string, optional) dropped', 'parameter "tag" (string, optional) added'],
        ),
        (
            inputs(a=STRING, b=STRING),
            inputs(x=STRING),
            [
                'parameter "a" (string, optional) dropped',
                'parameter "b" (string, optional) dropped',
                'parameter "x" (string, optional) added',
            ],
        ),
        (
            inputs(limit={"type": "integer"}),
            inputs(limits=STRING),
            ['parameter "limit" (integer, optional) dropped', 'parameter "limits" (string, optional) added'],
        ),
    ],
)
def test_a_parameter_is_renamed_where_that_is_sure(old: Any, new: Any, told: list[str]) -> None:
    assert sorted(parameters(compared([old], [new]))) == told


def test_a_tool_with_very_many_parameters_is_not_read_again_for_every_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def schema(count: int) -> dict[str, Json]:
        return {"type": "object", "properties": {f"p{number}": {"type": "string"} for number in range(count)}}

    read: list[Json] = []
    parameters = pairing._parameters

    def counted(tool: dict[str, Json]) -> frozenset[tuple[str, str]]:
        read.append(tool)
        return parameters(tool)

    monkeypatch.setattr(pairing, "_parameters", counted)
    old: list[Json] = [{"name": f"tool_{number}", "inputSchema": schema(3000)} for number in range(20)]
    new: list[Json] = [{"name": "wide", "inputSchema": schema(5000)}]
    found = diff(Toolset(tools=tuple(old)), Toolset(tools=tuple(new)))
    assert found.changes
    assert len(read) == len(old) + len(new)


def test_parameters_that_might_each_be_every_other_are_not_weighed_forever() -> None:
    def schema(kind: str) -> dict[str, Json]:
        inner: dict[str, Json] = {f"{kind * 3}{number}": {} for number in range(60)}
        return {"properties": {f"o{number}": {"properties": dict(inner)} for number in range(12)}}

    old, new = ({"name": "draw", "inputSchema": schema(kind)} for kind in "ab")
    told = [change.message for change in diff(Toolset((old,)), Toolset((new,))).changes]
    assert '"draw": the input schema changed in more ways than can be followed' in told
