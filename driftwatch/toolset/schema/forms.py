"""Unions that stay unions: which forms of a value are no longer accepted, and which are new."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from driftwatch.model import Json
from driftwatch.toolset.schema.essence import essence
from driftwatch.toolset.schema.ledger import Effect
from driftwatch.toolset.schema.values import kinds, type_words
from driftwatch.toolset.schema.values import values as allowed_values
from driftwatch.toolset.schema.views import UNIONS, Document, View, names
from driftwatch.toolset.schema.work import Pair, Work
from driftwatch.toolset.wording import listed, quote, value

_UNIONS = frozenset(UNIONS)


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


# What two forms have in common when they are the same form, changed or not; surest first.
_MARKS: tuple[Callable[[_Form], Hashable], ...] = (
    lambda form: form.essence,
    lambda form: form.discriminator,
    lambda form: form.reference,
    lambda form: form.title,
    lambda form: form.types,
)


def compare_forms(old: View, new: View, changed: frozenset[str], pair: Pair, work: Work) -> bool:
    """Compare anyOf and oneOf. True when one side is nothing but a union: then that is all."""
    if _UNIONS.isdisjoint(old.keywords) and _UNIONS.isdisjoint(new.keywords):
        return False
    before, after = _union(old), _union(new)
    if before is None and after is None:
        return False
    alone = (before is not None and set(old.rules) == {before}) or (
        after is not None and set(new.rules) == {after}
    )
    if before == after and before not in changed:
        return alone
    if not alone and (before is None or after is None):
        _note_rule(old, new, pair, work)
        return False
    if alone and not (old.rules and new.rules):  # the other side accepts anything
        _note_rule(old, new, pair, work)
        return True
    ours = _forms(old, before, work.old, whole=alone)
    theirs = _forms(new, after, work.new, whole=alone)
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


def _union(view: View) -> str | None:
    for name in UNIONS:
        if isinstance(view.keywords.get(name), list):
            return name
    return None


def _forms(view: View, union: str | None, document: Document, *, whole: bool) -> list[_Form]:
    """The branches; what is no bare union is one form, itself, when the two sides are compared whole."""
    if union is not None and (not whole or set(view.rules) == {union}):
        pointer = view.at(union)
        return [
            _Form(schema, document.view(schema, f"{pointer}/{index}"), document)
            for index, schema in enumerate(view.keywords[union])
        ]
    return [_Form(view.rules, View(view.pointer, view.rules, view.sources, target=view.target), document)]


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
        words = listed(form.words() for form in _forms(new, after, work.new, whole=False))
        message = f"{subject} {ledger.side.must} one of: {words}"
        ledger.note("rule-tightened", Effect.NARROWED, message, new.at(after), (None, new.keywords[after]))
    elif before is not None:
        words = listed(form.words() for form in _forms(old, before, work.old, whole=False))
        message = f"{subject} need no longer be one of: {words}"
        ledger.note("rule-loosened", Effect.WIDENED, message, old.at(before), (old.keywords[before], None))
