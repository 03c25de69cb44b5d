"""What became of a release, for whoever waits: words and counts for each server, never a score. Pure."""

from collections.abc import Sequence
from http import HTTPStatus

from driftwatch.deploys import DeployOutcome
from driftwatch.model import DeployVerdict, Json, Release, State

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


def to_json(release: Release, outcomes: Sequence[DeployOutcome], gates: Sequence[str]) -> dict[str, Json]:
    """The release and what is known of it, as JSON."""
    verdict = overall(outcomes)
    return {
        "deploy": release.id,
        "ref": release.ref,
        "commit": release.commit,
        "environment": release.environment,
        "received_at": release.received_at.isoformat(),
        "state": "under way" if verdict is None else "over",
        "verdict": verdict,
        "gates": list(gates),
        "tripped": tripped(outcomes, gates),
        "servers": {outcome.server: _server(outcome) for outcome in outcomes},
    }


def _server(outcome: DeployOutcome) -> dict[str, Json]:
    return {
        "state": outcome.state,
        "verdict": outcome.verdict,
        "counts": {state.value: outcome.counts.get(state, 0) for state in State} if outcome.counts else None,
        "toolset": {
            "changed": outcome.changed,
            "breaking": outcome.breaking,
            "summary": outcome.summary or None,
        },
        "reads": outcome.reads,
        "finished_at": outcome.finished_at and outcome.finished_at.isoformat(),
        "run": outcome.run,
        "events": list(outcome.events),
    }
