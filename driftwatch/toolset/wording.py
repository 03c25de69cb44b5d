"""Values and texts as they stand in the sentences of a diff: short, quoted, hidden characters spelled out."""

import json
import re
from collections.abc import Iterable
from json.encoder import encode_basestring

from driftwatch.model import Json
from driftwatch.toolset.characters import HIDDEN, looks

_NAME = 60
_VALUE = 60
_EXCERPT = 100
_CONTEXT = 24
_WHOLE = 40
"""Characters of a text that is shown whole, before and after."""
_LISTED = 4
_UNSEEN = re.compile(rf"{HIDDEN.pattern}|[\ud800-\udfff]")
_BEYOND_ASCII = re.compile("[^\\x00-\\x7f…]")
_BASIC_PLANE = range(0x10000)

_as_json = json.JSONEncoder(ensure_ascii=False, sort_keys=True).encode


def quote(text: str, limit: int = _NAME) -> str:
    """A name or text in double quotes, cut, with hidden characters and lone surrogates spelled out."""
    cut = text if len(text) <= limit else text[: limit - 1] + "…"
    quoted: str = encode_basestring(cut)
    return quoted if quoted.isascii() and quoted.isprintable() else spelled(quoted)


def spelled(text: str) -> str:
    r"""The text with characters nobody sees as ``\u200b``: it always encodes, and hides nothing."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSEEN.sub(_spelled, text)


def _spelled(unseen: re.Match[str]) -> str:
    code_point = ord(unseen[0])
    return f"\\u{code_point:04x}" if code_point in _BASIC_PLANE else f"\\U{code_point:08x}"


def value(of: Json, limit: int = _VALUE) -> str:
    """A JSON value, cut."""
    if isinstance(of, str):
        return quote(of, limit)
    if isinstance(of, float) and of.is_integer() and abs(of) < 2**53:
        of = int(of)
    try:
        text = str(of) if type(of) is int else _as_json(of)
    except (RecursionError, ValueError):
        return "a value too large to show"
    return spelled(text if len(text) <= limit else text[: limit - 1] + "…")


def listed(items: Iterable[str], shown: int = _LISTED) -> str:
    """``a, b, c and 9 more``."""
    every = list(items)
    if len(every) <= shown + 1:
        return ", ".join(every)
    return f"{', '.join(every[:shown])} and {len(every) - shown} more"


def either(names: Iterable[str]) -> str:
    """``string, integer or null``."""
    *most, last = names
    return f"{', '.join(most)} or {last}" if most else last


def renamed(before: str, after: str) -> str:
    """``"a" renamed to "b"``; what looks alike is spelled out."""
    return told_apart(f"{quote(before)} renamed to {quote(after)}", before, after)


def rewording(before: str, after: str) -> str:
    """What a text gained, lost or exchanged, with a little of what stands around it."""
    return told_apart(_rewording(before, after), before, after)


def told_apart(said: str, before: str, after: str) -> str:
    """What is said of two texts, in letters that tell them apart."""
    if (before.isascii() and after.isascii()) or looks(before) != looks(after):
        return said
    return _BEYOND_ASCII.sub(_spelled, said)


def _rewording(before: str, after: str) -> str:
    if before.strip() and after.strip() and max(len(before), len(after)) <= _WHOLE:
        return f"{quote(before)} -> {quote(after)}"
    start = _common(before, after)
    rest = min(len(before), len(after)) - start
    tail = _common(before[::-1], after[::-1], rest) if rest else 0
    old, new = before[start : len(before) - tail], after[start : len(after) - tail]
    if not old.strip():
        return f"gained {_excerpt(new.strip())}"
    if not new.strip():
        return f"lost {_excerpt(old.strip())}"
    return f"{_within(before, start, len(before) - tail)} -> {_within(after, start, len(after) - tail)}"


def _common(one: str, other: str, limit: int | None = None) -> int:
    """How long a beginning two texts share, up to the end of a word."""
    longest = min(len(one), len(other)) if limit is None else limit
    low, high = 0, longest  # bisection: slices compare faster than characters
    if one[:longest] == other[:longest]:  # as a rule, one text with another at its end
        low = longest
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    if low == len(one) == len(other):
        return low
    while low and not (_ends_word(one, low) and _ends_word(other, low)):
        low -= 1
    return low


def _ends_word(text: str, at: int) -> bool:
    return at >= len(text) or not (text[at].isalnum() and text[at - 1].isalnum())


def _within(text: str, start: int, end: int) -> str:
    first = max(0, start - _CONTEXT) if start > _CONTEXT else 0
    last = min(len(text), end + _CONTEXT) if len(text) - end > _CONTEXT else len(text)
    return _excerpt(text[first:last], opened=first > 0, closed=last < len(text))


def _excerpt(text: str, *, opened: bool = False, closed: bool = False) -> str:
    cut = len(text) > _EXCERPT
    return quote(("…" if opened else "") + text[:_EXCERPT] + ("…" if closed or cut else ""), _EXCERPT + 2)
