"""Regular expressions as ECMA-262 has them: whether a ``pattern`` can be read at all.

JSON Schema leaves it to the validator whether it reads a pattern by code points (the ``u`` flag) or as web
browsers always did. What either of the two takes is fine here, so what is found is wrong in both.
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache

MAX_PATTERN = 10_000
"""Characters that are looked at; a longer pattern is taken as it is."""

_BRACES = re.compile(r"\{([0-9]+)(?:(,)([0-9]*))?\}")
_GROUP = re.compile(r"\?(?:[:=!]|<[=!]|(?:[ims]+(?:-[ims]*)?|-[ims]+):)")
_NAMED = re.compile(r"\?<([^>]*)>")
_REFERENCE = re.compile(r"<([^<>]+)>")
_ESCAPE = re.compile(
    r"u(?P<high>[dD][89abAB][0-9a-fA-F]{2})\\u(?P<low>[dD][c-fC-F][0-9a-fA-F]{2})"
    r"|u(?P<unit>[0-9a-fA-F]{4})|u\{(?P<point>[0-9a-fA-F]+)\}|x(?P<byte>[0-9a-fA-F]{2})"
    r"|c(?P<control>[A-Za-z])|(?P<octal>[0-3]?[0-7]{1,2})|(?P<kind>[dDsSwW]|[pP]\{[^}]*\})|(?P<other>.)",
    re.DOTALL,
)
_NUMBERS = {"high": 16, "unit": 16, "point": 16, "byte": 16, "octal": 8}
_CONTROLS = {"b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_ENDLESS = 2**31 - 1
_MOST_DIGITS = 11
"""More than _ENDLESS has."""
_FOREIGN = "belongs to another engine's syntax"


@dataclass(frozen=True, slots=True)
class Flaw:
    """Why a pattern cannot be read."""

    says: str
    """Completes "the pattern ...": ``has a [ without its end``."""
    foreign: bool = False
    """Whether other engines, such as Python's, know what it means."""


class _UnreadableError(Exception):
    def __init__(self, says: str, *, foreign: bool = False) -> None:
        super().__init__(says)
        self.flaw = Flaw(says, foreign)


@dataclass(slots=True)
class _Reader:
    pattern: str
    at: int = 0
    open: list[bool] = field(default_factory=list)
    """For each group that is open, whether it may be repeated."""
    names: set[str] = field(default_factory=set)
    wanted: set[str | None] = field(default_factory=set)
    """The names of the groups that are referred to; None for a reference without a name."""

    def read(self) -> None:
        """Raises _UnreadableError."""
        repeatable = repeated = False
        while self.at < len(self.pattern):
            sign = self.pattern[self.at]
            if (quantifier := self._quantifier()) is not None:
                if not repeatable:
                    raise _UnreadableError(
                        f"has a {quantifier[:40]} that repeats nothing", foreign=repeated and sign == "+"
                    )
                repeatable, repeated = False, True
                continue
            self.at += 1
            repeatable, repeated = sign not in "|^$", False
            if sign == "[":
                self._members()
            elif sign == "(":
                self._group()
                repeatable = False
            elif sign == ")":
                if not self.open:
                    raise _UnreadableError("has a ) without its beginning")
                repeatable = self.open.pop()
            elif sign == "\\":
                repeatable = self._escape() not in ("b", "B")
        self._end()

    def _end(self) -> None:
        if self.open:
            raise _UnreadableError("has a ( without its end")
        escaped = any("\\" in name for name in self.names)
        # Without a name anywhere, \k is a k.
        if self.names and not escaped and not self.wanted <= self.names:
            raise _UnreadableError("has a \\k for a group that is not there")

    def _quantifier(self) -> str | None:
        """Steps over a quantifier."""
        braces = _BRACES.match(self.pattern, self.at)
        if braces is None and self.pattern[self.at] not in "*+?":
            return None
        text = braces.group() if braces else self.pattern[self.at]
        if braces and braces[3] and _times(braces[1]) > _times(braces[3]):
            raise _UnreadableError(f"has {text[:40]}, whose limits are the wrong way round")
        self.at += len(text)
        if self.pattern.startswith("?", self.at):
            self.at += 1
        return text

    def _group(self) -> None:
        """Steps over what makes a group special."""
        if not self.pattern.startswith("?", self.at):
            self.open.append(True)
            return
        known = _GROUP.match(self.pattern, self.at) or _NAMED.match(self.pattern, self.at)
        if known is None:
            sign = self.pattern[self.at - 1 : self.at + 3]
            raise _UnreadableError(f"has {sign}, which {_FOREIGN}", foreign=True)
        if known.re is _NAMED and not _is_name(known[1]):
            raise _UnreadableError(f"has a group named {known[1][:20]!r}, which is no name")
        if known.re is _NAMED:
            self.names.add(known[1])
        self.open.append(known.group() not in ("?<=", "?<!"))
        self.at = known.end()

    def _escape(self) -> str:
        """Steps over an escape outside of a class, and gives its first letter."""
        escape = _ESCAPE.match(self.pattern, self.at)
        if escape is None:
            raise _UnreadableError("ends with a backslash")
        self.at = escape.end()
        if escape["other"] == "k":
            name = _REFERENCE.match(self.pattern, self.at)
            self.wanted.add(name[1] if name else None)
        return escape.group()[0]

    def _members(self) -> None:
        """Steps over a class, after its [."""
        start = self.at - 1
        if self.pattern.startswith("^", self.at):
            self.at += 1
        while not self.pattern.startswith("]", self.at):
            first = self._member()
            if self.pattern.startswith("-", self.at) and not self.pattern.startswith("-]", self.at):
                self.at += 1
                last = self._member()
                if first is not None and last is not None and first > last:
                    raise _UnreadableError(
                        f"has a range in {self.pattern[start : self.at][-20:]} that runs backwards"
                    )
        self.at += 1

    def _member(self) -> int | None:
        """Steps over one member of a class, and gives its code point; None for a kind of characters."""
        if self.at >= len(self.pattern):
            raise _UnreadableError("has a [ without its end")
        sign = self.pattern[self.at]
        self.at += 1
        if sign != "\\":
            return ord(sign)
        escape = _ESCAPE.match(self.pattern, self.at)
        if escape is None:
            raise _UnreadableError("ends with a backslash")
        self.at = escape.end()
        return _point(escape)


@lru_cache(maxsize=1024)
def flaw(pattern: str) -> Flaw | None:
    """Why ECMA-262 cannot read a pattern in any way; None where it can."""
    if len(pattern) > MAX_PATTERN:
        return None
    try:
        _Reader(pattern).read()
    except _UnreadableError as unreadable:
        return unreadable.flaw
    return None


def _times(digits: str) -> int:
    """The number of a quantifier; from _ENDLESS on all are one."""
    return min(int(digits.lstrip("0")[:_MOST_DIGITS] or "0"), _ENDLESS)


def _point(escape: re.Match[str]) -> int | None:
    kind = escape.lastgroup
    if kind == "low":
        return 0x10000 + ((int(escape["high"], 16) & 0x3FF) << 10) + (int(escape["low"], 16) & 0x3FF)
    if kind == "control":
        return ord(escape["control"]) % 32
    if kind == "other":
        return _CONTROLS.get(escape["other"], ord(escape["other"]))
    return int(escape[kind], _NUMBERS[kind]) if kind in _NUMBERS else None


def _is_name(name: str) -> bool:
    return "\\" in name or name.replace("$", "_").replace("\u200c", "_").replace("\u200d", "_").isidentifier()
