"""Each check of a server as its page and ``status`` show it: state, since when, what was found (pure)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from driftwatch import checks
from driftwatch.alerts.text import listed, plain
from driftwatch.alerts.wording.subjects import value_words
from driftwatch.checks import Declaration
from driftwatch.model import Json, Severity, State
from driftwatch.transitions import Memory, SubjectState
from driftwatch.transitions.subjects import check_subject, named_together
from driftwatch.transitions.values import code_of, state_of

SUBJECTS_SHOWN = 12
"""Tools or places that are named of those that share a finding."""

FINDINGS_SHOWN = 12
"""Different findings of one check."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """Findings of one check that say the same about different subjects."""

    severity: Severity
    message: str
    subjects: str
    expected: str
    measured: str
    """Empty where the message quotes it, or where it differs from subject to subject."""
    clients: str
    eras: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One check of one server as people are shown it."""

    declaration: Declaration
    state: State
    code: str | None
    since: datetime
    reason: str | None
    told: tuple[Told, ...]
    more: int
    """Findings that are not shown."""
    pending: str | None
    """What the last probes saw instead, as long as it is not confirmed."""
    pending_count: int
    """Once at the least: what a light probe saw alone may not count yet."""
    last_known: str | None
    """Of a check that is blocked by another: its value before."""
    flapping: bool

    @property
    def bad(self) -> bool:
        """Whether somebody should look at it."""
        return self.state in (State.FAILED, State.OBSERVED_RISK)

    @property
    def loud(self) -> bool:
        """Whether there is more to read about it than its state and a reason."""
        return self.bad or self.pending is not None or self.flapping


def checks_now(memory: Memory) -> tuple[Check, ...]:
    """Every check that is remembered, in the catalogue's order."""
    found = ((each, memory.states.get(check_subject(each.id))) for each in checks.catalogue)
    return tuple(_check(declaration, state) for declaration, state in found if state is not None)


def _check(declaration: Declaration, state: SubjectState) -> Check:
    blocked = state.blocked_by is not None
    groups = [] if blocked else _told(_findings(state.detail))
    reason = state.detail.get("reason")
    if blocked:
        reason = f"{state.blocked_by} explains it: {value_words(f'failed:{state.blocked_code}')}"
    return Check(
        declaration=declaration,
        state=State.NOT_CHECKED if blocked else state_of(state.confirmed) or State.NOT_CHECKED,
        code=state.blocked_code if blocked else code_of(state.confirmed),
        since=(state.blocked_since if blocked else None) or state.confirmed_since,
        reason=str(reason) if reason else None,
        told=tuple(groups[:FINDINGS_SHOWN]),
        more=max(0, len(groups) - FINDINGS_SHOWN),
        pending=value_words(state.pending) if state.pending else None,
        pending_count=max(state.pending_count, state.pending is not None),
        last_known=value_words(state.confirmed) if blocked and state.accepted else None,
        flapping=state.flapping,
    )


def _findings(detail: Mapping[str, Json]) -> list[Mapping[str, Json]]:
    found = detail.get("findings")
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, Sequence) else []


def _told(findings: Sequence[Mapping[str, Json]]) -> list[Told]:
    groups: dict[tuple[Any, ...], list[Mapping[str, Json]]] = {}
    for each in findings:
        key = (each.get("severity"), each.get("code"), each.get("message"), tuple(each.get("clients") or ()))
        groups.setdefault(key, []).append(each)
    eras = {each.get("era") for each in findings}
    told = [_group(group, many_eras=len(eras) > 1) for group in groups.values()]
    return sorted(told, key=lambda each: each.severity.state is not State.FAILED)


def _group(group: Sequence[Mapping[str, Json]], *, many_eras: bool) -> Told:
    first = group[0]
    subjects = dict.fromkeys(plain(str(each.get("subject") or ""), 64) for each in group)
    measured = dict.fromkeys(str(each.get("measured") or "") for each in group)
    message = str(first.get("message") or "")
    alike = next(iter(measured)) if len(measured) == 1 else ""
    return Told(
        severity=Severity(first.get("severity", Severity.NOTE)),
        message=message,
        subjects=listed(subjects, SUBJECTS_SHOWN),
        expected=str(first.get("expected") or ""),
        measured="" if alike in message else alike,
        clients=", ".join(map(str, first.get("clients") or ())),
        eras=named_together({str(each.get("era")) for each in group}) if many_eras else "",
    )
