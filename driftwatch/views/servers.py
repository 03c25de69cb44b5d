"""Servers: in one line, with every subject, and with every check."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from typing_extensions import TypedDict

from driftwatch import model, transitions
from driftwatch.model import Json, State
from driftwatch.store import ports
from driftwatch.transitions.subjects import check_of, is_check, is_toolset, surface_of
from driftwatch.views.shape import Moment, described, iso, iso_or_none

StateWord = Literal["verified", "failed", "observed_risk", "not_checked"]


@described
class States(TypedDict):
    """How many checks are in each of the four states. There is no score."""

    verified: int
    failed: int
    observed_risk: int
    not_checked: int


@described
class Run(TypedDict):
    """One probe that was made."""

    id: str
    taken_at: Moment
    trigger: str
    """interval, deploy, confirm or manual."""
    depth: str
    """light or full."""
    duration_s: float
    requests: int
    """HTTP requests that it sent."""
    reachable: bool
    """Whether any HTTP answer came over an acceptable connection."""
    states: States
    """Of this run; a light one leaves most checks not checked."""
    deploy: str | None
    """The id of the deploy that it looked after."""


@described
class Certificate(TypedDict):
    """The leaf certificate that was seen last."""

    not_before: Moment
    not_after: Moment
    days_left: int
    """Whole days until it ends; negative once it has."""
    issuer: str
    subject_alt_names: list[str]
    version: str | None
    """The TLS version; null when the handshake did not finish."""
    chain_length: int
    leaf_sha256: str
    serial: str


@described
class Incident(TypedDict):
    """From the first change that alerts until the recovery or until it is accepted."""

    id: str
    subject: str
    """check:<id>, toolset:<era>:<credential>, eras or revision:<era>."""
    value: str
    opened_at: Moment
    acked_at: Moment | None
    acked_by: str | None
    next_reminder_at: Moment | None


@described
class Surface(TypedDict):
    """What the server shows in one era to one credential."""

    subject: str
    era: str
    credential: str
    fingerprint: str
    """Of the tool list that is confirmed now: dw1:<contract>.<surface>."""
    since: Moment
    accepted: str | None
    """The fingerprint that was accepted; another one than the confirmed one is drift."""
    pending: str | None
    """A fingerprint that was read and is not confirmed yet."""


@described
class Subject(TypedDict):
    """What is remembered of one subject."""

    value: str
    """verified, a state with its code such as failed:dns, a fingerprint, or eras or revisions joined by +."""
    since: Moment
    accepted: str | None
    pending: str | None
    blocked_by: str | None
    """The check that keeps this one from being judged; value is then the last known one."""


@described
class ServerLine(TypedDict):
    """One server in one line."""

    name: str
    url: str
    """Without secrets."""
    tags: list[str]
    states: States
    surfaces: list[Surface]
    certificate: Certificate | None
    last_run: Run | None
    changed_at: Moment | None
    """When a check last got another state or code."""
    next_due_at: Moment
    incidents: list[Incident]
    """Open ones."""
    silences: list[str]
    """The ids of the silences in force that are about it, or about some of its checks."""


@described
class ServerStatus(ServerLine):
    """One server with every subject that is remembered."""

    subjects: dict[str, Subject]


@described
class Check(TypedDict):
    """The state of one check now."""

    id: str
    state: StateWord
    code: str | None
    """The worst finding's code, or why it is not checked; null for a plain verified."""
    reason: str | None
    since: Moment
    accepted: str | None
    pending: str | None
    blocked_by: str | None
    last_known: str | None
    """What it was before it was blocked."""
    observed_at: Moment
    findings: list[Json]
    """As in a report: severity, code, era, subject, pointer, message, expected, measured, clients."""


@described
class Server(ServerStatus):
    """One server with every check."""

    checks: list[Check]


def line(item: ports.ServerOverview, now: datetime, silences: Sequence[model.Silence]) -> ServerLine:
    """One server in one line; ``silences`` are those in force."""
    certificate = item.certificate
    return {
        "name": item.record.name,
        "url": item.record.url,
        "tags": list(item.record.tags),
        "states": _states({state.value: item.counts[state] for state in State}),
        "surfaces": [_surface(state) for state in item.toolsets],
        "certificate": None if certificate is None else _certificate(certificate, now),
        "last_run": run(item.last_run) if item.last_run else None,
        "changed_at": iso_or_none(item.changed_at),
        "next_due_at": iso(item.record.probe_at),
        "incidents": [incident(each) for each in item.incidents],
        "silences": [silence.id for silence in silences if _is_about(silence, item.record)],
    }


def status(item: ports.ServerStatus, now: datetime, silences: Sequence[model.Silence]) -> ServerStatus:
    """One server with every subject that is remembered."""
    subjects = {subject: _subject(state) for subject, state in sorted(item.memory.states.items())}
    return {**line(overview(item), now, silences), "subjects": subjects}


def server(item: ports.ServerStatus, now: datetime, silences: Sequence[model.Silence]) -> Server:
    """One server with every check."""
    checks = [_check(state) for subject, state in sorted(item.memory.states.items()) if is_check(subject)]
    return {**status(item, now, silences), "checks": checks}


def overview(item: ports.ServerStatus) -> ports.ServerOverview:
    """What a line shows, from all that is remembered."""
    now = transitions.standing(item.memory.states.values())
    return ports.ServerOverview(
        record=item.record,
        counts=now.counts,
        worst=now.worst,
        changed_at=now.changed_at,
        last_run=item.last_run,
        certificate=item.certificate,
        toolsets=tuple(state for subject, state in sorted(item.memory.states.items()) if is_toolset(subject)),
        incidents=tuple(item.memory.incidents.values()),
    )


def run(item: ports.RunSummary) -> Run:
    """One run, whole."""
    return {
        "id": item.id,
        "taken_at": iso(item.taken_at),
        "trigger": item.trigger,
        "depth": item.depth,
        "duration_s": item.duration_s,
        "requests": item.requests,
        "reachable": item.reachable,
        "states": _states(dict(item.counts)),
        "deploy": item.release_ref,
    }


def _is_about(silence: model.Silence, record: ports.ServerRecord) -> bool:
    return record.name in silence.servers or not set(silence.tags).isdisjoint(record.tags)


def _states(counts: dict[str, int]) -> States:
    return {
        "verified": counts["verified"],
        "failed": counts["failed"],
        "observed_risk": counts["observed_risk"],
        "not_checked": counts["not_checked"],
    }


def _certificate(certificate: model.Certificate, now: datetime) -> Certificate:
    return {
        "not_before": iso(certificate.not_before),
        "not_after": iso(certificate.not_after),
        "days_left": certificate.days_left(now),
        "issuer": certificate.issuer,
        "subject_alt_names": list(certificate.subject_alt_names),
        "version": certificate.version,
        "chain_length": certificate.chain_length,
        "leaf_sha256": certificate.leaf_sha256,
        "serial": certificate.serial,
    }


def incident(item: transitions.Incident) -> Incident:
    """One incident."""
    return {
        "id": item.id,
        "subject": item.subject,
        "value": item.value,
        "opened_at": iso(item.opened_at),
        "acked_at": iso_or_none(item.acked_at),
        "acked_by": item.acked_by,
        "next_reminder_at": iso_or_none(item.next_reminder_at),
    }


def _surface(state: transitions.SubjectState) -> Surface:
    era, credential = surface_of(state.subject)
    return {
        "subject": state.subject,
        "era": era,
        "credential": credential,
        "fingerprint": state.confirmed,
        "since": iso(state.confirmed_since),
        "accepted": state.accepted,
        "pending": state.pending,
    }


def _subject(state: transitions.SubjectState) -> Subject:
    return {
        "value": state.confirmed,
        "since": iso(state.confirmed_since),
        "accepted": state.accepted,
        "pending": state.pending,
        "blocked_by": state.blocked_by,
    }


def _check(state: transitions.SubjectState) -> Check:
    blocked, detail = state.blocked_by, state.detail
    now = _state(state)
    return {
        "id": check_of(state.subject),
        "state": now.value,
        "code": state.blocked_code if blocked else state.confirmed.partition(":")[2] or None,
        "reason": f"blocked by {blocked}" if blocked else detail.get("reason"),
        "since": iso((blocked and state.blocked_since) or state.confirmed_since),
        "accepted": state.accepted,
        "pending": state.pending,
        "blocked_by": blocked,
        "last_known": state.confirmed if blocked else None,
        "observed_at": iso(state.last_observed_at),
        "findings": [] if blocked else list(detail.get("findings", ())),
    }


def _state(state: transitions.SubjectState) -> State:
    """The state that a check is in now; a light run does not look at all, so runs do not tell."""
    return State.NOT_CHECKED if state.blocked_by else State(state.confirmed.partition(":")[0])
