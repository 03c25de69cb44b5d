"""The launch checklist's own fingerprint, byte for byte, so that a person can verify it by hand.

Item 13: ``jq -S -s 'map({name, inputSchema}) | sort_by(.name)' tools.jsonl | sha256sum``. jq 1.6 and 1.7
print some numbers differently and refuse some inputs; where they would, there is no such digest.
"""

import json
from collections.abc import Iterable
from hashlib import sha256
from json.encoder import encode_basestring as quote

from driftwatch.model import Json

_EXACT = 2**53
"""jq 1.6 computes with doubles: beyond this it may print another integer than was written."""

_JQ_DEPTH = 256
"""jq's parser opens nothing deeper than this; an object counts twice, for itself and for its open key."""

_dump = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode


class _NotComparableError(Exception):
    """jq refuses this, or its versions disagree about it."""


def checklist_digest(tools: Iterable[Json]) -> str | None:
    """The hex SHA-256 that the checklist's line prints; None where it depends on the version of jq.

    Decoded tools do not show how a number was spelled: for ``0.50`` and ``-0`` this is the digest of ``0.5``
    and ``0``.
    """
    try:
        rows = [_row(tool) for tool in tools]
        rows.sort(key=lambda row: _rank(row["name"], 0))
        out: list[str] = []
        for row in rows:
            out.append(",\n  " if out else "[\n  ")
            _print(row, "\n  ", 0, out)
        out.append("\n]\n" if rows else "[]\n")
        # Only inside strings, and the only character beyond JSON's own that jq escapes.
        printed = "".join(out).replace("\x7f", "\\u007f")
        return sha256(printed.encode()).hexdigest()
    except (_NotComparableError, UnicodeEncodeError):  # jq refuses a lone surrogate
        return None


def _row(tool: Json) -> dict[str, Json]:
    if tool is None:  # jq finds every member of null to be null; other values stop it
        tool = {}
    if not isinstance(tool, dict):
        raise _NotComparableError
    _check_readable({name: member for name, member in tool.items() if name not in {"inputSchema", "name"}})
    return {"inputSchema": tool.get("inputSchema"), "name": tool.get("name")}


def _check_readable(rest: dict[str, Json]) -> None:
    """Of what is not printed: that jq can read it at all."""
    try:
        text = _dump(rest)
    except (RecursionError, ValueError):
        raise _NotComparableError from None
    text.encode()
    if 2 * (text.count("{") + text.count("[")) > _JQ_DEPTH:
        _print(rest, "\n", 0, [], strict=False)


def _print(value: Json, indent: str, weight: int, out: list[str], *, strict: bool = True) -> None:
    """Append what ``jq -S`` prints. ``weight`` is the depth as jq counts; strict refuses doubtful numbers."""
    if not isinstance(value, (dict, list)):
        out.append(_scalar(value, strict=strict))
        return
    if weight >= _JQ_DEPTH:
        raise _NotComparableError
    if not value:
        out.append("{}" if isinstance(value, dict) else "[]")
        return
    inside = indent + "  "
    if isinstance(value, dict):
        start = "{" + inside
        for name in sorted(value):
            member = value[name]
            if type(member) is str:
                out.append(f"{start}{quote(name)}: {quote(member)}")
            else:
                out.append(f"{start}{quote(name)}: ")
                _print(member, inside, weight + 2, out, strict=strict)
            start = "," + inside
        out.append(indent + "}")
    else:
        start = "[" + inside
        for member in value:
            out.append(start)
            _print(member, inside, weight + 1, out, strict=strict)
            start = "," + inside
        out.append(indent + "]")


def _scalar(value: Json, *, strict: bool) -> str:
    if isinstance(value, str):
        return quote(value)
    if value is None or isinstance(value, bool):
        return _CONSTANTS[value]
    return _number(value) if strict else "0"


def _number(value: float) -> str:
    spelled = repr(value) if abs(value) <= _EXACT else ""
    # A whole float was written 1.0 or 1e0, which jq 1.7 repeats and jq 1.6 prints as 1; below 0.0001 the
    # two write exponents differently. NaN fails the comparison with _EXACT.
    if not spelled or (isinstance(value, float) and (value.is_integer() or "e" in spelled)):
        raise _NotComparableError
    return spelled


def _rank(value: Json, depth: int) -> tuple[int, object]:
    """A key that sorts as jq does: null, false, true, numbers, strings, arrays, objects."""
    if depth > _JQ_DEPTH:
        raise _NotComparableError
    if value is None or isinstance(value, bool):
        return _CONSTANT_RANKS[value], 0
    if isinstance(value, (int, float)):
        return 3, value
    if isinstance(value, str):
        return 4, value
    if isinstance(value, dict):
        names = sorted(value)
        return 6, (names, [_rank(value[name], depth + 1) for name in names])
    return 5, [_rank(member, depth + 1) for member in value]


_CONSTANTS = {None: "null", False: "false", True: "true"}
_CONSTANT_RANKS = {None: 0, False: 1, True: 2}
