"""The outbox: everything that waits to be told, one lane for each channel."""

import asyncio
import logging
import random
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from driftwatch.alerts.lane import Lane, Sender
from driftwatch.alerts.route import ChannelRule
from driftwatch.alerts.wording import Voice
from driftwatch.clock import Clock
from driftwatch.config import Channel
from driftwatch.errors import StoreError
from driftwatch.model import Event, EventKind, Level
from driftwatch.store.ports import Store, Tx

__all__ = ["Outbox", "Sender"]

log = logging.getLogger("driftwatch.deliveries")

STOP_GRACE = timedelta(seconds=3)
"""What a message gets that is being sent while the service stops."""


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
        self._clock = clock
        self._group_wait = group_wait
        self.counts: Counter[tuple[str, str]] = Counter()
        """Attempts to send by channel and outcome."""
        rules = tuple(ChannelRule.of(channel) for channel in channels)
        self._lanes = tuple(
            Lane(
                channel=channel,
                rule=rule,
                rules=rules,
                store=store,
                sender=sender,
                clock=clock,
                voice=voice or Voice(),
                group_wait=group_wait,
                owner=owner or uuid.uuid4().hex,
                jitter=jitter,
                counts=self.counts,
            )
            for channel, rule in zip(channels, rules, strict=True)
        )

    def wake(self) -> None:
        """There are new deliveries: look now, and again when their wait is over."""
        due = self._clock.monotonic() + self._group_wait.total_seconds()
        for lane in self._lanes:
            lane.wake(due)

    async def run(self, stop: asyncio.Event | None = None) -> None:
        """Deliver until ``stop`` is set or the task is cancelled.

        A message that is being sent at that moment gets STOP_GRACE; then it counts as a possible repeat.
        """
        try:
            await self.drop_removed()
        except StoreError as error:
            log.warning("outbox_waits", extra={"fields": {"error": str(error)}})
        stop = stop or asyncio.Event()
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(lane.run(stop), name=f"outbox:{lane.name}") for lane in self._lanes]
            await stop.wait()
            self.wake()
            if tasks:
                _, late = await asyncio.wait(tasks, timeout=STOP_GRACE.total_seconds())
                for task in late:
                    task.cancel()

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
    return Event(
        id=str(uuid.uuid4()),
        server=None,
        kind=EventKind.DELIVERY_DEAD,
        level=Level.INFO,
        alerts=False,
        at=now,
        run=None,
        details={"dropped": number},
    )
