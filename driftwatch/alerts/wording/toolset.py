"""Toolsets: what changed, who breaks, and what came back."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from driftwatch.alerts.text import clip, duration, foreign, joined, label, listed, quoted
from driftwatch.alerts.wording.note import Named, Note, Voice, began, gap_line, release, time_of
from driftwatch.alerts.wording.subjects import accepting, value_words
from driftwatch.model import Event, EventKind
from driftwatch.toolset import Change, Diff
from driftwatch.toolset import change as toolset

WHOLE_TOOLS = frozenset({"tool-removed", "tool-added", "tool-returned", "tool-returned-changed"})
MANY = 3
"""More tools than this that came or went whole share a line."""
NAMED = 8
"""So many of them are named in it."""

AFFECTED = {
    toolset.COMPATIBLE: "existing callers keep working",
    toolset.TEXT: "existing callers keep working; agents read other words and may choose tools differently",
    toolset.COSMETIC: "nobody: only the fingerprint moved",
}

HINTED = "existing callers keep working; clients may ask for consent where they did not, or no longer"
"""By annotations alone."""

FAILING = "existing callers, whose calls fail"
"""By a breaking change that no call of a tool survives."""

MISFITTING = "existing callers whose calls no longer fit"
"""By breaking changes that some calls survive."""

_NARROWED = "existing callers that send what is no longer accepted"
_HURT = {
    **dict.fromkeys(("tool-removed", "tool-renamed", "schema-lost", "parameter-added"), FAILING),
    **dict.fromkeys(("type-changed", "type-narrowed", "values-removed"), _NARROWED),
    **dict.fromkeys(("limit-tightened", "limit-changed", "pattern", "format", "form-removed"), _NARROWED),
    "required": "existing callers that leave it out",
    "parameter-dropped": "existing callers that still send it",
    "parameter-renamed": "existing callers that send the old name",
}
"""By breaking changes of one kind."""

READERS = "readers of the tools' results that rely on what changed"
"""Of a breaking change of an output schema."""

USERS = "clients that use what changed"
"""Of a breaking change in one of the further lists."""

FLAGS = {
    toolset.STEERS: "gives new orders to the agent",
    toolset.HIDES: "holds new characters that nobody sees",
    toolset.NEW_LINK: "holds a new link",
}
"""What a text does."""

_LOOK = "look at the release that brought it"

MORE_HARM = "the annotations allow more harm than before"


def changed(event: Event, voice: Voice) -> Note:
    """The toolset is confirmed to be another one."""
    return _note(event, voice, "toolset changed")


def returned(event: Event, voice: Voice) -> Note:
    """The toolset is again one that was confirmed before."""
    seen = time_of(event.details.get("seen_before"))
    of = event.details.get("seen_release")
    which = f"the list of release {label(str(of))}" if of else "the list"
    known = (
        f"It is {which} that was last seen {voice.at(seen)}."
        if seen
        else "It is a list that was seen before."
    )
    phrase = "toolset is back" if event.details.get("accepted") else "an earlier toolset is back"
    return _note(event, voice, phrase, known)


def settled(event: Event, voice: Voice) -> Note:
    """The toolset is steady again, and is not the accepted one."""
    lasted = duration(event.at - began(event))
    return replace(
        _note(
            replace(event, before=str(event.details.get("previous_fingerprint"))),
            voice,
            "toolset has settled on another list",
            f"It had been unsteady for {lasted}, since {voice.at(began(event))}.",
            "This is what differs from the accepted list.",
        ),
        tally="settled",
        since=None,
    )


def blip(first: Event, last: Event, voice: Voice) -> Note:
    """A change of the toolset and its undo, told together."""
    diff = _diff(first)
    lasted = duration(last.at - began(first))
    summary = _summary(diff)
    return Note(
        server=first.server,
        level=last.level,
        phrase=f"toolset changed for {lasted}{f' - {summary}' if summary else ''}",
        tally="toolset changed and back",
        lines=(
            f"Toolset{_where(first)} changed and changed back.",
            f"A blip of {lasted}, over again: {voice.during(began(first), last.at)}.",
            "A client that listed the tools in between may still hold the other list.",
        ),
        items=_items(diff),
        named=_named(diff, f"toolset changed for {lasted}"),
        release=release(last.details) or release(first.details),
    )


def _note(event: Event, voice: Voice, phrase: str, *remarks: str) -> Note:
    diff, details = _diff(event), event.details
    of, items, baseline = release(details), _items(diff), _baseline(event)
    summary = _summary(diff)
    to_accept = _worst(diff) == toolset.BREAKING and not details.get("accepted")
    if diff is None:
        remarks = (*remarks, "The earlier list is not stored any more, so there is no comparison.")
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{phrase} - {summary}" if summary else phrase,
        tally=phrase.removeprefix("an "),
        lines=(_moved(event), *remarks, *_warnings(diff), *gap_line(details)),
        items=items,
        named=_named(diff, phrase),
        since=began(event),
        release=of,
        affected=_affected(diff),
        baseline=baseline,
        fix=_fix(event, voice, event.server) if to_accept or _flagged(diff) else None,
        fix_of_each=_fix(event, voice, "NAME") if to_accept or _flagged(diff) else None,
        alike="\n".join((event.kind, _moved(event), *items, baseline, of.line if of else "")),
    )


def _diff(event: Event) -> Diff | None:
    told = event.details.get("diff")
    try:
        return Diff.from_json(told) if isinstance(told, Mapping) else None
    except (KeyError, TypeError):  # written by another version
        return None


def _where(event: Event) -> str:
    """The surface: its era, and the credential's label where one was used."""
    era, credential = event.details.get("era"), event.details.get("credential")
    parts = [label(str(era))] if era else []
    if credential and credential != "anonymous":
        parts.append(f"as {label(str(credential))}")
    return f" ({', '.join(parts)})" if parts else ""


def _summary(diff: Diff | None) -> str:
    """``1 tool renamed, 1 parameter dropped (breaking)``."""
    if diff is None:
        return ""
    summary = clip(foreign(diff.summary, 200), 110)
    return f"{summary} (breaking)" if diff.breaking and "breaking" not in summary else summary


def _worst(diff: Diff | None) -> str:
    return diff.changes[0].klass if diff and diff.changes else ""


def _items(diff: Diff | None) -> tuple[str, ...]:
    """One line for each change, what hurts first; with its class where that is not the same for all."""
    if diff is None:
        return ()
    mixed = len({change.klass for change in diff.changes}) > 1
    whole: dict[str, list[Change]] = {}
    for change in diff.changes:
        if change.kind in WHOLE_TOOLS and not change.flags:
            whole.setdefault(change.kind, []).append(change)
    many = {kind: changes for kind, changes in whole.items() if len(changes) > MANY}
    said = {id(change) for changes in many.values() for change in changes[1:]}
    items = []
    for change in diff.changes:
        if id(change) in said:
            continue
        told = many.get(change.kind, ()) if not change.flags else ()
        message = foreign(change.message)
        if told:
            names = listed((quoted(each.tool or "") for each in told), shown=NAMED)
            message = f"{len(told)} {toolset.KINDS[change.kind][1]}: {names}"
        items.append((f"{change.klass}: " if mixed else "") + message)
    return tuple(items)


def _named(diff: Diff | None, phrase: str) -> tuple[Named, ...]:
    """What happened to which tools, kind by kind, in the order of a summary."""
    kinds: dict[str, list[Change]] = {}
    for change in diff.changes if diff else ():
        kinds.setdefault(change.kind, []).append(change)
    return tuple(_named_kind(kind, changes, phrase) for kind, changes in kinds.items())


def _named_kind(kind: str, changes: Sequence[Change], phrase: str) -> Named:
    one, several = toolset.KINDS.get(kind, (label(kind), label(kind)))
    tools = [tool for change in changes for tool in change.tools or (change.tool,) if tool]
    marks = [each.klass for each in changes if each.klass == toolset.BREAKING]
    marks += [label(flag) for each in changes for flag in each.flags]
    return Named(
        phrase=phrase,
        one=one,
        several=several,
        names=tuple(dict.fromkeys(map(quoted, tools))),
        mark=f" ({', '.join(dict.fromkeys(marks))})" if marks else "",
        level=Diff(changes=tuple(changes)).level,
    )


def _flagged(diff: Diff | None) -> list[Change]:
    return [change for change in diff.changes if change.flags] if diff else []


def _warnings(diff: Diff | None) -> tuple[str, ...]:
    """What a change does to whoever reads it."""
    lines: dict[str, dict[str, None]] = {}
    for change in _flagged(diff):
        what = joined(_does(change.flags))
        lines.setdefault(what, {})[quoted(change.tool) if change.tool else _shared(change)] = None
    return tuple(f"Look at {listed(names)}: {what}." for what, names in lines.items())


def _does(flags: Sequence[str]) -> Iterator[str]:
    texts = [FLAGS.get(flag, label(flag)) for flag in flags if flag != toolset.WIDENS_HARM]
    if texts:
        yield f"the text {joined(texts)}"
    if toolset.WIDENS_HARM in flags:
        yield MORE_HARM


def _shared(change: Change) -> str:
    return listed(map(quoted, change.tools), shown=3) if change.tools else "the instructions"


def _moved(event: Event) -> str:
    return f"Toolset{_where(event)}: {value_words(event.before)} -> {value_words(event.after)}"


def _affected(diff: Diff | None) -> str | None:
    if diff is None or not diff.breaking:
        hints = diff is not None and {change.kind for change in diff.changes} == {"annotation"}
        return HINTED if hints else AFFECTED.get(_worst(diff))
    hurt = "; ".join(_hurt([each.kind for each in diff.changes if each.klass == toolset.BREAKING]))
    mixed = len({change.klass for change in diff.changes}) > 1
    return f"{hurt}; see what is marked breaking" if mixed else hurt


def _hurt(kinds: Sequence[str]) -> Iterator[str]:
    """Who is hurt by breaking changes of these kinds."""
    sent = [kind for kind in kinds if not kind.startswith("output-") and kind not in toolset.FURTHER_KINDS]
    hurt = {_HURT.get(kind, MISFITTING) for kind in sent}
    if sent:
        yield FAILING if FAILING in hurt else hurt.pop() if len(hurt) == 1 else MISFITTING
    if any(kind.startswith("output-") for kind in kinds):
        yield READERS
    if not toolset.FURTHER_KINDS.keys().isdisjoint(kinds):
        yield USERS


def _fix(event: Event, voice: Voice, server: str | None) -> str:
    """Both ways out, each with its command where the server is known."""
    if server is None or event.details.get("accepted"):
        return f"If it is not meant, {_LOOK}."
    accept = voice.command(accepting(server, event.after or ""))
    return f"If it is meant, accept it: `{accept}`. If not, {_LOOK}."


def _baseline(event: Event) -> str:
    if event.details.get("accepted"):
        which = "this" if event.kind is EventKind.TOOLSET_RETURNED else "the new"
        return f"{which} list; nothing is to be accepted by hand"
    return "still the old list, until the new one is accepted"
