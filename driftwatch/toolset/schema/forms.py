"""Unions that stay unions: which forms of a value are no longer accepted, and which are new."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import combinations

from driftwatch.model import Json
from driftwatch.toolset.schema.essence import essence
from driftwatch.toolset.schema.keywords import KNOWN, NOTES, SPEAKS_OF
from driftwatch.toolset.schema.ledger import Effect
from driftwatch.toolset.schema.values import kinds, type_words
from driftwatch.toolset.schema.values import values as allowed_values
from driftwatch.toolset.schema.views import INDIRECT, UNIONS, Document, View, names
from driftwatch.toolset.schema.work import Pair, Work
from driftwatch.toolset.wording import listed, quote, value

_UNIONS = frozenset(UNIONS)
_DEMANDING = KNOWN - NOTES
_MIXED = INDIRECT | {"enum", "const", "not", "if"}
"""Rules that may speak of several types at once."""
_NESTED = 8
"""Unions within unions of which every form is one of the outer union."""


@dataclass(frozen=True, slots=True, eq=False)
class _Form:
    """One branch of a union."""

    schema: Json
    view: View
    document: Document

    @property
    def essence(self) -> Hashable:
        return essence(self.document, self.schema, self.view.pointer)

    @property
    def title(self) -> str | None:
        title = self.view.keywords.get("title")
        return title if isinstance(title, str) else None

    @property
    def reference(self) -> str | None:
        """The name of the definition it is."""
        return self.view.target and self.view.target.rpartition("/")[2]

    @property
    def discriminator(self) -> tuple[tuple[str, str], ...] | None:
        """The properties that can have one value only."""
        properties = self.view.keywords.get("properties")
        if not isinstance(properties, dict):
            return None
        fixed = []
        for name, schema in properties.items():
            found = allowed_values(self.document.view(schema, ""))
            if found is not None and len(found) == 1:
                fixed.append((name, value(found[0])))
        return tuple(sorted(fixed)) or None

    @property
    def types(self) -> frozenset[str] | None:
        return kinds(self.view)

    def words(self) -> str:
        """Such as ``object "Circle"`` or ``one of "a", "b"``."""
        constants = allowed_values(self.view)
        if constants is not None:
            return listed(map(value, constants))
        name = self.title or self.reference
        said = type_words(self.types)
        if name:
            return f"{said} {quote(name)}"
        fixed = self.discriminator
        required = names(self.view.keywords.get("required"))
        if required and self.types is None:
            return f"one with {listed(map(quote, required))}"
        return f"{said} with {quote(fixed[0][0])} {fixed[0][1]}" if fixed else said

    @property
    def sorts(self) -> frozenset[str]:
        """Its types, integers among the numbers; empty for any."""
        return frozenset("number" if kind == "integer" else kind for kind in self.types or ())

    def excludes(self, other: "_Form") -> bool:
        """True when no value can be of both forms, as far as types and required constants tell."""
        if self.sorts and other.sorts and self.sorts.isdisjoint(other.sorts):
            return True
        ours, theirs = (
            {name: fixed for name, fixed in form.discriminator or () if name in form.required}
            for form in (self, other)
        )
        return any(ours[name] != theirs[name] for name in ours.keys() & theirs.keys())

    @property
    def required(self) -> list[str]:
        return names(self.view.keywords.get("required"))


# What two forms have in common when they are the same form, changed or not; surest first.
_MARKS: tuple[Callable[[_Form], Hashable], ...] = (
    lambda form: form.essence,
    lambda form: form.discriminator,
    lambda form: form.reference,
    lambda form: form.title,
    lambda form: form.types,
    lambda form: form.sorts or None,
)
_LOOSE = _MARKS[-2:]
"""Those that forms for different things may have in common."""

_PAIRS = 200
"""A union with more forms than this is not looked through for two that overlap."""


def compare_forms(old: View, new: View, changed: frozenset[str], pair: Pair, work: Work) -> bool:
    """Compare anyOf and oneOf. True when one side is nothing but a union: then that is all."""
    if _UNIONS.isdisjoint(old.keywords) and _UNIONS.isdisjoint(new.keywords):
        return False
    before, after = _union(old), _union(new)
    if before is None and after is None:
        return False
    both = before is not None and after is not None
    alone = _bare(old, before, typed=both) or _bare(new, after, typed=both)
    if before == after and before not in changed and not (alone and "type" in changed):
        return False  # the forms are as they were: what stands beside them may not be
    if not alone and (before is None or after is None):
        _note_rule(old, new, pair, work)
        return False
    if alone and not (_demanded(old) and _demanded(new)):  # the other side accepts anything
        _note_rule(old, new, pair, work)
        return True
    ours = _forms(old, before, work.old, whole=alone, typed=both)
    theirs = _forms(new, after, work.new, whole=alone, typed=both)
    if both and before != after and before is not None:
        if after == "oneOf":
            _note_overlap(theirs, new.at(after), pair, work, narrowed=True)
        else:
            _note_overlap(ours, old.at(before), pair, work, narrowed=False)
    _match(ours, theirs, pair, work)
    subject = work.ledger.side.of(pair.path)
    is_input = work.ledger.side.name == "input"
    for form in ours:
        verb = "no longer accepts" if is_input else "is no longer"
        message = f"{subject} {verb} {form.words()}"
        work.ledger.note("form-removed", Effect.NARROWED, message, form.view.pointer, (form.schema, None))
    for form in theirs:
        verb = "now also accepts" if is_input else "may now also be"
        message = f"{subject} {verb} {form.words()}"
        work.ledger.note("form-added", Effect.WIDENED, message, form.view.pointer, (None, form.schema))
    return alone


def of_forms(old: View, new: View) -> frozenset[str]:
    """The keywords that one side has from what it refers to, and a union on the other side has not."""
    for one, other in ((old, new), (new, old)):
        if _union(one) is None and _bare(other, _union(other), typed=False):
            return frozenset(one.sources.keys() - other.keywords.keys())
    return frozenset()


def _union(view: View) -> str | None:
    for name in UNIONS:
        if isinstance(view.keywords.get(name), list):
            return name
    return None


def _demanded(view: View) -> frozenset[str]:
    """The names of the rules, without keywords of no standard such as ``discriminator``."""
    return _DEMANDING.intersection(view.keywords)


def _bare(view: View, union: str | None, *, typed: bool) -> bool:
    """True for nothing but a union; ``typed``: the type of all its forms may stand beside it."""
    demanded = _demanded(view)
    return union is not None and (demanded == {union} or (typed and demanded == {union, "type"}))


def _forms(view: View, union: str | None, document: Document, *, whole: bool, typed: bool) -> list[_Form]:
    """The branches; what is no bare union is one form for each type when the two sides are compared whole."""
    if union is not None and (not whole or _bare(view, union, typed=typed)):
        kind = view.keywords.get("type") if whole else None
        return [
            form
            for schema, pointer in view.branches(union)
            for form in _branch(_typed(schema, kind, document), pointer, union, document)
        ]
    return [
        _Form(rules, View(_origin(view, rules), rules, view.sources, target=view.target), document)
        for rules in _by_type(view)
    ]


def _origin(view: View, rules: dict[str, Json]) -> str:
    """Where these rules stand, if it is one schema: such as the only form that is left of a union."""
    origins = {view.sources.get(name, view.pointer) for name in rules}
    return origins.pop() if len(origins) == 1 else view.pointer


def _typed(schema: Json, kind: Json, document: Document) -> Json:
    """The schema with the type that stands beside its union, where it has none."""
    if kind is None or not isinstance(schema, dict) or kinds(document.view(schema, "")) is not None:
        return schema
    return {**schema, "type": kind}


def _branch(schema: Json, pointer: str, union: str, document: Document, nested: int = 0) -> list[_Form]:
    """The form of a branch; of an anyOf right in an anyOf, its forms."""
    view = document.view(schema, pointer)
    if union != "anyOf" or nested > _NESTED or _demanded(view) != {union}:
        return [_Form(schema, view, document)]
    return [
        form
        for item, place in view.branches(union)
        for form in _branch(item, place, union, document, nested + 1)
    ]


def _by_type(view: View) -> list[dict[str, Json]]:
    """The rules for each type of value, where several are named and nothing lists values."""
    rules = {
        name: item
        for name, item in view.keywords.items()
        if name in (view.sources if name in NOTES else KNOWN)
    }
    several = kinds(view) or ()
    if len(several) <= 1 or not _MIXED.isdisjoint(rules):
        return [rules]
    return [
        {
            **{
                name: item
                for name, item in rules.items()
                if (kind != "null" if name in NOTES else kind in SPEAKS_OF.get(name, several))
            },
            "type": kind,
        }
        for kind in sorted(several)
    ]


def _note_overlap(forms: list[_Form], pointer: str, pair: Pair, work: Work, *, narrowed: bool) -> None:
    """An anyOf that became a oneOf of these forms, or was one: only that refuses what is of several."""
    if len(forms) <= _PAIRS and all(one.excludes(other) for one, other in combinations(forms, 2)):
        return
    ledger, subject = work.ledger, work.ledger.side.of(pair.path)
    words = listed(form.words() for form in forms)
    if narrowed:
        message = f"{subject} {ledger.side.must} only one of: {words} (was one or more)"
        ledger.note("rule-tightened", Effect.NARROWED, message, pointer, ("anyOf", "oneOf"))
    else:
        message = f"{subject} may now be more than one of: {words}"
        ledger.note("rule-loosened", Effect.WIDENED, message, pointer, ("oneOf", "anyOf"))


def _match(ours: list[_Form], theirs: list[_Form], pair: Pair, work: Work) -> None:
    """Take out of both lists the forms that are the same one, and compare those in detail."""
    # What only one form of each side has, as a rule all: no form demands the same without having it too.
    _take(ours, theirs, lambda form: form.discriminator, pair, work, lone=True)
    for mark in _MARKS:
        _take(ours, theirs, mark, pair, work)


def _take(
    ours: list[_Form],
    theirs: list[_Form],
    mark: Callable[[_Form], Hashable],
    pair: Pair,
    work: Work,
    *,
    lone: bool = False,
) -> None:
    """Take out those that have one mark; ``lone``: only where there is one on each side."""
    if not ours or not theirs:
        return
    before, after = _by_mark(ours, mark), _by_mark(theirs, mark)
    matched: set[int] = set()
    for key, forms in before.items():
        if lone and not len(forms) == len(after[key]) == 1:
            continue
        for form, twin in zip(forms, after[key], strict=False):
            if mark in _LOOSE and form.excludes(twin):
                continue
            matched |= {id(form), id(twin)}
            work.push(Pair(form.schema, form.view.pointer, twin.schema, twin.view.pointer, pair.path))
    ours[:] = [form for form in ours if id(form) not in matched]
    theirs[:] = [form for form in theirs if id(form) not in matched]


def _by_mark(forms: list[_Form], mark: Callable[[_Form], Hashable]) -> defaultdict[Hashable, list[_Form]]:
    marked = defaultdict(list)
    for form in forms:
        found = mark(form)
        if found is not None:
            marked[found].append(form)
    return marked


def _note_rule(old: View, new: View, pair: Pair, work: Work) -> None:
    """One side has a union where the other has none."""
    subject, ledger = work.ledger.side.of(pair.path), work.ledger
    before, after = _union(old), _union(new)
    if after is not None and before is None:
        words = listed(form.words() for form in _forms(new, after, work.new, whole=False, typed=False))
        message = f"{subject} {ledger.side.must} one of: {words}"
        ledger.note("rule-tightened", Effect.NARROWED, message, new.at(after), (None, new.keywords[after]))
    elif before is not None:
        words = listed(form.words() for form in _forms(old, before, work.old, whole=False, typed=False))
        message = f"{subject} need no longer be one of: {words}"
        ledger.note("rule-loosened", Effect.WIDENED, message, old.at(before), (old.keywords[before], None))
