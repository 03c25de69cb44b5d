"""The outgoing heartbeat: a sign of life to a service that misses it, sent only while all is well."""

import logging
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from urllib.parse import urlsplit, urlunsplit

from driftwatch.clock import Clock
from driftwatch.config import Heartbeat as Settings
from driftwatch.errors import StoreError
from driftwatch.store.ports import Store

log = logging.getLogger("driftwatch.service")

LOOK_EVERY = timedelta(seconds=5)
"""How often it is looked whether one is due."""

OVERDUE = timedelta(minutes=5)
"""A server that has been due for so long was passed over: the sweep is not complete."""

STUCK = timedelta(hours=1)
"""A channel whose oldest message has waited for so long tells nobody anything."""

Ping = Callable[[str], Awaitable[str | None]]
"""Fetches an address; None when that was taken, else why not."""


class Heartbeat:
    """Pings the configured address once ``every``, or its ``/fail`` when something is known to be wrong."""

    def __init__(
        self,
        store: Store,
        *,
        settings: Callable[[], Settings],
        storing: Callable[[], bool],
        ping: Ping,
        clock: Clock,
    ) -> None:
        """``storing`` is False while the database refuses what is to be written."""
        self._store = store
        self._settings = settings
        self._storing = storing
        self._ping = ping
        self._clock = clock
        self._tried_at: float | None = None
        self._said: str | None = None
        self.taken_at: datetime | None = None
        """When the last good sign of life was taken."""

    async def run(self) -> None:
        """Send one if it is due. Never raises for the receiver's fault."""
        settings = self._settings()
        now = self._clock.monotonic()
        due = self._tried_at is None or now - self._tried_at >= settings.every.total_seconds()
        if settings.url is None or not due:
            return
        self._tried_at = now
        address = settings.url.get_secret_value()
        try:
            fault, complete = await self._condition()
        except StoreError:
            fault, complete = "the database cannot be used", False
        if fault is None and not complete:
            self._say("no heartbeat: servers are due and were not probed")
            return
        refused = await self._ping(address if fault is None else failing(address))
        if refused is not None:
            self._say(f"the heartbeat was not taken: {refused}")
        elif fault is not None:
            self._say(f"the heartbeat says that something is wrong: {fault}")
        else:
            self.taken_at = self._clock.now()
            self._say(None)

    async def _condition(self) -> tuple[str | None, bool]:
        """What is known to be wrong, and whether every due server was handed out."""
        now = self._clock.now()
        overdue, backlog = await self._store.query(
            lambda reader: (reader.overdue(now - OVERDUE), reader.backlog())
        )
        stuck = [item.channel for item in backlog if now - item.oldest_at > STUCK]
        if not self._storing():
            return "the database refuses writes", False
        if stuck:
            return f"nothing has got through to {', '.join(stuck)} for an hour", False
        return None, overdue == 0

    def _say(self, sentence: str | None) -> None:
        """Log a condition once, until it is another one."""
        if sentence is not None and sentence != self._said:
            log.warning(sentence)
        elif sentence is None and self._said is not None:
            log.info("the heartbeat is taken again")
        self._said = sentence


def failing(address: str) -> str:
    """The address that says "failed", as healthchecks.io has it: ``/fail`` after the path."""
    parts = urlsplit(address)
    return urlunsplit(parts._replace(path=f"{parts.path.rstrip('/')}/fail"))
