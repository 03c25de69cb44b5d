"""How a server turns away whoever brings no token, and where it says that tokens come from.

Checklist item 6, by the authorization pages of the specification, RFC 9728 and RFC 6750. Nothing in here
carries the configured credential; documents are fetched from the endpoint's own host only.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from http import HTTPStatus
from urllib.parse import urlsplit

from driftwatch.evidence import (
    ANONYMOUS,
    NEEDS_FULL,
    NO_AUTHORIZATION,
    Authorization,
    Exchange,
    Metadata,
    Missing,
    Opening,
    Surface,
)
from driftwatch.model import Depth, Era
from driftwatch.probe.conversation import eras, legacy, modern, outcome
from driftwatch.probe.conversation.dialogue import Dialogue
from driftwatch.probe.credentials import challenge, metadata
from driftwatch.probe.steps import cut_off
from driftwatch.probe.steps.full import SWITCHED_OFF
from driftwatch.probe.target import Target

INVALID_TOKEN = "driftwatch-invalid-token"  # noqa: S105 - the point is that it opens nothing

_LOGIN = re.compile(
    r"log[-_]?in|sign[-_]?in|\bsso\b|saml|oauth|openid|authori[sz]e|\bauth\b|\bidp\b|\baccounts?\b"
    r"|cdn-cgi/access",
    re.IGNORECASE,
)
_BEFORE_RFC_9728 = frozenset({"2025-03-26", "2024-11-05", "2024-10-07"})
_SPOKEN = frozenset({"ok", "auth", "forbidden", "redirect"})
"""Outcomes after which it makes sense to ask once more without the credential."""
_NOT_ABOUT_IT = frozenset({HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS})

LOGIN_PAGE = Missing("the server redirects to a login page instead of answering 401", "login-redirect")


async def look(
    dialogue: Dialogue,
    target: Target,
    *,
    openings: Sequence[Opening],
    surfaces: Sequence[Surface],
    depth: Depth,
) -> Authorization | Missing:
    """What the server does with a request that carries no credential.

    A light probe tells what its requests saw anyway. A full one asks once more without the credential, where
    there is one, and follows a refusal to the metadata; last comes a token that cannot be valid, unless
    ``negative_probes`` is off.
    """
    found = outcome.conclude(openings)
    if target.credential_label == ANONYMOUS:
        refusal = _first_refusal(openings, surfaces)
        if refusal is None:
            return NO_AUTHORIZATION if found.code == "ok" else found.blocker
    elif depth is Depth.LIGHT:
        return NEEDS_FULL
    elif dialogue.shut_out is not None:
        return dialogue.shut_out
    elif found.code not in _SPOKEN:
        return found.blocker
    elif all(surface.era is Era.HTTP_SSE for surface in surfaces) and surfaces:
        return Missing("not asked over the old HTTP+SSE transport", "not-applicable")
    else:
        refusal = await _without_credential(dialogue, surfaces)
        if not _asks(refusal, worked=bool(surfaces)):
            return _unclear(refusal) or NO_AUTHORIZATION
    challenges, malformed = challenge.parse(
        value for name, value in refusal.headers if name == "www-authenticate"
    )
    resource = openings[0].attempts[0].url.partition("?")[0]
    documents: tuple[Metadata, ...] | Missing
    invalid_token: Exchange | Missing
    if depth is Depth.LIGHT:
        documents = invalid_token = NEEDS_FULL
    elif is_login_page(refusal):
        documents = invalid_token = LOGIN_PAGE
    else:
        older = bool(surfaces) and all(surface.revision in _BEFORE_RFC_9728 for surface in surfaces)
        documents = await metadata.find(dialogue.send, resource, metadata.named_by(challenges), older=older)
        invalid_token = await _with_invalid_token(dialogue, target, refusal)
    return Authorization(
        refusal=refusal,
        challenges=challenges,
        malformed=malformed,
        resource=resource,
        metadata=documents,
        invalid_token=invalid_token,
    )


def is_login_page(exchange: Exchange) -> bool:
    """Whether the reply sends a browser to log in, where a client is to be told what it lacks."""
    location = exchange.header("location")
    refusal = outcome.blocked(exchange)
    if location is None or refusal is None or refusal.code != "redirect":
        return False
    try:
        here, there = urlsplit(exchange.url), urlsplit(location)
    except ValueError:
        return False
    # Another form of the same address is no other page, whatever words are in it.
    moved = here.path.strip("/") != there.path.strip("/")
    return moved and _LOGIN.search(f"{there.hostname or ''}{there.path}") is not None


def _first_refusal(openings: Sequence[Opening], surfaces: Sequence[Surface]) -> Exchange | None:
    """The first reply to an anonymous probe that asks for credentials; some servers guard the list alone."""
    for opening in openings:
        if not opening.established and _asks(opening.exchange, worked=False):
            return opening.exchange
    for surface in surfaces:
        for page in () if isinstance(surface.listing, Missing) else surface.listing.exchanges:
            if _asks(page, worked=False):
                return page
    return None


def _asks(exchange: Exchange, *, worked: bool) -> bool:
    """Whether a reply to an anonymous request turns it away for want of a credential.

    ``worked``: the same was answered when it carried one, so that any refusal is about that.
    """
    refusal = outcome.blocked(exchange)
    if refusal is not None:
        return refusal.code == "auth" or (worked and refusal.code == "forbidden") or is_login_page(exchange)
    if eras.ok(exchange):
        return worked and exchange.error is not None
    return worked and exchange.status in outcome.CLIENT_ERROR and exchange.status not in _NOT_ABOUT_IT


def _unclear(exchange: Exchange) -> Missing | None:
    refusal = outcome.blocked(exchange)
    if refusal is None and eras.ok(exchange):
        return None
    what = f"HTTP {exchange.status}" if refusal is None else refusal.message
    return Missing(f"a request without the credential was not answered: {what}", "unclear")


async def _without_credential(dialogue: Dialogue, surfaces: Sequence[Surface]) -> Exchange:
    legacy_only = bool(surfaces) and all(surface.era is not Era.MODERN for surface in surfaces)
    return await _first(dialogue, "anonymous", "initialize" if legacy_only else "server/discover")


async def _with_invalid_token(dialogue: Dialogue, target: Target, refusal: Exchange) -> Exchange | Missing:
    """The refused request once more, with a token that cannot be valid."""
    if not target.negative_probes:
        return SWITCHED_OFF
    if refusal.rpc_method not in {"server/discover", "initialize"}:
        return Missing(
            f"only {refusal.rpc_method or refusal.http_method} is refused, later in the dialogue",
            "not-applicable",
        )
    if dialogue.shut_out is not None:
        return dialogue.shut_out
    method = refusal.rpc_method
    seen = await _first(dialogue, "invalid-token", method, ("Authorization", f"Bearer {INVALID_TOKEN}"))
    await cut_off.note(
        dialogue, seen, "a request with an invalid token", lambda: _first(dialogue, "still-there", method)
    )
    return dialogue.shut_out or seen


async def _first(dialogue: Dialogue, label: str, method: str, *headers: tuple[str, str]) -> Exchange:
    """The first request of an era without the credential. A session that it may get is ended at once."""
    if method == "initialize":
        request = legacy.initialization(dialogue, eras.OFFERED[0], label=label)
    else:
        request = modern.request(dialogue, label, method, {})
    request = replace(request, headers=(*request.headers, *headers), credential=False, extra=True)
    exchange = (await dialogue.send(request)).exchange
    await dialogue.end_all()
    return exchange
