"""Several reads of one list, compared: what differs, and whether instances take turns or every read is new.

Only what a fingerprint covers counts as a difference: order, spelling and what no model reads do not.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from driftwatch.evidence import Missing, Replicas, Surface
from driftwatch.model import Era, Json
from driftwatch.toolset import Diff, Toolset, diff, fingerprint
from driftwatch.toolset.canonical import written_alike

REPLICAS = "release/replicas"
STABLE_LISTING = "release/stable-listing"

_UNEXPLAINED = 3
"""So many different lists in one probe are not two instances that take turns, unless one comes again."""


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

    surface: Surface
    first: Read
    second: Read | None
    """On the same connection; None where it was not complete."""
    others: tuple[Read, ...]
    """On further connections."""
    probe: tuple[Read, ...]
    """Those of all surfaces, in the order made: an instance may answer in one era and then in the other."""
    compared: bool
    """Whether further connections were compared at all, in whatever era."""

    @property
    def every(self) -> tuple[Read, ...]:
        """All of them, in the order made."""
        return (self.first, *(() if self.second is None else (self.second,)), *self.others)

    @property
    def pairs(self) -> set[str]:
        """The different fingerprints among them."""
        return {read.pair for read in self.every}

    @property
    def disagree(self) -> bool:
        """Whether they are not all one list."""
        return any(not read.agrees(self.first) for read in self.every)

    @property
    def seems_volatile(self) -> bool:
        """Whether the list changes from read to read, in a way that instances in turn do not explain."""
        if self.second is None or self.second.agrees(self.first):
            return False
        if not self.compared or self._only_reordered():
            return True
        return not self._comes_again() and (not self.others or len(self.pairs) >= _UNEXPLAINED)

    @property
    def difference(self) -> Diff | None:
        """What the first read that differs has otherwise than the very first; None where all agree."""
        for read in self.every:
            if not read.agrees(self.first):
                return diff(self.first.toolset, read.toolset)
        return None

    @property
    def same_names(self) -> bool:
        """Whether each of them names the same tools, in whatever order."""
        names = [sorted(map(str, read.names)) for read in self.every]
        return all(each == names[0] for each in names)

    def _only_reordered(self) -> bool:
        return len({json.dumps(_sorted(read.toolset.tools), sort_keys=True) for read in self.every}) == 1

    def _comes_again(self) -> bool:
        """Whether one of these lists was shown again after another of them; a new one never is."""
        shown = [pair for pair, _ in groupby(read.pair for read in self.probe if read.pair in self.pairs)]
        return len(shown) > len(set(shown))


@dataclass(frozen=True, eq=False)  # no slots: what follows from the reads is found out once
class Comparison:
    """The reads of each surface whose list was read completely at least once."""

    by_era: Mapping[Era, Reads]

    def of(self, era: Era) -> Reads | None:
        """The reads of one surface."""
        return self.by_era.get(era)

    @cached_property
    def volatile(self) -> frozenset[Era]:
        """The surfaces whose lists change at every read; none where instances take turns in any of them."""
        differ = frozenset(era for era, reads in self.by_era.items() if reads.disagree)
        return differ if all(self.by_era[era].seems_volatile for era in differ) else frozenset()

    @cached_property
    def in_doubt(self) -> Mapping[Era, Missing]:
        """The surfaces of which a probe cannot say what they show, because its reads disagree, and why.

        Instances that take turns spoil every surface: which of them answers is chance. A list that changes at
        every read spoils its own.
        """
        if any(reads.disagree for reads in self.by_era.values()) and not self.volatile:
            return dict.fromkeys(self.by_era, _TAKES_TURNS)
        return dict.fromkeys(self.volatile, _CHANGES)

    @cached_property
    def settled(self) -> frozenset[Era]:
        """The surfaces whose lists change at every read, and yet always name the same tools."""
        return frozenset(era for era in self.volatile if self.by_era[era].same_names)


def compare(surfaces: Sequence[Surface], replicas: Replicas | Missing) -> Comparison:
    """All the complete reads of a probe, compared."""
    known: list[Read] = []
    firsts = {
        surface.era: _read(surface.tools, surface.instructions, known)
        for surface in surfaces
        if not isinstance(surface.tools, Missing)
    }
    read = [surface for surface in surfaces if surface.era in firsts]
    seconds = {
        surface.era: _read(surface.second_read, surface.instructions, known)
        for surface in reversed(read)  # the second list of an older era is read before its session ends
        if not isinstance(surface.second_read, Missing)
    }
    compared = isinstance(replicas, Replicas)
    others = [
        (era, _read(instance.tools, instance.instructions, known))
        for era, instance in (replicas.met if isinstance(replicas, Replicas) else ())
        if not isinstance(instance.tools, Missing)
    ]
    by_era = {
        surface.era: Reads(
            surface=surface,
            first=firsts[surface.era],
            second=seconds.get(surface.era),
            others=tuple(read for era, read in others if era is surface.era),
            probe=(*firsts.values(), *seconds.values(), *(read for _, read in others)),
            compared=compared,
        )
        for surface in read
    }
    return Comparison(by_era)


_TAKES_TURNS = Missing("the reads of this probe show different lists", "reads-differ", REPLICAS)
_CHANGES = Missing("the list changes at every read", "reads-differ", STABLE_LISTING)


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
