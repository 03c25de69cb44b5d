"""The worklist of one comparison: pairs of places still to be compared, and where findings go."""

from collections import deque
from dataclasses import dataclass, field

from driftwatch.model import Json
from driftwatch.toolset.sameness import Alike, Sameness
from driftwatch.toolset.schema.ledger import ABSENT, Ledger
from driftwatch.toolset.schema.views import Document, View

_DEFINITIONS = ("$defs", "definitions")


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
    sameness: Sameness
    todo: deque[Pair] = field(default_factory=deque)
    seen: dict[tuple[int, int], Pair] = field(default_factory=dict)
    """By identity; the pair is kept so that the identities stay taken."""
    _unchanged: Alike = field(init=False)
    """From here two values mean the same: references to definitions do where no definition differs."""

    def __post_init__(self) -> None:
        definitions = min(
            self.sameness.of(self.old.root.get(name), self.new.root.get(name)) for name in _DEFINITIONS
        )
        self._unchanged = Alike.DEFINED if definitions >= Alike.DEFINED else Alike.YES

    def push(self, pair: Pair) -> None:
        """Compare this pair too, unless it cannot differ or was compared before (a definition used twice)."""
        key = id(pair.old), id(pair.new)
        if key not in self.seen and not self.unchanged(pair.old, pair.new):
            self.seen[key] = pair
            self.todo.append(pair)

    def unchanged(self, old: Json, new: Json) -> bool:
        """True when both are written alike and point to nothing that may differ; may miss, never errs."""
        return self.sameness.of(old, new) >= self._unchanged

    def changed(self, old: View, new: View) -> set[str]:
        """The keywords that differ, or may: what is said about all others is the same."""
        before, after = old.keywords, new.keywords
        alike, enough = self.sameness.of, self._unchanged
        changed = after.keys() - before.keys()
        for name, item in before.items():
            if alike(item, after.get(name, ABSENT)) < enough:
                changed.add(name)
        return changed
