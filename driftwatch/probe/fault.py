"""What went wrong on the way, as the Fault that an Exchange records."""

import errno
import re
import socket
import ssl

import h11

from driftwatch.evidence import Fault

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

_CUT = ("peer closed", "peer unexpectedly", "can't handle event type ConnectionClosed")
"""How h11 says that the connection ended early."""
_NO_STATUS = re.compile(r"status_code should be in range .*, not (\d+)$")
_MAX_QUOTED = 200


class Broken(Exception):  # noqa: N818 - it carries a fault, and is one only inside this room
    """An exchange cannot go on; carries the Fault that says why. Never leaves the wire."""

    def __init__(self, code: str, phase: str, message: str) -> None:
        self.fault = Fault(code=code, phase=phase, message=message)
        super().__init__(message)


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


def of_http(error: h11.RemoteProtocolError, phase: str, *, received: int, head: str) -> Broken:
    """The fault of a reply that is no HTTP, after so many bytes of it; it begins like ``head``."""
    text = str(error)
    if not text.startswith(_CUT):
        return Broken("protocol", phase, f"not valid HTTP: {_plain(text)[:_MAX_QUOTED]}")
    if not received:
        return Broken("reset", phase, "the server closed the connection without an answer")
    if phase == "headers":
        return Broken("reset", phase, f"the connection ended inside the header block: {head}")
    return Broken("reset", phase, f"the body was cut: {text[:_MAX_QUOTED]}")


def _plain(text: str) -> str:
    """What h11 says, without the names of its own parts."""
    if "_SWITCH_UPGRADE" in text:
        return "the server switches to another protocol (status 101), which nobody asked for"
    if (status := _NO_STATUS.search(text)) is not None:
        return f"the status code {status[1]} does not exist"
    return re.sub(r"bytearray\(b(['\"].*['\"])\)", r"\1", text)


def ssl_reason(error: ssl.SSLError) -> str:
    """OpenSSL's reason in lower case words, such as ``tlsv1 alert internal error``."""
    reason: str | None = getattr(error, "reason", None)  # what Python itself raises has none
    if reason:
        return reason.replace("_", " ").lower()
    return error.strerror or str(error) or type(error).__name__
