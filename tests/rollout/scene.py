"""One server in a real database, and deploys whose reads see what a test says."""

import functools
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from driftwatch import deploys, rollout, transitions
from driftwatch.model import Depth, Event, ProbeRequest, Release, Trigger
from driftwatch.store.ports import DeliveryPlan, HookDelivery, RunRecord
from driftwatch.store.sqlite import SqliteStore
from tests.store.conftest import MEMORY
from tests.store.world import MINUTE, Clock, schedule, server
from tests.transitions.timeline import HEALTHY, Timeline, View, down

SECOND = timedelta(seconds=1)
SETTINGS = rollout.Settings(rules=deploys.Rules(reads=2, timeout=MINUTE))


@dataclass
class Scene:
    """One server in a database, a clock, and a service that can end at any moment between transactions."""

    path: Path
    clock: Clock = field(default_factory=Clock)
    timeline: Timeline = field(default_factory=Timeline)
    announced: list[str] = field(default_factory=list)
    runs: int = 0

    def __post_init__(self) -> None:
        self.store = SqliteStore(self.path, clock=self.clock)
        self.store.migrate()
        with self.store.write() as tx:
            tx.import_servers([server("api", self.clock())], self.clock())
        self.timeline.credential = "token"
        self.probe("d")

    def restart(self) -> None:
        self.store.close()
        self.store = SqliteStore(self.path, clock=self.clock)
        with self.store.write() as tx:
            tx.resume_deploys(self.clock())

    def announce(self) -> None:
        id_ = f"r{len(self.announced)}"
        self.announced.append(id_)
        release = Release(id=id_, ref=id_, received_at=self.clock(), servers=("api",))
        delivery = HookDelivery(id=id_, body_sha256="", received_at=self.clock())
        requests = deploys.probes(release, delay=2 * SECOND)
        with self.store.write() as tx:
            tx.announce(delivery, release, requests, debounce=3 * SECOND)

    def take(self) -> list[ProbeRequest]:
        with self.store.write() as tx:
            return tx.take_due(self.clock(), 10, schedule)

    def probe(self, answer: str | View) -> list[Depth]:
        """What is due now is carried out, and sees a list named by a letter, or nothing for a dash."""
        taken = self.take()
        for request in taken:
            self.record(request, seen(answer))
        return [request.depth for request in taken]

    def read_on(self, *answers: str | View) -> list[Depth]:
        """Reads of the run that is under way, each when it is due; how deep they were."""
        depths = []
        for answer in answers:
            (due,) = self.deploy_reads()
            self.clock.time = max(self.clock(), due.due_at)
            depths += self.probe(answer)
        return depths

    def deploy_reads(self) -> list[ProbeRequest]:
        with self.store.read() as reader:
            return [each for each in reader.waiting_requests() if each.trigger is Trigger.DEPLOY]

    def under_way(self) -> list[str]:
        with self.store.read() as reader:
            outcomes = [outcome for id_ in self.announced for outcome in reader.deploy(id_)]
        return [outcome.release for outcome in outcomes if not outcome.state.over]

    def record(self, request: ProbeRequest, view: View) -> None:
        self.runs += 1
        self.timeline.now = now = self.clock()
        with self.store.write() as tx:
            memory = self.timeline.memory = tx.lock_server("api")
            report = self.timeline.report(view, request.depth, request.trigger)
            run = RunRecord(id=f"{self.runs:032x}", request=request, report=report)
            assert tx.record_run(run)
            decide = functools.partial(
                transitions.decide,
                memory,
                report,
                toolsets=self.timeline._toolsets(view),
                settings="settings",
                now=now,
                run=run.id,
            )

            def tell(events: Collection[Event], *, group_wait: timedelta) -> list[DeliveryPlan]:
                return [
                    DeliveryPlan(event=event.id, channel="ops", not_before=now + group_wait)
                    for event in events
                    if event.alerts
                ]

            deploy = tx.deploy_run("api") if request.trigger is Trigger.DEPLOY else None
            if deploy is None:
                changes = decide(policy=self.timeline.policy)
                tx.apply("api", changes, tell(changes.events, group_wait=timedelta(0)))
            else:
                read = rollout.Read(
                    deploy=deploy,
                    run=run,
                    memory=memory,
                    policy=self.timeline.policy,
                    decide=decide,
                    plan=tell,
                    settings=SETTINGS,
                    now=now,
                )
                rollout.follow(tx, read)
            tx.request_done(request)


def seen(answer: str | View) -> View:
    """What a server shows that answers so."""
    if isinstance(answer, View):
        return answer
    return down("refused") if answer == "-" else HEALTHY.offering(f"abc{answer}")


@contextmanager
def scene() -> Iterator[Scene]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        made = Scene(Path(folder) / "driftwatch.db")
        yield made
        made.store.close()
