"""Events of one message, folded (pure).

A change and its undo are one story; so is a chain of one subject's changes, and what is the same of a tool
list in several eras of a server. Of several reminders that waited together the newest is told.
"""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

from driftwatch.alerts.details import objects
from driftwatch.model import Event, EventKind
from driftwatch.transitions.subjects import is_toolset, named_together, surface_of

CHECKS = frozenset({EventKind.CHANGE, EventKind.RECOVERY, EventKind.COVERAGE_LOST, EventKind.COVERAGE_BACK})
TOOLSETS = frozenset({EventKind.TOOLSET_CHANGED, EventKind.TOOLSET_RETURNED})


@dataclass(frozen=True, slots=True)
class Story:
    """One thing to tell; most often one event."""

    first: Event
    last: Event
    undone: bool = False
    """The subject ended where it had begun, and nobody has been told of it yet."""


def fold(events: Sequence[Event]) -> list[Story]:
    """The stories of some events, each in the place of its first one."""
    chains: dict[object, list[Event]] = {}
    for event in _eras_together(_reminders_together(events)):
        chains.setdefault(_chain(event), []).append(event)
    return [story for chain in chains.values() for story in _stories(chain)]


def _reminders_together(events: Sequence[Event]) -> list[Event]:
    """The events, with one reminder of each server: of what is over by the end of them nothing is open."""
    reminders: dict[str | None, list[Event]] = {}
    for event in events:
        if event.kind is EventKind.REMINDER:
            reminders.setdefault(event.server, []).append(event)
    over = {str(event.details.get("incident")) for event in events if _ends(event)}
    told = list[Event]()
    for event in events:
        if event.kind is not EventKind.REMINDER:
            told.append(event)
        elif event is reminders[event.server][0]:
            newest = _newest(reminders[event.server], over)
            says = any(objects(newest.details.get(name)) for name in ("incidents", "stale"))
            was_said = any(objects(event.details.get(name)) for name in ("incidents", "stale"))
            told += [newest] if says or not was_said else []
    return told


def _newest(reminders: list[Event], over: Container[str]) -> Event:
    # One that calls only unseen checks to mind says nothing of what is open.
    telling = [event for event in reminders if objects(event.details.get("incidents"))]
    last = max(telling or reminders, key=lambda event: event.at)
    open_ = [each for each in objects(last.details.get("incidents")) if str(each.get("id")) not in over]
    # What nobody could look at is called to mind once.
    stale = {
        (str(each.get("subject")), str(each.get("since"))): each
        for event in reminders
        for each in objects(event.details.get("stale"))
    }
    return replace(last, details={**last.details, "incidents": open_, "stale": list(stale.values())})


def _ends(event: Event) -> bool:
    """Whether an event ends the incident that it is about."""
    return event.kind is EventKind.RECOVERY or event.details.get("accepted") is True


def _eras_together(events: Sequence[Event]) -> list[Event]:
    """The events, with the same difference of a tool list in several eras as one event about all of them."""
    together: list[Event] = []
    for event in events:
        for place, known in enumerate(together):
            if _same_difference(known, event):
                eras = named_together({*_era(known).split(" and "), _era(event)})
                together[place] = replace(known, details={**known.details, "era": eras})
                break
        else:
            together.append(event)
    return together


def _same_difference(one: Event, other: Event) -> bool:
    lists = all(is_toolset(event.subject) for event in (one, other))
    return lists and one.run is not None and _told(one) == _told(other)


def _told(event: Event) -> object:
    """What is said of one surface's tool list, without the surface."""
    said: object = event.id
    if event.kind in TOOLSETS:
        rest = {key: value for key, value in event.details.items() if key not in {"era", "incident"}}
        said = (event.before, event.after, rest)
    elif event.kind is EventKind.SETTLED:
        said = (event.after, event.details.get("diff"))
    elif event.kind in {EventKind.FLAPPING, EventKind.UNSETTLED}:
        said = {event.before, event.after}
    return (event.server, event.run, event.kind, event.level, said)


def _era(event: Event) -> str:
    return str(event.details.get("era") or surface_of(event.subject or "")[0])


def _chain(event: Event) -> object:
    if event.kind in CHECKS:
        return (event.server, event.subject, "check")
    if event.kind in TOOLSETS:
        return (event.server, event.subject, "toolset")
    return event.id


def _stories(chain: list[Event]) -> list[Story]:
    chain.sort(key=lambda event: event.at)
    first, last = chain[0], chain[-1]
    if first is last:
        return [Story(first, last)]
    if first.before is not None and first.before == last.after:
        return [Story(first, last, undone=True)]
    if last.kind in TOOLSETS:
        # Two differences of a tool list do not add up to a third one: each is told.
        return [Story(event, event) for event in chain]
    since = last.since if last.kind is EventKind.RECOVERY else first.since or first.at
    return [Story(first, replace(last, before=first.before, since=since))]
