"""Events, what is written about them, where it goes, and what is silenced."""

from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Field

from driftwatch.model import EventKind, Json, Level
from driftwatch.store.columns import JsonText, Moment, words
from driftwatch.store.ports import DeliveryOutcome, MessageStatus
from driftwatch.store.tables.base import (
    DELIVERY_IS_HELD,
    DELIVERY_WAITS,
    MESSAGE_WAITS,
    Row,
    partial_index,
    server_key,
)


class EventRow(Row, table=True):
    """Something that happened; the fields of model.Event."""

    __tablename__ = "event"
    __table_args__ = (sa.Index(None, "at", "id"), sa.Index(None, "server_id", "at", "id"))

    id: str = Field(sa_type=sa.Text, primary_key=True)
    server_id: int | None = server_key(nullable=True)
    kind: EventKind = Field(sa_type=sa.Text)
    level: Level = Field(sa_type=words(Level))
    alerts: bool
    at: datetime = Field(sa_type=Moment)
    run: str | None = Field(sa_type=sa.Text)
    subject: str | None = Field(sa_type=sa.Text)
    before: str | None = Field(sa_type=sa.Text)
    after: str | None = Field(sa_type=sa.Text)
    since: datetime | None = Field(sa_type=Moment)
    details: Json = Field(sa_type=JsonText)


class Channel(Row, table=True):
    """A channel's lease; whoever holds the lease is the only one to send there."""

    __tablename__ = "channel"

    name: str = Field(sa_type=sa.Text, primary_key=True)
    claimed_by: str | None = Field(sa_type=sa.Text)
    claimed_until: datetime | None = Field(sa_type=Moment)


class Message(Row, table=True):
    """A message as it was written, and what became of it."""

    __tablename__ = "message"
    __table_args__ = (
        partial_index(
            "ix_message_waiting",
            "channel",
            "created_at",
            "id",
            condition=MESSAGE_WAITS,
        ),
        sa.Index(None, "created_at", "id"),
    )

    id: str = Field(sa_type=sa.Text, primary_key=True)
    channel: str = Field(sa_type=sa.Text)
    title: Json = Field(sa_type=JsonText, nullable=False)
    body: Json = Field(sa_type=JsonText, nullable=False)
    html: Json = Field(sa_type=JsonText, nullable=True)
    level: Level = Field(sa_type=words(Level))
    created_at: datetime = Field(sa_type=Moment)
    events: Json = Field(sa_type=JsonText)
    status: MessageStatus = Field(sa_type=words(MessageStatus))
    attempts: int = Field(sa_type=sa.Integer)
    attempt_started_at: datetime | None = Field(sa_type=Moment)
    next_attempt_at: datetime | None = Field(sa_type=Moment)
    claimed_by: str | None = Field(sa_type=sa.Text)
    claimed_until: datetime | None = Field(sa_type=Moment)
    possible_repeat: bool
    last_outcome: DeliveryOutcome | None = Field(sa_type=words(DeliveryOutcome))
    last_error: Json = Field(sa_type=JsonText, nullable=True)
    sent_at: datetime | None = Field(sa_type=Moment)


class EventDelivery(Row, table=True):
    """That an event goes to a channel. It ends in a message, suppressed, or dropped.

    What is suppressed waits for the end of its silence: then it is no longer suppressed, or dropped as well.
    """

    __tablename__ = "event_delivery"
    __table_args__ = (
        partial_index(
            "ix_event_delivery_waiting",
            "channel",
            "not_before",
            condition=DELIVERY_WAITS,
        ),
        partial_index("ix_event_delivery_held", "event_id", condition=DELIVERY_IS_HELD),
        sa.Index(None, "message_id"),
        {"sqlite_with_rowid": False},
    )

    event_id: str = Field(foreign_key="event.id", ondelete="CASCADE", sa_type=sa.Text, primary_key=True)
    channel: str = Field(sa_type=sa.Text, primary_key=True)
    not_before: datetime = Field(sa_type=Moment)
    message_id: str | None = Field(foreign_key="message.id", sa_type=sa.Text)
    suppressed_by: str | None = Field(sa_type=sa.Text)
    dropped_at: datetime | None = Field(sa_type=Moment)


class Silence(Row, table=True):
    """A time in which what matches is stored as suppressed; it always ends."""

    __tablename__ = "silence"

    id: str = Field(sa_type=sa.Text, primary_key=True)
    matcher: Json = Field(sa_type=JsonText)
    starts_at: datetime = Field(sa_type=Moment)
    ends_at: datetime = Field(sa_type=Moment)
    reason: Json = Field(sa_type=JsonText, nullable=False)
    created_by: Json = Field(sa_type=JsonText, nullable=True)
    lifted_at: datetime | None = Field(sa_type=Moment)
