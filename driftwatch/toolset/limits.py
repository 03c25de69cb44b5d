"""How a rule on a single value changed: bounds, lengths, counts, multiples, pattern, format."""

import math
from dataclasses import dataclass
from fractions import Fraction

from driftwatch.model import Json
from driftwatch.toolset.ledger import Effect, Ledger
from driftwatch.toolset.views import View, types
from driftwatch.toolset.wording import quote, value

_SAFE_INTEGER = 2**53 - 1
"""The outermost bounds that JavaScript's generators write for "any integer" (zod's ``int()``): no limit at all."""

# Inclusive keyword, exclusive keyword, whether it is the lower end.
_BOUNDS = (("minimum", "exclusiveMinimum", True), ("maximum", "exclusiveMaximum", False))

# Keyword, whether it is the lower end, what is counted.
_SIZES = (
    ("minLength", True, "character"),
    ("maxLength", False, "character"),
    ("minItems", True, "item"),
    ("maxItems", False, "item"),
    ("minProperties", True, "property"),
    ("maxProperties", False, "property"),
    ("minContains", True, "matching item"),
    ("maxContains", False, "matching item"),
)
_PLURALS = {"property": "properties"}

_ASSERTED_FORMATS = frozenset(
    "date-time date time duration email idn-email hostname idn-hostname ipv4 ipv6 uri uri-reference iri "
    "iri-reference uuid uri-template json-pointer relative-json-pointer regex".split()
)
"""The formats that JSON Schema defines (2020-12, Validation, section 7.3); any other is a remark for the reader."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """One end of a range."""

    number: int | float
    exclusive: bool
    keyword: str

    def words(self, *, lower: bool) -> str:
        """Such as ``at most 50``."""
        if self.exclusive:
            return f"{'more' if lower else 'less'} than {value(self.number)}"
        return f"at {'least' if lower else 'most'} {value(self.number)}"


def compare_limits(old: View, new: View, subject: str, ledger: Ledger) -> None:
    """Note every rule on a single value that is tighter, looser or another one."""
    for inclusive, exclusive, lower in _BOUNDS:
        before = _bound(old, inclusive, exclusive, lower=lower)
        after = _bound(new, inclusive, exclusive, lower=lower)
        _compare_bounds((old, before), (new, after), subject, ledger, lower=lower)
    for keyword, lower, noun in _SIZES:
        _compare_sizes(old, new, (keyword, lower, noun), subject, ledger)
    _compare_multiples(old, new, subject, ledger)
    _compare_uniqueness(old, new, subject, ledger)
    _compare_patterns(old, new, subject, ledger)
    _compare_formats(old, new, subject, ledger)


def _compare_bounds(
    old: tuple[View, _Bound | None],
    new: tuple[View, _Bound | None],
    subject: str,
    ledger: Ledger,
    *,
    lower: bool,
) -> None:
    (_, before), (_, after) = old, new
    if _strictness(before, lower=lower) == _strictness(after, lower=lower):
        return
    pointer = new[0].at(after.keyword) if after else old[0].at(before.keyword) if before else ""
    values = (before.number if before else None, after.number if after else None)
    was = f"was {value(before.number)}" if before else "no limit before"
    end = "lower" if lower else "upper"
    if after is None:
        message = f"{subject} no longer has {'a' if lower else 'an'} {end} limit ({was})"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, *values)
    elif _strictness(after, lower=lower) > _strictness(before, lower=lower):
        message = f"{subject} {ledger.side.must} {after.words(lower=lower)} ({was})"
        ledger.note("limit-tightened", Effect.NARROWED, message, pointer, *values)
    else:
        message = f"{subject} may now be {after.words(lower=lower)} ({was})"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, *values)


def _strictness(bound: _Bound | None, *, lower: bool) -> tuple[float, bool]:
    if bound is None:
        return -math.inf, False
    return (bound.number if lower else -bound.number), bound.exclusive


def _bound(view: View, inclusive: str, exclusive: str, *, lower: bool) -> _Bound | None:
    found = []
    plain, open_end = view.keywords.get(inclusive), view.keywords.get(exclusive)
    if is_number(plain):
        # Draft 4 says it with a boolean beside the bound.
        found.append(_Bound(plain, open_end is True, exclusive if open_end is True else inclusive))
    if is_number(open_end):
        found.append(_Bound(open_end, exclusive=True, keyword=exclusive))
    if not found:
        return None
    tightest = max(found, key=lambda bound: _strictness(bound, lower=lower))
    if set(types(view.keywords.get("type"))) - {"null"} == {"integer"} and math.isfinite(tightest.number):
        tightest = _whole(tightest, lower=lower)
    outward = -tightest.number if lower else tightest.number
    return None if outward >= _SAFE_INTEGER else tightest


def _whole(bound: _Bound, *, lower: bool) -> _Bound:
    """The same bound for integers, inclusive."""
    if lower:
        number = math.floor(bound.number) + 1 if bound.exclusive else math.ceil(bound.number)
    else:
        number = math.ceil(bound.number) - 1 if bound.exclusive else math.floor(bound.number)
    return _Bound(number, exclusive=False, keyword=bound.keyword)


def _compare_sizes(old: View, new: View, size: tuple[str, bool, str], subject: str, ledger: Ledger) -> None:
    keyword, lower, noun = size
    before, after = (_size(view, keyword, lower=lower) for view in (old, new))
    if before == after:
        return
    pointer = (new if keyword in new.keywords else old).at(keyword)
    was = f"was {value(before)}" if before is not None else "no limit before"
    if after is None:
        message = f"{subject} may now have any number of {_plural(noun)} ({was})"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, before, after)
        return
    words = f"{value(after)} {noun if after == 1 else _plural(noun)}"
    if before is None or (after > before) == lower:
        message = f"{subject} {ledger.side.have} at {'least' if lower else 'most'} {words} ({was})"
        ledger.note("limit-tightened", Effect.NARROWED, message, pointer, before, after)
    else:
        message = f"{subject} may now have as {'few' if lower else 'many'} as {words} ({was})"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, before, after)


def _size(view: View, keyword: str, *, lower: bool) -> int | float | None:
    """The limit; none where it allows everything."""
    size = view.keywords.get(keyword)
    if not is_number(size) or (lower and size <= (1 if keyword == "minContains" else 0)):
        return None
    return None if not lower and size >= _SAFE_INTEGER else size


def _plural(noun: str) -> str:
    return _PLURALS.get(noun, f"{noun}s")


def _compare_multiples(old: View, new: View, subject: str, ledger: Ledger) -> None:
    before, after = (_multiple(view) for view in (old, new))
    if before == after:
        return
    pointer = (new if after is not None else old).at("multipleOf")
    values = (old.keywords.get("multipleOf"), new.keywords.get("multipleOf"))
    was = f"was {value(values[0])}" if before is not None else "any before"
    if after is None:
        message = f"{subject} may now be any multiple ({was})"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, *values)
    elif before is not None and (before / after).denominator == 1:
        message = f"{subject} may now be a multiple of {value(values[1])} ({was})"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, *values)
    else:
        narrowed = before is None or (after / before).denominator == 1
        message = f"{subject} {ledger.side.must} a multiple of {value(values[1])} ({was})"
        kind = "limit-tightened" if narrowed else "limit-changed"
        ledger.note(kind, Effect.NARROWED if narrowed else Effect.EXCHANGED, message, pointer, *values)


def _multiple(view: View) -> Fraction | None:
    number = view.keywords.get("multipleOf")
    if not is_number(number) or not math.isfinite(number) or number <= 0:
        return None
    # By its decimal digits: 0.3 is three times 0.1.
    return Fraction(repr(number)) if isinstance(number, float) else Fraction(number)


def _compare_uniqueness(old: View, new: View, subject: str, ledger: Ledger) -> None:
    before, after = (view.keywords.get("uniqueItems") is True for view in (old, new))
    if before == after:
        return
    pointer = (new if "uniqueItems" in new.keywords else old).at("uniqueItems")
    if after:
        message = f"the items of {subject} {ledger.side.must} unique"
        ledger.note("limit-tightened", Effect.NARROWED, message, pointer, before, after)
    else:
        message = f"the items of {subject} may now repeat"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, before, after)


def _compare_patterns(old: View, new: View, subject: str, ledger: Ledger) -> None:
    before, after = (_string(view, "pattern") for view in (old, new))
    if before == after:
        return
    pointer = (new if after is not None else old).at("pattern")
    if after is None:
        message = f"{subject} need no longer match {quote(before or '')}"
        ledger.note("pattern", Effect.WIDENED, message, pointer, before, after)
    else:
        was = f"was {quote(before)}" if before is not None else "no pattern before"
        effect = Effect.NARROWED if before is None else Effect.EXCHANGED
        message = f"{subject} {ledger.side.must} of the pattern {quote(after)} ({was})"
        ledger.note("pattern", effect, message, pointer, before, after)


def _compare_formats(old: View, new: View, subject: str, ledger: Ledger) -> None:
    before, after = (_string(view, "format") for view in (old, new))
    if before == after:
        return
    pointer = (new if after is not None else old).at("format")
    if after not in _ASSERTED_FORMATS:
        effect = Effect.WIDENED if before in _ASSERTED_FORMATS else Effect.NONE
    else:
        effect = Effect.EXCHANGED if before in _ASSERTED_FORMATS else Effect.NARROWED
    if after is None:
        message = f"{subject} no longer has a format (was {quote(before or '')})"
    else:
        was = f"was {quote(before)}" if before is not None else "no format before"
        message = f"{subject} {ledger.side.must} of the format {quote(after)} ({was})"
    ledger.note("format", effect, message, pointer, before, after)


def _string(view: View, keyword: str) -> str | None:
    text = view.keywords.get(keyword)
    return text if isinstance(text, str) else None


def is_number(of: Json) -> bool:
    """True for a JSON number; NaN, which no comparison survives, is none."""
    return isinstance(of, (int, float)) and not isinstance(of, bool) and of == of  # noqa: PLR0124 - NaN
