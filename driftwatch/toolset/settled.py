"""What several reads of one list have in common, with a mark in place of whatever changes at every read."""

from collections import Counter
from collections.abc import Sequence
from functools import reduce

from driftwatch.model import Json
from driftwatch.toolset.canonical import canonical, same
from driftwatch.toolset.tools import Toolset

MARK = "(changes at every read)"


def settled(reads: Sequence[Toolset]) -> Toolset:
    """One list of at least one read: a value that is not the same in all of them is the mark.

    So is what only some of them have; a tool keeps its name.
    """
    return reduce(_common, reads)


def differs_only_in_marks(settled_list: Toolset, other: Toolset) -> bool:
    """Whether another list differs from a settled one only where that has the mark."""
    alike = same(_plain(_common(settled_list, other)), _plain(settled_list))
    return alike and _names(settled_list) == _names(other)


def _names(toolset: Toolset) -> list[tuple[str, set[tuple[str, int]]]]:
    lists = (("tools", toolset.tools), *toolset.further)
    return [(kind, set(_by_name(entries))) for kind, entries in lists]


def _plain(toolset: Toolset) -> Json:
    return [
        list(toolset.tools),
        toolset.instructions,
        [[kind, list(items)] for kind, items in toolset.further],
    ]


def _common(one: Toolset, other: Toolset) -> Toolset:
    kinds = dict(other.further)
    return Toolset(
        tools=tuple(_entries(one.tools, other.tools)),
        instructions=_merged(one.instructions, other.instructions),
        further=tuple((kind, tuple(_entries(items, kinds.get(kind, ())))) for kind, items in one.further),
    )


def _entries(one: Sequence[Json], other: Sequence[Json]) -> list[Json]:
    """The entries of both, by their names; the order of a list is nothing."""
    mine, theirs = _by_name(one), _by_name(other)
    return [
        _merged(mine[name], theirs[name])
        if name in mine and name in theirs
        else _marked(mine[name] if name in mine else theirs[name])
        for name in dict.fromkeys([*mine, *theirs])
    ]


def _by_name(entries: Sequence[Json]) -> dict[tuple[str, int], Json]:
    """What has the name of another is told apart by how often that came before."""
    found: dict[tuple[str, int], Json] = {}
    seen = Counter[str]()
    for entry in entries:
        name = canonical(entry.get("name", entry.get("uri")) if isinstance(entry, dict) else entry)
        found[name, seen[name]] = entry
        seen[name] += 1
    return found


def _marked(entry: Json) -> Json:
    if not isinstance(entry, dict):
        return MARK
    return {member: value if member in {"name", "uri"} else MARK for member, value in entry.items()}


def _merged(one: Json, other: Json) -> Json:
    if same(one, other):
        return one
    if isinstance(one, dict) and isinstance(other, dict):
        return {
            member: _merged(one[member], other[member]) if member in one and member in other else MARK
            for member in dict.fromkeys([*one, *other])
        }
    lists = isinstance(one, list) and isinstance(other, list) and len(one) == len(other)
    if lists and all(isinstance(item, dict) for item in (*one, *other)):
        return [_merged(item, twin) for item, twin in zip(one, other, strict=True)]
    return MARK
