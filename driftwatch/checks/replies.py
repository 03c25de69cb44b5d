"""What can be wrong with one reply over HTTP, as findings of the transport family."""

import re
from collections.abc import Iterable, Sequence
from urllib.parse import SplitResult, urldefrag, urljoin, urlsplit

from driftwatch.checks.answers import answered, ok
from driftwatch.checks.base import Found, NotChecked, listed, shown
from driftwatch.evidence import Exchange
from driftwatch.model import Era, Severity

EVENT_STREAM = "text/event-stream"
MEDIA_TYPES = ("application/json", EVENT_STREAM)
"""The two forms of a reply over Streamable HTTP, in every revision."""

KEEPS_METHOD = frozenset({307, 308})
REDIRECTS = frozenset({301, 302, 303}) | KEEPS_METHOD

_QUOTED_STRING = re.compile(r'"(?:[^"\\]|\\.)*"?')

_PORTS = {"http": 80, "https": 443}
_NO_ADDRESS = ("other-host", "The URL redirects to something that is no web address.", None)

REFUSED_ACCEPT = 406
REFUSED_TYPE = 415


def refuses_type(reply: Exchange) -> bool:
    """Whether it is about the Accept header (406), or about a media type (415)."""
    return reply.status in {REFUSED_ACCEPT, REFUSED_TYPE}


def accepts_stream(exchange: Exchange) -> bool:
    """Whether it was asked for with an Accept that names event streams."""
    accepted = [value for name, value in exchange.request_headers if name.lower() == "accept"]
    return any(EVENT_STREAM in value for value in accepted)


def is_redirect(reply: Exchange) -> bool:
    """Whether it leads to another address."""
    return reply.status in REDIRECTS and reply.header("location") is not None


def redirected(exchange: Exchange) -> Found:
    """Where a redirect leads, and what that does to a client."""
    location = exchange.header("location") or ""
    code, message, severity = _destination(exchange, location)
    return Found(
        severity=severity,
        code=code,
        subject=exchange.url,
        message=message,
        expected="an answer at the published URL itself",
        measured=f"HTTP {exchange.status} to {location[:200] or 'an empty Location'}",
    )


def led_on(answer: Exchange) -> Found:
    """A later request that was led to another address of the same server, where it was answered."""
    asked = answer.rpc_method or answer.label
    return Found(
        severity=Severity.HEADS_UP,
        code="same-origin",
        subject=asked,
        message=f"The URL redirects {asked} to another address of the same server.",
        expected="an answer at the published URL itself",
        measured=f"{answered(answer)} at {answer.url[:200]}",
    )


def _destination(exchange: Exchange, location: str) -> tuple[str, str, Severity | None]:
    try:
        here, there = urlsplit(exchange.url), urlsplit(urljoin(exchange.url, location))
        same_port = _port(here) == _port(there)
    except ValueError:
        return _NO_ADDRESS
    if there.scheme not in _PORTS:
        return _NO_ADDRESS
    if here.scheme == "https" and there.scheme == "http":
        return "plain-http", "The URL redirects to plain http.", None
    if there.hostname != here.hostname:
        return "other-host", "The URL redirects to another host.", None
    if there.scheme != here.scheme:
        return "to-https", "The URL is plain http and redirects to https, which is the one to publish.", None
    if not same_port:
        return "other-host", "The URL redirects to another port of its host.", None
    if exchange.status not in KEEPS_METHOD:
        return "method-lost", "The URL redirects in a way that turns a POST into a GET.", None
    # Of a query only the place is recorded: two that differ look the same.
    if not there.query and urldefrag(there.geturl()).url == exchange.url:
        return "same-origin", "The URL redirects to itself.", Severity.HEADS_UP
    return "same-origin", "The URL redirects to another address of the same server.", Severity.HEADS_UP


def _port(url: SplitResult) -> int | None:
    return url.port or _PORTS.get(url.scheme)


def names_several_types(reply: Exchange) -> bool:
    """Whether a Content-Type is a list; a comma inside the quotes of a parameter makes none."""
    return "," in _QUOTED_STRING.sub("", reply.header("content-type") or "")


def is_no_message(reply: Exchange, era: Era) -> bool:
    """Whether a success is of another type than messages have, and holds none: mostly a web page.

    Over HTTP+SSE the reply to a POST is a mere receipt, whatever its type.
    """
    mistyped = reply.media_type is not None and reply.media_type not in MEDIA_TYPES
    return ok(reply) and mistyped and reply.answer is None and era is not Era.HTTP_SSE


def mistyped_alike(media_type: str | None, opening: Exchange) -> NotChecked | None:
    """Why nothing can be said of a stream whose type is the wrong one that every reply has."""
    if media_type in MEDIA_TYPES or media_type != opening.media_type or not ok(opening):
        return None
    reason = f"every reply comes as {media_type or 'a body without a type'} (transport/content-type)"
    return NotChecked(reason, "content-type", "transport/content-type")


def mistyped(replies: Iterable[tuple[Era, Exchange]], *, is_endpoint: bool) -> list[Found]:
    """The successful replies of a type that clients do not read, one finding for all that are alike."""
    alike: dict[tuple[Era, str | None, bool], list[Exchange]] = {}
    for era, reply in replies:
        if reply.media_type not in MEDIA_TYPES:
            key = (era, reply.header("content-type"), _is_page(reply) and reply.answer is None)
            alike.setdefault(key, []).append(reply)
    return [
        _mistyped(era, found, is_page=is_page, is_endpoint=is_endpoint)
        for (era, _, is_page), found in alike.items()
    ]


def _mistyped(era: Era, replies: Sequence[Exchange], *, is_page: bool, is_endpoint: bool) -> Found:
    declared = replies[0].header("content-type")
    asked = listed(tuple(dict.fromkeys(reply.rpc_method or reply.label for reply in replies)))
    what = f"The answer to {asked} is a web page"
    return Found(
        code="html" if _is_page(replies[0]) else "wrong" if declared else "absent",
        subject="Content-Type",
        message=f"Clients cannot tell how to read the answer to {asked} and drop it without a word."
        if not is_page
        else f"{what}, which clients drop without a word."
        if is_endpoint
        else f"{what}: the URL is probably not the MCP endpoint.",
        expected=" or ".join(MEDIA_TYPES),
        measured=shown(declared) if declared else "no Content-Type header",
        era=era,
    )


def _is_page(reply: Exchange) -> bool:
    return reply.media_type in {"text/html", "application/xhtml+xml"}


def accept_refused(era: Era, attempt: Exchange, last: Exchange) -> Found:
    """The prescribed Accept header refused, and how the last attempt without it went."""
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


def got(get: Exchange, code: str, expected: str, severity: Severity | None = None) -> Found:
    """A GET that is answered in another way than with 405 or a stream."""
    stream = code == "not-a-stream"
    return Found(
        severity=severity,
        code=code,
        subject="GET",
        message="GET is answered with something that is no event stream."
        if stream
        else "GET is refused in a way that clients do not expect."
        if code == "refused"
        else "GET is not refused with 405, although nothing is behind it at this revision.",
        expected=expected,
        measured=f"{answered(get)} ({get.media_type})" if stream and get.media_type else answered(get),
    )


def json_only_answer(reply: Exchange) -> list[Found]:
    """What is wrong with a success to a request that accepts JSON alone."""
    if reply.media_type == EVENT_STREAM:
        return [json_only(reply, "sse-reply", Severity.HEADS_UP)]
    if reply.media_type not in MEDIA_TYPES:
        return [json_only(reply, "wrong-type")]
    return [json_only(reply, "refused", Severity.HEADS_UP)] if reply.error is not None else []


_JSON_ONLY = {
    "sse-reply": "The answer is an event stream, which the request did not accept.",
    "wrong-type": "The answer is neither JSON nor an event stream.",
    "refused": "The request is refused, but not with 406.",
    "unnamed": "The 406 does not say that text/event-stream is missing.",
    "bare": "The request is refused without a word that a client could act on.",
}


def json_only(reply: Exchange, code: str, severity: Severity | None = None) -> Found:
    """A request that accepts JSON alone, refused or answered in the wrong form."""
    measured = answered(reply)
    return Found(
        severity=severity,
        code=code,
        subject="Accept",
        message=_JSON_ONLY[code],
        expected=f"an answer, or HTTP 406 that names {EVENT_STREAM}",
        measured=f"{measured} ({reply.media_type})" if ok(reply) and reply.media_type else measured,
    )
