"""Which JSON Schema keyword holds what: schemas, sets or plain data.

The union of the vocabularies that MCP servers use, draft-04 to 2020-12. A keyword that is not listed here
holds data: so do ``default``, ``const``, ``examples`` and the members of ``enum``.
"""

from enum import Enum

from driftwatch.model import Json


class Holds(Enum):
    """What stands under a keyword, or in a place of a schema."""

    DATA = "data"
    SCHEMA = "schema"
    """One schema, or an array of schemas."""
    SCHEMAS = "schemas"
    """An object whose values are schemas; its keys are names, not keywords."""
    SET = "set"
    """An array whose order and repetitions mean nothing."""
    SETS = "sets"
    """An object whose values are sets (or, in ``dependencies``, schemas)."""


HOLDS = {
    **dict.fromkeys(
        (
            "additionalItems",
            "additionalProperties",
            "allOf",
            "anyOf",
            "contains",
            "contentSchema",
            "else",
            "if",
            "items",
            "not",
            "oneOf",
            "prefixItems",
            "propertyNames",
            "then",
            "unevaluatedItems",
            "unevaluatedProperties",
        ),
        Holds.SCHEMA,
    ),
    **dict.fromkeys(
        ("$defs", "definitions", "dependentSchemas", "patternProperties", "properties"), Holds.SCHEMAS
    ),
    **dict.fromkeys(("enum", "required", "type"), Holds.SET),
    **dict.fromkeys(("dependencies", "dependentRequired"), Holds.SETS),
}
"""What each keyword holds; absent ones hold data."""

PROSE = ("title", "description", "$comment")
"""Keywords whose value is written to be read."""

_STRUCTURE = ("$id", "$schema", "$anchor", "$dynamicAnchor", "$vocabulary", "$defs", "definitions", "id")
_REMARKS = ("deprecated", "readOnly", "writeOnly")

NOTES = frozenset((*PROSE, *_STRUCTURE, *_REMARKS, "default", "examples"))
"""Keywords that never make an argument valid or invalid."""

_NUMBER = (int, float)
_LIST = (list,)
_OBJECT = (dict,)
_SCHEMA = (dict, bool)
_TEXT = (str,)
_ONLY_TEXT = {str}

_SHAPES: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(
        (
            *("minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "maxItems"),
            *("minProperties", "maxProperties", "minContains", "maxContains"),
        ),
        _NUMBER,
    ),
    **dict.fromkeys(("exclusiveMinimum", "exclusiveMaximum"), (int, float, bool)),
    **dict.fromkeys(("pattern", "format", "$ref", "$dynamicRef"), _TEXT),
    **dict.fromkeys(("enum", "allOf", "anyOf", "oneOf", "prefixItems"), _LIST),
    **dict.fromkeys(
        ("properties", "patternProperties", "dependentSchemas", "dependentRequired", "dependencies"), _OBJECT
    ),
    **dict.fromkeys(
        (
            *("additionalProperties", "unevaluatedProperties", "propertyNames", "unevaluatedItems"),
            *("additionalItems", "contains", "not", "if", "then", "else"),
        ),
        _SCHEMA,
    ),
    "items": (dict, bool, list),
    "required": _LIST,
    "type": (str, list),
    "uniqueItems": (bool,),
}
"""The JSON types that a rule's value may have, draft-04 to 2020-12."""


_OF_NAMES = frozenset({"required", "type"})
"""The rules whose arrays are of strings."""

KNOWN = frozenset({*_SHAPES, "const", *NOTES}) - frozenset(_REMARKS)
"""The keywords that have a comparison of their own, or need none because they only give structure."""


_NUMBERS = frozenset({"number", "integer"})

SPEAKS_OF: dict[str, frozenset[str]] = {
    **dict.fromkeys(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"), _NUMBERS),
    **dict.fromkeys(("minLength", "maxLength", "pattern"), frozenset({"string"})),
    **dict.fromkeys(
        (
            *("items", "prefixItems", "additionalItems", "unevaluatedItems", "minItems", "maxItems"),
            *("uniqueItems", "contains", "minContains", "maxContains"),
        ),
        frozenset({"array"}),
    ),
    **dict.fromkeys(
        (
            *("properties", "patternProperties", "additionalProperties", "unevaluatedProperties", "required"),
            *("propertyNames", "minProperties", "maxProperties", "dependencies", "dependentRequired"),
            "dependentSchemas",
        ),
        frozenset({"object"}),
    ),
}
"""The types that a rule speaks of; of values of any other type it says nothing."""


def malformed(schema: dict[str, Json]) -> list[str]:
    """The names of the rules of a schema that have a value no draft gives them."""
    return [
        name
        for name, value in schema.items()
        if name in _SHAPES
        and (
            type(value) not in _SHAPES[name]  # no subclass: true is no number
            or (name in _OF_NAMES and type(value) is list and not {*map(type, value)} <= _ONLY_TEXT)
        )
    ]
