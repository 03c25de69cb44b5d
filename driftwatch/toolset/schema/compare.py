"""The comparison of two JSON Schemas of one tool, place by place, in words.

A worklist instead of recursion: no depth of nesting and no cycle of references can stop it, and every pair
of places is compared once.
"""

import re

from driftwatch.model import Json
from driftwatch.toolset.canonical import same
from driftwatch.toolset.change import COMPATIBLE, Difference
from driftwatch.toolset.sameness import Sameness
from driftwatch.toolset.schema.forms import compare_forms, of_forms
from driftwatch.toolset.schema.keywords import KNOWN
from driftwatch.toolset.schema.ledger import INPUT, Effect, Ledger, Side
from driftwatch.toolset.schema.limits import LIMITS, compare_limits
from driftwatch.toolset.schema.properties import PROPERTIES, compare_properties
from driftwatch.toolset.schema.remarks import REMARKS, compare_keywords, compare_remarks
from driftwatch.toolset.schema.rules import ITEMS, RULES, compare_items, compare_malformed, compare_rules
from driftwatch.toolset.schema.values import TYPE, VALUES, compare_types, compare_values, idle_keywords, kinds
from driftwatch.toolset.schema.views import Allowance, Document, View
from driftwatch.toolset.schema.work import Pair, Work
from driftwatch.toolset.wording import value

_STEPS = 30_000
"""Places read and compared in one pair of schemas; two that need more are too tangled to compare."""

DEFAULT_DIALECT = "2020-12"
"""What a schema without ``$schema`` is (specification 2025-11-25, section JSON Schema usage)."""

_SHELL = frozenset({"$schema", "$id", "$comment", "title", "description"})

_DIALECT = re.compile(r"^https?://json-schema\.org/(?:draft/)?(?P<name>draft-0\d|20\d\d-\d\d)/schema#?$")


def compare_schemas(
    side: Side, old: Json, new: Json, pointer: str, *, sameness: Sameness, pool: Allowance
) -> list[Difference]:
    """The differences between two schemas. What it costs comes out of the pool."""
    ledger = Ledger(side)
    if not isinstance(old, dict) or not isinstance(new, dict):
        if not same(old, new):
            message = f"the {side.name} schema is now {value(new)} (was {value(old)})"
            ledger.note("schema-replaced", Effect.EXCHANGED, message, pointer, (old, new))
    elif side is INPUT and _lost(old, new):
        message = "the input schema lost all its content"
        ledger.note("schema-lost", Effect.EXCHANGED, message, pointer, (old, new))
    else:
        granted = min(_STEPS, max(pool.left, 0))
        own = Allowance(granted)
        work = Work(Document(old, pointer, own), Document(new, pointer, own), ledger, sameness)
        _compare_documents(work, own)
        pool.left -= granted - own.left
    return ledger.changes


def _compare_documents(work: Work, allowance: Allowance) -> None:
    old, new, pointer = work.old.root, work.new.root, work.old.pointer
    _compare_dialects(old, new, pointer, work)
    work.push(Pair(old, pointer, new, pointer, ""))
    while work.todo:
        if not allowance.spend():
            message = f"the {work.ledger.side.name} schema changed in more ways than can be followed"
            work.ledger.note("rule-changed", Effect.EXCHANGED, message, pointer)
            break
        _compare_place(work.todo.popleft(), work)


def _compare_place(pair: Pair, work: Work) -> None:
    old = work.old.view(pair.old, pair.old_pointer)
    new = work.new.view(pair.new, pair.new_pointer)
    if old.shape != "schema" or new.shape != "schema":
        _compare_shapes(old, new, pair, work)
        return
    changed = work.changed(old.keywords, new.keywords)
    if not REMARKS.isdisjoint(changed):
        remarked = changed - of_forms(old, new) if old.sources or new.sources else changed
        compare_remarks(old, new, remarked, pair, work)
    if changed <= REMARKS:
        return
    compare_malformed(old, new, pair, work)
    if not changed <= KNOWN:
        compare_keywords(old, new, sorted(changed - KNOWN), pair, work)
    if not compare_forms(old, new, changed, pair, work):
        _compare_demands(old, new, changed, pair, work)


def _compare_demands(old: View, new: View, changed: frozenset[str], pair: Pair, work: Work) -> None:
    """Compare what a value must be, as far as the keywords that say so have changed."""
    if not TYPE.isdisjoint(changed) and not _compare_types_and_values(old, new, changed, pair, work):
        return
    idle = idle_keywords(kinds(old, root=not pair.path), kinds(new, root=not pair.path))
    if not idle.isdisjoint(changed):
        old, new, changed = old.without(idle), new.without(idle), changed - idle
    if not LIMITS.isdisjoint(changed):
        compare_limits(old, new, changed, work.ledger.side.of(pair.path), work.ledger)
    if not PROPERTIES.isdisjoint(changed):
        compare_properties(old, new, pair, work)
    if not ITEMS.isdisjoint(changed):
        compare_items(old, new, pair, work)
    if not RULES.isdisjoint(changed):
        compare_rules(old, new, pair, work)


def _compare_types_and_values(old: View, new: View, changed: frozenset[str], pair: Pair, work: Work) -> bool:
    """Compare types and values. False when nothing of the old value is left to compare."""
    subject = work.ledger.side.of(pair.path)
    moved, remains = compare_types(old, new, subject, work.ledger, root=not pair.path)
    if not remains:
        return False
    if not VALUES.isdisjoint(changed):
        compare_values(old, new, moved, subject, work.ledger)
    return True


def _compare_shapes(old: View, new: View, pair: Pair, work: Work) -> None:
    """Compare places of which one is ``false``, or no schema."""
    if old.shape == new.shape and (old.shape == "nothing" or same(pair.old, pair.new)):
        return
    subject = work.ledger.side.of(pair.path)
    is_input = work.ledger.side.name == "input"
    if old.shape == "junk" or new.shape == "junk":
        message = f"the schema of {subject} is now {value(pair.new)} (was {value(pair.old)})"
        work.ledger.note("schema-replaced", Effect.EXCHANGED, message, new.pointer, (pair.old, pair.new))
    elif new.shape == "nothing":
        message = f"{subject} is {'now refused' if is_input else 'no longer there'}"
        work.ledger.note("rule-tightened", Effect.NARROWED, message, new.pointer, (pair.old, pair.new))
    else:
        message = f"{subject} is {'now accepted' if is_input else 'now possible'}"
        work.ledger.note("rule-loosened", Effect.WIDENED, message, new.pointer, (pair.old, pair.new))


def _lost(old: dict[str, Json], new: dict[str, Json]) -> bool:
    """True when a schema that said something is only a shell: a dialect and a title."""
    return set(new) <= _SHELL and not set(old) <= _SHELL | {"type"}


def _compare_dialects(old: dict[str, Json], new: dict[str, Json], pointer: str, work: Work) -> None:
    before, after = (dialect(schema.get("$schema")) for schema in (old, new))
    if before == after:
        return
    said = [
        name if "$schema" in schema else f"default ({name})" for name, schema in ((before, old), (after, new))
    ]
    work.ledger.note(
        "dialect",
        COMPATIBLE,
        f"`$schema` {said[0]} -> {said[1]}",
        f"{pointer}/$schema",
        (old.get("$schema"), new.get("$schema")),
    )


def dialect(of: Json) -> str:
    """A dialect's short name, such as ``draft-07``: http and https, with and without ``#`` are one."""
    if of is None:
        return DEFAULT_DIALECT
    found = _DIALECT.match(of) if isinstance(of, str) else None
    return found["name"] if found else value(of)
