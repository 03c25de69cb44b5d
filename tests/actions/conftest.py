from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.store.sqlite import SqliteStore
from tests.store.world import Clock, World


class Database:
    def __init__(self, path: Path, clock: Clock) -> None:
        self.path = path
        self.clock = clock

    def open(self) -> SqliteStore:
        return SqliteStore(self.path, clock=self.clock)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A store that knows one server, ``api``, which is due."""
    clock = Clock()
    database = Database(tmp_path / "driftwatch.db", clock)
    store = database.open()
    store.migrate()
    world = World(store=store, clock=clock, database=database)
    world.add("api")
    yield world
    store.close()
