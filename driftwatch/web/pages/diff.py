"""``/servers/{name}/diff``: two tool lists side by side."""

import difflib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from shlex import quote

from driftwatch import views
from driftwatch.alerts.wording.subjects import accepting, short_pair, subject_words
from driftwatch.model import Json
from driftwatch.store.ports import Reader, StoredToolset
from driftwatch.toolset import Change, Diff
from driftwatch.transitions import SubjectState
from driftwatch.web.pages.site import Page, Scene

CHANGES_SHOWN = 200
TOOLS_SHOWN = 40
"""Definitions that are laid side by side; the list of changes is complete further."""

LINES_SHOWN = 400
"""Of one definition."""

LINES_COMPARED = 6000
"""Of all of them together: comparing lines takes time, and a page must not."""

VALUE_LIMIT = 600
"""Characters of an old or new value in the list of changes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A line of an old definition beside one of the new."""

    old: str | None
    new: str | None
    kind: str
    """same, changed, removed or added."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One tool, or the instructions, before and after."""

    title: str
    rows: tuple[Row, ...]
    more: int
    """Lines that are not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One change as a row of a table."""

    change: Change
    before: str | None
    after: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """The two lists of one surface, or of several that show the same."""

    words: str
    old: StoredToolset
    new: StoredToolset
    diff: Diff
    shown: tuple[Shown, ...]
    more: int
    definitions: tuple[Definition, ...]
    command: str | None
    """Accepts the new list, where it is the current one and not accepted."""


def view(reader: Reader, scene: Scene) -> Page:
    """What is different, in words and side by side; by default from the accepted list to the current one."""
    name, query = scene.path["name"], scene.query
    before, after = query.get("from", "accepted")[:200], query.get("to", "current")[:200]
    memory = reader.memory(name)
    states = memory.states if memory else {}
    found = [
        each
        for each in views.compare(reader, name, before, after)
        if query.get("surface", each.subject) == each.subject
    ]
    return Page(
        template="diff.html",
        values={
            "name": name,
            "quoted": quote(name),
            "compared": _alike(_beside(each, name, states.get(each.subject)) for each in found),
            "short": short_pair,
            "from_accepted": before == "accepted",
        },
    )


def _alike(found: Iterable[Beside]) -> list[Beside]:
    """Surfaces that show the same two lists as one: most often every era shows the same tools."""
    alike: dict[tuple[str, str], Beside] = {}
    for each in found:
        pair = each.old.pair, each.new.pair
        known = alike.get(pair)
        alike[pair] = replace(known, words=f"{known.words}, {each.words}") if known else each
    return list(alike.values())


def _beside(compared: views.Compared, name: str, state: SubjectState | None) -> Beside:
    old, new, found = compared.before, compared.after, compared.diff
    command = None
    if state is not None and new.pair == state.confirmed != (state.accepted or state.confirmed):
        command = accepting(name, new.pair)
    return Beside(
        words=subject_words(compared.subject),
        old=old,
        new=new,
        diff=found,
        shown=tuple(map(_shown, found.changes[:CHANGES_SHOWN])),
        more=max(0, len(found.changes) - CHANGES_SHOWN),
        definitions=tuple(_definitions(old, new, found)),
        command=command,
    )


def _shown(change: Change) -> Shown:
    return Shown(change=change, before=_value(change.before), after=_value(change.after))


def _value(value: Json) -> str | None:
    if value is None:
        return None
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
    return text if len(text) <= VALUE_LIMIT else f"{text[: VALUE_LIMIT - 1]}…"


def _definitions(old: StoredToolset, new: StoredToolset, found: Diff) -> Iterator[Definition]:
    """Every tool that is not what it was, the worst change first; renamed ones by their new names."""
    before, after = _by_name(old.tools), _by_name(new.tools)
    if old.instructions != new.instructions:
        lines = [(text or "").splitlines() for text in (old.instructions, new.instructions)]
        yield _definition("The server's instructions", *lines)
    renamed = {
        change.after: change.before
        for change in found.changes
        if change.kind == "tool-renamed" and isinstance(change.after, str) and isinstance(change.before, str)
    }
    touched: dict[str, None] = {}
    for change in found.changes:
        touched.update(dict.fromkeys(change.tools or ([change.tool] if change.tool else [])))
    room = LINES_COMPARED
    for name in list(touched)[:TOOLS_SHOWN]:
        source = name if name in before else renamed.get(name, name)
        if source not in before and name not in after:
            continue  # a prompt or a resource: the list of changes tells of it
        title = name if source == name or source not in before else f"{source} → {name}"
        definition = _definition(title, _pretty(before.get(source)), _pretty(after.get(name)))
        yield definition
        room -= len(definition.rows)
        if room < 0:
            return


def _by_name(tools: Sequence[Json]) -> Mapping[str, Json]:
    return {
        tool["name"]: tool for tool in tools if isinstance(tool, dict) and isinstance(tool.get("name"), str)
    }


def _pretty(tool: Json) -> list[str]:
    if tool is None:
        return []
    return json.dumps(tool, ensure_ascii=False, indent=2, sort_keys=True).splitlines()


def _definition(title: str, old: Sequence[str], new: Sequence[str]) -> Definition:
    rows = tuple(_rows(old[:LINES_SHOWN], new[:LINES_SHOWN]))
    more = max(0, len(old) - LINES_SHOWN, len(new) - LINES_SHOWN)
    return Definition(title=title, rows=rows, more=more)


def _rows(old: Sequence[str], new: Sequence[str]) -> Iterator[Row]:
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    kinds = {"equal": "same", "replace": "changed", "delete": "removed", "insert": "added"}
    for operation, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        for place in range(max(old_to - old_from, new_to - new_from)):
            left = old[old_from + place] if old_from + place < old_to else None
            right = new[new_from + place] if new_from + place < new_to else None
            kind = kinds[operation]
            if kind == "changed" and (left is None or right is None):
                kind = "added" if left is None else "removed"
            yield Row(old=left, new=right, kind=kind)
