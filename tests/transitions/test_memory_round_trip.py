"""What ``apply`` makes of a memory is what the store reads back."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from driftwatch.model import Depth, Era, ProbeRequest, Report, Trigger
from driftwatch.store.ports import RunRecord, ServerRecord, Store
from driftwatch.store.sqlite import SqliteStore
from driftwatch.toolset import ToolsetRecord
from tests.transitions.timeline import HEALTHY, START, Timeline, View, down, toolset

BROKEN = HEALTHY.but(transport__content_type="failed:html")
FULL, LIGHT = Depth.FULL, Depth.LIGHT


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = SqliteStore(tmp_path / "driftwatch.db")
    store.migrate()
    server = ServerRecord(
        name="api",
        url="https://api.example/mcp",
        host="api.example:443",
        credential="anonymous",
        revision="",
        next_due_at=START,
        next_full_at=START,
    )
    with store.write() as tx:
        tx.import_servers([server], START)
    yield store
    store.close()


def write(store: Store, timeline: Timeline, report: Report, view: View) -> None:
    request = ProbeRequest(server="api", due_at=timeline.now, trigger=report.trigger, depth=report.depth)
    records = tuple(
        ToolsetRecord(
            era=surface.era.value,
            credential=report.credential,
            revision=surface.revision,
            fingerprint=surface.fingerprint,
            tools=toolset(view.tools[surface.era]).tools,
            instructions=None,
            per_tool=tuple((f"tool_{letter}", letter) for letter in view.tools[surface.era]),
        )
        for surface in report.surfaces
        if surface.fingerprint
    )
    with store.write() as tx:
        tx.lock_server("api")
        assert tx.record_run(
            RunRecord(id=f"run-{timeline.made}", request=request, report=report, toolsets=records)
        )
        tx.apply("api", timeline.changes, ())


def test_a_long_and_restless_history_is_read_back_as_it_was_applied(store: Store) -> None:
    timeline = Timeline()
    shown = [
        (2, HEALTHY, FULL),
        (4, down("dns"), LIGHT),
        (3, down("refused"), FULL),
        (3, BROKEN, LIGHT),
        (2, HEALTHY.offering("abd"), FULL),
        (4, HEALTHY.offering("abc", Era.LEGACY), FULL),
        *((3, view, LIGHT) for view in (BROKEN, HEALTHY) * 4),
        (3, replace(HEALTHY.offering("abd"), leaf="one", ends=START + timedelta(days=3)), FULL),
        (35, replace(HEALTHY, leaf="two", ends=START + timedelta(days=90)), FULL),
        *((1, HEALTHY.offering(word), LIGHT) for word in ("abcd", "abc") * 12),
        (14, HEALTHY, FULL),
        (3, HEALTHY.speaking("2026-07-28", "2025-06-18", "2025-11-25"), FULL),
        (4, HEALTHY.speaking("2026-07-28", "2025-11-25"), FULL),
        (1, HEALTHY, FULL),
    ]
    for times, view, depth in shown:
        for _ in range(times):
            timeline.now += timedelta(minutes=2)
            timeline.probe(view, depth=depth)
            write(store, timeline, timeline.report(view, depth, Trigger.INTERVAL), view)
            with store.read() as reader:
                assert reader.memory("api") == timeline.memory
    kinds = {event.kind for event in timeline.events}
    assert {"flapping", "unsettled", "settled", "era_changed", "toolset_changed", "tls_renewed"} <= kinds
    assert "revision_changed" in kinds


def test_a_first_look_at_a_server_that_is_down_is_read_back(store: Store) -> None:
    timeline = Timeline()
    for view in (down(), down(), HEALTHY, HEALTHY, HEALTHY):
        timeline.now += timedelta(minutes=2)
        timeline.probe(view)
        write(store, timeline, timeline.report(view, FULL, Trigger.INTERVAL), view)
        with store.read() as reader:
            assert reader.memory("api") == timeline.memory
