"""What one answer, or the lack of one, means for the whole probe. Pure."""

import re
from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import SplitResult, urljoin, urlsplit

from driftwatch.evidence import (
    Exchange,
    Opening,
    Outcome,
    access_gate,
    asks_for_password,
    is_bot_page,
)
from driftwatch.model import Era
from driftwatch.probe.conversation import eras
from driftwatch.probe.wire.sse import EVENT_STREAM

_NETWORK = frozenset(
    {
        "dns",
        "refused",
        "unreachable",
        "address",
        "timeout",
        "reset",
        "certificate",
        "tls",
        "deadline",
        "proxy",
    }
)
CLIENT_ERROR = range(400, 500)
SERVER_ERROR = range(500, 600)
_PERMANENT = frozenset({HTTPStatus.NOT_IMPLEMENTED, HTTPStatus.HTTP_VERSION_NOT_SUPPORTED})
"""Server errors that a second request meets again."""
KEEPS_METHOD = frozenset({307, 308})
"""The redirects after which a POST stays a POST."""
_REDIRECTS = KEEPS_METHOD | {301, 302, 303}
_NO_CERTIFICATE = frozenset({400, 403, 495, 496})
_CERTIFICATE = re.compile(r"(ssl|tls|client) certificate", re.IGNORECASE)
"""How nginx and what is made of it say it: ``No required SSL certificate was sent``."""
_QUOTED = 160


def blocked(exchange: Exchange) -> Outcome | None:
    """Why this answer says nothing about the server behind it; None when it does.

    Authorization, rate limits, server errors, redirects, bot protection and network faults end the probe or
    at least never decide an era.
    """
    status = exchange.status
    if status is None:
        return _of_fault(exchange)
    in_front = _in_front(exchange)
    if in_front is not None:
        return in_front
    if status in eras.SUCCESS:
        return _of_fault(exchange) if exchange.fault is not None and exchange.fault.code in _NETWORK else None
    if wants_certificate(exchange):
        return _outcome(exchange, "client-certificate", f"HTTP {status}{_said(exchange)}")
    if status == HTTPStatus.UNAUTHORIZED or (
        status == HTTPStatus.FORBIDDEN and exchange.header("www-authenticate") is not None
    ):
        return _outcome(exchange, "auth", f"HTTP {status}: {_wants_credentials(exchange)}")
    if exchange.forbidden:
        return _outcome(exchange, "forbidden", f"HTTP {status} to {_asked(exchange)}{_said(exchange)}")
    if status == HTTPStatus.TOO_MANY_REQUESTS:
        what = "HTTP 429: the server limits how often it is asked"
        return _outcome(exchange, "rate-limited", f"{what}{_pause(exchange.header('retry-after'))}")
    if status in SERVER_ERROR:
        return _outcome(exchange, "http-5xx", f"HTTP {status} to {_asked(exchange)}{_said(exchange)}")
    if status in _REDIRECTS and exchange.header("location") is not None:
        return _outcome(exchange, "redirect", _redirect(exchange))
    return None


def _in_front(exchange: Exchange) -> Outcome | None:
    """What stands before the server and answered in its place."""
    status = exchange.status
    if is_bot_page(exchange):
        what = f"HTTP {status} with a bot-protection page: the probe was stopped before it reached the server"
        return _outcome(exchange, "bot-page", what)
    gate = access_gate(exchange)
    if gate is None:
        return None
    sent = {name.lower() for name, value in exchange.request_headers if value.startswith("<")}
    if "authorization" in sent and asks_for_password(exchange):
        return None  # a password prompt that was given something refuses just that
    return _outcome(exchange, "access-gate", f"HTTP {status} from {gate}, in front of the server")


def _pause(wanted: str | None) -> str:
    """What a Retry-After asks for: seconds, or the time of a day (RFC 9110, section 10.2.3)."""
    if not wanted:
        return ""
    return f", and it asks for a pause {f'of {wanted} s' if wanted.isdecimal() else f'until {wanted}'}"[:80]


def wants_certificate(exchange: Exchange) -> bool:
    """Whether a proxy refuses the client's certificate, or misses it, in HTTP: the handshake let it pass."""
    if exchange.status not in _NO_CERTIFICATE or exchange.answer is not None:
        return False
    return _CERTIFICATE.search(exchange.words) is not None


def is_transient(exchange: Exchange) -> bool:
    """Whether the same request may well fare better a moment later: a server error, a reset, a timeout."""
    if exchange.status in SERVER_ERROR:
        return exchange.status not in _PERMANENT and not is_bot_page(exchange)
    return exchange.fault is not None and exchange.fault.code in {"reset", "timeout"}


def same_origin(url: str, reference: str) -> bool:
    """Whether a reference found at a URL stays at its scheme, host and port, and names no user.

    False for anything that is no URL at all.
    """
    try:
        here, there = urlsplit(url), urlsplit(urljoin(url, reference))
        return _origin(here) == _origin(there) and there.username is None and there.password is None
    except ValueError:
        return False


def _origin(url: SplitResult) -> tuple[str, str | None, int | None]:
    return url.scheme, url.hostname, url.port or {"http": 80, "https": 443}.get(url.scheme)


def refuses_accept(exchange: Exchange) -> bool:
    """Whether the reply is about the Accept header (406), or about a media type (415)."""
    return exchange.status in {406, 415}


def conclude(openings: Sequence[Opening]) -> Outcome:
    """What became of the probe: the surface that exists, or the answer that says why there is none."""
    answered = any(exchange.status is not None for opening in openings for exchange in opening.attempts)
    established = [opening for opening in openings if opening.established]
    if established:
        opening = established[0]
        what = _SPOKEN[opening.era]
        return Outcome(code="ok", message=what, status=opening.exchange.status, reachable=True)
    deciding = _deciding(openings)
    found = blocked(deciding) or _unusable(deciding)
    message = found.message
    if any(opening.era is Era.HTTP_SSE and opening.exchange is deciding for opening in openings):
        message = f"at {urlsplit(deciding.url).path}, which a stream of HTTP+SSE named: {message}"
    elif (unusable := _stream_fault(openings)) is not None:
        message += f"; {unusable}"
    return Outcome(code=found.code, message=message, status=found.status, reachable=answered)


def _stream_fault(openings: Sequence[Opening]) -> str | None:
    """What keeps the stream that GET opened from being the old transport's; None where it opened none."""
    got = next((opening.attempts[0] for opening in openings if opening.era is Era.HTTP_SSE), None)
    if got is None or got.fault is None:
        return None
    if eras.ok(got) and got.media_type == EVENT_STREAM:
        return f"GET opens an event stream, but {got.fault.message}"
    if got.status is None and got.fault.code == "timeout":
        return f"to GET {got.fault.message}, as where something on the way holds an event stream back"
    return None


_SPOKEN = {
    Era.MODERN: f"answers server/discover at {eras.MODERN_REVISION}",
    Era.LEGACY: "answers initialize",
    Era.HTTP_SSE: "answers only over the deprecated HTTP+SSE transport",
}


def _deciding(openings: Sequence[Opening]) -> Exchange:
    """The answer to the last POST, unless an earlier one knows the modern protocol and says what is wrong.

    Over HTTP+SSE that is the one to the address that the stream names, where it came to that.
    """
    posts = [
        opening.exchange
        for opening in openings
        if opening.era is not Era.HTTP_SSE or len(opening.attempts) > 1
    ]
    for exchange in posts:
        modern_error = eras.error_code(exchange) in {eras.HEADER_MISMATCH, eras.UNSUPPORTED_VERSION}
        if modern_error or eras.supported_versions(exchange):
            return exchange
    return posts[-1]


def _unusable(exchange: Exchange) -> Outcome:
    """An answer came, and it is not the beginning of an MCP dialogue."""
    status = exchange.status
    asked = _asked(exchange)
    code = eras.error_code(exchange)
    versions = eras.supported_versions(exchange)
    if exchange.result is not None and any(remark.code == "id-wrong" for remark in exchange.remarks):
        what = f"HTTP {status}, but what came does not carry the id of {asked}"
        return _outcome(exchange, "no-handshake", what)
    versions = versions or eras.unknown_revisions(exchange)
    if versions:
        what = f"no revision in common: the server lists {', '.join(versions[:10])[:_QUOTED]}"
        return _outcome(exchange, "no-handshake", what)
    if code == eras.HEADER_MISMATCH and exchange.rpc_method == "server/discover":
        what = "server/discover was refused with -32020 (header mismatch) though its headers were right: "
        return _outcome(exchange, "no-handshake", what + "something before the server strips or changes them")
    if exchange.rpc_method == "server/discover" and eras.offers_modern_again(exchange):
        what = (
            f"server/discover was refused with {eras.error_words(exchange)}, and the refusal lists the very "
        )
        return _outcome(
            exchange, "no-handshake", f"{what}revision that was asked for, {eras.MODERN_REVISION}"
        )
    if code is not None:
        what = f"HTTP {status}: {asked} was refused with {eras.error_words(exchange)}"
        if listed := eras.listed_revisions(exchange):
            what += f", at every revision that the refusal lists: {', '.join(listed)}"
        return _outcome(exchange, "no-handshake", what)
    if status in CLIENT_ERROR:
        return _outcome(exchange, "http-4xx", f"HTTP {status} to {asked}{_said(exchange)}")
    kind = exchange.media_type or "no content type"
    if eras.ok(exchange) and exchange.answer is not None:
        what = f"HTTP {status}, but the answer to {asked} names no revision{_said(exchange)}"
        return _outcome(exchange, "not-mcp", what)
    if exchange.fault is not None and exchange.media_type in {"application/json", EVENT_STREAM}:
        return _outcome(exchange, "not-mcp", f"HTTP {status}, but {exchange.fault.message}")
    return _outcome(
        exchange, "not-mcp", f"HTTP {status} with {kind} instead of an MCP answer{_said(exchange)}"
    )


def _of_fault(exchange: Exchange) -> Outcome:
    fault = exchange.fault
    if fault is None:
        return _outcome(exchange, "protocol", "no answer came")
    return _outcome(exchange, fault.code if fault.code in _NETWORK else "protocol", fault.message)


def _wants_credentials(exchange: Exchange) -> str:
    carried = next(
        (value for name, value in exchange.request_headers if value.startswith("<") and value != "<session>"),
        None,
    )
    if carried is None:
        return "the server asks for credentials"
    return f"the server refused the credential {carried}{_said(exchange)}"


def _redirect(exchange: Exchange) -> str:
    location = exchange.header("location") or ""
    if not same_origin(exchange.url, location):
        bare = exchange.url.startswith("https:") and location.lower().startswith("http:")
        why = "it leads away from TLS" if bare else "it leads to another origin"
    elif exchange.status not in KEEPS_METHOD:
        why = "clients turn a POST into a GET there"
    else:
        why = "one redirect is followed, not two"
    return (
        f"HTTP {exchange.status} to {location[:_QUOTED] or 'an empty Location'}: not followed, because {why}"
    )


def _said(exchange: Exchange) -> str:
    """What the page says that came instead: it often names the cause, and who of those on the way spoke."""
    said = exchange.words.removeprefix(str(exchange.status)).strip(" :")
    return f': "{said}"' if said else ""


def _asked(exchange: Exchange) -> str:
    return exchange.rpc_method or f"{exchange.http_method} {exchange.label}"


def _outcome(exchange: Exchange, code: str, message: str) -> Outcome:
    return Outcome(code=code, message=message, status=exchange.status, reachable=exchange.status is not None)
