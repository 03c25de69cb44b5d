"""A backup a day, whatever the restarts."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from driftwatch.schedule.backups import Backups
from driftwatch.store.sqlite import SqliteStore


class Scene:
    def __init__(self, folder: Path) -> None:
        self.at = datetime(2026, 11, 1, 12, tzinfo=UTC)
        self.folder = folder / "backups"
        self.keep = 3
        self.store = SqliteStore(folder / "driftwatch.db", backup_dir=self.folder, clock=lambda: self.at)
        self.store.migrate()

    async def look(self, *, hours: float) -> None:
        """So much time passes, and then it is looked whether a backup is due."""
        self.at += timedelta(hours=hours)
        await Backups(self.store, keep=lambda: self.keep, now=lambda: self.at).run()

    @property
    def names(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir()) if self.folder.is_dir() else []


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    made = Scene(tmp_path)
    yield made
    made.store.close()


async def test_there_is_one_a_day_and_only_the_newest_are_kept(scene: Scene) -> None:
    for _ in range(24 * 5):
        await scene.look(hours=1)
    assert scene.names == [f"driftwatch-202611{day:02}T130000Z.db" for day in (3, 4, 5)]


async def test_a_backup_of_tomorrow_does_not_stop_the_next_one(scene: Scene) -> None:
    # The clock was wrong when it was made.
    await scene.look(hours=24 * 400)
    await scene.look(hours=-24 * 400)
    assert len(scene.names) == 2


async def test_with_none_to_keep_none_is_made(scene: Scene) -> None:
    scene.keep = 0
    await scene.look(hours=1)
    assert scene.names == []


async def test_one_that_cannot_be_written_is_tried_again(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    scene.folder.write_text("in the way")
    await scene.look(hours=1)
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == [
        "no backup was made"
    ]
    scene.folder.unlink()
    await scene.look(hours=1)
    assert len(scene.names) == 1
