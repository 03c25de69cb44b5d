"""The differences between two values of one member of a tool, in words without the tool's name."""

from driftwatch.model import Json
from driftwatch.toolset.canonical import same, same_schema
from driftwatch.toolset.change import BREAKING, COMPATIBLE, TEXT, WIDENS_HARM, Difference
from driftwatch.toolset.sameness import Sameness
from driftwatch.toolset.schema.compare import compare_schemas
from driftwatch.toolset.schema.ledger import INPUT, OUTPUT
from driftwatch.toolset.schema.remarks import text_change
from driftwatch.toolset.schema.views import ANYTHING, Allowance, escape
from driftwatch.toolset.tools import HINTS, TASK_SUPPORT, with_defaults
from driftwatch.toolset.wording import quote, value

PARTS = ("inputSchema", "outputSchema", "description", "title", "annotations", "execution")
"""The members of a tool that are compared; its name pairs it."""

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


def compare_part(
    member: str, before: Json, after: Json, sameness: Sameness, pool: Allowance
) -> list[Difference] | None:
    """The changes of one of PARTS: None when it is the same, empty when it is only written differently."""
    if member in _SCHEMAS:
        if same_schema(before, after, sameness):
            return None
        return _SCHEMAS[member](before, after, sameness, pool)
    compare = _OTHERS.get(member)
    return (compare(before, after) if compare else _compare_text(member, before, after)) or None


def _compare_inputs(before: Json, after: Json, sameness: Sameness, pool: Allowance) -> list[Difference]:
    if after is None:
        message = "the input schema is gone"
        return [Difference("schema-lost", BREAKING, message, "/inputSchema", before, after)]
    before = ANYTHING if before is None else before
    return compare_schemas(INPUT, before, after, "/inputSchema", sameness=sameness, pool=pool)


def _compare_outputs(before: Json, after: Json, sameness: Sameness, pool: Allowance) -> list[Difference]:
    pointer = "/outputSchema"
    if before is None:
        message = "an output schema was added"
        return [Difference("output-added", COMPATIBLE, message, pointer, before, after)]
    if after is None:
        message = "the output schema was removed"
        return [Difference("output-removed", BREAKING, message, pointer, before, after)]
    return compare_schemas(OUTPUT, before, after, pointer, sameness=sameness, pool=pool)


def _compare_text(member: str, before: Json, after: Json) -> list[Difference]:
    if same(before, after):
        return []
    said = text_change(_words(before), _words(after))
    return [Difference(member, TEXT, f"{member} {said}", f"/{member}", before, after)]


def _compare_annotations(before: Json, after: Json) -> list[Difference]:
    if same(before, after):
        return []
    before, after = (with_defaults(annotations, HINTS) for annotations in (before, after))
    if not isinstance(before, dict) or not isinstance(after, dict):
        if same(before, after):
            return []
        message = f"annotations are now {value(after)} (were {value(before)})"
        return [Difference("annotation", TEXT, message, "/annotations", before, after)]
    changes = []
    for name in sorted(before.keys() | after.keys()):
        one, other = before.get(name), after.get(name)
        if same(one, other):
            continue
        pointer = f"/annotations/{escape(name)}"
        if name == "title":
            message = f"title (annotation) {text_change(_words(one), _words(other))}"
            changes.append(Difference("title", TEXT, message, pointer, one, other))
            continue
        told = _CONSEQUENCES.get((name, other), "") if isinstance(other, bool) else ""
        named = name if name in HINTS else quote(name)
        message = f"annotation {named} is now {value(other)} (was {value(one)})" + (
            f": {told}" if told else ""
        )
        flags = (WIDENS_HARM,) if _widens_harm(name, before, after) else ()
        changes.append(Difference("annotation", TEXT, message, pointer, one, other, flags))
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


def _compare_execution(before: Json, after: Json) -> list[Difference]:
    if same(before, after):
        return []
    before, after = (with_defaults(execution, TASK_SUPPORT) for execution in (before, after))
    if same(before, after):
        return []
    if not isinstance(before, dict) or not isinstance(after, dict):
        message = f"execution is now {value(after)} (was {value(before)})"
        return [Difference("task-support", BREAKING, message, "/execution", before, after)]
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
        pointer = f"/execution/{escape(name)}"
        changes.append(Difference("task-support", klass, message, pointer, one, other))
    return changes


_SCHEMAS = {"inputSchema": _compare_inputs, "outputSchema": _compare_outputs}
_OTHERS = {"annotations": _compare_annotations, "execution": _compare_execution}
