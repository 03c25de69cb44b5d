"""Checks that can be judged only while a root's trouble lasts, such as how a shut door refuses.

They come and go with that trouble, and are told with it: a message, an incident or a flapping of their own
would say one thing twice.
"""

from driftwatch.model import DEPTH_CODE, Json, Result, State
from driftwatch.transitions.causes import Causes
from driftwatch.transitions.ledger import Ledger
from driftwatch.transitions.memory import SubjectState
from driftwatch.transitions.subjects import check_of, check_subject
from driftwatch.transitions.values import DOORS, NOT_APPLICABLE, state_of, value_of


def explained_by(ledger: Ledger, result: Result, causes: Causes) -> SubjectState | None:
    """The root that explains why a check is judged now and was not, or is judged no more."""
    state = ledger.state(check_subject(result.check))
    if state is None or not _may_follow(state, result, causes):
        return None
    for check in dict.fromkeys((*causes.blocks, *ledger.blocking, *DOORS)):
        root = ledger.state(check_subject(check))
        if root is not None and _explains(ledger, root, state, result, causes):
            return root
    return None


def shown_by(ledger: Ledger, root: SubjectState, causes: Causes) -> list[Json]:
    """What is seen only because of a root's trouble, or was seen until its end, as result JSON."""
    found: list[Json] = []
    for result in ledger.report.results:
        state = ledger.state(check_subject(result.check))
        if (
            state is not None
            and _may_follow(state, result, causes)
            and _explains(ledger, root, state, result, causes)
        ):
            found.append(result_json(result) if _is_judged(value_of(result)) else dict(state.detail))
    return found


def result_json(result: Result) -> dict[str, Json]:
    """A result as states and events carry it: the fields of ``model.Result``."""
    return {
        "check": result.check,
        "state": result.state.value,
        "version": result.version,
        "code": result.code,
        "reason": result.reason,
        "cause": result.cause,
        "findings": [finding.to_json() for finding in result.findings],
    }


def _may_follow(state: SubjectState, result: Result, causes: Causes) -> bool:
    value = value_of(result)
    return (
        state.accepted is not None
        and (state.blocked_by is None or state.blocked_by in {*causes.blocks, *DOORS})
        and result.check not in causes.blocks
        and causes.root(result) is None
        and result.code != DEPTH_CODE
        and _is_judged(value) is not _is_judged(state.confirmed)
        and NOT_APPLICABLE not in {value, state.confirmed}
    )


def _explains(
    ledger: Ledger, root: SubjectState, state: SubjectState, result: Result, causes: Causes
) -> bool:
    check = check_of(root.subject)
    if _is_judged(value_of(result)):
        value, began = root.confirmed, root.confirmed_since
        if root.pending is not None and root.pending_since is not None:
            value, began = root.pending, root.pending_since
        # A door that was shut when it was first seen explains nothing that changes later.
        return check in causes.blocks and value != root.accepted and began >= state.confirmed_since
    if check in causes.blocks:
        return False
    as_accepted = value_of(result) == state.accepted and ledger.incident(state.subject) is None
    if check == state.blocked_by:
        # An outage came between the trouble and its end.
        return as_accepted
    if check in ledger.blocking:
        return ledger.memory.states[root.subject].confirmed_since <= state.confirmed_since
    # The trouble may have ended in a probe that was too light to see this.
    over = state_of(root.confirmed) is State.VERIFIED and root.confirmed_since > state.last_observed_at
    return check in DOORS and over and as_accepted


def _is_judged(value: str) -> bool:
    return state_of(value) is not State.NOT_CHECKED
