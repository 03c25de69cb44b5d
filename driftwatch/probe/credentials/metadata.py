"""Where a server's protected-resource metadata (RFC 9728) are, and the way to them.

Shared by the probe that judges them and by the OAuth client that needs them. No credential goes along.
"""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from urllib.parse import urlsplit

from driftwatch.evidence import Challenge, Metadata, Missing, bearer
from driftwatch.model import is_loopback
from driftwatch.probe.conversation import eras
from driftwatch.probe.wire.place import Place, place
from driftwatch.probe.wire.request import Read, Reply, Request

PROTECTED_RESOURCE = "/.well-known/oauth-protected-resource"
AUTHORIZATION_SERVER = "/.well-known/oauth-authorization-server"

_UPGRADE = (80, 443)
"""From plain http to https, each at its own port."""

Send = Callable[[Request], Awaitable[Reply]]


def named_by(challenges: Sequence[Challenge]) -> str | None:
    """The metadata address that a Bearer challenge names."""
    found = bearer(challenges)
    return None if found is None else found.parameter("resource_metadata")


async def find(send: Send, resource: str, named: str | None, *, older: bool = False) -> tuple[Metadata, ...]:
    """Look for the protected-resource metadata (RFC 9728) in the order in which clients must.

    The address that the challenge names is asked only on the endpoint's own host and port. After the first
    document that is there, no further one is asked for. ``older`` adds the root document of RFC 8414, by
    which the revision 2025-03-26 found its authorization server.
    """
    found: list[Metadata] = []
    for where, url, why_not in _places(resource, named, older=older):
        if url in {each.url for each in found}:
            continue
        if why_not is not None:
            found.append(Metadata(place=where, url=url, reply=why_not))
            continue
        reply = (await send(document(url, f"metadata:{where}"))).exchange
        found.append(Metadata(place=where, url=url, reply=reply))
        if eras.ok(reply):
            break
    return tuple(found)


def document(url: str, label: str) -> Request:
    """The GET for a JSON document that anybody may read."""
    return Request(
        label=label,
        http_method="GET",
        url=url,
        accept="application/json",
        read=Read.BODY,
        credential=False,
        extra=True,
    )


def _places(resource: str, named: str | None, *, older: bool) -> Iterator[tuple[str, str, Missing | None]]:
    endpoint = place(resource)
    if endpoint is None:
        return
    if named is not None:
        yield "header", named, _closed(endpoint, named)
    parts = urlsplit(resource)
    origin = f"{parts.scheme}://{parts.netloc}"
    if parts.path.strip("/"):
        yield "path", f"{origin}{PROTECTED_RESOURCE}{parts.path}", None
    yield "root", f"{origin}{PROTECTED_RESOURCE}", None
    if older:
        yield "rfc8414", f"{origin}{AUTHORIZATION_SERVER}", None


def _closed(endpoint: Place, named: str) -> Missing | None:
    """Why an address that the server named is not asked."""
    there = place(named)
    if there is None:
        return Missing("it is no absolute http or https URL", "bad-url")
    if there.host != endpoint.host:
        return Missing("it is on another host: not fetched", "other-host")
    # Other ports of that host are other services, which may answer this machine alone.
    if there.port != endpoint.port and (endpoint.port, there.port) != _UPGRADE:
        return Missing("it is on another port: not fetched", "other-host")
    if there.scheme == "http" != endpoint.scheme and not is_loopback(there.host):
        return Missing("it is plain http: not fetched", "plain-http")
    return None
