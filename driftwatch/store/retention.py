"""Forgetting, in small transactions, so that a probe's own never waits long. The same on every back end."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection, Table, bindparam
from sqlalchemy.sql.dml import ReturningDelete

from driftwatch.store import tables
from driftwatch.store.columns import Moment
from driftwatch.store.deploys import REPEATED_CALLS
from driftwatch.store.ports import MessageStatus, Pruned, Retention
from driftwatch.store.statements.schema import (
    bodies,
    certificates,
    deliveries,
    events,
    hooks,
    incidents,
    intervals,
    messages,
    outcomes,
    releases,
    runs,
    servers,
    states,
    toolset_tools,
    toolsets,
)
from driftwatch.transitions.subjects import TOOLSET

_CUTOFF = bindparam("cutoff", type_=Moment)
_BATCH: sa.BindParameter[Any] = bindparam("batch")
_silences = tables.metadata.tables["silence"]

_SERVERS_WITH_OLD_RUNS = sa.select(servers.c.id).where(
    sa.select(sa.func.min(runs.c.taken_at)).where(runs.c.server_id == servers.c.id).scalar_subquery()
    < _CUTOFF
)
_SERVERS_AT_ONCE = 500


def _delete(table: Table, *condition: Any) -> ReturningDelete[Any]:
    """Delete a batch of what is old enough; RETURNING says how many."""
    key = tuple(table.primary_key)
    old = sa.select(*key).where(*condition).limit(_BATCH)
    chosen = sa.tuple_(*key).in_(old) if len(key) > 1 else key[0].in_(old)
    return sa.delete(table).where(chosen).returning(key[0])


_RUNS = _delete(runs, runs.c.server_id.in_(bindparam("servers", expanding=True)), runs.c.taken_at < _CUTOFF)
_INTERVALS = _delete(intervals, intervals.c.until < _CUTOFF)
_EVENTS = _delete(
    events,
    events.c.at < _CUTOFF,
    # What an open incident began with stays, and so does what somebody is still to be told.
    ~sa.exists().where(incidents.c.opening_event == events.c.id, incidents.c.closed_at.is_(None)),
    ~sa.exists().where(
        deliveries.c.event_id == events.c.id,
        deliveries.c.message_id.is_(None),
        deliveries.c.suppressed_by.is_(None),
        deliveries.c.dropped_at.is_(None),
    ),
    ~sa.exists().where(
        deliveries.c.event_id == events.c.id,
        messages.c.id == deliveries.c.message_id,
        messages.c.status.in_([MessageStatus.PENDING, MessageStatus.SENDING]),
    ),
)
_MESSAGES = _delete(
    messages,
    messages.c.created_at < _CUTOFF,
    messages.c.status.not_in([MessageStatus.PENDING, MessageStatus.SENDING]),
    ~sa.exists().where(deliveries.c.message_id == messages.c.id),
)
_INCIDENTS = _delete(incidents, incidents.c.closed_at < _CUTOFF)
_TOOLSETS = _delete(
    toolsets,
    sa.func.coalesce(toolsets.c.last_confirmed_at, toolsets.c.first_seen_at) < _CUTOFF,
    # Confirmed, accepted or in doubt at this moment: the next diff needs it.
    ~sa.exists().where(
        states.c.server_id == toolsets.c.server_id,
        states.c.subject == sa.literal(TOOLSET) + toolsets.c.era + ":" + toolsets.c.credential,
        sa.or_(
            states.c.confirmed == toolsets.c.pair,
            states.c.accepted == toolsets.c.pair,
            states.c.pending == toolsets.c.pair,
        ),
    ),
)
_BODIES = _delete(
    bodies,
    ~sa.exists().where(toolset_tools.c.body_id == bodies.c.id),
    ~sa.exists().where(toolsets.c.instructions_id == bodies.c.id),
    ~sa.exists().where(toolsets.c.further_id == bodies.c.id),
)
_CERTIFICATES = _delete(
    certificates,
    certificates.c.last_seen_at < _CUTOFF,
    ~sa.exists().where(
        servers.c.id == certificates.c.server_id, servers.c.leaf_sha256 == certificates.c.leaf_sha256
    ),
)
_HOOKS = _delete(hooks, hooks.c.received_at < _CUTOFF)
_RELEASES = _delete(
    releases,
    releases.c.received_at < _CUTOFF,
    # A run that looks after it is not over.
    ~sa.exists().where(
        sa.or_(outcomes.c.release_id == releases.c.id, outcomes.c.run_release == releases.c.id),
        sa.text(f"deploy_outcome.{tables.DEPLOY_UNDER_WAY}"),
    ),
)
_SILENCES = _delete(_silences, _silences.c.ends_at < _CUTOFF)
_SERVERS = _delete(
    servers,
    servers.c.removed_at < _CUTOFF,
    ~sa.exists().where(runs.c.server_id == servers.c.id),
    ~sa.exists().where(events.c.server_id == servers.c.id),
)

Begin = Callable[[], AbstractContextManager[Connection]]


def forget(begin: Begin, policy: Retention, cutoff: datetime) -> Pruned:
    """Delete the history before the cutoff: never what is true now, open, or still to be delivered.

    Removed servers go last, when nothing of their history is left.
    """

    def batches(statement: ReturningDelete[Any], **parameters: Any) -> int:
        parameters = {"cutoff": cutoff, **parameters}
        return sum(_batches(begin, statement, {**parameters, "batch": policy.batch}, policy.batch))

    with begin() as connection:
        keys = list(connection.scalars(_SERVERS_WITH_OLD_RUNS, {"cutoff": cutoff}))
    gone_runs = sum(
        batches(_RUNS, servers=keys[start : start + _SERVERS_AT_ONCE])
        for start in range(0, len(keys), _SERVERS_AT_ONCE)
    )
    pruned = Pruned(
        runs=gone_runs,
        intervals=batches(_INTERVALS),
        events=batches(_EVENTS),
        messages=batches(_MESSAGES),
        toolsets=batches(_TOOLSETS),
    )
    batches(_INCIDENTS)
    batches(_BODIES)
    batches(_CERTIFICATES)
    batches(_HOOKS, cutoff=policy.now - REPEATED_CALLS)
    batches(_RELEASES)
    batches(_SILENCES)
    batches(_SERVERS)
    return pruned


def _batches(
    begin: Begin, statement: ReturningDelete[Any], parameters: dict[str, Any], size: int
) -> Iterator[int]:
    while True:
        with begin() as connection:
            deleted = len(connection.execute(statement, parameters).all())
        yield deleted
        if deleted < size:
            return
