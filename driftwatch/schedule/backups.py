"""The nightly backup: one a day, whatever the restarts, and only so many are kept."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from driftwatch.errors import StoreError
from driftwatch.store.ports import Store

log = logging.getLogger("driftwatch.service")

LOOK_EVERY = timedelta(hours=1)
"""How often it is looked whether a backup is due; one that failed is tried again then."""

AGE = timedelta(hours=23, minutes=30)
"""A backup is due when the newest one is older than this, so that it stays at about one time of the day."""


class Backups:
    """Makes a backup when the newest one is a day old."""

    def __init__(self, store: Store, *, keep: Callable[[], int], now: Callable[[], datetime]) -> None:
        """``keep`` says how many stay; 0 means that none is made."""
        self._store = store
        self._keep = keep
        self._now = now

    async def run(self) -> None:
        """Make one if it is due. A fault is logged, and it is tried again an hour later."""
        keep = self._keep()
        last = await asyncio.to_thread(self._store.last_backup_at)
        if not keep or (last is not None and timedelta(0) <= self._now() - last < AGE):
            return
        try:
            path = await asyncio.to_thread(self._store.backup, keep=keep)
        except StoreError as error:
            log.error("no backup was made", extra={"fields": {"error": str(error)}})  # noqa: TRY400
        else:
            log.info("backed up", extra={"fields": {"path": str(path), "kept": keep}})
