"""One write transaction, put together from its parts."""

from datetime import datetime

from driftwatch.model import Silence
from driftwatch.store import mapping
from driftwatch.store.deploys import Deploys
from driftwatch.store.due import DueTimes
from driftwatch.store.history import SqlReader
from driftwatch.store.outbox import Outbox
from driftwatch.store.recording import Recording
from driftwatch.store.statements import incidents as sql


class SqlTx(SqlReader, Recording, DueTimes, Deploys, Outbox):
    """One write transaction; it reads what it has written."""

    def add_silence(self, silence: Silence) -> None:
        """Write a new silence."""
        self._run(sql.ADD_SILENCE, mapping.silence_values(silence))

    def lift_silence(self, silence: str, now: datetime) -> None:
        """End a silence before its time."""
        self._run(sql.UPDATE_SILENCE, {"key": silence, "lifted_at": now})
