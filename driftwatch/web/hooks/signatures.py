"""Who announces a deploy: a bearer token, or a signature over the body exactly as it came.

Each sender knows only its own scheme: ``Authorization: Bearer`` (GitLab: ``X-Gitlab-Token``), GitHub's
``X-Hub-Signature-256``, Standard Webhooks, Vercel's ``X-Vercel-Signature``. Everything is compared in
constant time, as bytes, with every token or secret that is configured, so that one can be replaced while the
old one is still in use.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TypeAlias

from driftwatch.config import Hook

TOLERANCE = timedelta(minutes=5)
"""How far a signed timestamp may be from our clock, as Standard Webhooks has it."""

SIGNATURE_LIMIT = 16
"""A ``webhook-signature`` header has one signature for each secret in rotation; more are not looked at."""

Headers: TypeAlias = Mapping[str, str]
"""Names in lower case, values as Latin-1 has them: the bytes that came."""

_PREFIX = "whsec_"


class Keys:
    """The tokens and secrets of ``[hook]``; a caller is known by a digest of its own, never by the secret."""

    def __init__(self, hook: Hook) -> None:
        """Tokens and secrets as they stand in the configuration."""
        self._tokens = [token.get_secret_value() for token in hook.tokens]
        self._secrets = [secret.get_secret_value() for secret in hook.secrets]

    def __bool__(self) -> bool:
        """Whether anything is configured that could open the door."""
        return bool(self._tokens or self._secrets)

    def of_token(self, headers: Headers) -> str | None:
        """Whose token the request carries; None when it carries none that is configured."""
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = {bearer.strip() if scheme.lower() == "bearer" else "", headers.get("x-gitlab-token", "")}
        return _first(self._tokens, lambda token: any([_same(each, token) for each in given if each]))  # noqa: C419

    def of_signature(self, headers: Headers, body: bytes, now: datetime) -> str | None:
        """Whose secret signed the body; None when no signature holds or its signed time is too far off."""
        signatures = [scheme for name, scheme in _SCHEMES.items() if name in headers]
        return _first(
            self._secrets,
            lambda secret: any([scheme(secret, headers, body, now) for scheme in signatures]),  # noqa: C419
        )


def is_signed(headers: Headers) -> bool:
    """Whether a request claims to be signed; the body of one that does not need not be read to refuse it."""
    return any(name in headers for name in _SCHEMES)


def _github(secret: str, headers: Headers, body: bytes, _: datetime) -> bool:
    wanted = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return _same(headers["x-hub-signature-256"], f"sha256={wanted}")


def _vercel(secret: str, headers: Headers, body: bytes, _: datetime) -> bool:
    # SHA-1 is what Vercel signs with; as an HMAC it has not been broken.
    wanted = hmac.new(secret.encode(), body, hashlib.sha1).hexdigest()
    return _same(headers["x-vercel-signature"], wanted)


def _standard(secret: str, headers: Headers, body: bytes, now: datetime) -> bool:
    delivery, sent_at = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not (sent_at.isascii() and sent_at.isdecimal() and len(sent_at) < 12):  # noqa: PLR2004 - a time, not a flood
        return False
    if not delivery or abs(now.timestamp() - int(sent_at)) > TOLERANCE.total_seconds():
        return False
    given = headers["webhook-signature"].split(" ")[:SIGNATURE_LIMIT]
    message = f"{delivery}.{sent_at}.".encode("latin-1") + body
    wanted = [
        "v1," + base64.b64encode(hmac.new(key, message, hashlib.sha256).digest()).decode()
        for key in _standard_keys(secret)
    ]
    return any([_same(each, one) for each in given for one in wanted])  # noqa: C419 - every one, in any case


def _standard_keys(secret: str) -> Iterator[bytes]:
    """The decoded secret; without the prefix nobody can tell whether it was meant encoded, so both."""
    encoded = secret.removeprefix(_PREFIX)
    if encoded == secret:
        yield secret.encode()
    try:
        decoded = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        return
    if decoded:
        yield decoded


_SCHEMES: Mapping[str, Callable[[str, Headers, bytes, datetime], bool]] = {
    "x-hub-signature-256": _github,
    "x-vercel-signature": _vercel,
    "webhook-signature": _standard,
}
"""By the header that carries the signature."""


def _same(given: str, wanted: str) -> bool:
    """Whether a header's value is the wanted one; other characters than ASCII make it no other error."""
    return hmac.compare_digest(given.encode("latin-1", "replace"), wanted.encode())


def _first(keys: list[str], holds: Callable[[str], bool]) -> str | None:
    """The name of the first key that holds, after all of them were tried."""
    holding = [key for key in keys if holds(key)]
    return hashlib.sha256(holding[0].encode()).hexdigest()[:16] if holding else None
