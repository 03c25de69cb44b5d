"""What a release changed: the toolset against the one that was accepted, and whether it is one toolset."""

import json
from collections.abc import Mapping

from driftwatch.checks.base import Found, NotChecked, Remembered, Verdict, Verified, check, listed, shown
from driftwatch.checks.reads import Comparison, Reads
from driftwatch.checks.sources import item
from driftwatch.evidence import Replicas, Surface
from driftwatch.model import MODERN_REVISION, Depth, Era, Fingerprint, Json, Severity

VOLATILE = "the list changes at every read (release/stable-listing): its tools were not compared"

STABLE_PART = "but for what changes at every read (release/stable-listing)"

_SHORT = 12
"""Hex digits of a digest that a person compares."""
_NAMED = 10
"""Volatile fields that are named."""


@check(
    id="release/fingerprint",
    title="The toolset is not the one that was accepted",
    severity=Severity.HEADS_UP,
    sources=(item(13),),
)
def fingerprint(
    fingerprint: Fingerprint, remembered: Remembered, surface: Surface, compared: Comparison
) -> Verdict:
    """The fingerprint of the complete tool list against the accepted one, per era and credential.

    The fingerprint has two halves: the contract (names and input schemas) and the surface (everything else
    that a model reads: descriptions, titles, annotations, output schemas, instructions). A list that was
    not read to its end has none, and is compared with nothing; neither is one that another read of the same
    probe contradicts. Where the names stay and a text or a value changes at every read, it covers the rest.

    Why it matters:
        Agents, their prompts and the people who approved your tools rely on the list as it was. A renamed
        tool or a dropped parameter breaks them without a message, and a rewritten description changes what
        they do.

    How to fix it:
        If the change is meant, accept it: `driftwatch accept` with the new fingerprint makes it the
        baseline. If not, `driftwatch diff` names every tool that changed; look at the release that brought
        it.
    """
    settles, doubt = surface.era in compared.settled, compared.in_doubt.get(surface.era)
    if doubt is not None and not settles:
        return NotChecked.of(doubt)
    if fingerprint.pair == remembered.accepted:
        return Verified(STABLE_PART) if settles else ()
    algorithm, _, digests = remembered.accepted.partition(":")
    if algorithm != fingerprint.algorithm:
        reason = f"the baseline was recorded with {algorithm:.20}, this is {fingerprint.algorithm}"
        return NotChecked(reason, "other-algorithm")
    contract, _, texts = digests.partition(".")
    changed = "names or input schemas" if contract != fingerprint.contract else "texts only"
    found = Found(
        code="changed",
        subject="tools/list",
        message=remembered.difference or f"The tool list differs from the accepted one: {changed}.",
        expected=_short(contract, texts),
        measured=_short(fingerprint.contract, fingerprint.surface),
    )
    return [found]


@check(
    id="release/replicas",
    title="Instances behind one address show different tools, or speak different revisions",
    severity=Severity.HEADS_UP,
    sources=(item(13),),
    root=True,
    depth=Depth.FULL,
)
def replicas(replicas: Replicas, surfaces: tuple[Surface, ...], compared: Comparison) -> Verdict:
    """The tool list, the eras, the revisions that they speak and the server's version on further connections.

    They are compared with those of the first connection. A further connection that breaks before it is
    answered counts too, and so does one that is asked to sign in. Each makes at most four requests: what one
    of them has no room for, the other one asks.

    Why it matters:
        Behind a load balancer the next request may meet another instance. While two releases answer in turn,
        an agent is shown a tool and told a moment later that there is no such tool. Since 2026-07-28 the set
        of tools must not depend on the connection. Where one instance speaks an era that another refuses,
        clients get in by chance.

    How to fix it:
        During a rollout this ends by itself; driftwatch looks again. Where it stays, look for an instance
        that was not replaced, or one that failed to load a part of its tools. Let an instance report ready
        only once its whole list is there, and let the load balancer look at that, so that it takes a dead
        instance out.
    """
    surface = next((one for one in surfaces if one.era is replicas.era), None)
    if surface is None:
        return NotChecked("the tool list was not read", "no-list")
    found, remarks = list[Found](), list[str]()
    # The era of the further connections first: there is most to say about it, and one era says it all.
    for era in sorted(compared.by_era, key=lambda era: era is not replicas.era):
        if era in compared.volatile:
            remarks.append(VOLATILE)
        elif not found:
            found += _different_lists(compared.by_era, era)
    own = compared.of(replicas.era)
    if own is None:
        remarks.append("the tool list is incomplete: only names and versions were compared")
    elif replicas.incomplete and replicas.era not in compared.volatile:
        remarks.append("a further connection gave no complete list: its version was compared")
    found += _different_eras(surfaces, replicas)
    found += _different_versions(surfaces, replicas)
    found += _broken(replicas)
    remarks += [f"a further connection was not answered: {why}" for why in replicas.unanswered]
    return Verified("; ".join(dict.fromkeys(remarks))) if remarks and not found else found


@check(
    id="release/stable-listing",
    title="The tool list changes at every read",
    severity=Severity.HEADS_UP,
    sources=(item(13),),
    root=True,
    eras=(Era.MODERN, Era.LEGACY),
    depth=Depth.FULL,
)
def stable_listing(
    second_read: tuple[Json, ...], surface: Surface, compared: Comparison, revision: str
) -> Verdict:
    """A second read of the list on the same connection, compared with the first.

    Differences that no fingerprint covers, such as `_meta`, icons and the spelling of a number, are none.
    Lists that take turns because two instances answer are the business of release/replicas.

    Why it matters:
        A time, a counter or the order of a set inside a schema makes every read another list: what changes
        there cannot be told from noise, and only full probes can tell the rest. Clients that cache the list
        by its content never hit their cache, and neither do prompt caches.

    How to fix it:
        Build the list once at start, and sort what comes out of a set or a map. Move what changes at every
        read, such as a time or a build number, into `_meta` or into the result of a tool.
    """
    del second_read  # asked for so that its absence gives the reason
    reads = compared.of(surface.era)
    if reads is None or reads.second is None:
        return NotChecked("the tool list was not read twice", "no-list")
    if surface.era in compared.volatile:
        return _volatile(reads)
    if not reads.second.agrees(reads.first):
        return Verified("several lists take turns: see release/replicas")
    if _same_order(reads):
        return ()
    if revision != MODERN_REVISION:
        return Verified("the order of the tools differs from read to read")
    return [
        Found(
            severity=Severity.NOTE,
            code="order",
            subject="tools/list",
            message="The order of the tools differs from read to read: prompt caches miss every time.",
            expected="a deterministic order (2026-07-28)",
            measured=f"{len({str(read.names) for read in reads.every})} orders in {_reads(reads)}",
        )
    ]


def _volatile(compared: Reads) -> list[Found]:
    difference = compared.difference
    changes = difference.changes if difference else ()
    found = [
        Found(
            code="volatile",
            subject=change.tool or "tools/list",
            message=f"Two reads without a release between them differ: {_line(change.message)}.",
            expected="the same at every read",
            measured=f"{shown(change.before)}, then {shown(change.after)}",
            pointer=change.pointer,
        )
        for change in changes[:_NAMED]
    ]
    return found or [
        Found(
            code="volatile",
            subject="tools/list",
            message="Two reads without a release between them differ.",
            expected="the same at every read",
            measured=f"{len(compared.pairs)} lists in {_reads(compared)}",
        )
    ]


def _reads(compared: Reads) -> str:
    return f"{len(compared.every)} reads"


def _line(text: str) -> str:
    return text.rstrip(".")


def _same_order(compared: Reads) -> bool:
    first = compared.first.names
    return all(read.names == first for read in compared.every if read.agrees(compared.first))


def _met(compared: Mapping[Era, Reads], era: Era) -> Era | None:
    """Whose clients meet the lists of one era; None where those of another one are given them too."""
    pairs = compared[era].pairs
    return era if all(other is era or pairs.isdisjoint(compared[other].pairs) for other in compared) else None


def _different_lists(by_era: Mapping[Era, Reads], era: Era) -> list[Found]:
    compared, met = by_era[era], _met(by_era, era)
    difference = compared.difference
    if difference is None:
        return []
    sets = {frozenset(map(str, read.names)) for read in compared.every}
    whole = len(sets) == 1
    revisions = {reads.surface.revision for reads in by_era.values() if met in {None, reads.surface.era}}
    must = MODERN_REVISION in revisions and not whole
    return [
        Found(
            severity=Severity.WILL_BREAK if must else None,
            code="definitions-differ" if whole else "tools-differ",
            subject="tools/list",
            message="Connections made within seconds are given different instructions."
            if {change.kind for change in difference.changes} == {"instructions"}
            else f"Connections made within seconds show different tools: {_line(difference.summary)}.",
            expected="the same list on every connection",
            measured=f"{len(compared.pairs)} lists in {_reads(compared)}",
            era=met,
        )
    ]


def _different_eras(surfaces: tuple[Surface, ...], replicas: Replicas) -> list[Found]:
    """The first further connection that speaks an era or a revision otherwise, of each kind."""
    own = {surface.era: surface for surface in surfaces}
    found = dict[str, Found]()
    for greeting in replicas.greetings:
        surface = own.get(greeting.era)
        first, other = surface and surface.revision, greeting.revision
        if surface and first == other:
            offers = [frozenset(one.supported_versions) for one in (surface, greeting)]
            if all(offers) and offers[0] != offers[1]:
                found.setdefault("offers-differ", _different_offers(*offers))
        if first == other:
            continue
        asked = "server/discover" if greeting.era is Era.MODERN else "initialize"
        refused = first is None or other is None
        said = [shown(one, 40) if one else "refused" for one in (first, other)]
        one = Found(
            code="eras-differ" if refused else "revisions-differ",
            subject=asked,
            message=f"Of connections made within seconds some answer {asked} and others refuse it."
            if refused
            else "Connections made within seconds settle on different revisions.",
            expected="the same answer on every connection",
            measured=f"{said[0]}, then {said[1]}" + (f" ({greeting.said})" if other is None else ""),
            era=greeting.era,
        )
        found.setdefault(one.code, one)
    return list(found.values())


def _different_offers(first: frozenset[str], other: frozenset[str]) -> Found:
    said = [listed(shown(one, 40) for one in sorted(offer)) for offer in (first, other)]
    return Found(
        code="offers-differ",
        subject="server/discover",
        message="Connections made within seconds are offered different revisions.",
        expected="the same answer on every connection",
        measured=f"{said[0]}, then {said[1]}",
        era=Era.MODERN,
    )


def _different_versions(surfaces: tuple[Surface, ...], replicas: Replicas) -> list[Found]:
    """What calls itself by another version, in the first era where something does."""
    for surface in surfaces:
        met = [instance.server_info for era, instance in replicas.met if era is surface.era]
        said = {_version(info): None for info in (surface.server_info, *met)}
        if len(said) > 1:
            return [
                Found(
                    code="versions-differ",
                    subject="serverInfo",
                    message="Connections made within seconds meet servers of different versions.",
                    expected="one name and version",
                    measured=listed(said),
                    era=surface.era,
                )
            ]
    return []


def _broken(replicas: Replicas) -> list[Found]:
    return [
        Found(
            code="no-answer",
            subject=replicas.era.value,
            message="Some connections are not served: one of the instances is gone, or lets nobody in.",
            expected="an answer on every connection",
            measured=f"{len(replicas.broken)} of {replicas.connections} further connections: {why}",
            era=replicas.era,
        )
        for why in replicas.broken[:1]
    ]


def _version(info: Json) -> str:
    known = info if isinstance(info, dict) else {}
    named = [known.get(key) for key in ("name", "version")]
    return " ".join(shown(item, 40) if isinstance(item, str) else json.dumps(item)[:40] for item in named)


def _short(contract: str, surface: str) -> str:
    return f"contract {contract[:_SHORT]}, surface {surface[:_SHORT]}"
