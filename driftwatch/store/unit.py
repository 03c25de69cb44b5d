"""What every part of a transaction or a read stands on: one connection and a few facts about the process."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Executable, Row, RowMapping

from driftwatch.errors import StoreError
from driftwatch.store import mapping
from driftwatch.store.statements import servers as sql
from driftwatch.store.statements.upserts import Upserts
from driftwatch.transitions import Memory
from driftwatch.transitions.memory import REPROBE_WINDOW


@dataclass(frozen=True, slots=True, kw_only=True)
class Process:
    """Who writes, on which back end."""

    owner: str
    """Names this process in its claims on probe requests."""
    upserts: Upserts
    clock: Callable[[], datetime]
    """The database's clock; SQLite has none but its process's."""
    alone: bool
    """True where an instance lock proves that no other service works on this database."""


def unknown_server(name: str) -> StoreError:
    """The error for a server that was never configured."""
    return StoreError(f"the database knows no server named {name!r}; start the service with it once")


class Unit:
    """One unit of work on one connection."""

    def __init__(self, connection: Connection, process: Process) -> None:
        """The connection is in a transaction; whoever opened it ends it."""
        self._connection = connection
        self._process = process
        self._ids: dict[str, int] = {}

    def _rows(self, statement: Executable, **parameters: Any) -> Sequence[RowMapping]:
        return self._connection.execute(statement, parameters).mappings().all()

    def _first(self, statement: Executable, **parameters: Any) -> Row[Any] | None:
        return self._connection.execute(statement, parameters).first()

    def _run(self, statement: Executable, values: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> None:
        if values:
            self._connection.execute(statement, values)

    def _find_server(self, name: str) -> int | None:
        if name not in self._ids:
            row = self._first(sql.SERVER_ID, server=name)
            if row is None:
                return None
            self._ids[name] = row.id
        return self._ids[name]

    def _server_id(self, name: str) -> int:
        """The key of a server. Raises StoreError for one that was never configured."""
        key = self._find_server(name)
        if key is None:
            raise unknown_server(name)
        return key

    def _memory(self, name: str, *, lock: bool = False) -> tuple[RowMapping, Memory] | None:
        found = self._rows(sql.SERVER_FOR_UPDATE if lock else sql.SERVER, server=name)
        if not found:
            return None
        server = found[0]
        key = self._ids[name] = server["id"]
        memory = mapping.memory(
            server,
            self._rows(sql.STATES, server=key),
            self._rows(sql.OPEN_INCIDENTS, server=key),
            self._rows(sql.CONFIRMED_TOOLSETS_OF, server=key),
            notices=self._rows(sql.NOTICES_OF, server=key),
            reprobes=self._reprobes(key, server["last_run_at"]),
        )
        return server, memory

    def _reprobes(self, key: int, last_run_at: datetime | None) -> Sequence[RowMapping]:
        """The re-probes up to the last run, as far back as they are remembered."""
        if last_run_at is None:
            return ()
        return self._rows(sql.REPROBES_OF, server=key, horizon=last_run_at - REPROBE_WINDOW)
