"""Servers on one host: what happens to one often happens to all, and is one message if all are looked at."""

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


class Neighbours:
    """Knows which servers are down, and whom to look at when one goes down or comes back."""

    def __init__(self, clock: Clock) -> None:
        """Nobody is down as far as is known."""
        self._clock = clock
        self._down: set[str] = set()
        self._looked: dict[tuple[str | None, bool], float] = {}
        self._hosts: dict[str, str] = {}

    def configure(self, watched: Mapping[str, Watched]) -> None:
        """Other servers from now on."""
        self._hosts = {name: urlsplit(each.target.url).hostname or name for name, each in watched.items()}
        self._down &= set(watched)

    def to_look_at(self, report: Report, memory: Memory | None) -> list[str]:
        """Whoever is on the host of a server that failed twice in a row, or that answers again.

        Only those that were seen otherwise: well while it fails, down while it answers. ``memory`` is what
        was known before the report.
        """
        server, now = report.server, self._clock.monotonic()
        down = any(result.check in DOORS and result.state is State.FAILED for result in report.results)
        (self._down.add if down else self._down.discard)(server)
        if not (_failed_before(memory) if down else _was_down(memory)):
            return []
        host = self._hosts.get(server)
        others = [
            other
            for other, of in self._hosts.items()
            if of == host and other != server and (other in self._down) != down
        ]
        looked = self._looked.get((host, down))
        if not others or (looked is not None and now - looked < AT_MOST_EVERY_S):
            return []
        self._looked[host, down] = now
        return others[:MOST_AT_ONCE]


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
