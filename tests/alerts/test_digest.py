"""A backlog in one message: whatever else has to go, the names of what changed stay."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from driftwatch.alerts import digest
from driftwatch.alerts.compose import TEXT_LIMIT, compose
from driftwatch.alerts.digest import Told
from driftwatch.alerts.route import ChannelRule
from driftwatch.alerts.text import LINE_LIMIT
from driftwatch.alerts.wording import Named
from driftwatch.model import EventKind, Level
from tests.alerts.told import Message, change, drift

CHANNEL = ChannelRule(name="ops")


def added(event: Any, server: str, number: int) -> Any:
    text = f'tool "add_{number}_x" added (1 parameter, 1 required)'
    one = change("tool-added", "compatible", text, tool=f"add_{number}_x")
    return drift(lambda *given, **more: event(*given, server=server, **more), one)


def test_a_backlog_of_three_servers(event: Any, message: Message) -> None:
    changes = [added(event, f"s{number % 3}", number) for number in range(30)]
    failures = [event(EventKind.CHANGE, server="s1", subject="check:tls/chain", after="failed:wrong-host")]
    told = message(*changes, *failures)
    (names, check, *others) = [line for line in told.splitlines() if line.startswith("- ")]
    assert check == (
        '- s1: toolset changed - 10 tools added: "add_1_x", "add_4_x", "add_7_x", "add_10_x", "add_13_x", '
        '"add_16_x", "add_19_x", "add_22_x", "add_25_x", "add_28_x"'
    )
    assert names == "- s1: tls/chain failed"
    assert len(others) == 2
    assert all(f'"add_{number}_x"' in told for number in range(30))


def test_every_server_keeps_a_line_as_long_as_there_is_room(event: Any) -> None:
    changes = [added(event, f"s{number % 4}", number) for number in range(400)]
    told = compose(changes, CHANNEL).body
    assert len(told) <= TEXT_LIMIT
    for server in range(4):
        assert f"- s{server}: toolset changed - 100 tools added" in told
    assert "more\n\nMore: driftwatch status" in told


def test_what_happened_to_one_subject_again_and_again_is_told_once(event: Any) -> None:
    again = [
        event(EventKind.UNSETTLED, server=f"server-{number % 20}", subject="check:tls/chain")
        for number in range(80)
    ]
    assert "(4 times)" in compose(again, CHANNEL).body


@given(st.lists(st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=66), min_size=1))
def test_names_are_told_in_whole_lines_and_every_one_of_them(names: list[str]) -> None:
    quoted = tuple(dict.fromkeys(f'"{name}"' for name in names))
    named = Named(
        phrase="toolset changed", one="tool added", several="tools added", names=quoted, level=Level.ERROR
    )
    lines = list(digest.names(named, before="toolset changed - "))
    assert all(len(line) <= LINE_LIMIT for line in lines)
    assert all(sum(name in line for line in lines) >= 1 for name in quoted)


def worst_first(lines: list[Told]) -> list[Told]:
    return sorted(lines, key=lambda line: -line.level.rank)


TOLD = st.builds(Told, st.integers(1, 300).map("x".__mul__), st.sampled_from(Level))
LISTS = st.lists(st.lists(TOLD, max_size=5).map(worst_first))


@given(LISTS, st.integers(0, 2000))
def test_as_many_lines_are_shown_as_fit_and_the_worst_ones_stay(lists: list[list[Told]], room: int) -> None:
    shown = digest.fitting(lists, room)
    taken = [line for lines, number in zip(lists, shown, strict=True) for line in lines[:number]]
    gone = [line for lines, number in zip(lists, shown, strict=True) for line in lines[number:]]
    assert sum(len(f"- {line.text}\n") for line in taken) <= room
    assert not gone or all(line.level.rank >= max(each.level.rank for each in gone) for line in taken)


@given(LISTS, st.integers(0, 2000))
def test_of_lines_that_matter_alike_the_longest_lists_give_way(lists: list[list[Told]], room: int) -> None:
    alike = [[replace(line, level=Level.ERROR) for line in lines] for lines in lists]
    shown = digest.fitting(alike, room)
    cut = [number for lines, number in zip(alike, shown, strict=True) if number < len(lines)]
    assert not cut or all(number <= min(cut) + 1 for number in shown)


def test_what_hurts_outlives_what_does_not_and_is_marked(event: Any, message: Message) -> None:
    def on(server: str, *changes: Any) -> Any:
        return drift(lambda *given, **more: event(*given, server=server, **more), *changes)

    new = change("description", "text", "gives new orders", tool="a", flags=("steers",))
    gone = change("tool-removed", "breaking", 'tool "b" removed', tool="b")
    plain = [
        on("s1", change("title", "text", f"title {number}", tool=f"t{number}" + "x" * 40))
        for number in range(40)
    ]
    told = message(*plain, on("s2", new, gone), on("s2", change("tool-added", "compatible", "c", tool="c")))
    assert '- s2: toolset changed - 1 tool removed (breaking): "b"' in told
    assert '- s2: toolset changed - 1 description changed (steers): "a"' in told
    assert "more\n" in told


def test_a_line_names_its_release_where_not_everything_is_of_one(event: Any, message: Message) -> None:
    released = {"release": {"ref": "v1.1", "relation": "by"}}
    one = change("tool-added", "compatible", 'tool "a" added', tool="a")
    deployed = drift(lambda *given, **more: event(*given, server="s1", **more), one, **released)
    others = [added(event, "s2", number) for number in range(30)]
    assert '- s1: toolset changed by release v1.1 - 1 tool added: "a"' in message(deployed, *others)
