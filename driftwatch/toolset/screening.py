"""What the new text of a tool does to its reader that the old one did not: orders, hidden characters, links."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from driftwatch.model import Json
from driftwatch.toolset.change import HIDES, NEW_LINK, STEERS, TEXT, Change
from driftwatch.toolset.keywords import PROSE
from driftwatch.toolset.text import invisible, links, steering
from driftwatch.toolset.views import escape
from driftwatch.toolset.wording import listed, quote, rewording

_SENTENCE = 4
"""Words that make a text of any string, wherever it stands."""

_READ = ("title", "description", "annotations", "inputSchema", "outputSchema", "execution")
"""The members of a tool that count, beside its name."""


@dataclass(frozen=True, slots=True)
class Text:
    """A string somewhere in a tool."""

    pointer: str
    text: str
    prose: bool
    """True when it is written to be read: a description, or a sentence anywhere."""
    described: bool
    """True when it stands under a keyword for descriptions."""


@dataclass(slots=True)
class Traits:
    """What texts do to their reader."""

    orders: dict[str, str] = field(default_factory=dict)
    """Key of each order, with its words."""
    hidden: Counter[str] = field(default_factory=Counter)
    links: set[str] = field(default_factory=set)


def texts(tool: Json) -> Iterator[Text]:
    """Every string of a tool that counts, names of parameters included, in no order."""
    if not isinstance(tool, dict):
        todo: list[tuple[str, Json, bool]] = [("", tool, False)]
    else:
        todo = [(f"/{name}", tool.get(name), name in PROSE) for name in ("name", *_READ)]
    while todo:
        pointer, item, described = todo.pop()
        if isinstance(item, str):
            prose = described or len(item.split(None, _SENTENCE)) >= _SENTENCE
            yield Text(pointer, item, prose, described)
        elif isinstance(item, dict):
            for name, member in item.items():
                below = f"{pointer}/{escape(name)}"
                yield Text(below, name, prose=False, described=False)
                todo.append((below, member, name in PROSE))
        elif isinstance(item, list):
            todo += [(f"{pointer}/{index}", member, described) for index, member in enumerate(item)]


def screen(changes: list[Change], old: Json, new: Json) -> list[Change]:
    """The changes of one tool, flagged where its new text newly steers, hides or links.

    Text that no change accounts for (in the branch of a union, in a definition) becomes a change of its own.
    """
    old_texts = list(texts(old))
    known = {item.text for item in old_texts}
    before = {item.pointer: item.text for item in old_texts if item.described}
    past: Traits | None = None
    screened = list(changes)
    places = {change.pointer or "": place for place, change in enumerate(changes) if change.after is not None}
    for item in sorted(texts(new), key=lambda item: (item.pointer, item.text)):
        if item.text in known:
            continue
        past = past or traits(old_texts)
        flags, said = judged(item, past)
        place = _accounting(places, item.pointer)
        if place is not None:
            screened[place] = flagged(screened[place], flags, said)
        elif flags or (item.described and (item.pointer in before or not changes)):
            screened.append(flagged(_wording(item, before.get(item.pointer)), flags, said))
    return screened


def traits(of: Iterable[Text]) -> Traits:
    """What these texts do, all together."""
    found = Traits()
    for item in of:
        found.hidden.update(str(hidden) for hidden in invisible(item.text) if not hidden.legitimate)
        if item.prose:
            found.orders.update({phrase.key: phrase.text for phrase in steering(item.text) if phrase.order})
            found.links.update(links(item.text))
    return found


def judged(item: Text, past: Traits) -> tuple[tuple[str, ...], str]:
    """The flags of a new text, and the words for them."""
    now = traits((item,))
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


def _wording(item: Text, before: str | None) -> Change:
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
