"""A person works with a running service over HTTP alone."""

import asyncio
from typing import Any

import httpx

from driftwatch.app import Service
from driftwatch.model import EventKind
from tests.patience import PATIENCE_S
from tests.service.world import Receiver, World

READ, ADMIN = "read-token-0123456789", "admin-token-0123456789"
TOKENS = f'read_token = "{READ}"\nadmin_token = "{ADMIN}"'


async def ask(service: Service, method: str, path: str, **more: Any) -> Any:
    token = READ if method == "GET" else ADMIN
    async with httpx.AsyncClient(timeout=PATIENCE_S, trust_env=False) as client:
        reply = await client.request(
            method,
            f"http://127.0.0.1:{service.port}/api/v1{path}",
            headers={"authorization": f"Bearer {token}"},
            **more,
        )
    assert reply.is_success, reply.text
    return reply.json()


async def test_drift_is_seen_read_and_accepted_over_http(world: World, receiver: Receiver) -> None:
    world.http = TOKENS
    async with world.running() as service:
        await world.rounds(1)
        world.sample.deploy("v2")
        await world.clock.advance_until(lambda: EventKind.TOOLSET_CHANGED in world.kinds())
        (line,) = (await ask(service, "GET", "/servers"))["servers"]
        surfaces = {surface["era"]: surface for surface in line["surfaces"]}
        assert all(surface["fingerprint"] != surface["accepted"] for surface in surfaces.values())
        diff = await ask(service, "GET", "/servers/bookshop/diff")
        changes = [change["kind"] for each in diff["surfaces"] for change in each["diff"]["changes"]]
        assert "tool-renamed" in changes
        body = {"fingerprint": surfaces["modern"]["fingerprint"], "reason": "v2 is meant"}
        accepted = await ask(service, "POST", "/servers/bookshop/accept", json=body)
        assert surfaces["modern"]["subject"] in accepted["subjects"]
        (line,) = (await ask(service, "GET", "/servers"))["servers"]
        modern = next(surface for surface in line["surfaces"] if surface["era"] == "modern")
        assert modern["fingerprint"] == modern["accepted"]


async def test_a_probe_that_is_asked_for_is_made_at_the_next_tick(world: World) -> None:
    world.http = TOKENS
    async with world.running() as service:
        await world.rounds(1)
        await ask(service, "POST", "/servers/bookshop/check")
        await world.clock.advance_until(
            lambda: "manual" in [run.trigger for run in world.read(lambda reader: reader.runs("bookshop"))],
            step_s=0.1,
        )
        runs = (await ask(service, "GET", "/servers/bookshop/runs"))["runs"]
        assert [run["depth"] for run in runs if run["trigger"] == "manual"] == ["full"]


async def test_while_a_probe_waits_for_its_server_everybody_is_answered(world: World) -> None:
    reached, release = asyncio.Event(), asyncio.Event()

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        await release.wait()
        writer.close()

    listening = await asyncio.start_server(silent, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    world.servers["silent"] = f"http://127.0.0.1:{port}/mcp"
    world.keys["silent"] = 'timeout = "5m"\ndeadline = "10m"'
    world.http = TOKENS
    async with world.running() as service, asyncio.timeout(PATIENCE_S):
        await reached.wait()
        answers = await asyncio.gather(*(ask(service, "GET", "/servers/silent") for _ in range(20)))
        assert all(answer["last_run"] is None for answer in answers)
        release.set()
    listening.close()
    await listening.wait_closed()
