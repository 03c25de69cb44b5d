"""The differences between two tool lists, in words."""

from collections import defaultdict
from collections.abc import Hashable

from driftwatch.model import Json
from driftwatch.toolset.canonical import same
from driftwatch.toolset.change import BREAKING, COMPATIBLE, TEXT, Change, Diff, Difference
from driftwatch.toolset.characters import looks
from driftwatch.toolset.collection import collection_paused
from driftwatch.toolset.definitions import Definitions
from driftwatch.toolset.further import further_changes, further_names
from driftwatch.toolset.pairing import Both, Pairing, pair
from driftwatch.toolset.schema.remarks import text_change
from driftwatch.toolset.schema.views import Allowance, names
from driftwatch.toolset.screening import Text, Traits, flagged, flagged_name, judged, traits, traits_of_tools
from driftwatch.toolset.tools import Entry, Toolset, name_of
from driftwatch.toolset.wording import listed, quote, renamed, told_apart

_NAMED = 3
"""Of tools that changed alike this many are named; of more, only these."""

_STEPS = 500_000
"""Places of schemas read and compared in one diff; a thousand tools of two megabytes need a tenth of it."""

_Alike = defaultdict[Hashable, list[tuple[str, Difference]]]

_KEPT = ("name", "title", "description", "inputSchema", "outputSchema", "annotations", "execution")
"""What of a tool is shown as the value of a change."""


NOTHING = Toolset(tools=())
"""No list that is remembered."""


@collection_paused()
def diff(old: Toolset, new: Toolset, earlier: Toolset = NOTHING) -> Diff:
    """The changes from one complete tool list to another, worst first.

    ``earlier`` has the last definition of what was there before ``old``: what of it is in ``new`` again has
    returned, and is compared with that. Empty if and only if the fingerprints are the same pair. Never
    raises, whatever the tools are.
    """
    pairing = pair(old, new)
    changes = [
        *_instructions(old.instructions, new.instructions),
        *further_changes(old, new, earlier),
        *_removed(pairing),
    ]
    returned = _returned(pairing, old, earlier)
    pairs = [*returned, *pairing.same, *pairing.renamed]
    differences = Definitions(Allowance(_STEPS)).compare(pairs)
    changes += [_back(other, found) for (_, other), found in zip(returned, differences, strict=False)]
    changes += _added(pairing, old, new, {entry for _, entry in returned})
    renamed = differences[len(pairs) - len(pairing.renamed) :]
    changes += [_renamed(*both, found) for both, found in zip(pairing.renamed, renamed, strict=True)]
    alike: _Alike = defaultdict(list)
    for (_, other), found in zip(pairs, differences, strict=True):
        _collect(found, other, alike)
    survivors = pairing.unchanged + len(pairing.same) + len(pairing.renamed)
    whole = survivors if survivors == len(new.tools) else None
    changes += [_told_once(group, whole) for group in alike.values()]
    return Diff(changes=tuple(sorted(changes, key=lambda change: change.order)))


def names_only_in(new: Toolset, old: Toolset) -> frozenset[str]:
    """The names of entries that one list has and another has not."""
    tools = frozenset(map(name_of, new.tools)) - frozenset(map(name_of, old.tools))
    return tools | (further_names(new) - further_names(old))


def _returned(pairing: Pairing, old: Toolset, earlier: Toolset) -> list[Both]:
    """The tools that were added, each with the last definition that it had before, where it had one."""
    known = {name_of(entry.tool): entry for entry in earlier.entries}
    there = set(map(name_of, old.tools))
    return [
        (known[name], entry)
        for entry in pairing.added
        if (name := name_of(entry.tool)) in known and name not in there
    ]


def _back(entry: Entry, found: list[Difference]) -> Change:
    name = name_of(entry.tool)
    how = "is back with another definition than it had" if found else "is back, as it was before"
    return Change(
        kind="tool-returned-changed" if found else "tool-returned",
        tool=name,
        klass=COMPATIBLE,
        message=f"tool {quote(name)} {how}",
        after=_shown(entry.tool),
    )


def _collect(found: list[Difference], entry: Entry, alike: _Alike) -> None:
    name = name_of(entry.tool)
    for each in found:
        alike[each.kind, each.klass, each.pointer, each.message, each.flags].append((name, each))


def _told_once(group: list[tuple[str, Difference]], whole: int | None) -> Change:
    """One change for all tools that changed alike; ``whole`` is their number if no tool came or went."""
    tool, first = group[0]
    if len(group) == 1:
        return Change(
            kind=first.kind,
            tool=tool,
            klass=first.klass,
            message=f"{quote(tool)}: {first.message}",
            pointer=first.pointer,
            before=first.before,
            after=first.after,
            flags=first.flags,
        )
    tools = tuple(name for name, _ in group)
    if len(tools) == whole and len(tools) > _NAMED:
        who = f"all {len(tools)} tools"
    elif len(tools) > _NAMED + 1:
        who = f"{len(tools)} tools ({listed(map(quote, tools), _NAMED)})"
    else:
        who = ", ".join(map(quote, tools))
    return Change(
        kind=first.kind,
        tool=None,
        klass=first.klass,
        message=f"{who}: {first.message}",
        pointer=first.pointer,
        before=_shared([each.before for _, each in group]),
        after=_shared([each.after for _, each in group]),
        flags=first.flags,
        count=len(tools),
        tools=tools,
    )


def _shared(values: list[Json]) -> Json:
    """The value that all have; None where they differ."""
    first = values[0]
    return first if all(same(first, value) for value in values[1:]) else None


def _removed(pairing: Pairing) -> list[Change]:
    return [
        Change(
            kind="tool-removed",
            tool=name_of(entry.tool),
            klass=BREAKING,
            message=f"tool {quote(name_of(entry.tool))} removed",
            before=_shown(entry.tool),
        )
        for entry in pairing.removed
    ]


def _added(pairing: Pairing, old: Toolset, new: Toolset, returned: set[Entry]) -> list[Change]:
    known = set(map(name_of, old.tools))
    common = {entry.parameters for entry in pairing.removed} & {entry.parameters for entry in pairing.added}
    twins = {
        entry.schema: name_of(entry.tool)
        for entry in pairing.removed
        if entry.parameters in common and '"properties":{"' in entry.schema
    }
    added = [entry for entry in pairing.added if entry not in returned]
    doubles = _doubles(new) if added else {}
    changes = []
    for entry, does in zip(added, traits_of_tools([entry.tool for entry in added]), strict=True):
        name = quote(name_of(entry.tool))
        message = (
            f"another tool {name} added"
            if name_of(entry.tool) in known
            else f"tool {name} added {_size(entry.tool)}"
        )
        if entry.parameters in common and entry.schema in twins:
            message += f", with the parameters of the removed {quote(twins[entry.schema])}"
        if double := doubles.get(name_of(entry.tool)):
            message = told_apart(f"{message}, which looks like {quote(double)}", name_of(entry.tool), double)
        change = Change(
            kind="tool-added",
            tool=name_of(entry.tool),
            klass=COMPATIBLE,
            message=message,
            after=_shown(entry.tool),
        )
        changes.append(flagged(change, *judged(does, Traits())))
    return changes


def _doubles(tools: Toolset) -> dict[str, str]:
    """Of the names that look alike, or differ by case alone: another one of them."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for name in sorted(set(map(name_of, tools.tools))):
        alike[looks(name)].append(name)
    return {
        name: next(other for other in group if other != name)
        for group in alike.values()
        if len(group) > 1
        for name in group
    }


def _size(tool: Json) -> str:
    """Such as ``(3 parameters, 1 required)``."""
    schema = tool.get("inputSchema") if isinstance(tool, dict) else None
    declared = schema.get("properties") if isinstance(schema, dict) else None
    count = len(declared) if isinstance(declared, dict) else 0
    if not isinstance(schema, dict) or not count:
        return "(no parameters)"
    required = len(set(names(schema.get("required"))))
    return f"({count} parameter{'s' if count > 1 else ''}, {required} required)"


def _renamed(one: Entry, other: Entry, found: list[Difference]) -> Change:
    before, after = name_of(one.tool), name_of(other.tool)
    parameters = any(each.pointer.startswith("/inputSchema") and each.klass != TEXT for each in found)
    same = "other parameters too" if parameters else "same parameters"
    change = Change(
        kind="tool-renamed",
        tool=after,
        klass=BREAKING,
        message=f"tool {renamed(before, after)} ({same})",
        pointer="/name",
        before=before,
        after=after,
    )
    return flagged_name(change, before, after)


def _shown(tool: Json) -> Json:
    """A tool without what no digest covers."""
    return {name: tool[name] for name in _KEPT if name in tool} if isinstance(tool, dict) else tool


def _instructions(before: str | None, after: str | None) -> list[Change]:
    if before == after:
        return []
    change = Change(
        kind="instructions",
        tool=None,
        klass=TEXT,
        message=f"instructions {text_change(before, after)}",
        before=before,
        after=after,
    )
    if after is None:
        return [change]
    old, new = (Text("", text or "", prose=True, described=True) for text in (before, after))
    return [flagged(change, *judged(traits((new,)), traits((old,))))]
