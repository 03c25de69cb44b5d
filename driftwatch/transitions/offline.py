"""Whether what many servers show at once is driftwatch's own network. Pure.

Only a server that was well so far says anything: one that has been down for days proves nothing about the
network today. A probe that ended before the first failure proves nothing either.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from driftwatch.model import Report, State
from driftwatch.transitions.memory import Memory
from driftwatch.transitions.subjects import check_subject
from driftwatch.transitions.values import ENDPOINT, state_of

QUORUM = 3
"""Fewer hosts than this that fail at once are an outage of theirs, whatever else is true."""

SHARE = 0.8
"""So many of the hosts have to fail where a canary fails with them; without a canary, every one."""

WITNESSES = 8
"""So many hosts speak for all of them."""

WINDOW = timedelta(minutes=10)
"""Failures further apart than this are no coincidence of one network."""

_NETWORK = frozenset({"dns", "refused", "unreachable", "timeout", "reset", "deadline"})
"""Codes of ``transport/endpoint`` for which nobody needs to have answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """What the last probe of a server says about the way there."""

    host: str
    at: datetime
    """When the probe began."""
    lost: bool
    """It met nothing but the network, and the server was well before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """How many hosts fail at once."""

    since: datetime
    """The first failure."""
    hosts: int
    """The hosts that were looked at since then."""
    lost: int


def unanswered(report: Report) -> bool:
    """Whether a probe met nothing but the network."""
    return not report.reachable and any(
        result.check == ENDPOINT and result.state is State.FAILED and result.code in _NETWORK
        for result in report.results
    )


def was_well(memory: Memory | None) -> bool:
    """Whether a server answered when it was last looked at, or was never looked at."""
    state = memory.states.get(check_subject(ENDPOINT)) if memory else None
    return state is None or state_of(state.confirmed) is not State.FAILED


def cut_of(sights: Iterable[Sight]) -> Cut | None:
    """The failures that are going on; None without any."""
    sights = list(sights)
    since = min((sight.at for sight in sights if sight.lost), default=None)
    if since is None:
        return None
    lost: dict[str, bool] = {}
    for sight in sights:
        if sight.at >= since:
            lost[sight.host] = lost.get(sight.host, True) and sight.lost
    return Cut(since=since, hosts=len(lost), lost=sum(lost.values()))


def suspected(cut: Cut | None, *, hosts: int, canary: bool, offline: bool) -> bool:
    """Whether it may be driftwatch's own network; the canary, where there is one, has the last word.

    ``hosts`` is how many there are that were well: of many, WITNESSES have to be looked at before anything is
    said. ``offline`` says that it was cut off until now: then what is seen of any host is enough.
    """
    if cut is None or cut.lost < cut.hosts * (SHARE if canary else 1):
        return False
    return offline or (cut.lost >= QUORUM and cut.hosts >= min(hosts, WITNESSES))


def recent(sights: Collection[Sight], now: datetime) -> list[Sight]:
    """Without the failures that are older than WINDOW."""
    return [sight for sight in sights if not sight.lost or sight.at > now - WINDOW]


def without_doubt(memory: Memory, before: datetime) -> Memory:
    """The memory without what has been pending since before a time: it was driftwatch's own network."""
    states = {
        subject: replace(state, pending=None, pending_count=0, pending_since=None)
        for subject, state in memory.states.items()
        if state.pending_since is not None and state.pending_since < before
    }
    return replace(memory, states={**memory.states, **states}) if states else memory
