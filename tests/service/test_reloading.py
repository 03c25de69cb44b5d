"""The configuration is changed while the service runs."""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from driftwatch.app import Service
from driftwatch.demo.sample import SampleServer
from driftwatch.model import Event, EventKind
from tests.patience import PATIENCE_S
from tests.service.test_scraping import scrape
from tests.service.world import Receiver, World, serving


async def until(condition: Callable[[], bool]) -> None:
    """Wait for what the service does by itself."""
    async with asyncio.timeout(PATIENCE_S):
        while not condition():  # noqa: ASYNC110 - a database is asked, which signals nobody
            await asyncio.sleep(0.02)


def events(world: World, kind: EventKind) -> list[Event]:
    return world.read(lambda reader: reader.events(kinds=[kind], limit=100))


def put(path: Path, text: str) -> None:
    """Write a file at once: a look in between would find an empty one."""
    whole = path.with_suffix(".part")
    whole.write_text(text)
    whole.replace(path)


async def changed(world: World, service: Service) -> None:
    """Write the file and reload; it is in order."""
    world.write()
    assert (await service.reload()).problems == ()


async def test_a_changed_file_is_found_by_its_content_and_comes_into_force(world: World) -> None:
    async with world.running():
        await world.rounds(1)
        world.servers["second"] = world.servers["bookshop"]
        world.write()
        await until(lambda: bool(events(world, EventKind.CONFIG_RELOADED)))
        await world.clock.advance_until(lambda: world.runs("second") > 0)
    (event,) = events(world, EventKind.CONFIG_RELOADED)
    assert event.details["added"] == ["second"]
    assert not event.alerts
    assert EventKind.BASELINE in [one.kind for one in world.read(lambda reader: reader.events("second"))]


async def test_a_removed_server_is_no_longer_probed(world: World) -> None:
    world.servers["second"] = world.servers["bookshop"]
    async with world.running() as service:
        await world.clock.advance_until(lambda: world.runs("second") > 0)
        del world.servers["second"]
        await changed(world, service)
        already = world.runs("second")
        await world.rounds(3)
        assert world.runs("second") == already
    assert [event.server for event in events(world, EventKind.SERVER_REMOVED)] == ["second"]


async def renamed(world: World) -> None:
    world.servers = {"shop": world.servers["bookshop"]}
    world.keys["shop"] = 'previous_name = "bookshop"'


async def test_a_renamed_server_goes_on_with_its_history(world: World, receiver: Receiver) -> None:
    async with world.running() as service:
        await world.rounds(2)
        runs = world.runs()
        await renamed(world)
        await changed(world, service)
        assert world.runs("shop") == runs
        await world.rounds(2, "shop")
        world.sample.deploy("v2")
        await world.clock.advance_until(lambda: bool(receiver.messages))
    (event,) = events(world, EventKind.SERVER_RENAMED)
    assert (event.server, event.before, event.after) == ("shop", "bookshop", "shop")
    assert world.kinds().count(EventKind.BASELINE) == 1
    assert "shop" in receiver.messages[0]["title"]


async def test_a_server_may_be_renamed_by_a_restart_too(world: World) -> None:
    async with world.running():
        await world.rounds(2)
        runs = world.runs()
    await renamed(world)
    for _ in range(2):
        async with world.running():
            await world.rounds(1, "shop")
    assert world.runs("shop") >= runs + 2
    assert world.kinds().count(EventKind.SERVER_RENAMED) == 1
    assert world.kinds().count(EventKind.BASELINE) == 1
    assert EventKind.SERVER_REMOVED not in world.kinds()


async def test_a_broken_file_changes_nothing_and_is_told_once(world: World, receiver: Receiver) -> None:
    async with world.running() as service:
        await world.rounds(1)
        path = world.write()
        good = path.read_text()
        put(path, f'{good}\n[[server]]\nname = "half"\n')
        await until(lambda: bool(events(world, EventKind.CONFIG_REJECTED)))
        for _ in range(3):
            assert "missing" in (await service.reload()).problems[0]
        await world.clock.advance_until(lambda: bool(receiver.messages))
        assert "driftwatch_config_last_reload_successful 0\n" in (await scrape(service, token=None))[1]
        await world.rounds(1)
        put(path, good)
        await until(lambda: bool(events(world, EventKind.CONFIG_RELOADED)))
        assert "driftwatch_config_last_reload_successful 1\n" in (await scrape(service, token=None))[1]
    (event,) = events(world, EventKind.CONFIG_REJECTED)
    assert len(event.details["problems"]) == 1
    (message,) = receiver.messages
    assert "configuration" in message["title"]
    assert "config.toml" in message["message"]
    assert EventKind.SERVER_ADDED in world.kinds()
    assert world.kinds().count(EventKind.SERVER_ADDED) == 1


@pytest.mark.parametrize(
    ("cut_at", "gone"), [("[monitor]", ["[[server]]", "[[alert]]"]), ("[[alert]]", ["[[alert]]"])]
)
async def test_a_file_that_is_emptied_or_cut_off_changes_nothing(
    world: World, receiver: Receiver, cut_at: str, gone: list[str]
) -> None:
    async with world.running() as service:
        await world.rounds(1)
        path = world.write()
        good = path.read_text()
        put(path, good[: good.index(cut_at)])
        await until(lambda: bool(events(world, EventKind.CONFIG_REJECTED)))
        what = "is left: the running configuration stays; restart driftwatch if that is meant"
        assert (await service.reload()).problems == tuple(f"{path}: no {table} {what}" for table in gone)
        await world.clock.advance_until(lambda: len(receiver.messages) == 1)
        assert f"no {gone[0]} is left" in receiver.messages[0]["message"]
        world.sample.deploy("v2")
        await world.clock.advance_until(lambda: len(receiver.messages) > 1)
        put(path, good)
        await until(lambda: bool(events(world, EventKind.CONFIG_RELOADED)))
    assert EventKind.SERVER_REMOVED not in world.kinds()
    assert EventKind.DELIVERY_DEAD not in world.kinds()


async def test_a_restart_takes_a_file_without_a_server(world: World) -> None:
    async with world.running():
        await world.rounds(1)
    world.servers = {}
    async with world.running() as service:
        # There is none to lose any more.
        world.interval = "5m"
        await changed(world, service)
    assert EventKind.SERVER_REMOVED in world.kinds()


async def test_a_shorter_interval_brings_the_next_probe_forward(world: World) -> None:
    world.interval = "12h"
    async with world.running() as service:
        await world.rounds(1)
        before = world.read(lambda reader: reader.next_due())
        world.interval = "1m"
        await changed(world, service)
        after = world.read(lambda reader: reader.next_due())
        assert before is not None
        assert after is not None
        assert after <= min(before, world.clock.now() + timedelta(minutes=2))


async def test_channels_come_and_go_and_what_waited_for_a_gone_one_is_dropped(
    world: World, receiver: Receiver
) -> None:
    async with world.running() as service:
        await world.rounds(1)
        world.channels = {"new": receiver.url}
        await changed(world, service)
        world.sample.deploy("v2")
        await world.clock.advance_until(lambda: bool(receiver.messages))
        await until(lambda: not world.read(lambda reader: reader.backlog()))
        receiver.status = 500
        world.sample.deploy("v1")
        await world.clock.advance_until(lambda: bool(world.read(lambda reader: reader.backlog())), step_s=60)
        world.channels = {"other": receiver.url}
        await changed(world, service)
        await until(lambda: EventKind.DELIVERY_DEAD in world.kinds())
    (event,) = events(world, EventKind.DELIVERY_DEAD)
    assert event.details["dropped"] > 0


async def test_another_address_to_listen_on_is_said_and_waits_for_a_restart(world: World) -> None:
    async with world.running() as service:
        await world.rounds(1)
        port = service.port
        world.listen = "127.0.0.2:0"
        world.write()
        reloaded = await service.reload()
        assert reloaded.restart == ("http.listen",)
        assert service.port == port
        assert (await scrape(service, token=None))[0] == 200
    (event, *_) = events(world, EventKind.CONFIG_RELOADED)
    assert event.details["restart"] == ["http.listen"]


async def test_a_token_in_a_file_counts_as_soon_as_the_file_has_another_one(
    world: World, tmp_path: Path
) -> None:
    secret = tmp_path / "token"
    secret.write_text("first-token-0123456789")
    world.http = f'metrics_token_file = "{secret}"'
    async with world.running() as service:
        assert (await scrape(service, token="first-token-0123456789"))[0] == 200
        secret.write_text("second-token-0123456789")
        await until(lambda: bool(events(world, EventKind.CONFIG_RELOADED)))
        assert (await scrape(service, token="first-token-0123456789"))[0] == 401
        assert (await scrape(service, token="second-token-0123456789"))[0] == 200


async def test_a_secret_that_is_not_there_yet_is_looked_for_again(world: World, tmp_path: Path) -> None:
    async with world.running():
        await world.rounds(1)
        world.http = f'metrics_token_file = "{tmp_path / "token"}"'
        world.write()
        await until(lambda: bool(events(world, EventKind.CONFIG_REJECTED)))
        (tmp_path / "token").write_text("a-token-0123456789")
        await until(lambda: bool(events(world, EventKind.CONFIG_RELOADED)))


async def test_a_server_with_another_url_is_probed_there(world: World) -> None:
    other = SampleServer("v2")
    async with serving(other.application) as port, world.running() as service:
        await world.rounds(1)
        world.servers["bookshop"] = f"http://127.0.0.1:{port}/mcp"
        world.write()
        assert (await service.reload()).changed == ("bookshop",)
        await world.rounds(1)
        record = world.read(lambda reader: reader.server("bookshop"))
        assert record is not None
        assert f":{port}/" in record.url


async def test_a_reload_that_finds_nothing_new_leaves_no_event(world: World) -> None:
    async with world.running() as service:
        await world.rounds(1)
        for _ in range(2):
            assert (await service.reload()).problems == ()
    assert events(world, EventKind.CONFIG_RELOADED) == []
