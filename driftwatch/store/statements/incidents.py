"""Silences, and what people say about incidents."""

import sqlalchemy as sa
from sqlalchemy import bindparam

from driftwatch.store.statements.schema import AT, NOW, incidents, servers, silences

ADD_SILENCE = sa.insert(silences)
UPDATE_SILENCE = sa.update(silences).where(silences.c.id == bindparam("key"))
SILENCES_AHEAD = sa.select(silences).where(silences.c.ends_at > NOW, silences.c.lifted_at.is_(None))
SILENCES = sa.select(silences).order_by(silences.c.starts_at.desc(), silences.c.id).limit(bindparam("limit"))
SILENCES_IN_FORCE = SILENCES.where(
    silences.c.starts_at <= NOW, silences.c.ends_at > NOW, silences.c.lifted_at.is_(None)
)
INCIDENT = sa.select(incidents).where(incidents.c.id == bindparam("key"))
REMINDERS = (
    sa.select(incidents, servers.c.name)
    .join(servers, servers.c.id == incidents.c.server_id)
    .where(
        incidents.c.closed_at.is_(None),
        incidents.c.next_reminder_at.is_not(None),
        incidents.c.acked_at.is_(None),
        servers.c.removed_at.is_(None),
    )
    .order_by(servers.c.name, incidents.c.subject)
)
REMIND = (
    sa.update(incidents)
    .where(
        incidents.c.id.in_(bindparam("ids", expanding=True)),
        incidents.c.closed_at.is_(None),
        incidents.c.next_reminder_at.is_not(None),
    )
    .values(next_reminder_at=AT)
)
INCIDENTS_LIKE = (
    sa.select(incidents, servers.c.name)
    .join(servers, servers.c.id == incidents.c.server_id)
    .where(
        incidents.c.closed_at.is_(None),
        sa.func.substr(incidents.c.id, 1, bindparam("length")) == bindparam("prefix"),
    )
    .order_by(incidents.c.id)
    .limit(2)
)
