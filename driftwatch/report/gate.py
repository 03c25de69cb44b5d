"""What lets a build pass: which results count, and the exit code that they make."""

from collections.abc import Collection

from driftwatch.fail_on import FailOn
from driftwatch.model import Report, Result, State
from driftwatch.report.baseline import Comparison

FINGERPRINT = "release/fingerprint"
ENDPOINT = "transport/endpoint"


def counting(
    report: Report, fail_on: Collection[FailOn], comparison: Comparison | None = None
) -> frozenset[str]:
    """The ids of the checks that count against the server.

    A difference from the accepted toolset, or from the baseline's, counts as ``release/fingerprint``.
    """
    found = {result.check for result in report.results if _counts(result, fail_on)}
    if report.result(FINGERPRINT).state is State.OBSERVED_RISK or (comparison and comparison.toolset_changed):
        found.add(FINGERPRINT)
    if comparison is not None and FailOn.DRIFT in fail_on:
        found.update(change.check for change in comparison.checks if change.worse)
    return frozenset(found)


def exit_code(report: Report, counted: Collection[str]) -> int:
    """0 fine, 1 something counts against the server, 3 it could not be checked."""
    if counted:
        return 1
    return 0 if report.reachable else 3


def _counts(result: Result, fail_on: Collection[FailOn]) -> bool:
    match result.state:
        case State.FAILED:
            return not set(fail_on) <= {FailOn.DRIFT}
        case State.OBSERVED_RISK:
            return FailOn.RISK in fail_on
        case State.NOT_CHECKED:
            hindered = result.cause is not None or result.check == ENDPOINT
            return hindered and FailOn.NOT_CHECKED in fail_on
        case State.VERIFIED:
            return False
