"""Notes arranged as one message that fits: worst first, whole lines only, ``+N more`` for the rest (pure)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from shlex import quote

from driftwatch.alerts import digest
from driftwatch.alerts.text import LINE_LIMIT, clip, count, label, within
from driftwatch.alerts.wording import Note, Voice
from driftwatch.model import Level

TITLE_LIMIT = 150

MONITOR = "driftwatch"
"""What stands beside servers' names for driftwatch itself; a title begins with it anyway."""


class Role(StrEnum):
    """What a line is for; text and HTML show it in their own way."""

    HEADING = "heading"
    LEAD = "lead"
    """The exact change, old -> new."""
    TEXT = "text"
    ITEM = "item"
    REST = "rest"
    """``+N more``."""
    FACT = "fact"
    """``Label: value``."""
    FOOTER = "footer"


@dataclass(frozen=True, slots=True)
class Line:
    """One whole line."""

    role: Role
    text: str

    def __str__(self) -> str:
        return f"- {self.text}" if self.role is Role.ITEM else self.text


Block = tuple[Line, ...]
"""Lines that belong together; blocks are set apart by an empty line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """What one server has to say, or several servers that say the same."""

    servers: tuple[str, ...]
    notes: tuple[Note, ...]

    @property
    def level(self) -> Level:
        """The worst of its notes."""
        return max((note.level for note in self.notes), key=lambda level: level.rank)

    @property
    def hides(self) -> bool:
        """Whether it tells why other checks cannot be made: what is down stands first."""
        return any(note.blocks for note in self.notes)


@dataclass(frozen=True, slots=True)
class _Room:
    """How much of every note is shown."""

    items: int
    first: int = 0
    """How many items of the first note, the worst, where that is more than of the others."""
    fix: bool = True
    facts: bool = True
    brief: bool = False
    """Of every note but the first only its first line."""
    worst_fix: bool = True
    worst_facts: bool = True
    """The worst note keeps its advice, and since when and for whom, longer than the others."""


_FIRST = (12, 10, 8, 7, 6, 5, 4)
_ROOMS = (
    *(_Room(items) for items in (1000, 100, 60, 40, 28, 20, 15, 12, 10, 8, 7, 6, 5, 4)),
    *(_Room(1, first) for first in _FIRST),
    *(_Room(1, first, fix=False) for first in _FIRST),
    *(_Room(0, first, fix=False, facts=False) for first in _FIRST),
    *(_Room(0, first, fix=False, facts=False, brief=True) for first in (*_FIRST, 3)),
    *(_Room(0, first, fix=False, facts=False, brief=True, worst_fix=False) for first in (*_FIRST, 3, 2, 1)),
    _Room(1),
    _Room(1, fix=False, worst_fix=False),
    _Room(0, fix=False, facts=False, worst_fix=False, worst_facts=False),
)
"""From generous to terse; the first that fits is taken. What hurts most keeps its details longest."""


def arrange(notes: Sequence[Note]) -> tuple[Section, ...]:
    """Notes by server, the worst first; servers that say the same share a section."""
    by_server: dict[str, list[Note]] = {}
    for note in notes:
        by_server.setdefault(label(note.server or MONITOR), []).append(note)
    alike: dict[object, Section] = {}
    for server, unordered in by_server.items():
        told = _ordered(unordered)
        same = told[0].alike if len(told) == 1 else None
        key = same or (server,)
        known = alike.get(key)
        alike[key] = (
            replace(known, servers=(*known.servers, server), notes=(_common(known.notes[0], told[0]),))
            if known
            else Section(servers=(server,), notes=tuple(told))
        )
    return tuple(sorted(alike.values(), key=lambda section: (-section.level.rank, not section.hides)))


def _ordered(notes: Sequence[Note]) -> list[Note]:
    """The worst first, of equals what blocks others; and what brings others right before them."""

    def rank(note: Note) -> int:
        brought = [one for one in notes if one.check and not one.blocks and one.check.startswith(note.brings)]
        return max(one.level.rank for one in (note, *brought))

    return sorted(notes, key=lambda note: (-rank(note), not note.blocks, not note.brings))


def title(sections: Sequence[Section]) -> str:
    """One line for a lock screen: ``api-prod: toolset changed - 1 tool renamed (breaking)``."""
    ours = [section for section in sections if section.servers == (MONITOR,)]
    if 0 < len(ours) < len(sections):
        about_us = f"; {', '.join(note.tally for section in ours for note in section.notes)}"
        theirs = [section for section in sections if section not in ours]
        return clip(title(theirs), TITLE_LIMIT - len(about_us)) + about_us
    notes = [note for section in sections for note in section.notes]
    servers = [server for section in sections for server in section.servers]
    end = _one_release(notes) or ""
    room = TITLE_LIMIT - len(end)
    if len(servers) == 1:
        about = "" if servers[0] == MONITOR else f"{servers[0]}: "
        phrases = about + "; ".join(note.phrase for note in notes)
        if len(notes) > 1 and len(phrases) > room:
            more = f" (+{len(notes) - 1} more)"
            return clip(about + notes[0].phrase, room - len(more)) + more + end
        return clip(phrases, room) + end
    if len(sections) == 1:
        return clip(f"{len(servers)} servers: {notes[0].phrase}", room) + end
    return clip(f"{count(len(servers), 'server')}: {tally(sections)}", room) + end


def _one_release(notes: Sequence[Note]) -> str | None:
    """The release that all of it is about, as the end of the title."""
    releases = {note.release.ending if note.release else None for note in notes}
    return releases.pop() if len(releases) == 1 else None


def tally(sections: Sequence[Section]) -> str:
    """``2 down, 1 toolset changed``: of how many servers each is told, as the lists under it have it."""
    return ", ".join(f"{len(servers)} {what}" for what, servers in _servers(sections).items())


def _servers(sections: Sequence[Section]) -> dict[str, dict[str, None]]:
    """What happened, and the names of the servers to which it did."""
    names: dict[str, dict[str, None]] = {}
    for section in sections:
        for note in section.notes:
            names.setdefault(note.tally, {}).update(dict.fromkeys(section.servers))
    return names


def lay_out(sections: Sequence[Section], voice: Voice, footer: str, limit: int) -> tuple[Block, ...]:
    """The blocks of the body: as much as fits into ``limit`` characters as text."""
    ending = _ending(sections, voice, footer)
    for room in _ROOMS:
        blocks = _fitting(_blocks(sections, voice, room), limit - len(text((ending,))))
        if blocks is not None:
            return (*blocks, ending)
    return _list(sections, voice, footer, limit)


def _fitting(blocks: Iterator[Block], room: int) -> list[Block] | None:
    """All the blocks, each followed by an empty line; None as soon as they are too much."""
    taken = []
    for block in blocks:
        room -= len(text((block,))) + 2
        if room < 0:
            return None
        taken.append(block)
    return taken


def text(blocks: Sequence[Block]) -> str:
    """The blocks as plain text."""
    return "\n\n".join("\n".join(map(str, block)) for block in blocks)


def _blocks(sections: Sequence[Section], voice: Voice, room: _Room) -> Iterator[Block]:
    many = len(sections) > 1
    if many:
        spread = _summary(sections, single=False)
        if spread:
            yield spread
    for section in sections:
        heading = [Line(Role.HEADING, _heading(section))] if many else []
        if len(section.servers) > 1:
            heading.append(Line(Role.TEXT, within(section.servers, LINE_LIMIT)))
        shared = _shared_facts(section, voice) if room.facts else ()
        for number, note in enumerate(section.notes):
            first, last = number == 0, number == len(section.notes) - 1
            worst = first and section is sections[0]
            yield (
                *(heading if first else ()),
                *_lines(note, room, worst=worst),
                *_facts(note, voice, room, shared, worst=worst),
                *(shared if last else ()),
            )


def _lines(note: Note, room: _Room, *, worst: bool) -> Iterator[Line]:
    items = max(room.items, room.first) if worst else room.items
    for number, line in enumerate(note.lines[:1] if room.brief and not worst else note.lines):
        yield Line(Role.TEXT if number else Role.LEAD, clip(line, LINE_LIMIT))
    if note.named and items < min(2, len(note.items)):
        for line in (line for named in note.named for line in digest.names(named)):
            yield Line(Role.ITEM, line)
        return
    for item in note.items[:items]:
        yield Line(Role.ITEM, clip(item, LINE_LIMIT))
    rest = len(note.items) - items
    if rest > 0:
        # Where nothing of the list is shown, "more" would have nothing to refer to.
        yield Line(Role.REST, f"+{rest} more" if items else f"+{count(rest, 'detail')} that did not fit here")


def _facts(note: Note, voice: Voice, room: _Room, shared: Sequence[Line], *, worst: bool) -> Iterator[Line]:
    if not (room.worst_facts if worst else room.facts):
        return
    told = [line for line in (_since(note, voice), _release(note)) if line and line not in shared]
    yield from told
    if note.affected:
        yield Line(Role.FACT, f"Affected: {note.affected}")
    if note.baseline:
        yield Line(Role.FACT, f"Baseline: {note.baseline}")
    if note.fix and (room.worst_fix if worst else room.fix):
        yield Line(Role.FACT, f"Fix: {note.fix}")
    if note.acknowledge:
        yield Line(Role.FACT, f"Acknowledge: {note.acknowledge}")


def _shared_facts(section: Section, voice: Voice) -> tuple[Line, ...]:
    """What is true of every note of a server is said once, at its end."""
    if len(section.notes) == 1:
        return ()
    since = {_since(note, voice) for note in section.notes}
    releases = {_release(note) for note in section.notes}
    return tuple(line for lines in (since, releases) if len(lines) == 1 for line in lines if line)


def _since(note: Note, voice: Voice) -> Line | None:
    return Line(Role.FACT, f"Since: {voice.at(note.since)}") if note.since else None


def _release(note: Note) -> Line | None:
    return Line(Role.FACT, note.release.fact) if note.release else None


def _ending(sections: Sequence[Section], voice: Voice, footer: str) -> Block:
    servers = [server for section in sections for server in section.servers if server != MONITOR]
    words = f"history {quote(servers[0])}" if len(servers) == 1 else "status"
    more = (Line(Role.FACT, f"More: {voice.command(words)}"),) if servers else ()
    return (*more, Line(Role.FOOTER, footer))


def _list(sections: Sequence[Section], voice: Voice, footer: str, limit: int) -> tuple[Block, ...]:
    """A line for what happened alike, as many as fit: what matters least goes first."""
    summary, ending = _summary(sections, single=True), _ending(sections, voice, footer)
    releases = _one_release([note for section in sections for note in section.notes]) is None
    lines = [
        [
            replace(told, text=f"{_about(section)}: {told.text}")
            for told in digest.told(section.notes, releases=releases)
        ]
        for section in sections
    ]
    every = sum(map(len, lines))
    room = limit - len(text((summary, (Line(Role.REST, f"+{every} more"),), ending)))
    shown = digest.fitting(lines, room)
    rest = every - sum(shown)
    block = [
        Line(Role.ITEM, told.text)
        for each, number in zip(lines, shown, strict=True)
        for told in each[:number]
    ]
    if not block:
        return (ending,)
    block += [Line(Role.REST, f"+{rest} more")] if rest else []
    return (summary, tuple(block), ending)


def _heading(section: Section) -> str:
    phrases = "; ".join(note.phrase for note in section.notes)
    return f"{_about(section)}: {phrases}"


def _about(section: Section) -> str:
    return section.servers[0] if len(section.servers) == 1 else f"{len(section.servers)} servers"


def _summary(sections: Sequence[Section], *, single: bool) -> Block:
    """``2 failed: api-a, api-b``, a line for what happened to several; with ``single`` one for everything."""
    places = Counter(what for section in sections for what in {note.tally for note in section.notes})
    return tuple(
        Line(Role.TEXT, f"{len(servers)} {what}: {within(servers, LINE_LIMIT)}")
        for what, servers in _servers(sections).items()
        if single or places[what] > 1
    )


def _common(one: Note, other: Note) -> Note:
    """What is true of both; since the earlier one."""
    times = [note.since for note in (one, other) if note.since]
    return replace(
        one,
        lines=tuple(line for line in one.lines if line in other.lines),
        items=tuple(item for item in one.items if item in other.items),
        since=min(times) if times else None,
        fix=one.fix_of_each or one.fix,
        release=one.release if one.release == other.release else None,
    )
