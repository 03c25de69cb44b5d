"""A bounded walk through a tool's input schema, whatever the server put there.

Only what shapes the input is followed: properties, items, compositions, conditions and local references. A
schema may be a boolean, contain itself, or be no schema at all; nothing here raises for that, and nothing is
fetched.
"""

import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple
from urllib.parse import unquote

from driftwatch.model import Json

MAX_PLACES = 4_000
"""Subschemas that are looked at in one tool; beyond them the walk ends."""

MAX_LEVEL = 32
"""Nesting that is counted; a schema that contains itself reaches it at once."""

_MAX_ALTERNATIVES = 50
"""References and compositions that are followed from one place without getting any deeper."""

_COMPOSITIONS = ("anyOf", "oneOf", "allOf")

_SAME_PLACE = frozenset({*_COMPOSITIONS, "then", "else", "dependentSchemas", "$ref"})
"""Keywords whose subschemas describe the same part of the input as the schema that has them."""

_MAPS = ("properties", "patternProperties", "dependentSchemas")
_LISTS = ("prefixItems", *_COMPOSITIONS)
_SINGLES = ("additionalProperties", "unevaluatedProperties", "additionalItems", "contains", "then", "else")
_DEFINITIONS = ("$defs", "definitions")

_RANK = {
    keyword: rank for rank, keyword in enumerate((*_MAPS, "items", *_LISTS, *_SINGLES, "$ref", *_DEFINITIONS))
}
"""Every keyword that leads to a subschema, in the order of the walk."""

_INDEX = re.compile(r"0|[1-9][0-9]{0,6}")
"""A JSON pointer's token for a place in a list."""


class Place(NamedTuple):
    """One subschema, and how it is reached from the root."""

    schema: Json
    pointer: str
    """Where it is written, from the tool's object: ``/inputSchema/properties/when``."""
    name: str | None
    """The name of the property that it describes; None for the root, items and map values."""
    plain: bool
    """True where only ``properties`` lead to it: no items, compositions, conditions or references."""
    kind: str
    """The keyword that leads to it; empty for the root."""
    used: bool
    """False for a definition to which nothing refers."""


def places(schema: Json) -> Iterator[Place]:
    """Every subschema once, at most MAX_PLACES: what shapes the input first, unused definitions last."""
    queue = [_root(schema)]
    unused: list[Place] = []
    # A reference leads to where its target is written, so a schema that contains itself comes to an end.
    seen = {place.pointer for place in queue}
    while queue:
        following: list[Place] = []
        for place in queue:
            yield place
            for child in _children(place, schema):
                if len(seen) >= MAX_PLACES:
                    return
                if not child.used and place.used:
                    unused.append(child)
                elif child.pointer not in seen:
                    seen.add(child.pointer)
                    following.append(child)
        if not following:
            following = [place for place in unused if place.pointer not in seen]
            seen.update(place.pointer for place in following)
            unused = []
        queue = following


def depth(schema: Json) -> int:
    """How deep the schema nests: the root object is level 1, every object and every items step adds one.

    Compositions and local references add nothing by themselves. Never more than MAX_LEVEL.
    """
    deepest = 0
    reached: dict[int, int] = {}
    pending = [(_root(schema), 0)]
    for _ in range(MAX_PLACES):
        if not pending:
            break
        place, base = pending.pop()
        node = place.schema
        if not isinstance(node, dict) or reached.get(id(node), -1) >= base:
            continue
        reached[id(node)] = base
        deepest = max(deepest, base + is_object(node))
        if deepest >= MAX_LEVEL:
            return MAX_LEVEL
        pending.extend(
            (child, base if child.kind in _SAME_PLACE else base + 1)
            for child in itertools.islice(_children(place, schema), MAX_PLACES)
            if child.used and isinstance(child.schema, dict)
        )
    return deepest


def is_object(schema: dict[str, Json]) -> bool:
    """Whether a subschema describes an object."""
    kind = schema.get("type")
    if kind is None:
        return isinstance(schema.get("properties"), dict)
    return kind == "object" or (isinstance(kind, list) and "object" in kind)


def types(schema: dict[str, Json]) -> set[str]:
    """The values of ``type``, as a set; empty where it says none."""
    kind = schema.get("type")
    listed = kind if isinstance(kind, list) else [kind]
    return {item for item in listed if isinstance(item, str)}


def alternatives(schema: Json, root: Json) -> list[dict[str, Json]]:
    """The subschema itself and everything it refers to or is composed of, at the same place of the input."""
    found: list[dict[str, Json]] = []
    pending = [schema]
    while pending and len(found) < _MAX_ALTERNATIVES:
        node = pending.pop(0)
        if not isinstance(node, dict) or any(node is other for other in found):
            continue
        found.append(node)
        pending += [member for keyword in _COMPOSITIONS for member in _list(node.get(keyword))]
        if "$ref" in node:
            pending.append(resolve(node["$ref"], root))
    return found


def properties(schema: Json, root: Json) -> dict[str, Json]:
    """The properties of an object schema, those of its references and compositions included."""
    merged: dict[str, Json] = {}
    for node in alternatives(schema, root):
        merged |= _map(node.get("properties"))
    return merged


def resolve(reference: Json, root: Json) -> Json:
    """What a local reference (``#`` or ``#/...``) points to; None for any other, and for one into nothing."""
    if not isinstance(reference, str) or not (reference == "#" or reference.startswith("#/")):
        return None
    node = root
    for token in unquote(reference).split("/")[1:]:
        key = token.replace("~1", "/").replace("~0", "~")
        if isinstance(node, dict) and key in node:
            node = node[key]
        elif isinstance(node, list) and _INDEX.fullmatch(key) and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return node


def escape(token: str) -> str:
    """One token of a JSON pointer."""
    return token.replace("~", "~0").replace("/", "~1")


def _root(schema: Json) -> Place:
    return Place(schema, "/inputSchema", None, plain=True, kind="", used=True)


def _children(place: Place, root: Json) -> Iterator[Place]:
    schema = place.schema
    if not isinstance(schema, dict):
        return
    for keyword in sorted(schema.keys() & _RANK.keys(), key=_RANK.__getitem__):
        value = schema[keyword]
        pointer = f"{place.pointer}/{keyword}"
        if keyword == "$ref":
            target = resolve(value, root)
            if target is not None:
                pointer = f"/inputSchema{unquote(value).removeprefix('#')}"
                yield Place(target, pointer, place.name, plain=False, kind=keyword, used=place.used)
        elif keyword in _MAPS or keyword in _DEFINITIONS:
            for name, child in _map(value).items():
                yield _member(place, keyword, f"{pointer}/{escape(name)}", child, name)
        elif keyword in _LISTS or isinstance(value, list):
            for index, child in enumerate(_list(value)):
                yield _member(place, keyword, f"{pointer}/{index}", child)
        else:
            yield _member(place, keyword, pointer, value)


def _member(place: Place, keyword: str, pointer: str, child: Json, name: str | None = None) -> Place:
    return Place(
        child,
        pointer,
        name if keyword == "properties" else place.name if keyword in _SAME_PLACE else None,
        plain=place.plain and keyword == "properties",
        kind=keyword,
        used=place.used and keyword not in _DEFINITIONS,
    )


def _map(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
