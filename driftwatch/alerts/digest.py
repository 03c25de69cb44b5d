"""Where room is short: a line for what happened alike, with the names of all that it happened to (pure)."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from driftwatch.alerts.text import LINE_LIMIT, NAME_LIMIT, count
from driftwatch.alerts.wording import Named, Note


def told(notes: Iterable[Note]) -> Iterator[str]:
    """The notes of one server as lines."""
    alike: dict[tuple[str, str], Named] = {}
    times: Counter[tuple[str, str]] = Counter()
    for note in notes:
        for each in note.named or (Named(phrase=note.phrase, one="", several="", names=()),):
            key = each.phrase, each.one
            alike[key] = _together(alike[key], each) if key in alike else each
            times[key] += 1
    for key, each in alike.items():
        if each.names:
            yield from names(each, before=f"{each.phrase} - ")
        else:
            phrase = " - ".join(filter(None, key))
            yield f"{phrase} ({times[key]} times)" if times[key] > 1 else phrase


def names(named: Named, before: str = "") -> Iterator[str]:
    """``2 tools added: "a", "b"``, in as many lines as that takes; each leaves room for a server's name."""
    if not named.names:
        yield f"{before}{named.one}"
        return
    line = f"{before}{count(len(named.names), named.one, named.several)}: {named.names[0]}"
    for name in named.names[1:]:
        if len(line) + len(name) + 2 > LINE_LIMIT - NAME_LIMIT - 2:
            yield f"{line},"
            line = f"and {name}"
        else:
            line += f", {name}"
    yield line


def fitting(lists: Sequence[Sequence[str]], room: int) -> list[int]:
    """How many lines of each list fit into so many characters: of the longest lists the last go first."""
    shown = [len(lines) for lines in lists]
    size = sum(len(line) + 1 for lines in lists for line in lines)
    while size > room and any(shown):
        longest = max(range(len(shown)), key=lambda place: (shown[place], place))
        shown[longest] -= 1
        size -= len(lists[longest][shown[longest]]) + 1
    return shown


def _together(one: Named, other: Named) -> Named:
    every = tuple(dict.fromkeys((*one.names, *other.names)))
    return Named(phrase=one.phrase, one=one.one, several=one.several, names=every)
