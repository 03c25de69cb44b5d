"""Where the comparison of one schema writes down what it finds, in words and with its class."""

from collections import defaultdict
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from driftwatch.model import Json
from driftwatch.toolset.canonical import same
from driftwatch.toolset.change import BREAKING, COMPATIBLE, TEXT, Difference
from driftwatch.toolset.wording import quote


class Effect(StrEnum):
    """What a change does to the set of values that a schema accepts."""

    NARROWED = "narrowed"
    WIDENED = "widened"
    EXCHANGED = "exchanged"
    """Some values are gone and others are new."""
    NONE = "none"
    """The same values; they mean something else (a default)."""
    TEXT = "text"
    """Only what is read."""


class _Absent:
    """The value of a keyword that is not there, which null is not."""


ABSENT: Final = _Absent()


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """Who is hurt by a change: callers write the input, readers read the output."""

    name: str
    """``input`` or ``output``."""
    noun: str
    """What a property is called."""
    classes: dict[Effect, str]
    kinds: dict[str, str]
    """Names of kinds of change on this side; any other takes ``prefix``."""
    prefix: str
    must: str
    """How a rule is said: ``must now be``, ``is now``."""
    must_have: str
    must_match: str

    def of(self, path: str) -> str:
        """What stands at a path, as the subject of a sentence."""
        if not path:
            return f"the {self.name}"
        return quote(path) if self is INPUT else f"output {quote(path)}"

    def kind(self, name: str) -> str:
        """The kind of change, a key of KINDS."""
        return self.kinds.get(name) or self.prefix + name


INPUT = Side(
    name="input",
    noun="parameter",
    classes={
        Effect.NARROWED: BREAKING,
        Effect.WIDENED: COMPATIBLE,
        Effect.EXCHANGED: BREAKING,
        Effect.NONE: COMPATIBLE,
        Effect.TEXT: TEXT,
    },
    kinds={
        "dropped": "parameter-dropped",
        "added": "parameter-added",
        "renamed": "parameter-renamed",
        "text": "parameter-text",
    },
    prefix="",
    must="must now be",
    must_have="must now have",
    must_match="must now match",
)
OUTPUT = Side(
    name="output",
    noun="output property",
    classes={
        Effect.NARROWED: COMPATIBLE,
        Effect.WIDENED: BREAKING,
        Effect.EXCHANGED: BREAKING,
        Effect.NONE: COMPATIBLE,
        Effect.TEXT: TEXT,
    },
    kinds={
        "dropped": "output-property-dropped",
        "added": "output-property-added",
        "renamed": "output-property-renamed",
    },
    prefix="output-",
    must="is now",
    must_have="now has",
    must_match="now matches",
)


@dataclass(slots=True)
class Ledger:
    """The differences found in one schema."""

    side: Side
    changes: list[Difference] = field(default_factory=list)
    noted: defaultdict[tuple[str, str, str], list[Difference]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """The same differences by kind and place."""

    def note(
        self,
        kind: str,
        effect: Effect | str,
        message: str,
        pointer: str,
        values: tuple[Json, Json] = (ABSENT, ABSENT),
        *,
        about: str = "",
    ) -> None:
        """Write down a change, with old and new value; ``effect`` is a class where no side decides it.

        What changed in a definition that is used twice is written down once; ``about`` tells changes of one
        place apart.
        """
        before, after = values
        before, after = None if before is ABSENT else before, None if after is ABSENT else after
        noted = self.noted[kind, pointer, about]
        if noted and any(same(before, one.before) and same(after, one.after) for one in noted):
            return
        klass = self.side.classes[effect] if isinstance(effect, Effect) else effect
        found = Difference(self.side.kind(kind), klass, message, pointer, before, after)
        noted.append(found)
        self.changes.append(found)
