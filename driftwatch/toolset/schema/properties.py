"""The properties of an object: added, dropped, renamed, required or not, and what else may be there."""

from collections import Counter
from collections.abc import Iterable
from functools import cached_property

from driftwatch.model import Json
from driftwatch.toolset.change import BREAKING, COMPATIBLE
from driftwatch.toolset.likeness import names_alike, respelled, surest, words, words_alike
from driftwatch.toolset.schema.essence import essence
from driftwatch.toolset.schema.ledger import Effect
from driftwatch.toolset.schema.values import kinds, type_words
from driftwatch.toolset.schema.views import ANYTHING, INDIRECT, Document, View, names
from driftwatch.toolset.schema.work import Pair, Work
from driftwatch.toolset.wording import quote, renamed

_MOST = 6
"""The most that names and equal demands may speak for one property."""

_UNLIKE = 0.3
"""The share of common words below which two descriptions speak of two things."""

PROPERTIES = frozenset({"properties", "required", "additionalProperties", "unevaluatedProperties"})

_EVALUATING = INDIRECT | {"$dynamicRef", "if", "dependentSchemas", "dependencies"}
"""Keywords by which properties are evaluated that a schema does not declare itself."""

_CANDIDATES = 60
"""With more dropped or added properties than this, nothing is called renamed."""


class _Property:
    """One property of an object."""

    def __init__(self, name: str, schema: Json, pointer: str, document: Document, *, required: bool) -> None:
        self.name = name
        self.schema = schema
        self.pointer = pointer
        self.document = document
        self.required = required
        self.view = document.view(schema, pointer)
        text = self.view.keywords.get("description")
        self.description = text.strip() if isinstance(text, str) else ""
        self.kinds = kinds(self.view)

    @cached_property
    def demands(self) -> str:
        return essence(self.document, self.schema)

    @cached_property
    def telling(self) -> bool:
        """True when it has a rule beside its type: two bare strings are alike by chance."""
        return len(self.view.rules) > 1

    def words(self) -> str:
        """Such as ``(string, optional)``."""
        said = type_words(self.kinds)
        return f"({said}, {'required' if self.required else 'optional'})"

    @cached_property
    def wording(self) -> frozenset[str]:
        return words(self.description)


def compare_properties(old: View, new: View, pair: Pair, work: Work) -> None:
    """Compare what the two objects declare, name by name."""
    (ours, required), (theirs, now_required) = _declared(old), _declared(new)
    dropped: dict[str, _Property] = {}
    added: dict[str, _Property] = {}
    for name in sorted(work.changed(ours, theirs)):
        if name not in theirs:
            pointer = old.at_property(name)
            dropped[name] = _Property(name, ours[name], pointer, work.old, required=name in required)
        elif name not in ours:
            pointer = new.at_property(name)
            added[name] = _Property(name, theirs[name], pointer, work.new, required=name in now_required)
        else:
            places = old.at_property(name), new.at_property(name)
            work.push_changed(Pair(ours[name], places[0], theirs[name], places[1], pair.below(name)))
    for one, other in _renamed(dropped, added, work):
        del dropped[one.name], added[other.name]
        _compare_renamed(one, other, pair, work)
    for item in dropped.values():
        _note(work, "dropped", pair, item)
    for item in added.values():
        _compare_added(item, old, pair, work)
    for name in sorted(required ^ now_required):
        was = name in required
        if name in ours and name in theirs:
            _note_required(name, was=was, pointer=_required(new.at_property(name)), pair=pair, work=work)
        elif name not in ours and name not in theirs:
            _note_required(name, was=was, pointer=(old if was else new).at("required"), pair=pair, work=work)
    _compare_unknown(old, new, "additionalProperties", pair, work)
    _compare_unknown(old, new, "unevaluatedProperties", pair, work)


def _declared(view: View) -> tuple[dict[str, Json], set[str]]:
    properties = view.keywords.get("properties")
    return properties if isinstance(properties, dict) else {}, set(names(view.keywords.get("required")))


def _required(pointer: str) -> str:
    """Where the names that are required stand, from where a property does."""
    return f"{pointer.rpartition('/properties/')[0]}/required"


def _note(work: Work, change: str, pair: Pair, item: _Property) -> None:
    side = work.ledger.side
    message = f"{side.noun} {quote(pair.below(item.name))} {item.words()} {change}"
    if change == "dropped":
        work.ledger.note(change, BREAKING, message, item.pointer, (item.schema, None))
    else:
        narrows = side.name == "input" and item.required
        effect = BREAKING if narrows else COMPATIBLE
        work.ledger.note(change, effect, message, item.pointer, (None, item.schema))


def _compare_added(item: _Property, old: View, pair: Pair, work: Work) -> None:
    """Note a new property, and what it takes from those who sent an unknown one under that name."""
    _note(work, "added", pair, item)
    unknown = old.keywords.get("additionalProperties")
    if isinstance(unknown, dict) and unknown:
        pointer = old.at("additionalProperties")
        work.push(Pair(unknown, pointer, item.schema, item.pointer, pair.below(item.name)))


def _compare_renamed(one: _Property, other: _Property, pair: Pair, work: Work) -> None:
    path = pair.below(other.name)
    message = f"{work.ledger.side.noun} {renamed(pair.below(one.name), path)}"
    work.ledger.note("renamed", BREAKING, message, other.pointer, (one.name, other.name))
    work.push(Pair(one.schema, one.pointer, other.schema, other.pointer, path))
    if one.required != other.required:
        pointer = _required(other.pointer)
        _note_required(other.name, was=one.required, pointer=pointer, pair=pair, work=work)


def _note_required(name: str, *, was: bool, pointer: str, pair: Pair, work: Work) -> None:
    side = work.ledger.side
    subject = side.of(pair.below(name))
    always = "always there" if side.name == "output" else "required"
    change, effect, now = (
        ("optional", Effect.WIDENED, "no longer") if was else ("required", Effect.NARROWED, "now")
    )
    work.ledger.note(change, effect, f"{subject} is {now} {always}", pointer, (was, not was), about=name)


def _renamed(
    dropped: dict[str, _Property], added: dict[str, _Property], work: Work
) -> list[tuple[_Property, _Property]]:
    """Pairs of one property under two names, surest first. What weighing them costs is limited too."""
    if not dropped or not added or max(len(dropped), len(added)) > _CANDIDATES:
        return []
    twins = _twins(dropped, added, work)
    taken = {item.name for both in twins for item in both}
    ours, theirs = ([item for item in side.values() if item.name not in taken] for side in (dropped, added))
    lone = len(dropped) == len(added) == 1

    def evidence(old: int, new: int) -> int:
        if not work.old.allowance.spend():
            return 0
        one, other = ours[old], theirs[new]
        return _evidence(one, other, lone=lone) + _costly_evidence(one, other, work)

    candidates = (
        (old, new, _evidence(one, other, lone=lone) + _MOST)
        for old, one in enumerate(ours)
        for new, other in enumerate(theirs)
    )
    return [*twins, *((ours[old], theirs[new]) for old, new in surest(candidates, evidence))]


def _twins(
    dropped: dict[str, _Property], added: dict[str, _Property], work: Work
) -> list[tuple[_Property, _Property]]:
    """Those whose names are alike and that are written alike, with a description that no other has."""
    ours, theirs = (_by_description(side.values()) for side in (dropped, added))
    return [
        (one, theirs[text])
        for text, one in ours.items()
        if text in theirs
        and work.unchanged(one.schema, theirs[text].schema)
        and names_alike(one.name, theirs[text].name)
    ]


def _by_description(properties: Iterable[_Property]) -> dict[str, _Property]:
    """The properties with a description of their own."""
    every = list(properties)
    often = Counter(item.description for item in every)
    return {item.description: item for item in every if item.description and often[item.description] == 1}


def _evidence(one: _Property, other: _Property, *, lone: bool) -> int:
    """How much speaks for one property under another name, at a glance."""
    before, after = one.kinds, other.kinds
    if before != after and before is not None and after is not None and before.isdisjoint(after):
        return -_MOST
    score = int(before == after) + int(one.required == other.required) + int(lone)
    if one.description and one.description == other.description:
        score += 3
    elif one.description and other.description and words_alike(one.wording, other.wording) < _UNLIKE:
        score -= 2
    return score


def _costly_evidence(one: _Property, other: _Property, work: Work) -> int:
    """What the names say, and whether both demand the same."""
    score = 3 if respelled(one.name, other.name) else 2 if names_alike(one.name, other.name) else 0
    if work.unchanged(one.schema, other.schema) or one.demands == other.demands:
        score += 3 if one.telling else 1
    return score


def _compare_unknown(old: View, new: View, keyword: str, pair: Pair, work: Work) -> None:
    """Compare what is said about properties that are not declared."""
    (ours, said), (theirs, now_said) = _unknown(old, keyword), _unknown(new, keyword)
    if ours is ANYTHING and theirs is ANYTHING:
        return
    before, after = _open(ours), _open(theirs)
    if isinstance(before, dict) and isinstance(after, dict):
        if before and after:
            work.push(Pair(before, old.at(said), after, new.at(now_said), pair.below("*")))
            return
        if not before and not after:
            return
    elif before is after:
        return
    side = work.ledger.side
    where = f" of {side.of(pair.path)}" if pair.path else ""
    what = f"unknown {'parameters' if side.name == 'input' and not pair.path else 'properties'}{where}"
    if not pair.path and side.name == "output":
        what = "unknown properties of the output"
    tighter = after is False or (before is not False and not before)
    if after is False:
        message = f"{what} are {'now refused' if side.name == 'input' else 'no longer possible'}"
    elif not after:
        message = f"{what} are now {'accepted' if side.name == 'input' else 'possible'}"
    else:
        message = (
            f"{what} {side.must if tighter else 'may now be'} {type_words(kinds(work.new.view(after, '')))}"
        )
    effect: Effect | str = Effect.NARROWED if tighter else Effect.WIDENED
    if side.name == "output":  # a reader passes over what it does not know
        effect = COMPATIBLE
    pointer = new.at(now_said) if now_said in new.keywords else old.at(said)
    values = (old.keywords.get(said), new.keywords.get(now_said))
    work.ledger.note("additional-properties", effect, message, pointer, values)


def _unknown(view: View, keyword: str) -> tuple[Json, str]:
    """What a keyword says about properties that are not declared, and where that stands.

    Where nothing else could evaluate them, unevaluated properties are the additional ones.
    """
    if (
        "unevaluatedProperties" in view.keywords
        and "additionalProperties" not in view.keywords
        and _EVALUATING.isdisjoint(view.keywords)
    ):
        own = "unevaluatedProperties"
        return (view.keywords[own], own) if keyword == "additionalProperties" else (ANYTHING, keyword)
    return view.keywords.get(keyword, ANYTHING), keyword


def _open(of: Json) -> Json:
    """False, a schema that says something, or the schema that accepts anything."""
    return of if of is False or (isinstance(of, dict) and of) else ANYTHING
