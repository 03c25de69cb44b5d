"""Characters nobody sees: a table of code points, and where each of them has honest work to do.

The table is three properties of Unicode 15.1, written out because Python knows only the second: what is
ignored by default (Default_Ignorable_Code_Point), what controls or formats (general categories Cc and Cf,
without white space and the marks that are drawn), and fillers and blanks, which have a width and no ink.
Unicode Technical Standard 51 for emoji sequences. Wider than the launch checklist's class (item 8), which
lacks soft hyphens, isolates and tag characters.
"""

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from functools import cache

from driftwatch.toolset.occurrences import occurrences

# First and last code point, and what they are where Unicode has no name for one.
_RANGES = (
    (0x0000, 0x0008, "CONTROL"),
    (0x000B, 0x000C, "CONTROL"),
    (0x000E, 0x001F, "CONTROL"),
    (0x007F, 0x009F, "CONTROL"),
    (0x00AD, 0x00AD, "SOFT HYPHEN"),
    (0x034F, 0x034F, "COMBINING GRAPHEME JOINER"),
    (0x061C, 0x061C, "ARABIC LETTER MARK"),
    (0x115F, 0x1160, "HANGUL FILLER"),
    (0x17B4, 0x17B5, "KHMER INHERENT VOWEL"),
    (0x180B, 0x180F, "MONGOLIAN SELECTOR"),
    (0x200B, 0x200F, "ZERO WIDTH"),
    (0x202A, 0x202E, "BIDIRECTIONAL CONTROL"),
    (0x2060, 0x206F, "INVISIBLE FORMAT"),
    (0x2800, 0x2800, "BRAILLE BLANK"),
    (0x3164, 0x3164, "HANGUL FILLER"),
    (0xFE00, 0xFE0F, "VARIATION SELECTOR"),
    (0xFEFF, 0xFEFF, "ZERO WIDTH NO-BREAK SPACE"),
    (0xFFA0, 0xFFA0, "HALFWIDTH HANGUL FILLER"),
    (0xFFF0, 0xFFFB, "INVISIBLE FORMAT"),
    (0x13430, 0x1343F, "EGYPTIAN FORMAT"),
    (0x13441, 0x13442, "EGYPTIAN BLANK"),
    (0x16FE4, 0x16FE4, "KHITAN FILLER"),
    (0x1BCA0, 0x1BCA3, "SHORTHAND FORMAT"),
    (0x1D159, 0x1D159, "MUSICAL BLANK"),
    (0x1D173, 0x1D17A, "MUSICAL FORMAT"),
    (0xE0000, 0xE00FF, "TAG"),
    (0xE0100, 0xE01EF, "VARIATION SELECTOR"),
    (0xE01F0, 0xE0FFF, "INVISIBLE FORMAT"),
)
_FIRSTS = [first for first, _, _ in _RANGES]

HIDDEN = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for first, last, _ in _RANGES) + "]")
"""Matches one hidden character."""

BLANKS = frozenset("\u115f\u1160\u2800\u3164\uffa0\U00013441\U00013442\U00016fe4\U0001d159")
"""Those of them that look like a space."""

# Letters of other alphabets that look like Latin ones, and the apostrophes that people type.
LOOKALIKES = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u051b\u051d\u03bf\u03b1\u03b9\u2018\u2019\u02bc\u2032\u00b4\uff07",
    "aeopcyxijsdhqwoai''''''",
)

_RUN = re.compile(rf"({HIDDEN.pattern})\1*")

# Scripts in which the zero width joiners shape letters: Arabic to Thaana, the scripts of India, Tibetan,
# Myanmar, Khmer, Mongolian.
_JOINING = ((0x0600, 0x08FF), (0x0900, 0x0DFF), (0x0F00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x18AF))
_MONGOLIAN = ((0x1800, 0x18AF),)
_AT_HOME = (
    (range(0x180B, 0x1810), _MONGOLIAN),
    (range(0x2800, 0x2801), ((0x2801, 0x28FF),)),
    (range(0x13430, 0x13443), ((0x13000, 0x13440), (0x13443, 0x1345F))),
    (range(0x16FE4, 0x16FE5), ((0x18B00, 0x18CFF),)),
    (range(0x1D159, 0x1D15A), ((0x1D100, 0x1D158), (0x1D15A, 0x1D1FF))),
)
"""What belongs to one script, and has work to do beside its letters."""
_IDEOGRAPHS = ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_SKIN_TONES = ((0x1F3FB, 0x1F3FF),)
_PICTOGRAPHS = ((0x2190, 0x2BFF), (0x1F000, 0x1FAFF))

_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)

_JOINERS = range(0x200C, 0x200E)  # zero width non-joiner and joiner
_DIRECTION_MARKS = frozenset({0x061C, 0x200E, 0x200F})
_REPEATED = _DIRECTION_MARKS | {0x2800}
_SELECTORS = range(0xFE00, 0xFE10)
_IDEOGRAPH_SELECTORS = range(0xE0100, 0xE01F0)
_TAGS = range(0xE0000, 0xE0080)
_KEYS = frozenset("0123456789#*")

_FLAG = "\U0001f3f4"
_FLAGS = {
    "".join(chr(_TAGS[0] + ord(letter)) for letter in region) + "\U000e007f"
    for region in ("gbeng", "gbsct", "gbwls")
}
"""The three flags that are spelled with tag characters (UTS 51, RGI_Emoji_Tag_Sequence)."""
_FLAG_LENGTH = 6


def hides_nothing(text: str) -> bool:
    """True when no character of a text is hidden."""
    return (text.isascii() and text.isprintable()) or HIDDEN.search(text) is None


def looks(text: str) -> str:
    """What a text looks like: equal for two that nobody tells apart, or by their case alone."""
    if text.isascii():
        return text.lower()
    plain = unicodedata.normalize("NFKC", text.translate(LOOKALIKES).lower().translate(LOOKALIKES))
    return HIDDEN.sub("", plain)


def invisible(text: str) -> Counter[str]:
    """How often each hidden character without honest work is in a text, such as ``U+200B ZERO WIDTH SPACE``.

    Honest work is to shape what is seen: in an emoji, in a script that needs it, in right-to-left text.
    """
    found: Counter[str] = Counter()
    if hides_nothing(text):
        return found
    right_to_left = _RIGHT_TO_LEFT.search(text) is not None
    for run in occurrences(_RUN, text):
        code_point, length = ord(run[1]), run.end() - run.start()
        if _legitimate(text, run.start(), code_point, right_to_left=right_to_left):
            # The first one has done it; only marks of direction, and spaces in Braille, may be there twice.
            length = 0 if code_point in _REPEATED else length - 1
        if length:
            found[_name(code_point)] += length
    return found


@cache
def _name(code_point: int) -> str:
    kind = _RANGES[bisect_right(_FIRSTS, code_point) - 1][2]
    return f"U+{code_point:04X} {unicodedata.name(chr(code_point), kind)}"


def _legitimate(text: str, position: int, code_point: int, *, right_to_left: bool) -> bool:
    before = text[position - 1] if position else ""
    if code_point in _JOINERS:
        emoji = code_point == _JOINERS[-1] and _joins_emoji(text, position)
        return emoji or _within(before, _JOINING)
    if code_point in _DIRECTION_MARKS:
        return right_to_left
    if code_point in _SELECTORS:
        keycap = before in _KEYS and text[position + 1 : position + 2] == "\u20e3"
        return keycap or (not before.isascii() and not before.isspace() and not HIDDEN.match(before))
    if code_point in _IDEOGRAPH_SELECTORS:
        return _within(before, _IDEOGRAPHS)
    if code_point in _TAGS:
        start = text.rfind(_FLAG, max(0, position - _FLAG_LENGTH), position) + 1
        return start > 0 and text[start : start + _FLAG_LENGTH] in _FLAGS
    return any(code_point in own and _within(before, script) for own, script in _AT_HOME)


def _joins_emoji(text: str, position: int) -> bool:
    before = text[max(0, position - 3) : position].rstrip("\ufe0f")
    if before and _within(before[-1], _SKIN_TONES):
        before = before[:-1]
    return _within(before[-1:], _PICTOGRAPHS) and _within(text[position + 1 : position + 2], _PICTOGRAPHS)


def _within(character: str, ranges: tuple[tuple[int, int], ...]) -> bool:
    return character != "" and any(first <= ord(character) <= last for first, last in ranges)
