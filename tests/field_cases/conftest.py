"""A server that was seen before something happens to it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.servers import certificates
from tests.specimens.mcp import Mcp
from tests.specimens.replay import Watching
from tests.specimens.watching import Watch, watching


@pytest.fixture
def ca_file(tmp_path: Path) -> Path:
    return certificates.write_root(tmp_path)


@pytest.fixture
def watch(tmp_path: Path) -> Watching:
    """A specimen that was seen twice, so that it has a past."""

    @asynccontextmanager
    async def make(mcp: Mcp, **options: Any) -> AsyncIterator[Watch]:
        async with watching(mcp, tmp_path, **options) as made:
            await made.look(2)
            assert made.alerts == []
            yield made

    return make
