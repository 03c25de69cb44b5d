"""Instances that take turns in every way there is: they are told as that, and never as a change of tools."""

import random
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from driftwatch import checks, deploys, transitions
from driftwatch.alerts.route import ChannelRule
from driftwatch.model import DeployState, Event, EventKind, Level, Release, Trigger
from driftwatch.observe import Observer, Watched
from driftwatch.probe import SystemResolver, Target, prober
from driftwatch.store.ports import HookDelivery, Schedule, ServerRecord
from driftwatch.store.sqlite import SqliteStore
from tests.clocks import StandingClock
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Json, Mcp, tool
from tests.specimens.running import running

START = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)

OLD = tuple(tool(name) for name in ("add", "find", "list", "read"))
NEW = (*OLD[:2], tool("keep"), *OLD[2:])
NEWER = (*NEW, tool("zap", description="Another one."))

Tools = tuple[Json, ...]
Turn = Callable[[Incoming, int, str], int]
"""Which instance answers: a request, the number of its connection, the session that it may begin."""


def _per_request() -> Turn:
    turn = count()
    return lambda _, __, ___: next(turn)


def _per_list() -> Turn:
    turn = count()
    return lambda incoming, _, __: next(turn) if incoming.rpc_method == "tools/list" else 0


def _per_connection() -> Turn:
    return lambda _, connection, __: connection


def _per_session() -> Turn:
    turn = count()
    bound: dict[str, int] = {}

    def chosen(incoming: Incoming, connection: int, begins: str) -> int:
        session = incoming.headers.get("mcp-session-id")
        if incoming.rpc_method == "initialize":
            return bound.setdefault(begins, next(turn))
        return connection if session is None else bound.get(session, 0)

    return chosen


def _sessions_at_random(share: float, seed: int) -> Turn:
    """Each session has an instance of its own; what belongs to none meets the first."""
    dice = random.Random(seed)
    bound: dict[str, int] = {}

    def chosen(incoming: Incoming, _: int, begins: str) -> int:
        session = (
            begins if incoming.rpc_method == "initialize" else incoming.headers.get("mcp-session-id", "")
        )
        return bound.setdefault(session, int(dice.random() < share)) if session else 0

    return chosen


def _at_random(share: float, seed: int) -> Turn:
    dice = random.Random(seed)
    return lambda _, __, ___: 1 if dice.random() < share else 0


def _connections_at_random(share: float, seed: int) -> Turn:
    dice = random.Random(seed)
    bound: dict[int, int] = {}
    return lambda _, connection, __: bound.setdefault(connection, 1 if dice.random() < share else 0)


TURNS: dict[str, Callable[[], Turn]] = {
    "request": _per_request,
    "list": _per_list,
    "connection": _per_connection,
    "session": _per_session,
    "half-of-requests": lambda: _at_random(0.5, 1),
    "tenth-of-requests": lambda: _at_random(0.1, 2),
    "half-of-connections": lambda: _connections_at_random(0.5, 5),
    "tenth-of-connections": lambda: _connections_at_random(0.1, 4),
}


@dataclass
class Balanced:
    """A server behind a load balancer: its instances, and who answers."""

    mcp: Mcp
    instances: list[Tools] = field(default_factory=lambda: [OLD])
    spoken: list[dict[str, Any]] = field(default_factory=lambda: [{}])
    """How each instance differs in what it speaks."""
    turn: Turn = lambda _, __, ___: 0
    connection: int = 0
    once: Callable[[int], Tools] | None = None
    """Another list at every read, in the place of the instances."""
    reads: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self.speaks = {
            name: getattr(self.mcp, name) for name in ("modern", "legacy", "revisions", "supported")
        }
        self.mcp.greet = self._greet
        self.mcp.before = self._choose

    def _greet(self, number: int) -> tuple[()]:
        self.connection = number
        return ()

    def _choose(self, mcp: Mcp, incoming: Incoming) -> Answer | None:
        if self.once is not None:
            if incoming.rpc_method == "tools/list":
                mcp.tools = self.once(next(self.reads))
        else:
            begins = f"s3cret-session-{mcp.issued + 1}"
            turn = self.turn(incoming, self.connection, begins)
            mcp.tools = self.instances[turn % len(self.instances)]
            for name, value in {**self.speaks, **self.spoken[turn % len(self.spoken)]}.items():
                setattr(mcp, name, value)
        return None


class Watch:
    """A service that watches the server over sockets, and a clock that jumps to whatever is due."""

    def __init__(self, store: SqliteStore, clock: StandingClock, url: str, server: Balanced) -> None:
        self.store = store
        self.clock = clock
        self.server = server
        target = Target(name="api", url=url, negative_probes=False)
        policy = transitions.Policy()
        watched = Watched(target=target, tags=(), revision="r1", checks=checks.Policy(), transitions=policy)
        self.observer = Observer(
            watched={"api": watched},
            store=store,
            prober=prober(clock=clock, resolver=SystemResolver()),
            clock=clock,
            channels=[ChannelRule(name="ops")],
            group_wait=timedelta(seconds=30),
        )

    def deploy(self) -> Release:
        """Announce a release, now."""
        now = self.clock.now()
        release = Release(id="r1", ref="v2", received_at=now, servers=("api",))
        delivery = HookDelivery(id="d1", body_sha256="", received_at=now)
        with self.store.write() as tx:
            tx.announce(delivery, release, deploys.probes(release, delay=SECOND), debounce=SECOND)
        return release

    async def watch(self, span: timedelta) -> list[Event]:
        """Make every probe that is due in this time; what was told."""
        begun, end = self.clock.now(), self.clock.now() + span
        while True:
            with self.store.read() as reader:
                due = reader.next_due()
            assert due is not None
            if due >= end:
                self.clock.advance(end - self.clock.now())
                break
            self.clock.advance(max(due - self.clock.now(), timedelta(0)))
            with self.store.write() as tx:
                (request,) = tx.take_due(self.clock.now(), 1, _schedule)
            assert await self.observer.observe(request) is not None
        with self.store.read() as reader:
            told = reader.events("api", limit=1000, since=begun)
        return [event for event in reversed(told) if event.alerts]


def _schedule(record: ServerRecord, now: datetime) -> Schedule:
    full = now + HOUR if record.next_full_at <= now else record.next_full_at
    return Schedule(next_due_at=now + HOUR / 4, next_full_at=full)


@asynccontextmanager
async def watching(path: Path, mcp: Mcp | None = None) -> AsyncIterator[Watch]:
    """A service that has known the server with its first release for an hour."""
    server, clock = Balanced(mcp or Mcp()), StandingClock(START)
    store = SqliteStore(path / "driftwatch.db", clock=clock.now)
    store.migrate()
    try:
        async with running(server.mcp) as here:
            record = ServerRecord(
                name="api",
                url=here.loopback.url("/mcp"),
                host="127.0.0.1",
                credential="anonymous",
                revision="r1",
                next_due_at=START,
                next_full_at=START,
            )
            with store.write() as tx:
                tx.import_servers([record], START)
            watch = Watch(store, clock, here.loopback.url("/mcp"), server)
            assert await watch.watch(HOUR) == []
            yield watch
    finally:
        store.close()


def lines(events: list[Event]) -> list[str]:
    return [f"{event.kind} {event.subject}: {event.after}" for event in events]


def about_tools(events: list[Event]) -> list[str]:
    """What was told as a change of the tools, or of the eras' lists."""
    return [
        line
        for event, line in zip(events, lines(events), strict=True)
        if event.kind in {EventKind.TOOLSET_CHANGED, EventKind.TOOLSET_RETURNED, EventKind.FLAPPING}
        or event.subject == "check:mcp/era-coverage"
    ]


SERVERS: dict[str, Callable[[], Mcp]] = {
    "both-eras": Mcp,
    "modern": lambda: Mcp(legacy=False),
    "legacy": lambda: Mcp(modern=False),
    "pages": lambda: Mcp(page_size=3),
}


# A list of two pages within a session is more than a further connection reads.
@pytest.mark.parametrize(
    ("made", "turn"),
    [(made, turn) for made in SERVERS for turn in TURNS if (made, turn) != ("pages", "session")],
)
async def test_instances_in_turn_are_told_as_that_and_then_what_they_agree_on(
    tmp_path: Path, made: str, turn: str
) -> None:
    async with watching(tmp_path, SERVERS[made]()) as watch:
        watch.server.instances, watch.server.turn = [OLD, NEW], TURNS[turn]()
        told = await watch.watch(2 * HOUR)
        assert about_tools(told) == []
        assert told or turn.startswith("tenth")
        watch.server.instances = [NEWER]
        told = await watch.watch(4 * HOUR)
        eras = 2 if made in {"both-eras", "pages"} else 1
        assert len(about_tools(told)) == eras, lines(told)


@pytest.mark.parametrize("turn", ["request", "list", "connection"])
@pytest.mark.parametrize("instances", [[OLD, OLD, NEW], [OLD, NEW, NEWER]])
async def test_three_instances_are_told_first_and_only_as_instances_that_differ(
    tmp_path: Path, instances: list[Tools], turn: str
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.instances, watch.server.turn = instances, TURNS[turn]()
        told = await watch.watch(3 * HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}
        watch.server.instances = [OLD]
        told = await watch.watch(16 * HOUR)
        assert [event.subject for event in told] == ["check:release/replicas"]
        assert told[0].after == "verified"


@pytest.mark.parametrize("seed", range(4))
async def test_instances_that_sessions_stick_to_and_that_differ_in_one_era_alone_are_no_change_of_tools(
    tmp_path: Path, seed: int
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.instances, watch.server.turn = [OLD, NEW], _sessions_at_random(0.5, seed)
        told = await watch.watch(5 * HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)
        watch.server.instances = [OLD]
        told = await watch.watch(5 * HOUR)
        assert lines(told) == ["recovery check:release/replicas: verified"]


@pytest.mark.parametrize("legacy", [True, False])
@pytest.mark.parametrize("turn", ["request", "list"])
async def test_instances_that_differ_in_one_era_alone_are_no_change_of_tools(
    tmp_path: Path, turn: str, *, legacy: bool
) -> None:
    async with watching(tmp_path) as watch:
        chosen = TURNS[turn]()

        def answers(incoming: Incoming, connection: int, begins: str) -> int:
            number = chosen(incoming, connection, begins)
            return number if ("mcp-session-id" in incoming.headers) is legacy else 0

        watch.server.instances, watch.server.turn = [OLD, NEW], answers
        told = await watch.watch(3 * HOUR)
        assert about_tools(told) == []
        assert told


async def test_a_list_that_is_new_at_every_read_is_told_as_that_alone(tmp_path: Path) -> None:
    async with watching(tmp_path) as watch:
        watch.server.once = lambda number: (*OLD, tool(f"at_{number}"))
        told = await watch.watch(3 * HOUR)
        assert lines(told) == ["change check:release/stable-listing: observed_risk:volatile"]
        watch.server.once = None
        told = await watch.watch(3 * HOUR)
        assert lines(told) == ["recovery check:release/stable-listing: verified"]


async def test_a_rollout_that_ends_is_told_as_a_change_soon_after(tmp_path: Path) -> None:
    async with watching(tmp_path) as watch:
        watch.server.instances, watch.server.turn = [OLD, NEW], TURNS["connection"]()
        told = await watch.watch(HOUR / 2)
        assert lines(told) == ["change check:release/replicas: failed:tools-differ"]
        watch.server.instances = [NEW]
        told = await watch.watch(HOUR / 3)
        assert sorted(event.kind for event in told) == ["recovery", "toolset_changed", "toolset_changed"]


async def test_a_tool_that_one_era_alone_has_is_told_with_both_lists(tmp_path: Path) -> None:
    async with watching(tmp_path) as watch:
        watch.server.turn = lambda incoming, _, __: int("mcp-session-id" in incoming.headers)
        watch.server.instances = [OLD, NEW]
        told = await watch.watch(HOUR)
        assert {event.kind for event in told} == {EventKind.TOOLSET_CHANGED, EventKind.CHANGE}
        assert len(about_tools(told)) == 2


@pytest.mark.parametrize("turn", ["request", "list", "connection"])
async def test_a_deploy_that_leaves_instances_behind_has_not_settled(tmp_path: Path, turn: str) -> None:
    async with watching(tmp_path) as watch:
        watch.server.instances, watch.server.turn = [OLD, NEW], TURNS[turn]()
        release = watch.deploy()
        told = await watch.watch(HOUR / 10)
        with watch.store.read() as reader:
            (outcome,) = reader.deploy(release.id)
        assert outcome.state is DeployState.UNSETTLED
        assert about_tools(told) == []
        assert {event.subject for event in told} == {"check:release/replicas"}


SPOKEN: dict[str, list[dict[str, Any]]] = {
    "one-without-modern": [{}, {"modern": False}],
    "one-without-legacy": [{}, {"legacy": False}],
    "one-of-each": [{"modern": False}, {"legacy": False}],
    "older-revision": [{}, {"revisions": ("2024-11-05",)}],
    "other-offers": [{}, {"supported": ("2025-11-25", "2026-07-28")}],
    "one-of-three": [{}, {}, {"modern": False}],
}
SPOKEN_IN_TURN = [
    *((spoken, "connection") for spoken in SPOKEN),
    *((spoken, "half-of-connections") for spoken in list(SPOKEN)[:-1]),
]


@pytest.mark.parametrize(("spoken", "turn"), SPOKEN_IN_TURN)
async def test_instances_that_speak_otherwise_are_told_as_that_and_as_no_change_of_eras(
    tmp_path: Path, spoken: str, turn: str
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.spoken, watch.server.turn = SPOKEN[spoken], TURNS[turn]()
        told = await watch.watch(3 * HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)
        watch.server.spoken = [{}]
        told = await watch.watch(3 * HOUR)
        assert lines(told) == ["recovery check:release/replicas: verified"]


@pytest.mark.parametrize("spoken", ["one-without-modern", "one-without-legacy", "older-revision"])
async def test_an_instance_that_does_not_understand_what_another_has_begun_breaks_no_rule(
    tmp_path: Path, spoken: str
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.spoken, watch.server.turn = SPOKEN[spoken], TURNS["half-of-requests"]()
        told = await watch.watch(3 * HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)
        with watch.store.read() as reader:
            triggers = [run.trigger for run in reader.runs("api", limit=1000)]
        assert triggers.count(Trigger.CONFIRM) <= 45
        watch.server.spoken = [{}]
        told = await watch.watch(16 * HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)
        assert told[-1].after == "verified"


@pytest.mark.parametrize("spoken", ["one-without-modern", "one-without-legacy"])
async def test_an_era_that_every_instance_has_lost_is_told_once_with_what_hangs_on_it(
    tmp_path: Path, spoken: str
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.spoken, watch.server.turn = SPOKEN[spoken], TURNS["connection"]()
        await watch.watch(2 * HOUR)
        watch.server.spoken = SPOKEN[spoken][1:]
        told = await watch.watch(2 * HOUR)
        assert {event.subject for event in told} <= {
            *("eras", "check:release/replicas", "check:mcp/era-coverage")
        }
        assert len({event.run for event in told}) == 1
        assert sum(event.kind is EventKind.ERA_CHANGED for event in told) == 1


@pytest.mark.parametrize("spoken", ["older-revision", "other-offers"])
async def test_a_revision_of_every_instance_is_told_once_and_once_more_when_it_is_back(
    tmp_path: Path, spoken: str
) -> None:
    async with watching(tmp_path) as watch:
        of_version = [] if spoken == "other-offers" else ["check:mcp/protocol-version"]
        subject = "revision:legacy" if of_version else "revision:modern"
        first: list[dict[str, Any]] = [{}]
        for spoken_now in (SPOKEN[spoken][1:], first):
            watch.server.spoken = spoken_now
            told = await watch.watch(2 * HOUR)
            assert sorted({str(event.subject) for event in told}) == [*of_version, subject], lines(told)
            assert sum(event.kind is EventKind.REVISION_CHANGED for event in told) == 1
            assert len({event.run for event in told}) == 1


@pytest.mark.parametrize(("spoken", "turn"), SPOKEN_IN_TURN)
async def test_a_deploy_that_leaves_instances_of_other_eras_behind_has_not_settled(
    tmp_path: Path, spoken: str, turn: str
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.spoken, watch.server.turn = SPOKEN[spoken], TURNS[turn]()
        release = watch.deploy()
        told = await watch.watch(HOUR / 10)
        with watch.store.read() as reader:
            (outcome,) = reader.deploy(release.id)
        assert outcome.state is DeployState.UNSETTLED
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)


@pytest.mark.parametrize("spoken", ["one-without-modern", "older-revision", None])
@pytest.mark.parametrize("seed", range(2))
async def test_what_a_deploy_left_half_way_is_told_once_when_every_instance_has_it(
    tmp_path: Path, seed: int, spoken: str | None
) -> None:
    async with watching(tmp_path) as watch:
        watch.server.turn = _connections_at_random(0.5, 10 + seed)
        if spoken:
            watch.server.spoken = SPOKEN[spoken]
        else:
            watch.server.instances = [OLD, NEW]
        watch.deploy()
        told = await watch.watch(HOUR)
        assert {event.subject for event in told} == {"check:release/replicas"}, lines(told)
        watch.server.spoken, watch.server.instances = watch.server.spoken[-1:], watch.server.instances[-1:]
        told = await watch.watch(4 * HOUR)
        assert len({event.run for event in told}) == 1, lines(told)
        assert len(told) > 1
        assert any(event.kind is EventKind.RECOVERY for event in told)


@pytest.mark.parametrize("answer", [Answer(status=503), Answer(status=429), Answer(cut=True)])
async def test_an_era_that_gives_no_clear_answer_mends_nothing_that_was_found_in_it(
    tmp_path: Path, answer: Answer
) -> None:
    async with watching(tmp_path) as watch:
        mcp, choose = watch.server.mcp, watch.server.mcp.before
        assert choose

        def is_legacy(incoming: Incoming) -> bool:
            return incoming.method == "POST" and "_meta" not in incoming.rpc.get("params", {})

        def faulty(incoming: Incoming, answered: Answer) -> Answer:
            acknowledges = incoming.rpc_method == "notifications/initialized"
            return answered.but(status=200, body=b"{}") if acknowledges else answered

        def without_descriptions(method: str, params: Json, result: Json) -> Json:
            if method != "tools/list" or "_meta" in params:
                return result
            bare = [{**one, "description": ""} for one in result["tools"]]
            return {**result, "tools": bare}

        mcp.after, mcp.result = faulty, without_descriptions
        told = {event.subject for event in await watch.watch(2 * HOUR)}
        assert {"check:mcp/initialized-ack", "check:tool/missing-description"} <= told
        mcp.before = lambda _, incoming: answer if is_legacy(incoming) else choose(mcp, incoming)
        events = await watch.watch(3 * HOUR)
        assert [(event.kind, event.subject) for event in events] == [
            (EventKind.COVERAGE_LOST, "check:mcp/era-coverage")
        ], lines(events)
        mcp.before = choose
        events = await watch.watch(3 * HOUR)
        assert {event.subject for event in events} == {"check:mcp/era-coverage"}, lines(events)


@pytest.mark.parametrize("status", [500, 503])
async def test_a_modern_era_that_answers_only_server_errors_is_told_once_as_that(
    tmp_path: Path, status: int
) -> None:
    async with watching(tmp_path) as watch:
        mcp, choose = watch.server.mcp, watch.server.mcp.before
        assert choose

        def is_modern(incoming: Incoming) -> bool:
            return "_meta" in incoming.rpc.get("params", {})

        assert not await watch.watch(2 * HOUR)
        mcp.before = lambda _, incoming: (
            Answer(status=status) if is_modern(incoming) else choose(mcp, incoming)
        )
        (lost,) = await watch.watch(3 * HOUR)
        assert (lost.kind, lost.subject) == (EventKind.COVERAGE_LOST, "check:mcp/era-coverage")
        assert lost.level is Level.WARNING
        mcp.before = choose
        (back,) = await watch.watch(3 * HOUR)
        assert (back.kind, back.subject) == (EventKind.COVERAGE_BACK, "check:mcp/era-coverage")


async def test_rules_that_come_back_when_eras_have_settled_are_told_with_them(tmp_path: Path) -> None:
    async with watching(tmp_path) as watch:
        told: list[Event] = []
        for spoken in ({"modern": False}, {}) * 4:
            watch.server.spoken = [spoken]
            told += await watch.watch(3 * HOUR / 4)
        told += await watch.watch(12 * HOUR)
        assert {event.subject for event in told} == {"eras"}, lines(told)
        assert told[-1].kind is EventKind.SETTLED
        assert told[-1].details["applicable"]
