"""The product's main job from end to end: real servers, a real database, real receivers."""

import asyncio
import socket

import pytest

from driftwatch.app import Service
from driftwatch.demo.sample import SampleServer
from driftwatch.errors import ServiceError, StoreBusyError
from driftwatch.model import EventKind
from tests.patience import PATIENCE_S
from tests.service.world import Mailbox, MovedClock, Receiver, World, serving


async def test_a_healthy_server_is_a_baseline_and_then_silence(world: World, receiver: Receiver) -> None:
    async with world.running():
        await world.rounds(5)
    assert receiver.messages == []
    assert world.kinds() == [EventKind.BASELINE, EventKind.SERVER_ADDED]


async def test_a_release_that_drifts_is_told_once_on_every_channel(
    world: World, receiver: Receiver, mailbox: Mailbox
) -> None:
    async with world.running():
        await world.rounds(1)
        world.sample.deploy("v2")
        await world.clock.advance_until(lambda: bool(receiver.messages and mailbox.messages))
        await world.rounds(5)
    (posted,) = receiver.messages
    (mailed,) = mailbox.messages
    assert "bookshop" in posted["title"]
    for text in (posted["message"], mailed.get_body(("plain",)).get_content()):  # type: ignore[union-attr]
        assert "order_status" in text
        assert "get_order_status" in text
        assert "note" in text
    # One event for each era in which the list changed, and one message about both.
    assert world.kinds().count(EventKind.TOOLSET_CHANGED) == 2


async def test_a_restart_repeats_nothing_and_loses_nothing(world: World, receiver: Receiver) -> None:
    async with world.running():
        await world.rounds(1)
    world.sample.deploy("v2")
    async with world.running():
        await world.clock.advance_until(lambda: bool(receiver.messages))
    async with world.running():
        await world.rounds(4)
    assert len(receiver.messages) == 1


async def test_a_change_that_is_half_confirmed_survives_a_restart(world: World, receiver: Receiver) -> None:
    # So long that no regular probe comes between the re-probes, even where a slow machine makes them late.
    world.interval = "10m"
    async with world.running():
        # Small steps: no probe is under way when the list changes, and the first sighting is recorded long
        # before the re-probes, 15 and 45 seconds later.
        await world.rounds(1, step_s=1)
        world.sample.deploy("v2")
        await world.rounds(1, step_s=5)
    assert receiver.messages == []
    async with world.running():
        # Three agreeing reads of full probes are enough: the first sighting was not forgotten.
        await world.rounds(3, step_s=1)
        assert EventKind.TOOLSET_CHANGED in world.kinds()
        await world.clock.advance_until(lambda: bool(receiver.messages))
    assert len(receiver.messages) == 1


async def test_what_could_not_be_delivered_arrives_after_the_channel_is_back(
    world: World, receiver: Receiver
) -> None:
    receiver.status = 503
    async with world.running():
        await world.rounds(1)
        world.sample.deploy("v2")
        await world.clock.advance_until(lambda: EventKind.TOOLSET_CHANGED in world.kinds())
        await world.rounds(2)
    receiver.status = 200
    async with world.running():
        await world.clock.advance_until(lambda: bool(receiver.messages))
        await world.rounds(2)
    assert len(receiver.messages) == 1


async def test_an_outage_is_one_alert_with_its_root_cause_and_one_when_it_is_over(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    sample = SampleServer("v1")
    async with serving(sample.application) as port:
        world.servers = {"shaky": f"http://127.0.0.1:{port}/mcp"}
        async with world.running():
            await world.rounds(1, "shaky")
    async with world.running():
        await clock.advance_until(lambda: len(receiver.messages) == 1)
        await world.rounds(3, "shaky")
    assert len(receiver.messages) == 1
    async with serving(sample.application, port), world.running():
        await clock.advance_until(lambda: len(receiver.messages) == 2)
        await world.rounds(3, "shaky")
    down, up = receiver.messages
    assert "shaky" in down["title"]
    assert "refused" in down["title"] + down["message"]
    assert "not checked because" in down["message"]
    assert "shaky" in up["title"]
    assert len(receiver.messages) == 2


async def test_a_server_that_is_removed_from_the_configuration_is_not_probed_any_more(world: World) -> None:
    async with world.running():
        await world.rounds(1)
    before = world.runs()
    url = world.servers.pop("bookshop")
    world.servers["other"] = url
    async with world.running():
        await world.rounds(2, "other")
    assert world.runs() == before
    assert EventKind.SERVER_REMOVED in world.kinds()


async def test_a_second_service_on_the_same_database_refuses_to_start(world: World) -> None:
    async with world.running():
        with pytest.raises(StoreBusyError, match="in use by another driftwatch"):
            await Service(world.config).run()


async def test_a_port_in_use_ends_the_start_with_a_clear_message(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        world.listen = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ServiceError, match="cannot listen on"):
            await Service(world.config).run()


async def test_a_probe_that_is_running_at_the_stop_ends_its_session_and_changes_nothing(
    world: World, receiver: Receiver
) -> None:
    gate = asyncio.Event()
    connections: list[asyncio.StreamWriter] = []

    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections.append(writer)
        gate.set()
        await reader.read()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    world.servers = {"silent": f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"}
    async with world.running():
        async with asyncio.timeout(PATIENCE_S):
            await gate.wait()
    for writer in connections:
        writer.close()
    server.close()
    assert world.runs("silent") == 0
    assert receiver.messages == []


async def test_a_server_that_is_down_from_the_start_is_told_once_and_once_when_it_is_up(
    world: World, clock: MovedClock, receiver: Receiver
) -> None:
    sample = SampleServer("v1")
    async with serving(sample.application) as port:
        pass
    world.servers["late"] = f"http://127.0.0.1:{port}/mcp"
    async with world.running():
        await clock.advance_until(lambda: len(receiver.messages) == 1)
        await world.rounds(3, "late")
        assert len(receiver.messages) == 1
        async with serving(sample.application, port):
            await clock.advance_until(lambda: len(receiver.messages) == 2)
            await world.rounds(3, "late")
            assert len(receiver.messages) == 2
    down, up = (message["title"] + message["message"] for message in receiver.messages)
    assert "late" in down
    assert "refused" in down
    assert "late" in up
