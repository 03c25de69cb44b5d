"""The HTTP proxy that a server's configuration names: a tunnel for https, absolute URLs for http.

A fault of the proxy itself says nothing about the server behind it: its code is ``proxy``. What the proxy
says about its own way to the server counts as a connection that failed.
"""

import base64
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Self
from urllib.parse import unquote, urlsplit, urlunsplit

from driftwatch.probe.wire import connect, http1
from driftwatch.probe.wire.connect import Resolver
from driftwatch.probe.wire.fault import Broken
from driftwatch.probe.wire.http1 import Fields
from driftwatch.probe.wire.place import Place, place
from driftwatch.probe.wire.tcp import READ_SIZE, SocketStream

MAX_REPLY = 64 * 1024
"""Bytes of the header block of a proxy's answer."""

_NO_WAY: dict[int, str] = {
    HTTPStatus.BAD_GATEWAY: "unreachable",
    HTTPStatus.SERVICE_UNAVAILABLE: "unreachable",
    HTTPStatus.GATEWAY_TIMEOUT: "timeout",
}
"""How proxies say that they found no way to the server, and what that is for a connection of our own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proxy:
    """Where every connection to a server goes through."""

    place: Place
    authorization: str | None = field(default=None, repr=False)
    """The value of ``Proxy-Authorization``."""

    @classmethod
    def of(cls, url: str) -> Self:
        """The proxy at an ``http`` URL, whose user and password become Basic credentials.

        Raises ValueError for any other URL.
        """
        parts = urlsplit(url)
        # Without user and password, which a place would carry along.
        found = place(urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2])))
        if found is None or found.scheme != "http":
            raise ValueError("a proxy needs an absolute http URL")
        if parts.username is None:
            return cls(place=found)
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        return cls(place=found, authorization=f"Basic {base64.b64encode(pair.encode()).decode()}")

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be recorded."""
        if self.authorization is None:
            return ()
        pair = base64.b64decode(self.authorization.removeprefix("Basic ")).decode()
        return self.authorization, self.authorization.removeprefix("Basic "), pair.partition(":")[2]

    @property
    def fields(self) -> Fields:
        """What the proxy itself is told with a request."""
        if self.authorization is None:
            return []
        return [("Proxy-Authorization", self.authorization)]

    async def reach(self, resolver: Resolver, *, patience_s: float) -> SocketStream:
        """A connection to the proxy. Raises Broken with the code ``proxy``."""
        try:
            found = await connect.addresses(resolver, self.place.host, self.place.port)
            return await connect.dial(found, named_by_server=False, patience_s=patience_s, faults=[])
        except Broken as why:
            raise Broken("proxy", "connect", f"no way to the configured proxy: {why.fault.message}") from None

    async def tunnel(self, stream: SocketStream, target: Place) -> None:
        """Ask for a tunnel to ``target``; after it the stream speaks with the server itself.

        Raises Broken: ``proxy`` when the proxy refuses, ``unreachable`` or ``timeout`` when it found no way.
        """
        host = f"[{target.host}]" if ":" in target.host else target.host
        authority = f"{host}:{target.port}"
        stream.expect(MAX_REPLY)
        stream.write(http1.head("CONNECT", authority, [("Host", authority), *self.fields]))
        reply = http1.ReplyParser()
        await _read_head(stream, reply)
        status = reply.status
        if status not in range(200, 300):
            raise self.refusal(status, target) or Broken(
                "proxy", "connect", f"the configured proxy refused a tunnel: HTTP {status}"
            )
        if reply.body or reply.surplus:
            raise Broken("proxy", "connect", "the configured proxy spoke where only the server may speak")

    def refusal(self, status: int, target: Place) -> Broken | None:
        """What a status of the proxy means for the connection; None when it may be the server's own."""
        if status == HTTPStatus.PROXY_AUTHENTICATION_REQUIRED:
            what = "other credentials" if self.authorization else "credentials"
            return Broken("proxy", "connect", f"the configured proxy wants {what}: HTTP 407")
        if target.scheme == "https" and (code := _NO_WAY.get(status)):
            where = f"{target.host}:{target.port}"
            return Broken(code, "connect", f"the configured proxy found no way to {where}: HTTP {status}")
        return None


async def _read_head(stream: SocketStream, reply: http1.ReplyParser) -> None:
    try:
        while not reply.status:
            reply.feed(await stream.read(READ_SIZE))
            if reply.broken is not None:
                raise reply.broken
    except Broken as why:
        what = "does not speak HTTP" if why.fault.code == "protocol" else "gave no answer"
        raise Broken("proxy", "connect", f"the configured proxy {what}: {why.fault.message}") from None
