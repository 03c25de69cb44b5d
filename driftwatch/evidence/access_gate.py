"""Whether a refusal is the word of an access gate in front of the server, which lets people in by a browser.

A platform's deployment protection, an identity-aware proxy, the password of a reverse proxy: a server that
speaks for itself answers in JSON or asks for a Bearer token, and may well send a plain page beside that.
"""

import re
from collections.abc import Iterable

from driftwatch.evidence.exchange import Exchange

_REFUSALS = frozenset({401, 403})
_PAGES = frozenset({"text/html", "application/xhtml+xml"})
_FOR_CLIENTS = re.compile(r"(?:^|,)\s*(?:bearer|dpop|gnap)\b", re.IGNORECASE)
"""A challenge that a client of MCP can meet."""
_FOR_BROWSERS = re.compile(r"(?:^|,)\s*(?:basic|digest|negotiate|ntlm)\b", re.IGNORECASE)
_PASSWORD = "a password prompt for browsers (WWW-Authenticate: {})"  # noqa: S105 - words, not a password

_HEADERS = (
    (
        re.compile(r"set-cookie: _vercel_(?:sso|password)", re.IGNORECASE),
        "Vercel's deployment protection",
    ),
    (re.compile(r"cf-access-|www-authenticate: cloudflare-access", re.IGNORECASE), "Cloudflare Access"),
    (re.compile(r"x-goog-iap-|set-cookie: gcp_iap", re.IGNORECASE), "Google's Identity-Aware Proxy"),
    (re.compile(r"^401 server: awselb", re.IGNORECASE), "the sign-in of AWS's load balancer"),
    (re.compile(r"set-cookie: (?:_oauth2_proxy|authelia_|authentik_)", re.IGNORECASE), "a sign-in proxy"),
)
"""Of any answer to the MCP route that is a refusal; ``status name: value`` is searched."""

_WORDS = (
    (re.compile(r"vercel authentication|vercel\.com/sso", re.IGNORECASE), "Vercel's deployment protection"),
    (
        re.compile(r"cloudflareaccess\.com|cdn-cgi/access|cloudflare access", re.IGNORECASE),
        "Cloudflare Access",
    ),
    (re.compile(r"invalid iap credentials", re.IGNORECASE), "Google's Identity-Aware Proxy"),
    (
        re.compile(r"permission to view this directory or page", re.IGNORECASE),
        "the sign-in of Azure App Service",
    ),
    (
        re.compile(r"/oauth2/(?:start|sign_in)|oauth2[- ]proxy|authelia|authentik", re.IGNORECASE),
        "a sign-in proxy",
    ),
    (
        re.compile(
            r"type=[\"']?password|<title>[^<]*\b(?:sign|log)[ -]?(?:in|on)\b"
            r"|<title>\s*authentication required|password[- ]protected",
            re.IGNORECASE,
        ),
        "a sign-in page for people",
    ),
)
"""Of a page."""


def access_gate(exchange: Exchange) -> str | None:
    """Who answered in the server's place, in words; None where the server spoke, or nobody can tell."""
    if exchange.status not in _REFUSALS or exchange.answer is not None:
        return None
    challenges = [value for name, value in exchange.headers if name == "www-authenticate"]
    if _search(_FOR_CLIENTS, challenges):
        return None
    lines = [f"{exchange.status} {name}: {value}" for name, value in exchange.headers]
    found = next((gate for mark, gate in _HEADERS if _search(mark, lines)), None)
    if found is None and exchange.media_type in _PAGES:
        found = next((gate for mark, gate in _WORDS if mark.search(exchange.excerpt)), None)
    if found is None and asks_for_password(exchange):
        found = _PASSWORD.format(challenges[0].split()[0][:20])
    return found


def asks_for_password(exchange: Exchange) -> bool:
    """Whether a refusal asks for what browsers ask people for: a name and a password, or their sign-on."""
    spoke = exchange.media_type is not None and exchange.media_type.endswith("json")
    challenges = [value for name, value in exchange.headers if name == "www-authenticate"]
    return not spoke and _search(_FOR_BROWSERS, challenges) and not _search(_FOR_CLIENTS, challenges)


def _search(mark: re.Pattern[str], lines: Iterable[str]) -> bool:
    return any(mark.search(line) for line in lines)
