"""How the set of types, and the list of allowed values, of a schema changed."""

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from driftwatch.model import Json
from driftwatch.toolset.canonical import by_form, canonical, same
from driftwatch.toolset.schema.keywords import SPEAKS_OF
from driftwatch.toolset.schema.ledger import Effect, Ledger
from driftwatch.toolset.schema.views import View, types
from driftwatch.toolset.wording import either, listed, spelled, value

TYPES = ("string", "number", "integer", "boolean", "object", "array", "null")
"""In the order in which they are said."""

EVERY_TYPE = frozenset(TYPES)
_EVERY = EVERY_TYPE - {"integer"}

_INSTANCES = {"number": frozenset({"number", "integer"})}
"""The types of values that a type accepts, where they are several."""

VALUES = frozenset({"enum", "const"})
TYPE = VALUES | {"type"}
"""The keywords that tell the type of a value."""


def kinds(view: View, *, root: bool = False) -> frozenset[str] | None:
    """The types that a schema accepts, named by ``type`` or by its values; None for any.

    At the root of a tool's schema an absent type is ``object``: nothing else can be sent.
    """
    named = view.keywords.get("type")
    if type(named) is str:
        return frozenset((named,))
    named = frozenset(types(named))
    if not named:
        allowed = values(view)
        if allowed is not None:
            named = frozenset(map(_type_of, allowed))
        elif root:
            named = frozenset({"object"})
    elif "enum" in view.keywords:
        named = _inhabited(named, view.keywords["enum"])
    if "number" in named:
        named -= {"integer"}
    return None if not named or named >= _EVERY else named


@lru_cache(maxsize=128)  # as for the changes of type
def idle_keywords(before: frozenset[str] | None, after: frozenset[str] | None) -> frozenset[str]:
    """The rules that speak of types alone which one side refuses: what becomes of those, the types say.

    Empty where a named type is none of JSON Schema: what is meant by it is not known.
    """
    ours, theirs = (EVERY_TYPE if side is None else side for side in (before, after))
    if not ours | theirs <= EVERY_TYPE:
        return frozenset()
    return frozenset(name for name, of in SPEAKS_OF.items() if of.isdisjoint(ours) or of.isdisjoint(theirs))


def values(view: View) -> list[Json] | None:
    """The values that ``enum`` and ``const`` allow; None for any."""
    allowed = view.keywords.get("enum")
    if "type" in view.keywords and isinstance(allowed, list):
        allowed = _of_types(allowed, view.keywords["type"])
    if "const" in view.keywords:
        constant = view.keywords["const"]
        refused = isinstance(allowed, list) and not any(same(constant, item) for item in allowed)
        return [] if refused else [constant]
    return allowed if isinstance(allowed, list) else None


def _inhabited(named: frozenset[str], allowed: Json) -> frozenset[str]:
    """Those of several types that a listed value has: null is not accepted where it is not listed."""
    if not isinstance(allowed, list):
        return named
    found = frozenset(map(_type_of, allowed))
    return frozenset(kind for kind in named if not found.isdisjoint(_INSTANCES.get(kind, {kind}))) or named


def _of_types(allowed: list[Json], kind: Json) -> list[Json]:
    """The listed values without those that no named type has; all of them where none would be left."""
    if kind == "string" and {*map(type, allowed)} == {str}:
        return allowed
    named = frozenset(types(kind))
    return [item for item in allowed if _accepts(named or None, _type_of(item))] or allowed


def compare_types(
    old: View, new: View, subject: str, ledger: Ledger, *, root: bool
) -> tuple[frozenset[str], bool]:
    """Note a change of type. Returns the types lost or gained, and whether any but null remains."""
    before, after = kinds(old, root=root), kinds(new, root=root)
    if before == after:
        return frozenset(), True
    change = _type_change(before, after, ledger.side.must)
    if not change.moved:
        return frozenset(), True
    pointer = (new if "type" in new.keywords or "type" not in old.keywords else old).at("type")
    ledger.note(change.kind, change.effect, f"{subject} {change.said}", pointer, change.values)
    return change.moved, change.remains


class _TypeChange(NamedTuple):
    """What becomes of the values when a schema accepts other types."""

    moved: frozenset[str]
    """The types lost or gained."""
    remains: bool
    """True when values of any type but null are as they were."""
    values: tuple[Json, Json]
    """The types before and after."""
    kind: str
    effect: Effect
    said: str


@lru_cache(maxsize=128)  # there are few, and each is asked for again and again
def _type_change(before: frozenset[str] | None, after: frozenset[str] | None, must: str) -> _TypeChange:
    ours, theirs = before or _EVERY, after or _EVERY
    lost = frozenset(kind for kind in ours if not _accepts(after, kind))
    gained = frozenset(kind for kind in theirs if not _accepts(before, kind))
    kept = (ours - lost) | (theirs - gained)
    remains = not (lost and gained) or bool(kept - {"null"})
    values = _named(before), _named(after)
    return _TypeChange(lost | gained, remains, values, *_type_change_words(before, after, lost, gained, must))


def _type_change_words(
    before: Iterable[str] | None,
    after: Iterable[str] | None,
    lost: frozenset[str],
    gained: frozenset[str],
    must: str,
) -> tuple[str, Effect, str]:
    was, now = type_words(before), type_words(after)
    if gained == {"null"} and not lost:
        return "type-widened", Effect.WIDENED, "may now be null"
    if lost == {"null"} and not gained:
        return "type-narrowed", Effect.NARROWED, "may no longer be null"
    if not lost:
        return "type-widened", Effect.WIDENED, f"may now be {now} (was {was})"
    if not gained:
        return "type-narrowed", Effect.NARROWED, f"{must} {now} (was {was})"
    return "type-changed", Effect.EXCHANGED, f"is now {now} (was {was})"


def type_words(of: Iterable[str] | None) -> str:
    """``string or null``; ``any type`` for None."""
    if of is None:
        return "any type"
    return either(
        map(spelled, sorted(of, key=lambda kind: (TYPES.index(kind) if kind in TYPES else len(TYPES), kind)))
    )


def _accepts(of: frozenset[str] | None, kind: str) -> bool:
    return of is None or kind in of or (kind == "integer" and "number" in of)


def _named(of: frozenset[str] | None) -> Json:
    """The types as a schema would write them."""
    if of is None:
        return None
    if len(of) == 1:
        return next(iter(of))
    return sorted(of, key=lambda kind: (kind == "null", kind))


def _type_of(of: Json) -> str:
    if of is None:
        return "null"
    if isinstance(of, bool):
        return "boolean"
    if isinstance(of, (int, float)):
        return "integer" if isinstance(of, int) or of.is_integer() else "number"
    if isinstance(of, str):
        return "string"
    return "array" if isinstance(of, list) else "object"


def compare_values(old: View, new: View, moved: frozenset[str], subject: str, ledger: Ledger) -> None:
    """Note values that are no longer, or newly, allowed; of ``moved`` types the type change says it."""
    before, after = values(old), values(new)
    if before is None and after is None:
        return
    pointer = (new if after is not None else old).at(_keyword(new if after is not None else old))
    if before is None:
        if not _spells_out(after or [], new):
            one_of = "one of " if len(by_form(after or [])) > 1 else ""
            message = f"{subject} {ledger.side.must} {one_of}{_listed(after or [])}"
            ledger.note("values-removed", Effect.NARROWED, message, pointer, (before, after))
        return
    if after is None:
        if not _spells_out(before, old):
            message = f"{subject} is no longer limited to {_listed(before)}"
            ledger.note("values-added", Effect.WIDENED, message, pointer, (before, after))
        return
    known, allowed = by_form(before), by_form(after)
    lost = [item for form, item in known.items() if form not in allowed]
    gained = [item for form, item in allowed.items() if form not in known]
    if moved:
        lost, gained = ([item for item in items if _type_of(item) not in moved] for items in (lost, gained))
    input_side = ledger.side.name == "input"
    if len(known) == len(allowed) == 1 and lost and gained:
        message = f"{subject} {ledger.side.must} {value(gained[0])} (was {value(lost[0])})"
        ledger.note("values-removed", Effect.EXCHANGED, message, pointer, (before, after))
        return
    if lost:
        verb = "no longer accepts" if input_side else "is no longer"
        ledger.note(
            "values-removed", Effect.NARROWED, f"{subject} {verb} {_listed(lost)}", pointer, (before, after)
        )
    if gained:
        verb = "now also accepts" if input_side else "may now also be"
        ledger.note(
            "values-added", Effect.WIDENED, f"{subject} {verb} {_listed(gained)}", pointer, (before, after)
        )


def _keyword(view: View) -> str:
    return "const" if "const" in view.keywords else "enum"


def _listed(items: list[Json]) -> str:
    return listed(sorted(map(value, items)))


def _spells_out(items: list[Json], view: View) -> bool:
    """True, false and null written down say no more than their types, where those are the accepted ones."""
    forms = {canonical(item) for item in items}
    said = bool(forms) and forms - {"null"} in (set(), {"true", "false"})
    return said and frozenset(map(_type_of, items)) == kinds(view)
