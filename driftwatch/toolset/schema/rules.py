"""The rarer rules of a schema: array items, conditions, dependencies, and keywords of the wrong shape."""

from collections import Counter

from driftwatch.model import Json
from driftwatch.toolset.canonical import same
from driftwatch.toolset.schema.essence import essence
from driftwatch.toolset.schema.keywords import malformed
from driftwatch.toolset.schema.ledger import ABSENT, Effect
from driftwatch.toolset.schema.views import ANYTHING, Document, View, escape, names
from driftwatch.toolset.schema.work import Pair, Work
from driftwatch.toolset.wording import listed, quote, value

_CONDITIONS = ("not", "if", "then", "else", "contains", "$ref", "$dynamicRef")
"""Rules that only hold or do not; what stands in them is not explained."""

ITEMS = frozenset({"items", "prefixItems", "additionalItems"})
_PLACES = ("propertyNames", "unevaluatedItems")
_MAPS = ("patternProperties", "dependentSchemas")
_DEPENDENCIES = ("dependentRequired", "dependencies")
RULES = frozenset((*_CONDITIONS, *_PLACES, *_MAPS, *_DEPENDENCIES, "allOf"))


def compare_items(old: View, new: View, pair: Pair, work: Work) -> None:
    """Compare what an array's members must be, by position where the schema says so."""
    (before, rest_before, rest_old), (after, rest_after, rest_new) = _items(old), _items(new)
    for index in range(max(len(before), len(after))):
        ours, our_pointer = before[index] if index < len(before) else (rest_before, rest_old)
        theirs, their_pointer = after[index] if index < len(after) else (rest_after, rest_new)
        work.push(Pair(ours, our_pointer, theirs, their_pointer, f"{pair.path}[{index}]"))
    work.push(Pair(rest_before, rest_old, rest_after, rest_new, f"{pair.path}[]"))


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
    for keyword in _PLACES:
        before, after = (view.keywords.get(keyword, ANYTHING) for view in (old, new))
        path = pair.below("*") if keyword == "propertyNames" else f"{pair.path}[]"
        work.push(Pair(before, old.at(keyword), after, new.at(keyword), path))
    for keyword in _MAPS:
        _compare_maps(old, new, keyword, pair, work)
    for keyword in _DEPENDENCIES:
        _compare_dependencies(old, new, keyword, pair, work)
    for keyword in _CONDITIONS:
        _compare_condition(old, new, keyword, pair, work)
    _compare_parts(old, new, pair, work)


def _compare_maps(old: View, new: View, keyword: str, pair: Pair, work: Work) -> None:
    before, after = (_object(view.keywords.get(keyword)) for view in (old, new))
    for name in sorted(before.keys() | after.keys()):
        ours, theirs = before.get(name, ANYTHING), after.get(name, ANYTHING)
        path = pair.below(f"/{name}/") if keyword == "patternProperties" else pair.path
        work.push(
            Pair(ours, f"{old.at(keyword)}/{escape(name)}", theirs, f"{new.at(keyword)}/{escape(name)}", path)
        )


def _compare_dependencies(old: View, new: View, keyword: str, pair: Pair, work: Work) -> None:
    before, after = (_object(view.keywords.get(keyword)) for view in (old, new))
    for name in sorted(before.keys() | after.keys()):
        ours, theirs = before.get(name), after.get(name)
        if isinstance(ours, (dict, bool)) or isinstance(theirs, (dict, bool)):  # a schema, in draft-07
            ours, theirs = (ANYTHING if item is None else item for item in (ours, theirs))
            work.push(Pair(ours, old.at(keyword), theirs, new.at(keyword), pair.path))
            continue
        known, needed = set(names(ours)), set(names(theirs))
        subject, ledger = work.ledger.side.of(pair.below(name)), work.ledger
        pointer = f"{(new if name in after else old).at(keyword)}/{escape(name)}"
        if needed - known:
            message = f"{subject} now needs {listed(map(quote, sorted(needed - known)))} beside it"
            ledger.note("rule-tightened", Effect.NARROWED, message, pointer, (ours, theirs))
        if known - needed:
            message = f"{subject} no longer needs {listed(map(quote, sorted(known - needed)))} beside it"
            ledger.note("rule-loosened", Effect.WIDENED, message, pointer, (ours, theirs))


def _compare_condition(old: View, new: View, keyword: str, pair: Pair, work: Work) -> None:
    before, after = old.keywords.get(keyword, ABSENT), new.keywords.get(keyword, ABSENT)
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
