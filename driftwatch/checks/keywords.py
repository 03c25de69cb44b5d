"""The keywords of JSON Schema and the values that each can have: what a metaschema says; none is fetched.

Every subschema is looked at where it is written, used or not. Keywords that no dialect knows are allowed.
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from driftwatch.checks.base import Found, listed, shown
from driftwatch.checks.clients import MODERN_REVISION, position
from driftwatch.checks.json_schema import MAX_PLACES, escape, resolve
from driftwatch.checks.view import Tool
from driftwatch.model import Json

_NO_DIALECT_UNTIL = "2025-06-18"
"""The last revision without a word about dialects."""

_OUTPUT_SINCE = "2025-06-18"
"""The first revision with output schemas."""

_QUOTED = 100
"""Characters of a pointer."""
_ITEMS = 3
"""Of a list that is quoted."""

_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})


class Leads(Enum):
    """How a keyword's value leads to subschemas."""

    NOWHERE = "nowhere"
    ONE = "one"
    LIST = "list"
    MAP = "map"
    EITHER = "either"
    """To one, or to a list of them."""


class Rule(NamedTuple):
    """What the value of a keyword has to be."""

    says: str
    fits: Callable[[Json], bool]
    leads: Leads = Leads.NOWHERE


class Misuse(NamedTuple):
    """A keyword with a value that it cannot have, or something that is no schema."""

    pointer: str
    code: str
    """``type`` for a name that is no type, ``reference`` for one that leads nowhere, else ``keyword``."""
    says: str
    value: Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What dialects differ in."""

    tuple_items: bool = False
    """Whether ``items`` may be a list, as until 2019-09."""
    boolean_limits: bool = False
    """Whether ``exclusiveMinimum`` may be true, as in draft-04."""
    unknown: frozenset[str] = frozenset()
    """Keywords that mean nothing in it, and may have any value."""


_NEW = {
    "2020-12": "prefixItems $dynamicRef $dynamicAnchor",
    "2019-09": "$anchor dependentRequired dependentSchemas unevaluatedItems unevaluatedProperties deprecated "
    "minContains maxContains contentSchema",
    "draft-07": "$comment if then else readOnly writeOnly contentEncoding contentMediaType",
    "draft-06": "$id contains propertyNames examples",
}
"""The keywords that came with each dialect, newest first."""


def _after(name: str) -> frozenset[str]:
    """The keywords that came later than a dialect."""
    newer = itertools.takewhile(lambda other: other != name, _NEW)
    return frozenset(word for other in newer for word in _NEW[other].split())


_NEWEST = Dialect(unknown=frozenset({"additionalItems"}))
_ANY = Dialect(tuple_items=True, boolean_limits=True)
_BY_NAME = {
    "2020-12": _NEWEST,
    "2019-09": Dialect(tuple_items=True, unknown=_after("2019-09")),
    "draft-07": Dialect(tuple_items=True, unknown=_after("draft-07")),
    "draft-06": Dialect(tuple_items=True, unknown=_after("draft-06")),
    "draft-04": Dialect(tuple_items=True, boolean_limits=True, unknown=_after("draft-04")),
}


def broken(tool: Tool, revision: str) -> Found | None:
    """What is wrong within the schemas of a tool, as far as no other check says so."""
    misused = sorted(_within(tool, revision), key=lambda one: one.pointer)
    if misused:
        told = {place.pointer for place in tool.places if not isinstance(place.schema, dict | bool)}
        misused = [one for one in misused if one.pointer not in told]
    if not misused:
        return None
    dropping = _dropping(misused, revision)
    return Found(
        code=misused[0].code,
        subject=tool.subject,
        message=f"The schema is not valid: clients on {dropping} drop the whole list."
        if dropping
        else "The schema is not valid: the interfaces of models and validators refuse it.",
        expected=misused[0].says,
        measured=listed([f"{one.pointer[:_QUOTED]} is {_excerpt(one.value)}" for one in misused], 3),
        pointer=misused[0].pointer,
    )


def _dropping(misused: list[Misuse], revision: str) -> str | None:
    """The SDKs whose types do not take an input schema with these."""
    values = [
        one.value
        for one in misused
        if one.pointer == "/inputSchema/properties"
        # A name that stands twice is a fault of the schema only.
        or (
            one.pointer == "/inputSchema/required"
            and not (isinstance(one.value, list) and _is_named(one.value))
        )
    ]
    if not values:
        return None
    python = python_reads_schemas(revision) and any(value is not None for value in values)
    return "the official SDKs" if python else "the TypeScript SDK"


def python_reads_schemas(revision: str) -> bool:
    """Whether the Python SDK holds `properties` and `required` to their forms, as until 2025-11-25."""
    return position(revision) < position(MODERN_REVISION)


def _within(tool: Tool, revision: str) -> Iterator[Misuse]:
    if isinstance(tool.schema, dict) and tool.schema.get("type") == "object":
        yield from _judged(tool.schema, "/inputSchema", revision)
    output = tool.get("outputSchema")
    if isinstance(output, dict) and position(revision) >= position(_OUTPUT_SINCE):
        yield from _judged(output, "/outputSchema", revision)


def _judged(schema: dict[str, Json], pointer: str, revision: str) -> Iterator[Misuse]:
    known = dialect(schema, revision)
    return iter(()) if known is None else misuses(schema, pointer, known)


def _excerpt(value: Json) -> str:
    if not isinstance(value, list) or not value:
        return "an empty list" if value == [] else shown(value, 40)
    items = [shown(item, 20) for item in value[:_ITEMS]]
    return f"[{', '.join([*items, '…'] if len(value) > _ITEMS else items)}]"


def dialect(schema: dict[str, Json], revision: str) -> Dialect | None:
    """The dialect of a tool's schema; None for one that is not known here."""
    return _own(schema, _ANY if position(revision) <= position(_NO_DIALECT_UNTIL) else _NEWEST)


def _own(schema: dict[str, Json], otherwise: Dialect) -> Dialect | None:
    """The dialect that a schema or a part of it declares."""
    declared = schema.get("$schema")
    if not isinstance(declared, str):
        return otherwise
    return next((known for name, known in _BY_NAME.items() if name in declared), None)


def misuses(schema: dict[str, Json], pointer: str, of: Dialect) -> Iterator[Misuse]:
    """What a schema has that its dialect does not allow, and references within it to nothing.

    A part may declare a dialect of its own. At most MAX_PLACES subschemas are looked at.
    """
    pending: list[tuple[Json, str, Dialect]] = [(schema, pointer, of)]
    nodes: list[tuple[dict[str, Json], str]] = []
    for _ in range(MAX_PLACES):
        if not pending:
            break
        node, at, spoken = pending.pop()
        if isinstance(node, dict):
            own = spoken if node is schema else _own(node, spoken)
            if own is None:
                continue
            nodes.append((node, at))
            below: list[tuple[Json, str]] = []
            yield from _look(node, at, _RULES[own], below)
            pending += [(member, place, own) for member, place in below]
        elif not isinstance(node, bool):
            yield Misuse(at, "keyword", "a schema", node)
    yield from _lost(nodes)


def _look(
    node: dict[str, Json], at: str, rules: dict[str, Rule], below: list[tuple[Json, str]]
) -> Iterator[Misuse]:
    """What is wrong with one subschema; those within it are added to ``below``."""
    for keyword, value in node.items():
        rule = rules.get(keyword)
        if rule is None:
            continue
        if not rule.fits(value):
            code = "type" if keyword == "type" and _is_named(value) else "keyword"
            yield Misuse(f"{at}/{keyword}", code, rule.says, value)
        elif rule.leads is Leads.MAP:
            members = itertools.islice(value.items(), MAX_PLACES)
            below += [(member, f"{at}/{keyword}/{escape(name)}") for name, member in members]
        elif rule.leads is Leads.LIST or (rule.leads is Leads.EITHER and isinstance(value, list)):
            items = enumerate(value[:MAX_PLACES])
            below += [(member, f"{at}/{keyword}/{index}") for index, member in items]
        elif rule.leads is not Leads.NOWHERE:
            below.append((value, f"{at}/{keyword}"))


def _lost(nodes: list[tuple[dict[str, Json], str]]) -> Iterator[Misuse]:
    """References within the schema to a part that is not there."""
    root = nodes[0][0]
    pointing = [(node["$ref"], at) for node, at in nodes if "$ref" in node]
    if any("$id" in node or "id" in node for node, _ in nodes[1:]):
        return  # under an id of its own, the references of a part are not about the whole
    for reference, at in pointing:
        local = isinstance(reference, str) and (reference == "#" or reference.startswith("#/"))
        if local and resolve(reference, root) is None:
            yield Misuse(f"{at}/$ref", "reference", "a reference to a part of the schema", reference)


def _is_named(value: Json) -> bool:
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(each, str) for each in value)
    )


def _text(value: Json) -> bool:
    return isinstance(value, str)


def _boolean(value: Json) -> bool:
    return isinstance(value, bool)


def _number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _count(value: Json) -> bool:
    return _number(value) and value >= 0 and value == value // 1


def _names(value: Json) -> bool:
    return isinstance(value, list) and all(map(_text, value)) and len(set(value)) == len(value)


def _object(value: Json) -> bool:
    return isinstance(value, dict)


def _schemas(value: Json) -> bool:
    return isinstance(value, list) and bool(value)


def _type(value: Json) -> bool:
    if isinstance(value, str):
        return value in _TYPES
    return _names(value) and bool(value) and _TYPES.issuperset(value)


_SCHEMA = Rule("a schema", lambda _: True, Leads.ONE)
"""Whether it is one is seen where it leads to."""


def _rules(of: Dialect) -> dict[str, Rule]:
    said = {
        "$id $schema $ref $anchor $dynamicRef $dynamicAnchor $comment title description format pattern "
        "contentEncoding contentMediaType": Rule("a text", _text),
        "deprecated readOnly writeOnly uniqueItems": Rule("true or false", _boolean),
        "minimum maximum": Rule("a number", _number),
        "exclusiveMinimum exclusiveMaximum": Rule(
            "a number", lambda value: _number(value) or (of.boolean_limits and isinstance(value, bool))
        ),
        "multipleOf": Rule("a number above 0", lambda value: _number(value) and value > 0),
        "minLength maxLength minItems maxItems minContains maxContains minProperties maxProperties": Rule(
            "a whole number, 0 or more", _count
        ),
        "required": Rule("a list of names, each once", _names),
        "dependentRequired": Rule(
            "an object of lists of names", lambda value: _object(value) and all(map(_names, value.values()))
        ),
        "enum examples": Rule("a list", lambda value: isinstance(value, list)),
        "type": Rule("a type of JSON Schema, or a list of them", _type),
        "properties patternProperties dependentSchemas $defs definitions": Rule(
            "an object of schemas", _object, Leads.MAP
        ),
        "allOf anyOf oneOf prefixItems": Rule("a list of schemas", _schemas, Leads.LIST),
        "items": Rule(
            "a schema or a list of them" if of.tuple_items else "a schema",
            lambda value: of.tuple_items or not isinstance(value, list),
            Leads.EITHER,
        ),
        "additionalItems additionalProperties unevaluatedItems unevaluatedProperties contains propertyNames "
        "contentSchema not if then else": _SCHEMA,
    }
    each = {keyword: rule for keywords, rule in said.items() for keyword in keywords.split()}
    return {keyword: rule for keyword, rule in each.items() if keyword not in of.unknown}


_RULES = {of: _rules(of) for of in (_ANY, *_BY_NAME.values())}
