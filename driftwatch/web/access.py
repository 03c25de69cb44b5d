"""Who may read, write and scrape: bearer tokens, a cookie after login, or the loopback interface.

Tokens are compared in constant time, as bytes. Without a read token, pages are for loopback only, and a
request that came through a proxy, or names this machine by a foreign host name, did not come from there.
"""

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from pydantic import SecretStr
from starlette.requests import Request

from driftwatch.clock import Clock
from driftwatch.config import Config

COOKIE = "driftwatch"
"""Holds a pass: when it ends, and a seal over that made with the read token."""

PASS_LIFETIME = timedelta(days=30)

_PROXY_HEADERS = frozenset(
    {"forwarded", "via", "x-real-ip", "x-client-ip", "true-client-ip", "cf-connecting-ip", "fly-client-ip"}
)
"""With everything that begins with ``x-forwarded-``."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@/?#\\\s]+)(?::[0-9]{1,5})?", re.ASCII)


class Access:
    """Decides by the configuration in force, so that a changed token counts at once."""

    def __init__(self, config: Callable[[], Config], clock: Clock) -> None:
        """``config`` gives the configuration in force."""
        self._config = config
        self._clock = clock

    def may_read(self, request: Request) -> bool:
        """Whether the request may see pages and the reading half of the API."""
        http = self._config().http
        if http.public_status:
            return True
        if http.read_token is None and from_loopback(request):
            return True
        return self._bears(request, http.read_token, http.admin_token) or self._has_pass(request)

    def may_write(self, request: Request) -> bool:
        """Whether the request may change something; never without an admin token configured."""
        return self._bears(request, self._config().http.admin_token)

    def may_scrape(self, request: Request) -> bool:
        """Whether the request may read ``/metrics``: by its own token, or like a page where there is none."""
        http = self._config().http
        if http.metrics_token is None:
            return self.may_read(request)
        return self._bears(request, http.metrics_token, http.admin_token)

    def opens(self, token: str) -> bool:
        """Whether a token that a person typed in is the read or the admin token."""
        http = self._config().http
        return _is_one_of(token.encode(), (http.read_token, http.admin_token))

    def issue_pass(self) -> str:
        """The value of the cookie after a login; it ends after PASS_LIFETIME or with the token's change."""
        ends = int((self._clock.now() + PASS_LIFETIME).timestamp())
        return f"{ends}.{self._seal(ends)}"

    def _has_pass(self, request: Request) -> bool:
        ends, _, seal = request.cookies.get(COOKIE, "").partition(".")
        if not (ends.isascii() and ends.isdecimal() and len(ends) < 12):  # noqa: PLR2004 - a time, not a flood
            return False
        wanted = self._seal(int(ends))
        if not wanted or not hmac.compare_digest(seal.encode(), wanted.encode()):
            return False
        return datetime.fromtimestamp(int(ends), tz=self._clock.now().tzinfo) > self._clock.now()

    def _seal(self, ends: int) -> str:
        """Empty where no token is configured: then no pass is good."""
        http = self._config().http
        # Not with both: whoever holds the read token could try out admin tokens on a seal.
        token = http.read_token or http.admin_token
        if token is None:
            return ""
        key = token.get_secret_value().encode()
        return hmac.new(key, f"driftwatch pass {ends}".encode(), hashlib.sha256).hexdigest()

    @staticmethod
    def _bears(request: Request, *tokens: SecretStr | None) -> bool:
        return _is_one_of(bearer(request), tokens)


def bearer(request: Request) -> bytes:
    """The token of an ``Authorization: Bearer`` header as it came; empty without one."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    # The header was decoded as Latin-1; so are the bytes that came.
    return token.strip(" \t").encode("latin-1") if scheme.lower() == "bearer" else b""


def from_loopback(request: Request) -> bool:
    """Whether a request was made on this machine, to this machine.

    A page on the internet can make a browser here send requests, but not with a host name of ours. HTTP/1.0
    is what nginx long spoke to whom it forwards to, with our own host name and nothing that tells of it.
    """
    if request.client is None or request.scope.get("http_version") == "1.0":
        return False
    if any(name in _PROXY_HEADERS or name.startswith("x-forwarded-") for name in request.headers):
        return False
    # Not request.url: without a usable Host it names the address of our own socket.
    named = _HOST.fullmatch(request.headers.get("host", ""))
    return named is not None and _is_loopback(request.client.host) and _is_loopback(named[1].strip("[]"))


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return (mapped or address).is_loopback


def _is_one_of(given: bytes, tokens: Sequence[SecretStr | None]) -> bool:
    if not given:
        return False
    wanted = [token.get_secret_value().encode() for token in tokens if token is not None]
    return any([hmac.compare_digest(given, each) for each in wanted])  # noqa: C419 - every one, in any case
