"""The webhook's calls, releases, and what they did to each server."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from driftwatch.model import DeployState, DeployVerdict, Trigger
from driftwatch.store import tables
from driftwatch.store.columns import Moment
from driftwatch.store.statements.schema import (
    NOW,
    WHICH_SERVER,
    deliveries,
    hooks,
    outcomes,
    releases,
    requests,
    servers,
)

_under_way = sa.text(tables.DEPLOY_UNDER_WAY)
_RELEASE: sa.BindParameter[Any] = bindparam("of_release")
_RUN_RELEASE: sa.BindParameter[Any] = bindparam("of_run")

HOOK_DELIVERY = sa.select(hooks).where(hooks.c.id == bindparam("key"))
FORGET_HOOK_DELIVERY = sa.delete(hooks).where(hooks.c.id == bindparam("key"))
ADD_HOOK_DELIVERY = sa.insert(hooks)
RELEASE = sa.select(releases).where(releases.c.id == _RELEASE)
ADD_RELEASE = sa.insert(releases)
UPDATE_RELEASE = sa.update(releases).where(releases.c.id == bindparam("key"))
RECENT_RELEASES = sa.select(releases).where(releases.c.received_at >= bindparam("since", type_=Moment))
ADD_OUTCOME = sa.insert(outcomes)
_OUTCOMES = (
    sa.select(outcomes, servers.c.name, releases.c.received_at)
    .join(servers, servers.c.id == outcomes.c.server_id)
    .join(releases, releases.c.id == outcomes.c.release_id)
)
OUTCOMES_OF = _OUTCOMES.where(outcomes.c.release_id == _RELEASE).order_by(servers.c.name)
OUTCOMES_AT = (
    _OUTCOMES.where(outcomes.c.server_id == WHICH_SERVER)
    .order_by(releases.c.received_at.desc(), releases.c.id.desc())
    .limit(bindparam("limit"))
)
OUTCOMES_UNDER_WAY = _OUTCOMES.where(_under_way)
OUTCOMES_UNDER_WAY_OF = OUTCOMES_UNDER_WAY.where(outcomes.c.server_id == WHICH_SERVER)
OUTCOMES_OF_RUN = _OUTCOMES.where(outcomes.c.run_release == _RUN_RELEASE)
UPDATE_OUTCOME = sa.update(outcomes).where(
    outcomes.c.release_id == bindparam("key"), outcomes.c.server_id == bindparam("of_server")
)
UPDATE_RUN_OUTCOMES = sa.update(outcomes).where(
    outcomes.c.run_release == bindparam("key"), outcomes.c.server_id == bindparam("of_server"), _under_way
)
GIVE_UP_RUNS = (
    sa.update(outcomes)
    .where(outcomes.c.server_id == bindparam("of_server"), _under_way)
    .values(state=DeployState.INCONCLUSIVE, verdict=DeployVerdict.INCONCLUSIVE, finished_at=NOW)
)
"""Nobody watches the server any more."""
HASTEN_READS = (
    sa.update(requests)
    .where(
        requests.c.trigger == Trigger.DEPLOY,
        requests.c.claimed_by.is_(None),
        requests.c.due_at > bindparam("horizon", type_=Moment),
        sa.exists().where(
            outcomes.c.server_id == requests.c.server_id, outcomes.c.state == DeployState.SETTLING
        ),
    )
    .values(due_at=NOW)
)
"""Reads of a run that has begun are never far away, unless the clock was stepped back."""
LET_GO = (
    sa.update(deliveries)
    .where(
        deliveries.c.event_id.in_(bindparam("event_ids", expanding=True)),
        deliveries.c.message_id.is_(None),
        deliveries.c.not_before > NOW,
    )
    .values(not_before=NOW)
)


def newest_releases(server_id: int | None, before: Any | None, ref: str | None) -> sa.Select[Any]:
    """Releases below a keyset, newest first."""
    query = sa.select(releases).order_by(releases.c.received_at.desc(), releases.c.id.desc())
    if server_id is not None:
        query = query.join(outcomes, outcomes.c.release_id == releases.c.id).where(
            outcomes.c.server_id == server_id
        )
    if before is not None:
        query = query.where(releases.c.received_at < before)
    if ref is not None:
        query = query.where(releases.c.ref == ref)
    return query.limit(bindparam("limit"))


_newest_release = (
    sa.select(outcomes.c.release_id)
    .join(releases, releases.c.id == outcomes.c.release_id)
    .where(outcomes.c.server_id == servers.c.id)
    .order_by(releases.c.received_at.desc(), releases.c.id.desc())
    .limit(1)
    .correlate(servers)
    .scalar_subquery()
)
LATEST_RELEASES = (
    sa.select(releases, servers.c.name)
    .select_from(servers)
    .join(releases, releases.c.id == _newest_release)
    .where(servers.c.name.in_(bindparam("names", expanding=True)))
)
