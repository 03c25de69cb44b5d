"""How the endpoint speaks HTTP: reachable, where it was said to be, in a form that clients read."""

from collections.abc import Iterator, Sequence
from urllib.parse import urljoin, urlsplit

from driftwatch.checks.base import Found, NotChecked, Verdict, Verified, check, once, shown
from driftwatch.checks.sources import OWN, item, rule
from driftwatch.evidence import Exchange, Missing, Opening, Outcome, Surface
from driftwatch.model import Era, Severity

MEDIA_TYPES = ("application/json", "text/event-stream")
"""The two forms of a reply over Streamable HTTP, in every revision."""

KEEPS_METHOD = frozenset({307, 308})
REDIRECTS = frozenset({301, 302, 303}) | KEEPS_METHOD

SERVER_ERRORS = 500
"""Where that range of statuses begins."""
SHUT_STATUSES = frozenset({401, 403, 429})
"""Statuses of a closed door: they say nothing about what is behind it."""

REFUSED_ACCEPT = 406
REFUSED_TYPE = 415

_SHUT = frozenset({"auth", "forbidden", "rate-limited", "bot-page", "address"})
"""Outcomes that say nothing about the server behind the door."""


@check(
    id="transport/endpoint",
    title="The endpoint does not answer an MCP client",
    severity=Severity.WILL_BREAK,
    sources=(item(2),),
    root=True,
)
def endpoint(url: str, outcome: Outcome, surfaces: tuple[Surface, ...]) -> Verdict:
    """Whether a POST to the configured URL begins an MCP dialogue.

    Why it matters:
        Clients know one URL and send POST requests to it. When that gets no usable answer, nothing else
        about the server matters. A GET says nothing about it: healthy servers answer a bare GET with 400,
        404 or 405.

    How to fix it:
        Look at what the measured answer names: the name in DNS, the port, the proxy in front, the path. The
        address must be the exact one that you publish, trailing slash included.

        Where only the old HTTP+SSE transport answers, move to Streamable HTTP; it has been deprecated since
        2025-03-26 and clients are dropping it.
    """
    if outcome.code in {"certificate", "tls"}:
        return NotChecked(outcome.message, outcome.code, "tls/chain")
    if outcome.code in _SHUT:
        return NotChecked(outcome.message, outcome.code)
    if outcome.code != "ok":
        found = Found(
            code=outcome.code,
            subject=url,
            message=f"No usable answer to a POST: {outcome.message}.",
            expected="an answer to server/discover or initialize",
            measured=outcome.message,
        )
        return [found]
    if surfaces and all(surface.era is Era.HTTP_SSE for surface in surfaces):
        found = Found(
            severity=Severity.HEADS_UP,
            code="deprecated-transport",
            subject=url,
            message="Only the HTTP+SSE transport of 2024-11-05 answers, which is deprecated.",
            expected="Streamable HTTP: one URL that takes POST",
            measured="POST is refused, GET opens a stream with an endpoint event",
            era=Era.HTTP_SSE,
        )
        return [found]
    return ()


@check(
    id="transport/redirect",
    title="The published URL redirects",
    severity=Severity.WILL_BREAK,
    sources=(item(1),),
)
def redirect(openings: tuple[Opening, ...] | Missing, outcome: Outcome) -> Verdict:
    """Whether the configured URL is the endpoint itself or leads somewhere else.

    Why it matters:
        Clients do not follow redirects as browsers do. To another host they drop the token or refuse to go,
        to plain http they must not go at all, and a 301 or 302 turns their POST into a GET. A redirect
        within the server that keeps the method works with most clients, at the price of a second round for
        every request.

    How to fix it:
        Publish the address that the redirect points to, usually the one with or without the last slash.
        Behind a proxy that ends TLS, tell the application its outside scheme and host (X-Forwarded-Proto
        and Host), or it writes redirects to http.
    """
    # All eras: a redirect is followed once, by the first request, and the later ones go straight there.
    tried = () if isinstance(openings, Missing) else openings
    attempts = [attempt for opening in tried for attempt in opening.attempts]
    found = [_redirect(attempt) for attempt in attempts if _is_redirect(attempt)]
    if not found and not any(map(_is_behind_the_door, attempts)):
        return _blocked(outcome)
    return once(found)


@check(
    id="transport/content-type",
    title="The reply's content type is not one of the two that MCP clients read",
    severity=Severity.WILL_BREAK,
    sources=(rule(1), item(3)),
)
def content_type(openings: tuple[Opening, ...] | Missing, outcome: Outcome) -> Verdict:
    """The Content-Type of the reply to the first request: server/discover or initialize.

    The first media type of the header decides; parameters such as a charset, and upper or lower case, do not.

    Why it matters:
        A client chooses how to read the body by this header. With anything but the two types it connects,
        reads nothing and reports nothing: no tools, no message to the user, no line in your log. HTML here
        usually means that the URL leads to a web page and not to the MCP endpoint.

    How to fix it:
        Send `Content-Type: application/json` for a single answer and `text/event-stream` for a stream, on the
        MCP route itself. Frameworks that return a string send text/plain or text/html unless told otherwise.
    """
    replies = [
        (opening.era, opening.exchange) for opening in _judged(openings) if _is_success(opening.exchange)
    ]
    if not replies:
        return _no_reply(outcome)
    found = [_content_type(era, reply) for era, reply in replies if reply.media_type not in MEDIA_TYPES]
    doubled = any("," in (reply.header("content-type") or "") for _, reply in replies)
    return Verified("the header names its media type twice") if doubled and not found else found


@check(
    id="transport/accept-sse",
    title="Requests that accept an event stream are refused",
    severity=Severity.WILL_BREAK,
    sources=(rule(2), item(3)),
)
def accept_sse(openings: tuple[Opening, ...] | Missing, outcome: Outcome) -> Verdict:
    """Whether the first request is taken with the Accept header that the protocol prescribes.

    That header names both application/json and text/event-stream. When it is refused, driftwatch asks again
    with JSON alone, so that the rest of the report exists.

    Why it matters:
        Every revision makes clients list both types in every POST. A server, or a proxy in front of it, that
        refuses them refuses all clients.

    How to fix it:
        Let the MCP route accept both types, whichever it replies with. When the application does, look at the
        content negotiation of the framework or at the proxy's rules for the Accept header.
    """
    opened = _judged(openings)
    refusals = [
        _refusal(opening.era, attempt, opening.exchange)
        for opening in opened
        for attempt in opening.attempts
        if attempt.status in {REFUSED_ACCEPT, REFUSED_TYPE} and _accepts_sse(attempt)
    ]
    if refusals:
        return once(refusals)
    if not any(_is_success(opening.exchange) for opening in opened):
        return _no_reply(outcome)
    return ()


@check(
    id="transport/encoding",
    title="Replies are compressed though no compression was offered",
    severity=Severity.HEADS_UP,
    sources=(OWN,),
)
def encoding(exchanges: tuple[Exchange, ...]) -> Iterator[Found]:
    """The Content-Encoding of the replies; driftwatch offers none (`Accept-Encoding: identity`).

    Why it matters:
        A client that did not offer an encoding need not be able to undo it. It then reads compressed bytes
        as JSON and reports a broken server. It often hits the tool list alone, because proxies compress
        only what is large.

    How to fix it:
        Compress only what the request's Accept-Encoding names, and leave event streams uncompressed.
    """
    for exchange in exchanges:
        fault = exchange.fault
        unrequested = next((note for note in exchange.remarks if note.code == "unrequested-encoding"), None)
        if fault is not None and fault.code == "encoding":
            code, what, severity = "undecodable", fault.message, Severity.WILL_BREAK
        elif unrequested is not None:
            code, what, severity = "unrequested", unrequested.message, None
        else:
            continue
        yield Found(
            severity=severity,
            code=code,
            subject=exchange.rpc_method or exchange.label,
            message="The reply carries a content encoding that was not offered.",
            expected="an unencoded body",
            measured=what,
        )


def established(openings: Sequence[Opening]) -> Sequence[Opening]:
    """The openings that a surface stands behind, or every one where there is none.

    A legacy server owes no sensible answer to the modern era's first request, nor the other way round.
    """
    return [opening for opening in openings if opening.established] or openings


def _judged(openings: tuple[Opening, ...] | Missing) -> Sequence[Opening]:
    return () if isinstance(openings, Missing) else established(openings)


def _blocked(outcome: Outcome) -> NotChecked:
    cause = "tls/chain" if outcome.code in {"certificate", "tls"} else "transport/endpoint"
    return NotChecked(outcome.message, outcome.code, cause)


def _no_reply(outcome: Outcome) -> NotChecked:
    if outcome.code != "ok":
        return _blocked(outcome)
    return NotChecked("no successful reply to a first POST to judge", "no-reply")


def _is_success(exchange: Exchange) -> bool:
    return exchange.status is not None and 200 <= exchange.status < 300  # noqa: PLR2004 - HTTP's own range


def _is_behind_the_door(exchange: Exchange) -> bool:
    """Whether the answer can only come from the endpoint itself."""
    status = exchange.status
    return status is not None and status < SERVER_ERRORS and status not in SHUT_STATUSES


def _is_redirect(exchange: Exchange) -> bool:
    return exchange.status in REDIRECTS and exchange.header("location") is not None


def _redirect(exchange: Exchange) -> Found:
    location = exchange.header("location") or ""
    code, message, severity = _destination(exchange, location)
    return Found(
        severity=severity,
        code=code,
        subject=exchange.url,
        message=message,
        expected="an answer at the published URL itself",
        measured=f"HTTP {exchange.status} to {location[:200]}",
    )


def _destination(exchange: Exchange, location: str) -> tuple[str, str, Severity | None]:
    try:
        here, there = urlsplit(exchange.url), urlsplit(urljoin(exchange.url, location))
        same_host = (here.hostname, here.port) == (there.hostname, there.port)
    except ValueError:
        return "other-host", "The URL redirects to something that is no address.", None
    if here.scheme == "https" and there.scheme == "http":
        return "plain-http", "The URL redirects to plain http.", None
    if not same_host or there.scheme != here.scheme:
        return "other-host", "The URL redirects to another host.", None
    if exchange.status not in KEEPS_METHOD:
        return "method-lost", "The URL redirects in a way that turns a POST into a GET.", None
    return "same-origin", "The URL redirects to another address of the same server.", Severity.HEADS_UP


def _content_type(era: Era, reply: Exchange) -> Found:
    declared = reply.header("content-type")
    html = reply.media_type in {"text/html", "application/xhtml+xml"}
    return Found(
        code="html" if html else "wrong" if declared else "absent",
        subject="Content-Type",
        message="The reply is a web page: the URL is probably not the MCP endpoint."
        if html
        else "Clients cannot tell how to read the reply and drop it without a word.",
        expected=" or ".join(MEDIA_TYPES),
        measured=shown(declared) if declared else "no Content-Type header",
        era=era,
    )


def _accepts_sse(exchange: Exchange) -> bool:
    accepted = [value for name, value in exchange.request_headers if name.lower() == "accept"]
    return any("text/event-stream" in value for value in accepted)


def _refusal(era: Era, attempt: Exchange, last: Exchange) -> Found:
    about_body = attempt.status == REFUSED_TYPE and last.status == REFUSED_TYPE
    again = f", then HTTP {last.status} with JSON alone" if last is not attempt else ""
    return Found(
        code="content-type-refused" if about_body else "refused",
        subject="Content-Type" if about_body else "Accept",
        message="The server refuses a request body of application/json."
        if about_body
        else "The server refuses the Accept header that every MCP client sends.",
        expected="an answer to Accept: application/json, text/event-stream",
        measured=f"HTTP {attempt.status}{again}",
        era=era,
    )
