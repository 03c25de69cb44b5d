"""Whom to look at when a server goes down or comes back: what happens to one often happens to others.

Servers on its host, and all of them when several hosts go the same way: a network, a provider, a name server.
That is one message if all are looked at.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

from driftwatch.clock import Clock
from driftwatch.model import Report, State
from driftwatch.observe.watched import Watched
from driftwatch.transitions import Memory, check_subject
from driftwatch.transitions.values import DOORS, state_of

AT_MOST_EVERY_S = 900.0
"""How often the servers of a host are looked at for this, each way: some that go up and down are no storm."""

MOST_AT_ONCE = 50
"""How many of them; the others are looked at when their turn comes."""

SEVERAL_HOSTS = 3
"""So many hosts that go the same way"""

LATELY_S = 600.0
"""within so long are looked at as one thing that happens."""


class Neighbours:
    """Knows which servers are down, and whom to look at when one goes down or comes back."""

    def __init__(self, clock: Clock) -> None:
        """Nobody is down as far as is known."""
        self._clock = clock
        self._down: set[str] = set()
        self._looked: dict[tuple[str | None, bool], float] = {}
        self._hosts: dict[str, str] = {}
        self._turned: dict[str, tuple[bool, float]] = {}
        """Which way each host went last, True for down, and when."""

    def configure(self, watched: Mapping[str, Watched]) -> None:
        """Other servers from now on."""
        self._hosts = {name: urlsplit(each.target.url).hostname or name for name, each in watched.items()}
        self._down &= set(watched)
        hosts = set(self._hosts.values())
        self._turned = {host: turned for host, turned in self._turned.items() if host in hosts}

    def to_look_at(self, report: Report, memory: Memory | None) -> list[str]:
        """Whoever is on the host of a server that failed twice in a row, or that answers again.

        Everybody, where several hosts went the same way lately. Only those that were seen otherwise: well
        while it fails, down while it answers. ``memory`` is what was known before the report.
        """
        server, now = report.server, self._clock.monotonic()
        down = any(result.check in DOORS and result.state is State.FAILED for result in report.results)
        (self._down.add if down else self._down.discard)(server)
        if not (_failed_before(memory) if down else _was_down(memory)):
            return []
        host = self._hosts.get(server)
        if host is not None:
            self._turned[host] = (down, now)
        others = [other for other in self._hosts if other != server and (other in self._down) != down]
        together = [other for other in others if self._hosts[other] == host]
        if self._several_went(down=down, now=now) and self._may_look(None, down=down, now=now):
            return others[:MOST_AT_ONCE]
        if together and self._may_look(host, down=down, now=now):
            return together[:MOST_AT_ONCE]
        return []

    def _several_went(self, *, down: bool, now: float) -> bool:
        lately = [way for way, at in self._turned.values() if now - at < LATELY_S]
        return lately.count(down) >= SEVERAL_HOSTS

    def _may_look(self, host: str | None, *, down: bool, now: float) -> bool:
        """Whether it is time to look at a host, or at all of them; from now on it is not for a while."""
        looked = self._looked.get((host, down))
        if looked is not None and now - looked < AT_MOST_EVERY_S:
            return False
        self._looked[host, down] = now
        return True


def _was_down(memory: Memory | None) -> bool:
    return any(state_of(confirmed) is State.FAILED for confirmed, _ in _doors(memory))


def _failed_before(memory: Memory | None) -> bool:
    """Whether an outage is in doubt: the last report was the first that showed it."""
    in_doubt = any(pending and state_of(pending) is State.FAILED for _, pending in _doors(memory))
    return in_doubt and not _was_down(memory)


def _doors(memory: Memory | None) -> list[tuple[str, str | None]]:
    """What is confirmed and what is pending of all that decides whether there is a way in."""
    states = [memory.states.get(check_subject(check)) for check in DOORS] if memory else []
    return [(state.confirmed, state.pending) for state in states if state]
