"""Files that cannot be used: each is refused with a sentence, and none is changed."""

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from driftwatch.errors import StoreError
from driftwatch.store import migrations
from driftwatch.store.sqlite import SqliteStore
from tests.store.files import (
    EVERY_WAY,
    as_nobody,
    in_process,
    migrate,
    opened,
    read,
    write,
)
from tests.store.world import event


def test_a_new_database_is_created_and_a_second_start_leaves_it_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "new.db"
    migrate(path)
    assert read(path) == []
    write(path)
    before = path.read_bytes()
    migrate(path)
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == ["new.db"]
    assert read(path) == ["e2"]


def test_a_new_database_and_its_log_are_for_the_eyes_of_its_user_only(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        with opened(tmp_path / "new.db") as store:
            store.migrate()
            with store.write() as tx:
                tx.record_event(event("e2", server=None), ())
            modes = {item.name: item.stat().st_mode & 0o777 for item in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == {"new.db": 0o600, "new.db-wal": 0o600, "new.db-shm": 0o600}


def test_the_new_file_gives_space_back_and_says_whose_it_is(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        values = [
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("auto_vacuum", "journal_mode", "application_id")
        ]
    assert values == [2, "wal", 0x64726674]


def test_a_name_with_odd_characters_is_a_name(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=memory#%41.db"
    migrate(path)
    write(path)
    assert read(path) == ["e2"]
    assert path.exists()


def test_nothing_is_read_or_written_before_there_is_a_database(tmp_path: Path) -> None:
    path = tmp_path / "missing.db"
    for use in (read, write):
        with pytest.raises(StoreError, match=r"there is no database at .*missing.db yet; `driftwatch run`"):
            use(path)
    assert not path.exists()


def test_an_empty_file_is_a_new_database_only_for_the_service(tmp_path: Path) -> None:
    path = tmp_path / "empty.db"
    path.touch()
    for use in (read, write):
        with pytest.raises(StoreError, match=r"empty.db is still empty; `driftwatch run`"):
            use(path)
    migrate(path)
    assert read(path) == []


@EVERY_WAY
def test_a_missing_folder_is_named(use: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"the folder .*/data does not exist; create it"):
        use(tmp_path / "data" / "driftwatch.db")


@EVERY_WAY
def test_a_folder_is_no_database(use: Callable[[Path], object], tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"is a folder; .*names a file, such as .*driftwatch.db"):
        use(tmp_path)


@EVERY_WAY
def test_a_file_that_is_not_sqlite_is_refused_and_left_alone(
    use: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 500)
    with pytest.raises(StoreError, match=r"notes.txt is not an intact SQLite database"):
        use(path)
    assert path.read_text() == "Dear diary, " * 500


@EVERY_WAY
def test_another_programs_database_is_refused_and_left_alone(
    use: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "places.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is the database of another program"):
        use(path)
    assert path.read_bytes() == before


def test_a_database_that_uses_alembic_too_is_still_not_ours(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('0001')")
    with pytest.raises(StoreError, match="is the database of another program"):
        migrate(path)


@pytest.mark.parametrize("damage", ["truncated", "overwritten"])
def test_a_damaged_file_is_refused_with_the_newest_backup_named(damage: str, path: Path) -> None:
    with opened(path) as store:
        store.backup(path.with_name("driftwatch-20260101T000000Z.db"))
        newest = store.backup()
    content = path.read_bytes()
    if damage == "truncated":
        path.write_bytes(content[: len(content) // 2])
    else:
        path.write_bytes(content[:8192] + b"\xff" * 30000 + content[38192:])
    before = path.read_bytes()
    with pytest.raises(StoreError) as caught:
        migrate(path)
    assert "driftwatch.db is not an intact SQLite database" in str(caught.value)
    assert f"`driftwatch db restore {newest}` puts back the newest backup" in str(caught.value)
    assert path.read_bytes() == before


def test_a_log_without_its_database_is_not_thrown_away(path: Path) -> None:
    log = path.with_name(path.name + "-wal")
    path.rename(path.with_name("moved.db"))
    log.write_bytes(b"what was written last")
    with pytest.raises(StoreError, match=r"driftwatch.db is missing, but .*-wal is there"):
        migrate(path)
    assert log.read_bytes() == b"what was written last"


@EVERY_WAY
def test_the_schema_of_a_newer_version_is_refused(use: Callable[[Path], object], path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    with pytest.raises(StoreError, match=r"written by a newer driftwatch \(schema 9999, this one knows"):
        use(path)


@pytest.mark.parametrize("use", [read, write])
def test_the_schema_of_an_older_version_waits_for_the_service(
    use: Callable[[Path], object], path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = migrations.HEAD
    monkeypatch.setattr(migrations, "REVISIONS", (*migrations.REVISIONS, "9999"))
    monkeypatch.setattr(migrations, "HEAD", "9999")
    with pytest.raises(StoreError, match=f"has the schema {found} of an older version; `driftwatch run`"):
        use(path)


def test_a_lock_that_another_process_holds_is_waited_for_and_then_named(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="another process is writing to the database"):
            write(path)
        assert read(path) == ["e1"]
        other.execute("ROLLBACK")
    write(path)


def test_a_folder_that_may_not_be_entered_says_so(path: Path) -> None:
    folder = path.parent / "closed"
    folder.mkdir()
    shutil.copy(path, folder)
    folder.chmod(0)
    path.parent.chmod(0o755)
    with as_nobody():
        for use in (migrate, read, write):
            with pytest.raises(StoreError, match=r"cannot be (reached|opened).*user \d+"):
                use(folder / path.name)
    folder.chmod(0o755)


class TestReading:
    def test_a_running_service_is_not_disturbed(self, path: Path) -> None:
        with opened(path) as service:
            with service.write() as tx:
                tx.record_event(event("e2"), ())
                assert read(path) == ["e1"]
            assert read(path) == ["e2", "e1"]
            with opened(path) as command, command.write() as tx:
                tx.record_event(event("e3"), ())
            with service.read() as reader:
                assert len(reader.events()) == 3

    def test_what_was_opened_for_reading_writes_nothing(self, path: Path) -> None:
        store = SqliteStore.open_readonly(path)
        with pytest.raises(StoreError, match="was opened for reading only"), store.write():
            pass
        with store.read() as reader, pytest.raises(sqlite3.OperationalError, match=r"readonly|query_only"):
            reader._connection.connection.driver_connection.execute("DELETE FROM event")  # type: ignore[attr-defined]
        store.close()

    def test_what_a_killed_service_wrote_last_is_there(self, path: Path) -> None:
        die = "import os\nwith store.write() as tx: tx.record_event(event('e2'), ())\nos._exit(9)"
        assert in_process(path, die) == 9
        assert path.with_name(path.name + "-wal").stat().st_size
        assert read(path) == ["e2", "e1"]
