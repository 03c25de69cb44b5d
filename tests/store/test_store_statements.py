"""The rules that keep the way to another back end open."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.sql import ClauseElement

import driftwatch.store
from driftwatch.model import EventKind, State
from driftwatch.store import fleet, retention, tables
from driftwatch.store.ports import MessageStatus
from driftwatch.store.sqlite import SqliteStore
from driftwatch.store.statements import deploys, due, history, incidents, outbox, recording, servers
from driftwatch.store.statements.upserts import Upserts
from tests.store.world import START, World

QUERIES = {
    "newest_events": history.newest_events(1, (START, "id"), [EventKind.CHANGE], START),
    "newest_runs": history.newest_runs(START),
    "newest_messages": outbox.newest_messages(MessageStatus.PENDING, (START, "id")),
    "newest_intervals": history.newest_intervals("subject", (START, 1)),
    "page_of_servers": fleet.page_of_servers(State.FAILED),
}
STATEMENTS = (deploys, due, history, incidents, outbox, recording, servers, fleet, retention)


def statements() -> Iterator[tuple[str, ClauseElement]]:
    for module in STATEMENTS:
        for name, value in vars(module).items():
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, sa.Executable) and isinstance(item, ClauseElement):
                    yield name, item
    yield from QUERIES.items()


@pytest.mark.parametrize("back_end", [sqlite, postgresql])
def test_every_statement_is_understood_by_both_back_ends(back_end: object) -> None:
    dialect = back_end.dialect()  # type: ignore[attr-defined]
    upserts = vars(Upserts(back_end.insert))  # type: ignore[attr-defined]
    everything = [*statements(), *upserts.items()]
    assert len(everything) > 60
    for _, statement in everything:
        assert str(statement.compile(dialect=dialect))


@pytest.mark.parametrize("back_end", [sqlite, postgresql])
def test_every_table_can_be_made_on_both_back_ends(back_end: object) -> None:
    tables.also_for_postgresql()
    dialect = back_end.dialect()  # type: ignore[attr-defined]
    for table in tables.metadata.sorted_tables:
        assert str(CreateTable(table).compile(dialect=dialect))
        for index in table.indexes:
            made = str(CreateIndex(index).compile(dialect=dialect))
            assert (" WHERE " in made) == (index.dialect_options["sqlite"]["where"] is not None)


def test_a_new_database_needs_no_other_dialect_and_no_alembic(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from driftwatch.store.sqlite import SqliteStore\n"
        f"store = SqliteStore(Path({str(tmp_path / 'driftwatch.db')!r})); store.migrate(); store.close()\n"
        "print(*sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not {"alembic", "sqlalchemy.dialects.postgresql"} & set(ended.stdout.split())


def test_every_constraint_has_a_name() -> None:
    for table in tables.metadata.sorted_tables:
        assert all(constraint.name for constraint in table.constraints)
        assert all(index.name for index in table.indexes)


@pytest.mark.parametrize("word", ["rowcount", "func.now", ".like(", "CURRENT_TIMESTAMP"])
def test_what_means_something_else_elsewhere_is_not_used(word: str) -> None:
    folder = Path(driftwatch.store.__file__).parent
    for path in (*folder.glob("*.py"), *folder.glob("statements/*.py")):
        if path.parts[-2:] != ("statements", "__init__.py") or word != "rowcount":  # it says so
            assert word not in path.read_text(encoding="utf-8"), path


def test_what_runs_often_never_reads_a_whole_table(world: World) -> None:
    assert isinstance(world.store, SqliteStore)
    often: list[tuple[sa.Executable, dict[str, object]]] = [
        (servers.SERVER, {"server": "api"}),
        (servers.STATES, {"server": 1}),
        (servers.OPEN_INCIDENTS, {"server": 1}),
        (servers.CONFIRMED_TOOLSETS_OF, {"server": 1}),
        (due.NEXT_PROBE, {}),
        (outbox.DUE_CHANNELS, {"now": START}),
        (outbox.PENDING_DELIVERIES, {"channels": ["chat"], "limit": 10}),
        (outbox.WAITING_CHANNELS, {"channels": ["chat"]}),
        (outbox.OLDEST_MESSAGE, {"of_channel": "chat"}),
        (outbox.OLDEST_TRIAL, {"of_channel": "chat"}),
        (outbox.BACKLOG, {}),
        (outbox.WAITING_EVENTS, {}),
        (outbox.HELD_DELIVERIES, {"names": ["silence 1"]}),
        (outbox.HELD_DELIVERIES_OF, {"names": ["silence 1"], "server": "api"}),
        (QUERIES["newest_events"], {"limit": 10}),
        (history.newest_events(None, None, [], None), {"limit": 10}),
        (QUERIES["newest_runs"], {"server": 1, "limit": 10}),
        (QUERIES["newest_messages"], {"limit": 10}),
        (history.newest_intervals("subject", None), {"server": 1, "limit": 10}),
        (fleet.page_of_servers(), {"after": "", "limit": 10}),
        (QUERIES["page_of_servers"], {"after": "", "limit": 10}),
        (fleet.page_of_servers(named=True), {"after": "", "limit": 10, "names": ["api"]}),
        (fleet.GLANCE_AT, {"name": "api"}),
        (fleet.STANDINGS_OF, {"page": [1, 2]}),
        (fleet.LATEST_EVENTS, {"names": ["api"], "kinds": ["change"]}),
        (fleet.STATES_OF, {"page": [1, 2]}),
        (fleet.INCIDENTS_OF, {"page": [1, 2]}),
        (fleet.TOOLSETS_OF, {"page": [1, 2]}),
        (fleet.LAST_RUNS_OF, {"page": [1, 2]}),
        (history.EVENT, {"key": "e1"}),
        (outbox.DELIVERIES_OF, {"event": "e1"}),
        (deploys.LATEST_RELEASES, {"names": ["api"]}),
        (deploys.OUTCOMES_AT, {"server": 1, "limit": 10}),
        (history.CERTIFICATES, {"server": 1, "limit": 10}),
        (history.TRANSCRIPTS, {"server": 1}),
        (history.TOOLSET, {"server": 1, "which_pair": "x"}),
        (history.TOOLSET_TOOLS, {"toolset": 1}),
    ]
    sent: list[tuple[str, tuple[object, ...]]] = []

    def note(_: object, __: object, statement: str, parameters: tuple[object, ...], *___: object) -> None:
        sent.append((statement, parameters))

    with world.store._reading.begin() as connection:
        sa.event.listen(world.store._reading, "before_cursor_execute", note)
        for statement, parameters in often:
            connection.execute(statement, parameters).all()
        assert len(sent) == len(often)
        for text, values in sent[: len(often)]:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {text}", values).all()
            # An index may be walked; only a table that is read from end to end grows with the history.
            scans = [row[3] for row in plan if row[3].startswith("SCAN") and "INDEX" not in row[3]]
            assert not scans, (text, scans)
