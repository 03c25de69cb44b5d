"""The ``WWW-Authenticate`` header, as RFC 9110 section 11.6.1 defines it. Pure."""

import re
from collections.abc import Iterable, Iterator

from driftwatch.evidence import Challenge

_TOKEN = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"  # noqa: S105 - the grammar's word
_QUOTED = r'"(?:[^"\\]|\\.)*"'
_PARAMETER = re.compile(rf"({_TOKEN})[ \t]*=[ \t]*({_TOKEN}|{_QUOTED})")
_LOOSE = re.compile(rf'({_TOKEN})[ \t]*=[ \t]*([^\s"]+)')
"""A URL without its quotes: no token, but what is meant is plain."""
_TOKEN68 = re.compile(r"[A-Za-z0-9._~+/-]+=*")
_SCHEME = re.compile(rf"({_TOKEN})(?:[ \t]+(.*))?", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)

_QUOTED_FAULT = 80
"""Characters of a malformed piece that are shown."""


def parse(values: Iterable[str]) -> tuple[tuple[Challenge, ...], str | None]:
    """The challenges of every header value, and the first piece that is none; None where all is well.

    A list of challenges and the parameters of each are both separated by commas, so that only the form of a
    piece tells which it is: ``name=value`` belongs to the challenge before it, anything else begins one.
    """
    found: list[_Draft] = []
    malformed: list[str] = []
    for value in values:
        current: _Draft | None = None  # a challenge does not go on in the next header
        for piece in filter(None, _pieces(value)):
            if current is not None and current.token68 is None and _took(current, piece, malformed):
                continue
            scheme = None if _PARAMETER.fullmatch(piece) else _SCHEME.fullmatch(piece)
            if scheme is None:
                malformed.append(piece)
                continue
            current = _Draft(scheme[1])
            found.append(current)
            rest = (scheme[2] or "").strip()
            if not rest or _took(current, rest, malformed):
                continue
            if _TOKEN68.fullmatch(rest):
                current.token68 = rest
            else:
                malformed.append(rest)
    challenges = tuple(
        Challenge(scheme=draft.scheme, token68=draft.token68, parameters=tuple(draft.parameters.items()))
        for draft in found
    )
    return challenges, malformed[0][:_QUOTED_FAULT] if malformed else None


class _Draft:
    """A challenge whose parameters are still being read."""

    def __init__(self, scheme: str) -> None:
        self.scheme = scheme
        self.token68: str | None = None
        self.parameters: dict[str, str] = {}


def _took(challenge: _Draft, piece: str, malformed: list[str]) -> bool:
    """Whether a piece is a parameter; it is then added to the challenge."""
    strict = _PARAMETER.fullmatch(piece)
    match = strict or (None if _TOKEN68.fullmatch(piece) else _LOOSE.fullmatch(piece))
    if match is None:
        return False
    name, value = match[1].lower(), match[2]
    if value.startswith('"'):
        value = _ESCAPE.sub(r"\1", value[1:-1])
    if strict is None or name in challenge.parameters:
        malformed.append(piece)
    challenge.parameters.setdefault(name, value)
    return True


def _pieces(value: str) -> Iterator[str]:
    """The parts between commas that stand outside quoted strings."""
    start, quoted, escaped = 0, False, False
    for at, character in enumerate(value):
        if escaped:
            escaped = False
        elif quoted and character == "\\":
            escaped = True
        elif character == '"':
            quoted = not quoted
        elif character == "," and not quoted:
            yield value[start:at].strip(" \t")
            start = at + 1
    yield value[start:].strip(" \t")
