"""The database's file and its backups, as files."""

import glob
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path

from driftwatch.errors import StoreError

_NETWORK = frozenset(
    {"9p", "afs", "ceph", "cifs", "fuse.glusterfs", "fuse.sshfs", "nfs", "nfs4", "smb3", "smbfs"}
)


def require_folder(database: Path) -> None:
    """Raise StoreError where no database can be, whatever is done about it here."""
    try:
        is_folder, has_folder = database.is_dir(), database.parent.is_dir()
    except OSError as error:
        raise StoreError(
            f"{database} cannot be reached ({error.strerror}); this is user {os.geteuid()}"
        ) from error
    if is_folder:
        raise StoreError(
            f"{database} is a folder; [storage] path names a file, such as {database / 'driftwatch.db'}"
        )
    if not has_folder:
        raise StoreError(
            f"the folder {database.parent} does not exist; create it, or mount its volume, or correct "
            "[storage] path"
        )


def require_no_orphan(database: Path) -> None:
    """Raise StoreError where the main file is gone and its log is not: SQLite would delete the log."""
    if not database.exists() and has_log(database):
        raise StoreError(
            f"{database} is missing, but {_log(database)} is there and holds what was written last; put the "
            "database back, or move that file away to begin a new history"
        )


def create(database: Path) -> None:
    """An empty file for this user's eyes only, where there is none; SQLite gives its log the same mode.

    Whatever stands in the way is for SQLite to say when it opens the file.
    """
    with suppress(OSError):
        os.close(_create(database))


def has_log(database: Path) -> bool:
    """Whether something was written that is not in the main file yet."""
    log = _log(database)
    return log.exists() and log.stat().st_size > 0


def size_of(database: Path) -> int:
    """Bytes of the database and of what is not in its main file yet."""
    found = (path.stat().st_size for path in (database, _log(database)) if path.exists())
    return sum(found)


def require_database(database: Path) -> None:
    """Raise StoreError where there is no database to open."""
    require_folder(database)
    if not database.exists():
        raise StoreError(
            f"there is no database at {database} yet; `driftwatch run` creates it, or correct [storage] path"
        )


def identity(database: Path) -> tuple[int, int] | None:
    """What stays the same as long as the path names the same file; None where there is none."""
    try:
        found = database.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def network_volume(database: Path, mounts: str) -> str | None:
    """The type of the volume if it is a network's, where locks and the shared log's memory do not hold.

    ``mounts`` is the text of ``/proc/self/mounts``: device, mount point, type, ...
    """
    types = {}
    for line in mounts.splitlines():
        _, point, kind, *_ = line.split(" ")
        types[Path(point.replace("\\040", " "))] = kind
    found = next((types[folder] for folder in database.resolve().parents if folder in types), None)
    return found if found in _NETWORK else None


def copy_online(source: sqlite3.Connection, target: Path) -> None:
    """Copy a database that is in use, as it is now, into one file that is complete or does not exist."""
    if target.exists():
        raise StoreError(f"{target} exists already; a backup overwrites nothing, give another name")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        partial = target.with_name(target.name + ".partial")
        partial.unlink(missing_ok=True)
        os.close(_create(partial))
        try:
            with closing(sqlite3.connect(partial, isolation_level=None)) as copy:
                source.backup(copy)
                copy.execute("PRAGMA journal_mode = DELETE")
                fault = next(faults(copy), None)
            if fault is not None:
                raise StoreError(f"the backup {target} would have been damaged ({fault}); it was not kept")
            partial.replace(target)
        finally:
            partial.unlink(missing_ok=True)
        _sync(target.parent)
    except (FileExistsError, NotADirectoryError) as error:
        raise StoreError(f"the backup {target} cannot be written: {target.parent} is not a folder") from error
    except OSError as error:
        raise StoreError(f"the backup {target} cannot be written: {error.strerror}") from error
    except sqlite3.OperationalError as error:
        raise StoreError(f"the backup {target} cannot be written: {error}") from error


def put_back(backup: Path, database: Path, aside: Path) -> Path | None:
    """Put a backup in the place of a database that nobody uses, which goes ``aside`` with its log.

    Returns where the former one is now; None without one. Raises StoreError, and leaves the database where
    it is, when the backup cannot be copied.
    """
    require_folder(database)
    partial = database.with_name(database.name + ".partial")
    try:
        partial.unlink(missing_ok=True)
        with backup.open("rb") as source, os.fdopen(_create(partial), "wb") as copy:
            shutil.copyfileobj(source, copy)
            copy.flush()
            os.fsync(copy.fileno())
        existed = database.exists()
        for suffix in ("-wal", "-shm", ""):
            part = database.with_name(database.name + suffix)
            if part.exists():
                part.rename(aside.with_name(aside.name + suffix))
        partial.replace(database)
        _sync(database.parent)
    except OSError as error:
        raise StoreError(f"{backup} cannot be put in the place of {database}: {error.strerror}") from error
    finally:
        partial.unlink(missing_ok=True)
    return aside if existed else None


def faults(connection: sqlite3.Connection, *, thorough: bool = False) -> Iterator[str]:
    """What SQLite finds wrong in the file's structure; thorough also compares indexes with their tables."""
    pragma = "integrity_check" if thorough else "quick_check"
    for (line,) in connection.execute(f"PRAGMA {pragma}(20)"):
        if line != "ok":
            yield line


def backup_name(database: Path, now: datetime, note: str = "") -> str:
    """The file name of a backup that nobody named; by name they sort by age."""
    return f"{database.stem}-{now:%Y%m%dT%H%M%SZ}{note}.db"


def backed_up_at(backup: Path, database: Path) -> datetime | None:
    """When a backup was made, by its name; None where the name says no time."""
    stamp = backup.stem.removeprefix(f"{database.stem}-")[:16]
    try:
        return datetime.strptime(stamp, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError:
        return None


def backups(folder: Path, database: Path, note: str = "*") -> list[Path]:
    """The backups that nobody named, oldest first."""
    return sorted(folder.glob(f"{glob.escape(database.stem)}-[0-9]*Z{note}.db"))


def _create(path: Path) -> int:
    return os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)


def _log(database: Path) -> Path:
    return database.with_name(database.name + "-wal")


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
