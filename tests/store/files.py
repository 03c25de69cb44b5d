"""A database of a stopped service, and who uses it how."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

import pytest

from driftwatch.store.sqlite import SqliteStore
from tests.store.world import event

NOBODY = 65534
FAST = timedelta(milliseconds=50)


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
