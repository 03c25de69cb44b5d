"""A chore: what a silence or a maintenance window held back is told when that is over, if it still holds."""

import logging
from collections.abc import Callable
from datetime import timedelta

from driftwatch.alerts.quiet import in_force
from driftwatch.alerts.resume import resume
from driftwatch.clock import Clock
from driftwatch.config import Alerts
from driftwatch.store.ports import Reader, Store

log = logging.getLogger("driftwatch.events")

EVERY = timedelta(seconds=10)


class Resuming:
    """Looks for silences and windows that are over; a look that finds none costs one small read."""

    def __init__(
        self, *, store: Store, clock: Clock, alerts: Callable[[], Alerts], told: Callable[[], None]
    ) -> None:
        """``alerts`` gives the settings in force; ``told`` is called when there is something to send."""
        self._store = store
        self._clock = clock
        self._alerts = alerts
        self._told = told

    async def run(self) -> None:
        """Tell what nothing holds back any more and is still so."""
        now, alerts = self._clock.now(), self._alerts()

        def is_over(reader: Reader) -> bool:
            quiet = in_force(reader.silences(now), alerts.windows, now)
            return bool(reader.held_deliveries(still_held_by=[each.name for each in quiet]))

        if not await self._store.query(is_over):
            return
        number = await self._store.transact(
            lambda tx: resume(tx, alerts.windows, now=now, reminder=alerts.reminder)
        )
        log.info("resumed", extra={"fields": {"deliveries": number}})
        if number:
            self._told()
