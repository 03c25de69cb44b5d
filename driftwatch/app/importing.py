"""Servers and due times in the database brought in line with the configuration."""

from datetime import datetime

from driftwatch.app.wiring import Wiring
from driftwatch.model import Event, EventKind
from driftwatch.store.ports import Imported, Tx


def import_servers(tx: Tx, wiring: Wiring, now: datetime) -> Imported:
    """Write the configured servers, and into the history what moved."""
    imported = tx.import_servers(wiring.records(now), now)
    tx.repair_due(now, wiring.schedule)
    for event in _events(imported, now):
        tx.record_event(event, ())
    return imported


def _events(imported: Imported, now: datetime) -> list[Event]:
    kinds: tuple[tuple[EventKind, tuple[str, ...]], ...] = (
        (EventKind.SERVER_ADDED, (*imported.added, *imported.returned)),
        (EventKind.SERVER_REMOVED, imported.removed),
    )
    moved: list[tuple[EventKind, str, str | None]] = [
        (kind, name, None) for kind, names in kinds for name in names
    ]
    moved += [(EventKind.SERVER_RENAMED, name, before) for before, name in imported.renamed]
    return [
        Event.without_run(
            kind,
            now,
            server=name,
            before=before,
            after=name if before else None,
        )
        for kind, name, before in moved
    ]
