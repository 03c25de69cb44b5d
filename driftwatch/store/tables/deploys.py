"""Releases, the webhook's calls, and what they did to each server."""

from datetime import datetime

import sqlalchemy as sa
from sqlmodel import Field

from driftwatch.model import DeployState, DeployVerdict, Json, Level
from driftwatch.store.columns import JsonText, Moment, words
from driftwatch.store.tables.base import DEPLOY_UNDER_WAY, Row, partial_index, server_key


class Release(Row, table=True):
    """A deploy that a webhook named."""

    __tablename__ = "release"
    __table_args__ = (sa.Index(None, "received_at"),)

    id: str = Field(sa_type=sa.Text, primary_key=True)
    ref: Json = Field(sa_type=JsonText, nullable=False)
    previous_ref: Json = Field(sa_type=JsonText, nullable=True)
    commit: Json = Field(sa_type=JsonText, nullable=True)
    link: Json = Field(sa_type=JsonText, nullable=True)
    actor: Json = Field(sa_type=JsonText, nullable=True)
    environment: Json = Field(sa_type=JsonText, nullable=True)
    expect_change: bool
    servers: Json = Field(sa_type=JsonText)
    received_at: datetime = Field(sa_type=Moment)


class HookDelivery(Row, table=True):
    """A webhook call by its sender's id, so that a repeated call gets the first answer."""

    __tablename__ = "hook_delivery"
    __table_args__ = (sa.Index(None, "received_at"),)

    id: str = Field(sa_type=sa.Text, primary_key=True)
    body_sha256: str = Field(sa_type=sa.Text)
    received_at: datetime = Field(sa_type=Moment)
    release_id: str | None = Field(foreign_key="release.id", ondelete="SET NULL", sa_type=sa.Text)


class DeployOutcome(Row, table=True):
    """What became of a release on one server; its ``run_release`` is the one whose run looks after it."""

    __tablename__ = "deploy_outcome"
    __table_args__ = (
        partial_index("ix_deploy_outcome_under_way", "server_id", condition=DEPLOY_UNDER_WAY),
        sa.Index(None, "server_id", "release_id"),
        sa.Index(None, "run_release"),
        {"sqlite_with_rowid": False},
    )

    release_id: str = Field(
        foreign_key="release.id", ondelete="CASCADE", sa_type=sa.Text, primary_key=True, nullable=False
    )
    server_id: int = server_key(primary_key=True)
    run_release: str = Field(sa_type=sa.Text)
    """A newer announcement takes those along that still wait: one run answers all of them."""
    state: DeployState = Field(sa_type=words(DeployState))
    due_at: datetime = Field(sa_type=Moment)
    """No read before this counts."""
    progress: Json = Field(sa_type=JsonText, nullable=True)
    reads: int = Field(sa_type=sa.Integer)
    verdict: DeployVerdict | None = Field(sa_type=words(DeployVerdict))
    counts: Json = Field(sa_type=JsonText)
    changed: bool
    breaking: bool
    summary: Json = Field(sa_type=JsonText, nullable=False)
    level: Level | None = Field(sa_type=words(Level))
    finished_at: datetime | None = Field(sa_type=Moment)
    run: str | None = Field(sa_type=sa.Text)
    events: Json = Field(sa_type=JsonText)
