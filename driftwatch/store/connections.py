"""Connections to one SQLite file: how they are opened and set, and what they say about the file."""

import sqlite3
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Literal, TypeAlias

from sqlalchemy import Engine, NullPool, QueuePool, create_engine, event

from driftwatch.errors import StoreError

WAL_LIMIT_BYTES = 64 * 2**20
VACUUM_PAGES = 2000
"""Pages given back in one transaction: about 8 MB, some tens of milliseconds."""

Mode: TypeAlias = Literal["ro", "rw", "rwc"]


def connect(
    path: Path, mode: Mode, *, wait: timedelta, immutable: bool = False, foreign_keys: bool = True
) -> sqlite3.Connection:
    """Open the file; only ``rwc`` creates it. ``wait`` is for the lock of another process."""
    connection = sqlite3.connect(
        f"{path.absolute().as_uri()}?mode={mode}{'&immutable=1' if immutable else ''}",
        uri=True,
        timeout=wait.total_seconds(),
        isolation_level=None,
        check_same_thread=False,
        cached_statements=256,
    )
    try:
        # The root filesystem may be read-only: what is sorted or undone stays in memory.
        connection.execute("PRAGMA temp_store = MEMORY")
        if mode == "ro":
            connection.execute("PRAGMA query_only = ON")
        else:
            connection.execute(f"PRAGMA foreign_keys = {foreign_keys:d}")
            connection.execute("PRAGMA synchronous = FULL")
            connection.execute(f"PRAGMA journal_size_limit = {WAL_LIMIT_BYTES}")
    except BaseException:
        connection.close()
        raise
    return connection


def prepare(connection: sqlite3.Connection, path: Path, *, fresh: bool) -> None:
    """Set what is kept in the file itself, and find out whether it can be written at all.

    In this order: the write-ahead log writes the first page, and then it is too late for the other.
    """
    if fresh:
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    (journal,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if journal != "wal":
        raise StoreError(
            f"{path}: its volume does not carry a write-ahead log (SQLite stays in {journal} "
            "mode); put the database on a local disk"
        )
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("ROLLBACK")


def engine(opened: Callable[[], sqlite3.Connection], *, begin: str, connections: int) -> Engine:
    """An engine whose transactions begin the way we say; the driver's own way loses updates."""
    if connections:
        made = create_engine(
            "sqlite://", creator=opened, poolclass=QueuePool, pool_size=connections, max_overflow=0
        )
    else:
        made = create_engine("sqlite://", creator=opened, poolclass=NullPool)
    event.listen(made, "begin", lambda connection: connection.exec_driver_sql(begin))
    return made


def revision(connection: sqlite3.Connection) -> str | None:
    """The schema's revision; None where there is no schema yet."""
    exists = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'alembic_version'").fetchone()
    row = connection.execute("SELECT version_num FROM alembic_version").fetchone() if exists else None
    return None if row is None else str(row[0])


def pragma(connection: sqlite3.Connection, name: str) -> int:
    """A number that is kept in the file's header."""
    (value,) = connection.execute(f"PRAGMA {name}").fetchone()
    return int(value)


def used_bytes(connection: sqlite3.Connection) -> int:
    """What the file takes without its free pages."""
    pages, free, size = _pages(connection)
    return (pages - free) * size


def give_back(connection: sqlite3.Connection) -> int:
    """Shorten the file by its free pages, some at a time; how many bytes that was."""
    before, free, size = _pages(connection)
    pages = before
    while free:
        # As a script: of this statement ``execute`` would run one step, which frees one page.
        connection.executescript(f"PRAGMA incremental_vacuum({VACUUM_PAGES})")
        pages, left, _ = _pages(connection)
        if left >= free:
            break
        free = left
    connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
    return max(0, before - pages) * size


def _pages(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Pages of the file, free ones among them, and bytes of each."""
    return (
        pragma(connection, "page_count"),
        pragma(connection, "freelist_count"),
        pragma(connection, "page_size"),
    )
