"""How ``status NAME`` shows one server: what is known of it, and every check by family with its reason."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from shlex import quote

from driftwatch.alerts.quiet import Quiet
from driftwatch.alerts.wording.note import Voice
from driftwatch.alerts.wording.subjects import accepting, short_pair
from driftwatch.cli.tables import ago, columns, due, incident_row, moment, silence_row, window_row
from driftwatch.deploys import DeployOutcome
from driftwatch.model import Release, Silence, State
from driftwatch.report import plain
from driftwatch.report.page import BOLD, COLOURS, Page
from driftwatch.store.ports import ServerStatus
from driftwatch.transitions.subjects import is_toolset, named_together, surface_of
from driftwatch.views.checks import Check, Told, checks_now
from driftwatch.views.spoken import Spoken, spoken_now

_ORDER = (State.FAILED, State.OBSERVED_RISK, State.VERIFIED, State.NOT_CHECKED)
_INDENT = 2 + max(len(state.words) for state in State) + 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known of one server, and what keeps it quiet."""

    status: ServerStatus
    release: Release | None
    """The newest one."""
    outcome: DeployOutcome | None
    """What it did, as far as that is known."""
    silences: Sequence[Silence]
    windows: Sequence[Quiet]
    voice: Voice
    """How commands find the configuration."""


def to_text(standing: Standing, now: datetime, *, colour: bool, width: int) -> str:
    """One server as lines of at most ``width`` columns; what others chose in it is neutralised."""
    page = Page(colour=colour, width=width)
    checks = checks_now(standing.status.memory)
    _write_head(page, standing, checks, now)
    _write_lists(page, standing, now)
    for family, members in itertools.groupby(checks, key=lambda check: check.declaration.family):
        page.gap()
        page.lines.append(page.paint(family, BOLD))
        _write_family(page, list(members))
    return page.text


def _write_head(page: Page, standing: Standing, checks: Sequence[Check], now: datetime) -> None:
    record = standing.status.record
    tags = f"  ({', '.join(record.tags)})" if record.tags else ""
    page.lines.append(f"{page.paint(record.name, BOLD)}  {plain(record.url)}{tags}")
    counts = [(state, sum(check.state is state for check in checks)) for state in _ORDER]
    page.lines.append(
        ", ".join(page.paint(f"{number} {state.words}", COLOURS[state]) for state, number in counts if number)
        or "nothing was checked yet"
    )
    page.gap()
    run = standing.status.last_run
    last = f"{ago(now - run.taken_at)} ({run.depth}, {run.trigger})" if run else "never"
    why = ": it asked to wait (Retry-After)" if record.asked_to_wait(now) else ""
    _fact(page, "last probe", f"{last}, next {due(record.probe_at, now)}{why}")
    _fact(page, "credential", record.credential)
    _fact(page, "certificate", _certificate(standing.status, now))
    for spoken in spoken_now(standing.status.memory):
        _fact(page, "protocol", _revisions(spoken, standing))
    lists = list(_toolsets(standing))
    for text in lists or ["no complete tool list was read yet"]:
        _fact(page, "toolset", text)
    _fact(page, "last deploy", _deploy(standing, now))


def _fact(page: Page, label: str, text: str) -> None:
    page.write(text, indent=_INDENT, label=label)


def _certificate(status: ServerStatus, now: datetime) -> str:
    certificate = status.certificate
    if certificate is None:
        return "none was seen"
    days = certificate.days_left(now)
    ends = f"ends in {days} {'day' if days == 1 else 'days'}" if days >= 0 else "expired"
    return f"{ends}, {moment(certificate.not_after)}, issued by {plain(certificate.issuer, 120)}"


def _toolsets(standing: Standing) -> Iterator[str]:
    """One line for what surfaces show alike, most often all of them."""
    status, alike = standing.status, dict[tuple[str, str | None, str], set[str]]()
    for subject, state in sorted(status.memory.states.items()):
        if is_toolset(subject):
            key = (state.confirmed, state.accepted, moment(state.confirmed_since))
            alike.setdefault(key, set()).add(surface_of(subject)[0])
    for (confirmed, accepted, since), eras in alike.items():
        known = "accepted"
        if accepted is not None and accepted != confirmed:
            command = standing.voice.command(f"diff {quote(status.record.name)}")
            known = f"not the accepted {short_pair(accepted)}: {command}"
        yield f"{short_pair(confirmed)} ({named_together(eras)}) since {since}, {known}"


def _revisions(spoken: Spoken, standing: Standing) -> str:
    """``legacy: 2025-06-18 since ..., not the accepted 2025-11-25``."""
    offered = " offered" if spoken.offered else ""
    told = f"{spoken.era}: {spoken.revisions}{offered} since {moment(spoken.since)}"
    if spoken.accepted is None:
        return told
    command = standing.voice.command(accepting(standing.status.record.name, spoken.value))
    return f"{told}, not the accepted {spoken.accepted}: {command}"


def _deploy(standing: Standing, now: datetime) -> str:
    release, outcome = standing.release, standing.outcome
    if release is None:
        return "none was announced"
    commit = f" ({plain(release.commit, 12)})" if release.commit else ""
    by = f" by {plain(release.actor, 64)}" if release.actor else ""
    verdict = outcome and (outcome.verdict or outcome.state)
    summary = f", {plain(outcome.summary)}" if outcome and outcome.summary else ""
    when = ago(now - release.received_at)
    return f"{plain(release.ref, 64)}{commit}{by}, {when}: {verdict or 'not known'}{summary}"


def _write_lists(page: Page, standing: Standing, now: datetime) -> None:
    name, incidents = standing.status.record.name, standing.status.memory.incidents.values()
    lists = {
        "open incidents, for driftwatch ack:": [incident_row(name, each, now) for each in incidents],
        "silences in force, for driftwatch unsilence:": [
            silence_row(each, now) for each in standing.silences
        ],
        "maintenance windows that are on:": [window_row(each) for each in standing.windows],
    }
    for heading, rows in lists.items():
        if rows:
            page.gap()
            page.lines.append(page.paint(heading, BOLD))
            page.lines.extend(f"  {line}" for line in columns(rows, page.width - 2).splitlines())


def _write_family(page: Page, checks: Sequence[Check]) -> None:
    for state in (State.FAILED, State.OBSERVED_RISK):
        for check in checks:
            if check.state is state:
                _write_bad(page, check)
    for state in (State.VERIFIED, State.NOT_CHECKED):
        alike: dict[tuple[str, str], list[str]] = {}
        for check in checks:
            if check.state is state:
                reason = "; ".join(_remarks(check))
                alike.setdefault((moment(check.since), reason), []).append(check.declaration.id)
        for (since, reason), names in alike.items():
            text = f"{', '.join(names)} since {since}"
            page.write(
                f"{text}: {reason}" if reason else text,
                indent=_INDENT,
                label=state.words,
                code=COLOURS[state],
            )


def _write_bad(page: Page, check: Check) -> None:
    code = f" ({check.code})" if check.code else ""
    page.write(
        f"{check.declaration.id}{code} since {moment(check.since)}",
        indent=_INDENT,
        label=check.state.words,
        code=COLOURS[check.state],
    )
    for told in check.told:
        page.write(_finding(told), indent=_INDENT)
    if check.more:
        page.write(f"… +{check.more} more findings", indent=_INDENT)
    for remark in _remarks(check):
        page.write(remark, indent=_INDENT)
    fix = check.declaration.fix.partition("\n\n")[0]
    page.write(f"Fix: {fix}", indent=_INDENT)


def _finding(told: Told) -> str:
    eras = f" ({told.eras})" if told.eras else ""
    text = f"{told.subjects}{eras}: {plain(told.message)}"
    if told.measured:
        text += f" Measured: {plain(told.measured)}; expected: {plain(told.expected)}."
    return f"{text} Affected: {plain(told.clients)}." if told.clients else text


def _remarks(check: Check) -> Iterator[str]:
    if check.reason:
        yield plain(check.reason)
    if check.last_known:
        yield f"last known: {check.last_known}"
    if check.pending:
        times = "once" if check.pending_count == 1 else f"{check.pending_count} times"
        yield f"the last probes saw {check.pending} instead, {times}; it does not count yet"
    if check.flapping:
        yield "it goes back and forth: single changes are not told until it is steady"
