"""Every scenario of the store runs on every kind of database there is."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.store.ports import Store
from driftwatch.store.sqlite import SqliteStore
from tests.store.world import Clock, Database, World


class SqliteDatabase:
    """A file."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self.path = folder / "driftwatch.db"
        self.clock = clock
        self.opened: list[Store] = []

    def open(self) -> SqliteStore:
        store = SqliteStore(self.path, clock=self.clock)
        self.opened.append(store)
        return store

    def close(self) -> None:
        for store in self.opened:
            store.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(scope="session")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new database's file: migrating once is enough."""
    path = tmp_path_factory.mktemp("template") / "driftwatch.db"
    store = SqliteStore(path)
    store.migrate()
    store.close()
    return path


@pytest.fixture(params=["sqlite"])
def database(
    request: pytest.FixtureRequest, tmp_path: Path, template: Path, clock: Clock
) -> Iterator[Database]:
    """An empty database with the schema; PostgreSQL becomes the second parameter."""
    assert request.param == "sqlite"
    found = SqliteDatabase(tmp_path, clock)
    shutil.copy(template, found.path)
    yield found
    found.close()


@pytest.fixture
def store(database: Database) -> Store:
    return database.open()


@pytest.fixture
def world(database: Database, store: Store, clock: Clock) -> World:
    """A store that knows one server, ``api``, which is due."""
    world = World(store=store, clock=clock, database=database)
    world.add("api")
    return world
