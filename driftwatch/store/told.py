"""Reading what was told and what was not, and what people said about it."""

from collections import defaultdict
from collections.abc import Collection
from datetime import datetime

from driftwatch.model import Silence
from driftwatch.store import mapping
from driftwatch.store.ports import HeldDelivery, MessageRecord
from driftwatch.store.statements import incidents as sql
from driftwatch.store.statements.outbox import HELD_DELIVERIES, HELD_DELIVERIES_OF, MESSAGES_LIKE
from driftwatch.store.unit import Unit
from driftwatch.transitions import Incident


class Told(Unit):
    """The part of a read that is about deliveries, incidents and silences."""

    def held_deliveries(
        self, server: str | None = None, still_held_by: Collection[str] = ()
    ) -> list[HeldDelivery]:
        """What is held back, of one server or of all, except by what is named; in the order it happened."""
        names = list(still_held_by)
        if server is None:
            rows = self._rows(HELD_DELIVERIES, names=names)
        else:
            rows = self._rows(HELD_DELIVERIES_OF, names=names, server=server)
        return [mapping.held_delivery(row) for row in rows]

    def messages_like(self, prefix: str) -> list[MessageRecord]:
        """The messages whose ids begin so; at most two, since more than one is one too many."""
        rows = self._rows(MESSAGES_LIKE, prefix=prefix, length=len(prefix))
        return [mapping.message_record(row) for row in rows]

    def reminders(self) -> dict[str, list[Incident]]:
        """The open incidents that are called to mind some time, by configured server."""
        found: dict[str, list[Incident]] = defaultdict(list)
        for row in self._rows(sql.REMINDERS):
            found[row["name"]].append(mapping.incident(row))
        return dict(found)

    def incident(self, incident: str) -> Incident | None:
        """One incident, open or over."""
        rows = self._rows(sql.INCIDENT, key=incident)
        return mapping.incident(rows[0]) if rows else None

    def incidents_like(self, prefix: str) -> list[tuple[str, Incident]]:
        """The open incidents whose ids begin so, with their servers' names; at most two."""
        rows = self._rows(sql.INCIDENTS_LIKE, prefix=prefix, length=len(prefix))
        return [(row["name"], mapping.incident(row)) for row in rows]

    def silences(self, now: datetime | None = None, limit: int = 1000) -> list[Silence]:
        """The silences in force at a moment, or all of them; the newest first."""
        if now is None:
            rows = self._rows(sql.SILENCES, limit=limit)
        else:
            rows = self._rows(sql.SILENCES_IN_FORCE, limit=limit, now=now)
        return [mapping.silence(row) for row in rows]
