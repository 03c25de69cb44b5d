"""Who is probed when: due times and persisted requests."""

import sqlalchemy as sa
from sqlalchemy import bindparam

from driftwatch.model import Trigger
from driftwatch.store.columns import Moment
from driftwatch.store.statements.schema import AT, NOW, WHICH_SERVER, requests, runs, servers

HASTEN_PROBE = {
    column.name: sa.update(servers).where(
        servers.c.name.in_(bindparam("names", expanding=True)), servers.c.removed_at.is_(None), column > AT
    )
    for column in (servers.c.next_due_at, servers.c.next_full_at)
}
"""By the due time that is brought forward."""

_due = sa.case(
    (servers.c.confirm_due_at < servers.c.next_due_at, servers.c.confirm_due_at), else_=servers.c.next_due_at
)
_probe_at = sa.case((servers.c.not_before > _due, servers.c.not_before), else_=_due)
_held = sa.exists().where(
    requests.c.server_id == servers.c.id,
    sa.or_(requests.c.claimed_by.is_not(None), requests.c.trigger == Trigger.DEPLOY),
)

DUE_SERVERS = (
    sa.select(servers)
    .where(servers.c.removed_at.is_(None), _probe_at <= NOW)
    .order_by(_probe_at, servers.c.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
OVERDUE = (
    sa.select(sa.func.count())
    .select_from(servers)
    .where(servers.c.removed_at.is_(None), _probe_at < NOW, ~_held)
)
NEXT_PROBE = sa.select(sa.func.min(_probe_at)).where(servers.c.removed_at.is_(None), ~_held)

REQUESTS = (
    sa.select(requests, servers.c.name, servers.c.not_before)
    .join(servers, servers.c.id == requests.c.server_id)
    .where(servers.c.removed_at.is_(None))
    .order_by(requests.c.priority.desc(), requests.c.due_at, servers.c.name)
)
REQUESTS_OF = sa.select(requests).where(requests.c.server_id == WHICH_SERVER)
REQUESTS_FOR_UPDATE = REQUESTS.with_for_update(of=requests, skip_locked=True)
WAITING_REQUEST = sa.select(requests).where(
    requests.c.server_id == WHICH_SERVER,
    requests.c.trigger == bindparam("why"),
    requests.c.claimed_by.is_(None),
)
_this_request = (
    requests.c.server_id == bindparam("key"),
    requests.c.due_at == bindparam("was_due_at", type_=Moment),
    requests.c.trigger == bindparam("why"),
)
UPDATE_REQUEST = sa.update(requests).where(*_this_request)
DELETE_REQUEST = sa.delete(requests).where(*_this_request)
DELETE_REQUESTS_OF = sa.delete(requests).where(requests.c.server_id == WHICH_SERVER)
RUN_EXISTS = sa.select(runs.c.id).where(
    runs.c.server_id == WHICH_SERVER,
    runs.c.due_at == bindparam("was_due_at", type_=Moment),
    runs.c.trigger == bindparam("why"),
)
