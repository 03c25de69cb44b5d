"""From a host to a connection: the addresses of a name, which of them may be reached, and the socket.

The stream works on a plain non-blocking socket instead of an asyncio transport: it reads only what was asked
for, and costs half the CPU of a connection.
"""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from typing import Any, Protocol

from driftwatch.evidence import AddressFault
from driftwatch.probe.address import Address, refusal
from driftwatch.probe.fault import Broken, of_os_error

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
READ_SIZE = 64 * 1024

_OVERFLOWS = {"headers": ("headers", "the header block"), "body": ("too-large", "the body with its framing")}
_BREATHE = 8


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
    try:
        return [Address(ip_address(host), port)]
    except ValueError:
        pass
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


def refused_unseen(host: str, *, own: bool) -> str | None:
    """Why a host is not asked for where a proxy would resolve its name; None when it may be.

    ``own`` is the configured host. What another host resolves to behind the proxy cannot be judged from here.
    """
    try:
        return refusal(ip_address(host), named_by_server=not own)
    except ValueError:
        return None if own else f"which address {host} has behind the proxy cannot be known"


async def dial(
    found: Sequence[Address], *, named_by_server: bool, patience_s: float, faults: list[AddressFault]
) -> "SocketStream":
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


async def reach(address: Address, patience_s: float | None) -> "SocketStream":
    """Connect to one address. None leaves the patience to the caller. Raises Broken."""
    loop = asyncio.get_running_loop()
    family = socket.AF_INET if address.ip.version == 4 else socket.AF_INET6  # noqa: PLR2004
    try:
        sock = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
    except OSError as error:
        raise of_os_error(error, "connect", str(address)) from None
    patience: asyncio.Timeout | None = None
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connecting = loop.sock_connect(sock, (str(address.ip), address.port))
        if patience_s is None:
            await connecting
        else:
            async with asyncio.timeout(patience_s) as patience:
                await connecting
    except OSError as error:  # TimeoutError is one
        sock.close()
        if patience is not None and patience.expired():
            message = f"{address} did not accept a connection within {patience_s:.1f} s"
            raise Broken("timeout", "connect", message) from None
        raise of_os_error(error, "connect", str(address)) from None
    except BaseException:
        sock.close()
        raise
    return SocketStream(sock, address)


class SocketStream:
    """One TCP or TLS connection, with counters that bound what a server can make us read.

    What is written is kept until the next read, so that a request leaves in one piece.
    Raises Broken for every fault.
    """

    def __init__(self, sock: socket.socket, address: Address) -> None:
        self.address = str(address)
        """Address and port of the peer."""
        self.phase = "connect"
        """What the peer is waited for: connect, tls, headers or body."""
        self.received = 0
        """Bytes since ``expect``, framing included."""
        self.first_byte_at: float | None = None
        """When the reply began, on the event loop's clock."""
        self.cut = False
        """True when the peer ended TLS without saying so (no close_notify): what came may be incomplete."""
        self._sock = sock
        self._loop = asyncio.get_running_loop()
        self._unsent: list[bytes] = []
        self._allowance = 0
        self._waiter: asyncio.Future[None] | None = None
        self._reading = False
        self._drained = False
        """True after a read that took all there was."""
        self._reads = 0

    @property
    def tls(self) -> ssl.SSLSocket | None:
        """The TLS connection, also after a handshake that failed; None for plain TCP."""
        return self._sock if isinstance(self._sock, ssl.SSLSocket) else None

    @property
    def closed(self) -> bool:
        """Whether this side has closed the connection."""
        return self._sock.fileno() < 0

    def expect(self, allowance: int) -> None:
        """A new reply begins, whose header block may take this many bytes."""
        self.phase, self.received, self._allowance = "headers", 0, allowance
        self.first_byte_at = None

    def expect_body(self, allowance: int) -> None:
        """The header block is read; the body may take this many bytes more."""
        self.phase = "body"
        self._allowance = self.received + allowance

    async def start_tls(self, context: ssl.SSLContext, host: str) -> None:
        """Do the handshake on this connection. Raises ssl.SSLError as it is; ``tls`` then has the chain."""
        self.phase = "tls"
        self._stop_reading()  # where wrapping fails, the descriptor is closed before ``close`` can do it
        try:
            self._sock = connection = self._wrapped(context, host)
            while True:
                try:
                    connection.do_handshake()
                except ssl.SSLWantReadError:
                    await self._readable()
                except ssl.SSLWantWriteError:
                    await self._writable()
                else:
                    return
        except ssl.SSLError:
            raise
        except OSError as error:
            raise of_os_error(error, "tls", self.address) from None

    def _wrapped(self, context: ssl.SSLContext, host: str) -> ssl.SSLSocket:
        try:
            return context.wrap_socket(
                self._sock,
                server_hostname=host,
                do_handshake_on_connect=False,
                suppress_ragged_eofs=False,
            )
        except ssl.SSLError:  # of Python itself: bytes came, and then a reset
            what = f"{self.address} spoke and reset the connection before the TLS handshake"
            raise Broken("reset", "tls", what) from None

    async def read(self, max_bytes: int) -> bytes:
        """Some bytes, or none at the end of the stream."""
        if self.received >= self._allowance:
            code, what = _OVERFLOWS[self.phase]
            raise Broken(code, self.phase, f"{what} is larger than {self._allowance:,} bytes")
        try:
            if self._unsent:
                await self._flush()
                self._drained = True
            if self._drained:
                await self._readable()
            data = await self._receive(min(max_bytes, self._allowance - self.received))
        except ssl.SSLEOFError:
            self.cut = True
            return b""
        except OSError as error:
            raise of_os_error(error, self.phase, self.address) from error
        if not self.received:
            self.first_byte_at = self._loop.time()
        size = len(data)
        self.received += size
        # TLS keeps some that it has taken.
        self._drained = size < max_bytes and self.tls is None
        return data

    def write(self, data: bytes) -> None:
        """Keep bytes for the next read to send."""
        if data:
            self._unsent.append(data)

    def close(self) -> None:
        """Say goodbye without waiting for an answer, and close."""
        if self.closed:
            return
        self._stop_reading()
        if isinstance(self._sock, ssl.SSLSocket):
            # The peer has no time to answer, or the handshake never ended.
            with contextlib.suppress(OSError, ValueError):
                self._sock.unwrap()
        self._sock.close()

    def is_readable(self) -> bool:
        """Whether something, the end included, came while nothing was asked: the connection is then spent."""
        if self.closed:
            return True
        try:
            self._sock.recv(1)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return False
        except OSError:
            return True
        return True

    async def _receive(self, max_bytes: int) -> bytes:
        self._reads += 1
        if self._reads % _BREATHE == 0:
            await asyncio.sleep(0)  # a peer that is faster than we are must not stop the clock
        while True:
            try:
                return self._sock.recv(max_bytes)
            except (BlockingIOError, ssl.SSLWantReadError):
                await self._readable()
            except ssl.SSLWantWriteError:
                await self._writable()

    async def _flush(self) -> None:
        data = memoryview(b"".join(self._unsent))
        self._unsent.clear()
        while data:
            try:
                data = data[self._sock.send(data) :]
            except (BlockingIOError, ssl.SSLWantWriteError):
                await self._writable()
            except ssl.SSLWantReadError:
                await self._readable()
            except (ConnectionError, ssl.SSLEOFError):
                # A server may refuse early and close: what it said before is still there to be read.
                return

    async def _readable(self) -> None:
        if not self._reading:
            self._loop.add_reader(self._sock.fileno(), self._wake)
            self._reading = True
        self._waiter = self._loop.create_future()
        try:
            await self._waiter
        finally:
            self._waiter = None

    async def _writable(self) -> None:
        waiter: asyncio.Future[None] = self._loop.create_future()
        descriptor = self._sock.fileno()
        self._loop.add_writer(descriptor, _resolve, waiter)
        try:
            await waiter
        finally:
            self._loop.remove_writer(descriptor)

    def _wake(self) -> None:
        if self._waiter is None:
            self._stop_reading()
        else:
            _resolve(self._waiter)

    def _stop_reading(self) -> None:
        if self._reading:
            self._loop.remove_reader(self._sock.fileno())
            self._reading = False


def _resolve(waiter: "asyncio.Future[None]") -> None:
    if not waiter.done():
        waiter.set_result(None)
