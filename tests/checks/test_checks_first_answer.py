"""How long the first answer takes, and whether initialize negotiates."""

import pytest

from driftwatch.evidence import Exchange
from driftwatch.model import Era, Result, State
from tests.checks.factories import (
    answered,
    evidence,
    exchange,
    fault,
    judged,
    opening,
    refused,
    shut,
    surface,
)


def waited(*attempts: Exchange) -> Result:
    seen = evidence(surface(Era.LEGACY), openings=(opening(Era.LEGACY, *attempts),))
    return judged("timeouts/first-answer", seen)


@pytest.mark.parametrize(
    ("seconds", "state"), [(0.1, State.VERIFIED), (5.0, State.VERIFIED), (5.1, State.OBSERVED_RISK)]
)
def test_five_seconds_is_what_clients_wait(seconds: float, state: State) -> None:
    assert waited(answered("initialize", first_byte_s=seconds)).state is state


def test_a_first_try_that_timed_out_counts_although_the_second_is_quick() -> None:
    timeout = exchange("initialize", None, fault=fault("timeout"), first_byte_s=None, duration_s=20.0)
    result = waited(timeout, answered("initialize"))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "slow")
    assert result.findings[0].measured == "none in 20.0 s, at the first try"


def test_another_fault_at_the_first_try_is_no_slowness() -> None:
    reset = exchange("initialize", None, fault=fault("reset"), first_byte_s=None, duration_s=9.0)
    assert waited(reset, answered("initialize")).state is State.VERIFIED


def test_the_era_that_a_server_does_not_speak_may_be_slow_to_refuse() -> None:
    slow = refused("server/discover", 400)
    openings = (opening(Era.MODERN, slow, established=False), opening(Era.LEGACY))
    assert judged("timeouts/first-answer", evidence(surface(), openings=openings)).state is State.VERIFIED


def test_an_unreachable_server_is_not_slow() -> None:
    result = judged("timeouts/first-answer", shut("refused"))
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, "refused", "transport/endpoint")


def negotiated(*attempts: Exchange, revision: str = "2025-06-18") -> Result:
    seen = evidence(surface(Era.LEGACY, revision=revision), openings=(opening(Era.LEGACY, *attempts),))
    return judged("mcp/negotiation", seen)


def test_an_older_revision_that_is_offered_is_negotiation() -> None:
    assert negotiated(answered("initialize")).state is State.VERIFIED


def test_a_revision_that_is_refused_is_a_risk_and_names_whose_newest_it_is() -> None:
    retried = exchange("initialize", label="initialize:2025-03-26")
    result = negotiated(refused("initialize", 400, -32602), retried, revision="2025-03-26")
    assert (result.state, result.code) == (State.OBSERVED_RISK, "refused")
    (found,) = result.findings
    assert found.measured == "HTTP 400, error -32602"
    assert found.clients == ("Claude.ai", "ChatGPT", "Claude Code")


@pytest.mark.parametrize("suffix", ["again", "json-only", "redirected"])
def test_other_attempts_are_no_refusal_of_a_revision(suffix: str) -> None:
    retried = exchange("initialize", label=f"initialize:{suffix}")
    assert negotiated(refused("initialize", 503), retried).state is State.VERIFIED


def test_a_server_without_initialize_negotiates_nothing() -> None:
    assert judged("mcp/negotiation", evidence(surface(Era.MODERN))).code == "not-applicable"
