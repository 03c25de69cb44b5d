"""An outage of driftwatch's own network is no outage of everybody."""

from dataclasses import dataclass, field
from ipaddress import ip_address
from urllib.parse import urlsplit

import pytest

from driftwatch.model import DeployState, EventKind
from driftwatch.probe.wire.address import Address
from tests.service.world import MovedClock, Receiver, World

HOSTS = ("one.test", "two.test", "three.test")


@dataclass
class Uplink:
    """A resolver of names that all stand for this machine; what is cut off does not resolve."""

    cut: set[str] = field(default_factory=set)

    async def resolve(self, host: str, port: int) -> list[Address]:
        if host in self.cut:
            raise OSError("Temporary failure in name resolution")
        return [Address(ip_address("127.0.0.1"), port)]


@pytest.fixture
def uplink(world: World) -> Uplink:
    """Three servers on as many hosts."""
    port = urlsplit(world.servers["bookshop"]).port
    world.servers = {host: f"http://{host}:{port}/mcp" for host in HOSTS}
    world.resolver = uplink = Uplink()
    return uplink


def all_probed(world: World, times: int = 1) -> bool:
    return all(world.runs(host) >= times for host in HOSTS)


@pytest.mark.parametrize("canary", ["", 'canary_url = "http://canary.test:1/"'])
async def test_it_is_one_message_one_when_it_is_over_and_no_state_moves(
    world: World, clock: MovedClock, receiver: Receiver, uplink: Uplink, canary: str
) -> None:
    world.monitor = canary
    async with world.running():
        await clock.advance_until(lambda: all_probed(world))
        uplink.cut = {*HOSTS, "canary.test"}
        await clock.advance_until(lambda: len(receiver.messages) == 1, step_s=5)
    async with world.running():  # a restart in the middle of it
        offline_for = clock.now()
        await clock.advance_until(lambda: (clock.now() - offline_for).total_seconds() > 3600, step_s=30)
        uplink.cut = set()
        await clock.advance_until(lambda: len(receiver.messages) == 2, step_s=5)
        before = world.runs(HOSTS[0])
        await clock.advance_until(lambda: all_probed(world, before + 3), step_s=60)
    began, over = (message["title"] for message in receiver.messages)
    assert "offline - 3 of 3 hosts cannot be reached" in began
    assert "online again after 1 h" in over
    assert EventKind.CHANGE not in world.kinds()
    assert world.kinds().count(EventKind.MONITOR_OFFLINE) == 2


async def test_while_the_canary_answers_it_is_the_servers(
    world: World, clock: MovedClock, receiver: Receiver, uplink: Uplink
) -> None:
    world.monitor = f'canary_url = "http://canary.test:{urlsplit(world.servers[HOSTS[0]]).port}/"'
    async with world.running():
        await clock.advance_until(lambda: all_probed(world))
        uplink.cut = set(HOSTS)
        await clock.advance_until(lambda: world.kinds().count(EventKind.CHANGE) == 3, step_s=5)
    assert EventKind.MONITOR_OFFLINE not in world.kinds()


async def test_one_host_of_three_is_an_outage_of_its_own(
    world: World, clock: MovedClock, receiver: Receiver, uplink: Uplink
) -> None:
    async with world.running():
        await clock.advance_until(lambda: all_probed(world))
        uplink.cut = {HOSTS[0]}
        await clock.advance_until(lambda: len(receiver.messages) == 1, step_s=5)
    assert HOSTS[0] in receiver.messages[0]["title"]
    assert EventKind.MONITOR_OFFLINE not in world.kinds()


async def test_a_deploy_that_meets_it_settles_when_it_is_over(
    world: World, clock: MovedClock, receiver: Receiver, uplink: Uplink
) -> None:
    async with world.running():
        await clock.advance_until(lambda: all_probed(world))
        uplink.cut = set(HOSTS)
        release = world.announce("v2", HOSTS[0])
        world.sample.deploy("v2")
        await clock.advance_until(lambda: EventKind.MONITOR_OFFLINE in world.kinds(), step_s=5)
        cut_off = clock.now()
        await clock.advance_until(lambda: clock.now() - cut_off > 2 * world.config.hook.settle_timeout)
        uplink.cut = set()
        await clock.advance_until(lambda: world.outcome(release, HOSTS[0]).state.over, step_s=2)
        outcome = world.outcome(release, HOSTS[0])
        assert outcome.state is DeployState.SETTLED
        assert outcome.changed
    told = world.read(lambda reader: reader.events(HOSTS[0], kinds=[EventKind.TOOLSET_CHANGED]))
    assert told
    assert {event.details["release"]["relation"] for event in told} == {"by"}
