"""The checklist's own fingerprint: byte for byte what jq prints, or nothing where its versions disagree."""

import hashlib
import json
import shutil
import subprocess
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftwatch.toolset.checklist import checklist_digest
from tests.toolset.strategies import names

LINE = "map({name, inputSchema}) | sort_by(.name)"

needs_jq = pytest.mark.skipif(
    shutil.which("jq") is None, reason="jq is not installed: its output is not compared"
)


def printed_by_jq(tools: list[Any]) -> bytes | None:
    """What the checklist's line prints for these tools; None where jq refuses them."""
    lines = "\n".join(json.dumps(tool) for tool in tools)
    run = subprocess.run(["jq", "-S", "-s", LINE], input=lines.encode(), capture_output=True, check=False)
    return run.stdout if run.returncode == 0 else None


def digest(output: bytes) -> str:
    return hashlib.sha256(output).hexdigest()


def tool(schema: Any, name: Any = "a") -> dict[str, Any]:
    return {"name": name, "inputSchema": schema}


EXAMPLE = [
    {
        "name": "b",
        "description": "Tells.",
        "inputSchema": {"type": "object", "required": ["b", "a"], "default": 0.5},
    },
    {
        "name": "a",
        "inputSchema": {"properties": {"\u007f": {}, "é\U0001f600": {"enum": [1, -2, None, True]}}},
    },
    {"name": "a", "inputSchema": []},
    {"title": "nameless"},
]
OUTPUT = """[
  {
    "inputSchema": null,
    "name": null
  },
  {
    "inputSchema": {
      "properties": {
        "\\u007f": {},
        "é😀": {
          "enum": [
            1,
            -2,
            null,
            true
          ]
        }
      }
    },
    "name": "a"
  },
  {
    "inputSchema": [],
    "name": "a"
  },
  {
    "inputSchema": {
      "default": 0.5,
      "required": [
        "b",
        "a"
      ],
      "type": "object"
    },
    "name": "b"
  }
]
"""


def test_the_digest_is_that_of_the_text_a_person_sees() -> None:
    assert checklist_digest(EXAMPLE) == digest(OUTPUT.encode())


def test_an_empty_list_has_a_digest() -> None:
    assert checklist_digest([]) == digest(b"[]\n")


def test_the_order_in_a_schema_counts_and_that_of_tools_does_not() -> None:
    one, other = tool({"required": ["a", "b"]}), tool({"required": ["b", "a"]})
    assert checklist_digest([one]) != checklist_digest([other])
    assert checklist_digest([one, tool({}, "b")]) == checklist_digest([tool({}, "b"), one])


@pytest.mark.parametrize(
    "value",
    [1.0, 1e2, -0.0, 0.00001, 2**53 + 1, 10**30, float("inf"), float("nan"), [{"x": 5.0}]],
    ids=repr,
)
def test_a_number_that_jq_versions_print_differently_has_no_digest(value: Any) -> None:
    assert checklist_digest([tool({"default": value})]) is None


@pytest.mark.parametrize(
    "value", [0, -1, 2**53, -(2**53), 0.5, 0.0001, -123.25, 0.30000000000000004], ids=repr
)
def test_a_number_that_all_print_alike_has_one(value: Any) -> None:
    assert checklist_digest([tool({"default": value})]) is not None


@pytest.mark.parametrize(
    "unreadable",
    [
        tool({"title": "\ud800"}),
        {**tool({}), "description": "\udfff"},
        {**tool({}), "\ud800": 1},
        "a tool that is no object",
        ["name"],
    ],
    ids=repr,
)
def test_what_jq_refuses_has_no_digest(unreadable: Any) -> None:
    assert checklist_digest([tool({}), unreadable]) is None


def nested(depth: int) -> Any:
    value: Any = {}
    for _ in range(depth):
        value = {"a": value}
    return value


@pytest.mark.parametrize("place", ["inputSchema", "_meta"])
def test_a_depth_that_jq_refuses_has_no_digest(place: str) -> None:
    assert checklist_digest([{"name": "a", place: nested(126)}]) is not None
    assert checklist_digest([{"name": "a", place: nested(127)}]) is None
    assert checklist_digest([{"name": "a", place: nested(5_000)}]) is None


numbers_alike = st.one_of(
    st.integers(-(2**53), 2**53),
    st.decimals("-9999", "9999", places=3).map(float).filter(lambda n: not n.is_integer()),
)
readable = names.filter(lambda text: text.isascii() or text.encode("utf-8", "replace").decode() == text)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers_alike, readable),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(readable, inner, max_size=4)),
    max_leaves=12,
)
lists = st.lists(
    st.one_of(
        st.none(),
        st.fixed_dictionaries({}, optional={"name": values, "inputSchema": values, "description": values}),
        st.fixed_dictionaries({"name": readable, "inputSchema": values}),
    ),
    max_size=5,
)


@needs_jq
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(lists)
def test_jq_prints_what_the_digest_covers(tools: list[Any]) -> None:
    output = printed_by_jq(tools)
    assert output is not None
    assert checklist_digest(tools) == digest(output)


@needs_jq
@settings(max_examples=40, deadline=None)
@given(st.one_of(st.floats(), st.integers()))
def test_where_there_is_a_digest_jq_agrees_on_the_number(number: float) -> None:
    tools = [tool(number)]
    found = checklist_digest(tools)
    if found is not None:
        output = printed_by_jq(tools)
        assert output is not None
        assert found == digest(output)


@needs_jq
@pytest.mark.parametrize("depth", [125, 126, 127, 128])
def test_jq_refuses_the_depth_that_has_no_digest(depth: int) -> None:
    tools = [tool(nested(depth))]
    assert (printed_by_jq(tools) is None) is (checklist_digest(tools) is None)
