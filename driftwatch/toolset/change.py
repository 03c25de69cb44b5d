"""What a diff is made of, and what it amounts to."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Final, NamedTuple

from driftwatch.model import Json, Level

BREAKING: Final = "breaking"
"""An existing caller, or a reader of structured output, fails."""
COMPATIBLE: Final = "compatible"
"""Existing callers keep working; what they can do or get by default is another."""
TEXT: Final = "text"
"""Only what a model reads."""
COSMETIC: Final = "cosmetic"
"""The digest moved, and nothing means anything else."""

CLASSES = (BREAKING, COMPATIBLE, TEXT, COSMETIC)
"""Worst first."""

STEERS: Final = "steers"
"""The new text holds orders to the agent that the old did not."""
HIDES: Final = "hides"
"""The new text holds characters nobody sees that the old did not."""
NEW_LINK: Final = "new-link"
"""The new text holds a URL that the old did not."""
WIDENS_HARM: Final = "widens-harm"
"""A hint now allows more harm, such as readOnlyHint true -> false."""

_LOSSES = frozenset({"tool-removed", "prompt-removed", "resource-removed", "template-removed"})

_GRAVE = frozenset({STEERS, HIDES, WIDENS_HARM})

_SCHEMA_KINDS = {
    "required": ("parameter now required", "parameters now required"),
    "optional": ("parameter now optional", "parameters now optional"),
    "type-changed": ("type changed", "types changed"),
    "type-narrowed": ("type narrowed", "types narrowed"),
    "type-widened": ("type widened", "types widened"),
    "values-removed": ("set of values narrowed", "sets of values narrowed"),
    "values-added": ("set of values widened", "sets of values widened"),
    "limit-tightened": ("limit tightened", "limits tightened"),
    "limit-loosened": ("limit loosened", "limits loosened"),
    "limit-changed": ("limit changed", "limits changed"),
    "pattern": ("pattern changed", "patterns changed"),
    "format": ("format changed", "formats changed"),
    "additional-properties": ("rule for the unknown changed", "rules for the unknown changed"),
    "form-removed": ("form removed", "forms removed"),
    "form-added": ("form added", "forms added"),
    "rule-tightened": ("rule tightened", "rules tightened"),
    "rule-loosened": ("rule loosened", "rules loosened"),
    "rule-changed": ("rule changed", "rules changed"),
    "schema-replaced": ("schema replaced", "schemas replaced"),
    "default": ("default changed", "defaults changed"),
    "dialect": ("schema dialect changed", "schema dialects changed"),
    "keyword": ("schema keyword changed", "schema keywords changed"),
}

FURTHER_KINDS: Mapping[str, tuple[str, str]] = {
    f"{noun}-{fate}": (f"{said} {verb}", f"{said}s {verb}")
    for noun, said in {"prompt": "prompt", "resource": "resource", "template": "resource template"}.items()
    for fate, verb in {
        "removed": "removed",
        "renamed": "renamed",
        "added": "added",
        "returned": "returned",
        "changed": "changed",
        "text": "text changed",
    }.items()
}
"""Of the other lists that may be watched."""

KINDS: Mapping[str, tuple[str, str]] = {
    "tool-removed": ("tool removed", "tools removed"),
    "tool-renamed": ("tool renamed", "tools renamed"),
    "tool-added": ("tool added", "tools added"),
    "tool-returned": ("tool returned", "tools returned"),
    "tool-returned-changed": (
        "tool returned with another definition",
        "tools returned with another definition",
    ),
    "schema-lost": ("input schema lost", "input schemas lost"),
    "parameter-dropped": ("parameter dropped", "parameters dropped"),
    "parameter-renamed": ("parameter renamed", "parameters renamed"),
    "parameter-added": ("parameter added", "parameters added"),
    **_SCHEMA_KINDS,
    "output-added": ("output schema added", "output schemas added"),
    "output-removed": ("output schema removed", "output schemas removed"),
    "output-property-dropped": ("output property dropped", "output properties dropped"),
    "output-property-renamed": ("output property renamed", "output properties renamed"),
    "output-property-added": ("output property added", "output properties added"),
    **{
        f"output-{kind}": (f"output {one}", f"output {several}")
        for kind, (one, several) in _SCHEMA_KINDS.items()
    },
    "output-required": ("output property now always there", "output properties now always there"),
    "output-optional": ("output property no longer always there", "output properties no longer always there"),
    "task-support": ("task support changed", "task supports changed"),
    "annotation": ("annotation changed", "annotations changed"),
    "instructions": ("instructions changed", "instructions changed"),
    "description": ("description changed", "descriptions changed"),
    "title": ("title changed", "titles changed"),
    "parameter-text": ("parameter text changed", "parameter texts changed"),
    "output-text": ("output text changed", "output texts changed"),
    "examples": ("set of examples changed", "sets of examples changed"),
    "output-examples": ("set of output examples changed", "sets of output examples changed"),
    "wording": ("text in a schema changed", "texts in schemas changed"),
    **FURTHER_KINDS,
    "rewritten": ("definition written differently", "definitions written differently"),
}
"""Every kind of change, in the order in which a summary names them, with the noun for one and for several."""

_MEMBERS = {"klass": "class"}
"""Fields whose name in JSON is another; ``class`` is a word of Python."""


def _noun(kind: str, number: int) -> str:
    """What a summary calls it; a kind of a newer version by its own name."""
    return KINDS.get(kind, (kind, kind))[number > 1]


_KIND_ORDER = {kind: place for place, kind in enumerate(KINDS)}
_SUMMARY_PARTS = 4


class Difference(NamedTuple):
    """One difference between two definitions of a tool; a change as long as it lacks the tool's name."""

    kind: str
    klass: str
    message: str
    pointer: str
    before: Json
    after: Json
    flags: tuple[str, ...] = ()

    def flagged(self, flags: tuple[str, ...], said: str) -> "Difference":
        """The same with more flags, and the words for them at the end of its message."""
        if not flags:
            return self
        every = tuple(dict.fromkeys((*self.flags, *flags)))
        return self._replace(flags=every, message=f"{self.message}; {said}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One difference between two tool lists."""

    kind: str
    """A key of KINDS."""
    tool: str | None
    """The tool's (new) name; None for the instructions and for a change that several tools share."""
    klass: str
    """breaking, compatible, text or cosmetic."""
    message: str
    """One sentence for a person. Foreign names and values in it are cut, hidden characters spelled out."""
    pointer: str | None = None
    """A JSON pointer into the tool: into the new one, or into the old one for what is gone."""
    before: Json = None
    """The old value; None where there was none."""
    after: Json = None
    flags: tuple[str, ...] = ()
    """steers, hides, new-link, widens-harm."""
    count: int = 1
    """How many tools changed alike."""
    tools: tuple[str, ...] = ()
    """Their names, when there are several."""

    def to_json(self) -> dict[str, Json]:
        """The change as a JSON object; ``klass`` is its member ``class``."""
        value = {_MEMBERS.get(item.name, item.name): getattr(self, item.name) for item in fields(self)}
        return value | {"flags": list(self.flags), "tools": list(self.tools)}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> "Change":
        """Read what to_json wrote. Raises KeyError or TypeError for anything else."""
        given = {item.name: value[_MEMBERS.get(item.name, item.name)] for item in fields(cls)}
        return cls(**given | {"flags": tuple(value["flags"]), "tools": tuple(value["tools"])})

    @property
    def grave(self) -> bool:
        """True when someone may come to harm: it breaks callers, steers, hides or widens harm."""
        return self.klass == BREAKING or not _GRAVE.isdisjoint(self.flags)

    @property
    def order(self) -> tuple[int, bool, int, str, str, str]:
        """Worst class first, within it the flagged, then by kind, tool and place."""
        rank = CLASSES.index(self.klass)
        place = self.pointer or ""
        return rank, not self.flags, _KIND_ORDER[self.kind], self.tool or "", place, self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Diff:
    """The differences between two tool lists, worst first; empty only if their fingerprints are equal."""

    changes: tuple[Change, ...] = ()

    @property
    def empty(self) -> bool:
        """True when nothing that counts is different."""
        return not self.changes

    @property
    def breaking(self) -> bool:
        """True when an existing caller or reader fails."""
        return any(change.klass == BREAKING for change in self.changes)

    @property
    def loses_only(self) -> bool:
        """True when entries are gone and nothing else is different: perhaps only for a while."""
        return bool(self.changes) and all(change.kind in _LOSSES for change in self.changes)

    @property
    def level(self) -> Level:
        """Error when anything is grave, info when all is cosmetic (or nothing), else warning."""
        if any(change.grave for change in self.changes):
            return Level.ERROR
        if all(change.klass == COSMETIC for change in self.changes):
            return Level.INFO
        return Level.WARNING

    @property
    def summary(self) -> str:
        """One line for a subject: ``1 tool renamed, 1 parameter dropped``; empty for an empty diff."""
        counts: Counter[str] = Counter()
        flags: dict[str, list[str]] = {}
        for change in self.changes:
            counts[change.kind] += change.count
            known = flags.setdefault(change.kind, [])
            known += [flag for flag in change.flags if flag not in known]
        parts = [
            f"{number} {_noun(kind, number)}" + (f" ({', '.join(flags[kind])})" if flags[kind] else "")
            for kind, number in counts.items()
        ]
        if len(parts) > _SUMMARY_PARTS:
            rest = sum(list(counts.values())[_SUMMARY_PARTS - 1 :])
            parts[_SUMMARY_PARTS - 1 :] = [f"{rest} more changes"]
        return ", ".join(parts)

    def to_json(self) -> dict[str, Json]:
        """The diff as a JSON object; ``level``, ``breaking`` and ``summary`` are there for readers."""
        return {
            "level": self.level.value,
            "breaking": self.breaking,
            "summary": self.summary,
            "changes": [change.to_json() for change in self.changes],
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> "Diff":
        """Read what to_json wrote. Raises KeyError or TypeError for anything else."""
        return cls(changes=tuple(map(Change.from_json, value["changes"])))
