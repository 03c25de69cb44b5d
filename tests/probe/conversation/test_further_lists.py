"""Prompts, resources and templates are read like the tools, where they are watched and offered."""

from typing import Any

import pytest

from driftwatch import checks
from driftwatch.evidence import Evidence, Listing, Missing, from_json, to_json
from driftwatch.judging import judge
from driftwatch.model import Era, State
from driftwatch.probe import Limits
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp
from tests.specimens.running import running

ALL = ("tools", "prompts", "resources")
PROMPTS = [{"name": f"prompt-{number}"} for number in range(5)]
RESOURCES = [{"uri": "file:///a", "name": "a"}]


def offering(capabilities: tuple[str, ...] = ("prompts", "resources"), **changes: Any) -> Mcp:
    """A server with prompts in pages of two, and resources without templates."""

    def before(mcp: Mcp, incoming: Incoming) -> Answer | None:
        message = incoming.rpc if incoming.method == "POST" else {}
        method, params = message.get("method"), message.get("params", {})
        start = int(params.get("cursor", 0))
        if method == "prompts/list":
            result: dict[str, Any] = {"prompts": PROMPTS[start : start + 2]}
            if start + 2 < len(PROMPTS):
                result["nextCursor"] = str(start + 2)
        elif method == "resources/list":
            result = {"resources": RESOURCES}
        else:
            return None
        return mcp.reply(message, {**result, "resultType": "complete", "ttlMs": 0, "cacheScope": "private"})

    declared: dict[str, Any] = {"tools": {}, **{name: {} for name in capabilities}}
    return Mcp(**{"capabilities": declared, "before": before, **changes})


def lists(evidence: Evidence, era: Era) -> dict[str, Any]:
    (surface,) = (surface for surface in evidence.surfaces if surface.era is era)
    return {
        each.kind: each.listing.code if isinstance(each.listing, Missing) else list(each.listing.tools)
        for each in surface.further
    }


@pytest.mark.parametrize(
    ("era", "speaks"),
    [
        (Era.MODERN, {"legacy": False}),
        (Era.LEGACY, {"modern": False}),
    ],
)
async def test_watched_lists_are_read_to_their_end(era: Era, speaks: dict[str, Any]) -> None:
    async with running(offering(**speaks)) as server:
        evidence = await server.probe(watch=ALL)
    assert lists(evidence, era) == {"prompts": PROMPTS, "resources": RESOURCES, "templates": "unknown-method"}
    assert from_json(to_json(evidence)) == evidence


async def test_nothing_is_asked_that_is_not_watched_or_not_declared() -> None:
    async with running(offering()) as server:
        evidence = await server.probe()
        assert lists(evidence, Era.MODERN) == {}
        assert not {"prompts/list", "resources/list"} & set(server.asked)
    async with running(offering(capabilities=())) as server:
        evidence = await server.probe(watch=ALL)
        assert not {"prompts/list", "resources/list"} & set(server.asked)
    assert lists(evidence, Era.LEGACY) == {
        "prompts": "no-prompts-capability",
        "resources": "no-resources-capability",
        "templates": "no-resources-capability",
    }


async def test_the_lists_are_in_the_fingerprint_only_where_they_are_watched() -> None:
    async with running(offering()) as server:
        plain, watched = await server.probe(), await server.probe(watch=ALL)
    prints = [
        [surface.fingerprint for surface in judge(evidence, checks.Policy()).report.surfaces]
        for evidence in (plain, watched)
    ]
    for one, other in zip(*prints, strict=True):
        assert one is not None
        assert other is not None
        assert one.contract == other.contract
        assert one.surface != other.surface


async def test_the_frame_of_every_list_is_judged() -> None:
    def after(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.rpc_method != "prompts/list":
            return answer
        return answer.but(body=answer.body.replace(b'"2.0"', b'"1.0"', 1))

    async with running(offering(after=after)) as server:
        evidence = await server.probe(watch=ALL)
    found = judge(evidence, checks.Policy()).report.result("mcp/envelope")
    assert (found.state, found.code) == (State.FAILED, "jsonrpc-version")
    assert {finding.subject for finding in found.findings} == {"prompts/list"}


async def test_a_list_that_was_not_read_to_its_end_leaves_no_fingerprint() -> None:
    async with running(offering(modern=False)) as server:
        evidence = await server.probe(watch=ALL, limits=Limits(max_pages=2))
    judged = judge(evidence, checks.Policy())
    (surface,) = evidence.surfaces
    assert isinstance(surface.listing, Listing)
    assert surface.listing.complete
    assert judged.toolsets == ()
    result = judged.report.result("release/fingerprint")
    assert result.state is State.NOT_CHECKED
    assert result.reason is not None
    assert result.reason.startswith("the list of prompts is incomplete: no end after 2 pages")
