"""Deliveries, messages and channels."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import bindparam

from driftwatch.model import EventKind
from driftwatch.store import tables
from driftwatch.store.ports import MessageStatus
from driftwatch.store.statements.schema import (
    HORIZON,
    NOW,
    WHICH_SERVER,
    below,
    channels,
    deliveries,
    events,
    messages,
    servers,
)

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
    sa.select(deliveries.c.channel).distinct().where(_delivery_waits, deliveries.c.not_before <= NOW)
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
HELD_DELIVERIES_OF = HELD_DELIVERIES.where(servers.c.name == WHICH_SERVER)
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
        sa.or_(messages.c.claimed_until.is_(None), messages.c.claimed_until <= NOW),
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
    .values(dropped_at=NOW)
    .returning(deliveries.c.event_id)
)
MESSAGES_LIKE = (
    sa.select(messages)
    .where(sa.func.substr(messages.c.id, 1, bindparam("length")) == bindparam("prefix"))
    .order_by(messages.c.id)
    .limit(2)
)
BACKLOG = (
    sa.select(
        messages.c.channel,
        messages.c.created_at,
        messages.c.attempts,
        messages.c.next_attempt_at,
        messages.c.last_error,
    )
    .where(_message_waits)
    .order_by(messages.c.channel, messages.c.created_at, messages.c.id)
)
"""Few rows: a channel has at most one message on its way, beside tests and what people send again."""
WAITING_EVENTS = (
    sa.select(deliveries.c.channel, sa.func.count().label("number"))
    .where(_delivery_waits)
    .group_by(deliveries.c.channel)
)
HASTEN = (
    sa.update(messages)
    .where(_message_waits, messages.c.next_attempt_at > HORIZON)
    .values(next_attempt_at=NOW),
    sa.update(deliveries).where(_delivery_waits, deliveries.c.not_before > HORIZON).values(not_before=NOW),
)
"""Waits that end after the horizon end now."""
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


def newest_messages(status: MessageStatus | None, before: tuple[Any, str] | None) -> sa.Select[Any]:
    """Messages below a keyset, newest first."""
    query = sa.select(messages)
    if status is not None:
        query = query.where(messages.c.status == status)
    if before is not None:
        query = query.where(below(messages.c.created_at, messages.c.id, before))
    if status in (MessageStatus.PENDING, MessageStatus.SENDING):
        # Asked for every few seconds: these words let the partial index answer.
        query = query.where(_message_waits)
    return query.order_by(messages.c.created_at.desc(), messages.c.id.desc()).limit(bindparam("limit"))
