"""Which tool of the new list is which of the old one: by name, else by what else they have in common."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from driftwatch.model import Json
from driftwatch.toolset.canonical import written_alike
from driftwatch.toolset.likeness import names_alike, other_acts, respelled, surest, words, words_alike
from driftwatch.toolset.sameness import spelled
from driftwatch.toolset.tools import HINTS, Entry, Toolset, name_of, with_defaults

_NAMES = 4
"""The most that two names may speak for one tool."""

_COMPARISONS = 10_000
"""Removed times added tools up to which each is compared with each; beyond, those with a trait in common."""

_BUCKET = 400
_TELLING = 120
"""Bytes of a schema as written beyond which two are hardly equal by chance."""

_ALIKE = 0.5
_UNLIKE = 0.3

Both = tuple[Entry, Entry]


@dataclass(frozen=True, slots=True)
class Pairing:
    """Two tool lists laid side by side."""

    same: list[Both]
    """One name; the definition may differ."""
    unchanged: int
    renamed: list[Both]
    removed: list[Entry]
    added: list[Entry]


def pair(old: Toolset, new: Toolset) -> Pairing:
    """Pair the tools of two lists. Tools of one name pair with their equal first, then in canonical order."""
    before, after, equal = _without_equals(old.entries, new.entries)
    ours, theirs = _by_name(before), _by_name(after)
    same: list[Both] = []
    removed: list[Entry] = []
    added: list[Entry] = []
    unchanged = equal
    for name in sorted(ours.keys() | theirs.keys()):
        before, after = _differing(ours.get(name, []), theirs.get(name, []))
        unchanged += len(ours.get(name, [])) - len(before)
        common = min(len(before), len(after))
        same += zip(before[:common], after[:common], strict=True)
        removed += before[common:]
        added += after[common:]
    renamed = _renamed(removed, added)
    taken = {id(entry) for both in renamed for entry in both}
    removed, added = ([entry for entry in entries if id(entry) not in taken] for entries in (removed, added))
    return Pairing(same, unchanged, renamed, removed, added)


def _without_equals(old: tuple[Entry, ...], new: tuple[Entry, ...]) -> tuple[list[Entry], list[Entry], int]:
    """Both lists without the tools that are the same at first sight: most, as a rule, and the cheap part."""
    ours, theirs = ([name_of(entry.tool) for entry in entries] for entries in (old, new))
    mine, yours = Counter(ours), Counter(theirs)
    named = {name: entry for name, entry in zip(ours, old, strict=True) if mine[name] == yours[name] == 1}
    equal = {
        name
        for name, entry in zip(theirs, new, strict=True)
        if name in named and written_alike(named[name].tool, entry.tool)
    }
    before = [entry for name, entry in zip(ours, old, strict=True) if name not in equal]
    after = [entry for name, entry in zip(theirs, new, strict=True) if name not in equal]
    return before, after, len(equal)


def _by_name(entries: Iterable[Entry]) -> dict[str, list[Entry]]:
    named = defaultdict(list)
    for entry in entries:
        named[entry.name].append(entry)
    return named


def _differing(before: list[Entry], after: list[Entry]) -> tuple[list[Entry], list[Entry]]:
    """Both without what is equal in both, in canonical order."""
    if len(before) <= 1 and len(after) <= 1:  # whether they are equal is found out as they are compared
        return before, after
    equal = Counter(entry.order for entry in before) & Counter(entry.order for entry in after)
    return _without(before, equal), _without(after, equal)


def _without(entries: list[Entry], equal: Counter[tuple[str, str, str]]) -> list[Entry]:
    left, rest = Counter(equal), []
    for entry in sorted(entries, key=lambda entry: entry.order):
        if left[entry.order]:
            left[entry.order] -= 1
        else:
            rest.append(entry)
    return rest


@dataclass(frozen=True, eq=False)  # no slots: one tool is held against many
class _Tool:
    """A tool that came or went, and what tells it from others."""

    place: int
    entry: Entry
    writings: Mapping[frozenset[str], set[bytes | None]]
    """How schemas are written, by parameters that are on both sides: most in one way."""

    @cached_property
    def written(self) -> bytes | None:
        """The input schema as bytes; None when it is too deep."""
        return spelled(self.entry.get("inputSchema"))

    @cached_property
    def schema(self) -> bytes | str:
        """The same for the same input schema: in canonical form where it may be written in several ways."""
        if self.written is None or len(self.writings.get(self.entry.parameters, ())) > 1:
            return self.entry.schema
        return self.written

    @cached_property
    def name(self) -> str:
        return name_of(self.entry.tool)

    @cached_property
    def description(self) -> str:
        text = self.entry.get("description")
        return text.strip() if isinstance(text, str) else ""

    @cached_property
    def wording(self) -> frozenset[str]:
        return words(self.description)

    @cached_property
    def parameters(self) -> frozenset[tuple[str, str]]:
        return _parameters(self.entry.tool)

    @cached_property
    def harm(self) -> tuple[bool, bool]:
        hints = with_defaults(self.entry.get("annotations"), HINTS)
        if not isinstance(hints, dict):
            hints = HINTS
        return hints["readOnlyHint"] is True, hints["destructiveHint"] is not False


def _parameters(tool: dict[str, Json]) -> frozenset[tuple[str, str]]:
    """The names of the parameters, each with its type as written."""
    schema = tool.get("inputSchema")
    declared = schema.get("properties") if isinstance(schema, dict) else None
    return frozenset(
        (name, str(item.get("type") if isinstance(item, dict) else item))
        for name, item in (declared.items() if isinstance(declared, dict) else ())
    )


def _renamed(removed: list[Entry], added: list[Entry]) -> list[Both]:
    """Pairs of one tool under two names, surest first; both lists are in canonical order."""
    common = {entry.parameters for entry in removed} & {entry.parameters for entry in added}
    writings: dict[frozenset[str], set[bytes | None]] = {parameters: set() for parameters in common}
    ours, theirs = ([_Tool(*item, writings) for item in enumerate(entries)] for entries in (removed, added))
    for tool in (*ours, *theirs):
        if tool.entry.parameters in common:
            writings[tool.entry.parameters].add(tool.written)
    lone = len(ours) == len(theirs) == 1

    content = {
        (one.place, other.place): _content_evidence(one, other, lone=lone)
        for one, other in _candidates(ours, theirs)
    }

    def evidence(old: int, new: int) -> int:
        return content[old, new] + _name_evidence(ours[old].name, theirs[new].name)

    candidates = ((old, new, score + _NAMES) for (old, new), score in content.items())
    return [(removed[old], added[new]) for old, new in surest(candidates, evidence)]


def _candidates(removed: list[_Tool], added: list[_Tool]) -> Iterator[tuple[_Tool, _Tool]]:
    if len(removed) * len(added) <= _COMPARISONS:
        yield from ((one, other) for one in removed for other in added)
        return
    seen: set[tuple[int, int]] = set()
    marks: tuple[Callable[[_Tool], Hashable], ...] = (
        lambda tool: tool.schema if tool.entry.parameters in tool.writings else "",
        lambda tool: tool.description,
        lambda tool: tool.name.lower(),
    )
    for mark in marks:
        ours: defaultdict[Hashable, list[_Tool]] = defaultdict(list)
        theirs: defaultdict[Hashable, list[_Tool]] = defaultdict(list)
        for tools, buckets in ((removed, ours), (added, theirs)):
            for tool in tools:
                buckets[mark(tool)].append(tool)
        for key in ours.keys() & theirs.keys():
            if key and len(ours[key]) * len(theirs[key]) <= _BUCKET:
                for one in ours[key]:
                    for other in theirs[key]:
                        if (id(one), id(other)) not in seen:
                            seen.add((id(one), id(other)))
                            yield one, other


def _content_evidence(one: _Tool, other: _Tool, *, lone: bool) -> int:
    """How much speaks for one tool under another name, but for the names."""
    if not isinstance(one.entry.tool, dict) or not isinstance(other.entry.tool, dict):
        return -_NAMES
    score = int(lone) + _schema_evidence(one, other)
    if one.harm != other.harm:
        score -= 2
    if one.description and one.description == other.description:
        score += 3
    elif one.description and other.description:
        alike = words_alike(one.wording, other.wording)
        score += 1 if alike >= _ALIKE else -2 if alike < _UNLIKE else 0
    return score


def _name_evidence(one: str, other: str) -> int:
    score = -2 if other_acts(one, other) else 0
    if respelled(one, other):
        return score + _NAMES
    return score + 3 if names_alike(one, other) else score


def _schema_evidence(one: _Tool, other: _Tool) -> int:
    before, after = one.entry.parameters, other.entry.parameters
    few, many = sorted((len(before), len(after)))
    if one.schema == other.schema:
        if not many:
            return 1
        return (2 if many == 1 else 3) + int(one.written is None or len(one.written) > _TELLING)
    if not few:
        return 0
    shared = len(one.parameters & other.parameters) if few / many >= _ALIKE else 0
    if shared / len(before | after) >= _ALIKE:
        return 2 if shared > 1 else 1
    return -2
