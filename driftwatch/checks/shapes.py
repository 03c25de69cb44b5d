"""What the specification's schema says of a tool's members and of a result's, revision by revision.

Unknown members are allowed everywhere. A member that a revision does not have is one of these, but clients
know one form of it for all revisions: it is looked at by the nearest revision that has it, and marked.
"""

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from driftwatch.checks.base import shown
from driftwatch.checks.json_schema import escape
from driftwatch.model import Json, integer, position

MAX_MISFITS = 100
"""Of one tool or result: whoever has more has been told enough."""

_QUOTED = 100
"""Characters of a pointer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Shape:
    """What a value has to be."""

    says: str
    """In words: ``a text``."""
    fits: Callable[[Json], bool]
    members: "tuple[Member, ...]" = ()
    """Of an object."""
    each: "Shape | None" = None
    """Of every item of a list, and of every member of an object that is a map."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One member of an object."""

    name: str
    shape: Shape
    required: bool = False
    since: str | None = None
    """The first revision that has it; None for all."""
    until: str | None = None
    """The last one."""

    def counts(self, place: int) -> bool:
        """Whether a revision has it, by its position."""
        return not self.comes_after(place) and (self.until is None or place <= position(self.until))

    def comes_after(self, place: int) -> bool:
        """Whether it came later than a revision."""
        return self.since is not None and place < position(self.since)


class Misfit(NamedTuple):
    """A value that is not what it has to be."""

    pointer: str
    says: str
    """What it has to be."""
    value: Json
    absent: bool = False
    optional: bool = False
    """Whether it may be absent."""
    known: bool = True
    """Whether the revision has the member."""

    @property
    def measured(self) -> str:
        """What it is: ``title is 5``."""
        what = "absent" if self.absent else "" if self.value == "" else shown(self.value, 40)
        return f"{self.pointer[1:_QUOTED]} is {what or 'an empty text'}"

    @property
    def absent_at_top(self) -> bool:
        """Whether it is a member of the whole that is not there."""
        return self.absent and self.pointer.count("/") == 1

    @property
    def python_takes(self) -> bool:
        """Whether the Python SDK reads it all the same: null for absent, and "true" for true."""
        if self.value is None:
            return self.optional
        return self.says == BOOLEAN.says and str(self.value).lower() in _SPELT

    @property
    def code(self) -> str:
        """The outermost member that it is part of, as a reason code: ``cache-scope``."""
        name = self.pointer.split("/")[1].strip("_")
        return "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in name)


def sdks(found: Iterable[Misfit]) -> str:
    """Those that refuse it, as in "clients on the TypeScript SDK"."""
    return "the TypeScript SDK" if all(misfit.python_takes for misfit in found) else "the official SDKs"


def misfits(value: Json, shape: Shape, revision: str) -> list[Misfit]:
    """What in a value is not what the revision says, in the specification's order; at most MAX_MISFITS."""
    return list(
        itertools.islice(_misfits(value, shape, position(revision), Misfit("", "", None)), MAX_MISFITS)
    )


def _misfits(value: Json, shape: Shape, place: int, at: Misfit) -> Iterator[Misfit]:
    if not shape.fits(value):
        yield at._replace(says=shape.says, value=value)
        return
    if isinstance(value, dict):
        for member, known in _members(shape, place):
            below = at._replace(
                pointer=f"{at.pointer}/{member.name}", optional=not member.required, known=at.known and known
            )
            if member.name in value:
                yield from _misfits(value[member.name], member.shape, place, below)
            elif member.required and known:
                yield below._replace(says=member.shape.says, absent=True)
    if shape.each is not None:
        items = value.items() if isinstance(value, dict) else enumerate(value)
        for key, item in items:
            below = at._replace(pointer=f"{at.pointer}/{escape(str(key))}", optional=False)
            yield from _misfits(item, shape.each, place, below)


@cache
def _members(shape: Shape, place: int) -> tuple[tuple[Member, bool], ...]:
    """The members that are looked at in a revision, and whether it has them."""
    forms: dict[str, list[Member]] = {}
    for member in shape.members:
        forms.setdefault(member.name, []).append(member)
    found = []
    for same in forms.values():
        ours = next((member for member in same if member.counts(place)), None)
        found.append((ours or (same[0] if same[0].comes_after(place) else same[-1]), ours is not None))
    return tuple(found)


def _text(value: Json) -> bool:
    return isinstance(value, str)


def _boolean(value: Json) -> bool:
    return isinstance(value, bool)


def _object(value: Json) -> bool:
    return isinstance(value, dict)


def _list(value: Json) -> bool:
    return isinstance(value, list)


def _duration(value: Json) -> bool:
    milliseconds = integer(value)
    return milliseconds is not None and milliseconds >= 0


def _one_of(*values: str) -> Shape:
    return Shape(says=" or ".join(map(shown, values)), fits=lambda value: _text(value) and value in values)


TEXT = Shape(says="a text", fits=_text)
BOOLEAN = Shape(says="true or false", fits=_boolean)
_SPELT = frozenset({"1", "1.0", "true", "t", "yes", "y", "on", "0", "0.0", "false", "f", "no", "n", "off"})
"""What the Python SDK reads as a boolean."""
OBJECT = Shape(says="an object", fits=_object)
TEXTS = Shape(says="a list of texts", fits=_list, each=TEXT)
OBJECTS = Shape(says="an object of objects", fits=_object, each=OBJECT)


def _offers(*flags: str) -> Shape:
    """A capability with flags."""
    return Shape(
        says="an object", fits=_object, members=tuple(Member(name=flag, shape=BOOLEAN) for flag in flags)
    )


ICONS = Shape(
    says="a list of icons",
    fits=_list,
    each=Shape(
        says="an icon",
        fits=_object,
        members=(
            Member(name="src", shape=TEXT, required=True),
            Member(name="mimeType", shape=TEXT),
            Member(name="sizes", shape=TEXTS),
            Member(name="theme", shape=_one_of("light", "dark")),
        ),
    ),
)

META = Member(name="_meta", shape=OBJECT)

TOOL = Shape(
    says="an object",
    fits=_object,
    members=(
        Member(name="description", shape=TEXT),
        Member(name="title", shape=TEXT, since="2025-06-18"),
        Member(
            name="annotations",
            since="2025-03-26",
            shape=Shape(
                says="an object",
                fits=_object,
                members=(
                    Member(name="title", shape=TEXT),
                    Member(name="readOnlyHint", shape=BOOLEAN),
                    Member(name="destructiveHint", shape=BOOLEAN),
                    Member(name="idempotentHint", shape=BOOLEAN),
                    Member(name="openWorldHint", shape=BOOLEAN),
                ),
            ),
        ),
        Member(
            name="outputSchema",
            since="2025-06-18",
            until="2025-11-25",
            shape=Shape(
                says="an object schema",
                fits=_object,
                members=(Member(name="type", shape=_one_of("object"), required=True),),
            ),
        ),
        Member(name="outputSchema", since="2026-07-28", shape=Shape(says="a schema", fits=_object)),
        Member(name="icons", shape=ICONS, since="2025-11-25"),
        Member(
            name="execution",
            since="2025-11-25",
            until="2025-11-25",
            shape=Shape(
                says="an object",
                fits=_object,
                members=(Member(name="taskSupport", shape=_one_of("forbidden", "optional", "required")),),
            ),
        ),
        Member(name="_meta", shape=OBJECT, since="2025-06-18"),
    ),
)
"""A tool, without its name and its input schema: what is wrong with those is said elsewhere."""

_CAPABILITIES = Member(
    name="capabilities",
    required=True,
    shape=Shape(
        says="an object",
        fits=_object,
        members=(
            Member(name="tools", shape=_offers("listChanged")),
            Member(name="prompts", shape=_offers("listChanged")),
            Member(name="resources", shape=_offers("subscribe", "listChanged")),
            Member(name="logging", shape=OBJECT),
            Member(name="completions", shape=OBJECT, since="2025-03-26"),
            Member(name="tasks", shape=OBJECT, since="2025-11-25", until="2025-11-25"),
            Member(name="extensions", shape=OBJECTS, since="2026-07-28"),
            Member(name="experimental", shape=OBJECTS),
        ),
    ),
)

_INSTRUCTIONS = Member(name="instructions", shape=TEXT)

INITIALIZE = Shape(
    says="an object",
    fits=_object,
    members=(
        _CAPABILITIES,
        Member(
            name="serverInfo",
            required=True,
            shape=Shape(
                says="an object",
                fits=_object,
                members=(
                    Member(name="name", shape=TEXT, required=True),
                    Member(name="version", shape=TEXT, required=True),
                    Member(name="title", shape=TEXT, since="2025-06-18"),
                    Member(name="description", shape=TEXT, since="2025-11-25"),
                    Member(name="websiteUrl", shape=TEXT, since="2025-11-25"),
                    Member(name="icons", shape=ICONS, since="2025-11-25"),
                ),
            ),
        ),
        _INSTRUCTIONS,
        META,
    ),
)

_CACHING = (
    Member(name="ttlMs", required=True, shape=Shape(says="a whole number, 0 or more", fits=_duration)),
    Member(name="cacheScope", required=True, shape=_one_of("public", "private")),
)

DISCOVER = Shape(
    says="an object",
    fits=_object,
    members=(
        Member(name="resultType", required=True, shape=_one_of("complete")),
        Member(name="supportedVersions", required=True, shape=TEXTS),
        _CAPABILITIES,
        *_CACHING,
        _INSTRUCTIONS,
        META,
    ),
)

_CURSOR = Member(
    name="nextCursor", shape=Shape(says="a text, or absent", fits=lambda value: value is not None)
)
"""A cursor of another type, and a resultType that is none, end the read: tools/pagination says so."""

LIST = Shape(says="an object", fits=_object, members=(_CURSOR, META))

MODERN_LIST = Shape(
    says="an object",
    fits=_object,
    members=(
        Member(
            name="resultType",
            required=True,
            shape=Shape(says='"complete"', fits=lambda _: True),
        ),
        *_CACHING,
        _CURSOR,
        META,
    ),
)
