from collections.abc import Callable

import pytest

from driftwatch.evidence import Evidence, Listing
from driftwatch.model import Json
from tests.specimens.mcp import Mcp, tool
from tests.specimens.running import running

LONG = "x" * 100_000


def tools(*, closed: Json = True) -> tuple[Json, ...]:
    schema = {"type": "object", "additionalProperties": closed}
    return tuple(tool(f"tool_{number}", description=LONG, inputSchema=schema) for number in range(4))


def older(shown: tuple[Json, ...]) -> Callable[[str, Json, Json], Json]:
    """What the legacy era answers; its requests carry no ``_meta``."""

    def result(method: str, params: Json, result: Json) -> Json:
        return (
            {**result, "tools": list(shown)} if method == "tools/list" and "_meta" not in params else result
        )

    return result


async def lists(server: Mcp) -> tuple[Listing, Listing]:
    async with running(server) as visited:
        evidence: Evidence = await visited.probe()
    modern, legacy = (surface.listing for surface in evidence.surfaces)
    assert isinstance(modern, Listing)
    assert isinstance(legacy, Listing)
    return modern, legacy


@pytest.mark.parametrize("page_size", [None, 3])
async def test_a_large_list_that_both_eras_show_is_held_once(page_size: int | None) -> None:
    modern, legacy = await lists(Mcp(tools=tools(), page_size=page_size))
    assert legacy.tools is modern.tools
    answered = [entry for exchange in legacy.exchanges for entry in exchange.result["tools"]]
    assert list(map(id, answered)) == list(map(id, modern.tools))
    assert tuple(answered) == tools()


async def test_what_only_python_takes_for_the_same_stays_as_each_era_shows_it() -> None:
    modern, legacy = await lists(Mcp(tools=tools(), result=older(tools(closed=1))))
    assert modern.tools == legacy.tools
    assert modern.tools[0]["inputSchema"]["additionalProperties"] is True
    assert legacy.tools[0]["inputSchema"]["additionalProperties"] == 1
    assert legacy.tools[0]["inputSchema"]["additionalProperties"] is not True


async def test_eras_that_show_different_lists_keep_them() -> None:
    modern, legacy = await lists(Mcp(tools=tools(), result=older(tools()[:3])))
    assert len(modern.tools) == 4
    assert len(legacy.tools) == 3
