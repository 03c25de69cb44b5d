import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from bench import fleet_db
from driftwatch.store.sqlite import SqliteStore
from tests.web.asking import ADMIN, READ, SERVERS, Api, Frozen, http
from tests.web.paging import Pages, shown
from tests.web.scene import NOW, build


@pytest.fixture(scope="session")
def scene_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The scene's database: building it once is enough."""
    path = tmp_path_factory.mktemp("scene") / "driftwatch.db"
    store = SqliteStore(path, clock=lambda: NOW)
    store.migrate()
    build(store)
    store.close()
    return path


@pytest.fixture
def scene_copy(scene_file: Path, tmp_path: Path) -> Path:
    path = tmp_path / "driftwatch.db"
    shutil.copy(scene_file, path)
    return path


@pytest.fixture
async def pages(scene_copy: Path, tmp_path: Path) -> AsyncIterator[Pages]:
    async with shown(tmp_path, scene_copy) as made:
        yield made


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fleet") / "fleet.db"
    fleet_db.build(path, servers=SERVERS, days=2, minutes=60, tools=3)
    return path


@pytest.fixture
async def api(tmp_path: Path, fleet: Path) -> AsyncIterator[Api]:
    shutil.copy(fleet, tmp_path / "driftwatch.db")
    store = SqliteStore(tmp_path / "driftwatch.db", clock=Frozen().now)
    made = Api(store=store, config=http(tmp_path, f'read_token = "{READ}"', f'admin_token = "{ADMIN}"'))
    yield made
    store.close()
