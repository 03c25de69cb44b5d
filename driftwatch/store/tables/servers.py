"""Servers, and every probe of them."""

from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Field

from driftwatch.model import Depth, Json, Trigger
from driftwatch.store.columns import BigCount, JsonText, Moment, PackedJson, words
from driftwatch.store.tables.base import Row, partial_index, server_key


class Server(Row, table=True):
    """A configured server. It stays, marked as removed, until its history has aged away."""

    __tablename__ = "server"
    __table_args__ = (
        partial_index(
            "ix_server_due",
            "next_due_at",
            "confirm_due_at",
            "not_before",
            condition="removed_at IS NULL",
        ),
        {"sqlite_autoincrement": True},
    )

    id: int = Field(primary_key=True, sa_type=BigCount)
    name: str = Field(sa_type=sa.Text, unique=True)
    url: str = Field(sa_type=sa.Text)
    host: str = Field(sa_type=sa.Text)
    credential: str = Field(sa_type=sa.Text)
    revision: str = Field(sa_type=sa.Text)
    tags: Json = Field(sa_type=JsonText)
    added_at: datetime = Field(sa_type=Moment)
    removed_at: datetime | None = Field(sa_type=Moment)
    next_due_at: datetime = Field(sa_type=Moment)
    next_full_at: datetime = Field(sa_type=Moment)
    confirm_due_at: datetime | None = Field(sa_type=Moment)
    confirm_depth: Depth | None = Field(sa_type=words(Depth))
    not_before: datetime | None = Field(sa_type=Moment)
    last_run_at: datetime | None = Field(sa_type=Moment)
    observed_at: datetime | None = Field(sa_type=Moment)
    """When its subjects were last observed, so that an unchanged probe writes this and not every state."""
    unobserved: Json = Field(sa_type=JsonText)
    """The exceptions: subject -> when it was last observed, in microseconds since 1970."""
    leaf_sha256: str | None = Field(sa_type=sa.Text)
    leaf_seen_at: datetime | None = Field(sa_type=Moment)
    leaf_since: datetime | None = Field(sa_type=Moment)
    """Since when it has been shown without another between."""


class ProbeRequestRow(Row, table=True):
    """A probe that waits (claimed_by is NULL) or was handed out and has no run yet."""

    __tablename__ = "probe_request"
    __table_args__ = (
        partial_index(
            "uq_probe_request_waiting",
            "server_id",
            "trigger",
            condition="claimed_by IS NULL",
            unique=True,
        ),
        {"sqlite_with_rowid": False},
    )

    server_id: int = server_key(primary_key=True)
    due_at: datetime = Field(sa_type=Moment, primary_key=True)
    trigger: Trigger = Field(sa_type=words(Trigger), primary_key=True)
    depth: Depth = Field(sa_type=words(Depth))
    priority: int = Field(sa_type=sa.Integer)
    release_ref: Json = Field(sa_type=JsonText, nullable=True)
    config_revision: str = Field(sa_type=sa.Text)
    attempt: int = Field(sa_type=sa.Integer)
    claimed_by: str | None = Field(sa_type=sa.Text)
    claimed_until: datetime | None = Field(sa_type=Moment)


class Run(Row, table=True):
    """One probe that was made. Its key is when and why it was due, so that a replay changes nothing."""

    __tablename__ = "run"
    __table_args__ = (sa.Index(None, "server_id", "taken_at"),)

    server_id: int = server_key(primary_key=True)
    due_at: datetime = Field(sa_type=Moment, primary_key=True)
    trigger: Trigger = Field(sa_type=words(Trigger), primary_key=True)
    id: str = Field(sa_type=sa.Text, unique=True)
    taken_at: datetime = Field(sa_type=Moment)
    depth: Depth = Field(sa_type=words(Depth))
    duration_ms: int = Field(sa_type=sa.Integer)
    requests: int = Field(sa_type=sa.Integer)
    reachable: bool
    verified: int = Field(sa_type=sa.Integer)
    failed: int = Field(sa_type=sa.Integer)
    observed_risk: int = Field(sa_type=sa.Integer)
    not_checked: int = Field(sa_type=sa.Integer)
    release_ref: Json = Field(sa_type=JsonText, nullable=True)


class TranscriptRow(Row, table=True):
    """What was said in the last probe of each depth; the next one takes its place."""

    __tablename__ = "transcript"

    server_id: int = server_key(primary_key=True)
    depth: Depth = Field(sa_type=words(Depth), primary_key=True)
    run: str = Field(sa_type=sa.Text)
    taken_at: datetime = Field(sa_type=Moment)
    content: Json = Field(sa_type=PackedJson, nullable=False)
