"""The outbox: everything that waits to be told, one lane for each channel."""

import asyncio
import logging
import random
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from driftwatch.alerts.lane import SEND_TIMEOUT, Lane, Sender
from driftwatch.alerts.route import ChannelRule
from driftwatch.alerts.wording import Voice
from driftwatch.clock import Clock
from driftwatch.config import Channel
from driftwatch.errors import StoreError
from driftwatch.model import Event, EventKind
from driftwatch.store.ports import Store, Tx

__all__ = ["Outbox", "Sender"]

log = logging.getLogger("driftwatch.deliveries")

STOP_GRACE = timedelta(seconds=3)
"""What a message gets that is being sent while the service stops."""

CHANGE_GRACE = SEND_TIMEOUT + timedelta(seconds=5)
"""What it gets while the channels are changed: as long as a send takes at most."""


class Outbox:
    """Delivers what the store holds for the configured channels, each independently of the others."""

    def __init__(
        self,
        *,
        store: Store,
        sender: Sender,
        channels: Sequence[Channel],
        clock: Clock,
        voice: Voice | None = None,
        group_wait: timedelta = timedelta(seconds=30),
        owner: str | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """``owner`` names this process in leases; ``jitter`` gives numbers from 0 to 1."""
        self._store = store
        self._sender = sender
        self._clock = clock
        self._owner = owner or uuid.uuid4().hex
        self._jitter = jitter
        self._changed = asyncio.Event()
        self.counts: Counter[tuple[str, str]] = Counter()
        """Attempts to send by channel and outcome."""
        self.configure(channels, voice=voice or Voice(), group_wait=group_wait)

    def configure(self, channels: Sequence[Channel], *, voice: Voice, group_wait: timedelta) -> None:
        """Other channels from now on; a message that is being sent is finished first."""
        rules = tuple(ChannelRule.of(channel) for channel in channels)
        self._group_wait = group_wait
        self._lanes = tuple(
            Lane(
                channel=channel,
                rule=rule,
                rules=rules,
                store=self._store,
                sender=self._sender,
                clock=self._clock,
                voice=voice,
                group_wait=group_wait,
                owner=self._owner,
                jitter=self._jitter,
                counts=self.counts,
            )
            for channel, rule in zip(channels, rules, strict=True)
        )
        self._changed.set()

    def wake(self) -> None:
        """There are new deliveries: look now, and again when their wait is over."""
        due = self._clock.monotonic() + self._group_wait.total_seconds()
        for lane in self._lanes:
            lane.wake(due)

    async def run(self, stop: asyncio.Event | None = None) -> None:
        """Deliver until ``stop`` is set or the task is cancelled.

        A message that is being sent at that moment gets STOP_GRACE; then it counts as a possible repeat.
        """
        stop = stop or asyncio.Event()
        while not stop.is_set():
            self._changed.clear()
            try:
                await self.drop_removed()
            except StoreError as error:
                log.warning("outbox_waits", extra={"fields": {"error": str(error)}})
            await self._run_lanes(stop)

    async def _run_lanes(self, stop: asyncio.Event) -> None:
        """Deliver until ``stop`` is set, or there are other lanes."""
        lanes, over = self._lanes, asyncio.Event()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(lane.run(over), name=f"outbox:{lane.name}") for lane in lanes]
            signals = [group.create_task(event.wait()) for event in (stop, self._changed)]
            await asyncio.wait(signals, return_when=asyncio.FIRST_COMPLETED)
            over.set()
            for lane in lanes:
                lane.wake(self._clock.monotonic())
            if tasks:
                grace = STOP_GRACE if stop.is_set() else CHANGE_GRACE
                _, late = await asyncio.wait(tasks, timeout=grace.total_seconds())
                for task in late:
                    task.cancel()
            for signal in signals:
                signal.cancel()

    async def run_once(self) -> int:
        """Deliver what is due now and what each channel's pace allows; how many attempts that took."""
        return sum(await asyncio.gather(*(lane.drain() for lane in self._lanes)))

    async def drop_removed(self) -> int:
        """Drop what waits for channels that are no longer configured; the history says how much."""
        names = [lane.name for lane in self._lanes]
        now = self._clock.now()

        def drop(tx: Tx) -> int:
            dropped = tx.drop_channels(names, now)
            if dropped:
                tx.record_event(_dropped(dropped, now), ())
            return dropped

        return await self._store.transact(drop)


def _dropped(number: int, now: datetime) -> Event:
    return Event.without_run(
        EventKind.DELIVERY_DEAD,
        now,
        details={"dropped": number},
    )
