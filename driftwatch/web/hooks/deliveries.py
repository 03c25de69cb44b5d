"""The same announcement twice: what each sender calls a delivery, so that a repeated one is recognised."""

import hashlib
from datetime import datetime

from driftwatch.model import Json
from driftwatch.web.hooks.signatures import Headers

_NAMES = {
    "x-github-delivery": "github",
    "webhook-id": "webhook",
    "idempotency-key": "key",
    "x-gitlab-event-uuid": "gitlab",
}
"""The headers that name a delivery, the most telling first."""

_LONGEST = 100


def delivery_id(headers: Headers, body: bytes, said: Json, *, path: str, now: datetime) -> str:
    """The name of a delivery to one path: the sender's own, or the body's digest and the minute.

    The path belongs to it, because GitHub uses one id for all webhooks that tell of one event.
    """
    for header, kind in _NAMES.items():
        if headers.get(header):
            return f"{kind}:{_short(headers[header])}@{path}"
    if "x-vercel-signature" in headers and isinstance(said, dict) and isinstance(said.get("id"), str):
        return f"vercel:{_short(said['id'])}@{path}"
    minute = int(now.timestamp()) // 60
    return f"body:{hashlib.sha256(body).hexdigest()}:{minute}@{path}"


def _short(name: str) -> str:
    """A sender's name, or its digest where it is long or not plain."""
    plain = name.isascii() and name.isprintable() and len(name) <= _LONGEST
    return name if plain else hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
