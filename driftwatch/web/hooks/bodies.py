"""Reading what a webhook sends: never more than BODY_LIMIT, never longer than BODY_DEADLINE_S, JSON only."""

import asyncio
import json
from typing import NoReturn
from urllib.parse import parse_qs

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from driftwatch.model import Json

BODY_LIMIT = 256 * 1024
"""GitHub's deployment and workflow events are 10 to 40 kB, an Argo CD application of 500 resources 150 kB."""

BODY_DEADLINE_S = 10.0

DRAIN_LIMIT = 4 * 1024 * 1024
"""So much of a body that is too long is read and thrown away: a closed connection would hide the answer."""

_CLOSE = {"Connection": "close"}
_FORM = "application/x-www-form-urlencoded"


def check_kind(request: Request) -> None:
    """Refuse by its headers what is no JSON. Raises HTTPException.

    Tolerant, because it is the body that counts: curl sends JSON as a form, and others say nothing at all.
    """
    kind = _kind(request)
    if kind not in {"", "application/json", "text/json", "text/plain", _FORM} and not kind.endswith("+json"):
        raise HTTPException(415, "send JSON, with Content-Type: application/json")
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(415, "send the body without Content-Encoding")


async def receive(request: Request) -> bytes:
    """The body as it came. Raises HTTPException: 413 too long, 408 too slow, 400 broken off."""
    body, total = bytearray(), 0
    if request.headers.get("expect", "").lower() == "100-continue" and _announced(request) > BODY_LIMIT:
        _too_long()
    try:
        async with asyncio.timeout(BODY_DEADLINE_S):
            async for chunk in request.stream():
                total += len(chunk)
                if total <= BODY_LIMIT:
                    body += chunk
                elif total > DRAIN_LIMIT:
                    break
    except TimeoutError:
        if total <= BODY_LIMIT:
            raise HTTPException(
                408, f"the body did not arrive within {BODY_DEADLINE_S:g} seconds", _CLOSE
            ) from None
    except ClientDisconnect:
        raise HTTPException(400, "the body broke off") from None
    if total > BODY_LIMIT:
        _too_long()
    return bytes(body)


def parse(request: Request, body: bytes) -> Json:
    """What the body says, also in the form field ``payload``, as GitHub can send it. Raises HTTPException."""
    if _kind(request) == _FORM and not body.lstrip().startswith((b"{", b"[")):
        try:
            fields = parse_qs(body.decode(), strict_parsing=True, max_num_fields=10)
            body = fields["payload"][0].encode()
        except (ValueError, KeyError):
            raise HTTPException(400, "a form has its JSON in the field payload") from None
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def _announced(request: Request) -> int:
    length = request.headers.get("content-length", "")
    return int(length) if length.isascii() and length.isdecimal() and len(length) < 20 else 0  # noqa: PLR2004


def _too_long() -> NoReturn:
    raise HTTPException(413, f"the body is longer than {BODY_LIMIT} bytes", _CLOSE)
