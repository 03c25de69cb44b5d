"""How a check is declared, what it may ask for, and what it answers.

A check is a pure function under ``@check``. Its parameters name the parts of the evidence that it judges;
its docstring is its documentation; what it yields is what it holds against the server. All of that is
verified when the module is imported, so that a check that loads is a check that runs.
"""

import functools
import inspect
import operator
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any, Self, TypeAlias, get_args, get_type_hints

from driftwatch.checks.clients import CLIENTS, Client
from driftwatch.checks.reads import Comparison
from driftwatch.checks.sources import Source
from driftwatch.checks.view import Tool
from driftwatch.evidence import Evidence, Exchange, Missing, Surface
from driftwatch.model import KNOWN_REVISIONS, Depth, Era, Finding, Fingerprint, Json, Severity

WHY = "Why it matters:"
FIX = "How to fix it:"

_LONGEST_INTEGER = 256
"""Bits; Python refuses to spell out an integer of many thousand digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The numbers and switches of one server that shape its results."""

    clients: tuple[Client, ...] = CLIENTS
    max_nesting: int = 3
    """Levels of a tool's input schema; the root object is level 1."""
    tls_days: tuple[int, ...] = (30, 14, 7, 3, 1)
    """Days before a certificate's end at which tls/expiry speaks."""
    tls_share: float = 0.3
    """A threshold counts only where it is below this share of the certificate's lifetime."""
    off: frozenset[str] = frozenset()
    """The ids of checks that are switched off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What earlier probes left behind about one surface, as fingerprint pairs."""

    accepted: str
    """The pair that was accepted: by a person, by a deploy, or as the first one seen."""
    confirmed: str
    """The pair that was last confirmed."""
    confirmed_at: datetime
    """Since when it is the confirmed one."""
    difference: str | None = None
    """What changed between the accepted list and this probe's, in one line, where it is known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """One thing that a check holds against a server; the runner makes a Finding of it."""

    code: str
    subject: str
    message: str
    """One sentence that does not repeat the subject: reports group subjects that share it."""
    expected: str
    measured: str
    pointer: str | None = None
    clients: tuple[str, ...] = ()
    severity: Severity | None = None
    """None for the declaration's own."""
    era: Era | None = None
    """Set by the runner for a check that is asked once per surface."""

    def finding(self, severity: Severity, era: Era | None) -> Finding:
        """The finding, with what the check left to its declaration and its surface."""
        return Finding(
            severity=self.severity or severity,
            code=self.code,
            subject=self.subject,
            message=self.message,
            expected=self.expected,
            measured=self.measured,
            era=self.era or era,
            pointer=self.pointer,
            clients=self.clients,
        )


@dataclass(frozen=True, slots=True)
class NotChecked:
    """Why a check says nothing about this server."""

    reason: str
    """Completes the sentence "not checked: ..."."""
    code: str
    cause: str | None = None
    """The id of the root check that explains it."""

    @classmethod
    def of(cls, missing: Missing) -> Self:
        """The reason of a part that was not seen."""
        return cls(missing.reason, missing.code, missing.cause)


@dataclass(frozen=True, slots=True)
class Verified:
    """Nothing is wrong, and there is something to say about it."""

    reason: str


@dataclass(frozen=True, slots=True)
class Explained:
    """What is held against the server, where a root check tells of the very same answer."""

    found: tuple[Found, ...]
    cause: str
    """The id of that one."""


NOT_APPLICABLE = "not-applicable"
"""The code of NotChecked where a rule is not about what was asked; the other surface then decides alone."""


def count(number: int, what: str) -> str:
    """``1 page``, ``2 pages``."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"


Verdict: TypeAlias = Iterable[Found] | Explained | NotChecked | Verified
"""What a check answers; an empty iterable is a plain verified."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """Everything there is to know about one check; docs, explain and alert texts are made of it."""

    id: str
    """``family/name``. Public and persisted: never reused for something else."""
    title: str
    """What is wrong when it fires, in one line."""
    severity: Severity
    """Of a finding that says nothing else."""
    sources: tuple[Source, ...]
    summary: str
    """What it looks at, in one sentence."""
    why: str
    fix: str
    """What to do, most important sentence first; paragraphs are separated by an empty line."""
    judge: Callable[..., Verdict] = field(repr=False)
    needs: tuple[str, ...]
    """The parts it asks for, in order: the first that is missing gives the reason for not_checked."""
    takes_missing: frozenset[str]
    """The parts that it wants to see even when they are missing."""
    version: int = 1
    """Raised when the same server would be judged differently: results then re-base silently."""
    since: str = "0.1"
    """The driftwatch that had it first."""
    root: bool = False
    """True where its failure explains why others are not checked."""
    depth: Depth = Depth.LIGHT
    """The depth of probe that it takes."""
    eras: tuple[Era, ...] = tuple(Era)
    since_revision: str | None = None
    """The first protocol revision that has the rule; None for all."""

    @property
    def family(self) -> str:
        """The part of the id before the slash; also the name of its module."""
        return self.id.partition("/")[0]

    @property
    def per_surface(self) -> bool:
        """Whether it is asked once per surface instead of once per probe."""
        return any(name in SURFACE_PARTS for name in self.needs)

    @property
    def file(self) -> str:
        """The file that declares it."""
        return self.judge.__code__.co_filename

    @property
    def line(self) -> int:
        """The line of its decorator."""
        return self.judge.__code__.co_firstlineno


def check(
    *,
    id: str,  # noqa: A002 - the word of the catalogue
    title: str,
    severity: Severity,
    sources: tuple[Source, ...],
    version: int = 1,
    since: str = "0.1",
    root: bool = False,
    depth: Depth = Depth.LIGHT,
    eras: tuple[Era, ...] = tuple(Era),
    since_revision: str | None = None,
) -> Callable[[Callable[..., Verdict]], Declaration]:
    """Declare a check. Raises TypeError at import for a form that is not filled in properly."""

    def declare(function: Callable[..., Verdict]) -> Declaration:
        summary, why, fix = _prose(function, id)
        needs, takes_missing = _needs(function, id)
        if since_revision is not None and since_revision not in KNOWN_REVISIONS:
            raise TypeError(f"check {id}: {since_revision!r} is no protocol revision")
        return Declaration(
            id=id,
            title=title,
            severity=severity,
            sources=sources,
            summary=summary,
            why=why,
            fix=fix,
            judge=function,
            needs=needs,
            takes_missing=takes_missing,
            version=version,
            since=since,
            root=root,
            depth=depth,
            eras=eras,
            since_revision=since_revision,
        )

    return declare


def once(found: Iterable[Found]) -> list[Found]:
    """The first finding of each code, subject and era: pages and retries repeat each other's faults."""
    first: dict[tuple[Era | None, str, str], Found] = {}
    for one in found:
        first.setdefault((one.era, one.code, one.subject), one)
    return list(first.values())


def shown(value: Json, limit: int = 80) -> str:
    """A foreign value for a message: a string in quotes, cut at ``limit`` characters; a list by its kind."""
    match value:
        case str():
            return f'"{value}"' if len(value) <= limit else f'"{value[: limit - 1]}…"'
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case list():
            return "a list"
        case dict():
            return "an object"
        case int() if value.bit_length() > _LONGEST_INTEGER:
            return "a very large number"
        case _:
            return str(value)


def listed(names: Iterable[str], limit: int = 5) -> str:
    """``a, b and c``; with more than ``limit`` names ``a, b, c and 4 more``."""
    items = list(names)
    if len(items) > limit:
        items = [*items[: limit - 1], f"{len(items) - limit + 1} more"]
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""


def _part_types(owner: type[Any]) -> dict[str, Any]:
    hints = get_type_hints(owner)
    parts = {item.name: hints[item.name] for item in fields(owner)}
    for name, item in vars(owner).items():
        if isinstance(item, property) and item.fget is not None:
            parts[name] = get_type_hints(item.fget)["return"]
    return parts


OF_THE_SCENE: dict[str, Any] = {"policy": Policy, "compared": Comparison, "known_eras": frozenset[Era]}
"""What a check may ask for beside the evidence."""

EVIDENCE_PARTS: dict[str, Any] = {**_part_types(Evidence), **OF_THE_SCENE}
"""What a check may ask for about the whole probe: name and type."""

SURFACE_PARTS: dict[str, Any] = {
    **_part_types(Surface),
    "surface": Surface,
    "tools": tuple[Tool, ...] | Missing,
    "exchanges": tuple[Exchange, ...],
    "fingerprint": Fingerprint | Missing,
    "remembered": Remembered | Missing,
}
"""What a check may ask for about one surface; asking for any of these has it called once per surface."""


def _needs(function: Callable[..., Verdict], name: str) -> tuple[tuple[str, ...], frozenset[str]]:
    hints = get_type_hints(function)
    takes_missing = set()
    needs = tuple(inspect.signature(function).parameters)
    for need in needs:
        full = SURFACE_PARTS.get(need, EVIDENCE_PARTS.get(need))
        if full is None:
            raise TypeError(f"check {name}: there is no part {need!r} of the evidence")
        if hints.get(need) == full:
            takes_missing |= {need} if full is Missing or Missing in get_args(full) else set()
        elif hints.get(need) != _seen(full):
            raise TypeError(f"check {name}: {need} is {_seen(full)}, not {hints.get(need)}")
    return needs, frozenset(takes_missing)


def _seen(kind: Any) -> Any:
    """The type of a part once it is known not to be missing."""
    members = [member for member in get_args(kind) if member is not Missing]
    return functools.reduce(operator.or_, members) if Missing in get_args(kind) else kind


def _prose(function: Callable[..., Verdict], name: str) -> tuple[str, str, str]:
    if not function.__doc__:
        raise TypeError(
            f"check {name} has no docstring. The catalogue is made of docstrings: "
            "write one, and do not run driftwatch with python -OO"
        )
    summary, why_heading, rest = inspect.cleandoc(function.__doc__).partition(f"\n{WHY}\n")
    why, fix_heading, fix = rest.partition(f"\n{FIX}\n")
    sections = [_section(part) for part in (summary, why, fix)]
    if not (why_heading and fix_heading and all(sections)):
        raise TypeError(f'check {name}: the docstring needs a summary, "{WHY}" and "{FIX}"')
    return sections[0], sections[1], sections[2]


def _section(text: str) -> str:
    """A section's text with its lines joined to paragraphs."""
    paragraphs = textwrap.dedent(text).strip().split("\n\n")
    return "\n\n".join(_paragraph(paragraph) for paragraph in paragraphs)


def _paragraph(text: str) -> str:
    # An indented block is an example and keeps its lines.
    return text if text.startswith("    ") else " ".join(text.split())
