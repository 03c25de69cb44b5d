"""``db``: a copy beside the service, a look for damage, and the way back."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from driftwatch.store.sqlite import InstanceLock, SqliteStore
from tests.cli.conftest import Command


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "config.toml"
    path.write_text('[storage]\npath = "data/driftwatch.db"\nbackup_dir = "backups"\n')
    (tmp_path / "data").mkdir()
    with closing(SqliteStore(tmp_path / "data/driftwatch.db")) as store:
        store.migrate()
    return path


def marks(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return [name for (name,) in connection.execute("SELECT name FROM channel ORDER BY name")]


def mark(path: Path, name: str) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO channel (name) VALUES (?)", (name,))


def test_a_backup_is_named_after_the_time_or_as_one_likes(driftwatch: Command, config: Path) -> None:
    made = driftwatch("db", "backup", "--json", "--config", config)
    assert made.code == 0
    path = Path(json.loads(made.out)["path"])
    assert path.parent == config.parent / "backups"
    assert path.stat().st_mode & 0o777 == 0o600
    own = config.parent / "mine.db"
    assert driftwatch("db", "backup", own, "--config", config).code == 0
    again = driftwatch("db", "backup", own, "--config", config)
    assert again.code == 3
    assert "exists already; a backup overwrites nothing" in again.err


def test_damage_is_found(driftwatch: Command, config: Path) -> None:
    sound = driftwatch("db", "check", "--config", config)
    assert (sound.code, sound.out.strip()) == (0, f"{config.parent}/data/driftwatch.db is sound")
    with closing(sqlite3.connect(config.parent / "data/driftwatch.db")) as connection, connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        connection.execute(
            "INSERT INTO event_delivery (event_id, channel, not_before) VALUES ('x', 'ops', 1)"
        )
    torn = driftwatch("db", "check", "--json", "--config", config)
    assert torn.code == 1
    assert "that is not there" in json.loads(torn.out)["faults"][0]


def test_a_restored_database_is_what_it_was_and_the_former_one_is_kept(
    driftwatch: Command, config: Path
) -> None:
    database, copy = config.parent / "data/driftwatch.db", config.parent / "copy.db"
    mark(database, "before")
    assert driftwatch("db", "backup", copy, "--config", config).code == 0
    mark(database, "after")
    done = driftwatch("db", "restore", copy, "--config", config)
    assert done.code == 0, done.err
    assert marks(database) == ["before"]
    (former,) = database.parent.glob("driftwatch.db.before-*")
    assert marks(former) == ["after", "before"]
    assert str(former) in done.out
    assert driftwatch("db", "check", "--config", config).code == 0


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"not a database, whatever its name is" * 100, "not a database"),
        (None, "there is no backup"),
    ],
    ids=["empty", "garbage", "missing"],
)
def test_nothing_but_a_sound_backup_is_restored(
    driftwatch: Command, config: Path, content: bytes | None, said: str
) -> None:
    database, copy = config.parent / "data/driftwatch.db", config.parent / "copy.db"
    mark(database, "today")
    if content is not None:
        copy.write_bytes(content)
    refused = driftwatch("db", "restore", copy, "--config", config)
    assert refused.code == 3
    assert said in refused.err
    assert marks(database) == ["today"]


def test_a_backup_that_is_not_there_is_answered_with_the_newest_that_is(
    driftwatch: Command, config: Path
) -> None:
    made = json.loads(driftwatch("db", "backup", "--json", "--config", config).out)["path"]
    refused = driftwatch("db", "restore", "driftwatch-19990101T000000Z.db", "--config", config)
    assert refused.code == 3
    assert f"the newest is {made}" in refused.err


def test_nothing_is_restored_under_a_running_service(driftwatch: Command, config: Path) -> None:
    database, copy = config.parent / "data/driftwatch.db", config.parent / "copy.db"
    assert driftwatch("db", "backup", copy, "--config", config).code == 0
    with InstanceLock(database):
        refused = driftwatch("db", "restore", copy, "--config", config)
    assert refused.code == 3
    assert "is in use by another driftwatch" in refused.err
