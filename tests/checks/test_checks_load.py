from typing import Any

import pytest

from driftwatch.evidence import Missing
from driftwatch.model import Result, State
from tests.checks.factories import burst, evidence, judged

CHECK = "load/rate-limit"


def of(**changes: Any) -> Result:
    return judged(CHECK, evidence(burst=burst(**{"statuses": ((200, 30),), "retry_after": 0, **changes})))


def test_refusals_with_a_pause_are_verified() -> None:
    result = of(statuses=((200, 20), (429, 10)), retry_after=10)
    assert result.state is State.VERIFIED
    assert result.reason == "10 of 30 requests were refused with 429 and Retry-After"


@pytest.mark.parametrize(
    ("changes", "state", "code"),
    [
        ({}, State.OBSERVED_RISK, "unlimited"),
        ({"statuses": ((200, 20), (429, 10)), "retry_after": 9}, State.OBSERVED_RISK, "no-retry-after"),
        ({"statuses": ((200, 20), (403, 10))}, State.OBSERVED_RISK, "unclear-refusal"),
        ({"errors": 4}, State.OBSERVED_RISK, "unclear-refusal"),
        ({"statuses": ((200, 20), (503, 10))}, State.FAILED, "server-error"),
        ({"statuses": ((200, 20),), "faults": (("timeout", 1),), "sent": 21}, State.FAILED, "hang"),
        ({"statuses": ((200, 20),), "faults": (("reset", 3),), "sent": 23}, State.FAILED, "cut"),
    ],
)
def test_everything_else_is_not(changes: dict[str, Any], state: State, code: str) -> None:
    result = of(**changes)
    assert (result.state, result.code) == (state, code)


def test_the_figures_are_said() -> None:
    (finding,) = of(statuses=((200, 20), (429, 10)), retry_after=9).findings
    assert finding.measured == "20 times HTTP 200, 10 times HTTP 429 in 0.4 s"


def test_without_consent_the_reason_says_what_it_needs() -> None:
    why = Missing("a burst needs the owner's consent (rate_limit.enabled is false)", "no-consent")
    result = judged(CHECK, evidence(burst=why))
    assert (result.state, result.reason) == (State.NOT_CHECKED, why.reason)
