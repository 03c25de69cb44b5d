"""The SQL, in words that every back end understands.

Times are parameters, never ``now()``; NULLs are never sorted by chance; nothing counts ``rowcount``, which
means something else elsewhere: RETURNING says what was done. Upserts are written with a dialect's own
``insert``, so they are built once for each back end; everything else stands here as it is run.
"""

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Table, bindparam

from driftwatch.model import DeployState, DeployVerdict, EventKind, Trigger
from driftwatch.store import tables
from driftwatch.store.columns import Moment
from driftwatch.store.ports import MessageStatus

_of = tables.metadata.tables

servers = _of["server"]
requests = _of["probe_request"]
runs = _of["run"]
transcripts = _of["transcript"]
states = _of["subject_state"]
standings = _of["standing"]
intervals = _of["state_interval"]
incidents = _of["incident"]
bodies = _of["body"]
toolsets = _of["toolset"]
toolset_tools = _of["toolset_tool"]
certificates = _of["certificate"]
tls_notices = _of["tls_notice"]
events = _of["event"]
deliveries = _of["event_delivery"]
messages = _of["message"]
channels = _of["channel"]
silences = _of["silence"]
instances = _of["instance"]
releases = _of["release"]
hooks = _of["hook_delivery"]
outcomes = _of["deploy_outcome"]

_NOW = bindparam("now", type_=Moment)
_AT = bindparam("at", type_=Moment)
_SERVER: sa.BindParameter[Any] = bindparam("server")

# --- servers and what is remembered about them

SERVER_ID = sa.select(servers.c.id).where(servers.c.name == _SERVER)
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
SERVER = SERVERS.where(servers.c.name == _SERVER)
SERVER_FOR_UPDATE = SERVER.with_for_update(of=servers)
STATES = sa.select(states).where(states.c.server_id == _SERVER).order_by(states.c.subject)
OPEN_INCIDENTS = sa.select(incidents).where(incidents.c.server_id == _SERVER, incidents.c.closed_at.is_(None))
CONFIRMED_TOOLSETS = sa.select(toolsets.c.server_id, toolsets.c.pair, toolsets.c.last_confirmed_at).where(
    toolsets.c.last_confirmed_at.is_not(None)
)
CONFIRMED_TOOLSETS_OF = CONFIRMED_TOOLSETS.where(toolsets.c.server_id == _SERVER)

NOTICES_OF = (
    sa.select(tls_notices, certificates.c.not_after)
    .join(
        certificates,
        sa.and_(
            certificates.c.server_id == tls_notices.c.server_id,
            certificates.c.leaf_sha256 == tls_notices.c.leaf_sha256,
        ),
    )
    .where(tls_notices.c.server_id == _SERVER)
    .order_by(tls_notices.c.at, tls_notices.c.leaf_sha256, tls_notices.c.threshold_days.desc())
)
REPROBES_OF = (
    sa.select(runs.c.taken_at)
    .where(
        runs.c.server_id == _SERVER,
        runs.c.taken_at > bindparam("horizon", type_=Moment),
        runs.c.trigger == Trigger.CONFIRM,
    )
    .order_by(runs.c.taken_at)
)

ADD_SERVER = sa.insert(servers)
UPDATE_SERVER = sa.update(servers).where(servers.c.id == bindparam("key"))
"""Executed with the values to set; ``key`` is the server's id."""

# --- due times

HASTEN_VISIT = {
    column.name: sa.update(servers).where(
        servers.c.name.in_(bindparam("names", expanding=True)), servers.c.removed_at.is_(None), column > _AT
    )
    for column in (servers.c.next_due_at, servers.c.next_full_at)
}
"""By the due time that is brought forward."""

_due = sa.case(
    (servers.c.confirm_due_at < servers.c.next_due_at, servers.c.confirm_due_at), else_=servers.c.next_due_at
)
_visit_at = sa.case((servers.c.not_before > _due, servers.c.not_before), else_=_due)
_held = sa.exists().where(
    requests.c.server_id == servers.c.id,
    sa.or_(requests.c.claimed_by.is_not(None), requests.c.trigger == Trigger.DEPLOY),
)

DUE_SERVERS = (
    sa.select(servers)
    .where(servers.c.removed_at.is_(None), _visit_at <= _NOW)
    .order_by(_visit_at, servers.c.id)
    .limit(bindparam("limit"))
    .with_for_update(skip_locked=True)
)
OVERDUE = (
    sa.select(sa.func.count())
    .select_from(servers)
    .where(servers.c.removed_at.is_(None), _visit_at < _NOW, ~_held)
)
NEXT_VISIT = sa.select(sa.func.min(_visit_at)).where(servers.c.removed_at.is_(None), ~_held)

REQUESTS = (
    sa.select(requests, servers.c.name, servers.c.not_before)
    .join(servers, servers.c.id == requests.c.server_id)
    .where(servers.c.removed_at.is_(None))
    .order_by(requests.c.priority.desc(), requests.c.due_at, servers.c.name)
)
REQUESTS_OF = sa.select(requests).where(requests.c.server_id == _SERVER)
REQUESTS_FOR_UPDATE = REQUESTS.with_for_update(of=requests, skip_locked=True)
WAITING_REQUEST = sa.select(requests).where(
    requests.c.server_id == _SERVER, requests.c.trigger == bindparam("why"), requests.c.claimed_by.is_(None)
)
_this_request = (
    requests.c.server_id == bindparam("key"),
    requests.c.due_at == bindparam("was_due_at", type_=Moment),
    requests.c.trigger == bindparam("why"),
)
UPDATE_REQUEST = sa.update(requests).where(*_this_request)
DELETE_REQUEST = sa.delete(requests).where(*_this_request)
DELETE_REQUESTS_OF = sa.delete(requests).where(requests.c.server_id == _SERVER)
RUN_EXISTS = sa.select(runs.c.id).where(
    runs.c.server_id == _SERVER,
    runs.c.due_at == bindparam("was_due_at", type_=Moment),
    runs.c.trigger == bindparam("why"),
)

# --- deploys

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
    _OUTCOMES.where(outcomes.c.server_id == _SERVER)
    .order_by(releases.c.received_at.desc(), releases.c.id.desc())
    .limit(bindparam("limit"))
)
OUTCOMES_UNDER_WAY = _OUTCOMES.where(_under_way)
OUTCOMES_UNDER_WAY_OF = OUTCOMES_UNDER_WAY.where(outcomes.c.server_id == _SERVER)
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
    .values(state=DeployState.INCONCLUSIVE, verdict=DeployVerdict.INCONCLUSIVE, finished_at=_NOW)
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
    .values(due_at=_NOW)
)
"""Reads of a run that has begun are never far away, unless the clock was stepped back."""
LET_GO = (
    sa.update(deliveries)
    .where(
        deliveries.c.event_id.in_(bindparam("event_ids", expanding=True)),
        deliveries.c.message_id.is_(None),
        deliveries.c.not_before > _NOW,
    )
    .values(not_before=_NOW)
)

# --- what a run changes

TOOLSET_ID = sa.select(toolsets.c.id).where(
    toolsets.c.server_id == _SERVER,
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
        toolsets.c.server_id == _SERVER,
        toolsets.c.era == bindparam("which_era"),
        toolsets.c.credential == bindparam("label"),
        toolsets.c.pair == bindparam("which_pair"),
    )
    .values(
        last_confirmed_at=sa.case(
            (toolsets.c.last_confirmed_at > _AT, toolsets.c.last_confirmed_at), else_=_AT
        )
    )
)
CERTIFICATE_GONE = (
    sa.update(certificates)
    .where(certificates.c.server_id == _SERVER, certificates.c.leaf_sha256 == bindparam("leaf"))
    .values(last_seen_at=_AT)
)
CLOSE_INTERVAL = (
    sa.update(intervals)
    .where(
        intervals.c.server_id == _SERVER,
        intervals.c.subject == bindparam("of_subject"),
        intervals.c.until.is_(None),
    )
    # After the clock was stepped back a stretch ends where it began, not before.
    .values(until=sa.case((intervals.c.since > _AT, intervals.c.since), else_=_AT))
)
OPEN_INTERVAL = sa.insert(intervals)

# --- the outbox

_message_waits = sa.text(tables.MESSAGE_WAITS)
_delivery_waits = sa.and_(
    deliveries.c.message_id.is_(None), deliveries.c.suppressed_by.is_(None), deliveries.c.dropped_at.is_(None)
)
_delivery_is_held = sa.text(tables.DELIVERY_IS_HELD)
_channels: sa.BindParameter[Any] = bindparam("channels", expanding=True)

_PENDING_DELIVERIES = (
    sa.select(events, servers.c.name, deliveries.c.channel, deliveries.c.not_before)
    .join(events, events.c.id == deliveries.c.event_id)
    .outerjoin(servers, servers.c.id == events.c.server_id)
    .where(_delivery_waits)
    .order_by(events.c.kind != EventKind.TEST.value, events.c.at, events.c.id, deliveries.c.channel)
    .limit(bindparam("limit"))
)
DUE_CHANNELS = (
    sa.select(deliveries.c.channel).distinct().where(_delivery_waits, deliveries.c.not_before <= _NOW)
)
PENDING_DELIVERIES = _PENDING_DELIVERIES.where(deliveries.c.channel.in_(_channels))
TIE_DELIVERIES = (
    sa.update(deliveries)
    .where(
        deliveries.c.channel == bindparam("to_channel"),
        deliveries.c.event_id.in_(bindparam("event_ids", expanding=True)),
        _delivery_waits,
    )
    .values(message_id=bindparam("into"))
)
HELD_DELIVERIES = (
    sa.select(
        events, servers.c.name, deliveries.c.channel, deliveries.c.not_before, deliveries.c.suppressed_by
    )
    .join(events, events.c.id == deliveries.c.event_id)
    .outerjoin(servers, servers.c.id == events.c.server_id)
    .where(_delivery_is_held, deliveries.c.suppressed_by.not_in(bindparam("names", expanding=True)))
    .order_by(events.c.at, events.c.id, deliveries.c.channel)
)
HELD_DELIVERIES_OF = HELD_DELIVERIES.where(servers.c.name == _SERVER)
_this_held = (
    deliveries.c.event_id == bindparam("of_event"),
    deliveries.c.channel == bindparam("to_channel"),
    _delivery_is_held,
)
UPDATE_HELD = sa.update(deliveries).where(*_this_held)
WAITING_CHANNELS = (
    sa.select(messages.c.channel).distinct().where(messages.c.channel.in_(_channels), _message_waits)
)
FREE_CHANNELS = sa.select(channels).where(channels.c.name.in_(_channels)).with_for_update(skip_locked=True)
_is_trial = (
    sa.exists()
    .where(deliveries.c.message_id == messages.c.id, deliveries.c.event_id == events.c.id)
    .where(events.c.kind == EventKind.TEST.value)
)


def _oldest(*, trial: bool) -> sa.Select[Any]:
    return (
        sa.select(messages, sa.literal(trial).label("trial"))
        .where(
            messages.c.channel == bindparam("of_channel"), _message_waits, _is_trial if trial else ~_is_trial
        )
        .order_by(messages.c.created_at, messages.c.id)
        .limit(1)
    )


OLDEST_MESSAGE = _oldest(trial=False)
OLDEST_TRIAL = _oldest(trial=True)
UPDATE_CHANNEL = sa.update(channels).where(channels.c.name == bindparam("key"))
FREE_CHANNEL = (
    sa.update(channels)
    .where(channels.c.name == bindparam("key"), channels.c.claimed_by == bindparam("holder"))
    .values(claimed_by=None, claimed_until=None)
)
MESSAGE = sa.select(messages).where(messages.c.id == bindparam("key"))
UPDATE_MESSAGE = sa.update(messages).where(messages.c.id == bindparam("key"))
SETTLE_MESSAGE = (
    sa.update(messages)
    .where(
        messages.c.id == bindparam("key"),
        messages.c.claimed_by == bindparam("holder"),
        messages.c.attempts == bindparam("attempt"),
        messages.c.status == MessageStatus.SENDING,
    )
    .returning(messages.c.id)
)
DROP_MESSAGES = (
    sa.update(messages)
    .where(
        messages.c.channel.not_in(_channels),
        _message_waits,
        # One that is being sent at this moment is settled by its sender.
        sa.or_(messages.c.claimed_until.is_(None), messages.c.claimed_until <= _NOW),
    )
    .values(status=MessageStatus.DROPPED, claimed_by=None, claimed_until=None)
    .returning(messages.c.id)
)
DROP_DELIVERIES = (
    sa.update(deliveries)
    .where(
        deliveries.c.channel.not_in(_channels),
        deliveries.c.message_id.is_(None),
        deliveries.c.dropped_at.is_(None),
    )
    .values(dropped_at=_NOW)
    .returning(deliveries.c.event_id)
)
MESSAGES_LIKE = (
    sa.select(messages)
    .where(sa.func.substr(messages.c.id, 1, bindparam("length")) == bindparam("prefix"))
    .order_by(messages.c.id)
    .limit(2)
)
BACKLOG = (
    sa.select(messages.c.channel, sa.func.count(), sa.func.min(messages.c.created_at))
    .where(_message_waits)
    .group_by(messages.c.channel)
    .order_by(messages.c.channel)
)
_HORIZON = bindparam("horizon", type_=Moment)
HASTEN = (
    sa.update(messages)
    .where(_message_waits, messages.c.next_attempt_at > _HORIZON)
    .values(next_attempt_at=_NOW),
    sa.update(deliveries).where(_delivery_waits, deliveries.c.not_before > _HORIZON).values(not_before=_NOW),
    sa.update(channels).where(channels.c.paused_until > _HORIZON).values(paused_until=None),
)
"""Waits that end after the horizon end now."""

# --- silences, and what people say about incidents

ADD_SILENCE = sa.insert(silences)
UPDATE_SILENCE = sa.update(silences).where(silences.c.id == bindparam("key"))
SILENCES_AHEAD = sa.select(silences).where(silences.c.ends_at > _NOW, silences.c.lifted_at.is_(None))
SILENCES = sa.select(silences).order_by(silences.c.starts_at.desc(), silences.c.id).limit(bindparam("limit"))
SILENCES_IN_FORCE = SILENCES.where(
    silences.c.starts_at <= _NOW, silences.c.ends_at > _NOW, silences.c.lifted_at.is_(None)
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
    .values(next_reminder_at=_AT)
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

# --- history

_EVENTS = sa.select(events, servers.c.name).outerjoin(servers, servers.c.id == events.c.server_id)


EVENT = _EVENTS.where(events.c.id == bindparam("key"))
DELIVERIES_OF = (
    sa.select(
        deliveries.c.channel.label("to_channel"),
        deliveries.c.not_before,
        deliveries.c.suppressed_by,
        deliveries.c.dropped_at,
        messages,
    )
    .outerjoin(messages, messages.c.id == deliveries.c.message_id)
    .where(deliveries.c.event_id == bindparam("event"))
    .order_by(deliveries.c.channel)
)


def newest_events(
    server_id: int | None, before: tuple[Any, str] | None, kinds: Sequence[EventKind], since: Any | None
) -> sa.Select[Any]:
    """Events below a keyset, newest first."""
    query = _EVENTS.order_by(events.c.at.desc(), events.c.id.desc()).limit(bindparam("limit"))
    if server_id is not None:
        query = query.where(events.c.server_id == server_id)
    if before is not None:
        query = query.where(_below(events.c.at, events.c.id, before))
    if since is not None:
        query = query.where(events.c.at >= since)
    if kinds:
        query = query.where(events.c.kind.in_([kind.value for kind in kinds]))
    return query


def _below(time: sa.Column[Any], id_: sa.Column[Any], keyset: tuple[Any, Any]) -> sa.ColumnElement[bool]:
    """What comes after the keyset in an order by time, then id, newest first."""
    at, key = keyset
    return sa.or_(time < at, sa.and_(time == at, id_ < key))


EVENT = _EVENTS.where(events.c.id == bindparam("key"))


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
VALUE_AT = (
    sa.select(intervals.c.value)
    .where(
        intervals.c.server_id == _SERVER,
        intervals.c.subject == bindparam("of_subject"),
        intervals.c.since <= _AT,
        sa.or_(intervals.c.until.is_(None), intervals.c.until > _AT),
    )
    .order_by(intervals.c.since.desc(), intervals.c.id.desc())
    .limit(1)
)


def newest_runs(before: Any | None) -> sa.Select[Any]:
    """A server's runs below a keyset, newest first."""
    query = sa.select(runs).where(runs.c.server_id == _SERVER)
    if before is not None:
        query = query.where(runs.c.taken_at < before)
    return query.order_by(runs.c.taken_at.desc()).limit(bindparam("limit"))


CERTIFICATES = (
    sa.select(certificates, certificates.c.not_before.label("valid_from"))
    .where(certificates.c.server_id == _SERVER)
    .order_by(certificates.c.first_seen_at.desc(), certificates.c.leaf_sha256)
    .limit(bindparam("limit"))
)
TRANSCRIPTS = (
    sa.select(transcripts)
    .where(transcripts.c.server_id == _SERVER)
    .order_by(transcripts.c.taken_at.desc(), transcripts.c.depth)
)


def newest_messages(status: MessageStatus | None, before: tuple[Any, str] | None) -> sa.Select[Any]:
    """Messages below a keyset, newest first."""
    query = sa.select(messages)
    if status is not None:
        query = query.where(messages.c.status == status)
    if before is not None:
        query = query.where(_below(messages.c.created_at, messages.c.id, before))
    if status in (MessageStatus.PENDING, MessageStatus.SENDING):
        # Asked for every few seconds: these words let the partial index answer.
        query = query.where(_message_waits)
    return query.order_by(messages.c.created_at.desc(), messages.c.id.desc()).limit(bindparam("limit"))


def newest_intervals(subject: str | None, before: tuple[Any, int] | None) -> sa.Select[Any]:
    """A server's stretches below a keyset, newest first."""
    query = sa.select(intervals).where(intervals.c.server_id == _SERVER)
    if subject is not None:
        query = query.where(intervals.c.subject == subject)
    if before is not None:
        query = query.where(_below(intervals.c.since, intervals.c.id, before))
    return query.order_by(intervals.c.since.desc(), intervals.c.id.desc()).limit(bindparam("limit"))


_further = bodies.alias()
TOOLSET = (
    sa.select(toolsets, bodies.c.content.label("instructions"), _further.c.content.label("further"))
    .outerjoin(bodies, bodies.c.id == toolsets.c.instructions_id)
    .outerjoin(_further, _further.c.id == toolsets.c.further_id)
    .where(toolsets.c.server_id == _SERVER, toolsets.c.pair == bindparam("which_pair"))
    .order_by(toolsets.c.first_seen_at, toolsets.c.id)
    .limit(1)
)
TOOLSET_TOOLS = (
    sa.select(bodies.c.content)
    .join(toolset_tools, toolset_tools.c.body_id == bodies.c.id)
    .where(toolset_tools.c.toolset_id == bindparam("toolset"))
    .order_by(toolset_tools.c.position)
)
INSTANCES = sa.select(instances).order_by(instances.c.heartbeat_at.desc())
FORGET_INSTANCES = sa.delete(instances).where(instances.c.heartbeat_at < _HORIZON)


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
        self.instance = _replace(insert(instances), instances, keep=("started_at",))


def _replace(statement: Any, table: Table, keep: Sequence[str] = ()) -> Any:
    """Insert, or overwrite everything but the key and what is to be kept."""
    key = [column.name for column in table.primary_key]
    others = {
        column.name: statement.excluded[column.name]
        for column in table.c
        if column.name not in key and column.name not in keep
    }
    return statement.on_conflict_do_update(index_elements=key, set_=others)
