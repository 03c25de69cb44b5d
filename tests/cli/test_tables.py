import pytest

from driftwatch.cli.tables import NARROWEST, columns

ROWS = [
    ("2026-11-30 09:55:39Z", "error", "api-prod", "toolset changed - 1 tool renamed, 1 parameter dropped"),
    ("2026-11-30 09:50:00Z", "info", "docs", "back after 2 d"),
]


def test_without_a_width_a_row_is_a_line() -> None:
    assert columns(ROWS).splitlines() == [
        "2026-11-30 09:55:39Z  error  api-prod  toolset changed - 1 tool renamed, 1 parameter dropped",
        "2026-11-30 09:50:00Z  info   docs      back after 2 d",
    ]
    assert columns(ROWS, 200) == columns(ROWS)


def test_a_table_that_is_too_wide_is_folded_in_its_widest_column() -> None:
    assert columns(ROWS, 72).splitlines() == [
        "2026-11-30 09:55:39Z  error  api-prod  toolset changed - 1 tool renamed,",
        "                                       1 parameter dropped",
        "2026-11-30 09:50:00Z  info   docs      back after 2 d",
    ]


@pytest.mark.parametrize("width", [40, 60, 80, 100])
def test_several_wide_columns_give_way_together_and_nothing_is_lost(width: int) -> None:
    rows = [("a" * 10, "a word " * 20, "another " * 30), ("", "", "x" * 90)]
    table = columns(rows, width)
    assert max(map(len, table.splitlines())) <= width
    assert (table.count("word"), table.count("another"), table.count("x")) == (20, 30, 90)


def test_no_column_is_folded_to_nothing() -> None:
    rows = [("a word " * 9, "another " * 9)]
    assert max(map(len, columns(rows, 10).splitlines())) <= 2 * NARROWEST + 2


def test_no_rows_are_no_text() -> None:
    assert columns([], 80) == ""
