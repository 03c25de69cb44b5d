"""The report as Markdown, for a job's summary or a comment on a pull request."""

import re
from collections.abc import Collection, Iterator, Sequence

from driftwatch import checks
from driftwatch.model import Finding, Report, Result, State
from driftwatch.report.baseline import Comparison
from driftwatch.report.terminal import plain, unjudged

ROWS = 20
"""Findings of one check that are shown."""
TEXT = 200
"""Characters of one foreign text."""

_SPECIAL = re.compile(
    r"(?P<entity>[&<>])"
    r"|(?P<apart>[@#])"
    r"|(?P<escape>[\\`*_{}\[\]()!|~^$]|^[-+=])"
    r"|(?P<address>(?<=http)(?=://)|(?<=https)(?=://)|(?<=ftp)(?=://)|(?<=www)(?=\.))",
    re.IGNORECASE,
)
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
_APART = "&#8203;"
"""Nothing to see, and what stands around it is no mention, issue or address any more."""
_ORDER = (State.FAILED, State.OBSERVED_RISK, State.VERIFIED, State.NOT_CHECKED)


def to_markdown(report: Report, counted: Collection[str], comparison: Comparison | None = None) -> str:
    """The report as GitHub-flavoured Markdown: what counts first, then risks, then what was not checked.

    Whatever the watched server chose is plain text in it: no markup, link, image, mention or HTML of its own.
    """
    return "\n".join(_lines(report, counted, comparison)) + "\n"


def escaped(text: str, limit: int = TEXT) -> str:
    """A foreign text that Markdown shows as it is, on one line, also inside a table."""
    return _SPECIAL.sub(_harmless, plain(text, limit))


def _harmless(match: re.Match[str]) -> str:
    match match.lastgroup:
        case "entity":
            return _ENTITIES[match[0]]
        case "escape":
            return f"\\{match[0]}"
        case _:
            return f"{match[0]}{_APART}"


def _lines(report: Report, counted: Collection[str], comparison: Comparison | None) -> Iterator[str]:
    yield f"## driftwatch: {escaped(report.server)}"
    yield ""
    counts = [(state, sum(one.state is state for one in report.results)) for state in _ORDER]
    yield ", ".join(f"**{number} {state.words}**" for state, number in counts if number)
    yield ""
    yield from _facts(report)
    if comparison is not None:
        yield from _differences(comparison)
    loud = [one for one in report.results if one.check in counted]
    risks = [
        one for one in report.results if one.state in (State.FAILED, State.OBSERVED_RISK) and one not in loud
    ]
    yield from _section("Counts against the build", loud)
    yield from _section("Observed, and let through", risks)
    yield from _not_checked([one for one in report.results if one.state is State.NOT_CHECKED])


def _facts(report: Report) -> Iterator[str]:
    reached = "reachable" if report.reachable else "not reachable"
    yield (
        f"{escaped(report.url)} was {reached}; {report.depth.value} probe, {report.requests} requests in "
        f"{report.duration_s:.2f} s, {report.taken_at:%Y-%m-%d %H:%M} UTC, driftwatch {report.driftwatch}."
    )
    yield ""
    if (nothing := unjudged(report)) is not None:
        yield f"**{nothing}**; the reasons are below."
        yield ""
    if report.surfaces:
        yield "| era | revision | tools | fingerprint |"
        yield "| --- | --- | --- | --- |"
    for surface in report.surfaces:
        pair = (
            f"`{surface.fingerprint.pair}`"
            if surface.fingerprint
            else "none: the list was not read to its end"
        )
        yield f"| {surface.era.value} | {escaped(surface.revision)} | {surface.tools} | {pair} |"
    if report.surfaces:
        yield ""
    if report.certificate is not None:
        days = report.certificate.days_left(report.taken_at)
        yield f"The certificate ends on {report.certificate.not_after:%Y-%m-%d}, in {days} days."
        yield ""


def _differences(comparison: Comparison) -> Iterator[str]:
    yield f"### Since the baseline of {comparison.taken_at:%Y-%m-%d %H:%M} UTC"
    yield ""
    if comparison.empty:
        yield "Nothing is different."
    for line in comparison.lines():
        text = line.lstrip()
        yield f"{'  ' if line != text else ''}- {escaped(text, limit=2 * TEXT)}"
    yield ""


def _section(title: str, results: Sequence[Result]) -> Iterator[str]:
    if not results:
        return
    yield f"### {title}"
    yield ""
    for result in results:
        declaration = checks.by_id(result.check)
        yield f"**`{result.check}`** {result.state.words}: {declaration.title}"
        yield ""
        if result.findings:
            yield "| subject | era | what | measured | expected |"
            yield "| --- | --- | --- | --- | --- |"
            rows = _rows(result.findings)
            yield from rows[:ROWS]
            if len(rows) > ROWS:
                yield f"| … | | {len(rows) - ROWS} more | | |"
            yield ""
        elif result.reason:
            yield escaped(result.reason)
            yield ""
        yield f"Fix: {declaration.fix.partition(chr(10) * 2)[0]}"
        yield ""


def _rows(findings: Sequence[Finding]) -> list[str]:
    """A row for each finding; one that is the same in both eras is one."""
    rows: dict[tuple[str, ...], dict[str, None]] = {}
    for finding in findings:
        said = (finding.subject, finding.message, finding.measured, finding.expected)
        rows.setdefault(said, {})[finding.era.value if finding.era else ""] = None
    return [
        f"| {escaped(subject, 64)} | {', '.join(filter(None, eras))} | {' | '.join(map(escaped, texts))} |"
        for (subject, *texts), eras in rows.items()
    ]


def _not_checked(results: Sequence[Result]) -> Iterator[str]:
    if not results:
        return
    reasons: dict[str, list[str]] = {}
    for result in results:
        reasons.setdefault(result.reason or "", []).append(result.check)
    yield f"<details><summary>{len(results)} not checked</summary>"
    yield ""
    yield "| reason | checks |"
    yield "| --- | --- |"
    for reason, ids in reasons.items():
        yield f"| {escaped(reason)} | {', '.join(f'`{check}`' for check in ids)} |"
    yield ""
    yield "</details>"
