"""One write transaction, put together from its parts."""

import os
from datetime import datetime, timedelta

from driftwatch import __version__
from driftwatch.model import Silence
from driftwatch.store import mapping
from driftwatch.store.deploys import Deploys
from driftwatch.store.due import DueTimes
from driftwatch.store.history import SqlReader
from driftwatch.store.outbox import Outbox
from driftwatch.store.recording import Recording
from driftwatch.store.statements import incidents as sql
from driftwatch.store.statements.history import FORGET_INSTANCES

FORGET_INSTANCE_AFTER = timedelta(days=1)


class SqlTx(SqlReader, Recording, DueTimes, Deploys, Outbox):
    """One write transaction; it reads what it has written."""

    def add_silence(self, silence: Silence) -> None:
        """Write a new silence."""
        self._run(sql.ADD_SILENCE, mapping.silence_values(silence))

    def lift_silence(self, silence: str, now: datetime) -> None:
        """End a silence before its time."""
        self._run(sql.UPDATE_SILENCE, {"key": silence, "lifted_at": now})

    def record_heartbeat(self, owner: str, now: datetime) -> None:
        """Note that the service is alive."""
        values = {
            "owner": owner,
            "pid": os.getpid(),
            "driftwatch": __version__,
            "started_at": now,
            "heartbeat_at": now,
        }
        self._run(self._process.upserts.instance, values)
        self._run(FORGET_INSTANCES, {"horizon": now - FORGET_INSTANCE_AFTER})
