"""The header block in both directions: what is sent, and what of it may be recorded."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime

from driftwatch import __version__
from driftwatch.probe.wire.credential import SESSION, Credential, Redactor
from driftwatch.probe.wire.http1 import Fields, in_utf8

SESSION_HEADER = "mcp-session-id"
USER_AGENT = f"driftwatch/{__version__} (+https://github.com/driftwatch/driftwatch)"

_MAX_RECORDED = 64 * 1024
_SECRETIVE = frozenset({SESSION_HEADER, "set-cookie", "location", "content-location"})
_COOKIE = re.compile(r"^([^=;]*)=[^;]*")
_USER = re.compile(r"(?<=//)[^/?#]*(?=@)")
_QUERY = re.compile(r"(?<=\?)[^#]*")
_FRAGMENT = re.compile(r"(?<=#).+")

Recorded = tuple[tuple[str, str], ...]


def outgoing(
    *,
    authority: str,
    accept: str | None,
    content: tuple[bytes, str] | None,
    headers: Sequence[tuple[str, str]],
    credential: Credential | None,
    redactor: Redactor,
) -> tuple[Fields, Recorded]:
    """The fields to send, and the same as they are recorded.

    ``content`` is a body and its media type. A header of the request itself replaces one of the credential,
    which replaces one of ours.
    """
    sent = {"user-agent": ("User-Agent", USER_AGENT), "accept-encoding": ("Accept-Encoding", "identity")}
    if accept is not None:
        sent["accept"] = ("Accept", accept)
    if content is not None:
        body, media_type = content
        sent["content-type"] = ("Content-Type", media_type)
        sent["content-length"] = ("Content-Length", str(len(body)))
    shown = sent.copy()
    if credential is not None:
        for name, value in credential.headers:
            key = name.lower()
            sent[key], shown[key] = (name, in_utf8(value)), (name, f"<{credential.label}>")
    for name, value in headers:
        key = name.lower()
        if key == SESSION_HEADER:  # goes back byte for byte as it came (see incoming), all else as UTF-8
            sent[key], shown[key] = (name, value), (name, f"<{SESSION}>")
        else:
            sent[key], shown[key] = (name, in_utf8(value)), (name, redactor.text(value))
    return [("Host", authority), *sent.values()], tuple(shown.values())


def incoming(fields: Fields, size: int) -> Recorded:
    """The fields of a reply, of this size, in the order received; at most 64 KiB of them."""
    if size <= _MAX_RECORDED:
        return tuple(fields)
    room = _MAX_RECORDED
    for place, (name, value) in enumerate(fields):
        room -= len(name) + len(value)
        if room < 0:
            return tuple(fields[:place])
    return tuple(fields)


def recorded(headers: Recorded, redactor: Redactor) -> Recorded:
    """Received headers without known secrets, session ids, cookies, and what a redirect may hold of such."""
    shown = [
        (name, _without_secret(name, value)) if name in _SECRETIVE else (name, value)
        for name, value in headers
    ]
    return tuple([(name, redactor.text(value)) for name, value in shown] if redactor else shown)


def _without_secret(name: str, value: str) -> str:
    if name == SESSION_HEADER:
        return value and f"<{SESSION}>"
    if name == "set-cookie":
        return _COOKIE.sub(r"\1=<cookie>", value)
    for part in (_FRAGMENT, _QUERY, _USER):
        value = part.sub("<redacted>", value, count=1)
    return value


def firsts(headers: Recorded) -> dict[str, str]:
    """The first value of each header, by its lower-case name."""
    return dict(reversed(headers))


def sessions(headers: Recorded) -> list[str]:
    """The value of every ``Mcp-Session-Id``."""
    return [value for name, value in headers if name == SESSION_HEADER]


def session(headers: Recorded) -> str | None:
    """The session id as clients read it: of several headers they make one value, parted by commas."""
    return ", ".join(ids) if (ids := sessions(headers)) else None


def media_type(content_type: str | None) -> str | None:
    """The media type without parameters in lower case; of a doubled value the first."""
    if content_type is None:
        return None
    return content_type.split(",")[0].split(";")[0].strip().lower() or None


def retry_after_s(value: str | None, now: Callable[[], datetime]) -> float | None:
    """The seconds of a ``Retry-After``, given as such or as a date (RFC 9110 section 10.2.3)."""
    if value is None:
        return None
    value = value.strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        return max(0.0, (parsedate_to_datetime(value) - now()).total_seconds())
    except (ValueError, TypeError, OverflowError):  # TypeError: a date without a zone
        return None
