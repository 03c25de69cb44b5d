"""No server, whatever it does, makes a probe send more requests than its budget, or leaves it a session."""

import json
import random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftwatch.evidence import Missing
from driftwatch.model import Depth
from driftwatch.probe import Limits, ToolCall
from driftwatch.probe.steps.replicas import CONNECTIONS, MAX_REQUESTS
from driftwatch.probe.steps.sequence import FULL, FULL_BOTH_ERAS, LIGHT
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp, as_json, as_sse, page_html
from tests.specimens.running import Running, running

LIMITS = Limits(max_pages=3)
FURTHER = CONNECTIONS * MAX_REQUESTS
AUTHORIZATION = 6
OFFERS = 5
"""Revisions of initialize that are offered at most."""
RETRIES = 3
"""Of an era's first request: after a fault, a redirect and a refused Accept."""


def refused(status: int, code: int) -> Answer:
    error = {"jsonrpc": "2.0", "id": 1, "error": {"code": code, "message": "no"}}
    return as_json(json.dumps(error), status=status)


FINAL = (
    lambda: refused(403, -32000),
    lambda: Answer(status=202),
    lambda: page_html("Welcome", status=200),
    lambda: as_sse("[]"),
)
"""Answers after which nothing is asked a second time."""

FLEETING = (
    lambda: refused(400, -32600),
    lambda: refused(200, -32601),
    lambda: refused(404, -32601),
    lambda: Answer(status=405),
    lambda: Answer(status=500),
    lambda: Answer(status=503, headers=(("Retry-After", "1"),)),
    lambda: Answer(status=429),
    lambda: Answer(cut=True),
    lambda: Answer(status=406),
    lambda: Answer(status=401, headers=(("WWW-Authenticate", "Bearer"),)),
    lambda: Answer(status=307, headers=(("Location", "/mcp"),)),
    lambda: refused(400, -32022),
    lambda: refused(200, -32602),
    lambda: refused(200, -32603),
)
"""Answers after which something may be asked once more."""


class Whim:
    """A server that does whatever comes to its mind, and issues sessions with whatever it says."""

    def __init__(self, seed: int, answers: tuple[Any, ...], *, pages: bool) -> None:
        self.rng = random.Random(seed)
        self.answers = answers
        self.wayward, self.generous = self.rng.choice((0.0, 0.1, 0.4)), self.rng.choice((0.0, 0.3, 1.0))
        self.issued: set[str] = set()
        self.mcp = Mcp(
            modern=self.rng.random() < 0.8,
            legacy=self.rng.random() < 0.8,
            http_sse=self.rng.random() < 0.1,
            before=self.before,
            after=self.after,
            page_size=1 if pages else None,
        )

    def before(self, _: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.method != "GET" and self.rng.random() < self.wayward:
            answer: Answer = self.rng.choice(self.answers)()
            return answer
        return None

    def after(self, incoming: Incoming, answer: Answer) -> Answer:
        own = dict(answer.headers).get("Mcp-Session-Id")
        if incoming.method != "DELETE" and own is None and self.rng.random() < self.generous:
            own = f"s3cret-whim-{len(self.issued)}"
        if own is None or answer.cut:
            return answer
        self.issued.add(own)
        self.mcp.open_sessions.add(own)
        return answer.with_header("Mcp-Session-Id", own)

    def left(self, server: Running) -> set[str]:
        log = server.loopback.log
        return self.issued - {one.headers["mcp-session-id"] for one in log if one.method == "DELETE"}


WHIMS = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))


@WHIMS
@given(st.integers(0, 2**32))
async def test_a_server_that_gives_no_reason_to_ask_twice_gets_no_more_than_the_budget(seed: int) -> None:
    whim = Whim(seed, FINAL, pages=False)
    async with running(whim.mcp) as server:
        call = ToolCall(name="add_note", arguments={})
        evidence = await server.probe(depth=Depth.FULL, limits=LIMITS, tool_call=call)
        asked, both = len(server.loopback.log), len(evidence.surfaces) == 2
        assert asked <= (FULL_BOTH_ERAS if both else FULL) + FURTHER
        assert evidence.requests == asked
        assert whim.left(server) == set()


@WHIMS
@given(st.integers(0, 2**32))
async def test_a_light_probe_has_a_smaller_one(seed: int) -> None:
    whim = Whim(seed, FINAL, pages=False)
    async with running(whim.mcp) as server:
        evidence = await server.probe(limits=LIMITS)
        assert evidence.requests == len(server.loopback.log) <= LIGHT
        assert whim.left(server) == set()


@WHIMS
@given(st.integers(0, 2**32), st.sampled_from(Depth))
async def test_whatever_is_asked_again_has_bounds_too(seed: int, depth: Depth) -> None:
    whim = Whim(seed, FINAL + FLEETING, pages=True)
    async with running(whim.mcp) as server:
        evidence = await server.probe(depth=depth, limits=LIMITS)
        assert evidence.requests == len(server.loopback.log)
        assert whim.left(server) == set()
    reads = 2 * 2 + 1  # of two eras the list and its second read, and the list of a session that began anew
    pages = reads * 2 * LIMITS.max_pages * 2  # each of them may be redirected
    openings = 4 * RETRIES + 2 * OFFERS * 2
    ended = len({one.headers.get("mcp-session-id") for one in server.loopback.log if one.method == "DELETE"})
    assert evidence.requests <= FULL_BOTH_ERAS + FURTHER + AUTHORIZATION + pages + openings + 2 * ended


async def test_a_server_that_hangs_up_on_every_kept_connection_is_asked_no_more_often() -> None:
    connections: dict[int, int] = {}

    def before(_: Mcp, __: Incoming) -> Answer | None:
        number = server.loopback.connections
        connections[number] = connections.get(number, 0) + 1
        return Answer(cut=True) if connections[number] > 1 else None

    async with running(Mcp(before=before)) as server:
        evidence = await server.probe(depth=Depth.FULL, limits=LIMITS)
    assert len(evidence.surfaces) == 2
    again = 1 + CONNECTIONS  # once in the conversation, and once on each further connection
    assert len(server.loopback.log) == evidence.requests <= FULL_BOTH_ERAS + FURTHER + again


@pytest.mark.parametrize("page_size", [None, 1])
async def test_what_is_left_out_says_so(page_size: int | None) -> None:
    whim = Whim(0, (), pages=False)
    whim.wayward, whim.generous = 0.0, 1.0
    whim.mcp.modern = whim.mcp.legacy = True
    whim.mcp.http_sse, whim.mcp.page_size = False, page_size
    async with running(whim.mcp) as server:
        evidence = await server.probe(depth=Depth.FULL)
    left_out = evidence.surfaces[0].unsupported_version
    assert isinstance(left_out, Missing)
    assert left_out.code == "budget"
    assert left_out.reason.startswith("the request budget of this probe is spent")
    assert all(surface.listing.complete for surface in evidence.surfaces)  # type: ignore[union-attr]
