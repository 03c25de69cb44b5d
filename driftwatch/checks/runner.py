"""Asks every check once and brings its answers together to one result each."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from driftwatch.checks.base import (
    EVIDENCE_PARTS,
    NOT_APPLICABLE,
    OF_THE_SCENE,
    Declaration,
    Explained,
    NotChecked,
    Policy,
    Remembered,
    Verdict,
    Verified,
)
from driftwatch.checks.reads import Comparison
from driftwatch.checks.view import Tool
from driftwatch.evidence import (
    CREDENTIAL_ECHO,
    NEEDS_FULL,
    OTHER_ECHO,
    OTHER_MARKS,
    URL_ECHO,
    URL_MARK,
    Evidence,
    Missing,
    Surface,
)
from driftwatch.model import Depth, Era, Finding, Fingerprint, Json, Result, Severity, State, position

log = logging.getLogger("driftwatch.checks")

SWITCHED_OFF = NotChecked("switched off in the configuration", "switched-off")
TOO_LIGHT = NotChecked.of(NEEDS_FULL)
NOT_READ = Missing("the tool list was not read", "no-list")
NO_BASELINE = Missing("no earlier fingerprint to compare with", "no-baseline")

_SEVERITIES = tuple(Severity)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """Everything that checks may be asked about."""

    evidence: Evidence
    fingerprints: Mapping[Era, Fingerprint | Missing]
    remembered: Mapping[Era, Remembered | Missing]
    policy: Policy
    compared: Comparison
    """Every complete read of a list."""
    _views: dict[Era, tuple[tuple[Json, ...], tuple[Tool, ...]]] = field(default_factory=dict, init=False)

    @property
    def known_eras(self) -> frozenset[Era]:
        """The eras whose tool list was read by an earlier probe."""
        return frozenset(era for era, earlier in self.remembered.items() if isinstance(earlier, Remembered))

    def tools(self, surface: Surface) -> tuple[Tool, ...] | Missing:
        """The tools of a surface. Both eras mostly list the same: then they share what was worked out."""
        tools = surface.tools
        if isinstance(tools, Missing):
            return tools
        if surface.era not in self._views:
            marks = self._marks(surface)
            alike = [views for known, views in self._views.values() if known == tools and not marks]
            self._views[surface.era] = tools, alike[0] if alike else Tool.each(tools, marks)
        return self._views[surface.era][1]

    def _marks(self, surface: Surface) -> frozenset[str]:
        """What stands in the list in the place of secrets that the server sent back."""
        pages = () if isinstance(surface.listing, Missing) else surface.listing.exchanges
        codes = {remark.code for page in pages for remark in page.remarks}
        if not codes & {CREDENTIAL_ECHO, URL_ECHO, OTHER_ECHO}:
            return frozenset()
        return OTHER_MARKS | {URL_MARK, f"<{self.evidence.credential}>"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """What a check says about one surface, or about the whole probe."""

    era: Era | None
    findings: tuple[Finding, ...] = ()
    cause: str | None = None
    """The root check that tells of the findings."""
    remark: str | None = None
    not_checked: NotChecked | None = None


def ask(declaration: Declaration, scene: Scene) -> Result:
    """The result of one check.

    A check that is asked once per surface has the worst state over the surfaces that could be judged; its
    reason names the others. A surface that could not be judged makes it not_checked only where none could;
    one that the rule is not about counts as none.
    A check that crashes is not_checked, whatever it said about another surface.
    """
    if declaration.id in scene.policy.off:
        return _not_checked(declaration, SWITCHED_OFF)
    if declaration.depth is Depth.FULL and scene.evidence.depth is Depth.LIGHT:
        return _not_checked(declaration, _blocked(declaration, scene) or TOO_LIGHT)
    try:
        return _combined(declaration, tuple(_answers(declaration, scene)))
    except Exception as error:
        log.exception("the check %s crashed", declaration.id)
        reason = f"a bug in driftwatch: {type(error).__name__} in {declaration.id}; the log has the trace"
        return _not_checked(declaration, NotChecked(reason, "bug"))


def _blocked(declaration: Declaration, scene: Scene) -> NotChecked | None:
    """What keeps a deeper probe from looking too: then that is the reason, at any depth."""
    if not declaration.per_surface or scene.evidence.surfaces:
        return None
    blocker = scene.evidence.blocker
    return NotChecked.of(blocker) if blocker.cause else None


def _answers(declaration: Declaration, scene: Scene) -> Iterator[_Answer]:
    if not declaration.per_surface:
        yield _judged(declaration, scene, None, [])
        return
    surfaces = scene.evidence.surfaces
    if not surfaces:
        yield _Answer(era=None, not_checked=NotChecked.of(scene.evidence.blocker))
        return
    subject = [surface for surface in surfaces if _applies(declaration, surface)]
    heard: list[tuple[dict[str, Any], Verdict]] = []
    for surface in subject:
        yield _judged(declaration, scene, surface, heard)
    if not subject:
        yield _Answer(era=None, not_checked=NotChecked(_scope(declaration, surfaces), NOT_APPLICABLE))


def _applies(declaration: Declaration, surface: Surface) -> bool:
    since = declaration.since_revision
    return surface.era in declaration.eras and (
        since is None or position(surface.revision) >= position(since)
    )


def _scope(declaration: Declaration, surfaces: Sequence[Surface]) -> str:
    here = " and ".join(f"{surface.era.value} {surface.revision:.40}" for surface in surfaces)
    if not any(surface.era in declaration.eras for surface in surfaces):
        eras = " and ".join(era.value for era in declaration.eras)
        plural = "s" if len(declaration.eras) > 1 else ""
        return f"the rule is about the {eras} era{plural}; this server speaks {here}"
    return f"the rule exists since revision {declaration.since_revision}; this server speaks {here}"


def _judged(
    declaration: Declaration,
    scene: Scene,
    surface: Surface | None,
    heard: list[tuple[dict[str, Any], Verdict]],
) -> _Answer:
    """The answer about one surface; what was heard about one with the very same parts stands for it."""
    era = surface.era if surface else None
    parts = {}
    for need in declaration.needs:
        part = _part(need, scene, surface)
        if isinstance(part, Missing) and need not in declaration.takes_missing:
            return _Answer(era=era, not_checked=NotChecked.of(part))
        parts[need] = part
    verdict = next((verdict for others, verdict in heard if _are_same(parts, others)), None)
    if verdict is None:
        verdict = declaration.judge(**parts)
        if not isinstance(verdict, Explained | NotChecked | Verified):
            verdict = tuple(verdict)
        heard.append((parts, verdict))
    if isinstance(verdict, NotChecked):
        return _Answer(era=era, not_checked=verdict)
    if isinstance(verdict, Verified):
        return _Answer(era=era, remark=verdict.reason)
    found, cause = (verdict.found, verdict.cause) if isinstance(verdict, Explained) else (verdict, None)
    findings = tuple(item.finding(declaration.severity, era) for item in found)
    return _Answer(era=era, findings=findings, cause=cause)


def _are_same(parts: dict[str, Any], others: dict[str, Any]) -> bool:
    return all(
        part is others[need] or (isinstance(part, str) and part == others[need])
        for need, part in parts.items()
    )


def _part(need: str, scene: Scene, surface: Surface | None) -> Any:
    if need in OF_THE_SCENE:
        return getattr(scene, need)
    if surface is None or need in EVIDENCE_PARTS:
        return getattr(scene.evidence, need)
    match need:
        case "surface":
            return surface
        case "tools":
            return scene.tools(surface)
        case "fingerprint":
            return scene.fingerprints.get(surface.era, NOT_READ)
        case "remembered":
            return scene.remembered.get(surface.era, NO_BASELINE)
        case _:
            return getattr(surface, need)


def _combined(declaration: Declaration, answers: Sequence[_Answer]) -> Result:
    answers = [answer for answer in answers if not _is_beside_the_rule(answer)] or answers
    findings = tuple(finding for answer in answers for finding in answer.findings)
    skipped = [(answer.era, answer.not_checked) for answer in answers if answer.not_checked]
    if len(skipped) == len(answers):
        first = skipped[0][1]
        reason = _spoken([(era, item.reason) for era, item in skipped])
        return _not_checked(declaration, NotChecked(reason or first.reason, first.code, first.cause))
    worst = min(findings, key=lambda item: _SEVERITIES.index(item.severity), default=None)
    remarks = [(answer.era, answer.remark) for answer in answers if answer.remark]
    reasons = [_spoken(remarks), *(f"{era}: not checked: {item.reason}" for era, item in skipped)]
    return Result(
        check=declaration.id,
        version=declaration.version,
        state=worst.severity.state if worst else State.VERIFIED,
        code=worst.code if worst else None,
        reason="; ".join(filter(None, reasons)) or None,
        cause=next((answer.cause for answer in answers if answer.cause), None),
        findings=findings,
    )


def _is_beside_the_rule(answer: _Answer) -> bool:
    return answer.not_checked is not None and answer.not_checked.code == NOT_APPLICABLE


def _spoken(remarks: Sequence[tuple[Era | None, str]]) -> str:
    """Remarks as one text: said once where all say the same, else after the name of the era."""
    if len({text for _, text in remarks}) == 1:
        return remarks[0][1]
    return "; ".join(f"{era}: {text}" for era, text in remarks)


def _not_checked(declaration: Declaration, why: NotChecked) -> Result:
    return Result(
        check=declaration.id,
        version=declaration.version,
        state=State.NOT_CHECKED,
        code=why.code,
        reason=why.reason,
        cause=why.cause,
    )
