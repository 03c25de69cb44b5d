"""OAuth 2 client credentials (RFC 6749 section 4.4): a token for probes, without a person.

The token endpoint is configured, or found as the specification has clients find it: by the challenge, the
metadata of the protected resource (RFC 9728) and those of the authorization server (RFC 8414, OpenID Connect
Discovery). Redirects are never followed, everything is bounded, and the token lives in memory only.
"""

import asyncio
import base64
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from http import HTTPStatus
from urllib.parse import quote_plus, urlsplit

from driftwatch.evidence import Exchange
from driftwatch.model import Json, is_loopback
from driftwatch.probe.conversation import eras, modern
from driftwatch.probe.conversation.dialogue import Dialogue
from driftwatch.probe.credentials import challenge, metadata
from driftwatch.probe.credentials.source import TOKEN, Errand, Unavailable, bearer
from driftwatch.probe.wire.credential import Credential
from driftwatch.probe.wire.exchange import Wire
from driftwatch.probe.wire.place import place
from driftwatch.probe.wire.request import Limits, Read, Request

SKEW = timedelta(seconds=60)
"""A token is renewed so long before its end."""
LONGEST_LIFE = timedelta(days=30)
DEADLINE_S = 20.0
"""What getting a token may take, discovery included."""

BASIC, POST = "client_secret_basic", "client_secret_post"
_QUOTED = 160
_MAX_BODY = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """An OAuth client, and what it asks for."""

    client_id: str
    secret: Callable[[], str] = field(repr=False)
    """Read anew for every token. May raise Unavailable."""
    endpoint: str = field(repr=False)
    """The MCP endpoint that the token is for; its query may be a secret."""
    token_url: str | None = None
    """The token endpoint; None: to be discovered."""
    scope: str | None = None
    resource: str | None = None
    """The resource indicator (RFC 8707); None: the endpoint without its query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    credential: Credential
    ends: datetime | None
    """None: the endpoint did not say; it is used until it is refused."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _TokenEndpoint:
    url: str
    methods: tuple[str, ...]
    """How the client may prove who it is, in the order to try."""


class ClientCredentials:
    """The token of one client, shared by everything that probes one server.

    Once discovered, the token endpoint is kept: a server that suddenly names another one does not get the
    client's secret sent there. A restart looks again.
    """

    def __init__(self, client: Client, *, label: str, headers: tuple[tuple[str, str], ...] = ()) -> None:
        """``headers`` go with the token."""
        self.label = label
        self._client = client
        self._headers = headers
        self._lock = asyncio.Lock()
        self._token: _Token | None = None
        self._endpoint: _TokenEndpoint | None = None
        if client.token_url is not None:
            self._endpoint = _TokenEndpoint(url=client.token_url, methods=(BASIC, POST))

    async def current(self, errand: Errand) -> Credential:
        """The token, a new one where there is none or it ends within SKEW."""
        async with self._lock:
            token = self._token
            if token is None or (token.ends is not None and token.ends - SKEW <= errand.now()):
                token = self._token = await self._new(errand)
            return token.credential

    async def renewed(self, refused: Credential, errand: Errand) -> Credential | None:
        """A new token, unless somebody else has already got one; None where that fails."""
        async with self._lock:
            if self._token is None or self._token.credential == refused:
                self._token = None
                try:
                    self._token = await self._new(errand)
                except Unavailable:
                    return None
            return self._token.credential

    async def _new(self, errand: Errand) -> _Token:
        client, asked_at = self._client, errand.now()
        if client.token_url is not None:
            _safe(client.token_url, "the token endpoint")
        secret = await asyncio.to_thread(client.secret)
        # Whatever a server echoes of the secret comes back as the label.
        guarded = Credential(label=self.label, headers=(), unsent=(secret,))
        limits = replace(
            errand.limits,
            timeout_s=min(errand.limits.timeout_s, DEADLINE_S / 2),
            deadline_s=min(errand.limits.deadline_s, DEADLINE_S),
            max_body=min(errand.limits.max_body, _MAX_BODY),
        )
        async with errand.wire(client.token_url or client.endpoint, guarded, limits) as wire:
            if self._endpoint is None:
                self._endpoint = await _discover(wire, client.endpoint, limits)
            endpoint = self._endpoint
            for method in endpoint.methods:
                reply = await _ask(wire, client, secret, endpoint.url, method)
                if not _is_unknown_client(reply):
                    break
        return self._read(reply, asked_at, secret)

    def _read(self, reply: Exchange, asked_at: datetime, secret: str) -> _Token:
        """The token of a reply. Raises Unavailable with what the endpoint said, which holds no secret."""
        answer = reply.answer
        if not isinstance(answer, dict) or not eras.ok(reply) or "error" in answer:
            raise Unavailable(f"the token endpoint {_said(reply)}")
        token, kind = answer.get("access_token"), answer.get("token_type", "Bearer")
        if not isinstance(token, str) or not TOKEN.fullmatch(token):
            raise Unavailable("the token endpoint answered without an access_token that can be used")
        if not isinstance(kind, str) or kind.lower() != "bearer":
            raise Unavailable("the token endpoint answered with a token that is no bearer token")
        life = _seconds(answer.get("expires_in"))
        credential = replace(bearer(self.label, token, self._headers), unsent=(secret,))
        return _Token(credential=credential, ends=None if life is None else asked_at + life)


async def _ask(wire: Wire, client: Client, secret: str, url: str, method: str) -> Exchange:
    form = [("grant_type", "client_credentials"), ("resource", client.resource or _bare(client.endpoint))]
    if client.scope is not None:
        form.append(("scope", client.scope))
    headers: tuple[tuple[str, str], ...] = ()
    if method == BASIC:
        pair = f"{quote_plus(client.client_id)}:{quote_plus(secret)}"
        headers = (("Authorization", f"Basic {base64.b64encode(pair.encode()).decode()}"),)
    else:
        form += [("client_id", client.client_id), ("client_secret", secret)]
    request = Request(
        label="token",
        url=url,
        form=tuple(form),
        headers=headers,
        accept="application/json",
        read=Read.BODY,
        credential=False,
    )
    return (await wire.send(request)).exchange


async def _discover(wire: Wire, endpoint: str, limits: Limits) -> _TokenEndpoint:
    """From the MCP endpoint to the token endpoint of its authorization server."""
    dialogue = Dialogue(wire, url=endpoint, limits=limits)
    first = modern.request(dialogue, "anonymous", "server/discover", {})
    reply = (await dialogue.send(replace(first, read=Read.HEADERS, credential=False))).exchange
    for session in dialogue.open_sessions:
        await dialogue.end(session)
    if reply.status is None:
        raise Unavailable(f"the server could not be asked where tokens come from: {_said(reply)}")
    challenges, _ = challenge.parse(value for name, value in reply.headers if name == "www-authenticate")
    resource = _bare(endpoint)
    looked = await metadata.find(wire.send, resource, metadata.named_by(challenges))
    found = looked[-1].reply if looked else None
    issuer = _origin(resource)  # the way of 2025-03-26, which had no metadata of the resource
    if isinstance(found, Exchange) and eras.ok(found):
        issuer = _issuer(found.answer)
    why = ""
    for url in _server_metadata(issuer):
        document = (await wire.send(metadata.document(url, "authorization-server"))).exchange
        if eras.ok(document) and isinstance(document.answer, dict):
            return _token_endpoint(document.answer, issuer)
        why = why or _said(document)
    raise Unavailable(
        f"the authorization server {issuer[:_QUOTED]} {why} instead of its metadata: give token_url"
    )


def _issuer(document: Json) -> str:
    servers = document.get("authorization_servers") if isinstance(document, dict) else None
    first = servers[0] if isinstance(servers, list) and servers else None
    if not isinstance(first, str):
        raise Unavailable("the server's metadata name no authorization server: give token_url")
    return _safe(first, "the authorization server")


def _server_metadata(issuer: str) -> Iterator[str]:
    """The addresses of an authorization server's metadata, in the order of the specification."""
    origin, path = _origin(issuer), urlsplit(issuer).path.rstrip("/")
    yield f"{origin}{metadata.AUTHORIZATION_SERVER}{path}"
    yield f"{origin}/.well-known/openid-configuration{path}"
    if path:
        yield f"{origin}{path}/.well-known/openid-configuration"


def _token_endpoint(document: dict[str, Json], issuer: str) -> _TokenEndpoint:
    if document.get("issuer") != issuer:
        raise Unavailable(f"the metadata of {issuer[:_QUOTED]} name another issuer: give token_url")
    url, named = document.get("token_endpoint"), document.get("token_endpoint_auth_methods_supported")
    if not isinstance(url, str):
        raise Unavailable(f"the metadata of {issuer[:_QUOTED]} name no token endpoint: give token_url")
    listed = named if isinstance(named, list) else [BASIC]
    methods = tuple(method for method in (BASIC, POST) if method in listed)
    if not methods:
        raise Unavailable(f"the authorization server {issuer[:_QUOTED]} takes no client secret")
    return _TokenEndpoint(url=_safe(url, "the token endpoint"), methods=methods)


def _safe(url: str, what: str) -> str:
    """The URL, if a secret may go there: https, or this machine."""
    there = place(url)
    try:
        urlsplit(url)
    except ValueError:
        there = None
    if there is None:
        raise Unavailable(f"{what} has no usable URL: give token_url")
    if there.scheme != "https" and not is_loopback(there.host):
        raise Unavailable(f"{what} is plain http: no secret goes there")
    return url


def _is_unknown_client(reply: Exchange) -> bool:
    """Whether the client may be known when it says who it is in the other way."""
    said = reply.answer.get("error") if isinstance(reply.answer, dict) else None
    return reply.status in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNAUTHORIZED} and said == "invalid_client"


def _said(reply: Exchange) -> str:
    if reply.status is None:
        return f"gave no answer: {reply.fault.message if reply.fault else 'nothing came'}"
    answer = reply.answer if isinstance(reply.answer, dict) else {}
    words = [answer.get("error"), answer.get("error_description")]
    told = ": ".join(word[:_QUOTED] for word in words if isinstance(word, str) and word)
    return f"answered HTTP {reply.status}" + (f" ({told})" if told else "")


def _seconds(value: Json) -> timedelta | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value[:9])
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return min(timedelta(seconds=min(value, LONGEST_LIFE.total_seconds())), LONGEST_LIFE)


def _bare(url: str) -> str:
    """A URL as a resource is named: without user, query and fragment."""
    there = place(url)
    return "" if there is None else there.shown.partition("?")[0]


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"
