"""What clients need an input schema to be before they look at any keyword of it."""

from driftwatch.checks.base import Found, shown
from driftwatch.checks.json_schema import Place
from driftwatch.checks.keywords import python_reads_schemas
from driftwatch.checks.view import Tool
from driftwatch.model import Severity

_PARAMETER = len(("inputSchema", "properties", "name"))
"""The slashes of a pointer to a parameter of the tool."""

_PLACES_OF_BOOLEANS = frozenset({"additionalProperties", "unevaluatedProperties", "additionalItems"})
"""Keywords that are meant to take true and false."""


def malformed(tool: Tool, revision: str) -> Found | None:
    """What makes an input schema unreadable as the schema of an object; None for nothing."""
    root = tool.schema
    if not isinstance(root, dict) or root.get("type") != "object":
        return Found(
            code="root",
            subject=tool.subject,
            message="The input schema is not an object schema: clients on the official SDKs drop the whole "
            "list.",
            expected='"type": "object" at the root',
            measured=_root_measured(tool),
            pointer="/inputSchema",
        )
    places = [place for place in tool.places if place.used]
    broken = [place for place in places if not isinstance(place.schema, (dict, bool))]
    booleans = [place for place in places if isinstance(place.schema, bool) and not _may_be_boolean(place)]
    if not broken and not booleans:
        return None
    first = (broken or booleans)[0]
    return Found(
        severity=None if broken else Severity.HEADS_UP,
        code="no-schema" if broken else "boolean",
        subject=tool.subject,
        message=f"Where a schema belongs there is something else: {_refusing(broken, revision)}."
        if broken
        else "A boolean stands in the place of a schema: legal, and more than some clients can read.",
        expected="an object with a type",
        measured=shown(first.schema, 40),
        pointer=first.pointer,
    )


def _refusing(broken: list[Place], revision: str) -> str:
    """Who does not take it: the SDKs look at the parameters themselves and no deeper."""
    direct = [place for place in broken if place.plain and place.pointer.count("/") == _PARAMETER]
    if not direct or not python_reads_schemas(revision):
        return "the interfaces of models and validators refuse it"
    python = all(isinstance(place.schema, list) for place in direct)
    return f"clients on {'the Python SDK' if python else 'the official SDKs'} drop the whole list"


def _root_measured(tool: Tool) -> str:
    if not isinstance(tool.raw, dict) or "inputSchema" not in tool.raw:
        return "no inputSchema"
    if not isinstance(tool.schema, dict):
        return shown(tool.schema, 40)
    return f"type {shown(tool.schema['type'], 40)}" if "type" in tool.schema else "no type"


def _may_be_boolean(place: Place) -> bool:
    # "items": false after prefixItems is how 2020-12 closes a tuple.
    return place.kind in _PLACES_OF_BOOLEANS or (place.kind == "items" and place.schema is False)
