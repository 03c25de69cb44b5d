from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from driftwatch.store.ports import StateInterval
from driftwatch.web.pages.timeline import LANES, THINNEST, WIDTH, timeline

END = datetime(2026, 11, 30, tzinfo=UTC)
START = END - timedelta(days=10)
DAY = timedelta(days=1)


def stretch(subject: str, value: str, since: datetime, until: datetime | None = None) -> StateInterval:
    return StateInterval(id=1, subject=subject, value=value, since=since, until=until, event=None)


def drawn(*intervals: StateInterval) -> list[tuple[str, list[tuple[float, float, str]]]]:
    found = timeline(intervals, (), start=START, end=END)
    return [
        (lane.subject, [(each.x, each.width, each.kind) for each in lane.stretches]) for lane in found.lanes
    ]


def test_stretches_lie_where_they_were_in_time() -> None:
    lanes = drawn(
        stretch("check:a/b", "verified", START - DAY, START + 5 * DAY),
        stretch("check:a/b", "failed:dns", START + 5 * DAY, START + 6 * DAY),
        stretch("check:a/b", "verified", START + 6 * DAY),
    )
    assert lanes == [
        ("check:a/b", [(0, 500, "verified"), (500, 100, "failed"), (600, 400, "verified")]),
    ]


def test_tool_lists_come_first_then_the_worst_and_what_was_steady_is_counted() -> None:
    intervals = [
        stretch("check:z/risk", "observed_risk:a", START - DAY),
        stretch("check:a/fine", "verified", START - DAY),
        stretch("check:b/unseen", "not_checked:auth", START - DAY),
        stretch("check:y/failed", "failed:dns", START - DAY),
        stretch("toolset:modern:token", "dw1:a.b", START - DAY, START + DAY),
        stretch("toolset:modern:token", "dw1:c.d", START + DAY),
        stretch("eras", "modern", START - DAY),
    ]
    found = timeline(intervals, [(START + DAY, "v2"), (START - DAY, "v1")], start=START, end=END)
    assert [lane.subject for lane in found.lanes] == [
        "toolset:modern:token",
        "check:y/failed",
        "check:z/risk",
    ]
    assert [each.kind for each in found.lanes[0].stretches] == ["list-0", "list-1"]
    assert (found.steady, found.more) == (2, 0)
    assert [(mark.x, mark.label) for mark in found.deploys] == [(100, "v2")]


def test_more_than_can_be_read_is_not_drawn_and_said() -> None:
    many = [stretch(f"check:a/{number}", "failed:dns", START) for number in range(LANES + 3)]
    found = timeline(many, (), start=START, end=END)
    assert (len(found.lanes), found.more) == (LANES, 3)


@given(st.lists(st.tuples(st.integers(-30, 30), st.integers(0, 30)), min_size=1, max_size=20))
def test_whatever_happened_is_drawn_within_the_picture(spans: list[tuple[int, int]]) -> None:
    intervals = [
        stretch("check:a/b", "failed:dns", START + after * DAY, START + (after + length) * DAY)
        for after, length in spans
    ]
    for _, stretches in drawn(*intervals):
        for x, width, _ in stretches:
            assert 0 <= x <= WIDTH - THINNEST
            assert width >= THINNEST
            assert x + width <= WIDTH
