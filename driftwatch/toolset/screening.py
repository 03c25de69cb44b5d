"""What the new text of a tool does to its reader that the old did not: orders, hidden characters, links."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

from driftwatch.model import Json
from driftwatch.toolset.change import HIDES, NEW_LINK, STEERS, TEXT, Change
from driftwatch.toolset.characters import hides_nothing, invisible
from driftwatch.toolset.sameness import Sameness
from driftwatch.toolset.schema.keywords import PROSE
from driftwatch.toolset.schema.views import escape
from driftwatch.toolset.text import links, steering
from driftwatch.toolset.wording import listed, quote, rewording

_SENTENCE = 4
"""Words that make a text of any string, wherever it stands."""

_READ = ("name", "title", "description", "annotations", "inputSchema", "outputSchema", "execution")
"""The members of a tool that count."""


_NEW = object()


class Text(NamedTuple):
    """A string somewhere in a tool."""

    pointer: str
    text: str
    prose: bool
    """True when it is written to be read: a description, or a sentence anywhere."""
    described: bool
    """True when it stands under a keyword for descriptions."""
    before: Json = None
    """What the older definition has in the same place."""


@dataclass(slots=True)
class Traits:
    """What texts do to their reader."""

    orders: dict[str, str] = field(default_factory=dict)
    """Key of each order, with its words."""
    hidden: Counter[str] = field(default_factory=Counter)
    links: set[str] = field(default_factory=set)

    def __bool__(self) -> bool:
        return bool(self.orders or self.hidden or self.links)


def texts(new: Json, old: Json = None, sameness: Sameness | None = None) -> Iterator[Text]:
    """Every string of a tool that counts, names of parameters included, in no order.

    With an older definition, only the strings in those parts that differ from it.
    """
    alike = (sameness or Sameness()).of
    if isinstance(new, dict):
        past = old if isinstance(old, dict) else {}
        todo = [
            (f"/{name}", new[name], past.get(name), name in PROSE)
            for name in _READ
            if name in new and not alike(new[name], past.get(name))
        ]
    else:
        todo = [("", new, None, False)]
    while todo:
        pointer, item, before, described = todo.pop()
        if isinstance(item, str):
            if item != before:
                prose = described or len(item.split(None, _SENTENCE)) >= _SENTENCE
                yield Text(pointer, item, prose, described, before)
        elif isinstance(item, dict):
            past = before if isinstance(before, dict) else {}
            for name, member in item.items():
                other = past.get(name, _NEW)
                if other is not _NEW and alike(member, other):
                    continue
                below = f"{pointer}/{escape(name)}"
                if other is _NEW:
                    yield Text(below, name, prose=False, described=False)
                todo.append((below, member, other, name in PROSE))
        elif isinstance(item, list):
            todo += _members(pointer, item, before, described=described)


def _members(
    pointer: str, item: list[Json], before: Json, *, described: bool
) -> Iterator[tuple[str, Json, Json, bool]]:
    past = before if isinstance(before, list) else []
    for index, member in enumerate(item):
        yield f"{pointer}/{index}", member, past[index] if index < len(past) else None, described


def screen(changes: list[Change], old: Json, new: Json, sameness: Sameness) -> list[Change]:
    """The changes of one tool, flagged where its new text newly steers, hides or links.

    Text that no change accounts for (in the branch of a union, in a definition) becomes a change of its own.
    """
    screened = list(changes)
    places = {change.pointer or "": place for place, change in enumerate(changes) if change.after is not None}
    past = _Past(old)
    fresh = [
        item
        for item in texts(new, old, sameness)
        if item.described or item.prose or not hides_nothing(item.text)
    ]
    for item in sorted(fresh, key=lambda item: (item.pointer, item.text)):
        place = _accounting(places, item.pointer)
        untold = place is None and item.described and (isinstance(item.before, str) or not changes)
        does = traits((item,))
        if not (does or untold) or item.text in past.texts:  # only moved
            continue
        flags, said = judged(does, past.traits) if does else ((), "")
        if place is not None:
            screened[place] = flagged(screened[place], flags, said)
        elif flags or untold:
            screened.append(flagged(_wording(item), flags, said))
    return screened


@dataclass(frozen=True)  # no slots: read when first asked for
class _Past:
    """What an older definition said, and did to its reader."""

    tool: Json

    @cached_property
    def read(self) -> tuple[Text, ...]:
        return tuple(texts(self.tool))

    @cached_property
    def texts(self) -> frozenset[str]:
        return frozenset(item.text for item in self.read)

    @cached_property
    def traits(self) -> Traits:
        return traits(self.read)


def traits(of: Iterable[Text]) -> Traits:
    """What these texts do, all together."""
    found = Traits()
    for item in of:
        found.hidden.update(invisible(item.text))
        if item.prose:
            found.orders.update({phrase.key: phrase.text for phrase in steering(item.text) if phrase.order})
            found.links.update(links(item.text))
    return found


def judged(now: Traits, past: Traits) -> tuple[tuple[str, ...], str]:
    """The flags of a text that does something, and the words for them, against what the old texts did."""
    flags, said = [], []
    orders = [text for key, text in now.orders.items() if key not in past.orders]
    if orders:
        flags.append(STEERS)
        said.append(f"newly orders the agent: {listed(map(quote, orders))}")
    hidden = [name for name, count in now.hidden.items() if count > past.hidden[name]]
    if hidden:
        flags.append(HIDES)
        said.append(f"newly hides {listed(hidden)}")
    new_links = sorted(now.links - past.links)
    if new_links:
        flags.append(NEW_LINK)
        said.append(f"new link {listed(map(quote, new_links))}")
    return tuple(flags), "; ".join(said)


def flagged(change: Change, flags: tuple[str, ...], said: str) -> Change:
    """The change with more flags, and the words for them at the end of its message."""
    if not flags:
        return change
    every = tuple(dict.fromkeys((*change.flags, *flags)))
    return replace(change, flags=every, message=f"{change.message}; {said}")


def _accounting(places: dict[str, int], pointer: str) -> int | None:
    """The change about this place, or about the nearest that it stands in."""
    while pointer not in places and pointer:
        pointer = pointer.rpartition("/")[0]
    return places.get(pointer)


def _wording(item: Text) -> Change:
    before = item.before if isinstance(item.before, str) else None
    told = f"is now {quote(item.text, 100)}" if before is None else f"changed: {rewording(before, item.text)}"
    return Change(
        kind="wording",
        tool=None,
        klass=TEXT,
        message=f"text at {quote(item.pointer, 100)} {told}",
        pointer=item.pointer,
        before=before,
        after=item.text,
    )
