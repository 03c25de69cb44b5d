"""What a release did to one server, for whoever waits for it. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from driftwatch.model import DeployState, DeployVerdict, Level, State

GATES = ("failed", "drift", "breaking", "risk")
"""What a waiting caller may refuse to go on with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployOutcome:
    """What is known of a release on one server, so far."""

    release: str
    """The release's id."""
    server: str
    run_release: str
    """The release whose run looked: a newer announcement takes along those that still wait."""
    state: DeployState
    verdict: DeployVerdict | None = None
    """None until the run is over."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many checks are in each of the four states, once the run is over."""
    changed: bool = False
    """The toolset is another one than the one that was accepted when the run began."""
    breaking: bool = False
    """That difference fails existing calls."""
    summary: str = ""
    """That difference in one line, and since when where it is older; empty where there is none."""
    level: Level | None = None
    """The worst severity of what the run had to tell; None when it had nothing."""
    reads: int = 0
    finished_at: datetime | None = None
    run: str | None = None
    """The last run, which decided."""
    events: tuple[str, ...] = ()

    def trips(self, gate: str) -> bool:
        """Whether a gate of GATES is tripped.

        A deploy that is unfinished or could not be read trips none, nor does one that has not settled: what
        its last answer shows may be gone with the next.
        """
        if self.state is DeployState.UNSETTLED:
            return False
        failed, risk = (self.counts.get(state, 0) > 0 for state in (State.FAILED, State.OBSERVED_RISK))
        return {
            "failed": failed,
            "risk": failed or risk,
            "drift": self.changed,
            "breaking": self.breaking,
        }[gate]


def verdict(
    state: DeployState, *, counts: Mapping[str, int], changed: bool = False, breaking: bool = False
) -> DeployVerdict:
    """The word for a run that is over: what hurts most, first."""
    if state is DeployState.UNSETTLED:
        return DeployVerdict.UNSETTLED
    if counts.get(State.FAILED, 0):
        return DeployVerdict.FAILED
    if state is DeployState.INCONCLUSIVE:
        return DeployVerdict.INCONCLUSIVE
    if changed:
        return DeployVerdict.BREAKING if breaking else DeployVerdict.DRIFT
    return DeployVerdict.RISK if counts.get(State.OBSERVED_RISK, 0) else DeployVerdict.OK
