"""The store on SQLite: one file, one writer, any number of readers (opened by ``connections``).

Write-ahead log, so that reading never waits; ``synchronous=FULL``, because the outbox promises what was
committed; every write transaction is IMMEDIATE, because a deferred one that reads first loses updates
without an error. Space is given back with ``incremental_vacuum``, which has to be chosen before the first
table exists.
"""

import asyncio
import logging
import sqlite3
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, closing, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self, TypeVar

from sqlalchemy import Connection
from sqlalchemy.dialects.sqlite import insert

from driftwatch.errors import StoreError
from driftwatch.store import connections, files, migrations
from driftwatch.store.connections import Mode
from driftwatch.store.faults import damaged, explained
from driftwatch.store.history import SqlReader
from driftwatch.store.instance import InstanceLock
from driftwatch.store.ports import Pruned, Reader, Retention, Tx
from driftwatch.store.repository import SqlTx
from driftwatch.store.retention import forget
from driftwatch.store.statements.upserts import Upserts
from driftwatch.store.unit import Process

__all__ = ["InstanceLock", "SqliteStore"]

log = logging.getLogger("driftwatch.store")

T = TypeVar("T")

APPLICATION_ID = 0x64726674
"""Marks the file as driftwatch's own ("drft"), so that another program's database is never touched."""

READERS = 4

SHORTEST_HISTORY = timedelta(days=1)
"""A size limit shortens the history no further than this."""

_UPSERTS = Upserts(insert)


def _utc_now() -> datetime:
    return datetime.now(UTC)


class SqliteStore:
    """The database in one SQLite file; implements ports.Store.

    Nothing is opened before the first use, and nothing is created but by ``migrate``.
    """

    def __init__(
        self,
        path: Path,
        *,
        backup_dir: Path | None = None,
        clock: Callable[[], datetime] = _utc_now,
        busy_timeout: timedelta = timedelta(seconds=5),
    ) -> None:
        """``backup_dir`` is where backups go, the database's folder without one.

        ``clock`` stands for the database's own, which SQLite does not have. A write waits ``busy_timeout``
        for one of another process.
        """
        self.path = path
        self._backup_dir = backup_dir or path.parent
        self._clock = clock
        self._wait = busy_timeout
        self._read_only = False
        self._checked = False
        self._identity: tuple[int, int] | None = None
        self._immutable = False
        self._process = Process(owner=uuid.uuid4().hex, upserts=_UPSERTS, clock=clock, alone=True)
        self._writing = connections.engine(
            lambda: self._connect("rw"), begin="BEGIN IMMEDIATE", connections=1
        )
        self._reading = connections.engine(lambda: self._connect("ro"), begin="BEGIN", connections=READERS)
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="driftwatch-write")
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="driftwatch-read")

    @classmethod
    def open_readonly(cls, path: Path) -> Self:
        """Open an existing database for reading only, also beside a running service or on a read-only volume.

        Raises StoreError when there is none, or it cannot be read, or has another schema than this version's.
        """
        store = cls(path)
        store._read_only = True
        try:
            store._check()
        except StoreError:
            store.close()
            raise
        return store

    @contextmanager
    def write(self) -> Iterator[Tx]:
        """One write transaction, committed at the end, rolled back on any exception."""
        with self._transaction() as connection:
            yield SqlTx(connection, self._process)

    @contextmanager
    def read(self) -> Iterator[Reader]:
        """One consistent read."""
        self._check()
        self._require_same_file()
        with self._explained(), self._reading.begin() as connection:
            yield SqlReader(connection, self._process)

    async def transact(self, work: Callable[[Tx], T]) -> T:
        """Run ``work`` in one write transaction on the writer thread.

        When the caller is cancelled meanwhile, a transaction that has begun still ends, one way or the other.
        """
        return await asyncio.get_running_loop().run_in_executor(self._writer, self._written, work)

    async def query(self, work: Callable[[Reader], T]) -> T:
        """Run ``work`` in one read on a reader thread."""
        return await asyncio.get_running_loop().run_in_executor(self._readers, self._was_read, work)

    def migrate(self) -> None:
        """Create the database, or check it and bring its schema up to date, after a backup.

        Raises StoreError, and changes nothing, when the file is damaged, is not driftwatch's, has the schema
        of a newer version, or cannot be written.
        """
        files.require_folder(self.path)
        files.require_no_orphan(self.path)
        self._warn_of_network()
        found = None
        with self._explained():
            if self.path.exists() and self.path.stat().st_size:
                with closing(self._connect("rw")) as connection:
                    found = self._require_sound(connection)
            files.create(self.path)
            with closing(self._connect("rwc")) as connection:
                connections.prepare(connection, self.path, fresh=found is None)
                if found not in (None, migrations.HEAD):
                    self._keep(connection, found)
            if found != migrations.HEAD:
                self._upgrade(fresh=found is None)
                fields = {"path": str(self.path), "from": found, "to": migrations.HEAD}
                log.info("migrated" if found else "created a new database", extra={"fields": fields})
        self._identity = files.identity(self.path)
        self._checked = True

    def prune(self, policy: Retention) -> Pruned:
        """Forget what is older than the policy allows, in small transactions; open incidents stay.

        Where the database is still too large, the history is made shorter, by a fifth at a time and not below
        SHORTEST_HISTORY.
        """
        pruned = forget(self._transaction, policy, policy.now - policy.keep)
        keep = policy.keep
        while self._used_bytes() > policy.max_bytes and keep > SHORTEST_HISTORY:
            keep = max(keep * 0.8, SHORTEST_HISTORY)
            pruned += forget(self._transaction, policy, policy.now - keep)
        if self._used_bytes() > policy.max_bytes:
            fields = {"bytes": self._used_bytes(), "max_size": policy.max_bytes}
            log.warning("the database is larger than max_size allows", extra={"fields": fields})
        return pruned + Pruned(bytes_freed=self._give_back())

    def backup(self, target: Path | None = None, *, keep: int | None = None) -> Path:
        """Copy the database as it is now, while it is in use; returns where to.

        Without a target the copy is named after the time, in the backup folder, and only the ``keep`` newest
        of these stay; those from before a migration are not counted. Raises StoreError when the target
        exists or cannot be written.
        """
        self._check()
        path = target or self._backup_dir / files.backup_name(self.path, self._clock())
        with self._explained(), closing(self._connect("ro")) as connection:
            files.copy_online(connection, path)
        if target is None and keep is not None:
            for old in files.backups(self._backup_dir, self.path, "")[: -max(keep, 1)]:
                old.unlink(missing_ok=True)
        return path

    def last_backup_at(self) -> datetime | None:
        """When the newest backup was made that nobody named; None without one."""
        newest = next(reversed(files.backups(self._backup_dir, self.path, "")), None)
        return None if newest is None else files.backed_up_at(newest, self.path)

    def restore(self, backup: Path) -> Path | None:
        """Put a backup in the place of the database, which no service may use; where the former one is now.

        An older schema is brought up to date by the next ``migrate``. Raises StoreError, and changes nothing,
        when the backup is not there, damaged, not driftwatch's, or has the schema of a newer version.
        """
        if not backup.is_file():
            newest = self._newest_backup()
            raise StoreError(f"there is no backup {backup}" + (f"; the newest is {newest}" if newest else ""))
        source = SqliteStore(backup)
        try:
            with source._explained(), closing(source._connect_to_read()) as connection:
                if source._require_sound(connection) is None:
                    raise StoreError(f"{backup} is empty; nothing was changed")
        finally:
            source.close()
        aside = self.path.with_name(f"{self.path.name}.before-{self._clock():%Y%m%dT%H%M%SZ}")
        return files.put_back(backup, self.path, aside)

    def check(self) -> list[str]:
        """Look for damage in the whole file, and for rows that point nowhere; empty when it is sound."""
        self._check()
        with self._explained(), closing(self._connect("ro")) as connection:
            found = list(files.faults(connection, thorough=True))
            for table, row, parent, _ in connection.execute("PRAGMA foreign_key_check"):
                found.append(f"{table} row {row} points to a {parent} that is not there")
        return found

    def close(self) -> None:
        """Finish what runs, checkpoint, close."""
        self._writer.shutdown()
        self._readers.shutdown()
        self._reading.dispose()
        self._writing.dispose()

    # --- opening

    def _connect(self, mode: Mode, *, foreign_keys: bool = True) -> sqlite3.Connection:
        return connections.connect(
            self.path, mode, wait=self._wait, immutable=self._immutable, foreign_keys=foreign_keys
        )

    def _require_sound(self, connection: sqlite3.Connection) -> str | None:
        """The schema's revision of an existing file, which is intact and ours."""
        fault = next(files.faults(connection), None)
        if fault is not None:
            raise damaged(self.path, fault, self._newest_backup())
        found = connections.revision(connection)
        self._require_ours(connection, found)
        return found

    def _check(self) -> None:
        """Once: there is a database, it is ours and its schema is this version's."""
        if self._checked:
            return
        files.require_database(self.path)
        with self._explained(), closing(self._connect_to_read()) as connection:
            found = connections.revision(connection)
            self._require_ours(connection, found)
        if found != migrations.HEAD:
            was = "is still empty" if found is None else f"has the schema {found} of an older version"
            raise StoreError(f"{self.path} {was}; `driftwatch run` of this version brings it up to date")
        self._identity = files.identity(self.path)
        self._checked = True

    def _connect_to_read(self) -> sqlite3.Connection:
        """Open for reading. On a volume that cannot be written nobody writes: then no lock is needed."""
        connection = self._connect("ro")
        try:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except sqlite3.OperationalError as error:
            connection.close()
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
                raise
            if files.has_log(self.path):
                raise StoreError(
                    f"{self.path} was not closed cleanly and its volume is read-only; copy it together with "
                    "its -wal to where it can be written, and read it there"
                ) from error
            self._immutable = True
            return self._connect("ro")
        except BaseException:
            connection.close()
            raise
        return connection

    def _require_ours(self, connection: sqlite3.Connection, found: str | None) -> None:
        mark = connections.pragma(connection, "application_id")
        empty = found is None and not connection.execute("SELECT 1 FROM sqlite_master").fetchone()
        if mark != APPLICATION_ID and not (empty and mark == 0):
            raise StoreError(f"{self.path} is the database of another program; give another [storage] path")
        if found is not None and found not in migrations.REVISIONS:
            backup = self._newest_backup()
            restore = (
                f", or put back {backup}" if backup else ", or put back a backup made before the upgrade"
            )
            raise StoreError(
                f"{self.path} was written by a newer driftwatch (schema {found}, this one knows "
                f"{migrations.HEAD}); run that version{restore}"
            )

    def _upgrade(self, *, fresh: bool) -> None:
        # Without foreign keys: a table that is rebuilt is dropped in between. They are checked at the end.
        engine = connections.engine(
            lambda: self._connect("rw", foreign_keys=False), begin="BEGIN IMMEDIATE", connections=0
        )
        with engine.begin() as connection:
            (migrations.create if fresh else migrations.upgrade)(connection)
            connection.exec_driver_sql(f"PRAGMA application_id = {APPLICATION_ID}")
            orphans = connection.exec_driver_sql("PRAGMA foreign_key_check").all()
            if orphans:
                raise StoreError(
                    f"{self.path}: the migration would leave rows that point nowhere ({orphans[0][0]}); "
                    "nothing was changed; run `driftwatch db check` and report what it says"
                )

    def _warn_of_network(self) -> None:
        try:
            mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="replace")
        except OSError:
            return  # not Linux
        kind = files.network_volume(self.path, mounts)
        if kind is not None:
            fields = {"path": str(self.path), "volume": kind}
            log.warning(
                "a database on a network volume can be damaged; use a local one", extra={"fields": fields}
            )

    def _keep(self, connection: sqlite3.Connection, revision: str) -> None:
        """Back up before a migration. One that is tried again and again leaves one backup, not many."""
        note = f"-schema-{revision}"
        target = self._backup_dir / files.backup_name(self.path, self._clock(), note)
        earlier = files.backups(self._backup_dir, self.path, note)
        if target not in earlier:
            files.copy_online(connection, target)
            for path in earlier:
                path.unlink(missing_ok=True)
        log.info("backed up before a migration", extra={"fields": {"backup": str(target)}})

    # --- working

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        if self._read_only:
            raise StoreError(f"{self.path} was opened for reading only")
        self._check()
        self._require_same_file()
        with self._explained(), self._writing.begin() as connection:
            yield connection

    def _require_same_file(self) -> None:
        """Refuse a file that nobody will find again: one that is open takes everything, deleted or not."""
        if files.identity(self.path) != self._identity:
            raise StoreError(
                f"{self.path} was removed or replaced while driftwatch was using it; what happens now is not "
                "recorded; put the file back and start driftwatch again"
            )

    def _written(self, work: Callable[[Tx], T]) -> T:
        with self.write() as tx:
            return work(tx)

    def _was_read(self, work: Callable[[Reader], T]) -> T:
        with self.read() as reader:
            return work(reader)

    def _explained(self) -> AbstractContextManager[None]:
        return explained(self.path, self._newest_backup)

    def _newest_backup(self) -> Path | None:
        return next(reversed(files.backups(self._backup_dir, self.path)), None)

    # --- space

    def size(self) -> int:
        """Bytes that it takes on disk."""
        return files.size_of(self.path)

    def _used_bytes(self) -> int:
        with self._explained(), closing(self._connect("ro")) as connection:
            return connections.used_bytes(connection)

    def _give_back(self) -> int:
        with self._explained(), closing(self._connect("rw")) as connection:
            return connections.give_back(connection)
