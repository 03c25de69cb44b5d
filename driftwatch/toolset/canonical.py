"""The canonical form ``dw1``: one spelling for every JSON value that means the same.

docs/fingerprint.md specifies it. In short: compact ASCII JSON; members by code point; numbers by value;
inside a schema, the arrays that are sets sorted and without repetitions. References are never followed.
Nothing here fails or recurses, whatever the depth and the numbers.
"""

import json
from collections.abc import Hashable
from decimal import Decimal
from json.encoder import encode_basestring_ascii as quote
from typing import Any

from driftwatch.model import Json
from driftwatch.toolset.sameness import Sameness, spelled
from driftwatch.toolset.schema.keywords import HOLDS, Holds

ALGORITHM = "dw1"
"""The name and version of the canonical form and of what the digests cover."""

_write_shallow = json.JSONEncoder(sort_keys=True, separators=(",", ":"), check_circular=False).encode
_CONTAINERS = (dict, list)
_NUMBERS = {int, float}
_NOTHING: dict[str, Holds] = {}


def canonical(value: Json) -> str:
    """The canonical form of plain data: every array keeps its order."""
    if type(value) is str:
        return quote(value)
    if value is None:
        return "null"
    return _write(_normal(value, Holds.DATA))


def canonical_schema(schema: Json) -> str:
    """The canonical form of a JSON Schema: arrays that are sets by keyword are sorted."""
    if schema is None:
        return "null"
    return _write(_normal(schema, Holds.SCHEMA))


def written_alike(one: Json, other: Json) -> bool:
    """True when two values are one at first sight: a quick test that may miss and never errs."""
    if one is other:
        return True
    try:
        if one != other:
            return False
    except RecursionError:
        return False
    written = spelled(one)  # Python takes true for 1 where it compares
    return written is not None and written == spelled(other)


def same(one: Json, other: Json) -> bool:
    """JSON equality of plain data: 1 and 1.0 are equal, 1 and true are not."""
    if one is other:
        return True
    if type(one) is str and type(other) is str:
        return one == other
    return written_alike(one, other) or _same_form(one, other, Holds.DATA, Sameness())


def same_schema(one: Json, other: Json, sameness: Sameness) -> bool:
    """True when two JSON Schemas have one canonical form. Writes none: the first difference decides."""
    return _same_form(one, other, Holds.SCHEMA, sameness)


def by_form(members: list[Json]) -> dict[Hashable, Json]:
    """The members that are different by JSON equality, by what tells them apart."""
    return {member if type(member) is str else (canonical(member),): member for member in members}


def _same_form(one: Json, other: Json, holds: Holds, sameness: Sameness) -> bool:
    top: tuple[Json, Json, Holds] = one, other, holds
    todo = [] if sameness.alike(one, other) else [top]
    while todo:
        one, other, holds = todo.pop()
        if type(one) is dict and type(other) is dict and one.keys() == other.keys():
            known, inside = _inside(holds)
            names = sameness.changed(one, other)
            todo += [(one[name], other[name], known.get(name, inside)) for name in names]
        elif type(one) is not list or type(other) is not list:
            # Of what is too deep to compare at once, members that are alike come along.
            if not sameness.alike(one, other) and not _same_number(one, other):
                return False
            continue
        elif holds is Holds.SET:
            if by_form(one).keys() != by_form(other).keys():
                return False
            continue
        elif len(one) != len(other):
            return False
        else:
            inside = Holds.SCHEMA if holds is Holds.SCHEMA else Holds.DATA
            todo += [
                (member, twin, inside)
                for member, twin in zip(one, other, strict=True)
                if not sameness.alike(member, twin)
            ]
    return True


def _same_number(one: Json, other: Json) -> bool:
    """By value, of two that Python may call unequal: 1 and 1.0 are the same; so is NaN with itself."""
    kinds = {type(one), type(other)}
    return float in kinds and kinds <= _NUMBERS and canonical(one) == canonical(other)


def _normal(value: Json, holds: Holds) -> Json:
    """A copy with normal numbers and sorted sets, made without recursion."""
    if type(value) is float:
        return _number(value)
    top = [value]
    # The copy to fill, the key in it, the container to copy there, and what that is.
    todo: list[tuple[Json, Json, Json, Holds]] = (
        [(top, 0, value, holds)] if type(value) in _CONTAINERS else []
    )
    while todo:
        holder, key, item, holds = todo.pop()
        copy: Json
        members: Any  # pairs of key or index, and value
        if type(item) is list:
            if holds is Holds.SET:
                holder[key] = _sorted_set(item)
                continue
            known, inside = _NOTHING, Holds.SCHEMA if holds is Holds.SCHEMA else Holds.DATA
            copy, members = list(item), enumerate(item)
        else:
            known, inside = _inside(holds)
            copy, members = dict(item), item.items()
        holder[key] = copy
        for name, member in members:
            kind = type(member)
            if kind is dict or kind is list:
                todo.append((copy, name, member, known.get(name, inside)))
            elif kind is float:
                copy[name] = _number(member)
    return top[0]


def _inside(holds: Holds) -> tuple[dict[str, Holds], Holds]:
    """What the members of an object hold: by name, and those without a name there."""
    if holds is Holds.SCHEMA or holds is Holds.SET:  # an object in the place of a set is read as a schema
        return HOLDS, Holds.DATA
    if holds is Holds.SCHEMAS:
        return _NOTHING, Holds.SCHEMA
    return _NOTHING, Holds.SET if holds is Holds.SETS else Holds.DATA


def _sorted_set(members: list[Json]) -> list[Json]:
    if all(type(member) is str for member in members):
        return sorted(set(members), key=quote)
    by_form = {canonical(member): member for member in members}
    return [_normal(by_form[form], Holds.DATA) for form in sorted(by_form)]


def _number(value: float) -> int | float:
    """An integer for a whole number (the one its shortest spelling names); else the float itself."""
    if not value.is_integer():
        return value
    return int(value) if abs(value) < 2**53 else int(Decimal(repr(value)))


def _write(value: Json) -> str:
    try:
        return _write_shallow(value)
    except (RecursionError, ValueError):  # too deep for the encoder, or an integer of more than 4,300 digits
        return _write_deep(value)


def _write_deep(value: Json) -> str:
    """What _write_shallow writes, without recursion."""
    out: list[str] = []
    todo: list[Json] = [value]  # values still to write, last first; a _Raw is written as it is
    while todo:
        item = todo.pop()
        if isinstance(item, _Raw):
            out.append(item)
        elif isinstance(item, dict):
            todo.append(_Raw("}"))
            for index, name in enumerate(sorted(item, reverse=True), start=1):
                comma = "," if index < len(item) else ""
                todo += [item[name], _Raw(f"{comma}{quote(name)}:")]
            out.append("{")
        elif isinstance(item, list):
            todo.append(_Raw("]"))
            for index, member in enumerate(reversed(item), start=1):
                todo.append(member)
                if index < len(item):
                    todo.append(_Raw(","))
            out.append("[")
        elif type(item) is int:
            out.append(format(Decimal(item), "f"))  # unlike str(), without a limit on the digits
        else:
            out.append(_write_shallow(item))
    return "".join(out)


class _Raw(str):
    """Canonical text that is already written."""

    __slots__ = ()
