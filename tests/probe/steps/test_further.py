"""Further connections: replicas, the slow tool, the burst. What they ask, and that nothing stays open."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from driftwatch.evidence import NOT_ASKED, Burst, Evidence, Missing, Replicas, SlowCall, from_json, to_json
from driftwatch.model import DEPTH_CODE, Depth, Era, Trigger
from driftwatch.probe import Limits
from driftwatch.probe.steps.replicas import MAX_REQUESTS
from driftwatch.probe.target import BurstPlan, SlowTool
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp, as_json, refusal, tool
from tests.specimens.running import running

SLOW = SlowTool(name="add_note", arguments={"text": "x"}, max_s=5)


async def full(mcp: Mcp, **how: Any) -> tuple[Evidence, list[str]]:
    async with running(mcp) as server:
        evidence = await server.probe(depth=Depth.FULL, **how)
        assert evidence.requests == len(server.loopback.log)
        assert not mcp.open_sessions
        assert from_json(to_json(evidence)) == evidence
        return evidence, server.asked


def replicas(evidence: Evidence) -> Replicas:
    assert isinstance(evidence.replicas, Replicas)
    return evidence.replicas


DISCOVER, LIST, DELETE = "server/discover", "tools/list", "DELETE"
INITIALIZE, INITIALIZED = "initialize", "notifications/initialized"

FURTHER: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "modern": (
        {"legacy": False},
        [DISCOVER, LIST, INITIALIZE],
        [DISCOVER, LIST, INITIALIZE, LIST],
    ),
    "legacy": (
        {"modern": False, "sessions": False},
        [INITIALIZE, INITIALIZED, LIST, DISCOVER],
        [INITIALIZE, INITIALIZED, LIST, DISCOVER],
    ),
    "legacy-sessions": (
        {"modern": False},
        [INITIALIZE, INITIALIZED, LIST, DELETE],
        [DISCOVER, INITIALIZE, DELETE],
    ),
    "both": (
        {"sessions": False},
        [DISCOVER, LIST, INITIALIZE],
        [INITIALIZE, INITIALIZED, LIST, DISCOVER],
    ),
    "both-sessions": (
        {},
        [DISCOVER, LIST, INITIALIZE, DELETE],
        [INITIALIZE, INITIALIZED, LIST, DELETE],
    ),
    "modern-pages": (
        {"legacy": False, "page_size": 2},
        [DISCOVER, LIST, LIST],
        [INITIALIZE, DISCOVER, LIST, LIST],
    ),
    "legacy-pages": (
        {"modern": False, "sessions": False, "page_size": 2},
        [INITIALIZE, INITIALIZED, LIST, LIST],
        [DISCOVER, INITIALIZE],
    ),
    "both-sessions-pages": (
        {"page_size": 2},
        [DISCOVER, LIST, LIST],
        [INITIALIZE, DISCOVER, DELETE],
    ),
}
"""Servers, and what is asked on each of two further connections."""


@pytest.mark.parametrize("server", FURTHER)
async def test_a_further_connection_makes_at_most_four_requests_the_delete_included(server: str) -> None:
    how, *expected = FURTHER[server]
    evidence, asked = await full(Mcp(**how))
    first, second = expected
    assert max(map(len, expected)) <= MAX_REQUESTS == 4
    assert asked[-len(first) - len(second) :] == first + second
    seen = replicas(evidence)
    assert (seen.era, seen.connections, seen.unanswered) == (evidence.surfaces[0].era, 2, ())


async def test_a_further_connection_is_a_new_one_and_shows_what_the_first_one_did() -> None:
    async with running(Mcp(legacy=False)) as server:
        before = server.loopback.connections
        evidence = await server.probe(depth=Depth.FULL)
        assert server.loopback.connections - before >= 3
    seen = replicas(evidence)
    assert len(seen.instances) == 2
    for instance in seen.instances:
        assert instance.tools == evidence.surfaces[0].tools
        assert instance.server_info == {"name": "specimen", "version": "1.0.0"}


def greeted(evidence: Evidence) -> list[tuple[Era, str | None]]:
    return [(greeting.era, greeting.revision) for greeting in replicas(evidence).greetings]


MODERN, LEGACY = (Era.MODERN, "2026-07-28"), (Era.LEGACY, "2025-11-25")


@pytest.mark.parametrize("sessions", [True, False])
async def test_the_lists_of_both_eras_are_compared_each_on_one_further_connection(*, sessions: bool) -> None:
    evidence, _ = await full(Mcp(sessions=sessions))
    assert greeted(evidence) == [MODERN, LEGACY, LEGACY, *([] if sessions else [MODERN])]
    met = replicas(evidence).met
    read = [era for era, instance in met if instance.tools == evidence.surfaces[0].tools]
    assert read == [Era.MODERN, Era.LEGACY]
    assert all(instance.tools == NOT_ASKED for _, instance in met if isinstance(instance.tools, Missing))


async def test_an_era_that_is_not_spoken_is_asked_for_as_well() -> None:
    evidence, _ = await full(Mcp(legacy=False))
    assert greeted(evidence) == [MODERN, (Era.LEGACY, None)] * 2
    evidence, _ = await full(Mcp(modern=False, sessions=False))
    assert greeted(evidence) == [LEGACY, (Era.MODERN, None)] * 2
    evidence, _ = await full(Mcp(modern=False))
    assert greeted(evidence) == [LEGACY, (Era.MODERN, None), LEGACY]


async def test_a_revision_is_offered_as_the_probe_itself_offered_it() -> None:
    async with running(Mcp(modern=False, revisions=("2025-06-18",))) as server:
        evidence = await server.probe(depth=Depth.FULL)
    assert greeted(evidence)[0] == (Era.LEGACY, "2025-06-18")
    offered = [
        one.rpc["params"]["protocolVersion"] for one in server.loopback.log if one.rpc_method == "initialize"
    ]
    assert offered[0] == offered[-1] == offered[-2] == "2025-11-25"


@pytest.mark.parametrize("status", [400, 409, 429, 500])
async def test_a_server_that_takes_one_session_alone_is_not_taken_for_two_instances(status: int) -> None:
    first = True

    def once(_: Mcp, incoming: Incoming) -> Answer | None:
        nonlocal first
        if incoming.rpc_method != "initialize":
            return None
        if first:
            first = False
            return None
        return refusal(incoming.rpc, -32600, "Server already initialized", status=status)

    evidence, _ = await full(Mcp(before=once))
    assert set(greeted(evidence)) == {MODERN}


async def test_a_list_of_more_pages_than_a_further_connection_reads_is_not_asked_for_again() -> None:
    many = tuple(tool(f"t{number}") for number in range(9))
    evidence, asked = await full(Mcp(legacy=False, page_size=1, tools=many))
    assert asked[-4:] == [DISCOVER, INITIALIZE] * 2
    tools = replicas(evidence).instances[0].tools
    assert isinstance(tools, Missing)
    assert tools.reason == "the list has 9 pages, a further connection reads 3"


async def test_a_light_probe_makes_no_further_connection() -> None:
    async with running() as server:
        evidence = await server.probe(slow_tool=SLOW, burst=BurstPlan(requests=9, on="interval"))
    parts = (evidence.replicas, evidence.slow_call, evidence.burst, evidence.logs, evidence.addresses)
    assert [part.code for part in parts if isinstance(part, Missing)] == [DEPTH_CODE] * 5


async def test_a_server_that_asked_for_a_pause_is_left_alone() -> None:
    def busy(_: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.rpc_method != "tools/list":
            return None
        return refusal(incoming.rpc, -32000, "slow down", status=429).with_header("Retry-After", "60")

    evidence, _ = await full(
        Mcp(legacy=False, before=busy), slow_tool=SLOW, burst=BurstPlan(requests=3, on="manual")
    )
    parts = (evidence.replicas, evidence.slow_call, evidence.burst)
    assert [part.code for part in parts if isinstance(part, Missing)] == ["rate-limited"] * 3


async def test_without_a_surface_the_root_says_why() -> None:
    evidence, _ = await full(Mcp(before=lambda *_: Answer(status=404)))
    assert evidence.replicas == evidence.blocker


async def test_no_burst_is_sent_without_consent_and_no_tool_called_that_is_not_named() -> None:
    evidence, asked = await full(Mcp())
    assert "tools/call" not in asked
    assert evidence.burst == Missing(
        "a burst needs the owner's consent (rate_limit.enabled is false)", "no-consent"
    )
    assert evidence.slow_call == Missing("no slow tool configured", "not-configured")
    assert evidence.logs == Missing("a probe from outside cannot read the server's logs", "no-logs")


@pytest.mark.parametrize("mcp", [Mcp(legacy=False), Mcp(modern=False)], ids=["modern", "legacy"])
async def test_a_burst_is_the_last_thing_and_counts_what_came_back(mcp: Mcp) -> None:
    method = "server/discover" if mcp.modern else "tools/list"
    evidence, asked = await full(mcp, burst=BurstPlan(requests=12, on="deploy"))
    burst = evidence.burst
    assert isinstance(burst, Burst)
    assert (burst.method, burst.planned, burst.sent, burst.statuses) == (method, 12, 12, ((200, 12),))
    assert [name for name in asked if name != "DELETE"][-12:] == [method] * 12


class _Limited:
    """429 from the thirtieth request on."""

    def __init__(self, answer: Answer) -> None:
        self.asked, self.answer = 0, answer

    def __call__(self, _: Mcp, __: Incoming) -> Answer | None:
        self.asked += 1
        return self.answer if self.asked > 30 else None


async def test_refusals_are_counted_and_the_pause_is_for_the_next_probe() -> None:
    limited = _Limited(Answer(status=429, headers=(("Retry-After", "7"),)))
    evidence, _ = await full(Mcp(legacy=False, before=limited), burst=BurstPlan(requests=40, on="manual"))
    burst = evidence.burst
    assert isinstance(burst, Burst)
    (_, fine), (status, refused) = burst.statuses
    assert (status, burst.retry_after, fine + refused) == (429, refused, 40)
    assert evidence.retry_after_s == 7


async def test_a_burst_ends_at_the_first_request_that_hangs() -> None:
    limited = _Limited(Answer(headers=(("Content-Type", "application/json"),), stays_open=True))
    evidence, _ = await full(
        Mcp(legacy=False, before=limited),
        burst=BurstPlan(requests=40, on="manual"),
        limits=Limits(timeout_s=1),
    )
    burst = evidence.burst
    assert isinstance(burst, Burst)
    assert burst.faults == (("timeout", 1),)
    assert burst.sent < 40


@pytest.mark.parametrize(
    ("on", "made"),
    [
        ("deploy", {Trigger.DEPLOY, Trigger.MANUAL}),
        ("manual", {Trigger.MANUAL}),
        ("interval", set(Trigger)),
    ],
)
async def test_a_burst_is_sent_only_when_the_configuration_says(on: str, made: set[Trigger]) -> None:
    for trigger in Trigger:
        plan = BurstPlan(requests=2, on=on)
        evidence, _ = await full(Mcp(legacy=False), trigger=trigger, burst=plan)
        if trigger in made:
            assert isinstance(evidence.burst, Burst)
        else:
            # Neither better nor worse than what an earlier burst showed: transitions ignore it.
            assert isinstance(evidence.burst, Missing)
            assert evidence.burst.code == DEPTH_CODE


def _event(message: Any) -> bytes:
    return f"event: message\ndata: {json.dumps(message)}\n\n".encode()


def _slow(*events: Any, ends: bool = True, headers: tuple[tuple[str, str], ...] = ()) -> Mcp:
    """A server whose tool streams these messages; the answer has the request's id filled in."""

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.rpc_method != "tools/call":
            return None
        ours = [
            {**event, "id": incoming.rpc["id"]} if "result" in event or "error" in event else event
            for event in events
        ]

        async def later() -> AsyncIterator[bytes]:
            for event in ours:
                yield _event(event)

        kind = (("Content-Type", "text/event-stream"), *headers)
        return Answer(headers=kind, later=later(), stays_open=not ends)

    return Mcp(legacy=False, before=before)


PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "driftwatch"}}
RESULT = {"jsonrpc": "2.0", "result": {"content": [{"type": "text", "text": "s3cret of a customer"}]}}


async def slow(mcp: Mcp, **how: Any) -> SlowCall:
    evidence, _ = await full(mcp, slow_tool=SLOW, **how)
    assert "s3cret" not in str(to_json(evidence))
    assert isinstance(evidence.slow_call, SlowCall)
    return evidence.slow_call


async def test_progress_and_answer_of_a_slow_tool_are_timed_and_nothing_it_says_is_kept() -> None:
    seen = await slow(_slow(PROGRESS, PROGRESS, RESULT, headers=(("X-Accel-Buffering", "no"),)))
    assert (len(seen.progress_s), seen.fault, seen.accel_buffering) == (2, None, "no")
    assert seen.answer_s is not None
    assert list(seen.progress_s) == sorted(seen.progress_s)
    assert seen.progress_s[-1] <= seen.answer_s


async def test_the_call_carries_the_configured_arguments_and_a_progress_token() -> None:
    async with running(_slow(RESULT)) as server:
        await server.probe(depth=Depth.FULL, slow_tool=SLOW)
    (call,) = [asked for asked in server.loopback.log if asked.rpc_method == "tools/call"]
    params = call.rpc["params"]
    assert (params["name"], params["arguments"]) == ("add_note", {"text": "x"})
    assert params["_meta"]["progressToken"] == "driftwatch"
    assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == "2026-07-28"
    assert call.headers["mcp-name"] == "add_note"


async def test_an_answer_in_plain_json_needs_no_stream() -> None:
    seen = await slow(Mcp(legacy=False, before=_plain))
    assert (seen.answer_s is not None, seen.media_type, seen.progress_s) == (True, "application/json", ())


def _plain(_: Mcp, incoming: Incoming) -> Answer | None:
    if incoming.rpc_method != "tools/call":
        return None
    return as_json(json.dumps({"jsonrpc": "2.0", "id": incoming.rpc["id"], "result": {"isError": True}}))


async def test_a_slow_tool_is_called_within_a_session_of_its_own() -> None:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        return _plain(_, incoming)

    seen = await slow(Mcp(modern=False, before=before))
    assert (seen.era, seen.is_error) == (Era.LEGACY, True)


async def test_a_stream_that_ends_before_the_answer_is_a_fault() -> None:
    seen = await slow(_slow(PROGRESS))
    assert seen.answer_s is None
    assert seen.fault is not None
    assert seen.fault.code == "no-answer"


async def test_a_tool_that_never_answers_is_given_up_after_its_maximum() -> None:
    impatient = SlowTool(name="add_note", arguments={}, max_s=0.3)
    evidence, _ = await full(_slow(PROGRESS, ends=False), slow_tool=impatient)
    assert isinstance(evidence.slow_call, SlowCall)
    assert evidence.slow_call.fault is not None
    assert evidence.slow_call.fault.code == "timeout"
    assert len(evidence.slow_call.progress_s) == 1


async def test_a_slow_tool_that_the_list_does_not_have_is_not_called() -> None:
    evidence, asked = await full(Mcp(), slow_tool=SlowTool(name="gone", arguments={}, max_s=5))
    assert "tools/call" not in asked
    assert isinstance(evidence.slow_call, Missing)
    assert evidence.slow_call.code == "no-such-tool"


async def test_a_server_error_to_every_further_connection_says_nothing_about_instances() -> None:
    """A limit that answers 503 is reached by the very probe that looks for a dead instance."""
    _, asked = await full(Mcp(legacy=False))
    left = len(asked) - sum(map(len, FURTHER["modern"][1:]))

    def limits(_: Mcp, __: Incoming) -> Answer | None:
        nonlocal left
        left -= 1
        return Answer(status=503) if left < 0 else None

    evidence, _ = await full(Mcp(legacy=False, before=limits))
    assert isinstance(evidence.replicas, Missing)
    assert (evidence.replicas.code, evidence.replicas.reason) == (
        "no-reply",
        "no further connection was answered: HTTP 503 to server/discover",
    )
