"""The dialects of JSON Schema, as far as they differ in what a schema means."""

import itertools
from dataclasses import dataclass

from driftwatch.model import Json, position

_NO_DIALECT_UNTIL = "2025-06-18"
"""The last revision without a word about dialects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialect:
    """What dialects differ in."""

    tuple_items: bool = False
    """Whether ``items`` may be a list, as until 2019-09."""
    boolean_limits: bool = False
    """Whether ``exclusiveMinimum`` may be true, as in draft-04."""
    lone_references: bool = False
    """Whether what stands beside a ``$ref`` is ignored, as until draft-07."""
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


NEWEST = Dialect(unknown=frozenset({"additionalItems"}))
ANY = Dialect(tuple_items=True, boolean_limits=True, lone_references=True)
"""Where nobody says which: nothing is wrong that one of them allows."""
BY_NAME = {
    "2020-12": NEWEST,
    "2019-09": Dialect(tuple_items=True, unknown=_after("2019-09")),
    "draft-07": Dialect(tuple_items=True, lone_references=True, unknown=_after("draft-07")),
    "draft-06": Dialect(tuple_items=True, lone_references=True, unknown=_after("draft-06")),
    "draft-04": Dialect(
        tuple_items=True, boolean_limits=True, lone_references=True, unknown=_after("draft-04")
    ),
}

_UNJUDGED = ("draft-03", "draft/next", "json-schema.org/schema")
"""Dialects of JSON Schema whose rules are not known here."""

_KEPT = frozenset({"$ref", "$schema", "definitions", "$defs"})
"""What counts beside a lone reference: definitions are where it leads."""


def dialect(schema: dict[str, Json], revision: str) -> Dialect | None:
    """The dialect of a tool's schema; None for one that is not known here."""
    return own(schema, NEWEST if names_dialects(revision) else ANY)


def own(schema: dict[str, Json], otherwise: Dialect | None) -> Dialect | None:
    """The dialect that a schema or a part of it declares."""
    declared = schema.get("$schema")
    if not isinstance(declared, str):
        return otherwise
    return next((known for name, known in BY_NAME.items() if name in declared), None)


def is_known(schema: dict[str, Json]) -> bool:
    """Whether the dialect that a schema declares is one of JSON Schema's."""
    return any(name in schema["$schema"] for name in (*BY_NAME, *_UNJUDGED))


def names_dialects(revision: str) -> bool:
    """Whether a revision has a word about dialects."""
    return position(revision) > position(_NO_DIALECT_UNTIL)


def counted(schema: dict[str, Json], spoken: Dialect) -> dict[str, Json]:
    """What of a subschema counts in its dialect."""
    if not spoken.lone_references or not isinstance(schema.get("$ref"), str):
        return schema
    return {keyword: value for keyword, value in schema.items() if keyword in _KEPT}


def meant(schema: Json, spoken: Dialect | None = None) -> Json:
    """A schema without what a dialect that it declares ignores."""
    if isinstance(schema, list):
        return [meant(member, spoken) for member in schema]
    if not isinstance(schema, dict):
        return schema
    spoken = own(schema, spoken)
    kept = schema if spoken is None else counted(schema, spoken)
    return {keyword: meant(value, spoken) for keyword, value in kept.items()}
