"""From a host to a connection: the addresses of a name, and which of them may be reached."""

import asyncio
import math
import socket
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Any, Protocol

from driftwatch.evidence import AddressFault
from driftwatch.probe.wire.address import IP, Address, refusal
from driftwatch.probe.wire.fault import Broken, OutOfTime, of_os_error
from driftwatch.probe.wire.tcp import SocketStream

__all__ = [
    "Address",
    "AddressFault",
    "Resolver",
    "SocketStream",
    "SystemResolver",
    "addresses",
    "dial",
    "reach",
]

ADDRESS_S = 4.0
"""How long one address may take to accept a connection before the next one is tried: a lost SYN is sent again
after 1 and 3 seconds."""

MAX_ADDRESSES = 8


class Resolver(Protocol):
    """Turns a host into addresses, best first. Raises OSError (TimeoutError too) when it cannot."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        """Every address of the host."""


class SystemResolver:
    """The machine's own resolver, in threads of its own: a dead name server must not starve other work."""

    def __init__(self, *, timeout_s: float = 5.0, threads: int = 16) -> None:
        self._timeout_s = timeout_s
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix="resolve")

    async def resolve(self, host: str, port: int) -> list[Address]:
        """Every address of the host, in the order of the system's preference."""
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(self._timeout_s):
            found = await loop.run_in_executor(self._threads, _getaddrinfo, host, port)
        return list(dict.fromkeys(Address(ip_address(at[0].partition("%")[0]), at[1]) for *_, at in found))


def _getaddrinfo(host: str, port: int) -> list[Any]:
    return list(socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))


async def addresses(resolver: Resolver, host: str, port: int) -> list[Address]:
    """The addresses of a host name or an address literal; Broken when there are none."""
    literal = _literal(host)
    if literal is not None:
        return [Address(literal, port)]
    try:
        found = await resolver.resolve(host, port)
    except TimeoutError:
        raise Broken("dns", "resolve", f"{host} did not resolve in time") from None
    except OSError as error:
        raise Broken("dns", "resolve", f"{host} does not resolve: {error.strerror or error}") from None
    except UnicodeError:
        raise Broken("dns", "resolve", f"{host} is no host name") from None
    if not found:
        raise Broken("dns", "resolve", f"{host} has no address")
    return list(found)


def _literal(host: str) -> IP | None:
    try:
        return ip_address(host)
    except ValueError:
        return None


def refused_unseen(host: str, *, own: bool) -> str | None:
    """Why a host is not asked for where a proxy would resolve its name; None when it may be.

    ``own`` is the configured host. What another host resolves to behind the proxy cannot be judged from here.
    """
    literal = _literal(host)
    if literal is not None:
        return refusal(literal, named_by_server=not own)
    return None if own else f"which address {host} has behind the proxy cannot be known"


async def dial(
    found: Sequence[Address], *, named_by_server: bool, patience_s: float, faults: list[AddressFault]
) -> SocketStream:
    """Connect to the first address that may be reached and answers.

    Each address but the last gets a share of ``patience_s``, at most ADDRESS_S; the last one waits as long as
    the caller does. What became of the others is appended to ``faults``; what is in there already is tried
    last. Raises Broken when none is left.
    """
    failed = {fault.address for fault in faults}
    broken: list[Broken] = []

    def note(address: Address, why: Broken) -> None:
        broken.append(why)
        if str(address) not in failed:
            fault = why.fault
            faults.append(AddressFault(address=str(address), code=fault.code, message=fault.message))

    allowed = []
    for address in sorted(found[:MAX_ADDRESSES], key=lambda address: str(address) in failed):
        refused = refusal(address.ip, named_by_server=named_by_server)
        if refused is None:
            allowed.append(address)
        else:
            note(address, Broken("address", "connect", f"not connected: {refused}"))
    loop = asyncio.get_running_loop()
    ends = loop.time() + patience_s
    for others, address in zip(reversed(range(len(allowed))), allowed, strict=True):
        share = min(ADDRESS_S, (ends - loop.time()) / (others + 1))
        try:
            return await reach(address, share if others else None)
        except Broken as why:
            note(address, why)
    # An address family that this machine has no way to says less than a refusal by the other.
    raise next((why for why in broken if why.fault.code not in {"address", "unreachable"}), broken[-1])


async def reach(address: Address, patience_s: float | None) -> SocketStream:
    """Connect to one address. None leaves the patience to the caller. Raises Broken."""
    family = socket.AF_INET if address.ip.version == 4 else socket.AF_INET6  # noqa: PLR2004
    try:
        sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    except OSError as error:
        raise of_os_error(error, "connect", str(address)) from None
    stream = SocketStream(sock, address)
    if patience_s is not None:
        stream.ends = asyncio.get_running_loop().time() + patience_s
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        await stream.connect(address)
    except OutOfTime:
        stream.close()
        message = f"{address} did not accept a connection within {patience_s:.1f} s"
        raise Broken("timeout", "connect", message) from None
    except OSError as error:
        stream.close()
        raise of_os_error(error, "connect", str(address)) from None
    except BaseException:
        stream.close()
        raise
    stream.ends = math.inf
    return stream
