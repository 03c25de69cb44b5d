"""The words that every room shares, as types.

Nothing here does anything: these are the frozen values that travel along the arrows
``probe -> Evidence -> checks -> Report -> transitions -> store -> alerts``.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, TypeAlias

Json: TypeAlias = Any
"""A decoded JSON value: None, bool, int, float, str, list or dict with str keys."""


class State(StrEnum):
    """The state of a check. There are four, and there is never a score."""

    VERIFIED = "verified"
    FAILED = "failed"
    OBSERVED_RISK = "observed_risk"
    NOT_CHECKED = "not_checked"

    @property
    def words(self) -> str:
        """The state as people read it: ``observed risk`` instead of ``observed_risk``."""
        return self.value.replace("_", " ")


class Severity(StrEnum):
    """How much a finding hurts, in the words of the checks reference."""

    WILL_BREAK = "will break"
    HEADS_UP = "heads up"
    NOTE = "note"

    @property
    def state(self) -> State:
        """The state that one finding of this severity gives to its check."""
        return State.FAILED if self is Severity.WILL_BREAK else State.OBSERVED_RISK


class Era(StrEnum):
    """The three ways in which an MCP server can be spoken to over HTTP."""

    MODERN = "modern"
    LEGACY = "legacy"
    HTTP_SSE = "http+sse"


class Depth(StrEnum):
    """How much one probe asks: the handshake and the list, or the deliberate bad requests too."""

    LIGHT = "light"
    FULL = "full"


class Trigger(StrEnum):
    """Why a probe was made."""

    INTERVAL = "interval"
    DEPLOY = "deploy"
    CONFIRM = "confirm"
    MANUAL = "manual"


class Level(StrEnum):
    """The severity of an event, by which channels filter."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Zero for info, two for error."""
        return list(Level).index(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that a check holds against a server."""

    severity: Severity
    code: str
    """Stable and persisted: alerts compare codes, never messages."""
    subject: str
    """What it is about: a tool's name, a header, a method; never a list."""
    message: str
    """One sentence for a person; foreign text in it is not neutralised yet."""
    expected: str
    measured: str
    era: Era | None = None
    """The surface it was seen on, set by the runner; None where eras do not matter."""
    pointer: str | None = None
    """A JSON pointer into the subject."""
    clients: tuple[str, ...] = ()
    """The clients that are hurt, by name."""

    def to_json(self) -> dict[str, Json]:
        """The finding as reports, remembered states and events carry it, field by field."""
        return {
            "severity": self.severity.value,
            "code": self.code,
            "era": self.era.value if self.era else None,
            "subject": self.subject,
            "pointer": self.pointer,
            "message": self.message,
            "expected": self.expected,
            "measured": self.measured,
            "clients": list(self.clients),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """The outcome of one check on one probe."""

    check: str
    state: State
    version: int = 1
    """The version of the check's declaration."""
    code: str | None = None
    """The code of the worst finding, or why it was not checked; None for a plain verified."""
    reason: str | None = None
    """Always there for not_checked; a remark otherwise."""
    cause: str | None = None
    """The id of the root check that blocks this one; only with not_checked."""
    findings: tuple[Finding, ...] = ()


DEPTH_CODE = "depth"
"""The reserved code of a check that this probe's depth does not exercise; transitions ignore it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """The digests of one complete tool list; it does not exist for anything less."""

    algorithm: str
    """The canonical form's name and version, such as ``dw1``."""
    contract: str
    """Hex SHA-256 over names and input schemas."""
    surface: str
    """Hex SHA-256 over everything else that a model reads."""
    checklist: str | None
    """What the launch checklist's jq line prints; None where jq versions disagree."""

    @property
    def pair(self) -> str:
        """The baseline's name, ``dw1:<contract>.<surface>``."""
        return f"{self.algorithm}:{self.contract}.{self.surface}"

    @property
    def short(self) -> str:
        """The pair as people read it, and as ``accept`` takes it."""
        return f"{self.algorithm}:{self.contract[:8]}.{self.surface[:8]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceSummary:
    """What a report says about one surface."""

    era: Era
    revision: str
    tools: int
    pages: int
    complete: bool
    server_info: Json
    fingerprint: Fingerprint | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The leaf certificate of a probe's connection, as a report and the reminders need it."""

    not_before: datetime
    not_after: datetime
    issuer: str
    subject_alt_names: tuple[str, ...]
    version: str | None
    """The TLS version, such as ``TLSv1.3``; None when the handshake did not finish."""
    chain_length: int
    """How many certificates the server sent."""
    leaf_sha256: str
    serial: str

    def days_left(self, at: datetime) -> int:
        """Whole days until the certificate ends, rounded down; negative once it has ended."""
        return (self.not_after - at) // _DAY


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One probe, judged: every check of the catalogue once, in catalogue order."""

    driftwatch: str
    server: str
    url: str
    taken_at: datetime
    depth: Depth
    trigger: Trigger
    duration_s: float
    requests: int
    reachable: bool
    """True when any HTTP answer came back from the configured URL over an acceptable connection."""
    credential: str
    """The label of the credential the probe carried; ``anonymous`` without one."""
    surfaces: tuple[SurfaceSummary, ...]
    certificate: Certificate | None
    results: tuple[Result, ...]

    def result(self, check: str) -> Result:
        """The result of one check. Raises KeyError for an id that is not in the report."""
        for result in self.results:
            if result.check == check:
                return result
        raise KeyError(check)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeRequest:
    """One probe that is to be made: plain, self-contained, no secrets, so that any queue can carry it."""

    server: str
    """The server's name."""
    due_at: datetime
    trigger: Trigger
    depth: Depth
    priority: int = 0
    """Higher goes first."""
    release_ref: str | None = None
    """The id of the release behind a deploy's probe."""
    config_revision: str = ""
    attempt: int = 1

    def to_json(self) -> dict[str, Json]:
        """The request as a JSON object."""
        return {
            "server": self.server,
            "due_at": self.due_at.isoformat(),
            "trigger": self.trigger.value,
            "depth": self.depth.value,
            "priority": self.priority,
            "release_ref": self.release_ref,
            "config_revision": self.config_revision,
            "attempt": self.attempt,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> "ProbeRequest":
        """Read what to_json wrote. Raises KeyError or ValueError for anything else."""
        return cls(
            server=value["server"],
            due_at=datetime.fromisoformat(value["due_at"]),
            trigger=Trigger(value["trigger"]),
            depth=Depth(value["depth"]),
            priority=value["priority"],
            release_ref=value["release_ref"],
            config_revision=value["config_revision"],
            attempt=value["attempt"],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One deploy, as a webhook announced it; all texts are foreign."""

    id: str
    ref: str
    """What its people call it: a tag, a version, a branch."""
    received_at: datetime
    servers: tuple[str, ...]
    """The names of the servers that it went to."""
    previous_ref: str | None = None
    commit: str | None = None
    link: str | None = None
    actor: str | None = None
    environment: str | None = None
    expect_change: bool = False
    """A change of the toolset is no surprise: it is told as info, and accepted like any other."""


class DeployState(StrEnum):
    """Where the run after a release is, for one server."""

    WAITING = "waiting"
    SETTLING = "settling"
    """Read, and not often enough alike yet."""
    SETTLED = "settled"
    UNSETTLED = "unsettled"
    """Answers still differed when the time was up."""
    INCONCLUSIVE = "inconclusive"
    """The server could not be read when the time was up, or is not watched any more."""

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self not in {DeployState.WAITING, DeployState.SETTLING}


class DeployVerdict(StrEnum):
    """What a release did to one server, in one word for whoever waits; never a score."""

    OK = "ok"
    DRIFT = "drift"
    """The toolset changed, and existing callers keep working."""
    BREAKING = "breaking"
    FAILED = "failed"
    """A check is failed now."""
    RISK = "risk"
    """No check is failed, and one is an observed risk."""
    UNSETTLED = "unsettled"
    INCONCLUSIVE = "inconclusive"


class EventKind(StrEnum):
    """What happened. Names are persisted; never reuse one."""

    BASELINE = "baseline"
    """A server was seen for the first time."""
    ADDED_WITH_PROBLEMS = "added_with_problems"
    """The first observation already has failed checks: said once, so that it is not buried."""
    CHANGE = "change"
    """A check's confirmed state or code changed, not for the better."""
    RECOVERY = "recovery"
    """A check is verified again, or as good as it was accepted."""
    COVERAGE_LOST = "coverage_lost"
    COVERAGE_BACK = "coverage_back"
    TOOLSET_CHANGED = "toolset_changed"
    TOOLSET_RETURNED = "toolset_returned"
    """The toolset is again one that was confirmed before."""
    ERA_CHANGED = "era_changed"
    BLIP = "blip"
    """A change that was gone before it was confirmed; history only."""
    REBASED = "rebased"
    """Results moved because driftwatch or the server's settings changed; history only."""
    FLAPPING = "flapping"
    SETTLED = "settled"
    UNSETTLED = "unsettled"
    DEPLOYED = "deployed"
    """The run after a release is over; told only where a release that changes nothing is news."""
    TLS_REMINDER = "tls_reminder"
    TLS_RENEWED = "tls_renewed"
    REMINDER = "reminder"
    ACCEPTED = "accepted"
    ACKED = "acked"
    SILENCED = "silenced"
    UNSILENCED = "unsilenced"
    SERVER_ADDED = "server_added"
    SERVER_REMOVED = "server_removed"
    SERVER_RENAMED = "server_renamed"
    CONFIG_RELOADED = "config_reloaded"
    """Another configuration is in force; history only."""
    CONFIG_REJECTED = "config_rejected"
    """The configuration file was changed and is wrong: what was in force before stays so."""
    MONITOR_GAP = "monitor_gap"
    MONITOR_OFFLINE = "monitor_offline"
    CLOCK_STEP = "clock_step"
    STORAGE_FAULT = "storage_fault"
    DELIVERY_DEAD = "delivery_dead"
    TEST = "test"
    """`driftwatch notify test` asked for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened, as it is stored and written about."""

    id: str
    """A UUID; stable for one run and subject, so that a replay names the same event."""
    server: str | None
    """None for events about driftwatch itself."""
    kind: EventKind
    level: Level
    alerts: bool
    """False for what belongs into the history only."""
    at: datetime
    run: str | None
    """The run that confirmed it."""
    subject: str | None = None
    """``check:<id>`` or ``toolset:<era>:<credential>``."""
    before: str | None = None
    """The old value of the subject, such as ``verified`` or ``failed:dns``."""
    after: str | None = None
    since: datetime | None = None
    """When the new value was first seen, before it was confirmed; for a recovery, when the incident began."""
    details: Mapping[str, Json] = field(default_factory=dict)
    """What compose needs to explain it; its shape per kind is documented in transitions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """A stretch of time in which what matches is recorded and told only if it is still so afterwards."""

    id: str
    """A UUID; people may shorten it."""
    servers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """It is about the servers that are named, and those with any of these tags."""
    checks: tuple[str, ...] = ()
    """Ids of checks, a toolset's change being ``release/fingerprint``; empty for everything."""
    starts_at: datetime
    ends_at: datetime
    reason: str
    created_by: str
    lifted_at: datetime | None = None
    """When somebody ended it before its time."""

    @property
    def over_at(self) -> datetime:
        """When it ends, or ended."""
        return min(self.ends_at, self.lifted_at) if self.lifted_at else self.ends_at

    def in_force(self, now: datetime) -> bool:
        """Whether it holds at this moment."""
        return self.starts_at <= now < self.over_at


_DAY = datetime(2000, 1, 2) - datetime(2000, 1, 1)  # noqa: DTZ001 - only the difference is used
