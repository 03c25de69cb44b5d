"""Credentials that renew themselves, in a running service."""

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from driftwatch.demo.sample import SampleServer
from driftwatch.model import EventKind
from tests.service.world import MovedClock, Receiver, World
from tests.specimens.http import Incoming, serving
from tests.specimens.mcp import Mcp, as_json, tool
from tests.specimens.oauth import SECRET, AuthorizationServer, IssuedGate


@dataclass
class Scene:
    """A service that probes one protected server."""

    world: World
    issuer: AuthorizationServer


@pytest.fixture
async def scene(tmp_path: Path, clock: MovedClock, receiver: Receiver) -> AsyncIterator[Scene]:
    issuer, gate = AuthorizationServer(), IssuedGate()
    gate.issuer = issuer
    mcp = Mcp(before=gate)
    async with serving(issuer.respond) as authority, serving(mcp.respond) as protected:
        oauth = (
            f'client_id = "driftwatch"\nclient_secret = "{SECRET}"\ntoken_url = "{authority.url("/token")}"'
        )
        world = World(
            folder=tmp_path,
            clock=clock,
            sample=SampleServer("v1"),
            channels={"ops": receiver.url},
            servers={"api": protected.url()},
            keys={"api": f"[server.oauth]\n{oauth}"},
        )
        yield Scene(world=world, issuer=issuer)
        world.close()


async def test_one_token_serves_many_probes_and_is_renewed_in_time(scene: Scene, receiver: Receiver) -> None:
    async with scene.world.running():
        await scene.world.rounds(3, "api")
        assert scene.issuer.issued == 1
        await scene.world.rounds(3, "api")
    # Six probes at a quarter of an hour each, and tokens of one hour.
    assert scene.issuer.issued == 2
    assert receiver.messages == []


async def test_a_token_endpoint_that_fails_is_one_alert_about_the_credential_and_no_drift(
    scene: Scene, receiver: Receiver
) -> None:
    world, issuer = scene.world, scene.issuer
    refusal = as_json(json.dumps({"error": "unauthorized_client"}), status=403)
    async with world.running():
        await world.rounds(1, "api")
        issuer.answer = lambda _: refusal
        await world.clock.advance_until(lambda: bool(receiver.messages), step_s=30)
        await world.rounds(2, "api")
        (told,) = receiver.messages
        issuer.answer = lambda _: None
        await world.clock.advance_until(lambda: len(receiver.messages) > 1, step_s=30)
    assert "auth/credential" in told["message"]
    assert "unauthorized_client" in told["message"]
    assert "not checked because" in told["message"]
    assert "Affected: driftwatch alone" in told["message"]  # the clients have tokens of their own
    assert EventKind.TOOLSET_CHANGED not in world.kinds()
    assert EventKind.COVERAGE_LOST not in world.kinds()
    assert "auth/credential" in receiver.messages[1]["message"]
    assert len(receiver.messages) == 2


async def test_scope_filtered_list(tmp_path: Path, clock: MovedClock, receiver: Receiver) -> None:
    """The list depends on the token: another account is another baseline, and no drift."""
    wide = tuple(tool(f"tool_{number}") for number in range(12))
    mcp = Mcp()

    def by_scope(server: Mcp, incoming: Incoming) -> None:
        server.tools = wide if incoming.headers.get("authorization") == "Bearer t0ken-wide" else wide[:7]

    mcp.before = by_scope
    async with serving(mcp.respond) as loopback:
        world = World(
            folder=tmp_path,
            clock=clock,
            sample=SampleServer("v1"),
            channels={"ops": receiver.url},
            servers={"api": loopback.url()},
            keys={"api": 'token = "t0ken-wide"\ncredential = "wide"'},
        )
        async with world.running():
            await world.rounds(2, "api")
        world.keys = {"api": 'token = "t0ken-narrow"\ncredential = "narrow"'}
        async with world.running():
            await world.rounds(4, "api")
        kinds = world.kinds()
        world.close()
    assert receiver.messages == []
    assert EventKind.TOOLSET_CHANGED not in kinds
