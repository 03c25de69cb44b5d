"""How the endpoint speaks HTTP: reachable, where it was said to be, in a form that clients read."""

from collections.abc import Iterator, Sequence
from http import HTTPStatus

from driftwatch.checks import replies
from driftwatch.checks.answers import SERVER_ERROR, answered, ok, stray, unchallenged, unheard, unkept
from driftwatch.checks.base import (
    NOT_APPLICABLE,
    Explained,
    Found,
    NotChecked,
    Verdict,
    Verified,
    check,
    once,
)
from driftwatch.checks.replies import EVENT_STREAM, MEDIA_TYPES, REFUSED_ACCEPT, is_no_message
from driftwatch.checks.sources import OWN, item, rule
from driftwatch.evidence import ANONYMOUS, Exchange, Missing, Opening, Outcome, Replicas, Surface, is_bot_page
from driftwatch.model import Depth, Era, Severity, position

SHUT_STATUSES = frozenset({401, 403, 429, 451})
"""Statuses of a closed door: they say nothing about what is behind it."""

ENDPOINT = "transport/endpoint"
_FORBIDDEN_SINCE = "2025-11-25"
"""The first revision that names the status of a refused Origin."""

_SHUT = frozenset(
    {"auth", "forbidden", "rate-limited", "bot-page", "access-gate", "address", "proxy", "client-certificate"}
)
"""Outcomes that say nothing about the server behind the door."""

REFUSES_CREDENTIAL = "auth"
"""The outcome that is the fault of the credential, where there was one. A bare 403 may be a firewall's."""


@check(
    id=ENDPOINT,
    title="The endpoint does not answer an MCP client",
    severity=Severity.WILL_BREAK,
    sources=(item(2),),
    root=True,
)
def endpoint(url: str, outcome: Outcome, surfaces: tuple[Surface, ...], credential: str) -> Verdict:
    """Whether a POST to the configured URL begins an MCP dialogue.

    Why it matters:
        Clients know one URL and send POST requests to it. When that gets no usable answer, nothing else
        about the server matters. A GET says nothing about it: healthy servers answer a bare GET with 400,
        404 or 405.

    How to fix it:
        Look at what the measured answer names: the name in DNS, the port, the proxy in front, the path. The
        address must be the exact one that you publish, trailing slash included.

        Where bot protection or an access gate (a platform's deployment protection, an identity-aware proxy, a
        password prompt) answers in front of the server, exempt the MCP route from it: no agent gets past it.

        Where only the old HTTP+SSE transport answers, move to Streamable HTTP; it has been deprecated since
        2025-03-26 and clients are dropping it.
    """
    if outcome.blocker.cause != ENDPOINT:
        return NotChecked.of(outcome.blocker)
    if outcome.code in _SHUT:
        refused = credential != ANONYMOUS and outcome.code == REFUSES_CREDENTIAL
        return NotChecked(outcome.message, outcome.code, "auth/credential" if refused else None)
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
def redirect(
    openings: tuple[Opening, ...] | Missing, surfaces: tuple[Surface, ...], outcome: Outcome
) -> Verdict:
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
    # All eras: a redirect is followed once, and where the first request was led the later ones go straight.
    tried = () if isinstance(openings, Missing) else openings
    attempts = [attempt for opening in tried for attempt in opening.attempts]
    found = [replies.redirected(attempt) for attempt in attempts if replies.is_redirect(attempt)]
    found += [replies.led_on(page) for surface in surfaces for page in _led_on(surface)]
    if not found and not any(map(_is_behind_the_door, attempts)):
        return NotChecked.of(outcome.blocker)
    return Explained(tuple(once(found)), ENDPOINT) if outcome.code == "redirect" else once(found)


@check(
    id="transport/content-type",
    title="The reply's content type is not one of the two that MCP clients read",
    severity=Severity.WILL_BREAK,
    sources=(rule(1), item(3)),
    root=True,
)
def content_type(
    openings: tuple[Opening, ...] | Missing, surfaces: tuple[Surface, ...], outcome: Outcome
) -> Verdict:
    """The Content-Type of every answer: to server/discover or initialize, and to each page of a list.

    The first media type of the header decides; parameters such as a charset, and upper or lower case, do not.
    A page of the bot protection in front is no answer.

    Why it matters:
        A client chooses how to read the body by this header. With anything but the two types it connects,
        reads nothing and reports nothing: no tools, no message to the user, no line in your log. HTML in
        answer to the first request usually means that the URL leads to a web page and not to the MCP
        endpoint; one wrong answer to tools/list is enough for a client to show no tools.

    How to fix it:
        Send `Content-Type: application/json` for a single answer and `text/event-stream` for a stream, on the
        MCP route itself. Frameworks that return a string send text/plain or text/html unless told otherwise.
    """
    heard = [(opening.era, opening.exchange) for opening in _judged(openings)]
    # Over HTTP+SSE the reply to a POST is a mere receipt.
    streamable = [surface for surface in surfaces if surface.era is not Era.HTTP_SSE]
    heard += [(surface.era, reply) for surface in streamable for reply in surface.answers]
    successes = [(era, reply) for era, reply in heard if ok(reply) and not _is_empty(reply)]
    if outcome.code in _SHUT or not successes:
        return _no_reply(outcome)
    found = replies.mistyped(successes, is_endpoint=bool(surfaces))
    if found and outcome.code == "not-mcp":
        return Explained((found[-1],), ENDPOINT)
    several = any(map(replies.names_several_types, (reply for _, reply in successes)))
    return Verified("the header names more than one media type") if several and not found else found


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
        replies.accept_refused(opening.era, attempt, opening.exchange)
        for opening in opened
        for attempt in opening.attempts
        if replies.refuses_type(attempt) and replies.accepts_stream(attempt)
    ]
    if refusals and outcome.code == "http-4xx" and replies.refuses_type(opened[-1].exchange):
        return Explained((refusals[-1],), ENDPOINT)
    if refusals:
        return once(refusals)
    if outcome.code in _SHUT or not any(ok(opening.exchange) for opening in opened):
        return _no_reply(outcome)
    return ()


@check(
    id="transport/encoding",
    title="Replies are compressed though no compression was offered",
    severity=Severity.HEADS_UP,
    sources=(OWN,),
    root=True,
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


@check(
    id="transport/get",
    title="GET is neither refused with 405 nor answered with a stream",
    severity=Severity.WILL_BREAK,
    sources=(item(2),),
    depth=Depth.FULL,
    eras=(Era.MODERN, Era.LEGACY),
)
def get(
    *,
    get: Exchange,
    opening: Exchange,
    era: Era,
    session: bool,
    surfaces: tuple[Surface, ...],
    acknowledgement: Exchange | None,
) -> Verdict:
    """A GET that accepts an event stream, sent as a client of the era sends it: with revision and session.

    Why it matters:
        Clients of `initialize` open a stream with GET right after the handshake, for what the server has to
        say by itself. They know two answers: the stream, and 405 for a server that has none. Anything else is
        an error that some show to their user and others stop at. Clients of 2026-07-28 send no GET; a server
        that speaks nothing else should say so with 405.

    How to fix it:
        Answer GET with 405 and `Allow: POST`, or with `Content-Type: text/event-stream`. Look at web
        frameworks that answer a route without a GET handler with 404, and at proxies that serve a page there.
    """
    status = get.status
    if era is Era.MODERN and any(surface.era is Era.LEGACY for surface in surfaces):
        return NotChecked("GET is judged in the legacy era", NOT_APPLICABLE)
    if status == HTTPStatus.METHOD_NOT_ALLOWED and not is_bot_page(get):
        return ()
    silence = unkept(get, acknowledgement) or unheard(get) or replies.mistyped_alike(get.media_type, opening)
    if silence is not None:
        return silence
    if replies.refuses_type(get) and not replies.accepts_stream(opening):
        return NotChecked("every request that accepts an event stream is refused", "accept-refused")
    if era is Era.MODERN:
        return [replies.got(get, "not-405", "HTTP 405", Severity.HEADS_UP)]
    if ok(get) and get.media_type == EVENT_STREAM:
        return ()
    if status == HTTPStatus.BAD_REQUEST and not session:
        return NotChecked("GET needs a session (HTTP 400), and the server issued none", "no-session")
    return [replies.got(get, "not-a-stream" if ok(get) else "refused", f"HTTP 405, or {EVENT_STREAM}")]


@check(
    id="transport/accept-json-only",
    title="A request that accepts JSON alone gets a bare error",
    severity=Severity.WILL_BREAK,
    sources=(item(3),),
    depth=Depth.FULL,
    eras=(Era.MODERN, Era.LEGACY),
)
def accept_json_only(
    json_only: Exchange, opening: Exchange, era: Era, replicas: Replicas | Missing
) -> Verdict:
    """The first request with `Accept: application/json`: answered, or refused with 406 and a reason.

    Why it matters:
        Clients have to list both types, and simple ones forget the second. A server may insist. But an empty
        406 tells nobody what is missing, and its author looks for the fault everywhere else.

    How to fix it:
        Answer with JSON, or let the body of the 406 say that `text/event-stream` is missing in Accept. Some
        SDKs refuse with an empty body: a newer release, or JSON replies switched on, changes that.
    """
    silence = unheard(json_only) or (None if ok(json_only) else stray(era, replicas))
    if silence is not None:
        return silence
    if ok(json_only) and json_only.media_type == opening.media_type not in MEDIA_TYPES:
        return Verified("the reply has the same wrong content type as every other")
    if ok(json_only):
        return replies.json_only_answer(json_only)
    named = EVENT_STREAM in json_only.excerpt.lower()
    if json_only.status == REFUSED_ACCEPT and named:
        return ()
    if named or json_only.error is not None:
        code = "unnamed" if json_only.status == REFUSED_ACCEPT else "refused"
        return [replies.json_only(json_only, code, Severity.HEADS_UP)]
    return [replies.json_only(json_only, "bare")]


@check(
    id="transport/origin",
    title="Requests from a foreign website are not refused with 403",
    severity=Severity.WILL_BREAK,
    sources=(item(5),),
    depth=Depth.FULL,
    eras=(Era.MODERN, Era.LEGACY),
)
def origin(foreign_origin: Exchange, revision: str) -> Verdict:
    """The first request with the Origin of a website that the server cannot know: HTTP 403.

    Why it matters:
        A browser tells with Origin which page sends a request. A page whose name is made to resolve to your
        server (DNS rebinding) reaches it from inside the visitor's network, with whatever the network allows.
        Every revision says that servers must validate Origin, since 2025-11-25 with 403.

    How to fix it:
        Refuse with 403 when Origin is there and not on your list. The official SDKs have a setting for it,
        which often is on for loopback addresses only. Requests without Origin must go on working.

        A server that is meant for every website declares it in the configuration: `origin = "open"`.
    """
    if foreign_origin.status == HTTPStatus.FORBIDDEN:
        return ()
    silence = None if unchallenged(foreign_origin) else unheard(foreign_origin)
    if silence is not None:
        return silence
    page = not foreign_origin.size or is_no_message(foreign_origin, Era.LEGACY)
    accepted = ok(foreign_origin) and foreign_origin.error is None and not page
    strict = accepted or position(revision) >= position(_FORBIDDEN_SINCE)
    found = Found(
        severity=None if strict else Severity.HEADS_UP,
        code="accepted" if accepted else "not-403",
        subject="Origin",
        message="A request from a foreign website is answered like any other."
        if accepted
        else "A request from a foreign website is refused, but not with 403.",
        expected="HTTP 403",
        measured=answered(foreign_origin),
    )
    return [found]


def established(openings: Sequence[Opening]) -> Sequence[Opening]:
    """The openings that a surface stands behind, or every one where there is none.

    A legacy server owes no sensible answer to the modern era's first request, nor the other way round, and
    nobody one to the GET that looks for the old transport.
    """
    posted = [opening for opening in openings if opening.era is not Era.HTTP_SSE]
    return [opening for opening in openings if opening.established] or posted


def _judged(openings: tuple[Opening, ...] | Missing) -> Sequence[Opening]:
    return () if isinstance(openings, Missing) else established(openings)


def _no_reply(outcome: Outcome) -> NotChecked:
    if outcome.code != "ok":
        return NotChecked.of(outcome.blocker)
    return NotChecked("no successful reply to a first POST to judge", "no-reply")


def _is_behind_the_door(exchange: Exchange) -> bool:
    """Whether the answer can only come from the endpoint itself."""
    status = exchange.status
    if status is None or is_bot_page(exchange):
        return False
    return status < SERVER_ERROR.start and status not in SHUT_STATUSES


def _is_empty(reply: Exchange) -> bool:
    """Whether nothing came that a type could say how to read: whoever misses the answer says so."""
    return not reply.size and reply.fault is not None and reply.fault.code == "no-answer"


def _led_on(surface: Surface) -> list[Exchange]:
    """The pages of the list that came from another address than the first answer."""
    if isinstance(surface.listing, Missing) or surface.era is Era.HTTP_SSE:
        return []
    return [page for page in surface.listing.exchanges if page.url != surface.opening.url]
