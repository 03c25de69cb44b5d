"""Volumes: read-only ones, full ones, and those of a network."""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driftwatch.errors import StoreError
from driftwatch.store.files import network_volume
from driftwatch.store.sqlite import InstanceLock
from tests.store.files import as_nobody, in_process, migrate, opened, read, write
from tests.store.world import event


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
