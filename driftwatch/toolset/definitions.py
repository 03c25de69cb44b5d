"""The differences between two definitions of one tool, in words."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from driftwatch.model import Json
from driftwatch.toolset.canonical import canonical, written_alike
from driftwatch.toolset.change import BREAKING, COSMETIC, Difference
from driftwatch.toolset.parts import PARTS, compare_part
from driftwatch.toolset.sameness import Sameness
from driftwatch.toolset.schema.compare import dialect
from driftwatch.toolset.schema.excerpt import excerpt
from driftwatch.toolset.schema.views import Allowance
from driftwatch.toolset.screening import Fresh, Text, fresh_texts, new_texts, screen
from driftwatch.toolset.tools import Entry
from driftwatch.toolset.wording import value

_SCHEMAS = {"inputSchema": "input schema", "outputSchema": "output schema"}


@dataclass(slots=True)
class _Part:
    """What became of one member of a tool."""

    changes: list[Difference] | None
    """None when it is the same, none when it is only written differently."""
    texts: list[Text]
    """What was not said before."""
    fresh: list[Fresh] = field(default_factory=list)
    """What of it is worth a word, once the texts of all parts have been read."""


_SAME = _Part(None, [])


@dataclass(frozen=True, slots=True)
class Definitions:
    """The comparison of the definitions of many tools; parts that changed alike are compared once."""

    pool: Allowance
    """The places of schemas that may still be read and compared."""
    _alike: dict[tuple[str, bytes, bytes], _Part] = field(default_factory=dict)

    def compare(self, pairs: Sequence[tuple[Entry, Entry]]) -> list[list[Difference]]:
        """Every difference of each two definitions but the name, flagged; never none if they differ."""
        compared = [self._parts(old, new) for old, new in pairs]
        parts = list({id(part): part for each in compared for part in each.values() if part.texts}.values())
        every = fresh_texts([(part.texts, part.changes or []) for part in parts])
        for part, fresh in zip(parts, every, strict=True):
            part.fresh = fresh
        return [_told(*both, each) for both, each in zip(pairs, compared, strict=True)]

    def _parts(self, old: Entry, new: Entry) -> dict[str, _Part]:
        """By member, where something changed; none of what is no object."""
        before, after = old.tool, new.tool
        if not isinstance(before, dict) or not isinstance(after, dict):
            return {}
        parts = {member: self._part(member, before.get(member), after.get(member)) for member in PARTS}
        if all(part.changes is None for part in parts.values()):
            return {}
        return parts

    def _part(self, member: str, before: Json, after: Json) -> _Part:
        if written_alike(before, after):
            return _SAME
        sameness = Sameness()
        if member in _SCHEMAS:
            before, after = excerpt(before, after, sameness)
        was, now = sameness.spelled(before), sameness.spelled(after)
        if was is None or now is None:
            return self._compared(member, before, after, sameness)
        key = member, was, now
        if key not in self._alike:
            self._alike[key] = self._compared(member, before, after, sameness)
        return self._alike[key]

    def _compared(self, member: str, before: Json, after: Json, sameness: Sameness) -> _Part:
        changes = compare_part(member, before, after, sameness, self.pool)
        return _Part(changes, new_texts(member, before, after, sameness))


def _told(old: Entry, new: Entry, parts: dict[str, _Part]) -> list[Difference]:
    """The differences of two definitions, of whose parts something changed."""
    if not isinstance(old.tool, dict) or not isinstance(new.tool, dict):
        return [] if old.contract == new.contract else [_replaced(old.tool, new.tool)]
    changes = screen([(part.changes or [], part.fresh) for part in parts.values()], old.tool)
    if parts and not changes:
        member = next(member for member in _SCHEMAS if parts[member].changes is not None)
        return [_rewritten(old.tool, new.tool, member)]
    return changes


def _replaced(old: Json, new: Json) -> Difference:
    said = ["an object" if isinstance(tool, dict) else value(tool) for tool in (new, old)]
    message = f"the definition is now {said[0]} (was {said[1]})"
    return Difference("schema-replaced", BREAKING, message, "", old, new)


def _rewritten(old: Json, new: Json, member: str) -> Difference:
    """The one change that says that nothing changed but the writing."""
    before, after = old.get(member), new.get(member)
    how = _how_rewritten(before, after)
    message = f"{_SCHEMAS[member]} written differently, same meaning" + (f": {how}" if how else "")
    return Difference("rewritten", COSMETIC, message, f"/{member}", before, after)


def _how_rewritten(before: Json, after: Json) -> str:
    """Which of the known ways of writing the same it is; empty for another."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ""
    ways = []
    if before.get("$schema") != after.get("$schema"):
        name = dialect(after.get("$schema"))
        fate = (
            "spelled differently"
            if "$schema" in before and "$schema" in after
            else "spelled out"
            if "$schema" in after
            else "left out"
        )
        ways.append(f"the dialect {name} is {fate}")
    one, other = canonical(before), canonical(after)
    references = one.count('"$ref":'), other.count('"$ref":')
    if references[0] != references[1]:
        ways.append("a `$ref` is written out" if references[0] > references[1] else "a `$ref` is used")
    elif any(_names(before, keyword) != _names(after, keyword) for keyword in ("$defs", "definitions")):
        ways.append("definitions have other names")
    if one.count('"additionalProperties":true') != other.count('"additionalProperties":true'):
        ways.append("`additionalProperties: true` is written out or left out")
    return ", ".join(ways)


def _names(schema: dict[str, Json], keyword: str) -> set[str]:
    definitions = schema.get(keyword)
    return set(definitions) if isinstance(definitions, dict) else set()
