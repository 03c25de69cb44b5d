"""driftwatch's own network: while it is out of order, nothing is concluded about anybody."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from driftwatch.alerts.route import ChannelRule, plan
from driftwatch.clock import Clock
from driftwatch.model import Depth, Event, EventKind, Level, ProbeRequest, Report, Trigger
from driftwatch.store.ports import Store, Tx
from driftwatch.transitions.memory import Memory
from driftwatch.transitions.offline import (
    QUORUM,
    WITNESSES,
    Cut,
    Sight,
    cut_of,
    recent,
    suspected,
    unanswered,
    was_well,
    without_doubt,
)

log = logging.getLogger("driftwatch.service")

AGAIN = timedelta(minutes=1)
"""When a probe is made again that said nothing; also how often others are hurried because one failed."""

CANARY_HOLDS_S = 10.0
"""How long what the canary said is believed."""

Canary = Callable[[], Awaitable[bool]]
"""Whether the address that is always up answers now."""


class NetworkGuard:
    """Knows the last sight of every server, and whether driftwatch itself is cut off.

    That it is cut off is an event, so a restart in the middle of it changes nothing.
    """

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        hosts: Mapping[str, str],
        channels: Sequence[ChannelRule] = (),
        group_wait: timedelta = timedelta(0),
        canary: Canary | None = None,
        told: Callable[[], None] = lambda: None,
    ) -> None:
        """``hosts`` has the host name of every configured server."""
        self._store = store
        self._clock = clock
        self._told = told
        self._lock = asyncio.Lock()
        self._sights: dict[str, Sight] = {}
        self._down: set[str] = set()
        """Servers that are known to be down: they say nothing about the network."""
        self._restored = False
        self._offline_since: datetime | None = None
        self.over_at: datetime | None = None
        """When it was last over; None while it goes on, and where it never was."""
        self._hurried_at: float | None = None
        self._canary_said: tuple[float, bool] | None = None
        self.configure(hosts=hosts, channels=channels, group_wait=group_wait, canary=canary)

    def configure(
        self,
        *,
        hosts: Mapping[str, str],
        channels: Sequence[ChannelRule],
        group_wait: timedelta,
        canary: Canary | None,
    ) -> None:
        """Other servers and channels from now on; what is no longer configured says nothing any more."""
        self._hosts = hosts
        self._channels = tuple(channels)
        self._group_wait = group_wait
        self._canary = canary
        self._sights = {name: sight for name, sight in self._sights.items() if name in hosts}
        self._down &= set(hosts)

    async def is_ours(self, request: ProbeRequest, report: Report, memory: Memory | None) -> bool:
        """Whether a probe met driftwatch's own network; then it is to be made again soon, and says nothing.

        Raises StoreError when the database does not take what is to be noted.
        """
        failed = unanswered(report)
        async with self._lock:
            await self._restore()
            newly = self._note(request.server, report, failed=failed, well=was_well(memory))
            await self._judge()
            if failed and self._offline_since is not None:
                await self._store.transact(lambda tx: _again(tx, request, self._clock.now() + AGAIN))
                return True
            if newly:
                await self._call_witnesses()
        return False

    def settled(self, memory: Memory | None) -> Memory | None:
        """The memory without what was in doubt while driftwatch was cut off."""
        return memory if memory is None or self.over_at is None else without_doubt(memory, self.over_at)

    def _note(self, server: str, report: Report, *, failed: bool, well: bool) -> bool:
        """Remember a sight; whether the server is newly lost."""
        before = self._sights.get(server)
        if failed and not well:
            self._sights.pop(server, None)
            self._down.add(server)
            return False
        self._down.discard(server)
        host = self._hosts.get(server, server)
        if not (failed and before is not None and before.lost):
            self._sights[server] = Sight(host=host, at=report.taken_at, lost=failed)
        return failed and (before is None or not before.lost)

    async def _judge(self) -> None:
        """Begin or end being cut off."""
        now, offline = self._clock.now(), self._offline_since is not None
        sights = list(self._sights.values())
        cut = cut_of(sights if offline else recent(sights, now))
        hosts = {host for server, host in self._hosts.items() if server not in self._down}
        ours = suspected(cut, hosts=len(hosts), canary=self._canary is not None, offline=offline)
        if ours and self._canary is not None:
            ours = not await self._canary_answers(self._canary)
        if ours and not offline and cut is not None:
            await self._tell(_began(cut, now, canary=self._canary is not None))
            self._offline_since, self.over_at = cut.since, None
        elif offline and not ours:
            since = self._offline_since or now
            await self._tell(_ended(since, now))
            self._offline_since, self.over_at = None, now

    async def _canary_answers(self, canary: Canary) -> bool:
        now = self._clock.monotonic()
        if self._canary_said is None or now - self._canary_said[0] >= CANARY_HOLDS_S:
            self._canary_said = (now, await canary())
        return self._canary_said[1]

    async def _call_witnesses(self) -> None:
        """Probe some other hosts soon: if they fail too, it is known before the failure is confirmed.

        Nobody is needed while the canary answers.
        """
        now, steady = self._clock.now(), self._clock.monotonic()
        if len(set(self._hosts.values())) < QUORUM:
            return
        if self._hurried_at is not None and steady - self._hurried_at < AGAIN.total_seconds():
            return
        if self._canary is not None and await self._canary_answers(self._canary):
            return
        lost = {sight.host for sight in self._sights.values() if sight.lost}
        one_each = {
            host: server
            for server, host in sorted(self._hosts.items())
            if host not in lost and server not in self._down
        }
        witnesses = sorted(one_each.values(), key=lambda server: self._seen_at(server, now))[:WITNESSES]
        await self._store.transact(lambda tx: tx.hasten(witnesses, now))
        self._hurried_at = steady

    def _seen_at(self, server: str, now: datetime) -> timedelta:
        sight = self._sights.get(server)
        return timedelta(0) if sight is None else sight.at - now

    async def _tell(self, event: Event) -> None:
        deliveries = plan([event], self._channels, (), now=event.at, group_wait=self._group_wait)
        await self._store.transact(lambda tx: tx.record_event(event, deliveries))
        log.warning("own_network", extra={"fields": dict(event.details)})
        self._told()

    async def _restore(self) -> None:
        """Go on where an earlier process was when it ended."""
        if self._restored:
            return
        kinds = [EventKind.MONITOR_OFFLINE]
        last = await self._store.query(lambda reader: reader.events(limit=1, kinds=kinds))
        if last and last[0].details.get("over"):
            self.over_at = last[0].at
        elif last:
            self._offline_since = last[0].since or last[0].at
        self._restored = True


def _again(tx: Tx, request: ProbeRequest, at: datetime) -> None:
    tx.request_done(request)
    if request.trigger in (Trigger.INTERVAL, Trigger.CONFIRM):
        tx.hasten([request.server], at, full=request.depth is Depth.FULL)
    else:
        tx.enqueue(replace(request, due_at=at))


def _began(cut: Cut, now: datetime, *, canary: bool) -> Event:
    return _event(
        Level.ERROR, now, cut.since, {"hosts": cut.hosts, "failed": cut.lost, "canary": canary, "over": False}
    )


def _ended(since: datetime, now: datetime) -> Event:
    return _event(Level.INFO, now, since, {"over": True, "duration_s": (now - since).total_seconds()})


def _event(level: Level, now: datetime, since: datetime, details: dict[str, bool | int | float]) -> Event:
    return Event.without_run(
        EventKind.MONITOR_OFFLINE,
        now,
        level=level,
        alerts=True,
        since=since,
        details=details,
    )
