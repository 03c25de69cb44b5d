"""Two schemas without what is the same in both: tools that differ may still have changed alike."""

from driftwatch.model import Json
from driftwatch.toolset.sameness import Sameness, spelled
from driftwatch.toolset.schema.keywords import PROSE, malformed
from driftwatch.toolset.schema.views import INDIRECT
from driftwatch.toolset.schema.work import DEFINITIONS, points_elsewhere

_TEXTS = frozenset(PROSE)


def excerpt(old: Json, new: Json, sameness: Sameness) -> tuple[Json, Json]:
    """Both without the texts and the properties of the root that are written alike: they compare the same.

    Those properties stay that refer to a definition where one changed. Where properties are looked at from
    elsewhere, or others are required than before, all stay.
    """
    if not isinstance(old, dict) or not isinstance(new, dict):
        return old, new
    ours, theirs = old.get("properties"), new.get("properties")
    if not isinstance(ours, dict) or not isinstance(theirs, dict):
        return old, new
    changed = sameness.changed(old, new)
    required = old.get("required", [])
    if (
        "required" in changed
        or malformed({"required": required})
        or not INDIRECT.isdisjoint(old.keys() | new.keys())
    ):
        return old, new
    alike = frozenset(ours) - sameness.changed(ours, theirs)
    if not DEFINITIONS.isdisjoint(changed):
        alike = frozenset(name for name in alike if not _may_point(ours[name]))
    texts = _TEXTS - changed
    if not (alike or texts.intersection(old)) or points_elsewhere(old, sameness):
        return old, new
    after = _without(alike, texts, new)
    return (old, new) if points_elsewhere(after, sameness) else (_without(alike, texts, old), after)


def _without(alike: frozenset[str], texts: frozenset[str], schema: dict[str, Json]) -> dict[str, Json]:
    left = {name: item for name, item in schema.items() if name not in texts}
    left["properties"] = {name: item for name, item in schema["properties"].items() if name not in alike}
    if "required" in schema:
        left["required"] = [name for name in schema["required"] if name not in alike]
    return left


def _may_point(schema: Json) -> bool:
    written = spelled(schema)
    return written is None or b"$ref" in written
