"""The present and the past of every check and toolset."""

from datetime import datetime
from typing import ClassVar

import sqlalchemy as sa
from sqlmodel import Field

from driftwatch.model import Json, State
from driftwatch.store.columns import BigCount, JsonText, Moment, words
from driftwatch.store.tables.base import Row, partial_index, server_key


class SubjectStateRow(Row, table=True):
    """What is remembered about one subject; when it was last observed stands in the server's row."""

    __tablename__ = "subject_state"
    __table_args__: ClassVar = {"sqlite_with_rowid": False}

    server_id: int = server_key(primary_key=True)
    subject: str = Field(sa_type=sa.Text, primary_key=True)
    confirmed: str = Field(sa_type=sa.Text)
    confirmed_since: datetime = Field(sa_type=Moment)
    accepted: str | None = Field(sa_type=sa.Text)
    pending: str | None = Field(sa_type=sa.Text)
    pending_count: int = Field(sa_type=sa.Integer)
    pending_since: datetime | None = Field(sa_type=Moment)
    blocked_by: str | None = Field(sa_type=sa.Text)
    blocked_since: datetime | None = Field(sa_type=Moment)
    blocked_code: str | None = Field(sa_type=sa.Text)
    flap_times: Json = Field(sa_type=JsonText)
    flap_values: Json = Field(sa_type=JsonText)
    flapping: bool
    flap_muted: int = Field(sa_type=sa.Integer)
    turns: Json = Field(sa_type=JsonText)
    turning_since: datetime | None = Field(sa_type=Moment)
    stable_count: int = Field(sa_type=sa.Integer)
    incident: str | None = Field(sa_type=sa.Text)
    version: int = Field(sa_type=sa.Integer)
    settings: str = Field(sa_type=sa.Text)
    detail: Json = Field(sa_type=JsonText)


class StandingRow(Row, table=True):
    """A server's states summed up, written with them: a fleet is listed without reading every state."""

    __tablename__ = "standing"
    __table_args__: ClassVar = {"sqlite_with_rowid": False}

    server_id: int = server_key(primary_key=True)
    verified: int = Field(sa_type=sa.Integer)
    failed: int = Field(sa_type=sa.Integer)
    observed_risk: int = Field(sa_type=sa.Integer)
    not_checked: int = Field(sa_type=sa.Integer)
    worst: State = Field(sa_type=words(State))
    changed_at: datetime | None = Field(sa_type=Moment)


class StateInterval(Row, table=True):
    """A stretch of time in which a subject was observed with one value; the open one has no end."""

    __tablename__ = "state_interval"
    __table_args__ = (
        sa.Index(None, "server_id", "subject", "since"),
        partial_index(
            "uq_state_interval_open",
            "server_id",
            "subject",
            condition="until IS NULL",
            unique=True,
        ),
        partial_index("ix_state_interval_closed", "until", condition="until IS NOT NULL"),
        {"sqlite_autoincrement": True},
    )

    id: int = Field(primary_key=True, sa_type=BigCount)
    server_id: int = server_key()
    subject: str = Field(sa_type=sa.Text)
    value: str = Field(sa_type=sa.Text)
    since: datetime = Field(sa_type=Moment)
    until: datetime | None = Field(sa_type=Moment)
    event: str | None = Field(sa_type=sa.Text)


class IncidentRow(Row, table=True):
    """An incident; a subject has at most one open one."""

    __tablename__ = "incident"
    __table_args__ = (
        partial_index("uq_incident_open", "server_id", "subject", condition="closed_at IS NULL", unique=True),
    )

    id: str = Field(sa_type=sa.Text, primary_key=True)
    server_id: int = server_key()
    subject: str = Field(sa_type=sa.Text)
    opened_at: datetime = Field(sa_type=Moment)
    opening_event: str = Field(sa_type=sa.Text)
    value: str = Field(sa_type=sa.Text)
    acked_at: datetime | None = Field(sa_type=Moment)
    acked_by: Json = Field(sa_type=JsonText, nullable=True)
    next_reminder_at: datetime | None = Field(sa_type=Moment)
    closed_at: datetime | None = Field(sa_type=Moment)
    closing_event: str | None = Field(sa_type=sa.Text)
