"""The worklist of one comparison: pairs of places still to be compared, and where findings go."""

import re
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple

from driftwatch.model import Json
from driftwatch.toolset.sameness import CONTAINERS, Sameness
from driftwatch.toolset.schema.ledger import Ledger
from driftwatch.toolset.schema.views import Document

DEFINITIONS = frozenset({"$defs", "definitions"})
_ELSEWHERE = re.compile(rb"\$(?:dynamicRef|ref(?!u[\s\S]{4}#/(?:\$defs|definitions)/))")
"""A reference that does not lead to a definition, as spelled: a text is ``u``, its length, its bytes."""


class Pair(NamedTuple):
    """One place, in the old schema and in the new one."""

    old: Json
    old_pointer: str
    new: Json
    new_pointer: str
    path: str
    """How a person names the place: ``filter.status``, ``items[].qty``; empty for the root."""

    def below(self, step: str) -> str:
        """The path of a property; ``[]`` and the like follow without a dot."""
        return f"{self.path}.{step}" if self.path else step


@dataclass(slots=True)
class Work:
    """Everything that one comparison of two schemas shares."""

    old: Document
    new: Document
    ledger: Ledger
    sameness: Sameness
    todo: deque[Pair] = field(default_factory=deque)
    seen: dict[tuple[int, int], Pair] = field(default_factory=dict)
    """By identity; the pair is kept so that the identities stay taken."""
    _settled: set[int] | None = field(init=False)
    """Identities of what points to nothing that may differ; None for everything."""

    def __post_init__(self) -> None:
        old = self.old.root
        definitions = DEFINITIONS.isdisjoint(self.sameness.changed(old, self.new.root))
        self._settled = None if definitions and not points_elsewhere(old, self.sameness) else _settled(old)

    def push(self, pair: Pair) -> None:
        """Compare this pair too, unless it cannot differ or was compared before."""
        if not self.unchanged(pair.old, pair.new):
            self.push_changed(pair)

    def push_changed(self, pair: Pair) -> None:
        """Compare this pair too, unless it was compared before (a definition used twice)."""
        old, new = pair.old, pair.new
        if type(old) is dict and "$ref" in old and pair.path:  # the root is read in its own way
            old, new = self.old.definition(old), self.new.definition(new)
        key = id(old), id(new)
        if key not in self.seen:
            self.seen[key] = pair
            self.todo.append(pair)

    def unchanged(self, old: Json, new: Json) -> bool:
        """True when both are written alike and point to nothing that may differ; may miss, never errs."""
        return self.sameness.alike(old, new) and self._is_settled(old)

    def changed(self, old: dict[str, Json], new: dict[str, Json]) -> frozenset[str]:
        """The names of members that differ, or may: what is said about all others is the same."""
        changed = self.sameness.changed(old, new)
        if self._settled is None:
            return changed
        return changed.union(
            [n for n, item in old.items() if type(item) in CONTAINERS and id(item) not in self._settled]
        )

    def _is_settled(self, item: Json) -> bool:
        return self._settled is None or type(item) not in CONTAINERS or id(item) in self._settled


def points_elsewhere(schema: Json, sameness: Sameness) -> bool:
    """True when a schema has references that do not lead to its definitions; errs on this side."""
    written = sameness.spelled(schema)
    return written is None or _ELSEWHERE.search(written) is not None


def _settled(schema: Json) -> set[int]:
    """Identities of the objects and arrays that have no reference in them."""
    every = [(schema, _containers(schema))]
    for _, below in every:
        every += [(item, _containers(item)) for item in below]
    found: set[int] = set()
    for item, below in reversed(every):
        if "$ref" not in item and "$dynamicRef" not in item and found.issuperset(map(id, below)):
            found.add(id(item))
    return found


def _containers(of: Json) -> list[Json]:
    """The objects and arrays right in one."""
    return [item for item in (of.values() if type(of) is dict else of) if type(item) in CONTAINERS]
