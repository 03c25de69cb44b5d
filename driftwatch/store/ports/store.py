"""The store as the rest of driftwatch holds it."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from driftwatch.store.ports.reader import Reader
from driftwatch.store.ports.tx import Tx
from driftwatch.store.ports.upkeep import Pruned, Retention

T = TypeVar("T")


class Store(Protocol):
    """The database: one writer at a time, any number of readers."""

    def write(self) -> AbstractContextManager[Tx]:
        """One write transaction, committed at the end, rolled back on any exception."""

    def read(self) -> AbstractContextManager[Reader]:
        """One consistent read."""

    async def transact(self, work: Callable[[Tx], T]) -> T:
        """Run ``work`` in one write transaction on the writer thread."""

    async def query(self, work: Callable[[Reader], T]) -> T:
        """Run ``work`` in one read on a reader thread."""

    def migrate(self) -> None:
        """Bring the schema up to date, after a backup when there was one before."""

    def backup(self, target: Path | None = None, *, keep: int | None = None) -> Path:
        """Copy the store as it is now, while it is in use; only the ``keep`` newest copies stay."""

    def last_backup_at(self) -> datetime | None:
        """When the newest copy was made that nobody named; None without one."""

    def prune(self, policy: Retention) -> Pruned:
        """Forget what is older than the policy allows, in small transactions; open incidents stay."""

    def size(self) -> int:
        """Bytes that it takes on disk."""

    def close(self) -> None:
        """Finish what runs, checkpoint, close."""
