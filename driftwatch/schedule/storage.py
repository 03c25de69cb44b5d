"""Faults of the database: known while they last, in the history and told when they are over."""

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from driftwatch.alerts.route import ChannelRule, plan
from driftwatch.clock import Clock
from driftwatch.errors import StoreError
from driftwatch.model import Event, EventKind, Level
from driftwatch.store.ports import Store

EVERY = timedelta(seconds=5)

WORTH_TELLING = timedelta(minutes=1)
"""What is over sooner, such as a copy that locked the file for a moment, is history only."""


class StorageFaults:
    """A chore: writing down that there was a fault is how it finds out that it is over."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        channels: Sequence[ChannelRule],
        group_wait: timedelta,
        told: Callable[[], None],
    ) -> None:
        """``told`` is called when there is something to send."""
        self._store = store
        self._clock = clock
        self._told = told
        self.configure(channels=channels, group_wait=group_wait)
        self._fault: tuple[datetime, float, str] | None = None

    def configure(self, *, channels: Sequence[ChannelRule], group_wait: timedelta) -> None:
        """Other channels from now on."""
        self._channels = tuple(channels)
        self._group_wait = group_wait

    def refused(self, error: str) -> None:
        """The database did not take or give something; ``error`` says why."""
        if self._fault is None:
            self._fault = (self._clock.now(), self._clock.monotonic(), error)

    async def run(self) -> None:
        """Try to write down the fault that is going on, if there is one."""
        if self._fault is None:
            return
        since, began, error = self._fault
        lasted, now = self._clock.monotonic() - began, self._clock.now()
        event = Event(
            id=str(uuid.uuid4()),
            server=None,
            kind=EventKind.STORAGE_FAULT,
            level=Level.ERROR,
            alerts=lasted >= WORTH_TELLING.total_seconds(),
            at=now,
            run=None,
            since=since,
            details={"error": error, "duration_s": lasted},
        )
        deliveries = plan([event], self._channels, (), now=now, group_wait=self._group_wait)
        try:
            await self._store.transact(lambda tx: tx.record_event(event, deliveries))
        except StoreError:
            return
        self._fault = None
        if deliveries:
            self._told()
