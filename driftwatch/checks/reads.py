"""Several reads of one list, compared: what differs, and whether instances take turns or every read is new.

Only what a fingerprint covers counts as a difference: order, spelling and what no model reads do not.
"""

import json
from dataclasses import dataclass
from functools import cached_property

from driftwatch.evidence import Missing, Replicas, Surface
from driftwatch.model import Json
from driftwatch.toolset import Diff, Toolset, diff, fingerprint
from driftwatch.toolset.canonical import written_alike

_UNEXPLAINED = 3
"""So many different lists in one probe are not two instances that take turns."""


@dataclass(frozen=True, eq=False)  # no slots: the digest is made once, and only where it matters
class Read:
    """One complete read of a list."""

    toolset: Toolset

    @cached_property
    def pair(self) -> str:
        """Its fingerprint."""
        return fingerprint(self.toolset).pair

    def agrees(self, other: "Read") -> bool:
        """Whether both have one fingerprint."""
        return self is other or self.pair == other.pair

    @property
    def names(self) -> list[Json]:
        """The tools' names in the order of the list."""
        return [tool.get("name") if isinstance(tool, dict) else None for tool in self.toolset.tools]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reads:
    """The complete reads of one surface in one probe."""

    first: Read
    second: Read | None
    """On the same connection; None where it was not complete."""
    others: tuple[Read, ...]
    """On further connections."""

    @property
    def every(self) -> tuple[Read, ...]:
        """All of them, in the order made."""
        return (self.first, *(() if self.second is None else (self.second,)), *self.others)

    @property
    def pairs(self) -> set[str]:
        """The different fingerprints among them."""
        return {read.pair for read in self.every}

    @property
    def is_volatile(self) -> bool:
        """Whether the list changes from read to read, in a way that two instances do not explain."""
        if self.second is None or self.second.agrees(self.first):
            return False
        return not self.others or len(self.pairs) >= _UNEXPLAINED or self._only_reordered()

    @property
    def difference(self) -> Diff | None:
        """What the first read that differs has otherwise than the very first; None where all agree."""
        for read in self.every:
            if not read.agrees(self.first):
                return diff(self.first.toolset, read.toolset)
        return None

    def _only_reordered(self) -> bool:
        return len({json.dumps(_sorted(read.toolset.tools), sort_keys=True) for read in self.every}) == 1


def of(surface: Surface, replicas: Replicas | Missing) -> Reads | None:
    """The reads of a surface; None when not even the first is complete."""
    tools, second = surface.tools, surface.second_read
    if isinstance(tools, Missing):
        return None
    known: list[Read] = []
    first = _read(tools, surface.instructions, known)
    instances = () if isinstance(replicas, Missing) or replicas.era is not surface.era else replicas.instances
    return Reads(
        first=first,
        second=None if isinstance(second, Missing) else _read(second, surface.instructions, known),
        others=tuple(
            _read(instance.tools, instance.instructions, known)
            for instance in instances
            if not isinstance(instance.tools, Missing)
        ),
    )


def _read(tools: tuple[Json, ...], instructions: str | None, known: list[Read]) -> Read:
    """The read; lists that are equal to the last letter are one."""
    toolset = Toolset(tools=tools, instructions=instructions)
    for read in known:
        if written_alike(read.toolset.tools, tools) and read.toolset.instructions == instructions:
            return read
    known.append(Read(toolset))
    return known[-1]


def _sorted(value: Json) -> Json:
    """The value with every array sorted."""
    if isinstance(value, dict):
        return {name: _sorted(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return sorted(map(_sorted, value), key=lambda item: json.dumps(item, sort_keys=True))
    return value
