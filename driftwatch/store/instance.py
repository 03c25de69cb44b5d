"""One service for each database: a lock that the kernel releases when its holder dies, however it dies."""

import fcntl
import json
import os
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from driftwatch.errors import StoreBusyError, StoreError
from driftwatch.store.files import require_folder


class InstanceLock:
    """The lock of a running service, held on ``<database>.lock``. Reading needs none."""

    def __init__(self, database: Path) -> None:
        """Nothing is locked before ``acquire``. Two names of one database share the lock."""
        self._database = database
        self._path = database.resolve().with_name(database.resolve().name + ".lock")
        self._descriptor: int | None = None

    def acquire(self) -> None:
        """Take the lock.

        Raises StoreBusyError, which names the holder, when another process has it, StoreError when the
        lock's file cannot be written.
        """
        require_folder(self._database)
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise StoreError(
                f"{self._path} cannot be written ({error.strerror}): the service keeps its lock there, and "
                f"user {os.geteuid()} needs to write the database's folder; [storage] path names another"
            ) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.pread(descriptor, 1000, 0)
            os.close(descriptor)
            raise StoreBusyError(
                f"{self._database} is in use by another driftwatch{_described(holder)}; stop that one first, "
                "or give this one another [storage] path"
            ) from error
        except OSError as error:
            os.close(descriptor)
            raise StoreError(
                f"{self._path} cannot be locked ({error.strerror}); put the database on a local disk"
            ) from error
        here = {"pid": os.getpid(), "host": os.uname().nodename, "since": _now()}
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, json.dumps(here).encode(), 0)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let go. The file stays: removing it would let two processes lock two files of one name."""
        if self._descriptor is not None:
            os.ftruncate(self._descriptor, 0)
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()


def _described(holder: bytes) -> str:
    try:
        value = json.loads(holder)
        return f": process {value['pid']} on {value['host']}, since {value['since']}"
    except (ValueError, KeyError, TypeError):
        return ""


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
