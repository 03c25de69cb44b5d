"""How a rule on a single value changed: bounds, lengths, counts, multiples, pattern, format."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, TypeGuard

from driftwatch.model import Json
from driftwatch.toolset.schema.ledger import Effect, Ledger
from driftwatch.toolset.schema.values import EVERY_TYPE, kinds
from driftwatch.toolset.schema.views import View, types
from driftwatch.toolset.wording import quote, value

_SAFE_INTEGER = 2**53 - 1
"""The bounds that generators in JavaScript write for "any integer" (zod's ``int()``): no limit at all."""

# Keyword: whether it is the lower end, what is counted.
_SIZES = {
    "minLength": (True, "character"),
    "maxLength": (False, "character"),
    "minItems": (True, "item"),
    "maxItems": (False, "item"),
    "minProperties": (True, "property"),
    "maxProperties": (False, "property"),
    "minContains": (True, "matching item"),
    "maxContains": (False, "matching item"),
}
_OF_MATCHES = frozenset({"minContains", "maxContains"})
"""Sizes that count what ``contains`` says, at least one where nothing is said; without it, nothing."""
_PLURALS = {"property": "properties"}

_ASSERTED_FORMATS = frozenset(
    (
        *("date-time", "date", "time", "duration", "email", "idn-email", "hostname", "idn-hostname"),
        *("ipv4", "ipv6", "uri", "uri-reference", "iri", "iri-reference", "uuid", "uri-template"),
        *("json-pointer", "relative-json-pointer", "regex"),
    )
)
"""The formats that JSON Schema defines (2020-12, Validation, section 7.3); any other is a remark."""


@dataclass(frozen=True, slots=True)
class _End:
    """One end of a range of numbers."""

    inclusive: str
    exclusive: str
    lower: bool
    name: str


_ENDS = (
    _End("minimum", "exclusiveMinimum", lower=True, name="a lower limit"),
    _End("maximum", "exclusiveMaximum", lower=False, name="an upper limit"),
)

LIMITS = frozenset(
    (
        *(keyword for end in _ENDS for keyword in (end.inclusive, end.exclusive)),
        *_SIZES,
        *("format", "multipleOf", "pattern", "uniqueItems"),
    )
)


class _Bound(NamedTuple):
    """What a range has at one end."""

    number: int | float
    exclusive: bool
    keyword: str

    def words(self, end: _End) -> str:
        """Such as ``at most 50``."""
        if self.exclusive:
            return f"{'more' if end.lower else 'less'} than {value(self.number)}"
        return f"at {'least' if end.lower else 'most'} {value(self.number)}"

    def strictness(self, end: _End) -> tuple[float, bool]:
        """Greater for a bound that lets less pass."""
        return (self.number if end.lower else -self.number), self.exclusive

    def whole(self, end: _End) -> "_Bound":
        """The same bound for integers, inclusive."""
        if end.lower:
            number = math.floor(self.number) + 1 if self.exclusive else math.ceil(self.number)
        else:
            number = math.ceil(self.number) - 1 if self.exclusive else math.floor(self.number)
        return _Bound(number, exclusive=False, keyword=self.keyword)


def compare_limits(old: View, new: View, changed: frozenset[str], subject: str, ledger: Ledger) -> None:
    """Note every rule on a single value that is tighter, looser or another one."""
    for end in _ENDS:
        if end.inclusive in changed or end.exclusive in changed:
            _compare_bounds(old, new, end, subject, ledger)
    for keyword in sorted(changed & LIMITS):
        if keyword in _SIZES:
            _compare_sizes(old, new, keyword, subject, ledger)
        elif keyword in _OTHERS:
            _OTHERS[keyword](old, new, subject, ledger)


def _spoken_of(view: View) -> frozenset[str]:
    """The types of the values that a schema accepts."""
    accepted = kinds(view)
    return EVERY_TYPE if accepted is None else accepted


def _compare_bounds(old: View, new: View, end: _End, subject: str, ledger: Ledger) -> None:
    # Of integers, "more than 0" and "at least 1" say the same.
    whole = set(types(new.keywords.get("type"))) - {"null"} == {"integer"}
    before, after = (_bound(view, end, whole=whole) for view in (old, new))
    if before is None and after is None:
        return
    was, verb, kind, effect = "no limit before", "may now be", "limit-loosened", Effect.WIDENED
    if before is not None:
        alike = after is None or before.exclusive == after.exclusive
        was = f"was {value(before.number) if alike else before.words(end)}"
    if after is None:
        said = f"no longer has {end.name}"
    elif before is None or after.strictness(end) > before.strictness(end):
        kind, effect = "limit-tightened", Effect.NARROWED
        said = f"{ledger.side.must} {after.words(end)}"
    elif after.strictness(end) < before.strictness(end):
        said = f"{verb} {after.words(end)}"
    else:
        return
    pointer = new.at(after.keyword) if after is not None else old.at(before.keyword if before else "")
    values = (before.number if before else None, after.number if after else None)
    ledger.note(kind, effect, f"{subject} {said} ({was})", pointer, values)


def _bound(view: View, end: _End, *, whole: bool) -> _Bound | None:
    found = []
    plain, open_end = view.keywords.get(end.inclusive), view.keywords.get(end.exclusive)
    if is_number(plain):
        # Draft 4 says "exclusive" with a boolean beside the bound.
        keyword = end.exclusive if open_end is True else end.inclusive
        found.append(_Bound(plain, exclusive=open_end is True, keyword=keyword))
    if is_number(open_end):
        found.append(_Bound(open_end, exclusive=True, keyword=end.exclusive))
    if not found:
        return None
    tightest = max(found, key=lambda bound: bound.strictness(end))
    if whole and _finite(tightest.number):
        tightest = tightest.whole(end)
    return None if -tightest.strictness(end)[0] >= _SAFE_INTEGER else tightest


def _compare_sizes(old: View, new: View, keyword: str, subject: str, ledger: Ledger) -> None:
    lower, noun = _SIZES[keyword]
    if keyword in _OF_MATCHES and not all("contains" in view.keywords for view in (old, new)):
        return
    before, after = _size(old, keyword, lower=lower), _size(new, keyword, lower=lower)
    if before == after:
        return
    pointer = (new if keyword in new.keywords else old).at(keyword)
    if after is None:
        limit = f"at {'least' if lower else 'most'} {value(before)}"
        message = f"{subject} may now have any number of {_plural(noun)} (was {limit})"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, (before, after))
        return
    words = f"{value(after)} {noun if after == 1 else _plural(noun)}"
    was = f"was {value(before)}" if before is not None else "no limit before"
    if before is None or (after > before) == lower:
        message = f"{subject} {ledger.side.must_have} at {'least' if lower else 'most'} {words} ({was})"
        ledger.note("limit-tightened", Effect.NARROWED, message, pointer, (before, after))
    else:
        message = f"{subject} may now have as {'few' if lower else 'many'} as {words} ({was})"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, (before, after))


def _size(view: View, keyword: str, *, lower: bool) -> int | float | None:
    """The limit; none where it allows everything."""
    size = _number(view, keyword)
    if keyword == "minContains":
        return 1 if size is None else max(size, 0)
    if size is None or (lower and size <= 0):
        return None
    return None if not lower and size >= _SAFE_INTEGER else size


def _plural(noun: str) -> str:
    return _PLURALS.get(noun, f"{noun}s")


def _compare_multiples(old: View, new: View, subject: str, ledger: Ledger) -> None:
    before, after = (_multiple(view) for view in (old, new))
    if before == after:
        return
    values = (old.keywords.get("multipleOf"), new.keywords.get("multipleOf"))
    pointer = (new if values[1] is not None else old).at("multipleOf")
    was = f"was {value(values[0])}" if values[0] is not None else "any before"
    if after is None or values[1] is None:
        message = f"{subject} may now be any multiple ({was})"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, values)
    elif before is not None and (before / after).denominator == 1:
        message = f"{subject} may now be a multiple of {value(values[1])} ({was})"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, values)
    else:
        narrowed = before is None or (after / before).denominator == 1
        message = f"{subject} {ledger.side.must} a multiple of {value(values[1])} ({was})"
        kind = "limit-tightened" if narrowed else "limit-changed"
        ledger.note(kind, Effect.NARROWED if narrowed else Effect.EXCHANGED, message, pointer, values)


def _multiple(view: View) -> Fraction | None:
    """What a number must be a multiple of; an integer is one of 1."""
    number = _number(view, "multipleOf")
    whole = _spoken_of(view) <= {"integer", "null"}
    if number is None or not _finite(number) or number <= 0:
        return Fraction(1) if whole else None
    # By its decimal digits: 0.3 is three times 0.1.
    step = Fraction(repr(number)) if isinstance(number, float) else Fraction(number)
    return Fraction(step.numerator) if whole else step


def _compare_uniqueness(old: View, new: View, subject: str, ledger: Ledger) -> None:
    before, after = (view.keywords.get("uniqueItems") is True for view in (old, new))
    if before == after:
        return
    pointer = (new if "uniqueItems" in new.keywords else old).at("uniqueItems")
    if after:
        message = f"the items of {subject} {ledger.side.must} unique"
        ledger.note("limit-tightened", Effect.NARROWED, message, pointer, (before, after))
    else:
        message = f"the items of {subject} may now repeat"
        ledger.note("limit-loosened", Effect.WIDENED, message, pointer, (before, after))


def _compare_patterns(old: View, new: View, subject: str, ledger: Ledger) -> None:
    before, after = (_string(view, "pattern") for view in (old, new))
    if before == after:
        return
    pointer = (new if after is not None else old).at("pattern")
    if after is None:
        message = f"{subject} need no longer match {quote(before or '')}"
        ledger.note("pattern", Effect.WIDENED, message, pointer, (before, after))
    else:
        was = f"was {quote(before)}" if before is not None else "no pattern before"
        effect = Effect.NARROWED if before is None else Effect.EXCHANGED
        message = f"{subject} {ledger.side.must_match} {quote(after)} ({was})"
        ledger.note("pattern", effect, message, pointer, (before, after))


def _compare_formats(old: View, new: View, subject: str, ledger: Ledger) -> None:
    before, after = (_string(view, "format") for view in (old, new))
    if before == after:
        return
    strings = ["string" in _spoken_of(view) for view in (old, new)]
    if any(strings) and not all(strings) and {before, after} - {None} <= _ASSERTED_FORMATS:
        return  # they speak of strings alone: the change of type says it
    pointer = (new if after is not None else old).at("format")
    asserted, now_asserted = (all(strings) and text in _ASSERTED_FORMATS for text in (before, after))
    if now_asserted:
        effect = Effect.EXCHANGED if asserted else Effect.NARROWED
    else:
        effect = Effect.WIDENED if asserted else Effect.NONE
    if after is None:
        message = f"{subject} no longer has a format (was {quote(before or '')})"
    else:
        was = f"was {quote(before)}" if before is not None else "no format before"
        verb = f"{ledger.side.must} of" if now_asserted else "is now marked with"
        message = f"{subject} {verb} the format {quote(after)} ({was})"
    ledger.note("format", effect, message, pointer, (before, after))


_OTHERS = {
    "multipleOf": _compare_multiples,
    "uniqueItems": _compare_uniqueness,
    "pattern": _compare_patterns,
    "format": _compare_formats,
}


def _string(view: View, keyword: str) -> str | None:
    text = view.keywords.get(keyword)
    return text if isinstance(text, str) else None


def _number(view: View, keyword: str) -> int | float | None:
    number = view.keywords.get(keyword)
    return number if is_number(number) else None


def _finite(number: float) -> bool:
    return isinstance(number, int) or math.isfinite(number)


def is_number(of: Json) -> TypeGuard[int | float]:
    """True for a JSON number; NaN, which no comparison survives, is none."""
    return isinstance(of, (int, float)) and not isinstance(of, bool) and of == of  # noqa: PLR0124 - NaN is no number
