from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from driftwatch import actions, checks, rollout, transitions, views
from driftwatch.alerts.route import ChannelRule
from driftwatch.errors import StoreError
from driftwatch.evidence import Evidence, Missing
from driftwatch.judging import judge
from driftwatch.model import Depth, Era, EventKind, ProbeRequest, Report, State, Trigger
from driftwatch.observe import Observer, Watched, remembered
from driftwatch.probe import Target
from driftwatch.store.ports import Schedule, ServerRecord
from driftwatch.store.sqlite import SqliteStore
from driftwatch.toolset.change import KINDS
from tests.checks.factories import evidence, exchange, opening, shut, surface, tool
from tests.clocks import StandingClock

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
SERVER = "api"


class Desk:
    """An observer over a real store, whose prober hands out what the test lays before it."""

    def __init__(self, store: SqliteStore) -> None:
        self.store = store
        self.clock = StandingClock(START)
        self.seen: Evidence = evidence()
        self.told = 0
        self.watched = Watched(
            target=Target(name=SERVER, url="https://mcp.example.org/mcp"),
            tags=(),
            revision="r1",
            checks=checks.Policy(),
            transitions=transitions.Policy(confirm=1),
        )
        self.observer = Observer(
            watched={SERVER: self.watched},
            store=store,
            prober=self,
            clock=self.clock,
            channels=[ChannelRule(name="ops")],
            group_wait=timedelta(seconds=30),
            told=self.tell,
        )

    async def __call__(self, target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        return replace(self.seen, server=target.name, taken_at=self.clock.now(), depth=depth, trigger=trigger)

    def tell(self) -> None:
        self.told += 1

    async def observe(self, server: str = SERVER, *, later: timedelta = timedelta(minutes=1)) -> bool:
        """Make a probe some time later; whether it was recorded."""
        return await self.observer.observe(self.request(server, later=later)) is not None

    async def probe_when_due(self) -> None:
        """Let time pass until the server is due, and make the probe."""
        with self.store.read() as reader:
            record = reader.server(SERVER)
        assert record is not None
        self.clock.advance(max(record.probe_at - self.clock.now(), timedelta(0)))
        with self.store.write() as tx:
            (request,) = tx.take_due(self.clock.now(), 1, _quarter_hourly)
        assert await self.observer.observe(request) is not None

    def confirm(self, number: int) -> None:
        """Let a change count after so many agreeing probes."""
        watched = replace(self.watched, transitions=transitions.Policy(confirm=number))
        self.observer.configure(
            watched={SERVER: watched},
            channels=[ChannelRule(name="ops")],
            group_wait=timedelta(seconds=30),
            windows=(),
            rollouts=rollout.Settings(),
        )

    async def show(self, *lists: str, accept: bool = False) -> Report:
        """Let the server show some lists, each with a tool for every letter, until each is confirmed."""
        for letters in lists:
            self.seen = evidence(surface(Era.MODERN, *map(tool, letters)))
            for _ in range(2):
                report = await self.observer.observe(self.request(later=timedelta(minutes=6)))
            with self.store.write() as tx:
                memory = tx.lock_server(SERVER)
                if accept and memory is not None:
                    shown = memory.states["toolset:modern:anonymous"].confirmed
                    actions.accept(tx, SERVER, shown, by="ann", reason="meant", now=self.clock.now())
        assert report is not None
        return report

    def request(self, server: str = SERVER, *, later: timedelta = timedelta(minutes=1)) -> ProbeRequest:
        """A light probe some time later."""
        self.clock.advance(later)
        return ProbeRequest(
            server=server, due_at=self.clock.now(), trigger=Trigger.INTERVAL, depth=Depth.LIGHT
        )

    def kinds(self) -> list[EventKind]:
        with self.store.read() as reader:
            return [event.kind for event in reader.events(SERVER, limit=100)]

    def runs(self) -> int:
        with self.store.read() as reader:
            return len(reader.runs(SERVER, limit=100))


def _quarter_hourly(record: ServerRecord, now: datetime) -> Schedule:
    return Schedule(next_due_at=now + timedelta(minutes=15), next_full_at=now + timedelta(hours=6))


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    store = SqliteStore(tmp_path / "driftwatch.db")
    store.migrate()
    made = Desk(store)
    record = ServerRecord(
        name=SERVER,
        url="https://mcp.example.org/mcp",
        host="mcp.example.org:443",
        credential="anonymous",
        revision="r1",
        next_due_at=START,
        next_full_at=START,
    )
    with store.write() as tx:
        tx.import_servers([record], START)
    yield made
    store.close()


async def test_a_first_probe_is_a_baseline_and_wakes_nobody(desk: Desk) -> None:
    assert await desk.observe()
    assert desk.kinds() == [EventKind.BASELINE]
    assert desk.told == 0


async def test_a_changed_list_is_compared_with_the_stored_one_and_waits_in_the_outbox(desk: Desk) -> None:
    await desk.observe()
    desk.seen = evidence(surface(Era.MODERN, tool("write_note")), surface(Era.LEGACY, tool("write_note")))
    await desk.observe()
    with desk.store.read() as reader:
        changed = [event for event in reader.events(SERVER) if event.kind is EventKind.TOOLSET_CHANGED]
    assert [change["kind"] for event in changed for change in event.details["diff"]["changes"]]
    assert desk.told == 1
    due = desk.clock.now() + timedelta(seconds=31)
    with desk.store.write() as tx:
        assert {item.event.id for item in tx.pending_deliveries(due)} >= {event.id for event in changed}


async def test_a_list_that_is_not_the_accepted_one_says_what_differs(desk: Desk) -> None:
    await desk.observe()
    desk.seen = evidence(surface(Era.LEGACY, tool("write_note")))
    request = ProbeRequest(server=SERVER, due_at=START, trigger=Trigger.MANUAL, depth=Depth.LIGHT)
    report = await desk.observer.observe(request)
    assert report is not None
    (finding,) = report.result("release/fingerprint").findings
    assert finding.message == "Against the accepted list: 1 tool renamed."


async def test_the_same_request_is_recorded_once(desk: Desk) -> None:
    request = ProbeRequest(server=SERVER, due_at=START, trigger=Trigger.DEPLOY, depth=Depth.FULL)
    assert await desk.observer.observe(request) is not None
    assert await desk.observer.observe(request) is None
    assert desk.runs() == 1


async def test_a_server_that_is_configured_no_longer_is_not_probed(desk: Desk) -> None:
    assert not await desk.observe("another")
    assert desk.kinds() == []


async def test_a_storage_fault_is_no_state_of_the_server(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    await desk.observe()
    desk.seen = shut("refused")

    async def full(_: object) -> None:
        raise StoreError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(desk.store, "transact", full)
        assert not await desk.observe()
        assert not desk.observer.storing
    assert desk.runs() == 1
    assert await desk.observe()
    assert desk.observer.storing
    assert EventKind.CHANGE in desk.kinds()


@pytest.mark.parametrize(("asked_s", "kept_s"), [(0.0, 0), (20.0, 20), (60.0, 60), (3600.0, 60), (1e9, 60)])
async def test_a_pause_that_the_server_asks_for_is_kept_but_never_longer_than_a_minute(
    desk: Desk, asked_s: float, kept_s: int
) -> None:
    desk.seen = replace(shut("rate-limited", exchange(status=429)), retry_after_s=asked_s)
    await desk.observe()
    with desk.store.read() as reader:
        record = reader.server(SERVER)
    assert record is not None
    assert record.not_before == desk.clock.now() + timedelta(seconds=kept_s)


@pytest.mark.parametrize("asked_s", [None, 5.0, 3600.0, 1e9])
async def test_an_outage_is_told_within_two_minutes_however_long_the_server_asks_to_wait(
    desk: Desk, asked_s: float | None
) -> None:
    desk.confirm(3)
    await desk.probe_when_due()
    desk.seen = replace(shut("http-503", exchange(status=503)), retry_after_s=asked_s)
    await desk.probe_when_due()
    since = desk.clock.now()
    while EventKind.CHANGE not in desk.kinds():
        await desk.probe_when_due()
    assert desk.clock.now() - since <= timedelta(minutes=2)
    assert desk.told == 1


async def test_a_server_that_recovers_within_its_pause_is_read_again_after_a_minute(desk: Desk) -> None:
    desk.confirm(3)
    await desk.probe_when_due()
    desk.seen = replace(shut("rate-limited", exchange(status=429)), retry_after_s=3600.0)
    await desk.probe_when_due()
    paused_at = desk.clock.now()
    desk.seen = evidence(surface(Era.LEGACY, tool("write_note")))
    await desk.probe_when_due()
    assert desk.clock.now() - paused_at == timedelta(minutes=1)
    while EventKind.TOOLSET_CHANGED not in desk.kinds():
        await desk.probe_when_due()


async def test_an_era_whose_first_request_met_an_overload_has_not_vanished(desk: Desk) -> None:
    await desk.observe()
    overloaded = opening(Era.MODERN, exchange("server/discover", 503), established=False)
    desk.seen = evidence(surface(Era.LEGACY), openings=(overloaded, opening(Era.LEGACY)))
    await desk.observe()
    assert EventKind.ERA_CHANGED not in desk.kinds()
    refused = opening(Era.MODERN, exchange("server/discover", 404), established=False)
    desk.seen = evidence(surface(Era.LEGACY), openings=(refused, opening(Era.LEGACY)))
    await desk.observe()
    assert EventKind.ERA_CHANGED in desk.kinds()


def test_every_check_stands_in_a_report_once_whatever_was_seen() -> None:
    for seen in (evidence(), shut("dns"), shut("not-mcp", exchange(status=200, content_type="text/html"))):
        report = judge(seen, checks.Policy()).report
        assert [result.check for result in report.results] == [declared.id for declared in checks.catalogue]


def test_without_a_memory_nothing_is_said_to_be_recorded() -> None:
    judged = judge(evidence(), checks.Policy()).report.result("release/fingerprint")
    assert judged.state is State.NOT_CHECKED
    assert "recorded" not in (judged.reason or "")
    known = remembered(None, "anonymous")
    recorded = judge(evidence(), checks.Policy(), known).report.result("release/fingerprint")
    assert "baseline recorded now" in (recorded.reason or "")


def test_a_list_that_is_not_complete_has_no_fingerprint() -> None:
    seen = evidence(surface(Era.LEGACY, listing=Missing("no tools capability", "no-tools-capability")))
    judged = judge(seen, checks.Policy())
    assert judged.toolsets == ()
    assert judged.report.surfaces[0].fingerprint is None


async def test_a_change_that_was_found_after_a_gap_in_the_watch_says_so(desk: Desk) -> None:
    policy = transitions.Policy(confirm=3, gap=timedelta(minutes=30))
    desk.observer._watched = {SERVER: replace(desk.observer._watched[SERVER], transitions=policy)}
    await desk.observe()
    desk.seen = shut("refused")
    await desk.observe(later=timedelta(hours=5))
    await desk.observe()
    await desk.observe()
    with desk.store.read() as reader:
        told = [event for event in reader.events(SERVER) if event.alerts]
    assert [event.details.get("gap_s") for event in told] == [5 * 3600]
    desk.seen = evidence()
    for _ in range(3):
        await desk.observe()
    with desk.store.read() as reader:
        newest = reader.events(SERVER, limit=1)
    assert "gap_s" not in newest[0].details


async def test_a_server_that_is_removed_while_it_is_probed_is_not_remembered(desk: Desk) -> None:
    """A renamed one too: under its new name it is probed again."""

    async def probe(target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        desk.observer.configure(
            watched={}, channels=(), group_wait=timedelta(0), windows=(), rollouts=rollout.Settings()
        )
        return desk.seen

    desk.observer._prober = probe
    assert not await desk.observe()
    assert desk.runs() == 0
    assert desk.observer.storing


@pytest.mark.parametrize(
    ("accepted", "shown", "said"),
    [
        (["ab"], ["abc"], "tool-added"),
        (["abc", "ab"], ["abc"], "tool-returned"),
        (["ab"], ["abc", "ab", "abc"], "tool-returned"),
        (["abcd", "abc", "ab"], ["abc"], "tool-returned"),
    ],
)
async def test_an_alert_a_comparison_and_the_check_have_one_word_for_a_tool_that_came(
    desk: Desk, accepted: list[str], shown: list[str], said: str
) -> None:
    await desk.show(*accepted, accept=True)
    report = await desk.show(*shown)
    with desk.store.read() as reader:
        told = next(event for event in reader.events(SERVER) if event.details.get("diff"))
        (compared,) = views.compare(reader, SERVER, "accepted", "current")
    assert [change["kind"] for change in told.details["diff"]["changes"]] == [said]
    assert [change.kind for change in compared.diff.changes] == [said]
    (finding,) = report.result("release/fingerprint").findings
    assert finding.message == f"Against the accepted list: 1 {KINDS[said][0]}."
