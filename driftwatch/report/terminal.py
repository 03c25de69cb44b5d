"""The report as a person reads it: worst things first in each family, every state as a word."""

import unicodedata
from collections.abc import Iterator, Sequence

from driftwatch import checks
from driftwatch.checks.tool import INSTRUCTIONS
from driftwatch.evidence import ANONYMOUS
from driftwatch.model import Finding, Json, Report, Result, State, SurfaceSummary
from driftwatch.report.page import BOLD, COLOURS, Page
from driftwatch.toolset.characters import HIDDEN

NAME_LIMIT = 64
"""Characters of a foreign name before it is cut."""
TEXT_LIMIT = 400
"""Characters of one foreign text before it is cut."""
EXAMPLES = 3
"""Subjects that are named when many share a finding."""
GROUPS = 8
"""Findings that are shown of one check."""

_TOOL_FAMILIES = frozenset({"tool", "schema"})
"""Families whose findings have a tool as their subject."""

_HIDDEN_CATEGORIES = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
_LAST_OF_BASIC_PLANE = 0xFFFF

_ORDER = (State.FAILED, State.OBSERVED_RISK, State.VERIFIED, State.NOT_CHECKED)
_STATE_WIDTH = max(len(state.words) for state in State)
_INDENT = 2 + _STATE_WIDTH + 2


def to_text(report: Report, differences: Sequence[str] | None = None, *, colour: bool, width: int) -> str:
    """The report as lines of at most ``width`` columns, and what differs from a baseline where there is one.

    Colours only repeat what a word already says. Whatever the watched server chose is neutralised.
    """
    page = Page(colour=colour, width=width)
    _write_header(page, report)
    families = dict.fromkeys(result.check.partition("/")[0] for result in report.results)
    for family in families:
        results = [result for result in report.results if result.check.partition("/")[0] == family]
        _write_family(page, family, results, eras=len(report.surfaces))
    _write_not_checked(page, report.results)
    if differences is not None:
        _write_differences(page, differences)
    _write_summary(page, report.results)
    return page.text


def plain(text: str, limit: int = TEXT_LIMIT) -> str:
    r"""A foreign text that cannot move the cursor, hide or reorder anything, cut at ``limit`` characters.

    Control, format, bidirectional and private characters, line separators and lone surrogates are spelled out
    (``\u202e``, ``\U000e0041``); every blank is a plain one.
    """
    cut = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return "".join(map(_spelled, cut))


def unjudged(report: Report) -> str | None:
    """What nothing was learned about, so that a report without a failure is not taken for a good one."""
    if not report.surfaces:
        return "Nothing behind its front door was judged"
    if not any(surface.complete for surface in report.surfaces):
        return "Its tools were not judged"
    return None


def _write_header(page: Page, report: Report) -> None:
    page.lines.append(f"{page.paint(plain(report.server), BOLD)}  {plain(report.url)}")
    facts = [
        "reachable" if report.reachable else "not reachable",
        _certificate(report),
        _probe(report),
        f"{_count(report.requests, 'request')} in {report.duration_s:.2f} s",
        f"{report.taken_at:%Y-%m-%d %H:%M:%S} UTC",
    ]
    page.write(" · ".join(facts))
    for surface in report.surfaces:
        page.write(" · ".join(_surface(surface)))
    if (nothing := unjudged(report)) is not None:
        page.write(f"{nothing}; the reasons are below.")


def _probe(report: Report) -> str:
    carried = "" if report.credential == ANONYMOUS else f" with {plain(report.credential, NAME_LIMIT)}"
    return f"{report.depth.value} probe{carried}"


def _surface(surface: SurfaceSummary) -> Iterator[str]:
    yield f"{surface.era.value} {plain(surface.revision, NAME_LIMIT)}"
    tools = _count(surface.tools, "tool")
    pages = f" on {surface.pages} pages" if surface.pages > 1 else ""
    yield f"{tools}{pages}" if surface.complete else f"{tools}{pages}, list incomplete"
    name = _server_name(surface.server_info)
    if name:
        yield name
    if surface.fingerprint is not None:
        yield f"fingerprint {surface.fingerprint.short}"


def _server_name(info: Json) -> str:
    if not isinstance(info, dict):
        return ""
    words = [info.get("name"), info.get("version")]
    return " ".join(plain(word, NAME_LIMIT) for word in words if isinstance(word, str) and word)


def _certificate(report: Report) -> str:
    if report.certificate is None:
        return "no certificate"
    days = report.certificate.days_left(report.taken_at)
    return f"certificate ends in {_count(days, 'day')}" if days >= 0 else "certificate expired"


def _write_family(page: Page, family: str, results: Sequence[Result], *, eras: int) -> None:
    shown = [result for result in results if result.state is not State.NOT_CHECKED]
    if not shown:
        return
    page.gap()
    page.lines.append(page.paint(family, BOLD))
    for state in (State.FAILED, State.OBSERVED_RISK):
        for result in shown:
            if result.state is state:
                _write_result(page, result, eras=eras)
    verified = [result for result in shown if result.state is State.VERIFIED]
    for result in verified:
        if result.reason:
            _write_state(page, result.state, f"{result.check}: {plain(result.reason)}")
    silent = [result.check for result in verified if not result.reason]
    if silent:
        _write_state(page, State.VERIFIED, ", ".join(silent))


def _write_state(page: Page, state: State, text: str) -> None:
    page.write(text, indent=_INDENT, label=state.words, code=COLOURS[state])


def _write_result(page: Page, result: Result, *, eras: int) -> None:
    _write_state(page, result.state, result.check)
    groups = _groups(result.findings)
    of_tools = result.check.partition("/")[0] in _TOOL_FAMILIES
    for group in groups[:GROUPS]:
        page.write(_finding(group, eras, of_tools=of_tools), indent=_INDENT)
    if len(groups) > GROUPS:
        page.write(f"… +{len(groups) - GROUPS} more findings", indent=_INDENT)
    if result.reason:
        page.write(plain(result.reason), indent=_INDENT)
    fix = checks.by_id(result.check).fix.partition("\n\n")[0]
    page.write(f"Fix: {fix}", indent=_INDENT)


def _groups(findings: Sequence[Finding]) -> list[list[Finding]]:
    """Findings that say the same about other subjects or in another era, worst first."""
    groups: dict[tuple[object, ...], list[Finding]] = {}
    for finding in findings:
        key = (finding.severity, finding.code, finding.message, finding.clients)
        groups.setdefault(key, []).append(finding)
    return sorted(groups.values(), key=lambda group: group[0].severity.state is not State.FAILED)


def _finding(group: Sequence[Finding], eras: int, *, of_tools: bool) -> str:
    first = group[0]
    seen = {finding.era for finding in group if finding.era}
    only = f" ({next(iter(seen)).value} only)" if eras > 1 and len(seen) == 1 else ""
    measured = {finding.subject: finding.measured for finding in group}
    if len(measured) == 1:
        text = f"{plain(first.subject, NAME_LIMIT)}{only}: {plain(first.message)}"
        # Many messages already quote what was measured.
        if first.measured not in first.message:
            text += f" Measured: {plain(first.measured)}; expected: {plain(first.expected)}."
        return text
    kind = "tools" if of_tools and INSTRUCTIONS not in measured else "places"
    alike = len(set(measured.values())) == 1
    names = [
        plain(subject, NAME_LIMIT) if alike else f"{plain(subject, NAME_LIMIT)} ({plain(value, 120)})"
        for subject, value in measured.items()
    ]
    detail = f" Measured: {plain(first.measured)}." if alike else ""
    return f"{len(names)} {kind}{only}: {plain(first.message)}{detail} {_examples(names)}"


def _examples(names: Sequence[str]) -> str:
    if len(names) <= EXAMPLES + 1:
        return ", ".join(names)
    return f"{', '.join(names[:EXAMPLES])}, … +{len(names) - EXAMPLES}"


def _write_not_checked(page: Page, results: Sequence[Result]) -> None:
    reasons: dict[tuple[str | None, str | None], list[Result]] = {}
    for result in results:
        if result.state is State.NOT_CHECKED:
            reasons.setdefault((result.cause, result.reason), []).append(result)
    if not reasons:
        return
    page.gap()
    page.lines.append(page.paint(State.NOT_CHECKED.words, COLOURS[State.NOT_CHECKED]))
    for (cause, reason), blocked in reasons.items():
        because = f" (because of {cause})" if cause else ""
        page.write(f"{plain(reason or '')}{because}", indent=2)
        page.write(", ".join(result.check for result in blocked), indent=6)


def _write_differences(page: Page, differences: Sequence[str]) -> None:
    page.gap()
    page.lines.append(page.paint("since the baseline", BOLD))
    for line in differences or ["nothing is different"]:
        page.write(line.lstrip(), indent=2 + 2 * line.startswith(" "))


def _write_summary(page: Page, results: Sequence[Result]) -> None:
    counts = [(state, sum(result.state is state for result in results)) for state in _ORDER]
    page.gap()
    words = [(state, f"{number} {state.words}") for state, number in counts if number]
    between = ", " if len(", ".join(text for _, text in words)) <= page.width else ",\n"
    page.lines.append(between.join(page.paint(text, COLOURS[state]) for state, text in words))


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _spelled(character: str) -> str:
    category = unicodedata.category(character)
    if category == "Zs":
        return " "
    if category in _HIDDEN_CATEGORIES or HIDDEN.match(character):
        point = ord(character)
        return f"\\u{point:04x}" if point <= _LAST_OF_BASIC_PLANE else f"\\U{point:08x}"
    return character
