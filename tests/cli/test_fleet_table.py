"""``status`` without a name, in terminals of any width and in a pipe."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from driftwatch.cli.fleet import HEADING, NAME_ROOM, row, to_text
from driftwatch.store.ports import ServerOverview
from driftwatch.store.sqlite import SqliteStore
from tests.web.scene import NOW, build

LONG = "payments-and-everything-around-it-in-production"


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Sequence[ServerOverview]:
    store = SqliteStore(tmp_path_factory.mktemp("fleet") / "driftwatch.db", clock=lambda: NOW)
    store.migrate()
    build(store)
    with store.read() as reader:
        found = reader.overview()
    store.close()
    return found


def named(item: ServerOverview, name: str) -> ServerOverview:
    return replace(item, record=replace(item.record, name=name))


def widest(table: str) -> int:
    return max(map(len, table.splitlines()))


def test_a_pipe_gets_every_column_in_one_line_for_each_server(fleet: Sequence[ServerOverview]) -> None:
    heading, *lines = to_text(fleet, NOW, width=None).splitlines()
    assert [heading.find(name) for name in HEADING] == sorted(heading.find(name) for name in HEADING)
    assert [line.split()[0] for line in lines] == [item.record.name for item in fleet]
    assert to_text(fleet, NOW, width=140) == to_text(fleet, NOW, width=None)


@pytest.mark.parametrize("width", [75, 80, 100, 140])
def test_every_server_has_a_line_that_fits_the_terminal(fleet: Sequence[ServerOverview], width: int) -> None:
    table = to_text(fleet, NOW, width=width)
    assert widest(table) <= width
    for item in fleet:
        (line,) = [line for line in table.splitlines() if line.startswith(f"{item.record.name} ")]
        assert line.split()[1:5] == list(row(item, NOW)[1:5])


def test_fingerprints_are_left_out_before_the_next_probe_is(fleet: Sequence[ServerOverview]) -> None:
    assert "dw1:" in to_text(fleet, NOW, width=120)
    assert "dw1:" not in to_text(fleet, NOW, width=100)
    assert "in 7 min" in to_text(fleet, NOW, width=100)
    assert "in 7 min" not in to_text(fleet, NOW, width=75)


def test_a_late_probe_is_told_at_every_width(fleet: Sequence[ServerOverview]) -> None:
    after = NOW + timedelta(hours=2)
    for width in (75, 100, 140, None):
        assert " late" in to_text(fleet, after, width=width), width


def test_a_long_name_is_folded_and_not_cut(fleet: Sequence[ServerOverview]) -> None:
    for width in (20, 80):
        table = to_text([named(fleet[0], LONG), *fleet[1:]], NOW, width=width)
        parts = [line.split("  ")[0] for line in table.splitlines()[2:]]
        assert "".join(parts).startswith(LONG)
        assert max(map(len, parts)) <= max(NAME_ROOM, width - 40)


def test_a_probe_that_the_servers_own_pause_delays_is_not_late(fleet: Sequence[ServerOverview]) -> None:
    item = fleet[0]
    now = item.record.next_due_at + timedelta(minutes=3)
    paused = replace(item, record=replace(item.record, not_before=now + timedelta(seconds=40)))
    assert [row(each, now)[-2] for each in (item, paused)] == ["3 min late", "in 40 s"]


def test_status_says_by_how_much_a_probe_is_late(fleet: Sequence[ServerOverview]) -> None:
    item = fleet[0]
    due = item.record.next_due_at
    assert [row(item, due + timedelta(minutes=late))[-2] for late in (-3, 0, 1, 120)] == [
        "in 3 min",
        "now",
        "now",
        "2 h late",
    ]
