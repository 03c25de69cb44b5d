"""What each digest covers, and what moves none of them."""

import hashlib
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.toolset import ALGORITHM, Toolset, fingerprint, tool_digests
from tests.toolset.strategies import texts, tools
from tests.toolset.test_canonical import shuffled

TOOL: dict[str, Any] = {
    "name": "status",
    "title": "Status",
    "description": "Tells the state.",
    "inputSchema": {"type": "object", "properties": {"id": {"type": "string", "description": "Number"}}},
    "outputSchema": {"type": "object"},
    "annotations": {"readOnlyHint": True},
    "_meta": {"build": 1},
    "icons": [{"src": "https://example.org/a.png"}],
}


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def one(**changes: Any) -> Toolset:
    return Toolset(({**TOOL, **changes},), "Ask first.")


def test_a_person_can_recompute_the_digests() -> None:
    found = fingerprint(one())
    contract = (
        '[{"inputSchema":{"properties":{"id":{"description":"Number","type":"string"}},"type":"object"},'
        '"name":"status"}]'
    )
    surface = (
        '{"instructions":"Ask first.","tools":[{"annotations":{"destructiveHint":true,"idempotentHint"'
        ':false,"openWorldHint":true,"readOnlyHint":true},"description":"Tells the state.","execution":'
        '{"taskSupport":"forbidden"},"outputSchema":{"type":"object"},"title":"Status"}]}'
    )
    assert found.contract == sha256(contract)
    assert found.surface == sha256(surface)
    assert found.algorithm == ALGORITHM == "dw1"
    assert found.pair == f"dw1:{found.contract}.{found.surface}"
    ((name, digest),) = tool_digests(one())
    entry = surface.removeprefix('{"instructions":"Ask first.","tools":[').removesuffix("]}")
    assert (name, digest) == ("status", sha256(f"[{contract[1:-1]},{entry}]"))


def test_an_empty_list_has_a_fingerprint() -> None:
    found = fingerprint(Toolset(()))
    assert found.contract == sha256("[]")
    assert found.surface == sha256('{"instructions":null,"tools":[]}')
    assert tool_digests(Toolset(())) == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "state"},
        {"inputSchema": {"type": "object"}},
        {"inputSchema": {"type": "object", "properties": {"id": {"type": "string", "description": "No."}}}},
    ],
)
def test_names_and_input_schemas_are_the_contract(changes: dict[str, Any]) -> None:
    before, after = fingerprint(one()), fingerprint(one(**changes))
    assert before.contract != after.contract
    assert before.surface == after.surface
    assert before.checklist != after.checklist


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "State"},
        {"description": "Tells the state"},
        {"annotations": {}},
        {"annotations": {"readOnlyHint": True, "title": "State"}},
        {"outputSchema": None},
        {"execution": {"taskSupport": "optional"}},
    ],
)
def test_what_a_model_reads_beside_it_is_the_surface(changes: dict[str, Any]) -> None:
    before, after = fingerprint(one()), fingerprint(one(**changes))
    assert before.surface != after.surface
    assert (before.contract, before.checklist) == (after.contract, after.checklist)
    assert tool_digests(one()) != tool_digests(one(**changes))


def test_instructions_are_surface() -> None:
    before, after = fingerprint(Toolset((TOOL,), "Ask.")), fingerprint(Toolset((TOOL,), None))
    assert (before.contract, before.surface != after.surface) == (after.contract, True)


@pytest.mark.parametrize(
    "changes",
    [
        {"_meta": {"build": 2}},
        {"icons": []},
        {
            "annotations": {
                "readOnlyHint": True,
                "destructiveHint": True,
                "idempotentHint": False,
                "openWorldHint": True,
            }
        },
        {"annotations": {"readOnlyHint": True, "title": None}},
        {"execution": {}},
        {"execution": {"taskSupport": "forbidden"}},
        {"vendor": "anything"},
    ],
)
def test_noise_and_spelled_out_defaults_move_nothing(changes: dict[str, Any]) -> None:
    assert fingerprint(one()) == fingerprint(one(**changes))
    assert tool_digests(one()) == tool_digests(one(**changes))


def test_tool_digests_keep_the_order_of_the_list() -> None:
    listed = Toolset(({"name": "b"}, {"name": "a"}, {"title": "none"}, {"name": 3}))
    assert [name for name, _ in tool_digests(listed)] == ["b", "a", "(no name)", "3"]


def test_twins_that_exchange_their_descriptions_are_another_toolset() -> None:
    first, second = {"type": "object"}, {"type": "object", "required": []}
    one_way = Toolset(
        (
            {"name": "a", "inputSchema": first, "description": "x"},
            {"name": "a", "inputSchema": second, "description": "y"},
        )
    )
    other_way = Toolset(
        (
            {"name": "a", "inputSchema": first, "description": "y"},
            {"name": "a", "inputSchema": second, "description": "x"},
        )
    )
    assert fingerprint(one_way).contract == fingerprint(other_way).contract
    assert fingerprint(one_way).surface != fingerprint(other_way).surface


@given(st.lists(tools, max_size=5), st.integers(0, 9), texts)
def test_the_order_of_tools_and_members_means_nothing(
    listed: list[Any], seed: int, instructions: str
) -> None:
    again = shuffled(listed, seed)
    random.Random(seed).shuffle(again)
    before, after = Toolset(tuple(listed), instructions), Toolset(tuple(again), instructions)
    assert fingerprint(before).pair == fingerprint(after).pair
    assert sorted(tool_digests(before)) == sorted(tool_digests(after))


def respelled(value: Any) -> Any:
    """The same JSON with whole numbers as floats, where a double can say them."""
    if isinstance(value, dict):
        return {key: respelled(item) for key, item in value.items()}
    if isinstance(value, list):
        return [respelled(item) for item in value]
    whole = isinstance(value, int) and not isinstance(value, bool) and abs(value) <= 2**53
    return float(value) if whole else value


@given(tools)
def test_the_spelling_of_numbers_means_nothing(tool: Any) -> None:
    before, after = fingerprint(Toolset((tool,))), fingerprint(Toolset((respelled(tool),)))
    assert before.pair == after.pair


@given(st.lists(tools, max_size=3))
def test_what_was_stored_as_json_has_the_same_fingerprint(listed: list[Any]) -> None:
    stored = json.loads(json.dumps(listed))
    assert fingerprint(Toolset(tuple(listed))) == fingerprint(Toolset(tuple(stored)))
