"""How long a connection waits for its peer."""

import asyncio
import socket
from collections.abc import AsyncIterator
from ipaddress import ip_address

import pytest

from driftwatch.probe.wire.address import Address
from driftwatch.probe.wire.connect import reach
from driftwatch.probe.wire.fault import OutOfTime
from driftwatch.probe.wire.tcp import SocketStream

SOON_S = 0.01
SHORT_S = 0.5
LATE_S = 60.0

Pair = tuple[SocketStream, socket.socket]


@pytest.fixture
async def pair() -> AsyncIterator[Pair]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        stream = await reach(Address(ip_address("127.0.0.1"), server.getsockname()[1]), None)
        peer, _ = server.accept()
        stream.expect(2**20)
        with peer:
            yield stream, peer
        stream.close()


async def test_a_wait_ends_in_time_where_the_one_before_had_more_of_it(pair: Pair) -> None:
    stream, peer = pair
    now = asyncio.get_running_loop().time
    stream.ends = now() + LATE_S
    peer.sendall(b"first")
    assert await stream.read(100) == b"first"
    stream.ends = now() + SOON_S
    with pytest.raises(OutOfTime):
        await stream.read(100)


async def test_a_wait_goes_on_where_there_is_more_time_than_before(pair: Pair) -> None:
    stream, peer = pair
    loop = asyncio.get_running_loop()
    stream.ends = loop.time() + SHORT_S
    reading = asyncio.create_task(stream.read(100))
    await asyncio.sleep(0)
    stream.ends = loop.time() + LATE_S
    loop.call_later(1.5 * SHORT_S, peer.sendall, b"late")
    assert await reading == b"late"


async def test_a_peer_that_reads_nothing_is_given_up_in_time(pair: Pair) -> None:
    stream, _ = pair
    stream.ends = asyncio.get_running_loop().time() + SOON_S
    stream.write(b"x" * 2**25)
    with pytest.raises(OutOfTime):
        await stream.read(100)


async def test_a_peer_that_always_has_more_does_not_stop_the_clock(pair: Pair) -> None:
    stream, peer = pair
    peer.sendall(b"x" * 100)
    stream.ends = asyncio.get_running_loop().time()

    async def read_all() -> None:
        while await stream.read(1):
            pass

    with pytest.raises(OutOfTime):
        await read_all()
