"""The tool list as a whole: can it be read to its end, and only with cursors of its own."""

from dataclasses import replace

from driftwatch.checks.answers import (
    DOORS,
    INVALID_PARAMS,
    REDIRECTION,
    answered,
    error_code,
    has_other_id,
    ok,
    outlived,
    unheard,
    unkept,
)
from driftwatch.checks.base import Found, NotChecked, Policy, Verdict, Verified, check, count, listed, shown
from driftwatch.checks.messages import UNREADABLE
from driftwatch.checks.replies import is_no_message
from driftwatch.checks.sources import item
from driftwatch.checks.transport import SHUT_STATUSES
from driftwatch.evidence import ANONYMOUS, Authorization, Exchange, Fault, Listing, Missing, is_bot_page
from driftwatch.model import Depth, Era, Json, Severity

_OURS = frozenset({"deadline", "budget", "address", "proxy", "rate-limited"})
"""Why this probe read no further. Everything else keeps agents from the tools as well, a limit too: no client
reads such a list to its end.
"""

_EXPECTED = {
    **dict.fromkeys(("repeated-cursor", "page-limit", "cursor-type"), "a last page without nextCursor"),
    **dict.fromkeys(("not-a-list", "not-a-tool"), "an array of tools, each with a name"),
    **dict.fromkeys(("tool-limit", "size-limit", "too-large"), "a list of a size that clients can take"),
    "timeout": "a page of tools within seconds",
}
"""What should have come instead of a fault; of any other a page of tools."""

_TOLD_BY = {
    **dict.fromkeys(UNREADABLE, "mcp/message-text"),
    "encoding": "transport/encoding",
    "envelope": "mcp/envelope",
}
"""The check that tells of a page that came and cannot be read."""


@check(
    id="tools/pagination",
    title="The tool list cannot be read to its end",
    severity=Severity.WILL_BREAK,
    sources=(item(7),),
    root=True,
)
def pagination(
    *,
    listing: Listing,
    acknowledgement: Exchange | None,
    authorization: Authorization | Missing,
    settings: Json,
    credential: str,
    era: Era,
    policy: Policy,
) -> Verdict:
    """Following `nextCursor` from page to page until the server says that there is no more.

    A cursor that is null or absent ends the list; every other one, the empty string included, is sent back as
    it came. A page that fails, or does not come, is asked for once more. A list that takes more than half of
    the time that a probe has, and does not end in it, did not come in time.

    Why it matters:
        The server chooses the size of its pages. A cursor that comes round again keeps a client asking for
        ever, a page that fails loses the tools behind it, and in both cases the agent works with a list that
        looks complete and is not.

    How to fix it:
        Answer `tools/list` within seconds, with HTTP 200 and tools that each have a name; where it fails or
        hangs, the server's log says why. Leave `nextCursor` out on the last page, give every other page a new
        cursor, and make a cursor work on every instance behind the load balancer.
    """
    if listing.complete:
        return _complete(listing)
    fault = _late(listing, settings) or listing.fault
    if fault is None:
        return NotChecked("the tool list was not read to its end", "incomplete")
    lost = unkept(listing.exchanges[-1], acknowledgement) if listing.exchanges else None
    if lost is not None:
        return lost
    if not _is_servers_fault(listing, fault, authorization):
        ours = credential != ANONYMOUS and listing.exchanges and listing.exchanges[-1].status in DOORS
        return _unread(fault, "auth/credential" if ours else None)
    told_by = _told_by(listing.exchanges[-1], fault, era)
    if told_by is not None and told_by not in policy.off:
        return _unread(fault, told_by)
    # Only this probe's patience is at its end: a client that waits longer may get the list.
    who = "Agents that wait no longer get" if fault.code == "timeout" else "Agents get"
    found = Found(
        code=fault.code,
        subject="tools/list",
        message=f"The list breaks off after {_pages(listing.pages)}: {fault.message}."
        if listing.pages
        else f"{who} no tools: {fault.message}.",
        expected=_EXPECTED.get(fault.code, "a page of tools"),
        measured=fault.message,
    )
    return [found]


@check(
    id="tools/invalid-cursor",
    title="A cursor that the server never issued is taken as good",
    severity=Severity.HEADS_UP,
    sources=(item(7),),
    depth=Depth.FULL,
    eras=(Era.MODERN, Era.LEGACY),
)
def invalid_cursor(
    invalid_cursor: Exchange,
    session: bool,  # noqa: FBT001 - a part's name
    session_ended: Exchange | None,
) -> Verdict:
    """A tools/list with a made-up cursor, where the server issues some: JSON-RPC error -32602.

    It is not asked of a server whose list fits one page: such servers do not look at cursors at all.

    Why it matters:
        After a deploy or a restart, clients come back with cursors of the old process. A server that answers
        them with its first page, or with an empty one, has them show half a list or loop; the error has them
        start again.

    How to fix it:
        Check a cursor before it is used, and answer -32602 to one that cannot be read.
    """
    silence = unheard(invalid_cursor, within_session=session and not outlived(session_ended))
    if silence is not None:
        return silence
    if error_code(invalid_cursor) == INVALID_PARAMS:
        return ()
    accepted = ok(invalid_cursor) and invalid_cursor.error is None
    found = Found(
        code="accepted" if accepted else "other-error",
        subject="cursor",
        message="The cursor is answered with a page of the list."
        if accepted
        else "The cursor is refused, but not as an invalid parameter.",
        expected=f"error {INVALID_PARAMS}",
        measured=answered(invalid_cursor),
    )
    return [found]


def _unread(fault: Fault, cause: str | None) -> NotChecked:
    return NotChecked(f"the tool list could not be read to its end: {fault.message}", fault.code, cause)


def _told_by(page: Exchange, fault: Fault, era: Era) -> str | None:
    """The check that tells what is wrong with the answer for a page; None where this one has to."""
    if is_no_message(page, era):
        return "transport/content-type"
    # Another request's answer, as from a cache: what it lacks is no fault of the list.
    return "mcp/envelope" if ok(page) and has_other_id(page) else _TOLD_BY.get(fault.code)


def _complete(listing: Listing) -> Verdict:
    scopes = sorted(set(listing.cache_scopes))
    if len(scopes) > 1:
        found = Found(
            code="cache-scope",
            subject="cacheScope",
            message="The pages of one list carry different cache scopes: a cache may keep half of it.",
            expected="the same cacheScope on every page",
            measured=listed([shown(scope, 40) for scope in scopes]),
        )
        return [found]
    if listing.refetched:
        return Verified("the first read failed or contradicted itself, so that a second one counts")
    if listing.pages > 1:
        return Verified(f"{count(len(listing.tools), 'tool')} on {_pages(listing.pages)}")
    return ()


def _late(listing: Listing, settings: Json) -> Fault | None:
    """The fault of a list that used up the whole probe's time; None where other requests did."""
    deadline = settings.get("deadline_s") if isinstance(settings, dict) else None
    fault, spent = listing.fault, sum(page.duration_s for page in listing.exchanges)
    if fault is None or fault.code != "deadline" or not isinstance(deadline, int | float):
        return None
    if spent < deadline / 2:
        return None
    unsent = f"its end did not come within {spent:.3g} s"
    return replace(fault, code="timeout", message=unsent if fault.phase == "send" else fault.message)


def _is_servers_fault(listing: Listing, fault: Fault, authorization: Authorization | Missing) -> bool:
    page = listing.exchanges[-1] if listing.exchanges else None
    if fault.code in _OURS or page is None:
        return False
    if fault.code != "http-status":
        # What is cut in its body may have been cut on the way, or be whole.
        return (fault.code, fault.phase) != ("reset", "body")
    if page.status in SHUT_STATUSES or is_bot_page(page):
        return False
    # A login page is said by auth/challenge.
    return page.status not in REDIRECTION or isinstance(authorization, Missing)


def _pages(number: int) -> str:
    return count(number, "page")
