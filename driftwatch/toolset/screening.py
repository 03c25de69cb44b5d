"""What the new text of a tool does to its reader that the old did not: orders, hidden characters, links."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, zip_longest
from operator import attrgetter
from typing import NamedTuple

from driftwatch.model import Json
from driftwatch.toolset.change import HIDES, NEW_LINK, STEERS, TEXT, Change, Difference
from driftwatch.toolset.characters import hides_nothing, invisible
from driftwatch.toolset.sameness import Sameness, spelled
from driftwatch.toolset.schema.keywords import PROSE
from driftwatch.toolset.schema.views import escape
from driftwatch.toolset.text import Phrase, is_prose, links, steering_in
from driftwatch.toolset.wording import listed, quote, rewording

_READ = ("annotations", "execution", "inputSchema", "outputSchema", "description", "name", "title")
"""The members of a tool that count, in the order in which their texts are read."""


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

    def add(self, other: "Traits") -> None:
        """What other texts do is done as well."""
        self.orders.update(other.orders)
        self.hidden.update(other.hidden)
        self.links |= other.links


_NOTHING = Traits()


def traits_of_tools(tools: Sequence[Json]) -> list[Traits]:
    """What all texts of each whole tool do; a part that many of them have is read once."""
    known: dict[tuple[str, bytes], int] = {}
    read: list[list[Text]] = []
    places: list[list[int]] = []
    for tool in tools:
        places.append([])
        for pointer, part in _parts(tool):
            written = None if isinstance(part, str) else spelled(part)
            place = len(read) if written is None else known.setdefault((pointer, written), len(read))
            if place == len(read):
                read.append(_texts(pointer, part, None, Sameness()))
            places[-1].append(place)
    does = _each_of(read)
    return [_all(each for place in here for each in does[place]) for here in places]


def _parts(tool: Json) -> list[tuple[str, Json]]:
    """What counts of a tool, with its pointer."""
    if not isinstance(tool, dict):
        return [("", tool)]
    return [(f"/{name}", tool[name]) for name in _READ if name in tool]


def _texts(pointer: str, item: Json, before: Json, sameness: Sameness) -> list[Text]:
    """Those of one part of a tool, as far as it is not the same as before."""
    found = []
    todo = [(pointer, item, before, pointer[1:] in PROSE)]
    while todo:
        pointer, item, before, described = todo.pop()
        if isinstance(item, dict):
            past = before if isinstance(before, dict) else {}
            gone = past.keys() - item.keys()
            moved = _spelled(past, gone) if gone else frozenset()
            for name in sameness.changed(past, item) & item.keys() if past else item:
                if name not in past and not (name.isascii() and name.isidentifier()) and _worth(name):
                    prose = is_prose(name)
                    found.append(Text(f"{pointer}/{escape(name)}", name, prose=prose, described=False))
                if moved and name not in past and spelled(item[name]) in moved:
                    continue
                if name in PROSE or _worth(item[name]):
                    todo.append((f"{pointer}/{escape(name)}", item[name], past.get(name), name in PROSE))
        elif isinstance(item, list) and (described or not _are_words(item)):
            twins = before if isinstance(before, list) else []
            todo += [
                (f"{pointer}/{index}", member, twin, described)
                for index, (member, twin) in enumerate(zip_longest(item, twins[: len(item)]))
                if described or _worth(member)
            ]
        elif isinstance(item, str) and item != before and (described or _worth(item)):
            found.append(Text(pointer, item, described or is_prose(item), described, before))
    return sorted(found, key=attrgetter("pointer", "text"))


def _spelled(item: dict[str, Json], names: Iterable[str]) -> frozenset[bytes]:
    """Those members as bytes, where they are not too deep."""
    every = (spelled(item[name]) for name in names)
    return frozenset(written for written in every if written is not None)


def _worth(item: Json) -> bool:
    """True for a text that may do something to its reader wherever it stands, and for what may hold one."""
    if isinstance(item, str):
        return is_prose(item) or not hides_nothing(item)
    return isinstance(item, (dict, list))


def _are_words(items: list[Json]) -> bool:
    """True for names and the like, in which nothing is said: most values of an enum, at a glance."""
    return {*map(type, items)} == {str} and all(map(str.isascii, items)) and all(map(str.isidentifier, items))


class Fresh(NamedTuple):
    """A text that one part of a tool did not have before, and that is worth a word."""

    text: Text
    does: Traits
    place: int | None
    """Which of the part's changes accounts for it; None when none does."""


def new_texts(member: str, before: Json, after: Json, sameness: Sameness) -> list[Text]:
    """The texts of one part of a tool that were not there before."""
    return _texts(f"/{member}", after, before, sameness)


def fresh_texts(parts: Sequence[tuple[list[Text], list[Difference]]]) -> list[list[Fresh]]:
    """Of the new texts of many parts, each with its changes: what does something or belongs to no change."""
    does = _each_of([texts for texts, _ in parts])
    return [
        _fresh(zip(texts, each, strict=True), changes)
        for (texts, changes), each in zip(parts, does, strict=True)
    ]


def _fresh(texts: Iterable[tuple[Text, Traits]], changes: list[Difference]) -> list[Fresh]:
    places = {each.pointer: place for place, each in enumerate(changes) if each.after is not None}
    found = []
    for text, does in texts:
        place = _accounting(places, text.pointer)
        if does or (place is None and text.described):
            found.append(Fresh(text, does, place))
    return found


def screen(parts: list[tuple[list[Difference], list[Fresh]]], old: Json) -> list[Difference]:
    """The changes of one tool by part, flagged where its new text newly steers, hides or links.

    Text that no change accounts for (in the branch of a union, in a definition) becomes a change of its own.
    """
    past = _Past(old)
    screened: list[Difference] = []
    told = any(found for found, _ in parts)
    heard: set[str] = set()
    for found, new in parts:
        changes = list(found)
        for fresh in new:
            text = fresh.text
            untold = fresh.place is None and text.described and (isinstance(text.before, str) or not told)
            if not (fresh.does or untold) or text.text in past.strings:  # only moved
                continue
            flags, said = judged(fresh.does, past.like(fresh.does)) if fresh.does else ((), "")
            if fresh.place is None and text.text in heard:  # the name of a property, where it is required
                continue
            heard.add(text.text)
            if fresh.place is not None:
                changes[fresh.place] = changes[fresh.place].flagged(flags, said)
            elif flags or untold:
                screened.append(_wording(text).flagged(flags, said))
        screened += changes
    return screened


@dataclass(frozen=True)  # no slots: read when first asked for
class _Past:
    """What an older definition said, and did to its reader."""

    tool: Json

    @cached_property
    def strings(self) -> frozenset[str]:
        """All of them, names included."""
        found: set[str] = set()
        todo = [part for _, part in _parts(self.tool)]
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                found.add(item)
            elif isinstance(item, dict):
                found.update(item)
                todo += item.values()
            elif isinstance(item, list):
                todo += item
        return frozenset(found)

    @cached_property
    def traits(self) -> Traits:
        return traits_of_tools([self.tool])[0]

    @cached_property
    def _folded(self) -> str:
        return " ".join(self.strings).lower()

    def like(self, new: Traits) -> Traits:
        """What it did; nothing, without reading on, where nothing that the new text does can be in it."""
        marks = [key.split()[0] for key in new.orders] + [link.lower() for link in new.links]
        plain = self._folded.isascii() and hides_nothing(self._folded)
        if plain and not any(mark in self._folded for mark in marks):
            return Traits()
        return self.traits


def traits(of: Iterable[Text]) -> Traits:
    """What these texts do, all together."""
    return _all(_each(list(of)))


def _all(of: Iterable[Traits]) -> Traits:
    found = Traits()
    for does in of:
        if does:
            found.add(does)
    return found


def _each_of(parts: list[list[Text]]) -> list[list[Traits]]:
    """What each text of these parts does; all are read at once."""
    does = iter(_each([text for texts in parts for text in texts]))
    return [list(islice(does, len(texts))) for texts in parts]


def _each(texts: list[Text]) -> list[Traits]:
    """What each of these texts does: as a rule nothing."""
    prose = iter(steering_in([text.text for text in texts if text.prose]))
    return [_traits(text, next(prose) if text.prose else ()) for text in texts]


def _traits(text: Text, phrases: tuple[Phrase, ...]) -> Traits:
    urls = links(text.text) if text.prose else ()
    if not phrases and not urls and hides_nothing(text.text):
        return _NOTHING
    orders = {phrase.key: phrase.text for phrase in phrases if phrase.order}
    return Traits(orders, invisible(text.text), set(urls))


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


def flagged_name(change: Change, before: str, after: str) -> Change:
    """The change of a name, flagged where the new name newly does something to its reader."""
    if not _worth(after):
        return change
    old, new = (Text("/name", name, prose=is_prose(name), described=False) for name in (before, after))
    return flagged(change, *judged(traits((new,)), traits((old,))))


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


def _wording(item: Text) -> Difference:
    before = item.before if isinstance(item.before, str) else None
    told = f"is now {quote(item.text, 100)}" if before is None else f"changed: {rewording(before, item.text)}"
    message = f"text at {quote(item.pointer, 100)} {told}"
    return Difference("wording", TEXT, message, item.pointer, before, item.text)
