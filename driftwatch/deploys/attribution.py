"""Which release an event belongs to, and how it says so. Pure."""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from driftwatch.model import Event, EventKind, Json, Level, Release
from driftwatch.toolset.change import HIDES, STEERS, WIDENS_HARM

BY = "by"
"""The release's own run saw the change."""
AFTER = "after"
"""It came after the release, and nothing proves that it came from it."""

AFTERMATH = timedelta(minutes=30)
"""A change that is confirmed this long after a release names it."""

CHANGES = frozenset(
    {
        *(EventKind.CHANGE, EventKind.RECOVERY, EventKind.COVERAGE_LOST, EventKind.COVERAGE_BACK),
        *(EventKind.TOOLSET_CHANGED, EventKind.TOOLSET_RETURNED, EventKind.FLAPPING),
        *(EventKind.ERA_CHANGED, EventKind.REVISION_CHANGED),
    }
)
TOOLSETS = frozenset({EventKind.TOOLSET_CHANGED, EventKind.TOOLSET_RETURNED})
_ENDS = frozenset({EventKind.RECOVERY, EventKind.COVERAGE_BACK, EventKind.SETTLED})
_SURPRISES = frozenset({STEERS, HIDES, WIDENS_HARM})


def told(release: Release, *, previous_ref: str | None, relation: str | None = None) -> dict[str, Json]:
    """A release as events carry it; ``previous_ref`` is what was there before, where it does not say so."""
    return {
        "id": release.id,
        "ref": release.ref,
        "commit": release.commit,
        "previous_ref": release.previous_ref or previous_ref,
        "actor": release.actor,
        "link": release.link,
        "relation": relation,
    }


def named(event: Event, release: Mapping[str, Json]) -> Event:
    """The event with the release that it belongs to."""
    return replace(event, details={**event.details, "release": release})


def expected(event: Event) -> Event:
    """The event of a release that announced a change: no surprise, unless a text newly steers or hides."""
    diff = event.details.get("diff")
    if event.kind not in TOOLSETS or not isinstance(diff, Mapping):
        return event
    flags = {flag for change in diff["changes"] for flag in change["flags"]}
    return event if flags & _SURPRISES else replace(event, level=Level.INFO)


def completes(events: Iterable[Event], left: Container[str]) -> bool:
    """Whether some events of one probe are the end of what a release had ``left`` half-way; subjects."""
    return any(event.subject in left and event.kind in TOOLSETS | _ENDS for event in events)


def follows(event: Event, release: Release, now: datetime) -> bool:
    """Whether a change that no deploy run saw is told as having come after a release."""
    if not may_follow(event) or now - release.received_at > AFTERMATH:
        return False
    began = event.at if event.kind in _ENDS else event.since or event.at
    return began >= release.received_at


def may_follow(event: Event) -> bool:
    """Whether an event is of a kind that a release may bring about."""
    return event.kind in CHANGES | _ENDS
