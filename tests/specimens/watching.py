"""A specimen under watch: real probes over loopback, a real database, and a clock that the test moves."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from driftwatch import checks, transitions
from driftwatch.alerts.route import ChannelRule
from driftwatch.evidence import Evidence
from driftwatch.model import Depth, Event, EventKind, ProbeRequest, Report, State, Trigger
from driftwatch.observe import Observer, Watched
from driftwatch.probe import Target
from driftwatch.store.ports import ServerRecord
from driftwatch.store.sqlite import SqliteStore
from tests.clocks import StandingClock
from tests.specimens.mcp import Mcp
from tests.specimens.running import TAKEN_AT, Running, running

SERVER = "specimen"


@dataclass
class Watch:
    """One server and everything that was said about it."""

    running: Running
    store: SqliteStore
    clock: StandingClock
    options: dict[str, Any]
    """Of every probe: limits, a resolver, fields of the target."""
    last: Report | None = None

    @property
    def server(self) -> Mcp:
        """What is being watched; change it to make a release."""
        return self.running.mcp

    async def look(
        self,
        times: int = 1,
        *,
        every: timedelta = timedelta(seconds=30),
        depth: Depth = Depth.FULL,
        trigger: Trigger = Trigger.INTERVAL,
    ) -> Report:
        """Make so many probes; the report of the last one."""
        for _ in range(times):
            self.clock.advance(every)
            request = ProbeRequest(server=SERVER, due_at=self.clock.now(), trigger=trigger, depth=depth)
            report = await self._observer.observe(request)
            assert report is not None
            self.last = report
        assert self.last is not None
        return self.last

    def state(self, check: str) -> tuple[State, str | None]:
        """State and code of one check at the last probe."""
        assert self.last is not None
        result = self.last.result(check)
        return result.state, result.code

    @property
    def pairs(self) -> list[str | None]:
        """The fingerprint of each surface at the last probe; None where there is none."""
        assert self.last is not None
        prints = [surface.fingerprint for surface in self.last.surfaces]
        return [None if one is None else one.pair for one in prints]

    @property
    def alerts(self) -> list[Event]:
        """Every event that was told, oldest first."""
        with self.store.read() as reader:
            told = [event for event in reader.events(SERVER, limit=1000) if event.alerts]
        return sorted(told, key=lambda event: event.at)

    @property
    def messages(self) -> list[set[EventKind]]:
        """What was told, message by message: the events of one probe go into one."""
        runs: dict[str | None, set[EventKind]] = {}
        for event in self.alerts:
            runs.setdefault(event.run, set()).add(event.kind)
        return list(runs.values())

    @property
    def _observer(self) -> Observer:
        target = Target(name=SERVER, url=self.running.loopback.url(), **_target(self.options))
        watched = Watched(
            target=target,
            tags=(),
            revision="r1",
            checks=checks.Policy(),
            transitions=transitions.Policy(),
        )
        return Observer(
            watched={SERVER: watched},
            store=self.store,
            prober=self._probe,
            clock=self.clock,
            channels=[ChannelRule(name="ops")],
            group_wait=timedelta(seconds=30),
        )

    async def _probe(self, target: Target, *, depth: Depth, trigger: Trigger) -> Evidence:
        del target  # the probe makes the same one
        evidence = await self.running.probe(depth=depth, trigger=trigger, **self.options)
        return replace(evidence, taken_at=self.clock.now())


def _target(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name != "resolver"}


@asynccontextmanager
async def watching(
    mcp: Mcp | None, folder: Path, *, context: ssl.SSLContext | None = None, **options: Any
) -> AsyncIterator[Watch]:
    async with running(mcp, context=context) as server:
        store = SqliteStore(folder / "driftwatch.db")
        store.migrate()
        clock = StandingClock(TAKEN_AT)
        record = ServerRecord(
            name=SERVER,
            url=server.loopback.url(),
            host=f"127.0.0.1:{server.loopback.port}",
            credential="anonymous",
            revision="r1",
            next_due_at=clock.now(),
            next_full_at=clock.now(),
        )
        with store.write() as tx:
            tx.import_servers([record], clock.now())
        try:
            yield Watch(running=server, store=store, clock=clock, options=options)
        finally:
            store.close()
