"""Whatever moment the process ends at: nothing is half written, lost, or sent again without a label."""

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
import sqlalchemy

from driftwatch.model import ProbeRequest
from driftwatch.store.ports import DeliveryPlan, MessageStatus
from driftwatch.store.sqlite import SqliteStore
from driftwatch.transitions import Changes, Interval, TlsNotice
from tests.store.world import (
    HOUR,
    INTERVAL,
    MINUTE,
    START,
    Clock,
    World,
    certificate,
    event,
    message,
    run,
    schedule,
    sent,
    server,
    state,
    together,
    toolset,
)

CHECK = "check:transport/endpoint"
LEASE = timedelta(seconds=30)
ENDS = START + timedelta(days=10)
CHANNELS = ["chat"]


class TestLostUpdates:
    def increase(self, world: World, times: int) -> Callable[[], None]:
        def work() -> None:
            for _ in range(times):
                with world.store.write() as tx:
                    memory = tx.lock_server("api")
                    assert memory is not None
                    before = memory.states.get(CHECK) or state(CHECK, "verified")
                    tx.apply(
                        "api", Changes(states=(replace(before, pending_count=before.pending_count + 1),)), ()
                    )

        return work

    def counted(self, world: World) -> int:
        with world.store.read() as reader:
            memory = reader.memory("api")
        assert memory is not None
        return memory.states[CHECK].pending_count

    def test_threads_that_read_and_write_back_lose_nothing(self, world: World) -> None:
        together(*[self.increase(world, 25) for _ in range(4)])
        assert self.counted(world) == 100

    def test_neither_do_two_processes(self, world: World) -> None:
        other = World(store=world.database.open(), clock=world.clock, database=world.database)
        together(self.increase(world, 25), self.increase(other, 25))
        assert self.counted(world) == 50


@dataclass
class Story:
    """A service with one due server: probes, tells a channel, delivers; each step its own commit."""

    path: Path
    clock: Clock

    @property
    def received(self) -> list[tuple[str, bool]]:
        """What the receivers got, in order: message and whether it was labelled as a possible repeat."""
        lines = self.path.with_suffix(".sent").read_text().split()
        return [(line[1:], line[0] == "?") for line in lines]

    def play(
        self, crash: Callable[[SqliteStore], None] = lambda _: None, step: Callable[[], None] = lambda: None
    ) -> None:
        store = SqliteStore(self.path, clock=self.clock)
        crash(store)
        try:
            with store.write() as tx:
                requests = tx.take_due(self.clock(), 10, schedule)
            for request in requests:
                self.probe(store, request)
            for channel in CHANNELS:
                self.deliver(store, channel, step)
        finally:
            store.close()

    def probe(self, store: SqliteStore, request: ProbeRequest) -> None:
        name = request.server
        happened = event(f"event-{name}", server=name, at=START)
        changes = Changes(
            states=(state(CHECK, "failed:dns"),),
            intervals=(Interval(subject=CHECK, value="failed:dns", since=START),),
            events=(happened,),
            notices=(
                TlsNotice(
                    leaf_sha256="leaf",
                    threshold_days=14,
                    at=START,
                    not_after=ENDS,
                    issuer="CN=Example CA",
                    subject_alt_names=("api.example",),
                    event=happened.id,
                ),
            ),
        )
        plans = [DeliveryPlan(event=happened.id, channel=channel, not_before=START) for channel in CHANNELS]
        record = run(
            name,
            id_=f"run-{name}",
            taken_at=START,
            asked=request,
            toolsets=[toolset("abc")],
            certificate=certificate("leaf", ENDS),
        )
        with store.write() as tx:
            tx.lock_server(name)
            if tx.record_run(record):
                tx.apply(name, changes, plans)

    def deliver(self, store: SqliteStore, channel: str, step: Callable[[], None]) -> None:
        with store.write() as tx:
            waiting = tx.pending_deliveries(self.clock(), channel=channel)
            if waiting:
                ids = sorted(item.event.id for item in waiting)
                tx.freeze(message(f"{channel}:{'+'.join(ids)}", channel, *ids, created_at=self.clock()))
        while True:
            with store.write() as tx:
                claim = tx.claim("me", LEASE, [channel])
            if claim is None:
                return
            step()
            with self.path.with_suffix(".sent").open("a") as receiver:
                receiver.write(("?" if claim.possible_repeat else "!") + claim.message.id + "\n")
            step()
            with store.write() as tx:
                assert tx.settle(claim, sent(self.clock()))


def counting(hit: Callable[[], None]) -> Callable[[SqliteStore], None]:
    """Call ``hit`` before every statement and every commit of a store's write transactions."""

    def attach(store: SqliteStore) -> None:
        sqlalchemy.event.listen(store._writing, "before_cursor_execute", lambda *_: hit())
        sqlalchemy.event.listen(store._writing, "commit", lambda _: hit())

    return attach


class TestEveryStep:
    @pytest.fixture
    def story(self, tmp_path: Path, template: Path) -> Story:
        return self.fresh(tmp_path, template)

    def fresh(self, folder: Path, template: Path) -> Story:
        path = folder / "driftwatch.db"
        for old in folder.glob("driftwatch.*"):
            old.unlink()
        path.write_bytes(template.read_bytes())
        path.with_suffix(".sent").touch()
        store = SqliteStore(path)
        with store.write() as tx:
            tx.import_servers([server("api", START)], START)
        store.close()
        return Story(path, Clock())

    def test_a_crash_at_any_statement_commit_or_send_loses_and_doubles_nothing(
        self, story: Story, tmp_path: Path, template: Path
    ) -> None:
        points: Counter[str] = Counter()
        story.play(counting(lambda: points.update("x")), lambda: points.update("x"))
        assert story.received == [("chat:event-api", False)]
        assert points["x"] > 30

        repeats = 0
        for number in range(1, points["x"] + 1):
            story = self.fresh(tmp_path, template)
            assert self.dies_at(number, story) == 9
            self.recover(story)
            repeats += self.check(story)
        # Between the receiver's yes and the settlement's commit nobody can know; and only there.
        assert 0 < repeats < 10

    def dies_at(self, number: int, story: Story) -> int:
        """The exit code of a process that ends at its n-th point."""
        child = os.fork()
        if child == 0:
            left = [number]

            def hit() -> None:
                left[0] -= 1
                if left[0] == 0:
                    os._exit(9)

            with suppress(BaseException):
                story.play(counting(hit), hit)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        return os.waitstatus_to_exitcode(status)

    def recover(self, story: Story) -> None:
        """The service starts again, when every lease is over."""
        story.clock.advance(LEASE)
        story.play()

    def check(self, story: Story) -> int:
        """The invariants; how many messages were received twice."""
        store = SqliteStore(story.path)
        assert store.check() == []
        with store.read() as reader:
            assert [item.id for item in reader.runs("api")] == ["run-api"]
            assert [item.value for item in reader.intervals("api")] == ["failed:dns"]
            assert [item.id for item in reader.events()] == ["event-api"]
            assert reader.waiting_requests() == []
            memory = reader.memory("api")
            messages = reader.messages()
        store.close()
        assert memory is not None
        assert memory.states[CHECK].confirmed == "failed:dns"
        assert [(notice.threshold_days, notice.event) for notice in memory.notices] == [(14, "event-api")]
        assert {record.status for record in messages} == {MessageStatus.SENT}
        assert [record.message.events for record in messages] == [("event-api",)] * len(CHANNELS)
        seen: Counter[str] = Counter()
        for id_, labelled in story.received:
            assert labelled or not seen[id_], "a repeat without its label"
            seen[id_] += 1
        assert set(seen) == {record.message.id for record in messages}
        return sum(count - 1 for count in seen.values())


WRITER = """
import sys
from pathlib import Path
from driftwatch.store.ports import DeliveryPlan
from driftwatch.store.sqlite import SqliteStore
from driftwatch.transitions import Changes, Interval
from tests.store.world import START, MINUTE, event, run, state, toolset
store = SqliteStore(Path(sys.argv[1]))
number = int(sys.argv[2])
while True:
    at = START + number * MINUTE
    value = f"failed:{number}"
    with store.write() as tx:
        tx.lock_server("api")
        tx.record_run(run("api", id_=f"run-{number}", taken_at=at, toolsets=[toolset(f"t{number}")]))
        tx.apply("api", Changes(
            states=(state("check:a/b", value),),
            intervals=(Interval(subject="check:a/b", value=value, since=at),),
            events=(event(f"event-{number}", at=at, details={"text": "x" * 2000}),),
        ), [DeliveryPlan(event=f"event-{number}", channel="chat", not_before=at)])
    print(number, flush=True)
    number += 1
"""


def test_a_killed_writer_leaves_whole_transactions_and_a_sound_file(tmp_path: Path, template: Path) -> None:
    path = tmp_path / "driftwatch.db"
    path.write_bytes(template.read_bytes())
    store = SqliteStore(path)
    with store.write() as tx:
        tx.import_servers([server("api", START)], START)
    store.close()
    random, written = Random(7), 0
    for _ in range(4):
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), str(written)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert child.stdout is not None
        for _ in range(random.randint(1, 60)):
            promised = int(child.stdout.readline())
        child.kill()
        rest, _ = child.communicate()
        promised = int(rest.split()[-1]) if rest.split() else promised

        store = SqliteStore(path)
        store.migrate()
        assert store.check() == []
        with store.read() as reader:
            runs = {item.id.removeprefix("run-") for item in reader.runs("api", limit=1000)}
            events = {item.id.removeprefix("event-") for item in reader.events(limit=1000)}
            stretches = {item.value.removeprefix("failed:") for item in reader.intervals("api", limit=1000)}
            memory = reader.memory("api")
        written = len(runs)
        assert runs == events == stretches == {str(number) for number in range(written)}
        assert promised < written <= promised + 2, "what was acknowledged is there"
        assert memory is not None
        assert memory.states["check:a/b"].confirmed == f"failed:{written - 1}"
        with store.write() as tx:
            assert len(tx.pending_deliveries(START + 1000 * HOUR, limit=1000)) == written
        store.close()


def test_a_probe_that_took_too_long_for_its_lease_is_recorded_once(world: World) -> None:
    (first,) = world.take()
    world.clock.advance(INTERVAL - MINUTE)
    (again,) = world.take()
    assert (again.due_at, again.attempt) == (first.due_at, 2)
    world.record(asked=again)
    with world.store.write() as tx:
        tx.lock_server("api")
        assert not tx.record_run(run("api", id_="late", taken_at=START, asked=first))
    with world.store.read() as reader:
        assert len(reader.runs("api")) == 1
