import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from driftwatch.store.sqlite import SqliteStore
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
