"""One write transaction, put together from its parts; the read is in ``history``."""

import os
from datetime import datetime, timedelta

from driftwatch import __version__
from driftwatch.store import statements as sql
from driftwatch.store.due import DueTimes
from driftwatch.store.outbox import Outbox
from driftwatch.store.recording import Recording

FORGET_INSTANCE_AFTER = timedelta(days=1)


class SqlTx(Recording, DueTimes, Outbox):
    """One write transaction."""

    def heartbeat(self, owner: str, now: datetime) -> None:
        """Note that the service is alive."""
        values = {
            "owner": owner,
            "pid": os.getpid(),
            "driftwatch": __version__,
            "started_at": now,
            "heartbeat_at": now,
        }
        self._run(self._process.upserts.instance, values)
        self._run(sql.FORGET_INSTANCES, {"horizon": now - FORGET_INSTANCE_AFTER})
