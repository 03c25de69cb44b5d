import pytest

from driftwatch.deploys import GATES, DeployOutcome, verdict
from driftwatch.model import DeployState, DeployVerdict

SETTLED, UNSETTLED, INCONCLUSIVE = DeployState.SETTLED, DeployState.UNSETTLED, DeployState.INCONCLUSIVE
FINE, RISKY, BROKEN = {"verified": 40}, {"verified": 39, "observed_risk": 1}, {"verified": 39, "failed": 1}


@pytest.mark.parametrize(
    ("state", "counts", "changed", "breaking", "expected"),
    [
        (SETTLED, FINE, False, False, DeployVerdict.OK),
        (SETTLED, RISKY, False, False, DeployVerdict.RISK),
        (SETTLED, FINE, True, False, DeployVerdict.DRIFT),
        (SETTLED, RISKY, True, False, DeployVerdict.DRIFT),
        (SETTLED, FINE, True, True, DeployVerdict.BREAKING),
        (SETTLED, BROKEN, True, True, DeployVerdict.FAILED),
        (SETTLED, BROKEN, False, False, DeployVerdict.FAILED),
        (UNSETTLED, BROKEN, True, True, DeployVerdict.UNSETTLED),
        (INCONCLUSIVE, BROKEN, False, False, DeployVerdict.FAILED),
        (INCONCLUSIVE, RISKY, False, False, DeployVerdict.INCONCLUSIVE),
        (INCONCLUSIVE, {}, False, False, DeployVerdict.INCONCLUSIVE),
    ],
)
def test_the_word_is_for_what_hurts_most(
    state: DeployState, counts: dict[str, int], *, changed: bool, breaking: bool, expected: DeployVerdict
) -> None:
    assert verdict(state, counts=counts, changed=changed, breaking=breaking) is expected


@pytest.mark.parametrize(
    ("counts", "changed", "breaking", "tripped"),
    [
        (FINE, False, False, set()),
        (RISKY, False, False, {"risk"}),
        (BROKEN, False, False, {"failed", "risk"}),
        (FINE, True, False, {"drift"}),
        (FINE, True, True, {"drift", "breaking"}),
        (BROKEN, True, True, {"failed", "risk", "drift", "breaking"}),
        ({}, False, False, set()),
    ],
)
def test_a_gate_is_tripped_by_what_it_names(
    counts: dict[str, int], *, changed: bool, breaking: bool, tripped: set[str]
) -> None:
    outcome = DeployOutcome(
        release="r",
        server="api",
        run_release="r",
        state=SETTLED,
        counts=counts,
        changed=changed,
        breaking=breaking,
    )
    assert {gate for gate in GATES if outcome.trips(gate)} == tripped


def test_what_has_not_settled_is_not_judged() -> None:
    outcome = DeployOutcome(
        release="r",
        server="api",
        run_release="r",
        state=UNSETTLED,
        counts=BROKEN,
        changed=True,
        breaking=True,
    )
    assert not any(map(outcome.trips, GATES))


@pytest.mark.parametrize("state", list(DeployState))
def test_waiting_and_settling_go_on(state: DeployState) -> None:
    assert state.over == (state in {SETTLED, UNSETTLED, INCONCLUSIVE})
