"""References between the parts of a schema: those to nothing, those without an end, those to elsewhere.

A part with an ``$id`` is a resource of its own, to which the references within it are relative.
"""

from collections.abc import Iterator, Mapping
from typing import NamedTuple
from urllib.parse import urljoin

from driftwatch.checks.dialects import Dialect, counted
from driftwatch.checks.json_schema import resolve
from driftwatch.model import Json

_METASCHEMAS = ("http://json-schema.org/", "https://json-schema.org/")
"""What validators know without fetching it."""


class Part(NamedTuple):
    """One subschema, and what the references in it are relative to."""

    node: dict[str, Json]
    pointer: str
    spoken: Dialect
    resource: dict[str, Json]
    """The nearest schema around it that has an id, or the whole."""
    base: str
    """The id of that; empty where it has none."""

    def within(self, node: dict[str, Json], pointer: str, spoken: Dialect) -> "Part":
        """A subschema of this one, or of one that is below it."""
        keyword = "id" if "$id" in spoken.unknown else "$id"
        name = counted(node, spoken).get(keyword) if keyword in node else None
        if not isinstance(name, str) or not name or name.startswith("#"):
            return Part(node, pointer, spoken, self.resource, self.base)
        return Part(node, pointer, spoken, node, _joined(self.base, name).removesuffix("#"))

    @property
    def reference(self) -> str | None:
        """Its ``$ref``, where it has one."""
        reference = self.node.get("$ref")
        return reference if isinstance(reference, str) else None

    @property
    def points_inside(self) -> bool:
        """Whether its reference is a pointer from the root of its resource."""
        reference = self.reference
        return reference is not None and (reference in ("", "#") or reference.startswith("#/"))


class References:
    """The references of a whole schema; its root is the first part."""

    def __init__(self, parts: list[Part]) -> None:
        self._whole = parts[0].node
        self._referring = [part for part in parts if part.reference is not None]
        self._parts = {id(part.node): part for part in parts}
        self._resources = {part.base: part.resource for part in reversed(parts)}

    def lost(self) -> Iterator[Part]:
        """Those that lead to a place of the schema that is not there."""
        for part in self._referring:
            pointing = part.points_inside or ("#/" in (part.reference or "") and self._resource(part))
            if pointing and self._target(part) is None:
                yield part

    def external(self) -> Iterator[Part]:
        """Those to another document than the schema itself."""
        for part in self._referring:
            reference = part.reference or "#"
            if reference.startswith("#") or reference == "" or self._resource(part) is not None:
                continue
            if not _joined(part.base, reference).startswith(_METASCHEMAS):
                yield part

    def endless(self) -> Iterator[Part]:
        """Those that lead back to themselves before anything of the input is looked at.

        A validator that comes to one does not come back from it. Each circle is told once.
        """
        done: set[int] = set()
        for start in self._referring:
            path: dict[int, None] = {}
            pending = [(id(start.node), False)]
            while pending:
                at, left = pending.pop()
                if left:
                    path.pop(at)
                    done.add(at)
                elif at in path:
                    circle = [self._parts[one] for one in list(path)[list(path).index(at) :]]
                    yield min((one for one in circle if one.reference is not None), key=_pointer)
                elif at not in done:
                    path[at] = None
                    pending.append((at, True))
                    pending += [(id(node), False) for node in self._same_place(at) if id(node) in self._parts]

    def _same_place(self, at: int) -> Iterator[Json]:
        """What is always applied to the same value as a part."""
        part = self._parts[at]
        yield self._target(part)
        kept = counted(part.node, part.spoken)
        for keyword, most in (("allOf", None), ("anyOf", 1), ("oneOf", 1)):
            members = kept.get(keyword)
            if isinstance(members, list):
                yield from members[:most]

    def _target(self, part: Part) -> Json:
        """What a part's reference leads to; None for nothing, and for what is not known here."""
        reference = part.reference
        if reference is None:
            return None
        if part.points_inside:
            found = resolve(reference or "#", part.resource)
            return resolve(reference or "#", self._whole) if found is None else found
        resource = None if reference.startswith("#") else self._resource(part)
        return None if resource is None else resolve(f"#{reference.partition('#')[2]}", resource)

    def _resource(self, part: Part) -> Mapping[str, Json] | None:
        return self._resources.get(_joined(part.base, (part.reference or "").partition("#")[0]))


def _pointer(part: Part) -> str:
    return part.pointer


def _joined(base: str, reference: str) -> str:
    try:
        return urljoin(base, reference)
    except ValueError:
        return reference
