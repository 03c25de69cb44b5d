"""The keywords of JSON Schema and the values that each can have: what a metaschema says; none is fetched.

Every subschema is looked at where it is written, used or not. Keywords that no dialect knows are allowed.
"""

import itertools
from collections.abc import Callable, Iterator
from enum import Enum
from typing import NamedTuple

from driftwatch.checks import patterns
from driftwatch.checks.base import Found, listed, shown
from driftwatch.checks.dialects import (
    ANY,
    BY_NAME,
    Dialect,
    counted,
    dialect,
    is_known,
    names_dialects,
    own,
)
from driftwatch.checks.json_schema import MAX_PLACES, escape
from driftwatch.checks.references import Part, References
from driftwatch.checks.view import Tool
from driftwatch.model import MODERN_REVISION, Json, Severity, integer, position

_OUTPUT_SINCE = "2025-06-18"
"""The first revision with output schemas."""

_RISKS = {
    "pattern-syntax": "A regular expression is none of ECMA-262: validators in JavaScript refuse the schema.",
    "dialect": "The schema's dialect is none of JSON Schema's: validators refuse it or judge by another.",
}
"""What only some refuse, and the message about it."""

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
    """``type`` for a name that is no type, ``reference`` for one that leads nowhere, ``endless`` for one that
    leads to itself, ``pattern`` for what is no regular expression, one of _RISKS, else ``keyword``."""
    says: str
    value: Json


def broken(tool: Tool, revision: str) -> Found | None:
    """What is wrong within the schemas of a tool, as far as no other check says so."""
    misused = sorted(_within(tool, revision), key=lambda one: one.pointer)
    if misused:
        no_schemas = {place.pointer for place in tool.places if not isinstance(place.schema, dict | bool)}
        misused = [one for one in misused if one.pointer not in no_schemas]
    if not misused:
        return None
    grave = [one for one in misused if one.code not in _RISKS]
    told = grave or misused
    return Found(
        severity=None if grave else Severity.HEADS_UP,
        code=told[0].code,
        subject=tool.subject,
        message=_consequence(grave, revision) if grave else _RISKS[told[0].code],
        expected=told[0].says,
        measured=listed([f"{one.pointer[:_QUOTED]} is {_excerpt(one.value)}" for one in told], 3),
        pointer=told[0].pointer,
    )


def _consequence(grave: list[Misuse], revision: str) -> str:
    dropping = _dropping(grave, revision)
    if dropping:
        return f"The schema is not valid: clients on {dropping} drop the whole list."
    return "The schema is not valid: the interfaces of models and validators refuse it."


def _dropping(misused: list[Misuse], revision: str) -> str | None:
    """The SDKs whose types do not take an input schema with these."""
    values = [
        one.value
        for one in misused
        for keyword in ("properties", "required")
        if one.pointer == f"/inputSchema/{keyword}" and not _fits_clients(keyword, one.value)
    ]
    if not values:
        return None
    python = python_reads_schemas(revision) and any(value is not None for value in values)
    return "the official SDKs" if python else "the TypeScript SDK"


def _fits_clients(keyword: str, value: Json) -> bool:
    """Whether clients take a member of the whole; a name that stands twice is a fault of the schema only."""
    return _object(value) if keyword == "properties" else isinstance(value, list) and _is_named(value)


def python_reads_schemas(revision: str) -> bool:
    """Whether the Python SDK holds `properties` and `required` to their forms, as until 2025-11-25."""
    return position(revision) < position(MODERN_REVISION)


def _within(tool: Tool, revision: str) -> Iterator[Misuse]:
    for schema, pointer in _written(tool, revision):
        known = dialect(schema, revision)
        if known is not None:
            yield from misuses(schema, pointer, known)
        elif names_dialects(revision) and not is_known(schema):
            yield Misuse(f"{pointer}/$schema", "dialect", "a dialect of JSON Schema", schema["$schema"])


def _written(tool: Tool, revision: str) -> Iterator[tuple[dict[str, Json], str]]:
    """The schemas of a tool, with where they are written."""
    if isinstance(tool.schema, dict) and tool.schema.get("type") == "object":
        yield tool.schema, "/inputSchema"
    output = tool.get("outputSchema")
    if isinstance(output, dict) and position(revision) >= position(_OUTPUT_SINCE):
        yield output, "/outputSchema"


def _excerpt(value: Json) -> str:
    if not isinstance(value, list) or not value:
        return "an empty list" if value == [] else shown(value, 40)
    items = [shown(item, 20) for item in value[:_ITEMS]]
    return f"[{', '.join([*items, '…'] if len(value) > _ITEMS else items)}]"


def misuses(schema: dict[str, Json], pointer: str, of: Dialect) -> Iterator[Misuse]:
    """What a schema has that its dialect does not allow, and references within it that lead nowhere.

    A part may declare a dialect of its own. At most MAX_PLACES subschemas are looked at.
    """
    parts: list[Part] = []
    yield from _unread(schema, pointer, of)
    yield from _walk(schema, pointer, of, parts)
    references = References(parts)
    for part in references.lost():
        yield _about(part, "reference", "a reference to a part of the schema")
    for part in references.endless():
        yield _about(part, "endless", "a reference that leads to something else than itself")


def elsewhere(tool: Tool, revision: str) -> list[Part]:
    """The parts of a tool's schemas that refer to another document; none is fetched."""
    found: list[Part] = []
    if all(text.startswith("#") for pointer, text in tool.texts if pointer.endswith("/$ref")):
        return found  # as nearly always: no schema has to be walked through
    for schema, pointer in _written(tool, revision):
        spoken = dialect(schema, revision)
        parts: list[Part] = []
        if spoken is not None:
            for _ in _walk(schema, pointer, spoken, parts):
                pass
            found += References(parts).external() if len(parts) < MAX_PLACES else ()
    return sorted(found, key=lambda part: part.pointer)


def _about(part: Part, code: str, says: str) -> Misuse:
    return Misuse(f"{part.pointer}/$ref", code, says, part.reference)


def _unread(schema: dict[str, Json], pointer: str, of: Dialect) -> Iterator[Misuse]:
    """What clients read of the whole, also where the dialect ignores it beside a reference."""
    kept = counted(schema, of)
    for keyword in ("properties", "required"):
        if keyword in schema and keyword not in kept and not _fits_clients(keyword, schema[keyword]):
            yield Misuse(f"{pointer}/{keyword}", "keyword", _RULES[of][keyword].says, schema[keyword])


def _walk(schema: dict[str, Json], pointer: str, of: Dialect, parts: list[Part]) -> Iterator[Misuse]:
    """What is wrong with the keywords of every subschema; each that is one is added to ``parts``."""
    whole = Part(schema, pointer, of, schema, "")
    pending: list[tuple[Json, str, Part]] = [(schema, pointer, whole)]
    for _ in range(MAX_PLACES):
        if not pending:
            break
        node, at, around = pending.pop()
        if isinstance(node, dict):
            spoken = own(node, around.spoken) if parts else of
            if spoken is None:
                continue
            part = around.within(node, at, spoken)
            parts.append(part)
            below: list[tuple[Json, str]] = []
            yield from _look(counted(node, spoken), at, _RULES[spoken], below)
            pending += [(member, place, part) for member, place in below]
        elif not isinstance(node, bool):
            yield Misuse(at, "keyword", "a schema", node)


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
            continue
        if keyword == "pattern":
            yield from _unreadable(value, f"{at}/pattern")
        if keyword == "patternProperties":
            for pattern in itertools.islice(value, MAX_PLACES):
                yield from _unreadable(pattern, f"{at}/patternProperties/{escape(pattern)}")
        if rule.leads is Leads.MAP:
            members = itertools.islice(value.items(), MAX_PLACES)
            below += [(member, f"{at}/{keyword}/{escape(name)}") for name, member in members]
        elif rule.leads is Leads.LIST or (rule.leads is Leads.EITHER and isinstance(value, list)):
            items = enumerate(value[:MAX_PLACES])
            below += [(member, f"{at}/{keyword}/{index}") for index, member in items]
        elif rule.leads is not Leads.NOWHERE:
            below.append((value, f"{at}/{keyword}"))


def _unreadable(pattern: str, at: str) -> Iterator[Misuse]:
    flaw = patterns.flaw(pattern)
    if flaw is not None:
        code = "pattern-syntax" if flaw.foreign else "pattern"
        yield Misuse(at, code, f"a regular expression of ECMA-262; this one {flaw.says}", pattern)


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
    number = integer(value)
    return number is not None and number >= 0


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


_RULES = {of: _rules(of) for of in (ANY, *BY_NAME.values())}
