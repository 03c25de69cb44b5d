"""The report as JUnit XML, in the shape that GitHub, GitLab and Jenkins show: a suite for each family."""

import itertools
from collections.abc import Collection
from xml.etree import ElementTree as ET

from driftwatch import checks
from driftwatch.model import Finding, Report, Result, State
from driftwatch.report.baseline import Comparison
from driftwatch.report.contract import instant
from driftwatch.report.gate import FINGERPRINT
from driftwatch.report.terminal import plain


def to_junit(report: Report, counted: Collection[str], comparison: Comparison | None = None) -> str:
    """The report as one XML document.

    A check that counts is a failure; one that was not checked is skipped, with its reason; every other is
    passed, and its output says what was observed. All foreign text is neutralised, so that the document is
    well-formed whatever a server sends.
    """
    root = ET.Element(
        "testsuites", name=f"driftwatch {plain(report.server)}", time=f"{report.duration_s:.3f}"
    )
    for family, results in itertools.groupby(report.results, key=lambda one: one.check.partition("/")[0]):
        suite = ET.SubElement(
            root, "testsuite", name=family, timestamp=instant(report.taken_at), hostname=plain(report.server)
        )
        for result in results:
            differences = comparison if result.check == FINGERPRINT else None
            _write_case(suite, report, result, counts=result.check in counted, differences=differences)
        _write_counts(suite)
    _write_counts(root)
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _write_case(
    suite: ET.Element, report: Report, result: Result, *, counts: bool, differences: Comparison | None
) -> None:
    case = ET.SubElement(suite, "testcase", name=result.check, classname=plain(report.server), time="0")
    lines = [_finding(finding) for finding in result.findings]
    lines += list(differences.toolset_lines()) if differences else []
    if counts:
        title = lines[0] if lines else plain(result.reason or checks.by_id(result.check).title)
        failure = ET.SubElement(case, "failure", message=title, type=plain(result.code or "drift"))
        failure.text = "\n".join([*lines, f"Fix: {checks.by_id(result.check).fix}"])
    elif result.state is State.NOT_CHECKED:
        ET.SubElement(case, "skipped", message=f"not checked: {plain(result.reason or '')}")
    elif lines or result.reason:
        words = f"{result.state.words}{f': {plain(result.reason)}' if result.reason else ''}"
        ET.SubElement(case, "system-out").text = "\n".join([words, *lines])


def _write_counts(element: ET.Element) -> None:
    listed = list(element.iter("testcase"))
    element.set("tests", str(len(listed)))
    element.set("failures", str(sum(case.find("failure") is not None for case in listed)))
    element.set("errors", "0")
    element.set("skipped", str(sum(case.find("skipped") is not None for case in listed)))


def _finding(finding: Finding) -> str:
    era = f" ({finding.era.value})" if finding.era else ""
    return (
        f"{plain(finding.subject)}{era}: {plain(finding.message)} "
        f"Measured: {plain(finding.measured)}; expected: {plain(finding.expected)}."
    )
