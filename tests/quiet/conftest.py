from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.quiet.street import Street


@pytest.fixture
def street(tmp_path: Path) -> Iterator[Street]:
    made = Street(tmp_path / "driftwatch.db")
    yield made
    made.store.close()
