"""What a run changes."""

import sqlalchemy as sa
from sqlalchemy import bindparam

from driftwatch.store.statements.schema import (
    AT,
    WHICH_SERVER,
    bodies,
    certificates,
    intervals,
    toolset_tools,
    toolsets,
)

TOOLSET_ID = sa.select(toolsets.c.id).where(
    toolsets.c.server_id == WHICH_SERVER,
    toolsets.c.era == bindparam("which_era"),
    toolsets.c.credential == bindparam("label"),
    toolsets.c.pair == bindparam("which_pair"),
)
ADD_TOOLSET = sa.insert(toolsets).returning(toolsets.c.id)
ADD_TOOLSET_TOOLS = sa.insert(toolset_tools)
BODY_IDS = sa.select(bodies.c.sha256, bodies.c.id).where(
    bodies.c.sha256.in_(bindparam("hashes", expanding=True))
)
CONFIRM_TOOLSET = (
    sa.update(toolsets)
    .where(
        toolsets.c.server_id == WHICH_SERVER,
        toolsets.c.era == bindparam("which_era"),
        toolsets.c.credential == bindparam("label"),
        toolsets.c.pair == bindparam("which_pair"),
    )
    .values(
        last_confirmed_at=sa.case((toolsets.c.last_confirmed_at > AT, toolsets.c.last_confirmed_at), else_=AT)
    )
)
CERTIFICATE_GONE = (
    sa.update(certificates)
    .where(certificates.c.server_id == WHICH_SERVER, certificates.c.leaf_sha256 == bindparam("leaf"))
    .values(last_seen_at=AT)
)
CLOSE_INTERVAL = (
    sa.update(intervals)
    .where(
        intervals.c.server_id == WHICH_SERVER,
        intervals.c.subject == bindparam("of_subject"),
        intervals.c.until.is_(None),
    )
    # After the clock was stepped back a stretch ends where it began, not before.
    .values(until=sa.case((intervals.c.since > AT, intervals.c.since), else_=AT))
)
OPEN_INTERVAL = sa.insert(intervals)
