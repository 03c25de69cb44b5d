import re
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from driftwatch.errors import StoreError
from driftwatch.model import State
from driftwatch.store import migrations
from driftwatch.store.columns import from_micros
from driftwatch.store.ports import MessageStatus
from driftwatch.store.sqlite import APPLICATION_ID, SqliteStore
from tests.store.world import START, Clock, event, server

LATEST = migrations.HEAD
NEXT = f"{len(migrations.REVISIONS) + 1:04}"

NEWER = f'''
"""A test's own: a new column, a table rebuilt, a failure on request."""

import os

import sqlalchemy as sa
from alembic import op

revision = "{NEXT}"
down_revision = "{LATEST}"


def upgrade() -> None:
    op.add_column("channel", sa.Column("colour", sa.Text()))
    with op.batch_alter_table("event") as batch:
        batch.alter_column("kind", type_=sa.String(40))
    if os.environ.get("MIGRATION_DIES"):
        os._exit(9)
    if os.environ.get("MIGRATION_FAILS"):
        raise RuntimeError("halfway")
    if os.environ.get("MIGRATION_ORPHANS"):
        op.execute("DELETE FROM server")
'''


def migrated_to(path: Path, revision: str) -> None:
    """A database as an older version left it."""
    config = Config()
    config.set_main_option("script_location", "driftwatch.store:migrations")
    config.set_main_option("path_separator", "os")
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


def schema(path: Path) -> dict[str, list[str]]:
    """Each table's and index's own words, part by part; the order of constraints means nothing."""
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL").fetchall()
    # A table that a migration had to rebuild has its name in quotes.
    plain = {name: sql.replace(f'"{name}"', name) for name, sql in rows}
    # A column that was added later stands on the line of the one before it.
    parts = {name: re.split(r"\n|, (?=\w+ [A-Z])", sql) for name, sql in plain.items()}
    own = {name: sorted(part.strip(" \t,") for part in found) for name, found in parts.items()}
    return {
        name: sql for name, sql in own.items() if name != "alembic_version" and not name.startswith("sqlite_")
    }


def test_the_migrated_schema_is_the_models_word_by_word(template: Path, tmp_path: Path) -> None:
    # Autogenerate compares neither CHECKs nor WITHOUT ROWID; the text compares everything.
    # A new database is created from the models, so this is what lets both ways end in the same place.
    migrated = tmp_path / "migrated.db"
    engine = create_engine(f"sqlite:///{migrated}")
    with engine.begin() as connection:
        migrations.upgrade(connection)
    engine.dispose()
    assert schema(migrated) == schema(template)
    with closing(sqlite3.connect(migrated)) as one, closing(sqlite3.connect(template)) as other:
        version = "SELECT version_num FROM alembic_version"
        assert one.execute(version).fetchall() == other.execute(version).fetchall() == [(migrations.HEAD,)]


def test_autogenerate_finds_nothing_to_do(template: Path, tmp_path: Path) -> None:
    path = tmp_path / "driftwatch.db"
    shutil.copy(template, path)
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        migrations.check(connection)
    engine.dispose()


def test_the_known_revisions_are_the_scripts_in_their_order() -> None:
    config = Config()
    config.set_main_option("script_location", "driftwatch.store:migrations")
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config).walk_revisions()
    assert tuple(script.revision for script in scripts)[::-1] == migrations.REVISIONS


def test_a_database_of_the_first_version_keeps_what_is_in_it(tmp_path: Path) -> None:
    path = tmp_path / "driftwatch.db"
    migrated_to(path, "0001")
    rows = (
        (
            "INSERT INTO server VALUES (1, 'api', 'https://api.example/mcp', 'api.example:443', 'token', "
            "'r1', '[]', 1, NULL, 1, 1, NULL, NULL, NULL, NULL, NULL, '{}', NULL, NULL)"
        ),
        "INSERT INTO run VALUES (1, 1, 'deploy', 'run-1', 1, 'full', 250, 15, 1, 40, 1, 2, 3, '\"v1\"')",
        "INSERT INTO release VALUES ('r', '\"v1\"', NULL, NULL, NULL, NULL, NULL, 0, '[\"api\"]', 1)",
        "INSERT INTO hook_delivery VALUES ('d', 'abc', 1, 'r', '{}')",
        "INSERT INTO body VALUES (1, 'ab', '{\"name\":\"a\"}'), (2, 'cd', '\"Ask first.\"')",
        "INSERT INTO toolset VALUES (1, 1, 'modern', 'token', 'dw1:a.b', '\"2026-07-28\"', 'dw1', 'a', 'b', NULL, 2, 1, 1)",  # noqa: E501
        "INSERT INTO toolset_tool VALUES (1, 0, '\"a\"', 'd', 1)",
        *(
            f"INSERT INTO subject_state VALUES (1, '{subject}', '{value}', 5, NULL, NULL, 0, NULL, "
            f"{blocked}, '[]', '[]', 0, 0, '{{}}', NULL, 0, NULL, 1, '', '{{}}')"
            for subject, value, blocked in (
                ("check:transport/endpoint", "not_checked:auth", "NULL, NULL, NULL"),
                ("check:tls/chain", "verified", "NULL, NULL, NULL"),
                ("check:mcp/envelope", "verified", "'transport/endpoint', 7, 'auth'"),
                ("toolset:modern:token", "dw1:a.b", "NULL, NULL, NULL"),
            )
        ),
        "INSERT INTO event VALUES ('e', 1, 'change', 'error', 1, 1, NULL, NULL, NULL, NULL, NULL, '{}')",
        (
            "INSERT INTO message VALUES ('m', 'ops', '\"t\"', '\"b\"', NULL, 'error', 1, '[\"e\"]', 'sent', "
            "1, 1, NULL, NULL, NULL, 0, 'sent', NULL, 1, NULL)"
        ),
        "INSERT INTO event_delivery VALUES ('e', 'ops', 1, 'm', NULL, NULL)",
    )
    with closing(sqlite3.connect(path)) as connection:
        for row in rows:
            connection.execute(row)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.commit()
    store = SqliteStore(path)
    store.migrate()
    assert store.check() == []
    with store.read() as reader:
        (run,) = reader.runs("api")
        (release,) = reader.releases()
        assert (run.id, run.release_ref) == ("run-1", "v1")
        assert (release.ref, release.servers) == ("v1", ("api",))
        assert reader.deploy("r") == ()
        stored = reader.toolset("api", "dw1:a.b")
        assert stored is not None
        assert (stored.tools, stored.instructions, stored.further) == (({"name": "a"},), "Ask first.", ())
        (glance,) = reader.glance()
        assert glance.worst is State.NOT_CHECKED
        assert (glance.counts[State.VERIFIED], glance.counts[State.NOT_CHECKED]) == (1, 2)
        assert reader.overview()[0].changed_at == from_micros(7)
        (message,) = reader.messages()
        (delivery,) = reader.deliveries("e")
        assert (message.status, message.message.title) == (MessageStatus.SENT, "t")
        assert delivery.message == message
    store.close()


def test_alembic_is_not_loaded_when_nothing_is_pending(template: Path, tmp_path: Path) -> None:
    path = tmp_path / "driftwatch.db"
    shutil.copy(template, path)
    script = (
        "import sys\nfrom pathlib import Path\nfrom driftwatch.store.sqlite import SqliteStore\n"
        "store = SqliteStore(Path(sys.argv[1]))\nstore.migrate()\n"
        "with store.read() as reader: reader.status()\n"
        "store.close()\nsys.exit('alembic' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)


class TestUpgrading:
    """An existing database and a package that knows one more revision."""

    @pytest.fixture
    def path(self, tmp_path: Path, template: Path) -> Path:
        path = tmp_path / "driftwatch.db"
        shutil.copy(template, path)
        store = SqliteStore(path)
        with store.write() as tx:
            tx.import_servers([server("api", START)], START)
            tx.record_event(event("e1", details={"kept": True}), ())
        store.close()
        return path

    @pytest.fixture(autouse=True)
    def newer(self, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """The package's scripts and one more, in a folder of the test's own."""
        folder = tmp_path / "migrations"
        shutil.copytree(Path(migrations.__file__).parent, folder)
        (folder / "versions" / f"{NEXT}_newer.py").write_text(NEWER)
        monkeypatch.setattr(migrations, "REVISIONS", (*migrations.REVISIONS, NEXT))
        monkeypatch.setattr(migrations, "HEAD", NEXT)
        monkeypatch.setattr(migrations, "SCRIPTS", str(folder))
        return folder

    def events(self, path: Path) -> list[str]:
        store = SqliteStore.open_readonly(path)
        try:
            with store.read() as reader:
                return [item.id for item in reader.events() if item.details == {"kept": True}]
        finally:
            store.close()

    def revision(self, path: Path) -> str:
        with closing(sqlite3.connect(path)) as connection:
            (found,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        return str(found)

    def test_a_pending_migration_runs_after_a_backup(self, path: Path, tmp_path: Path) -> None:
        store = SqliteStore(path, backup_dir=tmp_path / "backups", clock=Clock())
        store.migrate()
        store.close()
        assert self.revision(path) == NEXT
        assert "colour" in "".join(schema(path)["channel"])
        assert self.events(path) == ["e1"]
        (backup,) = (tmp_path / "backups").iterdir()
        assert backup.name == f"driftwatch-20260301T120000Z-schema-{LATEST}.db"
        assert self.revision(backup) == LATEST
        assert "colour" not in "".join(schema(backup)["channel"])

    def test_without_room_for_a_backup_nothing_is_migrated(self, path: Path, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        store = SqliteStore(path, backup_dir=tmp_path / "file")
        with pytest.raises(StoreError, match=r"the backup .* cannot be written"):
            store.migrate()
        store.close()
        assert self.revision(path) == LATEST

    def test_a_migration_that_fails_halfway_leaves_the_old_schema(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = schema(path)
        monkeypatch.setenv("MIGRATION_FAILS", "1")
        store = SqliteStore(path)
        with pytest.raises(RuntimeError, match="halfway"):
            store.migrate()
        store.close()
        assert (self.revision(path), schema(path)) == (LATEST, before)
        monkeypatch.delenv("MIGRATION_FAILS")
        store = SqliteStore(path)
        store.migrate()
        store.close()
        assert self.events(path) == ["e1"]
        assert len(list(path.parent.glob(f"*-schema-{LATEST}.db"))) == 1

    def test_a_migration_that_would_leave_orphans_is_undone(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MIGRATION_ORPHANS", "1")
        store = SqliteStore(path)
        with pytest.raises(StoreError, match=r"rows that point nowhere \(event\); nothing was changed"):
            store.migrate()
        store.close()
        assert self.revision(path) == LATEST

    def test_a_killed_migration_leaves_the_old_schema(self, path: Path, newer: Path) -> None:
        before = schema(path)
        script = (
            "import sys\nfrom pathlib import Path\nfrom driftwatch.store import migrations\n"
            "from driftwatch.store.sqlite import SqliteStore\n"
            f"migrations.REVISIONS, migrations.HEAD = {migrations.REVISIONS!r}, {NEXT!r}\n"
            "migrations.SCRIPTS = sys.argv[2]\n"
            "SqliteStore(Path(sys.argv[1])).migrate()"
        )
        command = [sys.executable, "-c", script, str(path), str(newer)]
        died = subprocess.run(command, env={"MIGRATION_DIES": "1"}, check=False)
        assert died.returncode == 9
        assert (self.revision(path), schema(path)) == (LATEST, before)
        subprocess.run(command, check=True)
        assert self.events(path) == ["e1"]

    def test_a_new_database_gets_all_of_them(self, tmp_path: Path) -> None:
        path = tmp_path / "new.db"
        store = SqliteStore(path)
        store.migrate()
        store.close()
        assert self.revision(path) == NEXT
        assert list(tmp_path.glob("*schema*")) == []


def test_a_new_revision_is_written_from_the_models(
    template: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "migrations"
    shutil.copytree(Path(migrations.__file__).parent, folder)
    monkeypatch.setattr(migrations, "SCRIPTS", str(folder))
    path = tmp_path / "driftwatch.db"
    shutil.copy(template, path)
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        connection.exec_driver_sql("ALTER TABLE channel DROP COLUMN claimed_until")
        migrations.write(connection, "lease a channel")
    engine.dispose()
    written = (folder / "versions" / f"{NEXT}_lease_a_channel.py").read_text()
    assert written.startswith('"""Lease a channel."""')
    assert "batch_op.add_column(sa.Column('claimed_until', columns.Moment(), nullable=True))" in written
    assert "#" not in written
