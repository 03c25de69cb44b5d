"""Which tool of the new list is which of the old one: by name, else by what else they have in common."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from driftwatch.model import Json
from driftwatch.toolset.canonical import written_alike
from driftwatch.toolset.likeness import names_alike, other_acts, respelled, texts_alike
from driftwatch.toolset.tools import HINTS, Entry, Toolset, name_of, with_defaults

_SURE = 4
"""The evidence from which a removed and an added tool are one that was renamed."""

_COMPARISONS = 10_000
"""Removed times added tools up to which each is compared with each; beyond, those with a trait in common."""

_BUCKET = 400
_TELLING = 120
"""Characters of a schema in canonical form beyond which two are hardly equal by chance."""

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


def _renamed(removed: list[Entry], added: list[Entry]) -> list[Both]:
    """Pairs of one tool under two names, surest first; both lists are in canonical order."""
    lone = len(removed) == len(added) == 1
    place = {id(entry): index for entries in (removed, added) for index, entry in enumerate(entries)}
    scored = [(_evidence(one, other, lone=lone), one, other) for one, other in _candidates(removed, added)]
    pairs: list[Both] = []
    taken: set[int] = set()
    for score, one, other in sorted(
        scored, key=lambda item: (-item[0], place[id(item[1])], place[id(item[2])])
    ):
        if score >= _SURE and not taken & {id(one), id(other)}:
            taken |= {id(one), id(other)}
            pairs.append((one, other))
    return pairs


def _candidates(removed: list[Entry], added: list[Entry]) -> Iterator[Both]:
    if len(removed) * len(added) <= _COMPARISONS:
        yield from ((one, other) for one in removed for other in added)
        return
    seen: set[tuple[int, int]] = set()
    common = {entry.parameters for entry in removed} & {entry.parameters for entry in added}
    for mark in (
        lambda entry: entry.schema if entry.parameters in common else "",
        _description,
        lambda entry: name_of(entry.tool).lower(),
    ):
        ours: defaultdict[str, list[Entry]] = defaultdict(list)
        theirs: defaultdict[str, list[Entry]] = defaultdict(list)
        for entries, buckets in ((removed, ours), (added, theirs)):
            for entry in entries:
                buckets[mark(entry)].append(entry)
        for key in ours.keys() & theirs.keys():
            if key and len(ours[key]) * len(theirs[key]) <= _BUCKET:
                for one in ours[key]:
                    for other in theirs[key]:
                        if (id(one), id(other)) not in seen:
                            seen.add((id(one), id(other)))
                            yield one, other


def _evidence(one: Entry, other: Entry, *, lone: bool) -> int:
    """How much speaks for one tool under another name; _SURE is enough."""
    if not isinstance(one.tool, dict) or not isinstance(other.tool, dict):
        return 0
    name, new_name = name_of(one.tool), name_of(other.tool)
    score = int(lone) + _schema_evidence(one, other)
    if respelled(name, new_name):
        score += 4
    elif names_alike(name, new_name):
        score += 3
    if other_acts(name, new_name):
        score -= 2
    if _harm(one.tool) != _harm(other.tool):
        score -= 2
    before, after = _description(one), _description(other)
    if before and after:
        alike = texts_alike(before, after)
        score += 3 if before == after else 1 if alike >= _ALIKE else -2 if alike < _UNLIKE else 0
    return score


def _schema_evidence(one: Entry, other: Entry) -> int:
    few, many = sorted((len(_properties(one.tool)), len(_properties(other.tool))))
    if one.schema == other.schema:
        if not many:
            return 1
        return (2 if many == 1 else 3) + int(len(one.schema) > _TELLING)
    if not few:
        return 0
    if few / many < _ALIKE:
        # They cannot share enough; what is compared with thousands of tools may have thousands of parameters.
        return -2
    before, after = _parameters(one.tool), _parameters(other.tool)
    shared = sum(1 for name in before.keys() & after.keys() if before[name] == after[name])
    if shared / len(before.keys() | after.keys()) >= _ALIKE:
        return 2 if shared > 1 else 1
    return -2


def _properties(tool: Json) -> dict[str, Json]:
    schema = tool.get("inputSchema") if isinstance(tool, dict) else None
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return properties if isinstance(properties, dict) else {}


def _parameters(tool: Json) -> dict[str, Json]:
    """The names of the parameters, each with its type as written."""
    return {
        name: str(item.get("type") if isinstance(item, dict) else item)
        for name, item in _properties(tool).items()
    }


def _description(entry: Entry) -> str:
    text = entry.tool.get("description") if isinstance(entry.tool, dict) else None
    return text.strip() if isinstance(text, str) else ""


def _harm(tool: dict[str, Json]) -> tuple[bool, bool]:
    hints = with_defaults(tool.get("annotations"), HINTS)
    if not isinstance(hints, dict):
        hints = HINTS
    return hints["readOnlyHint"] is True, hints["destructiveHint"] is not False
