"""The header block in both directions: what is sent, and what of it may be recorded."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from email.utils import parsedate_to_datetime

from driftwatch import __version__
from driftwatch.probe.credential import SESSION, Credential, Redactor
from driftwatch.probe.http1 import Fields, in_utf8

SESSION_HEADER = "mcp-session-id"
USER_AGENT = f"driftwatch/{__version__} (+https://github.com/driftwatch/driftwatch)"

_MAX_RECORDED = 64 * 1024
_COOKIE = re.compile(r"^([^=;]*)=[^;]*")
_QUERY = re.compile(r"\?[^#]*")

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
    chosen: dict[str, tuple[str, str, str]] = {}
    ours = [("User-Agent", USER_AGENT), ("Accept-Encoding", "identity")]
    if accept is not None:
        ours.append(("Accept", accept))
    if content is not None:
        body, media_type = content
        ours += [("Content-Type", media_type), ("Content-Length", str(len(body)))]
    for name, value in ours:
        chosen[name.lower()] = (name, value, value)
    if credential is not None:
        for name, value in credential.headers:
            chosen[name.lower()] = (name, value, f"<{credential.label}>")
    for name, value in headers:
        shown = f"<{SESSION}>" if name.lower() == SESSION_HEADER else redactor.text(value)
        chosen[name.lower()] = (name, value, shown)
    fields = [("Host", authority)]
    # A session goes back byte for byte as it came (see incoming), all else as UTF-8.
    fields += [
        (name, value if value.isascii() or key == SESSION_HEADER else in_utf8(value))
        for key, (name, value, _) in chosen.items()
    ]
    return fields, tuple([(name, shown) for name, _, shown in chosen.values()])


def incoming(fields: Fields) -> Recorded:
    """The fields of a reply in the order received, at most 64 KiB of them."""
    room = _MAX_RECORDED
    for place, (name, value) in enumerate(fields):
        room -= len(name) + len(value)
        if room < 0:
            return tuple(fields[:place])
    return tuple(fields)


def recorded(headers: Recorded, redactor: Redactor) -> Recorded:
    """Received headers without session ids, cookies, queries of redirects and known secrets."""
    return tuple([(name, _shown(name, value, redactor)) for name, value in headers])


def _shown(name: str, value: str, redactor: Redactor) -> str:
    if name == SESSION_HEADER and value:
        return f"<{SESSION}>"
    if name == "set-cookie":
        value = _COOKIE.sub(r"\1=<cookie>", value)
    elif name in {"location", "content-location"}:
        value = _QUERY.sub("?<redacted>", value)
    return redactor.text(value) if redactor else value


def first(headers: Recorded, name: str) -> str | None:
    """The first value of a header, by its lower-case name."""
    for key, value in headers:
        if key == name:
            return value
    return None


def media_type(headers: Recorded) -> str | None:
    """The media type without parameters in lower case; of a doubled value the first."""
    value = first(headers, "content-type")
    return value.split(",")[0].split(";")[0].strip().lower() or None if value is not None else None


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
