"""What stays of a list that changes at every read."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.model import Json
from driftwatch.toolset import Toolset, differs_only_in_marks, fingerprint, settled
from driftwatch.toolset.settled import MARK
from tests.toolset.strategies import tools

toolsets = st.lists(tools, max_size=4).map(lambda found: Toolset(tools=tuple(found)))
named = toolsets.filter(lambda found: all(isinstance(item, dict) and "name" in item for item in found.tools))


def listed(*tools: dict[str, Json], **more: Any) -> Toolset:
    return Toolset(tools=tools, **more)


def tool(name: str, **members: Json) -> dict[str, Json]:
    return {"name": name, **members}


SETTLED = {
    "text": (
        tool("a", description="At 12:01"),
        tool("a", description="At 12:02"),
        tool("a", description=MARK),
    ),
    "type": (tool("a", title="5"), tool("a", title=5), tool("a", title=MARK)),
    "true-is-not-one": (tool("a", x=True), tool("a", x=1), tool("a", x=MARK)),
    "order": (tool("a", x=["b", "a"]), tool("a", x=["a", "b"]), tool("a", x=MARK)),
    "length": (tool("a", x=["a"]), tool("a", x=["a", "b"]), tool("a", x=MARK)),
    "item": (tool("a", x=["a", 1]), tool("a", x=["a", 2]), tool("a", x=MARK)),
    "member": (tool("a"), tool("a", title="A"), tool("a", title=MARK)),
    "deep": (
        tool("a", x={"y": [{"z": 1}]}),
        tool("a", x={"y": [{"z": 2}]}),
        tool("a", x={"y": [{"z": MARK}]}),
    ),
    "number": (tool("a", x=1), tool("a", x=1.0), tool("a", x=1)),
}


@pytest.mark.parametrize(("one", "other", "both"), SETTLED.values(), ids=SETTLED)
def test_what_is_not_the_same_in_all_reads_is_marked(
    one: dict[str, Json], other: dict[str, Json], both: dict[str, Json]
) -> None:
    stays = tool("b", description="Stays.")
    found = settled([listed(one, stays), listed(stays, other)])
    assert found.tools == (both, stays)
    assert settled([found, listed(one, stays), listed(other, stays)]) == found


def test_instructions_that_change_are_marked() -> None:
    found = settled([listed(tool("a"), instructions="1"), listed(tool("a"), instructions="2")])
    assert found.instructions == MARK


def test_a_list_differs_only_in_marks_where_it_has_the_same_tools_and_members() -> None:
    marked = listed(tool("a", description=MARK), tool("b", title="B"))
    assert differs_only_in_marks(marked, listed(tool("b", title="B"), tool("a", description="Now.")))
    assert differs_only_in_marks(marked, listed(tool("a"), tool("b", title="B")))
    for other in (
        listed(tool("a", description="Now.")),
        listed(tool("a", description="Now."), tool("b", title="C")),
        listed(tool("a", description="Now."), tool("b", title="B"), tool("c")),
        listed(tool("a", description="Now.", title="A"), tool("b", title="B")),
    ):
        assert not differs_only_in_marks(marked, other)


def test_another_order_is_a_difference_where_it_has_no_mark() -> None:
    assert not differs_only_in_marks(listed(tool("a", x=["a", "b"])), listed(tool("a", x=["b", "a"])))


def test_a_list_differs_in_more_than_marks_where_a_tool_or_member_is_gone() -> None:
    marked = listed(tool("a", description=MARK), tool("b", title="B"))
    for other in (
        listed(tool("b", title="B")),
        listed(tool("a", description="Now."), tool("b")),
    ):
        assert not differs_only_in_marks(marked, other)


@given(toolsets)
def test_what_never_changes_settles_as_it_is(toolset: Toolset) -> None:
    assert fingerprint(settled([toolset, toolset])) == fingerprint(toolset)
    assert differs_only_in_marks(toolset, toolset)


@given(named, named)
def test_two_reads_differ_from_what_they_settle_to_only_in_marks(one: Toolset, other: Toolset) -> None:
    found = settled([one, other])
    assert settled([found, one]).tools == found.tools
    assert settled([found, other]).instructions == found.instructions
