"""What a tool list says while instances may answer in turn, or while it changes at every read."""

from driftwatch.model import Depth, Result, State
from driftwatch.transitions.confirmation import NO_WAIT
from driftwatch.transitions.ledger import Ledger
from driftwatch.transitions.memory import SubjectState
from driftwatch.transitions.values import CHANGES, LISTS_DIFFER, REPLICAS, STABLE_LISTING, check_subject


def decides(ledger: Ledger) -> bool:
    """Whether this report may confirm what only several reads of one list can tell from chance."""
    policy = ledger.policy
    return ledger.report.depth is Depth.FULL or policy.confirm == 1 or not policy.confirm_delays


def in_turn(ledger: Ledger) -> bool:
    """Whether several lists answer in turn, as far as is known: then none of them is a change."""
    return _is_or_may_be(ledger, REPLICAS, LISTS_DIFFER)


def restless(ledger: Ledger) -> bool:
    """Whether a light probe says nothing about a list: another one answers, or it changes every time."""
    return in_turn(ledger) or _is_or_may_be(ledger, STABLE_LISTING, CHANGES)


def needed(ledger: Ledger, subject: str) -> int:
    """How many observations must agree; instances that differ may agree a few times by chance."""
    state = ledger.state(subject)
    return ledger.policy.confirm * (2 if state is not None and state.confirmed in LISTS_DIFFER else 1)


def agrees_by_chance(ledger: Ledger, state: SubjectState, result: Result) -> bool:
    """Whether instances that differed a moment ago may be the same ones still, although they agree now."""
    if state.pending not in LISTS_DIFFER or state.pending_since is None:
        return False
    moment = 2 * max(ledger.policy.confirm_delays, default=NO_WAIT)
    return result.state is State.VERIFIED and ledger.at - state.pending_since <= moment


def _is_or_may_be(ledger: Ledger, check: str, values: frozenset[str]) -> bool:
    state = ledger.state(check_subject(check))
    return state is not None and not values.isdisjoint({state.confirmed, state.pending})
