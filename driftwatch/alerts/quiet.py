"""What is not told for a while: silences and maintenance windows, and what of it is told afterwards (pure).

Whoever is silenced is still watched, and what happens is recorded. When it is over, what still holds is told
once; what began and ended within is in the history only, except the end of something that had been told.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from driftwatch.alerts import windows as maintenance
from driftwatch.alerts.details import objects
from driftwatch.config.alerting import Window
from driftwatch.model import Event, EventKind, Silence
from driftwatch.transitions import Memory
from driftwatch.transitions.subjects import is_toolset
from driftwatch.transitions.values import FINGERPRINT, REPLICAS


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet:
    """A silence, or one occurrence of a maintenance window, that holds now."""

    name: str
    """What stands at the deliveries that it holds back: ``silence <id>``, or the window in words."""
    until: datetime
    servers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """It is about these servers and those with any of these tags; without both about all."""
    checks: tuple[str, ...] = ()
    """Of these checks only; empty for everything."""

    def is_about(self, server: str, tags: Collection[str]) -> bool:
        """Whether it is about a server, which has these tags."""
        everything = not self.servers and not self.tags
        return everything or server in self.servers or not set(self.tags).isdisjoint(tags)

    def covers(self, event: Event, tags: Collection[str]) -> bool:
        """Whether an event is held back. What driftwatch says about itself never is."""
        if event.server is None or not self.is_about(event.server, tags):
            return False
        checks = _checks_of(event)
        return not self.checks or (bool(checks) and checks <= set(self.checks))

    def covers_subject(self, subject: str) -> bool:
        """Whether it is about a subject of a server that it is about."""
        return not self.checks or _check_of(subject) in self.checks


def in_force(silences: Iterable[Silence], windows: Iterable[Window], now: datetime) -> tuple[Quiet, ...]:
    """Every silence and window that holds at a moment, the one that ends last first."""
    found = [
        Quiet(
            name=f"silence {silence.id}",
            until=silence.over_at,
            servers=silence.servers,
            tags=silence.tags,
            checks=silence.checks,
        )
        for silence in silences
        if silence.in_force(now)
    ]
    for window in windows:
        until = maintenance.ends_at(window, now)
        if until is not None:
            name = maintenance.words(window)
            found.append(Quiet(name=name, until=until, servers=window.servers, tags=window.tags))
    return tuple(sorted(found, key=lambda quiet: (quiet.until, quiet.name), reverse=True))


def holding(quiet: Iterable[Quiet], event: Event, tags: Collection[str]) -> str | None:
    """The name of what holds an event back; None when nothing does."""
    return next((each.name for each in quiet if each.covers(event, tags)), None)


def worth_telling(held: Sequence[Event], memory: Memory, was_told: Callable[[str], bool]) -> set[str]:
    """Which events of one server are told on one channel now that nothing holds them back any more; ids.

    ``held`` is in the order in which it happened, ``memory`` what is so now; ``was_told`` says whether the
    opening of an incident that is over was told on that channel.
    """
    still_open = {incident.id for incident in memory.incidents.values()}
    opened_by = {incident.opening_event for incident in memory.incidents.values()}
    began: dict[str, str | None] = {}
    told = set()
    for event in held:
        incident = event.details.get("incident")
        if event.id in opened_by or incident in still_open:
            still_so = True
        elif event.kind is EventKind.ADDED_WITH_PROBLEMS:
            still_so = False
        elif isinstance(incident, str):
            still_so = was_told(incident)
        elif event.subject is None or event.subject not in memory.states:
            still_so = True
        else:
            # What opens no incident, such as a toolset that a deploy may change: is it as it was before?
            before = began.setdefault(event.subject, event.before)
            still_so = memory.states[event.subject].confirmed != before
        if still_so:
            told.add(event.id)
    return told


def _checks_of(event: Event) -> set[str]:
    """The checks that an event is about; empty where there are none."""
    if event.kind is EventKind.ADDED_WITH_PROBLEMS:
        return {str(result.get("check")) for result in objects(event.details.get("results"))}
    if event.kind is EventKind.UNSETTLED and is_toolset(event.subject):
        return {REPLICAS}
    check = _check_of(event.subject or "")
    return {check} if check else set()


def _check_of(subject: str) -> str | None:
    """The check that speaks for a subject."""
    kind, _, rest = subject.partition(":")
    spoken = {"eras": "mcp/era-coverage", "revision": "mcp/protocol-version"}
    return {"check": rest, "toolset": FINGERPRINT, **spoken}.get(kind)
