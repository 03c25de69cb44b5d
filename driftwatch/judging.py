"""Evidence -> report, with the tool lists behind its fingerprints: what an observation and ``judge`` share.

Pure, and knows nothing of earlier probes: what is remembered is handed in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from driftwatch import checks, toolset
from driftwatch.checks.reads import Comparison, Read, compare
from driftwatch.evidence import Evidence, Missing, Surface
from driftwatch.model import Era, Fingerprint, Report, SurfaceSummary
from driftwatch.toolset import Toolset, ToolsetRecord
from driftwatch.toolset.canonical import written_alike


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A report together with the tool lists behind its fingerprints."""

    report: Report
    toolsets: tuple[ToolsetRecord, ...]
    in_doubt: Mapping[Era, str | None] = field(default_factory=dict)
    """The surfaces of which reads within this probe disagree, each with the fingerprint of another list than
    the one in ``toolsets``; None where it was another surface's reads that disagree.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """The tool lists of one probe."""

    toolsets: Mapping[Era, ToolsetRecord | Missing]
    """The complete list of each surface, or why there is none."""
    compared: Comparison
    """Every complete read of them."""


def read_toolsets(evidence: Evidence) -> Lists:
    """The tool lists of a probe with their fingerprints. Pure.

    Of a list that changes at every read it is what all the reads have in common, if they name the same tools.
    """
    found: dict[Era, ToolsetRecord | Missing] = {}
    compared = compare(evidence.surfaces, evidence.replicas)
    for surface in evidence.surfaces:
        every = compared.by_era[surface.era].every if surface.era in compared.settled else ()
        found[surface.era] = _toolset(surface, evidence.credential, tuple(found.values()), every)
    return Lists(toolsets=found, compared=compared)


def judge(
    evidence: Evidence,
    policy: checks.Policy,
    known: Mapping[Era, checks.Remembered | Missing] | None = None,
    read: Lists | None = None,
) -> Judged:
    """Evidence to report: digests, then every check of the catalogue once. Pure.

    ``known`` is what is remembered of each era; an era that is not in it is compared with nothing. ``read``
    is what ``read_toolsets`` makes of the evidence, where that was done already.
    """
    read = read_toolsets(evidence) if read is None else read
    found = read.toolsets
    prints = {era: item if isinstance(item, Missing) else item.fingerprint for era, item in found.items()}
    results = checks.run(
        evidence,
        fingerprints=prints,
        remembered=known or {},
        policy=policy,
        compared=read.compared,
    )
    report = Report(
        driftwatch=evidence.driftwatch,
        server=evidence.server,
        url=evidence.url,
        taken_at=evidence.taken_at,
        depth=evidence.depth,
        trigger=evidence.trigger,
        duration_s=evidence.duration_s,
        requests=evidence.requests,
        reachable=evidence.outcome.reachable,
        credential=evidence.credential,
        surfaces=tuple(_summary(surface, prints[surface.era]) for surface in evidence.surfaces),
        certificate=None if isinstance(evidence.tls, Missing) else evidence.tls.certificate,
        results=results,
    )
    return Judged(
        report=report,
        toolsets=tuple(item for item in found.values() if isinstance(item, ToolsetRecord)),
        in_doubt=_in_doubt(read.compared),
    )


def _in_doubt(compared: Comparison) -> dict[Era, str | None]:
    doubtful = {era: compared.by_era[era] for era in compared.in_doubt if era not in compared.settled}
    return {
        era: next((read.pair for read in reads.every if not read.agrees(reads.first)), None)
        for era, reads in doubtful.items()
    }


def _toolset(
    surface: Surface,
    credential: str,
    known: Sequence[ToolsetRecord | Missing],
    every: Sequence[Read],
) -> ToolsetRecord | Missing:
    tools = surface.tools
    if isinstance(tools, Missing):
        return tools
    further = surface.further_lists
    if isinstance(further, Missing):
        return further
    content = Toolset(tools=tools, instructions=surface.instructions, further=further)
    if every:
        content = replace(toolset.settled([one.toolset for one in every]), further=further)
    for other in known:
        if isinstance(other, ToolsetRecord) and _same_content(other, content):
            return replace(other, era=surface.era.value, revision=surface.revision)
    return ToolsetRecord(
        era=surface.era.value,
        credential=credential,
        revision=surface.revision,
        fingerprint=toolset.fingerprint(content),
        tools=content.tools,
        instructions=content.instructions,
        further=content.further,
        per_tool=toolset.tool_digests(content),
        volatile=bool(every),
    )


def _same_content(record: ToolsetRecord, content: Toolset) -> bool:
    same = record.instructions == content.instructions and written_alike(record.tools, content.tools)
    return same and written_alike(record.further, content.further)


def _summary(surface: Surface, fingerprint: Fingerprint | Missing) -> SurfaceSummary:
    listing = None if isinstance(surface.listing, Missing) else surface.listing
    return SurfaceSummary(
        era=surface.era,
        revision=surface.revision,
        tools=len(listing.tools) if listing else 0,
        pages=listing.pages if listing else 0,
        complete=listing is not None and listing.complete,
        server_info=surface.server_info,
        fingerprint=None if isinstance(fingerprint, Missing) else fingerprint,
        supported_versions=surface.supported_versions,
    )
