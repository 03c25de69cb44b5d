"""Faults of the database: in the history, and told, as soon as that can be written."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from driftwatch.alerts.route import ChannelRule, plan
from driftwatch.clock import Clock
from driftwatch.errors import StoreError
from driftwatch.model import Event, EventKind, Level
from driftwatch.store.ports import Store

EVERY = timedelta(seconds=5)

CALM = timedelta(minutes=3)
"""A fault is over when nothing was refused for this long: what was lost was probed again meanwhile."""

WORTH_TELLING = timedelta(minutes=1)
"""What is over sooner, such as a copy that locked the file for a moment, is history only."""

GOES_ON = timedelta(minutes=10)
"""A fault that lasts is told before it is over, if anything can be written at all."""


@dataclass(slots=True)
class _Fault:
    since: datetime
    error: str
    began: float
    last: float
    told: bool = False


class StorageFaults:
    """A chore that hears of every refusal."""

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
        self._fault: _Fault | None = None

    def configure(self, *, channels: Sequence[ChannelRule], group_wait: timedelta) -> None:
        """Other channels from now on."""
        self._channels = tuple(channels)
        self._group_wait = group_wait

    @property
    def error(self) -> str | None:
        """Why the database refuses something now; None while it does not."""
        return self._fault.error if self._fault else None

    def refused(self, error: str) -> None:
        """The database did not take or give something; ``error`` says why."""
        now = self._clock.monotonic()
        if self._fault is None:
            self._fault = _Fault(since=self._clock.now(), error=error, began=now, last=now)
        self._fault.last = now

    async def run(self) -> None:
        """Write down the fault that is over, or that goes on for long."""
        fault = self._fault
        if fault is None:
            return
        over = self._clock.monotonic() - fault.last >= CALM.total_seconds()
        lasted = fault.last - fault.began
        if not over and (fault.told or lasted < GOES_ON.total_seconds()):
            return
        alerts = fault.told or lasted >= WORTH_TELLING.total_seconds()
        event = _event(fault, self._clock.now(), lasted, over=over, alerts=alerts)
        deliveries = plan([event], self._channels, (), now=event.at, group_wait=self._group_wait)
        try:
            await self._store.transact(lambda tx: tx.record_event(event, deliveries))
        except StoreError:
            return
        if over:
            self._fault = None
        else:
            fault.told = True
        if deliveries:
            self._told()


def _event(fault: _Fault, now: datetime, lasted: float, *, over: bool, alerts: bool) -> Event:
    return Event.without_run(
        EventKind.STORAGE_FAULT,
        now,
        level=Level.INFO if fault.told else Level.ERROR,
        alerts=alerts,
        since=fault.since,
        details={"error": fault.error, "duration_s": lasted, "over": over, "told": fault.told},
    )
