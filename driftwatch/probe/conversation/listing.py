"""``tools/list``, or another list, read to its end, with a guard for whatever makes it endless or untrue."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

from driftwatch.evidence import Exchange, Fault, Listing
from driftwatch.model import Json, integer
from driftwatch.probe.conversation import eras, outcome
from driftwatch.probe.wire.request import Limits, Request


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """One page to be asked for."""

    cursor: str | None = None
    """The server's, verbatim; None for the first page."""
    again: bool = False
    """Whether the list is read once more."""
    fresh: bool = False
    """Whether to ask on a new connection."""

    @property
    def params(self) -> dict[str, Json]:
        """What a request for it says."""
        return {} if self.cursor is None else {"cursor": self.cursor}

    @property
    def extra(self) -> bool:
        """Whether it comes on top of a probe's budget."""
        return self.again or self.cursor is not None

    def asked(self, request: Request) -> Request:
        """The request for it, on top of a probe's budget where it is."""
        return replace(request, extra=True) if self.extra else request


Ask = Callable[[Page], Awaitable[Exchange]]
"""Requests one page."""

Wait = Callable[[Exchange], Awaitable[bool]]
"""Pauses before a page that failed for a moment is asked for again; False when there is no time for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One of the lists that a server may offer."""

    method: str
    member: str
    """Where the entries stand in a result."""
    noun: str
    key: str
    """The member that names an entry."""
    code: str
    """Of the fault that an entry is none."""


TOOLS = Kind(method="tools/list", member="tools", noun="tool", key="name", code="not-a-tool")

_QUOTED = 160
_FLEETING = frozenset({"page-error", "http-status", "reset", "timeout"})
_LASTING = frozenset({401, 403, 404, 429})
"""Authorization, and a session or method that is gone, do not come back within a second."""


async def read_list(ask: Ask, *, limits: Limits, wait: Wait, modern: bool, kind: Kind = TOOLS) -> Listing:
    """Every tool of a server, or every entry of another list.

    Never raises for a server's fault: an incomplete list says why.

    When a page failed, or a name stands on two pages, the list may have changed under the read: it is read
    once more from the start, and the second read is the one that counts.
    """
    first = await _read(ask, limits, kind, Page(), modern=modern)
    if first.fault is None:
        again = _repeats_across_pages(first, kind)
    else:
        again = _is_worth_another_read(first, first.fault)
    last = first.exchanges[-1]
    transient = again and outcome.is_transient(last)
    if not again or (transient and not await wait(last)):
        return first.listing()
    second = await _read(ask, limits, kind, Page(again=True, fresh=transient), modern=modern)
    if first.fault is not None and second.fault is not None and second.fault.code == "deadline":
        return first.listing()  # there was no time for it: it says nothing
    return second.listing(refetched=True)


@dataclass(slots=True)
class _Reading:
    """One read of the list, page by page."""

    pages: list[list[Json]] = field(default_factory=list)
    exchanges: list[Exchange] = field(default_factory=list)
    cursors: list[str] = field(default_factory=list)
    cache_scopes: list[str] = field(default_factory=list)
    ttls: list[int] = field(default_factory=list)
    fault: Fault | None = None

    def listing(self, *, refetched: bool = False) -> Listing:
        return Listing(
            tools=tuple(tool for page in self.pages for tool in page),
            pages=len(self.pages),
            complete=self.fault is None,
            fault=self.fault,
            exchanges=tuple(self.exchanges),
            cursors=tuple(self.cursors),
            cache_scopes=tuple(self.cache_scopes),
            ttl_ms=max(self.ttls, default=None),
            refetched=refetched,
        )


async def _read(ask: Ask, limits: Limits, kind: Kind, page: Page, *, modern: bool) -> _Reading:
    reading = _Reading()
    while True:
        exchange = await ask(page)
        reading.exchanges.append(exchange)
        number = len(reading.exchanges)
        reading.fault = _page_fault(exchange, number, kind, modern=modern)
        if reading.fault is not None:
            return reading
        result = exchange.result
        reading.pages.append(result[kind.member])
        _note_caching(reading, result)
        following = result.get("nextCursor")
        if following is not None and not isinstance(following, str):
            what = f"page {number} has a nextCursor that is {_type(following)}, not a string"
            reading.fault = _fault("cursor-type", what)
        else:
            reading.fault = _limit(reading, following, limits, kind)
        if following is None or reading.fault is not None:
            return reading
        page = Page(cursor=following, again=page.again)
        reading.cursors.append(following)


def _page_fault(exchange: Exchange, number: int, kind: Kind, *, modern: bool) -> Fault | None:
    """Why this page cannot be used."""
    refusal = outcome.blocked(exchange)
    if refusal is not None and (exchange.fault is None or refusal.code == "bot-page"):
        code = "rate-limited" if refusal.code == "rate-limited" else "http-status"
        return _fault(code, f"page {number}: {refusal.message}")
    if exchange.error is not None:
        return _fault("page-error", f"page {number} was answered with {eras.error_words(exchange)}")
    if exchange.status is not None and not eras.ok(exchange):
        return _fault("http-status", f"page {number}: HTTP {exchange.status}")
    if exchange.fault is not None:
        return _with_status(exchange, exchange.fault)
    return _shape_fault(exchange.result, number, kind, modern=modern)


def _with_status(exchange: Exchange, fault: Fault) -> Fault:
    """The fault; of an answer without a message its status says most, such as 202 or 204."""
    if exchange.status is None or fault.code != "no-answer":
        return fault
    return replace(fault, message=f"HTTP {exchange.status}, but {fault.message}")


def _shape_fault(result: Json, number: int, kind: Kind, *, modern: bool) -> Fault | None:
    if not isinstance(result, dict):
        return _fault("not-a-list", f"the result of page {number} is {_type(result)}, not an object")
    mark = result.get("resultType", "complete")
    if modern and mark != "complete":
        return _fault(
            "page-error", f"page {number} has the resultType {str(mark)[:_QUOTED]!r}, not 'complete'"
        )
    if kind.member not in result:
        return _fault("not-a-list", f"page {number} has no {kind.member}")
    entries = result[kind.member]
    if not isinstance(entries, list):
        what = f"the {kind.member} of page {number} are {_type(entries)}, not an array"
        return _fault("not-a-list", what)
    for index, entry in enumerate(entries):
        if not isinstance(entry, dict):
            what = f"{kind.noun} {index} of page {number} is {_type(entry)}, not an object"
            return _fault(kind.code, what)
        if not isinstance(entry.get(kind.key), str):
            return _fault(
                kind.code, f"{kind.noun} {index} of page {number} has no {kind.key} that is a string"
            )
    return None


def _limit(reading: _Reading, following: str | None, limits: Limits, kind: Kind) -> Fault | None:
    entries = sum(map(len, reading.pages))
    if entries > limits.max_tools:
        return _fault("tool-limit", f"more than {limits.max_tools} {kind.noun}s")
    size = sum(exchange.size for exchange in reading.exchanges)
    if size > limits.max_body:
        return _fault(
            "size-limit", f"{size} bytes after {len(reading.pages)} pages, the limit is {limits.max_body}"
        )
    if following is None:
        return None
    if following in reading.cursors:
        what = f"page {len(reading.pages)} names the cursor {following[:_QUOTED]!r} again"
        return _fault("repeated-cursor", what)
    if len(reading.pages) >= limits.max_pages:
        return _fault("page-limit", f"no end after {limits.max_pages} pages")
    return None


def _note_caching(reading: _Reading, result: dict[str, Json]) -> None:
    scope, ttl = result.get("cacheScope"), integer(result.get("ttlMs"))
    if isinstance(scope, str):
        reading.cache_scopes.append(scope)
    if ttl is not None:
        reading.ttls.append(ttl)


def _is_worth_another_read(reading: _Reading, fault: Fault) -> bool:
    return fault.code in _FLEETING and reading.exchanges[-1].status not in _LASTING


def _repeats_across_pages(reading: _Reading, kind: Kind) -> bool:
    seen: set[str] = set()
    for page in reading.pages:
        names = {entry[kind.key] for entry in page}
        if names & seen:
            return True
        seen |= names
    return False


def _type(value: Json) -> str:
    kinds = {type(None): "null", bool: "a boolean", str: "a string", list: "an array", dict: "an object"}
    return kinds.get(type(value), "a number")


def _fault(code: str, message: str) -> Fault:
    return Fault(code=code, phase="message", message=message)
