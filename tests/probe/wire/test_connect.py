"""Which addresses may be reached, how a name becomes a connection, and what happens when it does not."""

import asyncio
import socket
import ssl
import struct
from collections.abc import Iterator, Sequence
from ipaddress import ip_address

import pytest

from driftwatch.probe.wire import connect
from driftwatch.probe.wire.address import Address, refusal
from driftwatch.probe.wire.connect import AddressFault, SystemResolver, addresses, dial, reach
from driftwatch.probe.wire.fault import Broken
from driftwatch.probe.wire.place import place

NEVER = [
    "169.254.169.254",
    "169.254.170.2",
    "169.254.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "fd00:ec2::254",
    "fd20:ce::254",
    "fd00:c1::a9fe:a9fe",
    "fd00:a9fe:a9fe::1",
    "fd00:100::100:200",
    "fe80::1",
    "::ffff:169.254.169.254",
    "::ffff:a9fe:a9fe",
    "64:ff9b::169.254.169.254",
    "64:ff9b:1::a9fe:a9fe",
    "64:ff9b:1:a9fe:a9:fe00::",
    "64:ff9b:1:a9:fe:a9fe::",
    "64:ff9b:1:0:a9:fea9:fe00:0",
    "::ffff:0:a9fe:a9fe",
    "2001:db8::5efe:a9fe:a9fe",
    "2001:db8::200:5efe:a9fe:a9fe",
    "2002:a9fe:a9fe::1",
    "::169.254.169.254",
    "224.0.0.1",
    "ff02::1",
]
PRIVATE = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "100.64.0.1",
    "::1",
    "fd12:3456::1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::10.0.0.1",
    "64:ff9b:1:a00:0:100::",
    "2600::5efe:10.0.0.1",
    "fec0::1",
    "2002:0a00:0001::1",
    "0.0.0.0",
]
PUBLIC = ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::93.184.216.34"]


@pytest.mark.parametrize("ip", NEVER)
def test_link_local_and_metadata_addresses_are_refused_to_everybody(ip: str) -> None:
    assert refusal(ip_address(ip), named_by_server=False) is not None
    assert refusal(ip_address(ip), named_by_server=True) is not None


@pytest.mark.parametrize("ip", PRIVATE)
def test_private_addresses_are_for_the_configuration_only(ip: str) -> None:
    assert refusal(ip_address(ip), named_by_server=False) is None
    assert "not a public address" in (refusal(ip_address(ip), named_by_server=True) or "")


@pytest.mark.parametrize("ip", PUBLIC)
def test_public_addresses_are_for_everybody(ip: str) -> None:
    assert refusal(ip_address(ip), named_by_server=False) is None
    assert refusal(ip_address(ip), named_by_server=True) is None


@pytest.fixture
def listening() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server


@pytest.fixture
def closed_port() -> Iterator[int]:
    """A port that refuses every connection, and that nobody else gets meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def deaf() -> Iterator[Address]:
    """An address that never accepts: its queue of waiting connections is full."""
    with socket.socket() as server, socket.socket() as first, socket.socket() as second:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        for waiting in (first, second):
            waiting.settimeout(0)
            waiting.connect_ex(server.getsockname())
        yield Address(ip_address("127.0.0.1"), server.getsockname()[1])


def of(sock: socket.socket) -> Address:
    return Address(ip_address("127.0.0.1"), sock.getsockname()[1])


async def test_the_next_address_is_tried_when_the_first_refuses(
    listening: socket.socket, closed_port: int
) -> None:
    faults: list[AddressFault] = []
    dead = Address(ip_address("127.0.0.1"), closed_port)
    stream = await dial([dead, of(listening)], named_by_server=False, patience_s=10, faults=faults)
    stream.close()
    assert stream.address == str(of(listening))
    assert [(fault.address, fault.code) for fault in faults] == [(str(dead), "refused")]


async def test_a_silent_address_does_not_eat_the_whole_patience(
    listening: socket.socket, deaf: Address, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "ADDRESS_S", 0.05)
    faults: list[AddressFault] = []
    stream = await dial([deaf, of(listening)], named_by_server=False, patience_s=60, faults=faults)
    stream.close()
    assert [(fault.address, fault.code) for fault in faults] == [(str(deaf), "timeout")]


async def test_an_address_that_failed_before_is_tried_last(
    listening: socket.socket, closed_port: int
) -> None:
    dead = Address(ip_address("127.0.0.1"), closed_port)
    known = AddressFault(address=str(dead), code="timeout", message="")
    faults = [known]
    stream = await dial([dead, of(listening)], named_by_server=False, patience_s=10, faults=faults)
    stream.close()
    assert faults == [known]


async def test_refused_addresses_are_noted_and_the_others_tried(listening: socket.socket) -> None:
    faults: list[AddressFault] = []
    metadata = Address(ip_address("169.254.169.254"), 80)
    stream = await dial([metadata, of(listening)], named_by_server=False, patience_s=10, faults=faults)
    stream.close()
    assert [fault.code for fault in faults] == ["address"]


async def test_the_most_telling_fault_is_raised_when_no_address_is_left(closed_port: int) -> None:
    found = [Address(ip_address("127.0.0.1"), closed_port), Address(ip_address("169.254.169.254"), 80)]
    with pytest.raises(Broken) as caught:
        await dial(found, named_by_server=False, patience_s=10, faults=[])
    assert (caught.value.fault.code, caught.value.fault.phase) == ("refused", "connect")


async def test_a_server_that_speaks_and_resets_before_the_handshake_leaves_nothing_to_trip_over(
    listening: socket.socket,
) -> None:
    async def tunnel() -> tuple[connect.SocketStream, socket.socket]:
        stream = await reach(of(listening), None)
        peer, _ = listening.accept()
        peer.sendall(b"HTTP/1.1 200 OK")
        stream.expect(100)
        stream.write(b"CONNECT")
        assert await stream.read(100) == b"HTTP/1.1 200 OK"
        return stream, peer

    stream, peer = await tunnel()
    peer.sendall(b"220 ready")
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()
    with pytest.raises(Broken, match="before the TLS handshake") as caught:
        await stream.start_tls(ssl.create_default_context(), "mcp.test")
    stream.close()
    assert (caught.value.fault.code, caught.value.fault.phase) == ("reset", "tls")
    stream, peer = await tunnel()  # over the same file descriptor
    stream.close()
    peer.close()


class Names:
    def __init__(self, found: Sequence[Address] | Exception) -> None:
        self.found = found

    async def resolve(self, host: str, port: int) -> list[Address]:
        if isinstance(self.found, Exception):
            raise self.found
        return list(self.found)


@pytest.mark.parametrize(
    "found",
    [
        [],
        TimeoutError(),
        socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
        socket.gaierror(socket.EAI_NONAME, "Name or service not known"),
        UnicodeError("label too long"),
    ],
)
async def test_a_name_that_does_not_resolve_is_a_dns_fault(found: list[Address] | Exception) -> None:
    with pytest.raises(Broken) as caught:
        await addresses(Names(found), "mcp.test", 443)
    assert (caught.value.fault.code, caught.value.fault.phase) == ("dns", "resolve")
    assert "mcp.test" in caught.value.fault.message


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "169.254.169.254"])
async def test_an_address_literal_is_not_resolved(host: str) -> None:
    assert await addresses(Names(AssertionError()), host, 80) == [Address(ip_address(host), 80)]


@pytest.mark.parametrize("host", ["2130706433", "017700000001", "0x7f.1"])
async def test_other_spellings_of_an_address_are_judged_by_what_they_mean(host: str) -> None:
    (address,) = await addresses(SystemResolver(), host, 80)
    assert str(address) == "127.0.0.1:80"


async def test_the_system_resolver_finds_this_machine() -> None:
    found = await SystemResolver().resolve("localhost", 80)
    assert Address(ip_address("127.0.0.1"), 80) in found
    assert len(found) == len(set(found))


async def test_the_system_resolver_gives_up_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    release = asyncio.Event()
    loop = asyncio.get_running_loop()

    def hang(*_: object, **__: object) -> list[object]:
        asyncio.run_coroutine_threadsafe(release.wait(), loop).result()
        return []

    monkeypatch.setattr(socket, "getaddrinfo", hang)
    with pytest.raises(TimeoutError):
        await SystemResolver(timeout_s=0.01).resolve("mcp.test", 80)
    release.set()


def test_an_endpoint_is_shown_without_its_secrets() -> None:
    found = place("https://user:hunter2@MCP.example:8443/mcp?key=abc&n=1#top")
    assert found is not None
    assert found.shown == "https://mcp.example:8443/mcp?<redacted>"
    assert found.secrets == (("key", "abc"), ("n", "1"), ("password", "hunter2"))
    assert found.target == "/mcp?key=abc&n=1"


def test_a_name_becomes_its_a_label_and_brackets_go() -> None:
    names = [place(url) for url in ("https://bücher.example/", "http://[::1]:8000/mcp", "HTTP://LocalHost")]
    assert [name and (name.host, name.port, name.authority) for name in names] == [
        ("xn--bcher-kva.example", 443, "xn--bcher-kva.example"),
        ("::1", 8000, "[::1]:8000"),
        ("localhost", 80, "localhost"),
    ]


@pytest.mark.parametrize(
    "url", ["", "/mcp", "ftp://h/", "http://", "http://h:99999/", "http://h:x/", "mcp", "http://[::1"]
)
def test_what_is_no_absolute_http_url_is_no_place(url: str) -> None:
    assert place(url) is None
