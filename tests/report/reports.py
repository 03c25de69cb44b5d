"""Reports, from judged evidence and by hand."""

from datetime import UTC, datetime
from typing import Any

from driftwatch import checks
from driftwatch.checks import Policy
from driftwatch.evidence import Evidence, Missing
from driftwatch.model import (
    Depth,
    Era,
    Finding,
    Fingerprint,
    Report,
    Result,
    Severity,
    State,
    SurfaceSummary,
    Trigger,
)
from tests.checks import factories

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def fingerprint(**changes: Any) -> Fingerprint:
    values: dict[str, Any] = {
        "algorithm": "dw1",
        "contract": "a" * 64,
        "surface": "b" * 64,
        "checklist": "c" * 64,
    }
    return Fingerprint(**{**values, **changes})


def surface(era: Era = Era.MODERN, **changes: Any) -> SurfaceSummary:
    values: dict[str, Any] = {
        "era": era,
        "revision": "2026-07-28" if era is Era.MODERN else "2025-11-25",
        "tools": 1,
        "pages": 1,
        "complete": True,
        "server_info": {"name": "notes", "version": "1"},
        "fingerprint": fingerprint(),
    }
    return SurfaceSummary(**{**values, **changes})


def report(*results: Result, **changes: Any) -> Report:
    values: dict[str, Any] = {
        "driftwatch": "0.1.0",
        "server": "notes",
        "url": "https://mcp.example.org/mcp",
        "taken_at": NOW,
        "depth": Depth.FULL,
        "trigger": Trigger.MANUAL,
        "duration_s": 0.25,
        "requests": 6,
        "reachable": True,
        "credential": "anonymous",
        "surfaces": (surface(Era.MODERN), surface(Era.LEGACY)),
        "certificate": factories.certificate(),
        "results": results,
    }
    return Report(**{**values, **changes})


def judged(seen: Evidence) -> Report:
    """The report of some evidence."""
    results = checks.run(seen, fingerprints={}, remembered={}, policy=Policy())
    return report(
        *results,
        reachable=seen.outcome.reachable,
        surfaces=tuple(surface(each.era, revision=each.revision) for each in seen.surfaces),
        certificate=None if isinstance(seen.tls, Missing) else seen.tls.certificate,
    )


def healthy(*, silent: bool = False) -> Report:
    """Both eras of a healthy server; ``silent``: its one tool has no description."""
    tool = factories.tool(description=None) if silent else factories.tool()
    return judged(
        factories.evidence(factories.surface(Era.MODERN, tool), factories.surface(Era.LEGACY, tool))
    )


def unreachable() -> Report:
    """Nothing listens."""
    missing = Missing("connection refused", "refused", "transport/endpoint")
    return judged(factories.shut("refused", message="connection refused", tls=missing))


def result(check: str, state: State, *findings: Finding, **changes: Any) -> Result:
    code = findings[0].code if findings else None
    return Result(check=check, state=state, findings=findings, **{"code": code, **changes})


def finding(subject: str = "add_note", **changes: Any) -> Finding:
    values: dict[str, Any] = {
        "severity": Severity.HEADS_UP,
        "code": "strict",
        "subject": subject,
        "message": "Unknown keys are refused.",
        "expected": "nothing of the kind",
        "measured": "just that",
        "era": Era.MODERN,
    }
    return Finding(**{**values, **changes})
