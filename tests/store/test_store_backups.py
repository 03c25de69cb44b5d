"""Backups, and what the check of a database finds."""

import sqlite3
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from driftwatch.errors import StoreError
from driftwatch.store.sqlite import SqliteStore
from tests.store.files import migrate, opened, read, write
from tests.store.world import START, event


class TestBackups:
    def test_a_backup_is_the_database_as_it_is_now_in_one_file(self, path: Path, tmp_path: Path) -> None:
        target = tmp_path / "elsewhere" / "copy.db"
        with opened(path) as store:
            with store.write() as tx:
                tx.record_event(event("e2"), ())
            assert store.backup(target) == target
        assert [item.name for item in target.parent.iterdir()] == ["copy.db"]
        assert target.stat().st_mode & 0o777 == 0o600
        assert read(target) == ["e2", "e1"]
        migrate(target)
        write(target)

    def test_a_backup_overwrites_nothing(self, path: Path) -> None:
        with opened(path) as store, pytest.raises(StoreError, match="exists already; a backup overwrites"):
            store.backup(path)
        assert read(path) == ["e1"]

    def test_only_the_newest_stay(self, path: Path, tmp_path: Path) -> None:
        moments = iter([START + timedelta(days=day) for day in range(5)])
        store = SqliteStore(path, backup_dir=tmp_path / "backups", clock=lambda: next(moments))
        for _ in range(5):
            store.backup(keep=3)
        store.close()
        names = sorted(item.name for item in (tmp_path / "backups").iterdir())
        assert names == [f"driftwatch-2026030{day}T120000Z.db" for day in (3, 4, 5)]

    def test_a_place_that_cannot_be_written_is_named(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        with (
            opened(path) as store,
            pytest.raises(StoreError, match=r"cannot be written: .*/file is not a folder"),
        ):
            store.backup(tmp_path / "file" / "copy.db")


def test_the_check_finds_rows_that_point_nowhere(path: Path) -> None:
    with opened(path) as store:
        assert store.check() == []
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(
            "INSERT INTO event_delivery (event_id, channel, not_before) VALUES ('gone', 'c', 0)"
        )
    with opened(path) as store:
        (found,) = store.check()
    assert found.startswith("event_delivery row")
