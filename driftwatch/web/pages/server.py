"""``/servers/{name}``: everything that is known about one server."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from shlex import quote

from driftwatch import checks
from driftwatch.alerts.quiet import in_force
from driftwatch.alerts.wording.subjects import accepting, short_pair, subject_words, value_words
from driftwatch.errors import no_server
from driftwatch.model import Certificate, State
from driftwatch.store.ports import Reader, StateInterval
from driftwatch.transitions import Memory, SubjectState
from driftwatch.transitions.subjects import is_check, is_toolset, named_together, surface_of
from driftwatch.views.checks import Check, checks_now
from driftwatch.views.spoken import spoken_now
from driftwatch.web.pages.fleet import is_overdue
from driftwatch.web.pages.marks import marks
from driftwatch.web.pages.rendering import ORDER
from driftwatch.web.pages.site import Page, Scene
from driftwatch.web.pages.timeline import timeline
from driftwatch.web.pages.words import anchor, headline

SPANS = {"1": timedelta(days=1), "7": timedelta(days=7), "30": timedelta(days=30), "90": timedelta(days=90)}
"""What the drawing may show, by the number of days in the address."""

SPAN = "7"

STRETCHES = 1000
"""Stretches that are read for the drawing, the newest first."""

LISTED = 15
"""Entries of each table on the page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Family:
    """Checks that belong together, the worst first."""

    name: str
    checks: tuple[Check, ...]
    counts: tuple[tuple[State, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolList:
    """What one surface shows to one credential."""

    subject: str
    words: str
    state: SubjectState
    accepted: str
    stretches: tuple[StateInterval, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """The same change of one or more surfaces, not accepted."""

    words: str
    """``modern and legacy``."""
    subject: str
    """One of them."""
    accepted: str
    current: str
    since: datetime
    command: str
    """Makes the current list the baseline of all of them."""


def view(reader: Reader, scene: Scene) -> Page:
    """One server."""
    name = scene.path["name"]
    record, memory = reader.server(name), reader.memory(name)
    if record is None or memory is None:
        raise no_server(name, (each.name for each in reader.servers()))
    found = checks_now(memory)
    span = scene.query.get("days", SPAN)
    span = span if span in SPANS else SPAN
    start = scene.now - SPANS[span]
    releases = reader.releases(name, limit=LISTED)
    silences = [
        each
        for each in reader.silences(scene.now)
        if name in each.servers or not set(record.tags).isdisjoint(each.tags)
    ]
    quiet = in_force(silences, scene.config.alerts.windows, scene.now)
    history = reader.intervals(name, limit=STRETCHES)
    lists = tuple(_lists(reader, name, memory))
    incidents = sorted(memory.incidents.values(), key=lambda each: each.opened_at)
    return Page(
        template="server.html",
        values={
            "name": name,
            "record": record,
            "memory": memory,
            "counts": tuple(_counts(found)),
            "attention": [each for state in ORDER for each in found if each.bad and each.state is state],
            "families": tuple(_families(found)),
            "overdue": is_overdue(record.next_due_at, scene.now),
            "marks": marks(
                incidents, [each for each in quiet if each.is_about(name, record.tags)], scene.now
            ),
            "incidents": incidents,
            "silences": silences,
            "releases": releases,
            "outcomes": {each.release: each for each in reader.outcomes(name, LISTED)},
            "span": span,
            "spans": tuple(SPANS),
            "timeline": timeline(
                history, [(each.received_at, each.ref) for each in releases], start=start, end=scene.now
            ),
            "clipped": len(history) == STRETCHES and history[-1].since > start,
            "spoken": tuple(spoken_now(memory)),
            "lists": lists,
            "drifts": tuple(_drifts(name, lists)),
            "certificate": memory.certificate,
            "certificates": reader.certificates(name, LISTED),
            "share": _share(memory.certificate, scene.now),
            "runs": reader.runs(name, limit=LISTED),
            "events": [(each, headline(each, scene.voice)) for each in reader.events(name, limit=LISTED)],
            "transcripts": reader.transcripts(name),
            "quoted": quote(name),
            "anchor": anchor,
            "is_check": is_check,
            "is_toolset": is_toolset,
            "subject_words": subject_words,
            "value_words": value_words,
            "short": short_pair,
        },
    )


def _counts(found: Sequence[Check]) -> Iterator[tuple[State, int]]:
    for state in ORDER:
        number = sum(check.state is state for check in found)
        if number:
            yield state, number


def _families(found: Sequence[Check]) -> Iterator[Family]:
    order = {family.__name__.rpartition(".")[2]: place for place, family in enumerate(checks.FAMILIES)}
    rank = {State.FAILED: 0, State.OBSERVED_RISK: 1, State.NOT_CHECKED: 3, State.VERIFIED: 2}
    for name, members in itertools.groupby(found, key=lambda check: check.declaration.family):
        listed = tuple(sorted(members, key=lambda check: rank[check.state]))
        assert name in order  # noqa: S101 - every declaration is in a family of the catalogue
        yield Family(name=name, checks=listed, counts=tuple(_counts(listed)))


def _lists(reader: Reader, name: str, memory: Memory) -> Iterator[ToolList]:
    for subject, state in sorted(memory.states.items()):
        if not is_toolset(subject):
            continue
        yield ToolList(
            subject=subject,
            words=subject_words(subject),
            state=state,
            accepted=state.accepted or state.confirmed,
            stretches=tuple(reader.intervals(name, subject, limit=LISTED)),
        )


def _drifts(name: str, lists: Sequence[ToolList]) -> Iterator[Drift]:
    """One for each pair of an accepted and a current list: most often every surface shows the same tools."""
    pairs = dict.fromkeys((each.accepted, each.state.confirmed) for each in lists)
    for accepted, current in pairs:
        if accepted == current:
            continue
        alike = [each for each in lists if (each.accepted, each.state.confirmed) == (accepted, current)]
        yield Drift(
            words=named_together({surface_of(each.subject)[0] for each in alike}),
            subject=alike[0].subject,
            accepted=accepted,
            current=current,
            since=min(each.state.confirmed_since for each in alike),
            command=accepting(name, current),
        )


def _share(certificate: Certificate | None, now: datetime) -> float | None:
    """How much of a certificate's lifetime is over, from 0 to 1."""
    if certificate is None:
        return None
    lifetime = certificate.not_after - certificate.not_before
    return min(1.0, max(0.0, (now - certificate.not_before) / lifetime)) if lifetime else 1.0
