"""What was: events, runs, intervals, certificates, tool lists."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from driftwatch.model import EventKind
from driftwatch.store.statements.schema import (
    AT,
    WHICH_SERVER,
    below,
    bodies,
    certificates,
    events,
    intervals,
    runs,
    servers,
    toolset_tools,
    toolsets,
    transcripts,
)

_EVENTS = sa.select(events, servers.c.name).outerjoin(servers, servers.c.id == events.c.server_id)


EVENT = _EVENTS.where(events.c.id == bindparam("key"))


def newest_events(
    server_id: int | None, before: tuple[Any, str] | None, kinds: Sequence[EventKind], since: Any | None
) -> sa.Select[Any]:
    """Events below a keyset, newest first."""
    query = _EVENTS.order_by(events.c.at.desc(), events.c.id.desc()).limit(bindparam("limit"))
    if server_id is not None:
        query = query.where(events.c.server_id == server_id)
    if before is not None:
        query = query.where(below(events.c.at, events.c.id, before))
    if since is not None:
        query = query.where(events.c.at >= since)
    if kinds:
        query = query.where(events.c.kind.in_([kind.value for kind in kinds]))
    return query


VALUE_AT = (
    sa.select(intervals.c.value)
    .where(
        intervals.c.server_id == WHICH_SERVER,
        intervals.c.subject == bindparam("of_subject"),
        intervals.c.since <= AT,
        sa.or_(intervals.c.until.is_(None), intervals.c.until > AT),
    )
    .order_by(intervals.c.since.desc(), intervals.c.id.desc())
    .limit(1)
)


def newest_runs(before: Any | None) -> sa.Select[Any]:
    """A server's runs below a keyset, newest first."""
    query = sa.select(runs).where(runs.c.server_id == WHICH_SERVER)
    if before is not None:
        query = query.where(runs.c.taken_at < before)
    return query.order_by(runs.c.taken_at.desc()).limit(bindparam("limit"))


CERTIFICATES = (
    sa.select(certificates, certificates.c.not_before.label("valid_from"))
    .where(certificates.c.server_id == WHICH_SERVER)
    .order_by(certificates.c.first_seen_at.desc(), certificates.c.leaf_sha256)
    .limit(bindparam("limit"))
)
TRANSCRIPTS = (
    sa.select(transcripts)
    .where(transcripts.c.server_id == WHICH_SERVER)
    .order_by(transcripts.c.taken_at.desc(), transcripts.c.depth)
)


def newest_intervals(subject: str | None, before: tuple[Any, int] | None) -> sa.Select[Any]:
    """A server's stretches below a keyset, newest first."""
    query = sa.select(intervals).where(intervals.c.server_id == WHICH_SERVER)
    if subject is not None:
        query = query.where(intervals.c.subject == subject)
    if before is not None:
        query = query.where(below(intervals.c.since, intervals.c.id, before))
    return query.order_by(intervals.c.since.desc(), intervals.c.id.desc()).limit(bindparam("limit"))


_further = bodies.alias()
TOOLSET = (
    sa.select(toolsets, bodies.c.content.label("instructions"), _further.c.content.label("further"))
    .outerjoin(bodies, bodies.c.id == toolsets.c.instructions_id)
    .outerjoin(_further, _further.c.id == toolsets.c.further_id)
    .where(toolsets.c.server_id == WHICH_SERVER, toolsets.c.pair == bindparam("which_pair"))
    .order_by(toolsets.c.first_seen_at, toolsets.c.id)
    .limit(1)
)
TOOLSET_TOOLS = (
    sa.select(bodies.c.content)
    .join(toolset_tools, toolset_tools.c.body_id == bodies.c.id)
    .where(toolset_tools.c.toolset_id == bindparam("toolset"))
    .order_by(toolset_tools.c.position)
)
_CONFIRMED_LISTS = (
    sa.select(toolsets.c.id, _further.c.content.label("further"))
    .outerjoin(_further, _further.c.id == toolsets.c.further_id)
    .where(
        toolsets.c.server_id == WHICH_SERVER,
        toolsets.c.era == bindparam("which_era"),
        toolsets.c.credential == bindparam("label"),
        toolsets.c.last_confirmed_at.is_not(None),
    )
    .order_by(toolsets.c.last_confirmed_at.desc(), toolsets.c.id.desc())
    .limit(bindparam("limit"))
)


def confirmed_lists(before: Any | None) -> sa.Select[Any]:
    """Of one surface, the newest first; with ``before`` only those that counted at an earlier time."""
    if before is None:
        return _CONFIRMED_LISTS
    stretches = sa.exists().where(
        intervals.c.server_id == WHICH_SERVER,
        intervals.c.subject == bindparam("which_subject"),
        intervals.c.value == toolsets.c.pair,
        intervals.c.since < before,
    )
    return _CONFIRMED_LISTS.where(stretches)


TOOLS_NAMED = (
    sa.select(toolset_tools.c.name, bodies.c.content)
    .join(bodies, bodies.c.id == toolset_tools.c.body_id)
    .where(
        toolset_tools.c.toolset_id == bindparam("toolset"),
        toolset_tools.c.name.in_(bindparam("names", expanding=True)),
    )
    .order_by(toolset_tools.c.position)
)
