"""An OAuth authorization server, and a gate that opens for its tokens."""

import base64
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from tests.specimens.authorization import Gate
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import as_json

SECRET = "s3cret/of+the=client"


@dataclass
class AuthorizationServer:
    """A token endpoint with its metadata; the fields are the ways in which such servers differ."""

    post_only: bool = False
    expires_in: Any = 3600
    answer: Callable[[Incoming], Answer | None] = lambda incoming: None
    issuer: str = "{origin}"
    token_url: str = "{origin}/token"
    documents: tuple[str, ...] = ("/.well-known/oauth-authorization-server",)
    issued: int = 0
    forms: list[dict[str, list[str]]] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)

    @property
    def token(self) -> str:
        return f"issued-t0ken-{self.issued}"

    async def respond(self, incoming: Incoming) -> Answer:
        origin = f"http://{incoming.headers['host']}"
        self.asked.append(f"{incoming.method} {incoming.path}")
        if incoming.path in self.documents:
            document = {"issuer": self.issuer, "token_endpoint": self.token_url}
            if self.post_only:
                document["token_endpoint_auth_methods_supported"] = ["client_secret_post"]  # type: ignore[assignment]
            return as_json(json.dumps(document).replace("{origin}", origin))
        if incoming.path != "/token":
            return Answer(status=404)
        form = parse_qs(incoming.body.decode())
        self.forms.append(form)
        if (early := self.answer(incoming)) is not None:
            return early
        if not self._knows(incoming, form):
            return as_json(json.dumps({"error": "invalid_client"}), status=401)
        self.issued += 1
        granted = {"access_token": self.token, "token_type": "bearer", "expires_in": self.expires_in}
        return as_json(json.dumps({key: value for key, value in granted.items() if value is not None}))

    def _knows(self, incoming: Incoming, form: dict[str, list[str]]) -> bool:
        if self.post_only:
            return form.get("client_secret") == [SECRET]
        sent = incoming.headers.get("authorization", "").removeprefix("Basic ")
        return base64.b64decode(sent) == b"driftwatch:s3cret%2Fof%2Bthe%3Dclient"


class IssuedGate(Gate):
    """Opens for the token that was issued last."""

    issuer: AuthorizationServer

    def opens(self, sent: str | None) -> bool:
        return sent == f"Bearer {self.issuer.token}"
