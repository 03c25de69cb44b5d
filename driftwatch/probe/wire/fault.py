"""What went wrong on the way, as the Fault that an Exchange records."""

import asyncio
import errno
import socket
import ssl
from collections.abc import Awaitable
from typing import TypeVar

from driftwatch.evidence import Fault

T = TypeVar("T")

_UNREACHABLE = frozenset(
    {
        errno.ENETUNREACH,
        errno.EHOSTUNREACH,
        errno.ENETDOWN,
        errno.EHOSTDOWN,
        errno.EADDRNOTAVAIL,  # no address of that family on this machine
        errno.EAFNOSUPPORT,
        errno.EACCES,  # a firewall rule of this machine or on the way
        errno.EPERM,
        errno.ENOPROTOOPT,
        errno.EPROTO,
        errno.EINVAL,
    }
)
_RESET = frozenset({errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED, errno.ENOTCONN, errno.ESHUTDOWN})


class Broken(Exception):  # noqa: N818 - it carries a fault, and is one only inside this room
    """An exchange cannot go on; carries the Fault that says why. Never leaves the wire."""

    def __init__(self, code: str, phase: str, message: str) -> None:
        self.fault = Fault(code=code, phase=phase, message=message)
        super().__init__(message)


class OutOfTime(Exception):  # noqa: N818 - as above
    """What was waited for did not come in time."""


async def within(ends: float | None, work: Awaitable[T]) -> T:
    """What comes of it by ``ends``, on the event loop's clock. Raises OutOfTime."""
    try:
        async with asyncio.timeout_at(ends):
            return await work
    except TimeoutError:
        raise OutOfTime from None


def of_os_error(error: OSError, phase: str, where: str) -> Broken:
    """The fault of a socket. Raises the error again when it is this machine's own (no files, no memory)."""
    if isinstance(error, ssl.SSLError):
        return Broken("tls", phase, f"TLS with {where} broke: {ssl_reason(error)}")
    if isinstance(error, socket.gaierror):
        return Broken("dns", "resolve", f"{where} does not resolve: {error.strerror or error}")
    if isinstance(error, TimeoutError):
        return Broken("timeout", phase, f"{where} did not answer: {error.strerror or 'timed out'}")
    if isinstance(error, ConnectionRefusedError):
        return Broken("refused", phase, f"{where} refused the connection")
    if isinstance(error, ConnectionError) or error.errno in _RESET:
        return Broken("reset", phase, f"{where} reset the connection")
    if error.errno in _UNREACHABLE:
        return Broken("unreachable", phase, f"no way to {where}: {error.strerror}")
    raise error


def ssl_reason(error: ssl.SSLError) -> str:
    """OpenSSL's reason in lower case words, such as ``tlsv1 alert internal error``."""
    reason: str | None = getattr(error, "reason", None)  # what Python itself raises has none
    if reason:
        return reason.replace("_", " ").lower()
    return error.strerror or str(error) or type(error).__name__
