"""What is secret in a value, and how it looks when people see it."""

import base64
import binascii
import contextlib
import re
from collections.abc import Iterable, Iterator
from urllib.parse import unquote, urlsplit

MASK = "***"

MIN_LENGTH = 4
"""Shorter values are not worth a search: replacing them would garble every text."""

_PLAIN = re.compile(
    r"[A-Z]?[a-z_-]{1,15}|[A-Z_-]{1,15}|[0-9]{1,8}|[0-9]{4}-[0-9]{2}-[0-9]{2}|[a-z]+/[a-z.+*-]+"
)
_TELLING = re.compile(r"pass|pwd|token|key|secret|auth|cookie|credential|sig|session|^[+:-]", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]{1,20}(?=://)")


def mask_url(url: str, hidden: Iterable[str] = ()) -> str:
    """A web address without its user, the values of its query, and every text in ``hidden``."""
    address, mark, query = url.partition("?")
    address = re.sub(r"//[^/@]*@", f"//{MASK}@", address)
    for secret in sorted(hidden, key=len, reverse=True):
        address = address.replace(secret, MASK)
    return (
        address + mark + "&".join(_mask_parameter(parameter) for parameter in query.split("&") if parameter)
    )


def _mask_parameter(parameter: str) -> str:
    name, equals, _ = parameter.partition("=")
    return f"{name}={MASK}" if equals and re.fullmatch(r"[\w.-]{1,32}", name) else MASK


def mask_secret(secret: str) -> str:
    """Only the kind of a secret URL, such as ``slack://***``, and nothing at all of any other secret."""
    scheme = _SCHEME.match(secret)
    return f"{scheme[0]}://{MASK}" if scheme else MASK


def looks_secret(value: str) -> bool:
    """False for words, small numbers and dates: hiding ``prod`` everywhere would hide ``api-prod`` too."""
    return len(value) >= MIN_LENGTH and not _PLAIN.fullmatch(value)


def header_secrets(name: str, value: str) -> Iterator[str]:
    """What of a request header must not be seen: all of a telling one, of others what looks like a secret."""
    if not _TELLING.search(name) and not looks_secret(value):
        return
    yield value
    scheme, blank, rest = value.partition(" ")
    if blank:
        yield rest
    if scheme.lower() == "basic":
        with contextlib.suppress(binascii.Error, UnicodeDecodeError):
            yield base64.b64decode(rest, validate=True).decode().partition(":")[2]


def web_url_secrets(url: str) -> Iterator[str]:
    """What of a web address must not be seen: its password, and in its query what looks like a secret."""
    parts = urlsplit(url)
    if parts.password:
        yield from _with_decoded(parts.password)
    for parameter in parts.query.split("&"):
        name, equals, value = parameter.partition("=")
        secret = value if equals else name
        if (equals and _TELLING.search(unquote(name))) or looks_secret(secret):
            yield from _with_decoded(secret)


def secret_url_secrets(url: str) -> Iterator[str]:
    """What of a secret URL, such as an alert channel's, must not be seen.

    All of it, and for texts that quote a part: the password, the path, and whatever looks like a secret among
    the path's segments, the query and, where a token stands in its place, the host.
    """
    yield url
    _, separator, rest = url.partition("://")
    if not separator:
        return
    yield rest
    try:
        parts = urlsplit(url)
        user, _, host = parts.netloc.rpartition("@")
    except ValueError:
        return
    yield from web_url_secrets(url)
    places = [user, parts.path.strip("/"), *parts.path.split("/"), parts.fragment]
    if "." not in host and not re.search(r":[0-9]+$", host):
        places.append(host)
    for text in places:
        if looks_secret(text):
            yield from _with_decoded(text)


def _with_decoded(text: str) -> Iterator[str]:
    yield text
    yield unquote(text)
