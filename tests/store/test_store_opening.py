"""Files that cannot be used: each is refused with a sentence, and none is changed."""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from driftwatch.errors import StoreBusyError, StoreError
from driftwatch.store import migrations
from driftwatch.store.files import network_volume
from driftwatch.store.sqlite import InstanceLock, SqliteStore
from tests.store.world import START, event, server

NOBODY = 65534
FAST = timedelta(milliseconds=50)


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


@contextmanager
def opened(path: Path, busy_timeout: timedelta = 100 * FAST) -> Iterator[SqliteStore]:
    store = SqliteStore(path, busy_timeout=busy_timeout)
    try:
        yield store
    finally:
        store.close()


def migrate(path: Path) -> None:
    with opened(path) as store:
        store.migrate()


def read(path: Path) -> list[str]:
    store = SqliteStore.open_readonly(path)
    try:
        with store.read() as reader:
            return [item.id for item in reader.events()]
    finally:
        store.close()


def write(path: Path) -> None:
    with opened(path, busy_timeout=FAST) as store, store.write() as tx:
        tx.record_event(event("e2", server=None), ())


EVERY_WAY = pytest.mark.parametrize("use", [migrate, read, write])


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
    assert f"put back the newest backup, {newest}" in str(caught.value)
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


@pytest.mark.parametrize(
    ("database", "kind"),
    [
        ("/data/driftwatch.db", "nfs4"),
        ("/data/local/driftwatch.db", None),
        ("/with space/x.db", "cifs"),
        ("/etc/x.db", None),
    ],
)
def test_a_network_volume_is_recognised(database: str, kind: str | None) -> None:
    mounts = (
        "/dev/vda / ext4 rw 0 0\nhost:/x /data nfs4 rw 0 0\n/dev/vdb /data/local xfs rw 0 0\n"
        "//nas/x /with\\040space cifs rw 0 0\n"
    )
    assert network_volume(Path(database), mounts) == kind


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


class TestReadOnlyVolumes:
    """As nobody, because root may write everywhere."""

    @pytest.fixture
    def locked(self, path: Path) -> Iterator[Path]:
        """The database in a folder that nobody may read and not write."""
        folder = Path(tempfile.mkdtemp(prefix="driftwatch-readonly-"))
        shutil.copy(path, folder)
        (folder / path.name).chmod(0o444)
        folder.chmod(0o555)
        with as_nobody():
            yield folder / path.name
        folder.chmod(0o755)
        shutil.rmtree(folder)

    def test_reading_works(self, locked: Path) -> None:
        assert read(locked) == ["e1"]

    @pytest.mark.parametrize("use", [migrate, write])
    def test_writing_says_why_it_cannot(self, use: Callable[[Path], object], locked: Path) -> None:
        with pytest.raises(StoreError, match=r"cannot be (opened|written).*user \d+"):
            use(locked)

    def test_a_new_database_says_why_it_cannot(self, locked: Path) -> None:
        with pytest.raises(StoreError, match=r"cannot be opened: user \d+ needs to read and write"):
            migrate(locked.with_name("new.db"))

    def test_the_lock_says_why_it_cannot(self, locked: Path) -> None:
        with pytest.raises(StoreError, match=r"driftwatch.db.lock cannot be written"):
            InstanceLock(locked).acquire()

    def test_what_was_not_closed_cleanly_says_so(self, path: Path) -> None:
        in_process(path, "with store.write() as tx: tx.record_event(event('e2'), ())\nimport os; os._exit(9)")
        folder = Path(tempfile.mkdtemp(prefix="driftwatch-readonly-"))
        for name in (path.name, path.name + "-wal"):
            shutil.copyfile(path.with_name(name), folder / name)
        folder.chmod(0o555)
        with (
            as_nobody(),
            pytest.raises(StoreError, match="was not closed cleanly and its volume is read-only"),
        ):
            read(folder / path.name)
        folder.chmod(0o755)
        shutil.rmtree(folder)


class TestFullVolumes:
    def test_what_does_not_fit_is_undone_and_reading_goes_on(self, path: Path) -> None:
        with opened(path) as store:
            with store._writing.connect() as connection:
                connection.exec_driver_sql("ROLLBACK")
                pages = connection.exec_driver_sql("PRAGMA page_count").scalar_one()
                connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 2}")
                connection.exec_driver_sql("BEGIN")
            large = event("large", details={"text": "x" * 100_000})

            def write_both() -> None:
                with store.write() as tx:
                    tx.record_event(event("small"), ())
                    tx.record_event(large, ())

            with pytest.raises(StoreError, match="no space is left; what was to be written is undone"):
                write_both()
            with store.read() as reader:
                assert [item.id for item in reader.events()] == ["e1"]
            with store.write() as tx:
                tx.record_event(event("small"), ())
            assert store.check() == []
            with store._writing.connect() as connection:
                connection.exec_driver_sql("ROLLBACK")
                connection.exec_driver_sql("PRAGMA max_page_count = 1000000")
                connection.exec_driver_sql("BEGIN")
            with store.write() as tx:
                tx.record_event(large, ())


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


class TestOneService:
    def test_a_second_service_is_refused_and_told_who_holds_it(self, path: Path) -> None:
        with InstanceLock(path):
            with pytest.raises(StoreBusyError) as caught, InstanceLock(path):
                pass
            assert f"in use by another driftwatch: process {os.getpid()} on " in str(caught.value)
            assert ", since 20" in str(caught.value)
        with InstanceLock(path):
            pass

    def test_two_names_of_one_database_share_the_lock(self, path: Path, tmp_path: Path) -> None:
        link = tmp_path / "link.db"
        link.symlink_to(path)
        with InstanceLock(link), pytest.raises(StoreBusyError):
            InstanceLock(path).acquire()

    def test_a_killed_service_holds_nothing(self, path: Path) -> None:
        script = "from driftwatch.store.sqlite import InstanceLock\nInstanceLock(store.path).acquire()\n"
        child = start(path, script + "print('held', flush=True)\nimport signal; signal.pause()")
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with pytest.raises(StoreBusyError, match=f"process {child.pid} "):
            InstanceLock(path).acquire()
        child.kill()
        child.communicate()
        with InstanceLock(path):
            pass

    def test_a_folder_that_is_missing_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(StoreError, match=r"the folder .* does not exist"):
            InstanceLock(tmp_path / "data" / "driftwatch.db").acquire()


class TestAFileThatGoesAway:
    def test_what_was_deleted_takes_nothing_more(self, path: Path) -> None:
        with opened(path) as store:
            store.migrate()
            path.unlink()
            with pytest.raises(StoreError, match="was removed or replaced"), store.write() as tx:
                tx.record_event(event("e2"), ())
            with pytest.raises(StoreError, match="was removed or replaced"), store.read():
                pass

    def test_what_was_put_in_its_place_is_not_written(self, path: Path, template: Path) -> None:
        with opened(path) as store:
            store.migrate()
            other = path.with_name("other.db")
            shutil.copy(template, other)
            other.replace(path)
            with pytest.raises(StoreError, match="put the file back and start"), store.write() as tx:
                tx.record_event(event("e2"), ())
        assert read(path) == []


@contextmanager
def as_nobody() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


def start(path: Path, script: str) -> "subprocess.Popen[str]":
    preamble = (
        "import sys\nfrom pathlib import Path\nfrom driftwatch.store.sqlite import SqliteStore\n"
        "from tests.store.world import event\nstore = SqliteStore(Path(sys.argv[1]))\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", preamble + script, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )


def in_process(path: Path, script: str) -> int:
    child = start(path, script)
    child.communicate()
    return child.returncode


def test_a_file_that_is_damaged_while_it_is_in_use_is_named_and_nothing_is_written(path: Path) -> None:
    with opened(path) as store:
        with store.read() as reader:
            assert reader.server("api") is not None
        sound = path.read_bytes()
        path.write_bytes(sound[:4096] + b"\xff" * (len(sound) - 4096))
        with pytest.raises(StoreError, match="is not an intact SQLite database"), store.read() as reader:
            reader.events()
        with pytest.raises(StoreError, match="is not an intact SQLite database"), store.write() as tx:
            tx.record_event(event("e2"), ())
        path.write_bytes(sound)
    assert read(path) == ["e1"]
