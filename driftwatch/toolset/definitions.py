"""The differences between two definitions of one tool, in words."""

from driftwatch.model import Json
from driftwatch.toolset.canonical import canonical, same, same_schema
from driftwatch.toolset.change import BREAKING, COMPATIBLE, COSMETIC, TEXT, WIDENS_HARM, Change
from driftwatch.toolset.sameness import Sameness
from driftwatch.toolset.schema.compare import compare_schemas, dialect
from driftwatch.toolset.schema.ledger import INPUT, OUTPUT
from driftwatch.toolset.schema.remarks import text_change
from driftwatch.toolset.schema.views import ANYTHING, Allowance, escape
from driftwatch.toolset.screening import screen
from driftwatch.toolset.tools import HINTS, TASK_SUPPORT, Entry, with_defaults
from driftwatch.toolset.wording import quote, value

_SCHEMAS = {"inputSchema": "input schema", "outputSchema": "output schema"}

_CONSEQUENCES = {
    ("readOnlyHint", False): "it says that it may now change things",
    ("readOnlyHint", True): "it says that it no longer changes anything",
    ("destructiveHint", True): "it says that it may now destroy things",
    ("destructiveHint", False): "it says that it no longer destroys anything",
    ("openWorldHint", True): "it says that it may now reach beyond the server",
    ("openWorldHint", False): "it says that it no longer reaches beyond the server",
    ("idempotentHint", False): "it says that a repeated call may now do more",
    ("idempotentHint", True): "it says that a repeated call does nothing more",
}


def compare_definitions(old: Entry, new: Entry, pool: Allowance) -> list[Change]:
    """Every difference of two definitions but the name, flagged; never empty if they differ.

    The messages lack the tool's name.
    """
    if not isinstance(old.tool, dict) or not isinstance(new.tool, dict):
        return [] if old.contract == new.contract else [_replaced(old.tool, new.tool)]
    sameness = Sameness()
    inputs, outputs = (not same_schema(old.get(name), new.get(name), sameness) for name in _SCHEMAS)
    changes = [
        *(_compare_inputs(old.tool, new.tool, sameness, pool) if inputs else ()),
        *(_compare_outputs(old.tool, new.tool, sameness, pool) if outputs else ()),
        *_compare_text(old.tool, new.tool, "description"),
        *_compare_text(old.tool, new.tool, "title"),
        *_compare_annotations(old.tool, new.tool),
        *_compare_execution(old.tool, new.tool),
    ]
    if not (changes or inputs or outputs):
        return []
    changes = screen(changes, old.tool, new.tool, sameness)
    return changes or [_rewritten(old.tool, new.tool, "inputSchema" if inputs else "outputSchema")]


def _replaced(old: Json, new: Json) -> Change:
    said = ["an object" if isinstance(tool, dict) else value(tool) for tool in (new, old)]
    message = f"the definition is now {said[0]} (was {said[1]})"
    return Change(
        kind="schema-replaced", tool=None, klass=BREAKING, message=message, pointer="", before=old, after=new
    )


def _compare_inputs(old: Json, new: Json, sameness: Sameness, pool: Allowance) -> list[Change]:
    before, after = old.get("inputSchema"), new.get("inputSchema")
    if after is None:
        message = "the input schema is gone"
        return [_change("schema-lost", BREAKING, message, (before, after), pointer="/inputSchema")]
    before = ANYTHING if before is None else before
    return compare_schemas(INPUT, before, after, "/inputSchema", sameness=sameness, pool=pool)


def _compare_outputs(old: Json, new: Json, sameness: Sameness, pool: Allowance) -> list[Change]:
    before, after = old.get("outputSchema"), new.get("outputSchema")
    pointer = "/outputSchema"
    if before is None:
        message = "an output schema was added"
        return [_change("output-added", COMPATIBLE, message, (before, after), pointer=pointer)]
    if after is None:
        message = "the output schema was removed"
        return [_change("output-removed", BREAKING, message, (before, after), pointer=pointer)]
    return compare_schemas(OUTPUT, before, after, pointer, sameness=sameness, pool=pool)


def _compare_text(old: Json, new: Json, member: str) -> list[Change]:
    before, after = old.get(member), new.get(member)
    if same(before, after):
        return []
    said = text_change(_words(before), _words(after))
    return [_change(member, TEXT, f"{member} {said}", (before, after), pointer=f"/{member}")]


def _compare_annotations(old: Json, new: Json) -> list[Change]:
    if same(old.get("annotations"), new.get("annotations")):
        return []
    before, after = (with_defaults(tool.get("annotations"), HINTS) for tool in (old, new))
    if not isinstance(before, dict) or not isinstance(after, dict):
        if same(before, after):
            return []
        message = f"annotations are now {value(after)} (were {value(before)})"
        return [_change("annotation", TEXT, message, (before, after), pointer="/annotations")]
    changes = []
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if same(one, other):
            continue
        pointer = f"/annotations/{escape(name)}"
        if name == "title":
            message = f"title (annotation) {text_change(_words(one), _words(other))}"
            changes.append(_change("title", TEXT, message, (one, other), pointer=pointer))
            continue
        told = _CONSEQUENCES.get((name, other), "") if isinstance(other, bool) else ""
        named = name if name in HINTS else quote(name)
        message = f"annotation {named} is now {value(other)} (was {value(one)})" + (
            f": {told}" if told else ""
        )
        flags = (WIDENS_HARM,) if _widens_harm(name, before, after) else ()
        changes.append(_change("annotation", TEXT, message, (one, other), pointer=pointer, flags=flags))
    return changes


def _words(of: Json) -> str | None:
    return of if isinstance(of, str) or of is None else value(of)


def _widens_harm(name: str, before: dict[str, Json], after: dict[str, Json]) -> bool:
    """True when a hint now allows more harm; destructiveHint means nothing while readOnlyHint is true."""
    if name == "readOnlyHint":
        return before[name] is True and after[name] is not True
    if name == "destructiveHint":
        return before[name] is False and after[name] is not False and after["readOnlyHint"] is not True
    return name == "openWorldHint" and before[name] is False and after[name] is not False


def _compare_execution(old: Json, new: Json) -> list[Change]:
    if same(old.get("execution"), new.get("execution")):
        return []
    before, after = (with_defaults(tool.get("execution"), TASK_SUPPORT) for tool in (old, new))
    if same(before, after):
        return []
    if not isinstance(before, dict) or not isinstance(after, dict):
        message = f"execution is now {value(after)} (was {value(before)})"
        return [_change("task-support", BREAKING, message, (before, after), pointer="/execution")]
    changes = []
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if same(one, other):
            continue
        if name == "taskSupport":
            # A caller that worked before goes on working only where tasks become, or stay, a choice.
            klass = COMPATIBLE if other == "optional" else BREAKING
            message = f"task support is now {value(other)} (was {value(one)})"
        else:
            klass, message = TEXT, f"execution member {quote(name)} is now {value(other)} (was {value(one)})"
        changes.append(
            _change("task-support", klass, message, (one, other), pointer=f"/execution/{escape(name)}")
        )
    return changes


def _rewritten(old: Json, new: Json, member: str) -> Change:
    """The one change that says that nothing changed but the writing."""
    before, after = old.get(member), new.get(member)
    how = _how_rewritten(before, after)
    message = f"{_SCHEMAS[member]} written differently, same meaning" + (f": {how}" if how else "")
    return _change("rewritten", COSMETIC, message, (before, after), pointer=f"/{member}")


def _how_rewritten(before: Json, after: Json) -> str:
    """Which of the known ways of writing the same it is; empty for another."""
    if not isinstance(before, dict) or not isinstance(after, dict):
        return ""
    ways = []
    if before.get("$schema") != after.get("$schema"):
        name = dialect(after.get("$schema"))
        spelled = (
            "spelled differently"
            if "$schema" in before and "$schema" in after
            else "spelled out"
            if "$schema" in after
            else "left out"
        )
        ways.append(f"the dialect {name} is {spelled}")
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


def _change(
    kind: str,
    klass: str,
    message: str,
    values: tuple[Json, Json],
    *,
    pointer: str,
    flags: tuple[str, ...] = (),
) -> Change:
    before, after = values
    return Change(
        kind=kind,
        tool=None,
        klass=klass,
        message=message,
        pointer=pointer,
        before=before,
        after=after,
        flags=flags,
    )
