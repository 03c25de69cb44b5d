"""One service to a database: its lock, and a file that is taken away or damaged under it."""

import os
import shutil
from pathlib import Path

import pytest

from driftwatch.errors import StoreBusyError, StoreError
from driftwatch.store.sqlite import InstanceLock
from tests.store.files import (
    opened,
    read,
    start,
)
from tests.store.world import event


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
