"""Faults of the tool list's pages and cursors."""

import itertools
from collections.abc import Callable
from dataclasses import replace

from driftwatch.model import Era
from driftwatch.probe import Limits
from tests.servers.raw import STALL
from tests.specimens.answering import answers, asks, error, when
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import TOOLS, Json, Mcp, refusal, tool
from tests.specimens.specimen import FAILED, NOT_CHECKED, VERIFIED, Specimen

INCOMPLETE = "incomplete-list"
_OUT_OF_TIME = (
    *("network/addresses", "transport/get", "transport/accept-json-only", "transport/origin"),
    *("errors/unknown-method", "release/replicas"),
)
"""What a probe of which no time is left comes to no more."""
CURSORS = {"tools/invalid-cursor": VERIFIED}
"""Where some are issued, and a made-up one is refused."""


def _broken(
    name: str, deviation: str, make: Callable[[], Mcp], code: str, *, cursors: bool = False
) -> Specimen:
    """A list that cannot be read to its end; whatever needs it is not checked."""
    return Specimen(
        name=name,
        deviation=deviation,
        make=make,
        expect={"tools/pagination": (FAILED, code), **(CURSORS if cursors else {})},
        blocked=INCOMPLETE,
    )


def _pages(page: Callable[[Json], Json]) -> Callable[[], Mcp]:
    return lambda: Mcp(pages=page)


def _endless() -> Callable[[], Mcp]:
    def make() -> Mcp:
        numbers = itertools.count()
        return Mcp(
            pages=lambda _: {"tools": [tool(f"t{(number := next(numbers))}")], "nextCursor": f"c{number}"}
        )

    return make


def _many(number: int) -> Callable[[], Mcp]:
    return lambda: Mcp(tools=tuple(tool(f"tool_{place}") for place in range(number)))


def _second_page_fails(_: Mcp, incoming: Incoming) -> Answer | None:
    failing = incoming.rpc.get("params", {}).get("cursor") == "1"
    return refusal(incoming.rpc, -32603, "page two is gone", status=200) if failing else None


def _refuses_list(status: int) -> Callable[[], Mcp]:
    return when(asks("tools/list"), error(-32001, status))


def _empty_string_cursor(cursor: Json) -> Json:
    if cursor is None:
        return {"tools": [tool("one")], "nextCursor": ""}
    return {"tools": [tool("two")]}


class _MovesOnce:
    """The list shifts between the first page and the second, in the first read of each era only."""

    def __init__(self) -> None:
        self.reads = 0

    def __call__(self, cursor: Json) -> Json:
        if cursor is None:
            self.reads += 1
            return {"tools": [tool("one"), tool("two")], "nextCursor": "p2"}
        return {"tools": [tool("two") if self.reads % 2 else tool("three")]}


LISTS = (
    _broken(
        "cursor-repeats",
        "the same page and the same cursor for ever",
        _pages(lambda _: {"tools": list(TOOLS), "nextCursor": "p2"}),
        "repeated-cursor",
        cursors=True,
    ),
    _broken("pages-endless", "every page has another one behind it", _endless(), "page-limit", cursors=True),
    _broken(
        "cursor-numeric",
        "the cursor is a number",
        _pages(lambda _: {"tools": list(TOOLS), "nextCursor": 2}),
        "cursor-type",
    ),
    _broken(
        "page-two-fails",
        "the second page is an error, each time",
        lambda: Mcp(page_size=1, before=_second_page_fails),
        "page-error",
        cursors=True,
    ),
    _broken("tools-null", "tools is null", _pages(lambda _: {"tools": None}), "not-a-list"),
    _broken("tools-missing", "the result has no tools", _pages(lambda _: {}), "not-a-list"),
    _broken(
        "tools-object",
        "tools is an object",
        _pages(lambda _: {"tools": {"add_note": TOOLS[0]}}),
        "not-a-list",
    ),
    _broken(
        "result-array",
        "the result is the array of tools itself",
        lambda: Mcp(result=lambda method, _, result: result["tools"] if method == "tools/list" else result),
        "not-a-list",
    ),
    _broken("tool-null", "one tool is null", _pages(lambda _: {"tools": [*TOOLS, None]}), "not-a-tool"),
    Specimen(
        name="list-401",
        deviation="only the list asks for credentials, with a JSON-RPC error",
        make=_refuses_list(401),
        expect={
            "tools/pagination": (NOT_CHECKED, "http-status"),
            "session/ended": (NOT_CHECKED, "auth"),
            "auth/challenge": (FAILED, "absent"),
            "auth/resource-metadata": (FAILED, "nowhere"),
            "auth/invalid-token": VERIFIED,
        },
        blocked=INCOMPLETE,
    ),
    Specimen(
        name="list-429",
        deviation="the list is asked for too often",
        make=_refuses_list(429),
        expect={
            "tools/pagination": (NOT_CHECKED, "rate-limited"),
            "session/ended": (NOT_CHECKED, "rate-limited"),
        },
        blocked=INCOMPLETE,
    ),
    Specimen(
        name="list-cut",
        deviation="the connection is closed without a word whenever the list is asked for",
        make=answers("tools/list", Answer(cut=True)),
        expect={
            "tools/pagination": (FAILED, "reset"),
            "session/ended": (NOT_CHECKED, "reset"),
        },
        blocked=INCOMPLETE,
    ),
    Specimen(
        name="list-hangs",
        deviation="the list never comes",
        make=lambda: replace(answers("tools/list", Answer(script=(STALL,)))(), modern=False),
        eras=(Era.LEGACY,),
        expect={
            "tools/pagination": (FAILED, "timeout"),
            "session/ended": (NOT_CHECKED, "timeout"),
        },
        blocked=INCOMPLETE,
        target={"limits": Limits(timeout_s=2)},
    ),
    Specimen(
        name="list-hangs-beyond-the-deadline",
        deviation="the list never comes, and the probe's own time ends first",
        make=lambda: replace(answers("tools/list", Answer(script=(STALL,)))(), modern=False),
        eras=(Era.LEGACY,),
        expect={
            "tools/pagination": (FAILED, "timeout"),
            "session/ended": (NOT_CHECKED, "deadline"),
            **dict.fromkeys(_OUT_OF_TIME, (NOT_CHECKED, "deadline")),
        },
        blocked=INCOMPLETE,
        target={"limits": Limits(deadline_s=5)},
    ),
    Specimen(
        name="list-503",
        deviation="503 to the list alone",
        make=_refuses_list(503),
        expect={
            "tools/pagination": (FAILED, "http-status"),
            "session/ended": (NOT_CHECKED, "http-5xx"),
        },
        blocked=INCOMPLETE,
    ),
    Specimen(
        name="list-too-big",
        deviation="a list larger than 4 MiB",
        make=lambda: Mcp(tools=(tool("big", _meta={"filler": "x" * 5 * 2**20}),)),
        expect={"tools/pagination": (FAILED, "too-large")},
        blocked=INCOMPLETE,
    ),
    Specimen(name="tools-5000", deviation="5,000 tools", make=_many(5000)),
    _broken("tools-5001", "one more tool than a probe reads", _many(5001), "tool-limit"),
    Specimen(
        name="cursor-empty-string",
        deviation="the empty string is a cursor, null is the end",
        make=_pages(_empty_string_cursor),
        expect=CURSORS,
    ),
    Specimen(
        name="list-moves-once",
        deviation="a tool stands on both pages of the first read",
        make=lambda: Mcp(pages=_MovesOnce()),
        expect=CURSORS,
    ),
)
