"""State between requests: none in the modern era, ended for good in the older one."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from http import HTTPStatus

from driftwatch.checks.answers import (
    METHOD_NOT_FOUND,
    answered,
    error_code,
    ok,
    unchallenged,
    unheard,
    unkept,
)
from driftwatch.checks.base import Found, NotChecked, Verdict, Verified, check
from driftwatch.checks.reads import Comparison
from driftwatch.checks.replies import MEDIA_TYPES
from driftwatch.checks.sources import item
from driftwatch.evidence import Exchange, Listing, Missing, Opening
from driftwatch.model import Depth, Era, Severity

_REPEATED = frozenset({"redirected", "json-only"})
"""Attempts that follow a redirect or get around a refused Accept: no matter of state."""


@check(
    id="session/stateless",
    title="The modern era keeps state between requests",
    severity=Severity.WILL_BREAK,
    sources=(item(4),),
    eras=(Era.MODERN,),
    since_revision="2026-07-28",
)
def stateless(opening: Exchange, openings: tuple[Opening, ...] | Missing) -> Iterator[Found]:
    """The very first request on a fresh connection: it is answered, and the answer carries no session.

    Why it matters:
        Since 2026-07-28 there is no handshake. A client's first request may be any, on any connection, to any
        instance behind the load balancer. A server that first wants another request works as long as all of
        them reach the same process, and fails once they do not.

    How to fix it:
        Answer every request from what it carries: revision, client and capabilities stand in its `_meta`.
        Send no `Mcp-Session-Id` to clients of this revision; keep sessions for `initialize` alone.
    """
    for earlier, later in itertools.pairwise(_attempts(openings)):
        if unheard(earlier) is None and later.label.rpartition(":")[2] not in _REPEATED:
            yield Found(
                code="needs-earlier-request",
                subject="server/discover",
                message="The very first request is refused, and the same request is answered later.",
                expected="an answer to the first request",
                measured=f"{answered(earlier)}, later {answered(opening)}",
            )
            break
    if opening.header("mcp-session-id") is not None:
        yield Found(
            severity=Severity.HEADS_UP,
            code="session-header",
            subject="Mcp-Session-Id",
            message="The answer issues a session, which does not exist at this revision.",
            expected="no Mcp-Session-Id",
            measured="an Mcp-Session-Id",
        )


@check(
    id="session/ended",
    title="Sessions do not end, or have ids that cannot be sent",
    severity=Severity.WILL_BREAK,
    sources=(item(4),),
    depth=Depth.FULL,
    eras=(Era.LEGACY,),
)
def ended(
    *,
    session: bool,
    session_visible: bool,
    opening: Exchange,
    session_ended: Exchange | None,
    session_after_end: Exchange | Missing,
    acknowledgement: Exchange | None,
    listing: Listing | Missing,
    compared: Comparison,
    era: Era,
) -> Verdict:
    """What a request gets whose session was ended with DELETE a moment ago, and the session's id itself.

    Why it matters:
        HTTP 404 is the one answer that tells a client to start over with a new session. With any other it
        goes on with the dead one until a person reconnects it. And where the session is still served, ending
        it did nothing: whoever has the id can go on using it.

        An id with other characters than visible ASCII is cut, changed or refused on its way back by some
        client or proxy.

    How to fix it:
        Answer 404 to every session id that the server does not know, ended and never issued ones alike, on
        every instance. HTTP 400 is for a request without an id. Make ids of letters and digits, as UUIDs are.
    """
    if not session_visible:
        return [_invisible(opening)]
    if isinstance(session_after_end, Missing):
        if session or session_after_end.code != "no-session":
            lost = unkept(session_ended, acknowledgement) if session_ended else None
            return lost or _not_ended(session_after_end, compared.in_doubt.get(era))
        return Verified("the server works without sessions")
    silence = None if _is_about_the_session(session_after_end, listing) else unheard(session_after_end)
    if silence is not None:  # it is a tools/list, and may fare like the one before
        return replace(silence, cause="tools/pagination")
    alike = _fares_alike(session_after_end, listing)
    if alike is not None:
        return alike
    if session_after_end.status == HTTPStatus.NOT_FOUND:
        return ()
    if ok(session_after_end) and session_after_end.answer is None and _is_message(session_after_end):
        return NotChecked(f"no answer to judge: {answered(session_after_end)}", "no-answer")
    served = ok(session_after_end) and session_after_end.result is not None
    found = Found(
        code="still-served" if served else "not-404",
        subject="Mcp-Session-Id",
        message="An ended session is still served."
        if served
        else "An ended session is refused in a way that does not tell clients to start over.",
        expected="HTTP 404",
        measured=answered(session_after_end),
    )
    return [found]


def _not_ended(missing: Missing, in_doubt: Missing | None) -> NotChecked:
    """Why the session did not end: its DELETE may have met one of several instances that does not know it."""
    why = NotChecked.of(missing)
    return replace(why, cause=in_doubt.cause) if in_doubt and why.code == "not-ended" else why


def _is_about_the_session(after_end: Exchange, listing: Listing | Missing) -> bool:
    """Whether a 401 can only mean the session: the same request was answered while that lived.

    An SDK answers unknown sessions so. A token that expired just then would come with a challenge.
    """
    return isinstance(listing, Listing) and listing.complete and unchallenged(after_end)


def _is_message(reply: Exchange) -> bool:
    """Whether it says to be an answer, read or not; a web page is none."""
    return reply.media_type in MEDIA_TYPES


def _fares_alike(after_end: Exchange, listing: Listing | Missing) -> NotChecked | None:
    """Why the answer says nothing about sessions where tools/list fares the same in one that lives."""
    if isinstance(listing, Missing):
        return NotChecked.of(listing) if error_code(after_end) == METHOD_NOT_FOUND else None
    if listing.complete or listing.pages or not listing.exchanges:
        return None
    said = answered(after_end)
    if said != answered(listing.exchanges[-1]):
        return None
    reason = f"a session that was not ended gets the same answer: {said}"
    return NotChecked(reason, "same-answer", "tools/pagination")


def _invisible(opening: Exchange) -> Found:
    ids = [value for name, value in opening.headers if name == "mcp-session-id"]
    if len(ids) > 1:
        return Found(
            code="id-repeated",
            subject="Mcp-Session-Id",
            message="The session's id comes twice, as when a proxy adds a copy, and clients join the two "
            "into one that nobody knows.",
            expected="one Mcp-Session-Id",
            measured=f"{len(ids)} of them",
        )
    empty = ids == [""]
    return Found(
        code="id-characters",
        subject="Mcp-Session-Id",
        message="The session's id is empty."
        if empty
        else "The session's id has characters that a header cannot be trusted to carry.",
        expected="visible ASCII (0x21 to 0x7E)",
        measured="an empty header" if empty else "other characters",
    )


def _attempts(openings: tuple[Opening, ...] | Missing) -> tuple[Exchange, ...]:
    seen = () if isinstance(openings, Missing) else openings
    return next((opening.attempts for opening in seen if opening.era is Era.MODERN), ())
