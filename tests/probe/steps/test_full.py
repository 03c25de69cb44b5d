"""What a full probe asks beside the plain requests, how often, and what it leaves behind."""

import asyncio
from collections.abc import Callable

import pytest

from driftwatch.evidence import Evidence, Exchange, Missing, Surface, from_json, to_json
from driftwatch.model import DEPTH_CODE, Depth
from driftwatch.probe import Limits, ToolCall
from driftwatch.probe.steps import full
from tests.specimens import SPECIMENS, Specimen
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp, tool
from tests.specimens.running import Running, at_home, running

PARTS = (
    *("get", "json_only", "foreign_origin", "unknown_method", "invalid_cursor", "header_mismatch"),
    *("unsupported_version", "tool_arguments", "session_after_end"),
)


FURTHER = 13
"""Requests of the two further connections that compare replicas: they have a budget of their own."""


def seen(surface: Surface, part: str) -> Exchange:
    exchange = getattr(surface, part)
    assert isinstance(exchange, Exchange), f"{part}: {exchange}"
    return exchange


def missing(surface: Surface, part: str) -> str:
    why = getattr(surface, part)
    assert isinstance(why, Missing)
    return why.code


def sent(server: Running, label: str) -> list[Incoming]:
    """The requests that ask for something unusual, by what makes them so."""
    unusual: dict[str, Callable[[Incoming], bool]] = {
        "get": lambda one: one.method == "GET",
        "json-only": lambda one: one.headers.get("accept") == "application/json",
        "origin": lambda one: "origin" in one.headers,
        "method": lambda one: one.rpc_method == full.NO_SUCH_METHOD,
        "cursor": lambda one: one.rpc.get("params", {}).get("cursor") == full.NO_SUCH_CURSOR,
        "mismatch": lambda one: one.headers.get("mcp-method", one.rpc_method) != one.rpc_method,
        "version": lambda one: one.headers.get("mcp-protocol-version") == full.FUTURE_REVISION,
        "call": lambda one: one.rpc_method == "tools/call",
    }
    return [one for one in server.loopback.log if unusual[label](one)]


@pytest.mark.parametrize("specimen", SPECIMENS, ids=str)
async def test_a_full_probe_of_any_specimen_leaves_no_session_and_no_secret(specimen: Specimen) -> None:
    async with at_home(specimen) as server:
        evidence = await server.probe(path=specimen.path, depth=Depth.FULL, **specimen.target)
        assert tuple(surface.era for surface in evidence.surfaces) == specimen.eras
        assert specimen.leaves_sessions or not server.mcp.open_sessions
        assert evidence.requests == len(server.loopback.log) or server.loopback.turned_away
        assert "s3cret" not in str(to_json(evidence))
        assert from_json(to_json(evidence)) == evidence


async def test_a_light_probe_asks_none_of_it() -> None:
    async with running() as server:
        evidence = await server.probe()
    for surface in evidence.surfaces:
        assert {missing(surface, part) for part in PARTS} == {DEPTH_CODE}


async def test_each_request_is_sent_once_per_era_and_in_the_words_of_the_era() -> None:
    async with running(Mcp(page_size=2)) as server:
        evidence = await server.probe(depth=Depth.FULL)
    modern, legacy = evidence.surfaces
    for label in ("get", "json-only", "origin", "method", "cursor"):
        assert len(sent(server, label)) == 2, label
    for label in ("mismatch", "version"):
        assert len(sent(server, label)) == 1, label
    (older, newer) = sent(server, "get")
    assert newer.headers["mcp-protocol-version"] == "2026-07-28"
    assert older.headers["mcp-protocol-version"] == "2025-11-25"
    assert older.headers["mcp-session-id"] == "s3cret-session-1"
    assert older.headers["accept"] == newer.headers["accept"] == "text/event-stream"
    assert [one.rpc_method for one in sent(server, "json-only")] == ["initialize", "server/discover"]
    assert [one.rpc_method for one in sent(server, "origin")] == ["initialize", "server/discover"]
    assert "mcp-session-id" not in sent(server, "json-only")[0].headers
    (mismatch,) = sent(server, "mismatch")
    assert (mismatch.headers["mcp-method"], mismatch.rpc_method) == ("tools/list", "server/discover")
    (version,) = sent(server, "version")
    assert version.rpc["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2099-01-01"
    statuses = {part: seen(modern, part).status for part in PARTS[:7]}
    assert statuses == {
        "get": 405,
        "json_only": 200,
        "foreign_origin": 403,
        "unknown_method": 404,
        "invalid_cursor": 400,
        "header_mismatch": 400,
        "unsupported_version": 400,
    }
    assert seen(legacy, "session_after_end").status == 404
    assert missing(modern, "session_after_end") == "not-applicable"
    assert missing(legacy, "header_mismatch") == missing(legacy, "unsupported_version") == "not-applicable"


async def test_everything_of_the_older_era_but_one_request_is_asked_while_its_session_lives() -> None:
    async with running(Mcp(modern=False)) as server:
        await server.probe(depth=Depth.FULL)
    own = "s3cret-session-1"
    within = [one for one in server.loopback.log if one.headers.get("mcp-session-id") == own]
    ends = [place for place, one in enumerate(within) if one.method == "DELETE"]
    assert ends == [len(within) - 2]
    assert within[-1].rpc_method == "tools/list"


@pytest.mark.parametrize(("mcp", "budget"), [(Mcp(), 26), (Mcp(modern=False), 16), (Mcp(legacy=False), 16)])
async def test_a_server_without_pages_is_asked_within_the_budget(mcp: Mcp, budget: int) -> None:
    async with running(mcp) as server:
        await server.probe(depth=Depth.FULL, tool_call=ToolCall(name="add_note", arguments={}))
    assert len(server.loopback.log) <= budget + FURTHER


async def test_without_negative_probes_only_what_is_right_is_asked() -> None:
    async with running(Mcp(page_size=2)) as server:
        evidence = await server.probe(depth=Depth.FULL, negative_probes=False)
    for label in ("origin", "method", "cursor", "mismatch", "version"):
        assert not sent(server, label), label
    for surface in evidence.surfaces:
        assert seen(surface, "get").status == 405
        assert seen(surface, "json_only").status == 200
        assert missing(surface, "foreign_origin") == "switched-off"
        assert missing(surface, "unknown_method") == "switched-off"
    assert missing(evidence.surfaces[0], "header_mismatch") == "switched-off"
    assert missing(evidence.surfaces[1], "session_after_end") == "switched-off"


async def test_a_server_that_is_declared_open_is_not_asked_with_a_foreign_origin() -> None:
    async with running() as server:
        evidence = await server.probe(depth=Depth.FULL, origin="open")
    assert not sent(server, "origin")
    assert {missing(surface, "foreign_origin") for surface in evidence.surfaces} == {"declared-open"}


async def test_a_server_that_asks_for_a_pause_is_left_alone() -> None:
    def limited(_: Mcp, incoming: Incoming) -> Answer | None:
        wanted = incoming.headers.get("accept") == "application/json"
        return Answer(status=429, headers=(("Retry-After", "30"),)) if wanted else None

    async with running(Mcp(modern=False, before=limited)) as server:
        evidence = await server.probe(depth=Depth.FULL)
    (surface,) = evidence.surfaces
    assert seen(surface, "json_only").status == 429
    assert not sent(server, "origin")
    assert not sent(server, "method")
    assert missing(surface, "unknown_method") == "rate-limited"
    assert not server.mcp.open_sessions
    assert evidence.retry_after_s == 30


async def test_the_old_transport_is_asked_nothing_more() -> None:
    async with running(Mcp(http_sse=True)) as server:
        evidence = await server.probe(depth=Depth.FULL)
    (surface,) = evidence.surfaces
    assert {missing(surface, part) for part in PARTS} == {"not-applicable"}


async def test_a_get_that_is_never_answered_costs_neither_list() -> None:
    class Silent(Mcp):
        async def respond(self, incoming: Incoming) -> Answer:
            if incoming.method == "GET":
                await asyncio.Event().wait()
            return await super().respond(incoming)

    async with running(Silent()) as server:
        evidence = await server.probe(depth=Depth.FULL, limits=Limits(timeout_s=1))
        assert not server.mcp.open_sessions
    for surface in evidence.surfaces:
        assert not isinstance(surface.tools, Missing)
        fault = seen(surface, "get").fault
        assert fault is not None
        assert fault.code == "timeout"
        assert seen(surface, "unknown_method").error["code"] == -32601


async def test_a_probe_that_is_cancelled_among_its_requests_ends_every_session() -> None:
    stuck = asyncio.Event()

    class Stuck(Mcp):
        async def respond(self, incoming: Incoming) -> Answer:
            if incoming.rpc_method == full.NO_SUCH_METHOD:
                stuck.set()
                await asyncio.Event().wait()
            return await super().respond(incoming)

    async with running(Stuck(modern=False)) as server:
        task = asyncio.create_task(server.probe(depth=Depth.FULL))
        await stuck.wait()
        assert len(server.mcp.open_sessions) == 2
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not server.mcp.open_sessions


async def called(arguments: dict[str, object], *tools: object) -> tuple[Evidence, list[Incoming]]:
    async with running(Mcp(tools=tools or (tool(),))) as server:
        call = ToolCall(name="add_note", arguments=arguments)
        evidence = await server.probe(depth=Depth.FULL, tool_call=call)
        return evidence, sent(server, "call")


async def test_no_tool_is_called_that_the_configuration_does_not_name() -> None:
    async with running() as server:
        evidence = await server.probe(depth=Depth.FULL)
    assert not sent(server, "call")
    assert {missing(surface, "tool_arguments") for surface in evidence.surfaces} == {"not-configured"}


async def test_the_named_tool_is_called_once_in_each_era_with_the_named_arguments() -> None:
    evidence, (older, newer) = await called({"text": 7})
    for request in (older, newer):
        params = request.rpc["params"]
        assert (params["name"], params["arguments"]) == ("add_note", {"text": 7})
    assert newer.headers["mcp-name"] == "add_note"
    assert "mcp-name" not in older.headers
    for surface in evidence.surfaces:
        assert seen(surface, "tool_arguments").result["isError"] is True


async def test_marked_arguments_travel_in_headers_too() -> None:
    properties = {
        "region": {"type": "string", "x-mcp-header": "Region"},
        "greeting": {"type": "string", "x-mcp-header": "Greeting"},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "dry": {"type": "boolean", "x-mcp-header": "Dry"},
        "absent": {"type": "string", "x-mcp-header": "Absent"},
        "broken": {"type": "string", "x-mcp-header": "not a token\r\n"},
    }
    marked = tool(inputSchema={"type": "object", "properties": properties, "required": ["region"]})
    arguments = {"region": "us-west1", "greeting": "Hello, 世界", "count": 3, "dry": True, "broken": "x"}
    _, (older, newer) = await called(arguments, marked)
    mirrored = {name: value for name, value in newer.headers.items() if name.startswith("mcp-param-")}
    assert mirrored == {
        "mcp-param-region": "us-west1",
        "mcp-param-greeting": "=?base64?SGVsbG8sIOS4lueVjA==?=",
        "mcp-param-count": "3",
        "mcp-param-dry": "true",
    }
    assert not any(name.startswith("mcp-param-") for name in older.headers)


async def test_a_tool_that_is_not_in_the_list_is_not_called() -> None:
    evidence, calls = await called({}, tool("another"))
    assert not calls
    assert {missing(surface, "tool_arguments") for surface in evidence.surfaces} == {"no-such-tool"}
