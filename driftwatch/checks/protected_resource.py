"""Protected-resource metadata (RFC 9728): what one look for them found, and what their document says."""

from collections.abc import Iterator
from urllib.parse import SplitResult, urlsplit

from driftwatch.checks.answers import DOORS, REDIRECTION, SUCCESS
from driftwatch.checks.base import Found, NotChecked, Verdict, Verified, shown
from driftwatch.evidence import Exchange, Metadata, Missing, is_bot_page
from driftwatch.model import Json, Severity, is_loopback

CLIENT_ERRORS = range(400, 500)
NO_VERDICT = frozenset({408, 429})
"""Refusals that say nothing about what was asked."""


SUBJECT = "oauth-protected-resource"

_UNFETCHED = {
    "other-host": "The challenge names an address on another host or port, which driftwatch does not ask.",
    "plain-http": "The challenge names an address over plain http.",
}
_DEFAULT_PORTS = {"https": 443, "http": 80}


def judge(looked: tuple[Metadata, ...], resource: str) -> Verdict:
    """What is wrong with where the metadata are, and with the document that clients come to.

    Any refusal (4xx) sends clients on to the next address. A server error, a redirect or silence does not: it
    is no absence.
    """
    found = [_unfetched(each, each.reply) for each in looked if isinstance(each.reply, Missing)]
    tried = [(each, each.reply) for each in looked if isinstance(each.reply, Exchange)]
    found += [_dead(each, reply) for each, reply in tried if each.place == "header" and _is_dead(reply)]
    for each, reply in tried:
        if reply.status in SUCCESS:
            found += [*_of_document(each, reply, resource), *_of_place(each, tried, resource)]
            return found or _remarked(tried)
        if not _sends_on(reply):
            return found or _unanswered(reply)
    if any(each.code == "other-host" for each in found):
        return found
    hidden = next((reply for _, reply in tried if _says_nothing(reply)), None)
    if hidden is not None:
        return found or _unanswered(hidden)
    nowhere = _fault(
        "nowhere",
        "The server asks for credentials and does not say anywhere how to get them.",
        "a document at the address in the challenge or at a well-known one",
        ", ".join(f"{_path(each.url)}: {seen(reply)}" for each, reply in tried),
    )
    return [*found, nowhere]


def _unanswered(reply: Exchange) -> NotChecked:
    location = reply.header("location")
    if reply.status in REDIRECTION and location is not None:
        return NotChecked(f"{reply.url} redirects to {location[:200]}, which is not followed", "unclear")
    return NotChecked(f"{reply.url} was not answered: {seen(reply)}", "unclear")


def _remarked(tried: list[tuple[Metadata, Exchange]]) -> Verdict:
    closed = next((reply for each, reply in tried if each.place == "path" and _is_closed(reply)), None)
    if closed is None:
        return ()
    return Verified(
        f"the well-known address with the endpoint's path is closed ({seen(closed)}): clients go on to the "
        "one without it"
    )


def _unfetched(looked: Metadata, why_not: Missing) -> Found:
    message = _UNFETCHED.get(why_not.code, "The challenge names something that is no address.")
    return Found(
        severity=Severity.HEADS_UP,
        code=why_not.code,
        subject=SUBJECT,
        message=message,
        expected="an https address on the endpoint's own host",
        measured=shown(looked.url, 200),
    )


def _dead(looked: Metadata, reply: Exchange) -> Found:
    return Found(
        severity=Severity.HEADS_UP,
        code="dead-address",
        subject=SUBJECT,
        message="The address that the challenge names does not answer with a document.",
        expected="HTTP 200 with JSON",
        measured=f"{shown(looked.url, 160)}: {seen(reply)}",
    )


def _of_document(looked: Metadata, reply: Exchange, resource: str) -> Iterator[Found]:
    document = reply.answer
    if not isinstance(document, dict):
        html = reply.media_type in {"text/html", "application/xhtml+xml"}
        yield _fault(
            "html" if html else "not-json",
            "HTML stands where metadata or 404 belongs." if html else "The metadata are no JSON object.",
            "a JSON object",
            f"{_path(looked.url)}: {seen(reply)}",
        )
        return
    yield from _of_resource(document.get("resource"), resource)
    yield from _of_servers(document.get("authorization_servers"))


def _of_servers(servers: Json) -> Iterator[Found]:
    """An issuer is an https URL (RFC 8414); plain http is for a machine of one's own."""
    named = servers if isinstance(servers, list) else []
    issuers = [split(each) if isinstance(each, str) else None for each in named]
    if not named or None in issuers:
        odd = next((each for each, url in zip(named, issuers, strict=True) if url is None), servers)
        yield _fault(
            "no-authorization-server",
            "The metadata name no authorization server."
            if not isinstance(odd, str)
            else "The metadata name an authorization server by something that is no absolute URL.",
            "authorization_servers with at least one URL, and nothing else",
            "none" if servers is None or servers == [] else shown(odd),
        )
        return
    plain = [url for url in issuers if url and url.scheme == "http" and not is_loopback(url.hostname or "")]
    if plain:
        yield _fault(
            "plain-http-issuer",
            "The metadata name an authorization server over plain http, which clients must not use.",
            "https",
            plain[0].geturl()[:200],
            Severity.HEADS_UP,
        )


def _of_place(looked: Metadata, tried: list[tuple[Metadata, Exchange]], resource: str) -> Iterator[Found]:
    if looked.place == "root" and any(
        each.place == "path" and not _is_closed(reply) for each, reply in tried
    ):
        yield _fault(
            "root-only",
            "Only the well-known address without the endpoint's path answers; clients ask the other first.",
            _path(looked.url) + _path(resource),
            _path(looked.url),
            Severity.HEADS_UP,
        )
    at = split(looked.url)
    if at is not None and at.scheme == "http" and not is_loopback(at.hostname or ""):
        yield _fault(
            "plain-http", "The metadata come over plain http.", "https", looked.url[:200], Severity.HEADS_UP
        )


def _of_resource(named: Json, resource: str) -> Iterator[Found]:
    if not isinstance(named, str) or not named:
        yield _fault("no-resource", "The metadata name no resource.", shown(resource, 200), shown(named))
        return
    told = _difference(named, resource)
    if told is not None:
        code, how, severity = told
        message = f"The metadata speak of another resource than the published URL: {how}."
        yield _fault(code, message, shown(resource, 200), shown(named, 200), severity)


def _difference(named: str, resource: str) -> tuple[str, str, Severity | None] | None:
    """How a resource differs from the endpoint's URL: code, words, severity."""
    there, here = split(named), split(resource)
    if there is None or here is None:
        return "no-resource", "it is no absolute URL", None
    theirs, ours = _canonical(there), _canonical(here)
    if theirs == ours:
        return None
    if (there.hostname, there.port, theirs[2:]) == (here.hostname, here.port, ours[2:]):
        return "other-scheme", f"{there.scheme} instead of {here.scheme}", None
    if theirs[:2] != ours[:2]:
        return "other-resource", "they differ by scheme, host or port", None
    if theirs[2].rstrip("/") == ours[2].rstrip("/") and theirs[3] == ours[3]:
        return "last-slash", "they differ by the last slash", None
    if ours[2].startswith(theirs[2].rstrip("/") + "/") and not theirs[3]:
        return (
            "broader-resource",
            "it stands above the endpoint, which not every client takes",
            Severity.HEADS_UP,
        )
    return "other-resource", "they differ by the path", None


def _canonical(url: SplitResult) -> tuple[str, tuple[str | None, int | None], str, str]:
    """Scheme, host with port, path and query, in the form in which equal addresses are the same."""
    return url.scheme, (url.hostname, url.port or _DEFAULT_PORTS[url.scheme]), url.path or "/", url.query


def split(url: str) -> SplitResult | None:
    """The parts of an absolute http or https URL; None for anything else."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in _DEFAULT_PORTS and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if valid else None


def _fault(code: str, message: str, expected: str, measured: str, severity: Severity | None = None) -> Found:
    return Found(
        severity=severity,
        code=code,
        subject=SUBJECT,
        message=message,
        expected=expected,
        measured=measured,
    )


def is_document(looked: Metadata) -> bool:
    """Whether a look found a JSON object, whatever it says."""
    reply = looked.reply
    return isinstance(reply, Exchange) and reply.status in SUCCESS and isinstance(reply.answer, dict)


def is_unclear(looked: Metadata) -> bool:
    """Whether a look leaves open what is there."""
    reply = looked.reply
    if isinstance(reply, Missing):
        return False
    return reply.status not in SUCCESS and (not _sends_on(reply) or _says_nothing(reply))


def _sends_on(reply: Exchange) -> bool:
    """Whether clients look at the next address after this answer."""
    return reply.status in CLIENT_ERRORS


def _is_dead(reply: Exchange) -> bool:
    return _sends_on(reply) and not _says_nothing(reply)


def _says_nothing(reply: Exchange) -> bool:
    """Whether a refusal is about the asking and not about what was asked for."""
    return reply.status in NO_VERDICT or is_bot_page(reply)


def _is_closed(reply: Exchange) -> bool:
    """Whether a refusal leaves open what is behind it: a CDN's, often."""
    return reply.status in DOORS or _says_nothing(reply)


def seen(reply: Exchange) -> str:
    """A reply in a few words: its status and media type, or why there is none."""
    if reply.status is None:
        return "no answer" if reply.fault is None else reply.fault.message
    return f"HTTP {reply.status}" + (f" with {reply.media_type}" if reply.media_type else "")


def _path(url: str) -> str:
    parts = split(url)
    return "/" if parts is None else parts.path or "/"
