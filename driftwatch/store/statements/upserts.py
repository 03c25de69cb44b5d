"""Statements that insert or leave, and insert or update."""

from collections.abc import Callable, Sequence
from typing import Any

from sqlalchemy import Table

from driftwatch.store.statements.schema import (
    bodies,
    certificates,
    channels,
    deliveries,
    events,
    incidents,
    messages,
    requests,
    runs,
    standings,
    states,
    tls_notices,
    transcripts,
)


class Upserts:
    """The statements that insert or leave, and insert or update; built with a dialect's ``insert``."""

    def __init__(self, insert: Callable[[Table], Any]) -> None:
        """``insert`` of ``sqlalchemy.dialects.sqlite`` or ``.postgresql``."""
        self.run = insert(runs).on_conflict_do_nothing().returning(runs.c.id)
        self.request = insert(requests).on_conflict_do_nothing().returning(requests.c.server_id)
        self.body = insert(bodies).on_conflict_do_nothing()
        self.event = insert(events).on_conflict_do_nothing()
        self.delivery = insert(deliveries).on_conflict_do_nothing()
        self.message = insert(messages).on_conflict_do_nothing().returning(messages.c.id)
        self.notice = insert(tls_notices).on_conflict_do_nothing()
        self.channel = insert(channels).on_conflict_do_nothing()
        self.transcript = _replace(insert(transcripts), transcripts)
        self.state = _replace(insert(states), states)
        self.standing = _replace(insert(standings), standings)
        self.incident = _replace(insert(incidents), incidents)
        self.certificate = _replace(insert(certificates), certificates, keep=("first_seen_at",))


def _replace(statement: Any, table: Table, keep: Sequence[str] = ()) -> Any:
    """Insert, or overwrite everything but the key and what is to be kept."""
    key = [column.name for column in table.primary_key]
    others = {
        column.name: statement.excluded[column.name]
        for column in table.c
        if column.name not in key and column.name not in keep
    }
    return statement.on_conflict_do_update(index_elements=key, set_=others)
