"""What happened: events, and stretches of time with one value."""

from collections.abc import Mapping

from typing_extensions import TypedDict

from driftwatch import model
from driftwatch.model import Json
from driftwatch.store import ports
from driftwatch.views.shape import Moment, described, iso, iso_or_none


@described
class Event(TypedDict):
    """Something that happened."""

    id: str
    at: Moment
    server: str | None
    """null for what is about driftwatch itself."""
    kind: str
    severity: str
    """info, warning or error."""
    subject: str | None
    """check:<id>, toolset:<era>:<credential>, eras or revision:<era>."""
    before: str | None
    after: str | None
    since: Moment | None
    """When the new value was first seen, before it was confirmed."""
    run: str | None
    """The run that confirmed it."""
    details: Mapping[str, Json]
    """What explains it; differs by kind."""


@described
class Interval(TypedDict):
    """A stretch of time in which a subject had one confirmed value."""

    subject: str
    value: str
    since: Moment
    until: Moment | None
    """null for the present."""
    event: str | None


def event(item: model.Event) -> Event:
    """One event, whole."""
    return {
        "id": item.id,
        "at": iso(item.at),
        "server": item.server,
        "kind": item.kind.value,
        "severity": item.level.value,
        "subject": item.subject,
        "before": item.before,
        "after": item.after,
        "since": iso_or_none(item.since),
        "run": item.run,
        "details": item.details,
    }


def interval(item: ports.StateInterval) -> Interval:
    """One stretch."""
    return {
        "subject": item.subject,
        "value": item.value,
        "since": iso(item.since),
        "until": iso_or_none(item.until),
        "event": item.event,
    }
