"""The report as SARIF 2.1.0, for code scanning: a rule for each check, a result for each finding."""

import hashlib
import re
from dataclasses import dataclass

from driftwatch import checks
from driftwatch.checks import Declaration
from driftwatch.model import Finding, Json, Report, Result, Severity, State
from driftwatch.report.baseline import Comparison, identity
from driftwatch.report.contract import instant
from driftwatch.report.terminal import plain

SCHEMA_URI = "https://json.schemastore.org/sarif-2.1.0.json"
HOME = "https://github.com/driftwatch/driftwatch"

_LEVELS = {Severity.WILL_BREAK: "error", Severity.HEADS_UP: "warning", Severity.NOTE: "note"}
_RULES = {declaration.id: number for number, declaration in enumerate(checks.catalogue)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a reader of code scanning is sent: the server's entry in the configuration."""

    uri: str
    """Relative to the repository; the server's own URL where there is no file."""
    line: int | None = None


def to_sarif(report: Report, place: Place, comparison: Comparison | None = None) -> dict[str, Json]:
    """The report as one SARIF log.

    A failed check gives errors, an observed risk warnings and notes. What was not checked is a notification
    of the run: it is neither an alert nor a pass. Foreign text is neutralised.
    """
    run = {
        "tool": {
            "driver": {
                "name": "driftwatch",
                "informationUri": HOME,
                "semanticVersion": report.driftwatch,
                "rules": [_rule(declaration) for declaration in checks.catalogue],
            }
        },
        "automationDetails": {"id": f"driftwatch/{plain(report.server)}/"},
        "invocations": [
            {
                "executionSuccessful": report.reachable,
                "startTimeUtc": instant(report.taken_at),
                "toolExecutionNotifications": [
                    _notification(result) for result in report.results if result.state is State.NOT_CHECKED
                ],
            }
        ],
        "results": [
            _result(report, place, result, finding, comparison)
            for result in report.results
            for finding in result.findings
        ],
        "columnKind": "unicodeCodePoints",
    }
    return {"$schema": SCHEMA_URI, "version": "2.1.0", "runs": [run]}


def _rule(declaration: Declaration) -> dict[str, Json]:
    help_text = f"{declaration.why}\n\n{declaration.fix}"
    return {
        "id": declaration.id,
        "shortDescription": {"text": declaration.title},
        "fullDescription": {"text": declaration.summary},
        "help": {
            "text": help_text,
            "markdown": f"**Why it matters**\n\n{declaration.why}\n\n**How to fix it**\n\n{declaration.fix}",
        },
        "defaultConfiguration": {"level": _LEVELS[declaration.severity]},
        "properties": {"tags": [declaration.family], "precision": "high"},
    }


def _result(
    report: Report, place: Place, result: Result, finding: Finding, comparison: Comparison | None
) -> dict[str, Json]:
    text = f"{plain(finding.subject)}: {plain(finding.message)} Measured: {plain(finding.measured)}."
    era = f"{finding.era.value}/" if finding.era else ""
    physical: dict[str, Json] = {"artifactLocation": {"uri": place.uri}}
    if place.line is not None:
        physical["region"] = {"startLine": place.line}
    told: dict[str, Json] = {
        "ruleId": result.check,
        "ruleIndex": _RULES[result.check],
        "level": _LEVELS[finding.severity],
        "message": {"text": _literal(text)},
        "locations": [
            {
                "physicalLocation": physical,
                "logicalLocations": [
                    {
                        "name": plain(finding.subject),
                        "fullyQualifiedName": plain(f"{report.server}/{era}{finding.subject}"),
                        "kind": "resource",
                    }
                ],
            }
        ],
        "partialFingerprints": {"driftwatch/v1": _fingerprint(report.server, result.check, finding)},
        "properties": {
            "code": plain(finding.code),
            "expected": plain(finding.expected),
            "clients": [plain(client) for client in finding.clients],
        },
    }
    if comparison is not None:
        told["baselineState"] = "unchanged" if comparison.knows(result.check, finding) else "new"
    return told


def _notification(result: Result) -> dict[str, Json]:
    return {
        "level": "note",
        "message": {"text": _literal(f"{result.check} was not checked: {plain(result.reason or '')}")},
        "associatedRule": {"id": result.check, "index": _RULES[result.check]},
        "descriptor": {"id": plain(result.code or "not-checked")},
    }


def _fingerprint(server: str, check: str, finding: Finding) -> str:
    """What makes an alert the same one in two uploads, whatever its words are."""
    parts = (server, check, *(part or "" for part in identity(finding)))
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _literal(text: str) -> str:
    """A text without SARIF's embedded links, ``[text](address)``."""
    return re.sub(r"([\\\[\]])", r"\\\1", text)
