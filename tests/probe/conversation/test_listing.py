from collections.abc import Callable
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.evidence import Exchange, Fault, Listing
from driftwatch.model import Json
from driftwatch.probe.conversation.listing import Page, read_list
from driftwatch.probe.wire.exchange import Limits
from tests.specimens.exchanges import error, exchange, result

Cursor: TypeAlias = str | None


class Server:
    """Answers the requests for pages, and remembers them."""

    def __init__(self, answer: Callable[[int, Cursor], Exchange]) -> None:
        self.answer = answer
        self.asked: list[Cursor] = []
        self.fresh: list[bool] = []
        self.waits = 0
        self.has_time = True

    async def page(self, page: Page) -> Exchange:
        self.asked.append(page.cursor)
        self.fresh.append(page.fresh)
        return self.answer(len(self.asked), page.cursor)

    async def wait(self, _: Exchange) -> bool:
        self.waits += 1
        return self.has_time

    async def read(self, limits: Limits | None = None, *, modern: bool = True) -> Listing:
        return await read_list(self.page, limits=limits or Limits(), wait=self.wait, modern=modern)


def scripted(*answers: Exchange) -> Server:
    return Server(lambda number, _: answers[number - 1])


def page(*names: str, cursor: Json = ..., **more: Json) -> Exchange:
    value = {"tools": [{"name": name} for name in names], **more}
    return result(value if cursor is ... else {**value, "nextCursor": cursor})


def fault(code: str) -> Exchange:
    return exchange(None, fault=Fault(code=code, phase="body", message=f"a {code}"))


async def test_one_page_without_a_cursor_is_the_whole_list() -> None:
    server = scripted(page("a", "b", ttlMs=300.0, cacheScope="public"))
    listing = await server.read()
    assert listing.complete
    assert [tool["name"] for tool in listing.tools] == ["a", "b"]
    assert (listing.pages, listing.cursors, listing.fault) == (1, (), None)
    assert (listing.cache_scopes, listing.ttl_ms, listing.refetched) == (("public",), 300, False)


async def test_a_second_read_for_which_no_time_was_left_says_nothing() -> None:
    listing = await scripted(fault("timeout"), fault("deadline")).read()
    assert listing.fault is not None
    assert (listing.fault.code, listing.refetched) == ("timeout", False)


async def test_an_empty_list_is_complete() -> None:
    listing = await scripted(page()).read()
    assert listing.complete
    assert listing.tools == ()


async def test_cursors_go_back_verbatim_the_empty_string_included_and_null_ends() -> None:
    server = scripted(page("a", cursor=""), page("b", cursor=" ü\n"), page("c", cursor=None))
    listing = await server.read()
    assert server.asked == [None, "", " ü\n"]
    assert listing.complete
    assert (listing.pages, listing.cursors) == (3, ("", " ü\n"))


async def test_a_cursor_that_repeats_ends_the_read_as_incomplete() -> None:
    server = Server(lambda number, _: page(f"tool-{number}", cursor="p2"))
    listing = await server.read()
    assert not listing.complete
    assert listing.fault is not None
    assert listing.fault.code == "repeated-cursor"
    assert "'p2'" in listing.fault.message
    assert len(server.asked) == 2


async def test_a_cursor_that_comes_round_again_later_ends_the_read_too() -> None:
    server = Server(lambda number, _: page(f"tool-{number}", cursor=f"p{number % 3}"))
    listing = await server.read()
    assert listing.fault is not None
    assert listing.fault.code == "repeated-cursor"
    assert len(server.asked) == 4


async def test_pages_without_end_stop_at_the_page_limit() -> None:
    server = Server(lambda number, _: page(f"tool-{number}", cursor=f"p{number}"))
    listing = await server.read(Limits(max_pages=7))
    assert listing.fault is not None
    assert (listing.fault.code, listing.pages, len(server.asked)) == ("page-limit", 7, 7)


async def test_a_list_of_exactly_the_page_limit_is_complete() -> None:
    server = Server(lambda number, _: page(f"t{number}", cursor=f"p{number}" if number < 7 else None))
    assert (await server.read(Limits(max_pages=7))).complete


async def test_more_tools_than_the_limit_are_not_read() -> None:
    names = [f"tool-{number}" for number in range(11)]
    listing = await scripted(page(*names)).read(Limits(max_tools=10))
    assert listing.fault is not None
    assert listing.fault.code == "tool-limit"
    assert (await scripted(page(*names[:10])).read(Limits(max_tools=10))).complete


async def test_the_size_limit_counts_all_pages_together() -> None:
    def big(number: int, _: Cursor) -> Exchange:
        return result({"tools": [{"name": f"t{number}"}], "nextCursor": f"p{number}"}, size=600)

    listing = await Server(big).read(Limits(max_body=1000))
    assert listing.fault is not None
    assert (listing.fault.code, listing.pages) == ("size-limit", 2)
    assert "1200 bytes" in listing.fault.message


@pytest.mark.parametrize("cursor", [2, 0, False, ["p2"], {}])
async def test_a_cursor_that_is_no_string_ends_the_read(cursor: Json) -> None:
    listing = await scripted(page("a", cursor=cursor)).read()
    assert listing.fault is not None
    assert listing.fault.code == "cursor-type"


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ([], "not-a-list"),
        ("tools", "not-a-list"),
        (None, "not-a-list"),
        ({}, "not-a-list"),
        ({"tools": None}, "not-a-list"),
        ({"tools": {"a": {}}}, "not-a-list"),
        ({"tools": [None]}, "not-a-tool"),
        ({"tools": [{"name": "a"}, {"description": "no name"}]}, "not-a-tool"),
        ({"tools": [{"name": 7}]}, "not-a-tool"),
        ({"tools": [], "resultType": "input_required"}, "page-error"),
    ],
)
async def test_a_page_of_another_shape_is_no_list(value: Json, code: str) -> None:
    listing = await Server(lambda _, __: result(value)).read()
    assert not listing.complete
    assert listing.fault is not None
    assert listing.fault.code == code


async def test_a_result_type_means_nothing_before_2026_07_28() -> None:
    assert (await scripted(page("a", resultType="something")).read(modern=False)).complete


async def test_a_page_that_fails_has_the_list_read_once_more_from_the_start() -> None:
    server = scripted(
        page("a", cursor="p2"), error(-32602, "cursor expired"), page("a", cursor="q2"), page("b")
    )
    listing = await server.read()
    assert server.asked == [None, "p2", None, "q2"]
    assert listing.complete
    assert listing.refetched
    assert [tool["name"] for tool in listing.tools] == ["a", "b"]
    assert len(listing.exchanges) == 2
    assert server.waits == 0


async def test_a_page_that_fails_twice_leaves_an_incomplete_list_that_says_which_page() -> None:
    def failing(_: int, cursor: Cursor) -> Exchange:
        return page("a", cursor="p2") if cursor is None else error(-32603, "boom", 200)

    listing = await Server(failing).read()
    assert listing.fault is not None
    assert (listing.fault.code, listing.pages, listing.complete) == ("page-error", 1, False)
    assert listing.fault.message == 'page 2 was answered with the error -32603 "boom"'


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ("boom", 'an error without an integer code: "boom"'),
        ({"code": "E1", "message": "boom"}, 'an error without an integer code: "boom"'),
        ({"code": "E1", "message": 5}, "an error without an integer code"),
        ({"code": -32603}, "the error -32603"),
    ],
)
async def test_an_error_that_is_none_of_json_rpc_is_named_as_what_it_is(broken: Json, words: str) -> None:
    answer = {"jsonrpc": "2.0", "id": 1, "error": broken}
    listing = await Server(lambda _number, _cursor: exchange(200, answer=answer)).read()
    assert listing.fault is not None
    assert listing.fault.message == f"page 1 was answered with {words}"


@pytest.mark.parametrize("first", [exchange(503), fault("reset"), fault("timeout")])
async def test_a_passing_fault_is_waited_for_and_read_again_on_a_fresh_connection(first: Exchange) -> None:
    server = scripted(first, page("a"))
    listing = await server.read()
    assert listing.complete
    assert (server.waits, server.fresh) == (1, [False, True])


async def test_without_time_for_another_read_the_first_one_stands() -> None:
    server = scripted(exchange(503))
    server.has_time = False
    listing = await server.read()
    assert listing.fault is not None
    assert (listing.fault.code, len(server.asked)) == ("http-status", 1)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (exchange(429), "rate-limited"),
        (exchange(401), "http-status"),
        (error(-32001, "unauthorized", 401), "http-status"),
        (error(-32001, "forbidden", 403), "http-status"),
        (error(-32001, "no such session", 404), "page-error"),
        (exchange(404), "http-status"),
        (fault("deadline"), "deadline"),
        (fault("too-large"), "too-large"),
        (exchange(200, fault=Fault(code="json", phase="message", message="not JSON")), "json"),
    ],
)
async def test_what_does_not_pass_is_asked_once(answer: Exchange, code: str) -> None:
    server = scripted(answer)
    listing = await server.read()
    assert listing.fault is not None
    assert (listing.fault.code, len(server.asked), server.waits) == (code, 1, 0)


async def test_a_name_on_two_pages_has_the_list_read_again() -> None:
    server = scripted(
        page("a", "b", cursor="p2"), page("b", "c"), page("a", "b", cursor="p2"), page("c", "d")
    )
    listing = await server.read()
    assert listing.complete
    assert listing.refetched
    assert [tool["name"] for tool in listing.tools] == ["a", "b", "c", "d"]


async def test_a_name_on_two_pages_of_both_reads_is_the_servers_list() -> None:
    def same(_: int, cursor: Cursor) -> Exchange:
        return page("a", cursor="p2") if cursor is None else page("a")

    listing = await Server(same).read()
    assert listing.complete
    assert [tool["name"] for tool in listing.tools] == ["a", "a"]


async def test_a_name_twice_on_one_page_is_no_reason_to_read_again() -> None:
    listing = await scripted(page("a", "a")).read()
    assert listing.complete
    assert not listing.refetched


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from("abc"), max_size=3), st.sampled_from(["p1", "p2", "", None, 5])),
        min_size=1,
        max_size=8,
    )
)
async def test_whatever_the_pages_say_the_read_ends_and_complete_means_the_servers_own_end(
    script: list[tuple[list[str], Json]],
) -> None:
    def answer(number: int, _: Cursor) -> Exchange:
        names, cursor = script[(number - 1) % len(script)]
        return page(*names, cursor=cursor)

    server = Server(answer)
    listing = await server.read(Limits(max_pages=5))
    assert len(server.asked) <= 10
    assert listing.complete is (listing.fault is None)
    if listing.complete:
        last = listing.exchanges[-1].result
        assert last["nextCursor"] is None


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_an_answer_without_a_message_is_named_by_its_status(status: int) -> None:
    empty = Fault(code="no-answer", phase="message", message="the body is empty")
    listing = await scripted(exchange(status, fault=empty)).read()
    assert listing.fault is not None
    assert listing.fault.message == f"HTTP {status}, but the body is empty"
