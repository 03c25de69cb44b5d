"""The rarer rules of a schema: array items, conditions, dependencies, and keywords of the wrong shape."""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from driftwatch.model import Json
from driftwatch.toolset.canonical import same
from driftwatch.toolset.schema.essence import essence
from driftwatch.toolset.schema.keywords import malformed
from driftwatch.toolset.schema.ledger import ABSENT, Effect
from driftwatch.toolset.schema.views import ANYTHING, Document, View, escape, names
from driftwatch.toolset.schema.work import Pair, Work
from driftwatch.toolset.wording import listed, quote, value

_CONDITIONS = ("not", "contains", "$ref", "$dynamicRef")
"""Rules that only hold or do not; what stands in them is not explained."""
_OUTCOMES = ("then", "else")
_NO_DEMANDS = frozenset({"{}", "true"})
"""The essence of what accepts anything."""

ITEMS = frozenset({"items", "prefixItems", "additionalItems"})
_DEPENDENCIES = ("dependentRequired", "dependencies", "dependentSchemas")
_MAPS = ("patternProperties", "propertyNames", "unevaluatedItems")
RULES = frozenset((*_CONDITIONS, "if", *_OUTCOMES, *_DEPENDENCIES, "allOf", *_MAPS))


def compare_items(old: View, new: View, pair: Pair, work: Work) -> None:
    """Compare what an array's members must be, by position where the schema says so."""
    (before, rest_before, rest_old), (after, rest_after, rest_new) = _items(old), _items(new)
    for index in range(max(len(before), len(after))):
        ours, our_pointer = before[index] if index < len(before) else (rest_before, rest_old)
        theirs, their_pointer = after[index] if index < len(after) else (rest_after, rest_new)
        work.push(Pair(ours, our_pointer, theirs, their_pointer, f"{pair.path}[{index}]"))
    rest = f"{max(len(before), len(after))}+" if before or after else ""
    work.push(Pair(rest_before, rest_old, rest_after, rest_new, f"{pair.path}[{rest}]"))


def _items(view: View) -> tuple[list[tuple[Json, str]], Json, str]:
    """The schemas of the first members, that of the others, and where it stands."""
    first, rest = "prefixItems", "items"
    if isinstance(view.keywords.get("items"), list):  # before 2020-12
        first, rest = "items", "additionalItems"
    members = view.keywords.get(first)
    pointer = view.at(first)
    schemas = members if isinstance(members, list) else []
    return (
        [(schema, f"{pointer}/{index}") for index, schema in enumerate(schemas)],
        view.keywords.get(rest, ANYTHING),
        view.at(rest),
    )


def compare_rules(old: View, new: View, pair: Pair, work: Work) -> None:
    """Compare patternProperties, dependencies, conditions and the parts of allOf."""
    for keyword, path in (("propertyNames", pair.below("(names)")), ("unevaluatedItems", f"{pair.path}[]")):
        before, after = (view.keywords.get(keyword, ANYTHING) for view in (old, new))
        if keyword == "propertyNames":
            before, after = _text(before), _text(after)
        work.push(Pair(before, old.at(keyword), after, new.at(keyword), path))
    _compare_patterns(old, new, pair, work)
    _compare_dependencies(old, new, pair, work)
    for keyword in _CONDITIONS:
        ours, theirs = (view.keywords.get(keyword, ABSENT) for view in (old, new))
        _compare_condition(keyword, (ours, old), (theirs, new), pair, work)
    _compare_choices(old, new, pair, work)
    _compare_parts(old, new, pair, work)


def _compare_patterns(old: View, new: View, pair: Pair, work: Work) -> None:
    """Compare what properties must be whose names match: without the pattern, what any other must be."""
    before, after = (_object(view.keywords.get("patternProperties")) for view in (old, new))
    for pattern in sorted(before.keys() | after.keys()):
        ours, theirs = (_of_pattern(view, pattern) for view in (old, new))
        work.push(Pair(*ours, *theirs, pair.below(f"/{pattern}/")))


def _of_pattern(view: View, pattern: str) -> tuple[Json, str]:
    schemas = _object(view.keywords.get("patternProperties"))
    if pattern in schemas:
        return schemas[pattern], f"{view.at('patternProperties')}/{escape(pattern)}"
    return view.keywords.get("additionalProperties", ANYTHING), view.at("additionalProperties")


class _Dependency(NamedTuple):
    """What must hold where a property is there."""

    needs: frozenset[str]
    """The properties beside it."""
    demands: tuple[str, ...]
    """The essence of what else."""
    written: Json
    pointer: str


def _compare_dependencies(old: View, new: View, pair: Pair, work: Work) -> None:
    before, after = _dependencies(old, work.old), _dependencies(new, work.new)
    for name in sorted(before.keys() | after.keys()):
        ours, theirs = before.get(name, _FREE), after.get(name, _FREE)
        subject, ledger = work.ledger.side.of(pair.below(name)), work.ledger
        pointer, values = theirs.pointer or ours.pointer, (ours.written, theirs.written)
        if ours.demands != theirs.demands:
            if not ours.demands:
                kind, effect, said = "rule-tightened", Effect.NARROWED, "is now there"
            elif not theirs.demands:
                kind, effect, said = "rule-loosened", Effect.WIDENED, "is no longer there"
            else:
                kind, effect, said = "rule-changed", Effect.EXCHANGED, "changed"
            message = f"the rule for what stands beside {subject} {said}"
            ledger.note(kind, effect, message, pointer, values)
        if theirs.needs - ours.needs:
            message = f"{subject} now needs {_quoted(theirs.needs - ours.needs)} beside it"
            ledger.note("rule-tightened", Effect.NARROWED, message, pointer, values, about="needs")
        if ours.needs - theirs.needs:
            message = f"{subject} no longer needs {_quoted(ours.needs - theirs.needs)} beside it"
            ledger.note("rule-loosened", Effect.WIDENED, message, pointer, values, about="needs")


_FREE = _Dependency(frozenset(), (), None, "")


def _dependencies(view: View, document: Document) -> dict[str, _Dependency]:
    """The dependencies of each property, from the keywords of every draft."""
    found: dict[str, _Dependency] = {}
    for keyword in _DEPENDENCIES:
        for name, written in _object(view.keywords.get(keyword)).items():
            known = found.get(name, _FREE)
            needed = names(written)
            rest: Json = ANYTHING
            if isinstance(written, dict):
                needed = names(written.get("required"))
                rest = {key: item for key, item in written.items() if key != "required"}
            elif isinstance(written, bool):
                rest = written
            demand = essence(document, rest)
            found[name] = _Dependency(
                needs=known.needs | frozenset(needed),
                demands=tuple(sorted({*known.demands, *((demand,) if demand not in _NO_DEMANDS else ())})),
                written=written,
                pointer=f"{view.at(keyword)}/{escape(name)}",
            )
    return found


def _quoted(properties: Iterable[str]) -> str:
    return listed(map(quote, sorted(properties)))


def _compare_choices(old: View, new: View, pair: Pair, work: Work) -> None:
    """Compare if, then and else: a condition without an outcome demands nothing, nor the other way round."""
    before, after = _choice(old, work.old), _choice(new, work.new)
    condition = (before.get("if", ABSENT), old), (after.get("if", ABSENT), new)
    if not before or not after or _demand(work.old, before["if"]) != _demand(work.new, after["if"]):
        _compare_condition("if", *condition, pair, work)
        return
    for keyword in _OUTCOMES:
        ours, theirs = (choice.get(keyword, ABSENT) for choice in (before, after))
        _compare_condition(keyword, (ours, old), (theirs, new), pair, work)


def _choice(view: View, document: Document) -> dict[str, Json]:
    outcomes = {
        keyword: view.keywords[keyword]
        for keyword in _OUTCOMES
        if keyword in view.keywords and _demand(document, view.keywords[keyword]) not in _NO_DEMANDS
    }
    return {"if": view.keywords["if"], **outcomes} if outcomes and "if" in view.keywords else {}


def _compare_condition(
    keyword: str, was: tuple[Json, View], now: tuple[Json, View], pair: Pair, work: Work
) -> None:
    (before, old), (after, new) = was, now
    if before is after or _demand(work.old, before) == _demand(work.new, after):
        return
    pointer = (new if after is not ABSENT else old).at(keyword)
    subject = work.ledger.side.of(pair.path)
    if before is ABSENT:
        message = f"{subject} has a new rule, {quote(keyword)}"
        work.ledger.note("rule-tightened", Effect.NARROWED, message, pointer, (before, after))
    elif after is ABSENT:
        message = f"{subject} no longer has the rule {quote(keyword)}"
        work.ledger.note("rule-loosened", Effect.WIDENED, message, pointer, (before, after))
    else:
        message = f"the rule {quote(keyword)} of {subject} changed"
        work.ledger.note("rule-changed", Effect.EXCHANGED, message, pointer, (before, after))


def _demand(document: Document, schema: Json) -> str | None:
    return None if schema is ABSENT else essence(document, schema)


def _compare_parts(old: View, new: View, pair: Pair, work: Work) -> None:
    """Compare the parts of allOf that could not be told as one schema."""
    ours, theirs = (view.branches("allOf") for view in (old, new))
    if not ours and not theirs:
        return
    demands = [[_demand(work.old, part) for part, _ in ours], [_demand(work.new, part) for part, _ in theirs]]
    equal = Counter(demands[0]) & Counter(demands[1])
    ours, theirs = _without(ours, demands[0], equal), _without(theirs, demands[1], equal)
    subject = work.ledger.side.of(pair.path)
    common = min(len(ours), len(theirs))
    for (before, old_pointer), (after, new_pointer) in zip(ours, theirs, strict=False):
        work.push(Pair(before, old_pointer, after, new_pointer, pair.path))
    for schema, pointer in ours[common:]:
        message = f"{subject} no longer has one of the rules in `allOf`"
        values, use = (schema, None), old.at("allOf")
        work.ledger.note("rule-loosened", Effect.WIDENED, message, pointer, values, about=use)
    for schema, pointer in theirs[common:]:
        message = f"{subject} has one more rule in `allOf`"
        values, use = (None, schema), new.at("allOf")
        work.ledger.note("rule-tightened", Effect.NARROWED, message, pointer, values, about=use)


def _without(
    parts: list[tuple[Json, str]], demands: list[str | None], equal: Counter[str | None]
) -> list[tuple[Json, str]]:
    left, rest = Counter(equal), []
    for part, demand in zip(parts, demands, strict=True):
        if left[demand]:
            left[demand] -= 1
        else:
            rest.append(part)
    return rest


def _text(schema: Json) -> Json:
    """The schema of a name, which is a string whatever it says."""
    if schema is True:
        return {"type": "string"}
    return {"type": "string", **schema} if isinstance(schema, dict) and "type" not in schema else schema


def _object(of: Json) -> dict[str, Json]:
    return of if isinstance(of, dict) else {}


def compare_malformed(old: View, new: View, pair: Pair, work: Work) -> None:
    """Note, and take out, keywords whose value is of no shape that JSON Schema knows."""
    broken = malformed(old.keywords) + malformed(new.keywords)
    if not broken:
        return
    subject = work.ledger.side.of(pair.path)
    for keyword in sorted(set(broken)):
        before, after = (view.keywords.get(keyword, ABSENT) for view in (old, new))
        if before is ABSENT or after is ABSENT or not same(before, after):
            pointer = (new if after is not ABSENT else old).at(keyword)
            said = "is gone" if after is ABSENT else f"is now {value(after)}"
            was = "" if before is ABSENT else f" (was {value(before)})"
            message = f"{quote(keyword)} of {subject} {said}{was}: malformed"
            work.ledger.note("rule-changed", Effect.EXCHANGED, message, pointer, (before, after))
    for view in (old, new):
        view.keywords = {keyword: item for keyword, item in view.keywords.items() if keyword not in broken}
