"""What SQLite's errors mean to the person who runs driftwatch, and what to do about them."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from driftwatch.errors import StoreError

_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_READ_ONLY = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH)


@contextmanager
def explained(path: Path, newest_backup: Callable[[], Path | None] = lambda: None) -> Iterator[None]:
    """Turn what SQLite says about the file into a StoreError; mistakes in our own SQL pass as they are."""
    try:
        yield
    except PoolTimeoutError as error:
        raise StoreError(f"{path}: a write of this process has not ended for half a minute") from error
    except (DBAPIError, sqlite3.DatabaseError) as error:
        cause = error.orig if isinstance(error, DBAPIError) else error
        code = getattr(cause, "sqlite_errorcode", None)
        if code is None:
            raise
        primary = code & 0xFF
        if primary in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise damaged(path, str(cause), newest_backup()) from error
        sentence = sentence_for(path, primary, str(cause))
        if sentence is None:
            raise
        raise StoreError(sentence) from error


def sentence_for(path: Path, code: int, said: str) -> str | None:
    """What a primary result code means here; None for a code that no file or volume causes."""
    if code == sqlite3.SQLITE_FULL:
        return (
            f"{path}: no space is left; what was to be written is undone, nothing before it is lost; free "
            "some space on the volume, or lower [storage] keep and max_size"
        )
    if code in _READ_ONLY:
        return (
            f"{path} cannot be written ({said}): the file or its volume is read-only, or belongs to another "
            f"user; this is user {os.geteuid()}, who needs to write the file and its folder"
        )
    if code in _BUSY:
        return f"{path}: another process is writing to the database and does not let go; end it and try again"
    if code == sqlite3.SQLITE_CANTOPEN:
        return f"{path} cannot be opened: user {os.geteuid()} needs to read and write the file and its folder"
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOLFS, sqlite3.SQLITE_TOOBIG):
        return f"{path}: the volume does not answer as it should ({said}); look at its health and free space"
    return None


def damaged(path: Path, said: str, backup: Path | None) -> StoreError:
    """The error for a file that is no database (any more). driftwatch never starts empty in its place."""
    newest, file = ("the newest backup", quote(str(backup))) if backup else ("a backup", "FILE")
    return StoreError(
        f"{path} is not an intact SQLite database ({said}). Nothing was changed. If it is driftwatch's, "
        f"`driftwatch db restore {file}` puts back {newest} and keeps this file beside it; without one, move "
        "it away together with its -wal and -shm, and a new history begins. If it is not, give another "
        "[storage] path"
    )
