"""Where room is short: a line for what happened alike, with the names of all that it happened to (pure)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from driftwatch.alerts.text import LINE_LIMIT, NAME_LIMIT, count
from driftwatch.alerts.wording import Named, Note
from driftwatch.model import Level

_ITEM = len("- \n")
"""Characters of a line beside its text."""


@dataclass(frozen=True, slots=True)
class Told:
    """One line, and how much it matters that it is read."""

    text: str
    level: Level


def told(notes: Iterable[Note], *, releases: bool = False) -> list[Told]:
    """The notes of one server as lines, the worst first; with ``releases`` each names its own."""
    alike: dict[tuple[str, str, str], Named] = {}
    times: Counter[tuple[str, str, str]] = Counter()
    for note in notes:
        for each in note.named or (
            Named(phrase=note.phrase, one="", several="", names=(), level=note.level),
        ):
            level = min(note.level, each.level, key=lambda level: level.rank)
            phrase = f"{each.phrase}{note.release.ending}" if releases and note.release else each.phrase
            named = replace(each, phrase=phrase, level=level)
            key = named.phrase, named.one, named.mark
            alike[key] = _together(alike[key], named) if key in alike else named
            times[key] += 1
    lines = [Told(line, named.level) for key, named in alike.items() for line in _lines(named, times[key])]
    return sorted(lines, key=lambda line: -line.level.rank)


def names(named: Named, before: str = "") -> Iterator[str]:
    """``2 tools added: "a", "b"``, in as many lines as that takes; each leaves room for a server's name."""
    if not named.names:
        yield f"{before}{named.one}{named.mark}"
        return
    line = f"{before}{count(len(named.names), named.one, named.several)}{named.mark}: {named.names[0]}"
    for name in named.names[1:]:
        if len(line) + len(name) + 2 > LINE_LIMIT - NAME_LIMIT - 2:
            yield f"{line},"
            line = f"and {name}"
        else:
            line += f", {name}"
    yield line


def fitting(lists: Sequence[Sequence[Told]], room: int) -> list[int]:
    """How many lines of each list, worst first, fit as items into so many characters.

    The lowest level goes first, and of that the last line of the server with the most of it.
    """
    left = [list(lines) for lines in lists]
    size = sum(len(line.text) + _ITEM for lines in left for line in lines)
    while size > room and any(left):
        least = min((lines for lines in reversed(left) if lines), key=_worth)
        size -= len(least.pop().text) + _ITEM
    return [len(lines) for lines in left]


def _worth(lines: Sequence[Told]) -> tuple[int, int, int]:
    """What the last of these lines is worth beside those of other servers."""
    level = lines[-1].level
    return level.rank, -sum(line.level is level for line in lines), -len(lines)


def _lines(named: Named, times: int) -> Iterator[str]:
    if named.names:
        yield from names(named, before=f"{named.phrase} - ")
        return
    phrase = " - ".join(filter(None, (named.phrase, f"{named.one}{named.mark}")))
    yield f"{phrase} ({times} times)" if times > 1 else phrase


def _together(one: Named, other: Named) -> Named:
    level = max(one.level, other.level, key=lambda level: level.rank)
    return replace(one, names=tuple(dict.fromkeys((*one.names, *other.names))), level=level)
