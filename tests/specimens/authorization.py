"""Servers that ask for credentials, and the ways in which they get it wrong."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from driftwatch.model import State
from driftwatch.probe.wire.credential import Credential
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json, Mcp, as_json, page_html, tool
from tests.specimens.specimen import FAILED, NOT_CHECKED, RISK, VERIFIED, Specimen

PATH = "/.well-known/oauth-protected-resource/mcp"
ROOT = "/.well-known/oauth-protected-resource"
NAMED = 'Bearer realm="mcp", error="invalid_token", resource_metadata="{origin}' + PATH + '"'
"""Not the first parameter: who looks for ``Bearer resource_metadata=`` finds nothing."""

DOCUMENT = {"resource": "{origin}/mcp", "authorization_servers": ["https://as.example.com"]}

AUTHORIZED = {"authorization": "Bearer good-t0ken"}


@dataclass
class Gate:
    """What stands before a protected server.

    ``{origin}`` in its texts is its own, and so is ``{port}`` in the challenge.
    """

    challenge: str | None = NAMED
    status: int = 401
    documents: Mapping[str, Json | Answer] = field(default_factory=lambda: {PATH: DOCUMENT})
    """By path: a JSON document, or any answer."""
    invalid: Answer | None = None
    """The answer to a token that is wrong; None: the same as to none."""
    lets_in: bool = False
    """True: any token at all opens the server."""
    guards: Callable[[Incoming], bool] = lambda incoming: True

    def __call__(self, _: Mcp, incoming: Incoming) -> Answer | None:
        origin = f"http://{incoming.headers['host']}"
        if incoming.method == "GET" and incoming.path.startswith("/.well-known/"):
            found = self.documents.get(incoming.path, Answer(status=404))
            return (
                found if isinstance(found, Answer) else as_json(json.dumps(found).replace("{origin}", origin))
            )
        sent = incoming.headers.get("authorization")
        if self.opens(sent) or (sent and self.lets_in) or not self.guards(incoming):
            return None
        if sent and self.invalid:
            return self.invalid
        refusal = as_json('{"error":"invalid_token"}', status=self.status)
        port = origin.rpartition(":")[2]
        return refusal.with_header(
            "WWW-Authenticate", self.challenge and self.challenge.format(origin=origin, port=port)
        )

    def opens(self, sent: str | None) -> bool:
        """Whether the Authorization header is the right one."""
        return sent == AUTHORIZED["authorization"]


SEEN = {
    "transport/endpoint": (NOT_CHECKED, "auth"),
    "auth/challenge": VERIFIED,
    "auth/resource-metadata": VERIFIED,
    "auth/invalid-token": VERIFIED,
}
"""What a full probe without a credential says of a server that asks for one properly."""


def _protected(
    name: str, deviation: str, gate: Callable[[], Gate], *, path: str = "/mcp", **expect: tuple[State, str]
) -> Specimen:
    named = {f"auth/{check.replace('_', '-')}": state for check, state in expect.items()}
    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(before=gate()),
        eras=(),
        expect={**SEEN, **named},
        blocked="auth",
        path=path,
    )


def _documents(**documents: Json | Answer) -> Callable[[], Gate]:
    """A gate with other documents at the well-known addresses: ``path`` and ``root``."""
    return lambda: Gate(documents={{"path": PATH, "root": ROOT}[key]: it for key, it in documents.items()})


def _says(**changes: Any) -> Callable[[], Gate]:
    document = {key: value for key, value in {**DOCUMENT, **changes}.items() if value is not None}
    return _documents(path=document)


ECHO = "ECHO"


def _echoes(incoming: Incoming, answer: Answer) -> Answer:
    """The token that the request came with, wherever the server says so."""
    sent = incoming.headers.get("authorization", "Bearer nobody-at-all").removeprefix("Bearer ")
    return answer.but(body=answer.body.replace(ECHO.encode(), sent.encode()))


def _echoing(name: str, deviation: str, tools: tuple[Json, ...], **server: Any) -> Specimen:
    """A server that asks for no token and tells the one that it got. Nothing else is wrong with its tools."""
    return Specimen(
        name=name,
        deviation=deviation,
        make=lambda: Mcp(tools=tools, after=_echoes, **server),
        target={"credential": Credential.bearer("token", "good-t0ken")},
        expect={"auth/credential": VERIFIED, "auth/credential-echo": (RISK, "echoed")},
    )


def _echoes_key(incoming: Incoming, answer: Answer) -> Answer:
    """The key in the URL that was asked."""
    key = incoming.path.partition("api_key=")[2].partition("&")[0] or "nobody-at-all"
    return answer.but(body=answer.body.replace(ECHO.encode(), key.encode()))


ECHOES = (
    Specimen(
        name="echo-of-the-url",
        deviation="the key in the URL's query stands in a description",
        make=lambda: Mcp(tools=(tool(description=f"Asks for {ECHO}."),), after=_echoes_key),
        path="/mcp?api_key=k3y-of-th3-url",
        expect={"auth/credential-echo": (RISK, "echoed")},
    ),
    _echoing("echo-in-a-name", "the token stands in a tool's name", (tool(f"get_{ECHO}"), tool())),
    _echoing(
        "echo-in-texts",
        "the token stands in texts, in names of parameters, and among values",
        (
            tool(
                description=f"Asks for {ECHO}.",
                inputSchema={
                    "type": "object",
                    "properties": {
                        ECHO: {"type": "string", "description": f"<{ECHO}>", "default": ECHO},
                        "kind": {"type": "string", "enum": [ECHO, "other"], "title": ECHO},
                    },
                    "required": [ECHO, "kind"],
                },
            ),
        ),
    ),
    _echoing("echo-in-instructions", "the token stands in the instructions", (tool(),), instructions=ECHO),
)


HTML = page_html("Welcome", status=200)

AUTHORIZATION = (
    _protected("protected", "none: a token is asked for, and the way to one is told", Gate),
    _protected(
        "protected-in-pieces",
        "none: several challenges, token68, odd case, escaped quotes",
        lambda: Gate(
            challenge='Negotiate YWJj=, bEARER realm="a, \\"b\\"",RESOURCE_metadata = "{origin}' + PATH + '"'
        ),
    ),
    _protected(
        "challenge-absent",
        "401 without a challenge; the well-known address answers",
        lambda: Gate(challenge=None),
        challenge=(RISK, "absent"),
    ),
    _protected(
        "challenge-and-metadata-absent",
        "a bare 401 and nothing else",
        lambda: Gate(challenge=None, documents={}),
        challenge=(FAILED, "absent"),
        resource_metadata=(FAILED, "nowhere"),
    ),
    _protected(
        "challenge-basic",
        "a challenge of another scheme",
        lambda: Gate(challenge='Basic realm="mcp"'),
        challenge=(RISK, "no-bearer"),
    ),
    _protected(
        "challenge-without-address",
        "the challenge does not name the metadata",
        lambda: Gate(challenge="Bearer"),
        challenge=(RISK, "no-metadata-url"),
    ),
    _protected(
        "challenge-twice",
        "none: the second of two Bearer challenges names the metadata",
        lambda: Gate(challenge=f'Bearer realm="mcp", {NAMED}'),
    ),
    _protected(
        "challenge-relative",
        "the challenge names an address without its host",
        lambda: Gate(challenge=f'Bearer resource_metadata="{PATH}"'),
        challenge=(FAILED, "bad-metadata-url"),
        resource_metadata=(RISK, "bad-url"),
    ),
    _protected(
        "challenge-unquoted",
        "the address in the challenge has no quotes",
        lambda: Gate(challenge="Bearer resource_metadata={origin}" + PATH),
        challenge=(RISK, "malformed"),
    ),
    _protected(
        "challenge-403",
        "403 instead of 401",
        lambda: Gate(status=403),
        challenge=(FAILED, "wrong-status"),
        invalid_token=(FAILED, "forbidden"),
    ),
    _protected(
        "metadata-elsewhere",
        "the challenge names an address on another host",
        lambda: Gate(challenge='Bearer resource_metadata="https://metadata.invalid/mcp"'),
        resource_metadata=(RISK, "other-host"),
    ),
    _protected(
        "metadata-address-dead",
        "the address in the challenge is gone; the well-known one answers",
        lambda: Gate(challenge='Bearer resource_metadata="{origin}/gone"'),
        resource_metadata=(RISK, "dead-address"),
    ),
    _protected(
        "metadata-nowhere",
        "a challenge that names nothing, and no metadata",
        lambda: Gate(challenge="Bearer", documents={}),
        challenge=(RISK, "no-metadata-url"),
        resource_metadata=(FAILED, "nowhere"),
    ),
    _protected(
        "metadata-unavailable",
        "503 where the metadata belong",
        _documents(path=Answer(status=503)),
        resource_metadata=(NOT_CHECKED, "unclear"),
    ),
    _protected(
        "metadata-unavailable-and-at-the-root",
        "a server error at the address with the path; the root address answers",
        lambda: Gate(challenge=None, documents={PATH: Answer(status=500), ROOT: DOCUMENT}),
        challenge=(RISK, "absent"),
        resource_metadata=(NOT_CHECKED, "unclear"),
    ),
    _protected(
        "metadata-closed-and-at-the-root",
        "a CDN keeps the address with the path closed; the root address answers",
        lambda: Gate(challenge=None, documents={PATH: Answer(status=403), ROOT: DOCUMENT}),
        challenge=(RISK, "absent"),
    ),
    _protected(
        "metadata-root-only",
        "only the root address answers",
        lambda: Gate(challenge=None, documents={ROOT: DOCUMENT}),
        challenge=(RISK, "absent"),
        resource_metadata=(RISK, "root-only"),
    ),
    _protected(
        "metadata-html",
        "a web page where metadata belong",
        _documents(path=HTML),
        resource_metadata=(FAILED, "html"),
    ),
    _protected(
        "metadata-not-an-object",
        "the metadata are a JSON array",
        _documents(path=as_json("[]")),
        resource_metadata=(FAILED, "not-json"),
    ),
    _protected(
        "metadata-no-servers",
        "authorization_servers is empty",
        _says(authorization_servers=[]),
        resource_metadata=(FAILED, "no-authorization-server"),
    ),
    _protected(
        "metadata-server-relative",
        "the authorization server is named by a path",
        _says(authorization_servers=["/oauth"]),
        resource_metadata=(FAILED, "no-authorization-server"),
    ),
    _protected(
        "metadata-server-plain-http",
        "the authorization server is named over plain http",
        _says(authorization_servers=["https://as.example.com", "http://as.example.com"]),
        resource_metadata=(RISK, "plain-http-issuer"),
    ),
    _protected(
        "metadata-moved",
        "the metadata's address redirects",
        _documents(path=Answer(status=301, headers=(("Location", ROOT),)), root=DOCUMENT),
        resource_metadata=(NOT_CHECKED, "unclear"),
    ),
    _protected(
        "metadata-no-resource",
        "no resource is named",
        _says(resource=None),
        resource_metadata=(FAILED, "no-resource"),
    ),
    _protected(
        "metadata-foreign",
        "the resource is another server",
        _says(resource="https://other.example.com/mcp"),
        resource_metadata=(FAILED, "other-resource"),
    ),
    _protected(
        "metadata-last-slash",
        "the resource has a slash more than the published URL",
        _says(resource="{origin}/mcp/"),
        resource_metadata=(FAILED, "last-slash"),
    ),
    _protected(
        "metadata-broader",
        "the resource is the whole host",
        _says(resource="{origin}"),
        resource_metadata=(RISK, "broader-resource"),
    ),
    _protected(
        "invalid-token-accepted",
        "any token at all opens the server",
        lambda: Gate(lets_in=True),
        invalid_token=(FAILED, "accepted"),
    ),
    _protected(
        "invalid-token-403",
        "403 to an invalid token",
        lambda: Gate(invalid=Answer(status=403)),
        invalid_token=(FAILED, "forbidden"),
    ),
    _protected(
        "invalid-token-400",
        "400 to an invalid token",
        lambda: Gate(invalid=Answer(status=400)),
        invalid_token=(FAILED, "wrong-status"),
    ),
    _protected(
        "invalid-token-429",
        "429 to an invalid token",
        lambda: Gate(invalid=Answer(status=429)),
        invalid_token=(NOT_CHECKED, "unclear"),
    ),
    _protected(
        "invalid-token-200",
        "a JSON-RPC error with 200 to an invalid token",
        lambda: Gate(invalid=as_json('{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"no"}}')),
        invalid_token=(FAILED, "wrong-status"),
    ),
    _protected(
        "invalid-token-bot-page",
        "a page of bot protection to an invalid token",
        lambda: Gate(invalid=page_html("Just a moment...", status=403)),
        invalid_token=(NOT_CHECKED, "unclear"),
    ),
)
