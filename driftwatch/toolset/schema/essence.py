"""What a schema demands, without how it is written: for "the same schema" where text may differ."""

from driftwatch.model import Json
from driftwatch.toolset.canonical import canonical_schema, same
from driftwatch.toolset.schema.keywords import HOLDS, Holds
from driftwatch.toolset.schema.views import Allowance, Document

_DEPTH = 40
"""Deeper than this the text as written stands for itself."""

_VIEWS = 500
"""The same once this many places were read: references can multiply."""

# What these say when they are absent as well.
_IDLE: dict[str, tuple[Json, ...]] = {
    "additionalProperties": (True, {}),
    "items": (True, {}),
    "minItems": (0,),
    "minLength": (0,),
    "minProperties": (0,),
    "required": ([],),
    "unevaluatedItems": (True, {}),
    "unevaluatedProperties": (True, {}),
    "uniqueItems": (False,),
}


def essence(document: Document, schema: Json, pointer: str = "") -> str:
    """Canonical text of the schema's rules, references resolved: equal only where the same is demanded."""
    granted = min(_VIEWS, document.allowance.left)
    own = Document(document.root, document.pointer, Allowance(granted))
    demands = _demands(own, schema, pointer, ())
    document.allowance.left -= granted - own.allowance.left
    return canonical_schema(demands)


def _demands(document: Document, schema: Json, pointer: str, path: tuple[str, ...]) -> Json:
    if not isinstance(schema, dict) or len(path) >= _DEPTH or document.allowance.left < 0:
        return schema
    view = document.view(schema, pointer)
    if view.target is not None and view.target in path:
        return {"$ref": len(path) - path.index(view.target)}  # a cycle, named by how far it goes back
    inside = (*path, view.target or "")

    def below(item: Json) -> Json:
        return _demands(document, item, pointer, inside)

    demands: dict[str, Json] = {}
    for name, item in view.rules.items():
        if any(same(item, idle) for idle in _IDLE.get(name, ())):
            continue
        holds = HOLDS.get(name)
        if holds is Holds.SCHEMA and isinstance(item, list):
            demands[name] = [below(member) for member in item]
        elif holds is Holds.SCHEMA:
            demands[name] = below(item)
        elif holds is Holds.SCHEMAS and isinstance(item, dict):
            demands[name] = {key: below(member) for key, member in item.items()}
        elif name == "const" and "enum" not in view.keywords:
            demands["enum"] = [item]
        else:
            demands[name] = item
    return demands
