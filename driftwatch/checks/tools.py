"""The tool list as a whole: can it be read to its end."""

from driftwatch.checks.base import Found, NotChecked, Verdict, Verified, check, listed, shown
from driftwatch.checks.sources import item
from driftwatch.checks.transport import SHUT_STATUSES
from driftwatch.evidence import Fault, Listing
from driftwatch.model import Severity

_SERVERS_FAULT = frozenset(
    {
        *{"repeated-cursor", "page-limit", "page-error", "cursor-type", "not-a-list", "not-a-tool"},
        *{"tool-limit", "size-limit", "too-large"},
        *{"encoding", "json", "utf-8", "depth", "envelope", "no-answer"},
    }
)
"""What the server itself did, as against what merely kept this probe from reading on.

A limit that is hit counts: no client reads such a list to its end either.
"""

CLIENT_ERROR = range(400, 500)


@check(
    id="tools/pagination",
    title="The tool list cannot be read to its end",
    severity=Severity.WILL_BREAK,
    sources=(item(7),),
    root=True,
)
def pagination(listing: Listing) -> Verdict:
    """Following `nextCursor` from page to page until the server says that there is no more.

    A cursor that is null or absent ends the list; every other one, the empty string included, is sent back as
    it came.

    Why it matters:
        The server chooses the size of its pages. A cursor that comes round again keeps a client asking for
        ever, a page that fails loses the tools behind it, and in both cases the agent works with a list that
        looks complete and is not.

    How to fix it:
        Leave `nextCursor` out on the last page, give every page a new cursor, and make a cursor work on every
        instance behind the load balancer.
    """
    if listing.complete:
        return _complete(listing)
    fault = listing.fault
    if fault is None:
        return NotChecked("the tool list was not read to its end", "incomplete")
    if not _is_servers_fault(listing, fault):
        return NotChecked(f"the tool list could not be read to its end: {fault.message}", fault.code)
    found = Found(
        code=fault.code,
        subject="tools/list",
        message=f"The list breaks off after {_pages(listing.pages)}: {fault.message}.",
        expected="a last page without nextCursor",
        measured=fault.message,
    )
    return [found]


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
        return Verified("the first read contradicted itself; a second one agreed")
    if listing.pages > 1:
        return Verified(f"{len(listing.tools)} tools on {_pages(listing.pages)}")
    return ()


def _is_servers_fault(listing: Listing, fault: Fault) -> bool:
    if fault.code != "http-status":
        return fault.code in _SERVERS_FAULT
    status = listing.exchanges[-1].status if listing.exchanges else None
    return status in CLIENT_ERROR and status not in SHUT_STATUSES


def _pages(number: int) -> str:
    return "1 page" if number == 1 else f"{number} pages"
