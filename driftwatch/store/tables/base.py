"""What all tables share."""

from typing import ClassVar

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from driftwatch.store.columns import BigCount

metadata = sa.MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
        "pk": "pk_%(table_name)s",
    }
)

MESSAGE_WAITS = "status IN ('pending', 'sending')"
DELIVERY_WAITS = "message_id IS NULL AND suppressed_by IS NULL AND dropped_at IS NULL"
DEPLOY_UNDER_WAY = "state IN ('waiting', 'settling')"
DELIVERY_IS_HELD = "suppressed_by IS NOT NULL AND dropped_at IS NULL"
"""Conditions of partial indexes; a statement has to use the same words for SQLite to see it."""


class Row(SQLModel):
    """The base of all tables; rows never leave this package."""

    metadata: ClassVar[sa.MetaData] = metadata


def partial_index(name: str, *columns: str, condition: str, unique: bool = False) -> sa.Index:
    """A partial index, so far in SQLite's words only: ``also_for_postgresql`` adds the other ones."""
    return sa.Index(name, *columns, unique=unique, sqlite_where=sa.text(condition))


def also_for_postgresql() -> None:
    """Make partial indexes the same on PostgreSQL, in what is migrated or written as a migration.

    To name its option loads its dialect, 2 MB that a service on SQLite does without.
    """
    for table in metadata.tables.values():
        for index in table.indexes:
            index.dialect_options["postgresql"]["where"] = index.dialect_options["sqlite"]["where"]


def server_key(*, primary_key: bool = False, nullable: bool = False) -> int:
    """The key of the server that a row is about; it goes with that."""
    key: int = Field(
        foreign_key="server.id",
        ondelete="CASCADE",
        primary_key=primary_key,
        nullable=nullable,
        sa_type=BigCount,
        sa_column_kwargs={"autoincrement": False},
    )
    return key
