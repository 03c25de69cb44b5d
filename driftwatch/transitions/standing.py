"""How a server stands as a whole, for lists of many: counts and one word, never a score (pure)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from driftwatch.model import State
from driftwatch.transitions.memory import SubjectState
from driftwatch.transitions.subjects import check_subject, is_check
from driftwatch.transitions.values import state_of

ROOT = check_subject("transport/endpoint")
"""Where this check is not checked, nobody sees the server."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The checks of one server, summed up."""

    counts: Mapping[State, int]
    """How many checks are in each state now."""
    worst: State
    """failed with any failed check; not_checked where the server cannot be seen; else its worst state."""
    changed_at: datetime | None
    """When a check last got another state or code; None before the first run."""


def standing(states: Iterable[SubjectState]) -> Standing:
    """What is remembered of one server, summed up."""
    counts, changes, blind = dict.fromkeys(State, 0), [], False
    for each in states:
        if is_check(each.subject):
            now = State.NOT_CHECKED if each.blocked_by else state_of(each.confirmed) or State.NOT_CHECKED
            counts[now] += 1
            changes.append(max(each.confirmed_since, each.blocked_since or each.confirmed_since))
            blind = blind or (each.subject == ROOT and now is State.NOT_CHECKED)
    return Standing(counts=counts, worst=_worst(counts, blind=blind), changed_at=max(changes, default=None))


def _worst(counts: Mapping[State, int], *, blind: bool) -> State:
    if counts[State.FAILED]:
        return State.FAILED
    if blind:
        return State.NOT_CHECKED
    seen = (state for state in (State.OBSERVED_RISK, State.VERIFIED) if counts[state])
    return next(seen, State.NOT_CHECKED)
