"""A server, a clock and a scheduler in a few lines: what would be said, and when.

A toolset is a word whose letters are its tools: from ``abc`` to ``ab`` one tool is lost.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from driftwatch.model import (
    DEPTH_CODE,
    Certificate,
    Depth,
    Era,
    Event,
    EventKind,
    Finding,
    Fingerprint,
    Json,
    Report,
    Result,
    Severity,
    State,
    SurfaceSummary,
    Trigger,
)
from driftwatch.toolset import Diff, Toolset, diff
from driftwatch.transitions import (
    Changes,
    Memory,
    Policy,
    ToolsetObservation,
    apply,
    check_subject,
    decide,
    toolset_subject,
)

START = datetime(2026, 3, 1, tzinfo=UTC)
MODERN = toolset_subject(Era.MODERN, "anonymous")
LEGACY = toolset_subject(Era.LEGACY, "anonymous")

ENDPOINT = "transport/endpoint"
CHAIN = "tls/chain"
EXPIRY = "tls/expiry"
PAGINATION = "tools/pagination"
FINGERPRINT = "release/fingerprint"
CATALOGUE = (
    CHAIN,
    EXPIRY,
    ENDPOINT,
    "transport/content-type",
    "session/ended",
    PAGINATION,
    "tool/name-charset",
    "release/replicas",
    FINGERPRINT,
)
AT_A_SHUT_DOOR = ("auth/challenge", "auth/metadata")
"""More checks: what only a shut door shows."""

FULL_ONLY = frozenset({"session/ended", "release/replicas", "auth/metadata"})
BEHIND_ENDPOINT = (
    "transport/content-type",
    "session/ended",
    PAGINATION,
    "tool/name-charset",
    "release/replicas",
)


def toolset(word: str) -> Toolset:
    """One tool per letter, each with a schema of its own."""
    tools = tuple(
        {"name": f"tool_{letter}", "inputSchema": {"type": "object", "properties": {letter: {}}}}
        for letter in word
    )
    return Toolset(tools=tools, instructions=None)


@dataclass(frozen=True, kw_only=True)
class View:
    """What a server shows: checks that are not verified, and its tools."""

    states: Mapping[str, str] = field(default_factory=dict)
    """By check, ``failed:code`` and the like; all others are verified."""
    causes: Mapping[str, str] = field(default_factory=dict)
    """By check, the root that blocks it."""
    tools: Mapping[Era, str] = field(default_factory=lambda: {Era.MODERN: "abc"})
    revisions: Mapping[Era, tuple[str, ...]] = field(default_factory=dict)
    """What is negotiated first, what else is offered after it."""
    leaf: str | None = None
    ends: datetime | None = None
    """The end of the leaf; 60 days from its first probe without one."""

    def but(self, **states: str) -> "View":
        """The same with other states; ``__`` stands for the slash, ``_`` for the dash."""
        named = {check.replace("__", "/").replace("_", "-"): value for check, value in states.items()}
        return replace(self, states={**self.states, **named})

    def offering(self, tools: str, era: Era = Era.MODERN) -> "View":
        return replace(self, tools={**self.tools, era: tools})

    def speaking(self, *revisions: str, era: Era = Era.MODERN) -> "View":
        return replace(self, revisions={**self.revisions, era: revisions})


HEALTHY = View()


def down(code: str = "dns") -> View:
    """A server that nobody reaches."""
    return View(
        states={ENDPOINT: f"failed:{code}"},
        causes=dict.fromkeys((*BEHIND_ENDPOINT, FINGERPRINT), ENDPOINT),
        tools={},
    )


def pair(tools: str, algorithm: str = "dw1") -> str:
    return f"{algorithm}:{tools}.0"


def certificate(leaf: str, not_after: datetime, **other: Json) -> Certificate:
    facts: dict[str, Json] = {"issuer": "CN=Test", "subject_alt_names": ("api.example",), **other}
    return Certificate(
        not_before=not_after - timedelta(days=90),
        not_after=not_after,
        version="TLSv1.3",
        chain_length=2,
        leaf_sha256=leaf,
        serial="01",
        **facts,
    )


def result(check: str, value: str, cause: str | None = None, version: int = 1) -> Result:
    state, _, code = value.partition(":")
    findings: tuple[Finding, ...] = ()
    if state in {State.FAILED, State.OBSERVED_RISK}:
        findings = (
            Finding(
                severity=Severity.WILL_BREAK if state == State.FAILED else Severity.HEADS_UP,
                code=code,
                subject=check,
                message=f"{check} is {value}.",
                expected="verified",
                measured=code,
            ),
        )
    return Result(
        check=check,
        state=State(state),
        code=code or None,
        reason=code if state == State.NOT_CHECKED else None,
        cause=cause,
        version=version,
        findings=findings,
    )


@dataclass
class Timeline:
    """A simulated service that watches one server whose view depends on the time, or on the probe."""

    policy: Policy = field(default_factory=Policy)
    interval: timedelta = timedelta(minutes=15)
    full_interval: timedelta = timedelta(hours=6)
    settings: str = "settings"
    algorithm: str = "dw1"
    versions: dict[str, int] = field(default_factory=dict)
    catalogue: tuple[str, ...] = CATALOGUE
    credential: str = "anonymous"
    unclear: tuple[Era, ...] = ()
    unsettled: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    dates: bool = True
    ends: dict[str, datetime] = field(default_factory=dict)
    now: datetime = START
    memory: Memory | None = None
    events: list[Event] = field(default_factory=list)
    changes: Changes = field(default_factory=Changes)
    made: int = 0
    """Probes so far."""

    def __post_init__(self) -> None:
        self.next_light = self.next_full = self.now

    @property
    def alerts(self) -> list[str]:
        """What was said so far, one line each."""
        return [line(event) for event in self.events if event.alerts]

    def of(self, kind: EventKind) -> list[Event]:
        return [event for event in self.events if event.kind is kind]

    def value(self, subject: str) -> str:
        assert self.memory
        return self.memory.states[subject].confirmed

    def check(self, check: str) -> str:
        return self.value(check_subject(check))

    def probe(
        self, view: View, *, depth: Depth = Depth.FULL, trigger: Trigger = Trigger.INTERVAL
    ) -> list[str]:
        """One probe now: what it makes the service say."""
        self.made += 1
        report = self.report(view, depth, trigger)
        run = f"run-{self.made}"
        changes = self._decide(report, view, run)
        assert changes == self._decide(report, view, run), "a replay says something else"
        self.memory = apply(self.memory, changes, report)
        self.changes = changes
        self.events += changes.events
        return [line(event) for event in changes.events if event.alerts]

    def probes(self, number: int, view: View, **how: Depth | Trigger) -> list[str]:
        """Several probes, half a minute apart."""
        said = []
        for _ in range(number):
            said += self.probe(view, **how)  # type: ignore[arg-type]
            self.now += timedelta(seconds=30)
        return said

    def run(self, lasting: timedelta, world: View | Callable[[datetime], View]) -> list[str]:
        """Let time pass: regular probes, full ones, and the re-probes that were asked for."""
        end = self.now + lasting
        said: list[str] = []
        while True:
            confirm = self.changes.confirm
            due = min(self.next_light, confirm.due_at) if confirm else self.next_light
            if due >= end:
                self.now = end
                return said
            self.now = max(self.now, due)
            regular = self.next_light <= self.now
            depth = Depth.LIGHT
            if (regular and self.next_full <= self.now) or (
                confirm and confirm.due_at <= self.now and confirm.depth is Depth.FULL
            ):
                depth = Depth.FULL
            if regular and depth is Depth.FULL and self.next_full <= self.now:
                self.next_full = self.now + self.full_interval
            if regular:
                self.next_light = self.now + self.interval
            view = world(self.now) if callable(world) else world
            said += self.probe(view, depth=depth, trigger=Trigger.INTERVAL if regular else Trigger.CONFIRM)

    def report(self, view: View, depth: Depth, trigger: Trigger) -> Report:
        return Report(
            driftwatch="0",
            server="api",
            url="https://api.example/mcp",
            taken_at=self.now,
            depth=depth,
            trigger=trigger,
            duration_s=0.1,
            requests=3,
            reachable=True,
            credential=self.credential,
            surfaces=tuple(self._surface(era, tools, view) for era, tools in view.tools.items()),
            certificate=self._certificate(view),
            results=tuple(self._result(check, view, depth) for check in self.catalogue),
        )

    def _decide(self, report: Report, view: View, run: str) -> Changes:
        return decide(
            self.memory,
            report,
            toolsets=self._toolsets(view),
            settings=self.settings,
            policy=self.policy,
            now=self.now,
            run=run,
            unclear=self.unclear,
            dates=self.dates,
            unsettled=self.unsettled,
        )

    def _result(self, check: str, view: View, depth: Depth) -> Result:
        version = self.versions.get(check, 1)
        if check in FULL_ONLY and depth is Depth.LIGHT:
            return result(check, f"not_checked:{DEPTH_CODE}", version=version)
        cause = view.causes.get(check)
        if cause:
            code = view.states.get(cause, "").partition(":")[2] or "unknown"
            return result(check, f"not_checked:{code}", cause, version)
        if check == EXPIRY and view.ends and check not in view.states:
            return result(check, self._lasting(view), version=version)
        if check == FINGERPRINT and check not in view.states:
            return result(check, self._compared(view), version=version)
        return result(check, view.states.get(check, "verified"), version=version)

    def _certificate(self, view: View) -> Certificate | None:
        if view.leaf is None:
            return None
        ends = view.ends or self.ends.setdefault(view.leaf, self.now + timedelta(days=60))
        return certificate(view.leaf, ends)

    def _lasting(self, view: View) -> str:
        """What tls/expiry says: a certificate of 90 days counts from 14 days on."""
        leaf = self._certificate(view)
        if leaf is None:
            return "not_checked:no-certificate"
        if self.now >= leaf.not_after:
            return "failed:expired"
        reached = [days for days in (14, 7, 3, 1) if leaf.days_left(self.now) <= days]
        return f"observed_risk:within-{min(reached)}-days" if reached else "verified"

    def _compared(self, view: View) -> str:
        if not view.tools:
            return "not_checked:no-list"
        known = self.memory.states if self.memory else {}
        states = [
            (known.get(toolset_subject(era, self.credential)), pair(tools, self.algorithm))
            for era, tools in view.tools.items()
        ]
        if all(state is None for state, _ in states):
            return "not_checked:no-baseline"
        drifted = any(state and state.accepted != shown for state, shown in states)
        return "observed_risk:changed" if drifted else "verified"

    def _surface(self, era: Era, tools: str, view: View) -> SurfaceSummary:
        revision, *offered = view.revisions.get(era, ("2026-07-28",))
        contract, surface = pair(tools, self.algorithm).partition(":")[2].split(".")
        fingerprint = Fingerprint(
            algorithm=self.algorithm, contract=contract, surface=surface, checklist=None
        )
        return SurfaceSummary(
            era=era,
            revision=revision,
            supported_versions=tuple(offered),
            tools=len(tools),
            pages=1,
            complete=True,
            server_info=None,
            fingerprint=fingerprint,
        )

    def _toolsets(self, view: View) -> dict[str, ToolsetObservation]:
        known = self.memory.states if self.memory else {}
        observed = {}
        for era, tools in view.tools.items():
            subject = toolset_subject(era, self.credential)
            state = known.get(subject)
            shown = pair(tools, self.algorithm)
            differs = state is not None and state.confirmed != shown
            before = state.confirmed.partition(":")[2].partition(".")[0] if state else ""
            observed[subject] = ToolsetObservation(
                subject=subject,
                pair=shown,
                algorithm=self.algorithm,
                diff=diff(toolset(before), toolset(tools)) if differs else None,
                drift=_drift(state.accepted, tools, shown) if state and state.accepted else None,
            )
        return observed


def _drift(accepted: str, tools: str, shown: str) -> Diff | None:
    before = accepted.partition(":")[2].partition(".")[0]
    return diff(toolset(before), toolset(tools)) if accepted != shown else None


def line(event: Event) -> str:
    """An event in one line: ``error change transport/endpoint verified -> failed:dns``."""
    about = (event.subject or "").removeprefix("check:")
    values = f" {event.before} -> {event.after}" if event.before else ""
    return f"{event.level} {event.kind}{' ' if about else ''}{about}{values}"
