"""What a server shows in one era."""

from dataclasses import dataclass

from driftwatch.evidence.bot_page import is_bot_page
from driftwatch.evidence.exchange import NEEDS_FULL, Exchange, Fault, Missing
from driftwatch.model import Era, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One read of ``tools/list``, or of another list, followed to its end or to a limit."""

    tools: tuple[Json, ...]
    """The entries as received and decoded, in order, over all pages."""
    pages: int
    complete: bool
    """True only for an end that the server itself named, with every page well-formed."""
    fault: Fault | None
    """Why it is not complete: repeated-cursor, page-limit, tool-limit, size-limit, page-error, cursor-type,
    not-a-list, not-a-tool, http-status, rate-limited, deadline, or a Fault of an exchange."""
    exchanges: tuple[Exchange, ...]
    """One per page."""
    cursors: tuple[str, ...]
    cache_scopes: tuple[str, ...]
    """The ``cacheScope`` of each page that had one."""
    ttl_ms: int | None
    refetched: bool = False
    """True when the list was read a second time because the first read failed or contradicted itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FurtherList:
    """A list beside the tools that the configuration asks to be watched."""

    kind: str
    """prompts, resources or templates (of resources)."""
    listing: Listing | Missing
    """Its entries stand where those of ``tools/list`` do; Missing where the server offers no such list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Streaming:
    """An event stream that was opened to see when its first event comes through."""

    status: int | None
    media_type: str | None
    accel_buffering: str | None
    """The ``X-Accel-Buffering`` header; ``no`` asks a proxy to pass every event on at once."""
    headers_s: float | None
    """From sending the request to the status line."""
    first_event_s: float | None
    """From sending the request to the first event with data; None when none came in time."""
    first_message: str | None
    """The JSON-RPC method of that event, or ``response`` or ``error <code>``."""
    waited_s: float
    """How long the first event was waited for, at the most."""
    fault: Fault | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """What the server shows in one era."""

    era: Era
    revision: str
    """The negotiated revision, verbatim."""
    opening: Exchange
    """The answered server/discover or initialize."""
    server_info: Json
    capabilities: Json
    instructions: str | None
    supported_versions: tuple[str, ...]
    """What discover lists; empty for the other eras."""
    session: bool
    """True when the server issued a session id (never recorded)."""
    session_ended: Exchange | None
    """The DELETE, where a session was issued."""
    acknowledgement: Exchange | None
    """The reply to notifications/initialized."""
    listing: Listing | Missing
    session_visible: bool = True
    """False when the session id has other characters than visible ASCII."""
    further: tuple[FurtherList, ...] = ()
    """The other lists that are watched."""
    # From here on, what only a full probe asks; each request is sent once.
    get: Exchange | Missing = NEEDS_FULL
    """A GET for an event stream, with the headers of the era and the session; the body is not read."""
    json_only: Exchange | Missing = NEEDS_FULL
    """The era's first request with ``Accept: application/json``."""
    foreign_origin: Exchange | Missing = NEEDS_FULL
    """The era's first request with the Origin of a website that the server cannot know."""
    unknown_method: Exchange | Missing = NEEDS_FULL
    invalid_cursor: Exchange | Missing = NEEDS_FULL
    """``tools/list`` with a cursor that the server did not issue; asked only where it issues some."""
    header_mismatch: Exchange | Missing = NEEDS_FULL
    """server/discover under a ``Mcp-Method`` header that names tools/list; modern era only."""
    unsupported_version: Exchange | Missing = NEEDS_FULL
    """server/discover at a revision of the far future; modern era only."""
    tool_arguments: Exchange | Missing = NEEDS_FULL
    """A call of the one tool that the configuration names, with the arguments that it calls wrong."""
    session_after_end: Exchange | Missing = NEEDS_FULL
    """``tools/list`` within the session that was ended; eras with sessions only."""
    subscription: Streaming | Missing = NEEDS_FULL
    """``subscriptions/listen``; asked only where the modern era declares ``tools.listChanged``."""
    second_read: tuple[Json, ...] | Missing = NEEDS_FULL
    """The complete tool list, read once more on the same connection."""

    @property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Every exchange that asks for an answer and got the server's own word, in the order made."""
        pages = () if isinstance(self.listing, Missing) else self.listing.exchanges
        return tuple(each for each in (self.opening, *pages) if not is_bot_page(each))

    @property
    def answers(self) -> tuple[Exchange, ...]:
        """What ``exchanges`` has, and the same of the other lists that are watched."""
        lists = [each.listing for each in self.further if isinstance(each.listing, Listing)]
        pages = (page for listing in lists for page in listing.exchanges)
        return (*self.exchanges, *(page for page in pages if not is_bot_page(page)))

    @property
    def heard(self) -> tuple[Exchange, ...]:
        """Every exchange with the server itself: ``answers``, and what only a full probe asks."""
        asked = (
            self.acknowledgement,
            *(self.get, self.json_only, self.foreign_origin, self.unknown_method, self.invalid_cursor),
            *(self.header_mismatch, self.unsupported_version, self.tool_arguments),
            *(self.session_ended, self.session_after_end),
        )
        others = tuple(each for each in asked if isinstance(each, Exchange) and not is_bot_page(each))
        return (*self.answers, *others)

    @property
    def tools(self) -> "tuple[Json, ...] | Missing":
        """The complete tool list, or why there is none. Partial lists are never handed out."""
        if isinstance(self.listing, Missing):
            return self.listing
        if self.listing.complete:
            return self.listing.tools
        fault = self.listing.fault
        what = fault.message if fault else "it did not end"
        return Missing(f"the tool list is incomplete: {what}", "incomplete-list", "tools/pagination")

    @property
    def further_lists(self) -> "tuple[tuple[str, tuple[Json, ...]], ...] | Missing":
        """Kind and entries of every other list that is watched, or which of them was not read to its end."""
        found = []
        for each in self.further:
            if isinstance(each.listing, Missing):
                continue
            if not each.listing.complete:
                fault = each.listing.fault
                what = fault.message if fault else "it did not end"
                return Missing(f"the list of {each.kind} is incomplete: {what}", "incomplete-list")
            found.append((each.kind, each.listing.tools))
        return tuple(found)
