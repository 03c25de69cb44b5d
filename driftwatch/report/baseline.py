"""What a report is compared with when no service remembers anything: an earlier report, kept as a file."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from driftwatch import toolset
from driftwatch.checks import Remembered
from driftwatch.errors import EvidenceError
from driftwatch.model import DEPTH_CODE, Era, Finding, Json, Report, State
from driftwatch.report.contract import VERSION, instant, to_json
from driftwatch.report.terminal import plain
from driftwatch.toolset import Diff, Toolset

_RANK = (State.VERIFIED, State.NOT_CHECKED, State.OBSERVED_RISK, State.FAILED)
"""From what nobody worries about to what breaks."""

Identity = tuple[str, str | None, str, str | None]
"""What makes two findings the same one: code, era, subject and pointer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one check stood in a report."""

    state: State
    code: str | None
    version: int
    findings: frozenset[Identity] = frozenset()

    @property
    def words(self) -> str:
        """``failed (refused)``."""
        return f"{self.state.words} ({plain(self.code)})" if self.code else self.state.words


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """An earlier report of the same server, reduced to what can be compared."""

    taken_at: datetime
    checks: Mapping[str, Standing]
    pairs: Mapping[Era, str | None]
    """The fingerprint of each surface; None where the list was not read to its end."""
    toolsets: Mapping[Era, Toolset] = field(default_factory=dict)
    """The tool lists themselves, where they were kept: only then can a difference be told in words."""

    @classmethod
    def read(cls, document: Json, toolsets: Mapping[Era, Toolset] | None = None) -> "Baseline":
        """A baseline from the JSON report. Raises EvidenceError for anything else."""
        if not isinstance(document, dict) or document.get("schema") != VERSION:
            raise EvidenceError(f"this is neither a saved probe nor a JSON report of the form {VERSION}")
        try:
            return cls(
                taken_at=datetime.fromisoformat(document["taken_at"]),
                checks={entry["id"]: _standing(entry) for entry in document["checks"]},
                pairs={Era(entry["era"]): _pair(entry["fingerprint"]) for entry in document["surfaces"]},
                toolsets=toolsets or {},
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise EvidenceError(f"the JSON report is damaged: {type(error).__name__}") from error

    def remembered(self) -> dict[Era, Remembered]:
        """The baseline's fingerprints as the accepted ones."""
        return {
            era: Remembered(accepted=pair, confirmed=pair, confirmed_at=self.taken_at)
            for era, pair in self.pairs.items()
            if pair is not None
        }

    @classmethod
    def of(cls, report: Report, toolsets: Mapping[Era, Toolset] | None = None) -> "Baseline":
        """A baseline from a report itself."""
        return cls.read(to_json(report), toolsets)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckChange:
    """A check that does not stand as it did."""

    check: str
    before: Standing | None
    """None for a check that the baseline does not know."""
    after: Standing | None
    """None for a check that is gone from the catalogue."""

    @property
    def judged_anew(self) -> bool:
        """True when the check itself is new, gone or another version: that says nothing about the server."""
        return self.before is None or self.after is None or self.before.version != self.after.version

    @property
    def worse(self) -> bool:
        """True when the server lost something since the baseline."""
        if self.before is None or self.after is None or self.judged_anew:
            return False
        rank = _RANK.index(self.after.state) - _RANK.index(self.before.state)
        return rank > 0 or (rank == 0 and bool(self.after.findings - self.before.findings))

    @property
    def words(self) -> str:
        """One line for people; foreign text in it is neutralised."""
        if self.before is None or self.after is None:
            standing = self.before or self.after
            assert standing is not None  # noqa: S101 - one side is there, or nothing changed
            return f"{self.check}: {'new' if self.before is None else 'gone'}, {standing.words}"
        text = f"{self.check}: {self.before.words} -> {self.after.words}"
        new, gone = (
            len(self.after.findings - self.before.findings),
            len(self.before.findings - self.after.findings),
        )
        counts = [f"{number} {word}" for number, word in ((new, "new"), (gone, "gone")) if number]
        if counts:
            text += f", findings: {', '.join(counts)}"
        return f"{text}; the check itself is another version" if self.judged_anew else text

    def to_json(self) -> dict[str, Json]:
        """As the JSON report carries it."""
        return {
            "id": self.check,
            "before": _told(self.before),
            "after": _told(self.after),
            "worse": self.worse,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceChange:
    """A surface that does not show what it showed."""

    era: Era
    before: str | None
    """The fingerprint then; None for a surface that was not there, or not read to its end."""
    after: str | None
    diff: Diff | None
    """None where the baseline kept no tool list, or one side has none."""
    counts: bool
    """False where nothing is lost, or where the list could not be read this time."""

    @property
    def words(self) -> str:
        """One line for people."""
        if self.before is None or self.after is None:
            what = "has a fingerprint now" if self.before is None else "has no fingerprint any more"
            return f"the {self.era.value} toolset {what}"
        detail = (
            self.diff.summary if self.diff else "the baseline kept no tool list to say what (probe --save)"
        )
        return f"the {self.era.value} toolset changed: {detail}"

    def to_json(self) -> dict[str, Json]:
        """As the JSON report carries it."""
        diff = self.diff.to_json() if self.diff else None
        return {"era": self.era.value, "before": self.before, "after": self.after, "diff": diff}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Everything in which a report differs from its baseline."""

    taken_at: datetime
    """When the baseline was taken."""
    known: frozenset[tuple[str, Identity]]
    """Every finding that the baseline has, by check."""
    checks: tuple[CheckChange, ...]
    surfaces: tuple[SurfaceChange, ...]

    @property
    def empty(self) -> bool:
        """True when nothing is different."""
        return not self.checks and not self.surfaces

    @property
    def toolset_changed(self) -> bool:
        """True when a tool list that the baseline knows is another one, or its era is no longer spoken."""
        return any(change.counts for change in self.surfaces)

    def lines(self) -> Iterator[str]:
        """The differences for people, a line each; foreign text in them is neutralised."""
        yield from self.toolset_lines()
        yield from (change.words for change in self.checks)

    def toolset_lines(self) -> Iterator[str]:
        """The differences of the tool lists alone."""
        for surface in self.surfaces:
            yield surface.words
            yield from (
                f"  {change.klass}: {plain(change.message)}" for change in (surface.diff or Diff()).changes
            )

    def knows(self, check: str, finding: Finding) -> bool:
        """Whether the baseline has this finding too."""
        return (check, identity(finding)) in self.known

    def to_json(self) -> dict[str, Json]:
        """As the JSON report carries it."""
        return {
            "taken_at": instant(self.taken_at),
            "checks": [change.to_json() for change in self.checks],
            "surfaces": [change.to_json() for change in self.surfaces],
        }


def compare(baseline: Baseline, report: Report, toolsets: Mapping[Era, Toolset]) -> Comparison:
    """The differences between a baseline and a report.

    A check that one of the two did not exercise at its depth is not compared. Nothing is said about
    fingerprints of different algorithms.
    """
    now = Baseline.of(report, toolsets)
    changes = []
    for check in dict.fromkeys([*now.checks, *baseline.checks]):
        before, after = baseline.checks.get(check), now.checks.get(check)
        unseen = any(side is not None and side.code == DEPTH_CODE for side in (before, after))
        # Without a service the fingerprint is compared below, with the lists themselves.
        if unseen or before == after or check == "release/fingerprint":
            continue
        changes.append(CheckChange(check=check, before=before, after=after))
    surfaces = [_surface(era, baseline, now) for era in Era]
    return Comparison(
        taken_at=baseline.taken_at,
        known=frozenset(
            (check, finding) for check, standing in baseline.checks.items() for finding in standing.findings
        ),
        checks=tuple(changes),
        surfaces=tuple(change for change in surfaces if change is not None),
    )


def identity(finding: Finding) -> Identity:
    """What makes a finding the same one in two reports."""
    era = finding.era.value if finding.era else None
    return finding.code, era, finding.subject, finding.pointer


def _surface(era: Era, baseline: Baseline, now: Baseline) -> SurfaceChange | None:
    before, after = baseline.pairs.get(era), now.pairs.get(era)
    if before == after:
        return None
    if before and after and before.partition(":")[0] != after.partition(":")[0]:
        return None
    old, new = baseline.toolsets.get(era), now.toolsets.get(era)
    diff = toolset.diff(old, new) if old is not None and new is not None else None
    gone = era not in now.pairs and bool(now.pairs)
    counts = before is not None and (after is not None or gone)
    return SurfaceChange(era=era, before=before, after=after, diff=diff, counts=counts)


def _standing(entry: Mapping[str, Json]) -> Standing:
    findings = frozenset(
        (str(item["code"]), item["era"], str(item["subject"]), item["pointer"]) for item in entry["findings"]
    )
    return Standing(
        state=State(entry["state"]), code=entry["code"], version=int(entry["version"]), findings=findings
    )


def _pair(fingerprint: Mapping[str, str] | None) -> str | None:
    if fingerprint is None:
        return None
    return f"{fingerprint['contract']}.{fingerprint['surface'].partition(':')[2]}"


def _told(standing: Standing | None) -> dict[str, Json] | None:
    return None if standing is None else {"state": standing.state.value, "code": standing.code}
