"""Which parts of two definitions are written alike; no part is looked at again for every level above it."""

from enum import IntEnum

from driftwatch.model import Json

_ABSENT = object()
_DEFINITIONS = ("#/$defs/", "#/definitions/")

_WHOLE = 16
"""So often Python's own comparison may find a difference: it is quick, and reads all that stands below."""


class Alike(IntEnum):
    """How far two values are written alike; of several parts the least counts."""

    NO = 0
    ELSEWHERE = 1
    """Alike, and points to places that may differ."""
    DEFINED = 2
    """Alike, and points to definitions of the schema only."""
    YES = 3


_NO, _YES = Alike.NO, Alike.YES


class Sameness:
    """The memory of one comparison: what was found about pairs of objects and arrays, by identity."""

    __slots__ = ("_known", "_whole")

    def __init__(self) -> None:
        # The values are kept with the answer, so that no other value takes their identity.
        self._known: dict[tuple[int, int], tuple[Alike, Json, Json]] = {}
        self._whole = _WHOLE

    def of(self, one: Json, other: Json) -> Alike:
        """How far two values are alike. May miss (``1`` and ``1.0``, what is too deep) and never errs."""
        kind = type(one)
        if kind is not type(other):  # Python takes true for 1
            return _NO
        if kind is not dict and kind is not list:
            return _YES if one == other else _NO
        known = self._known.get((id(one), id(other)))
        if known is not None:
            return known[0]
        if self._whole:
            try:
                differ = one != other
            except RecursionError:
                differ = True
            if differ:
                self._whole -= 1
                self._known[id(one), id(other)] = _NO, one, other
                return _NO
        try:
            return self._compare(one, other)
        except RecursionError:
            self._known[id(one), id(other)] = _NO, one, other
            return _NO

    def _compare(self, one: Json, other: Json) -> Alike:
        """Two objects, or two arrays, of which nothing is known, member by member."""
        if len(one) != len(other):
            found = _NO
        elif type(one) is dict:
            found = self._compare_objects(one, other)
        elif set(map(type, one)) == {str}:  # names and values, as a rule
            found = _YES if one == other else _NO
        else:
            found = _YES
            for member, twin in zip(one, other, strict=True):
                found = min(found, self._compare_members(member, twin))
                if not found:
                    break
        self._known[id(one), id(other)] = found, one, other
        return found

    def _compare_objects(self, one: dict[str, Json], other: dict[str, Json]) -> Alike:
        found = _pointing(one) if "$ref" in one or "$dynamicRef" in one else _YES
        for name, member in one.items():
            twin = other.get(name, _ABSENT)
            kind = type(member)
            if kind is not type(twin):  # Python takes true for 1
                return _NO
            if kind is dict or kind is list:
                known = self._known.get((id(member), id(twin)))
                below = self._compare(member, twin) if known is None else known[0]
                if below is not _YES:
                    found = min(found, below)
                    if not found:
                        return found
            elif member != twin:
                return _NO
        return found

    def _compare_members(self, one: Json, other: Json) -> Alike:
        if type(one) is not type(other):
            return _NO
        if type(one) is dict or type(one) is list:
            known = self._known.get((id(one), id(other)))
            return self._compare(one, other) if known is None else known[0]
        return _YES if one == other else _NO


def _pointing(item: dict[str, Json]) -> Alike:
    reference = item.get("$ref")
    local = isinstance(reference, str) and reference.startswith(_DEFINITIONS)
    return Alike.DEFINED if local and "$dynamicRef" not in item else Alike.ELSEWHERE
