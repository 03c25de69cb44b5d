"""What one event has to say, before it is laid out."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo

from driftwatch.alerts.text import clip, duration, foreign, label, moment, period, sentence
from driftwatch.model import Event, Json, Level
from driftwatch.transitions import subjects

Fixes = Callable[[str], str | None]
"""The "How to fix it" prose of a check, by its id; None when there is no such check."""


def declared_fix(check: str) -> str | None:
    """The prose of the check's own declaration."""
    from driftwatch import checks  # noqa: PLC0415 - a message without a check in it needs no catalogue

    try:
        return checks.by_id(check).fix
    except KeyError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Voice:
    """How driftwatch speaks in one installation."""

    zone: tzinfo | None = None
    """Named beside UTC in every time; None for UTC alone."""
    fixes: Fixes = declared_fix
    option: str = ""
    """What every command needs to find the configuration: `` -c FILE``."""

    def command(self, words: str) -> str:
        """A command as a person can type it."""
        return f"driftwatch {words}{self.option}"

    def at(self, time: datetime) -> str:
        """A time as people read it."""
        return moment(time, self.zone)

    def during(self, start: datetime, end: datetime) -> str:
        """A stretch of time as people read it."""
        return period(start, end, self.zone)

    def fix(self, check: str) -> str | None:
        """What to do about a check, as one line: the first paragraph of its prose."""
        prose = self.fixes(check)
        return sentence(prose.partition("\n\n")[0]) if prose else None


@dataclass(frozen=True, slots=True)
class Release:
    """The release that an event belongs to, neutralised."""

    ref: str
    line: str
    """``v42 (1a2b3c4), before it v41, by ci, https://...``."""
    relation: str = ""
    """``by`` or ``after`` for a change, ``of`` where the release itself is the news, or nothing."""

    @property
    def ending(self) -> str:
        """What follows a phrase: `` by release v42``, ``, after release v42`` or `` (release v42)``."""
        words = {"by": " by release", "after": ", after release", "of": " by release"}.get(self.relation)
        return f"{words} {self.ref}" if words else f" (release {self.ref})"

    @property
    def fact(self) -> str:
        """The whole line, such as ``Changed by release: v42``."""
        begins = {"by": "Changed by release", "after": "After release"}.get(self.relation, "Release")
        return f"{begins}: {self.line}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What happened alike, and to which tools: what is left of the single changes where room is short."""

    phrase: str
    """Such as ``toolset changed``."""
    one: str
    """Such as ``tool added``."""
    several: str
    names: tuple[str, ...]
    """Quoted; empty for what has no name."""
    mark: str = ""
    """What it does: `` (breaking)``, `` (steers)``."""
    level: Level
    """Of these changes alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What one event says; every text is one line, already neutralised."""

    server: str | None
    level: Level
    phrase: str
    """For a title: ``down - connection refused``."""
    tally: str
    """What a summary counts: ``down`` in ``3 down, 1 toolset changed``."""
    lines: tuple[str, ...] = ()
    """What changed, old -> new, and what it means."""
    items: tuple[str, ...] = ()
    """The single changes or findings; those that do not fit become ``+N more``."""
    named: tuple[Named, ...] = ()
    """The items in a few words, with every name."""
    blocks: int = 0
    """How many checks cannot be asked because of it."""
    check: str | None = None
    """The id of the check that it is about."""
    brings: tuple[str, ...] = ()
    """How the ids of checks begin that may move because of it."""
    since: datetime | None = None
    release: Release | None = None
    affected: str | None = None
    baseline: str | None = None
    """What a toolset is compared with from now on."""
    fix: str | None = None
    fix_of_each: str | None = None
    """The same for each of several servers that are told together, where it names the server."""
    acknowledge: str | None = None
    """The command that ends the reminders of it."""
    alike: str | None = None
    """Notes of several servers with the same value are said once; None for what is never alike."""


def words(value: str | None) -> str:
    """A subject's value as people read it: ``failed (dns)`` for ``failed:dns``."""
    if not value:
        return "unknown"
    state, _, code = value.partition(":")
    shown = foreign(state.replace("_", " "), 40)
    return f"{shown} ({foreign(code, 40)})" if code else shown


def code(value: str | None) -> str:
    """The reason code of a subject's value, or an empty text."""
    return (value or "").partition(":")[2]


def state(value: str | None) -> str:
    """The state of a subject's value, as it is persisted."""
    return (value or "").partition(":")[0]


def check_of(event: Event) -> str:
    """The id of the check that an event is about."""
    return label(subjects.check_of(event.subject or ""))


def began(event: Event) -> datetime:
    """When the new value was first seen."""
    return event.since or event.at


def ended(event: Event) -> datetime:
    """When what an event calls over was over: before it was confirmed, where the event says so."""
    lasted = event.details.get("duration_s")
    if isinstance(lasted, bool) or not isinstance(lasted, int | float):
        return event.at
    try:
        return began(event) + timedelta(seconds=lasted)
    except (OverflowError, ValueError):  # no stretch of time that a calendar knows
        return event.at


def time_of(value: Json) -> datetime | None:
    """An ISO time with an offset from an event's details; None for anything else."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return time if time.tzinfo else None


def span(value: Json) -> str | None:
    """Seconds from an event's details as a duration."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return duration(timedelta(seconds=value))


def release(details: Mapping[str, Json]) -> Release | None:
    """The release in an event's details: a ref, or ``{ref, commit, previous_ref, actor, link, relation}``."""
    told = details.get("release")
    if isinstance(told, str):
        return Release(label(told), label(told))
    if not isinstance(told, Mapping) or not told.get("ref"):
        return None
    ref = label(str(told["ref"]))
    line = ref
    if told.get("commit"):
        line += f" ({label(str(told['commit']))[:12]})"
    if told.get("previous_ref"):
        line += f", before it {label(str(told['previous_ref']))}"
    if told.get("actor"):
        line += f", by {label(str(told['actor']))}"
    if told.get("link"):
        line += f", {foreign(str(told['link']), 160)}"
    return Release(ref, line, str(told.get("relation") or ""))


def gap_line(details: Mapping[str, Json]) -> tuple[str, ...]:
    """Whether the change was found only after driftwatch had not been looking."""
    gap = span(details.get("gap_s"))
    if gap is None:
        return ()
    return (f"Found after driftwatch had not probed for {gap}; it may have happened any time in between.",)


def gist(message: str, limit: int = 90) -> str:
    """A sentence as the end of a title: without its capital and its full stop."""
    text = clip(foreign(message, limit + 20).rstrip(".").rstrip(), limit)
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
