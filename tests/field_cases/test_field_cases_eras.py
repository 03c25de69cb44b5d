"""Failures that people reported about revisions, eras, origins and outages, replayed.

Each test is named by the case's id. docs/decisions/0003-field-cases.md says where an expectation was decided.
"""

from collections.abc import Callable
from datetime import timedelta
from hashlib import sha256
from pathlib import Path

import pytest

from driftwatch.model import Era, EventKind, State
from driftwatch.toolset import digests
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import MODERN, Mcp, as_json, refusal
from tests.specimens.replay import VERIFIED, Watching
from tests.specimens.watching import watching


async def test_refuses_newer_at_initialize(watch: Watching) -> None:
    def refuses(_: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.rpc_method != "initialize":
            return None
        if incoming.rpc["params"]["protocolVersion"] == "2025-06-18":
            return None
        listed = "Unsupported protocol version, supported: 2025-06-18, 2025-03-26, 2024-11-05"
        return refusal(incoming.rpc, -32600, listed)

    mcp = Mcp(modern=False, revisions=("2025-06-18", "2025-03-26", "2024-11-05"))
    async with watch(mcp) as watched:
        before = watched.pairs
        watched.server.before = refuses
        await watched.look(6)
        assert watched.state("mcp/negotiation") == (State.OBSERVED_RISK, "refused")
        assert watched.last is not None
        assert [surface.revision for surface in watched.last.surfaces] == ["2025-06-18"]
        assert watched.pairs == before
        assert watched.messages == [{EventKind.CHANGE}]


async def test_legacy_says_32602(watch: Watching) -> None:
    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.rpc_method != "server/discover":
            return None
        return refusal(incoming.rpc, -32602, "Invalid request parameters", status=200)

    async with watch(Mcp(modern=False, before=before)) as watched:
        assert watched.last is not None
        assert [surface.era for surface in watched.last.surfaces] == [Era.LEGACY]
        assert watched.state("transport/endpoint") == VERIFIED
        assert None not in watched.pairs


@pytest.mark.parametrize("checked", ["refused", "ignored"])
async def test_mcp_method_needed(tmp_path: Path, checked: str) -> None:
    def ignores(server: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.headers.get("mcp-method") == incoming.rpc_method or checked == "refused":
            return None
        discovered = {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": {}}
        return server.reply(incoming.rpc, {**discovered, "ttlMs": 0, "cacheScope": "private"})

    async with watching(Mcp(legacy=False, before=ignores), tmp_path) as watched:
        await watched.look()
        expected = State.VERIFIED if checked == "refused" else State.FAILED
        assert watched.state("errors/header-mismatch")[0] is expected
        assert watched.state("transport/endpoint") == VERIFIED
        posted = [asked for asked in watched.running.loopback.log if asked.rpc_method == "tools/list"]
        assert all("mcp-method" in asked.headers for asked in posted)


@pytest.mark.parametrize(
    ("mcp", "status", "state"),
    [
        pytest.param(lambda **how: Mcp(legacy=False, **how), 200, State.FAILED, id="accepted"),
        pytest.param(lambda **how: Mcp(legacy=False, **how), 400, State.FAILED, id="400-instead-of-403"),
        pytest.param(
            lambda **how: Mcp(modern=False, revisions=("2025-06-18",), **how),
            400,
            State.OBSERVED_RISK,
            id="before-2025-11-25",
        ),
    ],
)
async def test_origin_not_checked(
    watch: Watching, mcp: Callable[..., Mcp], status: int, state: State
) -> None:
    open_to_all = mcp()

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        if "origin" not in incoming.headers:
            return Answer(status=405) if incoming.method == "GET" else None
        if status == 200:
            incoming.headers.pop("origin")
            return open_to_all._respond(incoming)
        return as_json('{"error": "bad origin"}', status=status)

    async with watch(mcp()) as watched:
        before_it = watched.pairs
        watched.server.before = before
        await watched.look(6)
        assert watched.state("transport/origin")[0] is state
        assert watched.pairs == before_it
        assert len(watched.messages) == 1


async def test_one_outage_one_alert(watch: Watching) -> None:
    async with watch(Mcp()) as watched:
        before = watched.pairs
        watched.server.before = lambda *_: Answer(status=503)
        await watched.look(10, every=timedelta(minutes=1))
        assert watched.state("transport/endpoint") == (State.FAILED, "http-5xx")
        assert watched.state("release/fingerprint")[0] is State.NOT_CHECKED
        watched.server.before = None
        await watched.look(10, every=timedelta(minutes=1))
        assert watched.pairs == before
        assert watched.state("release/fingerprint") == VERIFIED
        assert len(watched.messages) == 2
        (down,) = [event for event in watched.alerts if event.kind is EventKind.CHANGE]
        assert down.subject == "check:transport/endpoint"


async def test_supported_lists_refused(watch: Watching) -> None:
    def refuses(_: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.headers.get("mcp-protocol-version") != "2026-07-28":
            return None
        return refusal(incoming.rpc, -32022, "unsupported", data={"supported": ["2026-07-28"]})

    async with watch(Mcp()) as watched:
        before = watched.pairs[1]
        watched.server.before = refuses
        await watched.look(6)
        asked = [one.rpc_method for one in watched.running.loopback.log]
        watched.running.loopback.log.clear()
        await watched.look()
        assert [one.rpc_method for one in watched.running.loopback.log].count("server/discover") == 2
        assert asked.count("initialize") > 0
        assert watched.pairs == [before]
        assert len(watched.messages) == 1


async def test_supported_lists_refused_to_a_revision_of_the_future(watch: Watching) -> None:
    def refuses(_: Mcp, incoming: Incoming) -> Answer | None:
        version = incoming.headers.get("mcp-protocol-version")
        if version != "2099-01-01":
            return None
        return refusal(
            incoming.rpc, -32022, "unsupported", data={"supported": [version], "requested": version}
        )

    async with watch(Mcp()) as watched:
        watched.server.before = refuses
        await watched.look(6)
        assert watched.state("errors/unsupported-version") == (State.OBSERVED_RISK, "lists-the-refused")
        assert watched.messages == [{EventKind.CHANGE}]


async def test_supported_lists_refused_to_every_modern_request(watch: Watching) -> None:
    def refuses(_: Mcp, incoming: Incoming) -> Answer | None:
        if incoming.headers.get("mcp-protocol-version") != MODERN:
            return None
        return refusal(incoming.rpc, -32022, "unsupported", data={"supported": [MODERN], "requested": MODERN})

    async with watch(Mcp(before=refuses)) as watched:
        assert watched.state("mcp/era-coverage") == (State.OBSERVED_RISK, "lists-the-refused")
        # Each revision is tried once more at most, and the other era is read.
        assert [one.rpc_method for one in watched.running.loopback.log].count("server/discover") == 4
        assert len(watched.pairs) == 1


async def test_algorithm_upgrade(watch: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(digests, "ALGORITHM", "dw0")
        earlier.setattr(digests, "_digest", lambda form: sha256(b"0" + form.encode()).hexdigest())
        async with watch(Mcp()) as watched:
            before = watched.pairs
            earlier.undo()
            await watched.look(6)
            assert watched.pairs != before
            assert watched.state("release/fingerprint") == VERIFIED
            assert watched.alerts == []
