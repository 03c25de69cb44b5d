"""A URL as the wire needs it, parsed once."""

import sys
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl

# httpx has a command line of its own and loads it, with rich and Pygments, where it can: a quarter of what a
# single probe costs. It takes this for "not installed".
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]

import httpx  # noqa: E402 - after the line above

_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """Where a request goes."""

    scheme: str
    host: str
    """An A-label or an IP address without brackets, in lower case."""
    port: int
    authority: str
    """The ``Host`` header."""
    target: str
    """Path and query, as a server is asked for them."""
    shown: str
    """The URL without user and password, its query hidden."""
    secrets: tuple[tuple[str, str], ...]
    """Names and values of the query, and the user's password."""

    @property
    def key(self) -> tuple[str, str, int]:
        """The origin, for comparison."""
        return self.scheme, self.host, self.port

    @property
    def absolute(self) -> str:
        """The whole URL, as a proxy is asked for it."""
        return f"{self.scheme}://{self.authority}{self.target}"


@lru_cache(maxsize=4096)
def place(url: str) -> Place | None:
    """Parse an absolute http or https URL; None for anything else."""
    try:
        parsed = httpx.URL(url)
    except (httpx.InvalidURL, ValueError):
        return None
    scheme, host = parsed.scheme, parsed.raw_host.decode("ascii").lower()
    if scheme not in _PORTS or not host:
        return None
    port = _PORTS[scheme] if parsed.port is None else parsed.port
    if not 0 < port < 2**16:
        return None
    path = parsed.raw_path.partition(b"?")[0].decode("ascii")
    authority = parsed.netloc.decode("ascii")
    query = "?<redacted>" if parsed.query else ""
    named = tuple(parse_qsl(parsed.query.decode("ascii"), keep_blank_values=False))
    return Place(
        scheme=scheme,
        host=host,
        port=port,
        authority=authority,
        target=parsed.raw_path.decode("ascii"),
        shown=f"{scheme}://{authority}{path}{query}",
        secrets=(*named, ("password", parsed.password)) if parsed.password else named,
    )
