"""How ``status`` shows the fleet: a line for each server, as much of it as the terminal has room for."""

import textwrap
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from driftwatch.alerts.wording.subjects import short_pair
from driftwatch.cli.tables import ago, columns, due
from driftwatch.model import State
from driftwatch.store.ports import ServerOverview

HEADING = ("server", *(state.words for state in State), "certificate", "last probe", "next", "fingerprint")
"""The columns of a row."""

NAME_ROOM = 12
"""Columns that a server's name has at least, however narrow the terminal is."""


def to_text(items: Iterable[ServerOverview], now: datetime, *, width: int | None) -> str:
    """The fleet as a table; without a width, as for a pipe, everything in one line for each server.

    Where a terminal is too narrow for all of it, the fingerprints are left out first (``status NAME`` has
    them), then when the next probe is due, unless it is late; names are folded at last.
    """
    rows = [row(item, now) for item in items]
    table = columns([HEADING, *rows])
    if width is None or _fits(table, width):
        return table
    heading, rows = HEADING[:-1], [each[:-1] for each in rows]
    table = columns([*_stacked(heading), *rows])
    if _fits(table, width):
        return table
    rows = [(*each[:-2], f"{each[-2]}, late" if each[-1].endswith(" late") else each[-2]) for each in rows]
    beside = columns([each[1:] for each in (*_stacked(heading[:-1]), *rows)])
    room = max(NAME_ROOM, width - _width(beside) - 2)
    return columns([*_stacked(heading[:-1]), *(line for each in rows for line in _folded(each, room))])


def row(item: ServerOverview, now: datetime) -> tuple[str, ...]:
    """One server: its states by number, certificate, when it was and will be probed, and fingerprint."""
    run = item.last_run
    pairs = {short_pair(state.confirmed) for state in item.toolsets}
    return (
        item.record.name,
        *(str(item.counts[state]) if run else "-" for state in State),
        f"{item.certificate.days_left(now)} days" if item.certificate else "-",
        ago(now - run.taken_at) if run else "never",
        due(item.record.probe_at, now),
        " ".join(sorted(pairs)) or "-",
    )


def _stacked(heading: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """A heading in two lines, a word in each."""
    words = [name.rpartition(" ") for name in heading]
    yield tuple(first for first, _, _ in words)
    yield tuple(last for _, _, last in words)


def _folded(cells: tuple[str, ...], room: int) -> Iterator[tuple[str, ...]]:
    """A row whose name goes on in lines of its own where it is longer than its column."""
    first, *more = textwrap.wrap(cells[0], room)
    yield (first, *cells[1:])
    yield from ((part, *[""] * len(cells[1:])) for part in more)


def _fits(table: str, width: int) -> bool:
    return _width(table) <= width


def _width(table: str) -> int:
    return max(map(len, table.splitlines()))
