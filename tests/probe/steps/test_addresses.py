"""Every address of a name is asked for a connection, and nothing is sent to it."""

import asyncio
import socket
from collections.abc import Iterator
from ipaddress import ip_address

import pytest

from driftwatch.evidence import Addresses, Missing
from driftwatch.model import Depth
from driftwatch.probe.steps import addresses
from driftwatch.probe.wire.address import Address
from tests.specimens.running import running


class Named:
    """A name with these addresses."""

    def __init__(self, *found: Address) -> None:
        self.found = list(found)

    async def resolve(self, host: str, port: int) -> list[Address]:
        if not self.found:
            raise OSError("no such name")
        return self.found


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def dead() -> Iterator[Address]:
    """One that refuses every connection, and that nobody else gets meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield of(taken)


def of(server: socket.socket) -> Address:
    return Address(ip_address("127.0.0.1"), server.getsockname()[1])


def later(seconds: float = 60) -> float:
    return asyncio.get_running_loop().time() + seconds


async def test_each_address_accepts_or_says_why_not(listening: socket.socket, dead: Address) -> None:
    metadata = Address(ip_address("169.254.169.254"), 80)
    found = await addresses.knock("http://h.example/mcp", Named(dead, metadata, of(listening)), ends=later())
    assert isinstance(found, Addresses)
    assert found.accepted == (str(of(listening)),)
    assert [(fault.address, fault.code) for fault in found.faults] == [(str(dead), "refused")]


async def test_a_literal_address_is_its_own_only_one(listening: socket.socket) -> None:
    found = await addresses.knock(f"http://{of(listening)}/mcp", Named(), ends=later())
    assert found == Addresses(accepted=(str(of(listening)),), faults=())


async def test_a_name_that_no_longer_resolves_is_said() -> None:
    found = await addresses.knock("http://h.example/mcp", Named(), ends=later())
    assert isinstance(found, Missing)
    assert found.code == "dns"


async def test_a_full_probe_finds_the_dead_address_that_its_own_connection_avoided(dead: Address) -> None:
    async with running() as server:
        alive = Address(ip_address("127.0.0.1"), server.loopback.port)
        server.loopback.host = "localhost"
        evidence = await server.probe(depth=Depth.FULL, resolver=Named(alive, dead))
    assert isinstance(evidence.addresses, Addresses)
    assert [fault.address for fault in evidence.addresses.faults] == [str(dead)]
    assert evidence.outcome.code == "ok"


async def test_without_time_no_address_is_said_to_be_dead(listening: socket.socket) -> None:
    found = await addresses.knock("http://h.example/mcp", Named(of(listening)), ends=later(-1))
    assert found == addresses.NO_TIME
