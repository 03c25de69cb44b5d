"""``/``: every server in one line each, the worst first."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlencode

from driftwatch.alerts.quiet import Quiet, in_force
from driftwatch.model import Event, Release, State
from driftwatch.store.ports import Glance, Reader, ServerOverview
from driftwatch.web.pages.marks import marks
from driftwatch.web.pages.site import Page, Scene
from driftwatch.web.pages.words import CHANGES, headline

PAGE = 50
"""Servers on one page."""

OVERDUE_AFTER = timedelta(minutes=5)
"""A probe that should have been made so long ago was not made."""

_RANK = {State.FAILED: 0, State.OBSERVED_RISK: 1, State.NOT_CHECKED: 2, State.VERIFIED: 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One server in one line."""

    name: str
    url: str
    tags: tuple[str, ...]
    worst: State
    counts: Mapping[State, int]
    drifted: bool
    """A tool list is not the accepted one."""
    certificate_days: int | None
    change: str | None
    changed_at: datetime | None
    event: str | None
    release: Release | None
    probed_at: datetime | None
    overdue: bool
    marks: tuple[str, ...]
    """``acknowledged``, ``silenced for 5 h``, ``maintenance``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What of the fleet is asked for."""

    name: str = ""
    state: State | None = None
    tag: str = ""
    page: int = 1

    @classmethod
    def of(cls, scene: Scene) -> "Filter":
        """From the address; what makes no sense is left out."""
        query = scene.query
        state, page = query.get("state", ""), query.get("page", "")
        return cls(
            name=query.get("name", "").strip()[:64],
            state=State(state) if state in set(State) else None,
            tag=query.get("tag", "")[:64],
            page=max(1, int(page)) if page.isascii() and page.isdecimal() and len(page) < 6 else 1,  # noqa: PLR2004
        )

    def takes(self, glance: Glance) -> bool:
        """Whether a server is among what is asked for."""
        return (
            self.name.casefold() in glance.name.casefold()
            and (self.state is None or glance.worst is self.state)
            and (not self.tag or self.tag in glance.tags)
        )

    def address(self, page: int = 1, **changes: str) -> str:
        """The page of the same, or nearly the same, question."""
        asked = {"name": self.name, "state": self.state or "", "tag": self.tag} | changes
        if page > 1:
            asked["page"] = str(page)
        query = urlencode({key: value for key, value in asked.items() if value})
        return f"/?{query}" if query else "/"


def is_overdue(next_due_at: datetime, now: datetime) -> bool:
    """Whether a server should have been probed long ago."""
    return now - next_due_at > OVERDUE_AFTER


def view(reader: Reader, scene: Scene) -> Page:
    """The fleet, filtered, a page of it."""
    fleet = reader.glance()
    wanted = Filter.of(scene)
    found = sorted(filter(wanted.takes, fleet), key=_order)
    pages = max(1, -(-len(found) // PAGE))
    page = min(wanted.page, pages)
    shown = [each.name for each in found[(page - 1) * PAGE : page * PAGE]]
    counts = {state: sum(each.worst is state for each in fleet) for state in State}
    return Page(
        template="fleet.html",
        values={
            "total": len(fleet),
            "counts": counts,
            "found": len(found),
            "rows": _rows(reader, scene, shown),
            "filter": wanted,
            "tags": sorted({tag for each in fleet for tag in each.tags}),
            "page": page,
            "pages": pages,
            "probed_at": max((each.last_run_at for each in fleet if each.last_run_at), default=None),
            "channels": len(scene.config.channels),
            "backlog": reader.backlog(),
        },
    )


def _order(glance: Glance) -> tuple[int, int, int, str]:
    counts = glance.counts
    return _RANK[glance.worst], -counts[State.FAILED], -counts[State.OBSERVED_RISK], glance.name


def _rows(reader: Reader, scene: Scene, names: Sequence[str]) -> list[Row]:
    if not names:
        return []
    changes, releases = reader.latest_events(names, CHANGES), reader.latest_releases(names)
    quiet = in_force(reader.silences(scene.now), scene.config.alerts.windows, scene.now)
    known = {each.record.name: each for each in reader.overview(names=names)}
    return [_row(known[name], changes.get(name), releases.get(name), quiet, scene) for name in names]


def _row(
    overview: ServerOverview,
    change: Event | None,
    release: Release | None,
    quiet: Sequence[Quiet],
    scene: Scene,
) -> Row:
    record = overview.record
    return Row(
        name=record.name,
        url=record.url,
        tags=record.tags,
        worst=overview.worst,
        counts=overview.counts,
        drifted=any(each.accepted and each.accepted != each.confirmed for each in overview.toolsets),
        certificate_days=overview.certificate.days_left(scene.now) if overview.certificate else None,
        change=headline(change, scene.voice) if change else None,
        changed_at=change.at if change else None,
        event=change.id if change else None,
        release=release,
        probed_at=overview.last_run.taken_at if overview.last_run else None,
        overdue=is_overdue(record.next_due_at, scene.now),
        marks=marks(
            overview.incidents,
            [each for each in quiet if each.is_about(record.name, record.tags)],
            scene.now,
        ),
    )
