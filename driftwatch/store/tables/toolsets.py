"""Tool lists, each tool stored once per content, and certificates."""

from datetime import datetime
from typing import ClassVar

import sqlalchemy as sa
from sqlmodel import Field

from driftwatch.model import Json
from driftwatch.store.columns import BigCount, JsonText, Moment
from driftwatch.store.tables.base import Row, server_key


class Body(Row, table=True):
    """A tool object, or a server's instructions as a JSON string, once per content."""

    __tablename__ = "body"
    __table_args__: ClassVar = {"sqlite_autoincrement": True}

    id: int = Field(primary_key=True, sa_type=BigCount)
    sha256: str = Field(sa_type=sa.Text, unique=True)
    """Hex, of the canonical text."""
    content: Json = Field(sa_type=JsonText, nullable=False)


class Toolset(Row, table=True):
    """One complete tool list that a server showed."""

    __tablename__ = "toolset"
    __table_args__ = (
        sa.UniqueConstraint("server_id", "era", "credential", "pair"),
        {"sqlite_autoincrement": True},
    )

    id: int = Field(primary_key=True, sa_type=BigCount)
    server_id: int = server_key()
    era: str = Field(sa_type=sa.Text)
    credential: str = Field(sa_type=sa.Text)
    pair: str = Field(sa_type=sa.Text)
    revision: Json = Field(sa_type=JsonText, nullable=False)
    algorithm: str = Field(sa_type=sa.Text)
    contract: str = Field(sa_type=sa.Text)
    surface: str = Field(sa_type=sa.Text)
    checklist: str | None = Field(sa_type=sa.Text)
    instructions_id: int | None = Field(foreign_key="body.id", sa_type=BigCount)
    further_id: int | None = Field(foreign_key="body.id", sa_type=BigCount)
    """The other lists that are watched, by kind, as one body."""
    first_seen_at: datetime = Field(sa_type=Moment)
    last_confirmed_at: datetime | None = Field(sa_type=Moment)
    """When it last became, or ceased to be, the confirmed one; NULL when it never was."""


class ToolsetTool(Row, table=True):
    """A tool's place in a tool list."""

    __tablename__ = "toolset_tool"
    __table_args__ = (sa.Index(None, "body_id"), {"sqlite_with_rowid": False})

    toolset_id: int = Field(
        foreign_key="toolset.id",
        ondelete="CASCADE",
        primary_key=True,
        sa_type=BigCount,
        sa_column_kwargs={"autoincrement": False},
    )
    position: int = Field(primary_key=True, sa_type=sa.Integer, sa_column_kwargs={"autoincrement": False})
    name: Json = Field(sa_type=JsonText, nullable=False)
    digest: str = Field(sa_type=sa.Text)
    """Of what is meaningful in the tool, by the toolset's algorithm; the body may differ in what is not."""
    body_id: int = Field(foreign_key="body.id", sa_type=BigCount)


class CertificateRow(Row, table=True):
    """A leaf certificate that a server showed."""

    __tablename__ = "certificate"
    __table_args__: ClassVar = {"sqlite_with_rowid": False}

    server_id: int = server_key(primary_key=True)
    leaf_sha256: str = Field(sa_type=sa.Text, primary_key=True)
    not_before: datetime = Field(sa_type=Moment)
    not_after: datetime = Field(sa_type=Moment)
    issuer: Json = Field(sa_type=JsonText, nullable=False)
    subject_alt_names: Json = Field(sa_type=JsonText)
    version: str | None = Field(sa_type=sa.Text)
    chain_length: int = Field(sa_type=sa.Integer)
    serial: str = Field(sa_type=sa.Text)
    first_seen_at: datetime = Field(sa_type=Moment)
    last_seen_at: datetime = Field(sa_type=Moment)
    """Of the one that is shown now, the server's row knows better."""


class TlsNotice(Row, table=True):
    """A threshold of a certificate's lifetime that was spoken about, or passed together with a closer one.

    ``transitions.certificates`` has marks that stand in the place of a threshold.
    """

    __tablename__ = "tls_notice"
    __table_args__ = (
        sa.ForeignKeyConstraint(
            ["server_id", "leaf_sha256"],
            ["certificate.server_id", "certificate.leaf_sha256"],
            ondelete="CASCADE",
        ),
        {"sqlite_with_rowid": False},
    )

    server_id: int = Field(sa_type=BigCount, primary_key=True, sa_column_kwargs={"autoincrement": False})
    leaf_sha256: str = Field(sa_type=sa.Text, primary_key=True)
    threshold_days: int = Field(
        primary_key=True, sa_type=sa.Integer, sa_column_kwargs={"autoincrement": False}
    )
    at: datetime = Field(sa_type=Moment)
    event: str | None = Field(sa_type=sa.Text)
