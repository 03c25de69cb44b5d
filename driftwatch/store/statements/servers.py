"""Servers, and what is remembered about them."""

import sqlalchemy as sa
from sqlalchemy import bindparam

from driftwatch.model import Trigger
from driftwatch.store.columns import Moment
from driftwatch.store.statements.schema import (
    WHICH_SERVER,
    certificates,
    incidents,
    runs,
    servers,
    states,
    tls_notices,
    toolsets,
)

SERVER_ID = sa.select(servers.c.id).where(servers.c.name == WHICH_SERVER)
ALL_SERVERS = sa.select(servers)

SERVERS = sa.select(
    servers,
    *(column for column in certificates.c if column.name not in ("server_id", "leaf_sha256", "not_before")),
    certificates.c.not_before.label("valid_from"),
).select_from(
    servers.outerjoin(
        certificates,
        sa.and_(
            certificates.c.server_id == servers.c.id, certificates.c.leaf_sha256 == servers.c.leaf_sha256
        ),
    )
)
SERVER = SERVERS.where(servers.c.name == WHICH_SERVER)
SERVER_FOR_UPDATE = SERVER.with_for_update(of=servers)
STATES = sa.select(states).where(states.c.server_id == WHICH_SERVER).order_by(states.c.subject)
OPEN_INCIDENTS = sa.select(incidents).where(
    incidents.c.server_id == WHICH_SERVER, incidents.c.closed_at.is_(None)
)
CONFIRMED_TOOLSETS = sa.select(toolsets.c.server_id, toolsets.c.pair, toolsets.c.last_confirmed_at).where(
    toolsets.c.last_confirmed_at.is_not(None)
)
CONFIRMED_TOOLSETS_OF = CONFIRMED_TOOLSETS.where(toolsets.c.server_id == WHICH_SERVER)

NOTICES_OF = (
    sa.select(tls_notices, certificates.c.not_after, certificates.c.issuer, certificates.c.subject_alt_names)
    .join(
        certificates,
        sa.and_(
            certificates.c.server_id == tls_notices.c.server_id,
            certificates.c.leaf_sha256 == tls_notices.c.leaf_sha256,
        ),
    )
    .where(tls_notices.c.server_id == WHICH_SERVER)
    .order_by(tls_notices.c.at, tls_notices.c.leaf_sha256, tls_notices.c.threshold_days.desc())
)
REPROBES_OF = (
    sa.select(runs.c.taken_at)
    .where(
        runs.c.server_id == WHICH_SERVER,
        runs.c.taken_at > bindparam("horizon", type_=Moment),
        runs.c.trigger == Trigger.CONFIRM,
    )
    .order_by(runs.c.taken_at)
)

ADD_SERVER = sa.insert(servers)
UPDATE_SERVER = sa.update(servers).where(servers.c.id == bindparam("key"))
"""Executed with the values to set; ``key`` is the server's id."""
