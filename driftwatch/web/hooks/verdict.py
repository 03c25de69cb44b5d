"""What became of a release, for whoever waits: words and counts for each server, never a score."""

from collections.abc import Sequence
from http import HTTPStatus

from typing_extensions import TypedDict

from driftwatch.deploys import DeployOutcome
from driftwatch.model import DeployVerdict, Release, State
from driftwatch.views.shape import Moment, described, iso, iso_or_none

_WORST_FIRST = (
    DeployVerdict.UNSETTLED,
    DeployVerdict.FAILED,
    DeployVerdict.INCONCLUSIVE,
    DeployVerdict.BREAKING,
    DeployVerdict.DRIFT,
    DeployVerdict.RISK,
    DeployVerdict.OK,
)
_UNJUDGED = (DeployVerdict.UNSETTLED, DeployVerdict.INCONCLUSIVE)


@described
class ToolsetChange(TypedDict):
    """How the toolset of one server differs from the accepted baseline, by this release or an earlier one."""

    changed: bool
    """It is another one than the one that was accepted when the run began."""
    breaking: bool
    """Existing calls fail."""
    summary: str | None
    """The difference in one line, and since when where it is older than the release."""


@described
class OnServer(TypedDict):
    """What a release did to one server, so far."""

    state: str
    """waiting, settling, settled, unsettled or inconclusive."""
    verdict: str | None
    """ok, risk, drift, breaking, failed, unsettled or inconclusive, once the run is over."""
    counts: dict[str, int] | None
    """How many checks are in each of the four states, once the run is over."""
    toolset: ToolsetChange
    reads: int
    finished_at: Moment | None
    run: str | None
    """The id of the run that decided."""
    events: list[str]
    """The ids of what it had to tell."""


@described
class Deploy(TypedDict):
    """A release and what became of it."""

    deploy: str
    """Its id."""
    status_url: str
    ref: str
    commit: str | None
    environment: str | None
    received_at: Moment
    state: str
    """``under way`` or ``over``."""
    verdict: str | None
    """The worst of all servers, once it is over."""
    gates: list[str]
    """The gates that were asked for."""
    tripped: list[str]
    """Those of them that it does not pass."""
    servers: dict[str, OnServer]


def overall(outcomes: Sequence[DeployOutcome]) -> DeployVerdict | None:
    """The worst word of all servers; None while one of them is under way."""
    verdicts = {outcome.verdict for outcome in outcomes}
    if not verdicts or None in verdicts:
        return None
    return next(verdict for verdict in _WORST_FIRST if verdict in verdicts)


def tripped(outcomes: Sequence[DeployOutcome], gates: Sequence[str]) -> list[str]:
    """The gates that a release does not pass, in the caller's order."""
    return [gate for gate in gates if any(outcome.trips(gate) for outcome in outcomes)]


def status(outcomes: Sequence[DeployOutcome], gates: Sequence[str]) -> HTTPStatus:
    """200 when all is over and passed, 202 while something is under way, 409 when a gate is not passed.

    A tripped gate is told as soon as it is known. What could not be judged passes no gate.
    """
    if tripped(outcomes, gates):
        return HTTPStatus.CONFLICT
    verdict = overall(outcomes)
    if verdict is None:
        return HTTPStatus.ACCEPTED
    unjudged = any(outcome.verdict in _UNJUDGED for outcome in outcomes)
    return HTTPStatus.CONFLICT if gates and unjudged else HTTPStatus.OK


def shown(
    release: Release, outcomes: Sequence[DeployOutcome], gates: Sequence[str], *, status_url: str
) -> Deploy:
    """A release and what is known of it."""
    verdict = overall(outcomes)
    return {
        "deploy": release.id,
        "status_url": status_url,
        "ref": release.ref,
        "commit": release.commit,
        "environment": release.environment,
        "received_at": iso(release.received_at),
        "state": "under way" if verdict is None else "over",
        "verdict": verdict and verdict.value,
        "gates": list(gates),
        "tripped": tripped(outcomes, gates),
        "servers": {outcome.server: _server(outcome) for outcome in outcomes},
    }


def _server(outcome: DeployOutcome) -> OnServer:
    return {
        "state": outcome.state.value,
        "verdict": outcome.verdict and outcome.verdict.value,
        "counts": {state.value: outcome.counts.get(state, 0) for state in State} if outcome.counts else None,
        "toolset": {
            "changed": outcome.changed,
            "breaking": outcome.breaking,
            "summary": outcome.summary or None,
        },
        "reads": outcome.reads,
        "finished_at": iso_or_none(outcome.finished_at),
        "run": outcome.run,
        "events": list(outcome.events),
    }
