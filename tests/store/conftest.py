"""Every scenario of the store runs on every kind of database there is."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from driftwatch.store.ports import Store
from driftwatch.store.sqlite import SqliteStore
from tests.store.world import START, Clock, Database, World, event, server


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


MEMORY = Path("/dev/shm")


@pytest.fixture(scope="session")
def _memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Memory where there is some: what ends with the process needs no disk, and a disk's sync is slow."""
    if not os.access(MEMORY, os.W_OK):
        yield tmp_path_factory.mktemp("store")
        return
    with tempfile.TemporaryDirectory(prefix="driftwatch-tests-", dir=MEMORY) as folder:
        yield Path(folder)


@pytest.fixture
def tmp_path(_memory: Path) -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(dir=_memory))
    yield folder
    shutil.rmtree(folder)


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


@pytest.fixture
def path(tmp_path: Path, template: Path) -> Path:
    """A database of a stopped service, with one event in it."""
    path = tmp_path / "driftwatch.db"
    shutil.copy(template, path)
    store = SqliteStore(path)
    with store.write() as tx:
        tx.import_servers([server("api", START)], START)
        tx.record_event(event("e1"), ())
    store.close()
    return path
