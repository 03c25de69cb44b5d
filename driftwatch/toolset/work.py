"""The worklist of one comparison: pairs of places still to be compared, and where findings go."""

from dataclasses import dataclass, field

from driftwatch.model import Json
from driftwatch.toolset.ledger import Ledger
from driftwatch.toolset.views import Document


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
    todo: list[Pair] = field(default_factory=list)
    seen: dict[tuple[int, int], Pair] = field(default_factory=dict)
    """By identity; the pair is kept so that the identities stay taken."""

    def push(self, pair: Pair) -> None:
        """Compare this pair too, unless it was compared before (a cycle, or a definition used twice)."""
        key = id(pair.old), id(pair.new)
        if key not in self.seen:
            self.seen[key] = pair
            self.todo.append(pair)
