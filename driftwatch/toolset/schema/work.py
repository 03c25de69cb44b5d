"""The worklist of one comparison: pairs of places still to be compared, and where findings go."""

import re
from collections import deque
from dataclasses import dataclass, field

from driftwatch.model import Json
from driftwatch.toolset.schema.ledger import Ledger
from driftwatch.toolset.schema.views import Document

_DEFINITIONS = ("$defs", "definitions")
_TO_DEFINITIONS = re.compile(r"'\$ref': '#/(?:\$defs|definitions)/[^']*'")


@dataclass(frozen=True, slots=True)
class Pair:
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
    todo: deque[Pair] = field(default_factory=deque)
    seen: dict[tuple[int, int], Pair] = field(default_factory=dict)
    """By identity; the pair is kept so that the identities stay taken."""
    same_definitions: bool = field(init=False)
    """True when every definition is the same in both: a reference to one then means the same too."""

    def __post_init__(self) -> None:
        self.same_definitions = True  # while the definitions themselves are compared
        one, other = (
            {name: document.root[name] for name in _DEFINITIONS if name in document.root}
            for document in (self.old, self.new)
        )
        self.same_definitions = self.unchanged(one, other)

    def push(self, pair: Pair) -> None:
        """Compare this pair too, unless it cannot differ or was compared before (a definition used twice)."""
        key = id(pair.old), id(pair.new)
        if key not in self.seen and not self.unchanged(pair.old, pair.new):
            self.seen[key] = pair
            self.todo.append(pair)

    def unchanged(self, old: Json, new: Json) -> bool:
        """True when both are written alike and point to nothing that may differ; may miss, never errs."""
        try:
            # Python's equality takes true for 1, its spelling does not.
            if old != new or (text := repr(old)) != repr(new):
                return False
        except (RecursionError, ValueError):  # too deep, or an integer too long to spell
            return False
        references = text.count("$ref") + text.count("$dynamicRef")
        return not references or (self.same_definitions and len(_TO_DEFINITIONS.findall(text)) == references)
