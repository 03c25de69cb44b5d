"""The lists beside the tools: their part of the surface digest, and their changes in words.

An entry is named by its ``name`` (prompts), ``uri`` (resources) or ``uriTemplate`` (templates). What a model
or a person is shown of it counts; sizes, times, icons and ``_meta`` do not. An empty list is no list.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from driftwatch.model import Json
from driftwatch.toolset.canonical import canonical
from driftwatch.toolset.change import BREAKING, COMPATIBLE, TEXT, Change
from driftwatch.toolset.schema.remarks import text_change
from driftwatch.toolset.screening import Text, flagged, judged, traits
from driftwatch.toolset.tools import Toolset
from driftwatch.toolset.wording import quote, renamed, value


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kind:
    noun: str
    """In the names of changes."""
    said: str
    key: str


_KINDS: Mapping[str, _Kind] = {
    "prompts": _Kind(noun="prompt", said="prompt", key="name"),
    "resources": _Kind(noun="resource", said="resource", key="uri"),
    "templates": _Kind(noun="template", said="resource template", key="uriTemplate"),
}
_TEXTS = ("title", "description")
_VOLATILE = frozenset({"lastModified"})


def further_form(toolset: Toolset) -> str:
    """What the other lists add to the document of the surface digest; empty without any."""
    parts = []
    for kind, entries in sorted(_lists(toolset).items()):
        forms = sorted(_Entry(_KINDS[kind], entry).form for entry in entries)
        parts.append(f',"{kind}":[{",".join(forms)}]')
    return "".join(parts)


def further_changes(old: Toolset, new: Toolset, earlier: Toolset) -> list[Change]:
    """The changes of the other lists, in no order; ``earlier`` has the last of what was there before."""
    before, after, past = _lists(old), _lists(new), _lists(earlier)
    changes: list[Change] = []
    for name, kind in _KINDS.items():
        changes += _compare(kind, before.get(name, ()), after.get(name, ()), past.get(name, ()))
    return changes


def further_names(toolset: Toolset) -> frozenset[str]:
    """The names of all entries of the other lists."""
    return frozenset(
        further_name(kind, entry) for kind, entries in _lists(toolset).items() for entry in entries
    )


def further_name(kind: str, entry: Json) -> str:
    """What an entry of one of the other lists is named by."""
    return _Entry(_KINDS[kind], entry).name


def _lists(toolset: Toolset) -> dict[str, tuple[Json, ...]]:
    return {kind: entries for kind, entries in toolset.further if entries and kind in _KINDS}


@dataclass(frozen=True, eq=False)  # no slots: the form is made once
class _Entry:
    kind: _Kind
    entry: Json

    @property
    def name(self) -> str:
        named = self.entry.get(self.kind.key) if isinstance(self.entry, dict) else None
        return named if isinstance(named, str) else canonical(named)

    @property
    def members(self) -> dict[str, Json]:
        """What counts beside the name."""
        if not isinstance(self.entry, dict):
            return {"": self.entry}
        told = {member: self.entry.get(member) for member in _TEXTS}
        if self.kind.noun == "prompt":
            return told | {"arguments": _arguments(self.entry.get("arguments"))}
        annotations = self.entry.get("annotations")
        if isinstance(annotations, dict):
            annotations = {key: each for key, each in annotations.items() if key not in _VOLATILE}
        return told | {
            "name": self.entry.get("name"),
            "mimeType": self.entry.get("mimeType"),
            "annotations": annotations or None,
        }

    @cached_property
    def content(self) -> str:
        """In canonical form, without the name."""
        return canonical(self.members)

    @property
    def form(self) -> str:
        return f'{{"key":{canonical(self.name)},"what":{self.content}}}'


def _arguments(given: Json) -> Json:
    """The arguments of a prompt by name: they are a set, and not required unless they say so."""
    if not isinstance(given, list):
        return given
    named = [each for each in given if isinstance(each, dict) and isinstance(each.get("name"), str)]
    if len(named) < len(given) or len({each["name"] for each in named}) < len(named):
        return given
    return {
        each["name"]: {
            "title": each.get("title"),
            "description": each.get("description"),
            "required": each.get("required") is True,
        }
        for each in named
    } or None


def _compare(
    kind: _Kind, old: Iterable[Json], new: Iterable[Json], earlier: Iterable[Json]
) -> Iterator[Change]:
    ours, theirs, past = _by_name(kind, old), _by_name(kind, new), _by_name(kind, earlier)
    removed: list[_Entry] = []
    added: list[_Entry] = []
    for name in sorted(ours.keys() | theirs.keys()):
        before, after = _differing(ours.get(name, []), theirs.get(name, []))
        common = min(len(before), len(after))
        for one, other in zip(before[:common], after[:common], strict=True):
            yield from _changed(one, other)
        removed += before[common:]
        added += after[common:]
    for one, other in _renamed(removed, added):
        removed.remove(one)
        added.remove(other)
        yield Change(
            kind=f"{kind.noun}-renamed",
            tool=None,
            klass=BREAKING,
            message=f"{kind.said} {renamed(one.name, other.name)}",
            pointer=f"/{kind.key}",
            before=one.name,
            after=other.name,
        )
    for entry in removed:
        yield Change(
            kind=f"{kind.noun}-removed",
            tool=None,
            klass=BREAKING,
            message=f"{kind.said} {quote(entry.name)} removed",
            before=entry.entry,
        )
    for entry in added:
        if entry.name in past and entry.name not in ours:
            yield from _returned(past[entry.name][0], entry)
            continue
        change = Change(
            kind=f"{kind.noun}-added",
            tool=None,
            klass=COMPATIBLE,
            message=f"{kind.said} {quote(entry.name)} added",
            after=entry.entry,
        )
        yield flagged(change, *judged(traits(_prose(entry)), traits(())))


def _returned(one: _Entry, other: _Entry) -> Iterator[Change]:
    found = list(_changed(one, other))
    how = "is back with another definition than it had" if found else "is back, as it was before"
    yield Change(
        kind=f"{other.kind.noun}-returned",
        tool=None,
        klass=COMPATIBLE,
        message=f"{other.kind.said} {quote(other.name)} {how}",
        after=other.entry,
    )
    yield from found


def _by_name(kind: _Kind, entries: Iterable[Json]) -> dict[str, list[_Entry]]:
    named = defaultdict(list)
    for entry in entries:
        made = _Entry(kind, entry)
        named[made.name].append(made)
    return named


def _differing(before: list[_Entry], after: list[_Entry]) -> tuple[list[_Entry], list[_Entry]]:
    """Both without what is equal in both, in canonical order."""
    mine, yours = (Counter(entry.content for entry in side) for side in (before, after))
    return _without(before, yours), _without(after, mine)


def _without(entries: list[_Entry], equal: Counter[str]) -> list[_Entry]:
    left, equal = [], equal.copy()
    for entry in sorted(entries, key=lambda entry: entry.content):
        if equal[entry.content]:
            equal[entry.content] -= 1
        else:
            left.append(entry)
    return left


def _renamed(removed: list[_Entry], added: list[_Entry]) -> list[tuple[_Entry, _Entry]]:
    """Entries that are the same but for their name, and say enough to be told from others."""
    gone, come = (Counter(entry.content for entry in side) for side in (removed, added))
    by_content = {entry.content: entry for entry in added}
    return [
        (entry, by_content[entry.content])
        for entry in removed
        if gone[entry.content] == come[entry.content] == 1
        and isinstance(entry.members.get("description"), str)
    ]


def _changed(one: _Entry, other: _Entry) -> Iterator[Change]:
    kind, where = other.kind, f"{other.kind.said} {quote(other.name)}"
    old, new = one.members, other.members
    for member in sorted(old.keys() | new.keys()):
        before, after = old.get(member), new.get(member)
        if canonical(before) == canonical(after):
            continue
        if member == "arguments" and all(side is None or isinstance(side, dict) for side in (before, after)):
            yield from _changed_arguments(kind, where, before or {}, after or {})
            continue
        is_text = member in _TEXTS and all(side is None or isinstance(side, str) for side in (before, after))
        told = text_change(before, after) if is_text else f"changed: {value(before)} -> {value(after)}"
        change = Change(
            kind=f"{kind.noun}-{'text' if is_text else 'changed'}",
            tool=None,
            klass=TEXT if member in {*_TEXTS, "annotations", "name"} else BREAKING,
            message=f"{where}: {member or 'entry'} {told}",
            pointer=f"/{member}",
            before=before,
            after=after,
        )
        yield flagged(change, *judged(traits(_said(after)), traits(_said(before))))


def _changed_arguments(
    kind: _Kind, where: str, before: Mapping[str, Json], after: Mapping[str, Json]
) -> Iterator[Change]:
    for name in sorted(before.keys() | after.keys()):
        old, new = before.get(name), after.get(name)
        if canonical(old) == canonical(new):
            continue
        said, klass, fate = f"{where}: argument {quote(name)}", BREAKING, "changed"
        if new is None:
            told = "dropped"
        elif old is None:
            told, klass = ("added (required)", BREAKING) if new["required"] else ("added", COMPATIBLE)
        elif old["required"] != new["required"]:
            told, klass = (
                ("is now required", BREAKING) if new["required"] else ("is now optional", COMPATIBLE)
            )
        else:
            told, klass, fate = "has another text", TEXT, "text"
        change = Change(
            kind=f"{kind.noun}-{fate}",
            tool=None,
            klass=klass,
            message=f"{said} {told}",
            pointer="/arguments",
            before=old and {"name": name, **old},
            after=new and {"name": name, **new},
        )
        now, past = (
            traits(text for each in (side or {}).values() for text in _said(each)) for side in (new, old)
        )
        yield flagged(change, *judged(now, past))


def _prose(entry: _Entry) -> list[Text]:
    return [
        text
        for member in entry.members.values()
        for each in (member.values() if isinstance(member, dict) else (member,))
        for inner in (each.values() if isinstance(each, dict) else (each,))
        for text in _said(inner)
    ]


def _said(text: Json) -> list[Text]:
    return [Text("", text, prose=True, described=True)] if isinstance(text, str) else []
