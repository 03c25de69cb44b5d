"""The parts that run side by side, wired together."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from datetime import timedelta

from driftwatch.alerts.outbox import Outbox
from driftwatch.alerts.ping import ping
from driftwatch.alerts.wording import Voice
from driftwatch.app.outside import Outside
from driftwatch.app.wiring import Wiring
from driftwatch.config import Channel, Config
from driftwatch.errors import StoreError
from driftwatch.guard import NetworkGuard
from driftwatch.model import ProbeRequest
from driftwatch.observe import Observer
from driftwatch.probe import prober
from driftwatch.schedule import backups, certificates, heartbeat, resuming, storage
from driftwatch.schedule import reminders as reminding
from driftwatch.schedule.backups import Backups
from driftwatch.schedule.certificates import CertificateDates
from driftwatch.schedule.due import DueTimes
from driftwatch.schedule.heartbeat import Heartbeat
from driftwatch.schedule.queue import ProbeQueue
from driftwatch.schedule.reminders import Reminders
from driftwatch.schedule.resuming import Resuming
from driftwatch.schedule.storage import StorageFaults
from driftwatch.schedule.ticker import Ticker
from driftwatch.store.ports import MessageStatus, Retention, Store
from driftwatch.web.health import Health
from driftwatch.web.vitals import Vitals

log = logging.getLogger("driftwatch.service")

STOP_BUDGET_S = 8.0
PROBE_GRACE_S = 4.0
"""What running probes get at a stop; a cancelled one still ends its sessions, which takes a moment more."""

PRUNE_EVERY = timedelta(hours=1)
HEALTH_EVERY = timedelta(seconds=15)

Chore = tuple[timedelta, Callable[[], Awaitable[None]]]
"""How often, and what."""


class Works:
    """Probing, sending and the chores, on one database."""

    def __init__(
        self, store: Store, wiring: Wiring, outside: Outside, chores: Mapping[str, Chore] | None = None
    ) -> None:
        """Nothing happens before ``run``; the servers are imported by then. ``chores`` are further ones."""
        config = wiring.config
        channels, voice, group_wait = _sending(config)
        self._store = store
        self._outside = outside
        self.wiring = wiring
        """What is in force."""
        self._clock = outside.clock
        self.health = Health(migrated=False, tick_age_s=None, database=True, oldest_message_s=None)
        self.queue = ProbeQueue(
            concurrency=config.monitor.concurrency,
            per_host=config.monitor.per_host,
            host_of=wiring.host_of,
        )
        self.outbox = Outbox(
            store=store,
            sender=outside.sender,
            channels=channels,
            clock=outside.clock,
            voice=voice,
            group_wait=group_wait,
        )
        self.faults = StorageFaults(
            store=store,
            clock=outside.clock,
            channels=wiring.rules,
            group_wait=config.alerts.group_wait,
            told=self.outbox.wake,
        )
        self.guard = NetworkGuard(
            store=store,
            clock=outside.clock,
            hosts=wiring.addresses,
            channels=wiring.rules,
            group_wait=config.alerts.group_wait,
            canary=outside.canary(config.monitor.canary_url),
            told=self.outbox.wake,
        )
        self.observer = Observer(
            watched=wiring.watched,
            store=store,
            prober=prober(clock=outside.clock, resolver=outside.resolver, pause=outside.pause),
            clock=outside.clock,
            channels=wiring.rules,
            group_wait=config.alerts.group_wait,
            windows=config.alerts.windows,
            rollouts=wiring.rollouts,
            guard=self.guard,
            told=self.outbox.wake,
            refused=self.faults.refused,
        )
        self.dates = CertificateDates(
            watched=wiring.watched,
            store=store,
            clock=outside.clock,
            channels=wiring.rules,
            group_wait=config.alerts.group_wait,
            windows=config.alerts.windows,
            told=self.outbox.wake,
        )
        self.heartbeat = Heartbeat(
            store,
            settings=lambda: self.wiring.config.heartbeat,
            storing=lambda: self.storing,
            ping=ping,
            clock=outside.clock,
        )
        nightly = Backups(store, keep=lambda: self.wiring.config.storage.backups, now=outside.clock.now)
        silences = Resuming(
            store=store, clock=outside.clock, alerts=lambda: self.wiring.config.alerts, told=self.outbox.wake
        )
        self.reminders = Reminders(
            store=store,
            clock=outside.clock,
            watched=wiring.watched,
            channels=wiring.rules,
            windows=config.alerts.windows,
            full_intervals=wiring.full_intervals,
            told=self.outbox.wake,
        )
        self.ticker = Ticker(
            store=store,
            queue=self.queue,
            clock=outside.clock,
            due_times=wiring.due_times,
            chores={
                "prune": (PRUNE_EVERY, self._prune),
                "certificates": (certificates.EVERY, self.dates.run),
                "backup": (backups.LOOK_EVERY, nightly.run),
                "storage": (storage.EVERY, self.faults.run),
                "resume": (resuming.EVERY, silences.run),
                "reminders": (reminding.EVERY, self.reminders.run),
                "stale": (reminding.LOOK_FOR_STALE_EVERY, self.reminders.look_for_stale),
                "heartbeat": (heartbeat.LOOK_EVERY, self.heartbeat.run),
                **(chores or {}),
            },
            tick=outside.tick,
            refused=self.faults.refused,
        )

    def watch(self, wiring: Wiring, *, due_times: Mapping[str, DueTimes]) -> None:
        """Probe by other settings from now on; what is on its way ends as it began."""
        config, rules = wiring.config, wiring.rules
        group_wait, windows = config.alerts.group_wait, config.alerts.windows
        self.queue.configure(
            concurrency=config.monitor.concurrency,
            per_host=config.monitor.per_host,
            host_of=wiring.host_of,
        )
        self.observer.configure(
            watched=wiring.watched,
            channels=rules,
            group_wait=group_wait,
            windows=windows,
            rollouts=wiring.rollouts,
        )
        self.faults.configure(channels=rules, group_wait=group_wait)
        self.reminders.configure(
            watched=wiring.watched,
            channels=rules,
            windows=windows,
            full_intervals=wiring.full_intervals,
        )
        self.dates.configure(watched=wiring.watched, channels=rules, group_wait=group_wait, windows=windows)
        canary = self._outside.canary(config.monitor.canary_url)
        self.guard.configure(hosts=wiring.addresses, channels=rules, group_wait=group_wait, canary=canary)
        self.ticker.configure(due_times)

    def rewire(self, wiring: Wiring) -> None:
        """Put another wiring in force, whose servers are imported."""
        self.watch(wiring, due_times=wiring.due_times)
        if _sending(wiring.config) != _sending(self.wiring.config):
            channels, voice, group_wait = _sending(wiring.config)
            self.outbox.configure(channels, voice=voice, group_wait=group_wait)
        self.wiring = wiring
        self.wake()

    @property
    def storing(self) -> bool:
        """False while the database refuses what is to be written."""
        return self.observer.storing and self.ticker.storing

    def wake(self) -> None:
        """Something was written that the tick or the outbox should see now."""
        self.ticker.wake()
        self.outbox.wake()

    def vitals(self, started: Vitals) -> Vitals:
        """What was counted since ``started``."""
        return replace(
            started,
            queue_depth=self.queue.depth(),
            tick_age_s=self.ticker.age_s,
            storing=self.storing,
            clock_steps=self.ticker.clock_steps,
            probes=self.observer.counts,
            deliveries=self.outbox.counts,
            heartbeat_at=self.heartbeat.taken_at,
        )

    async def run(self, stop: asyncio.Event, ready: Callable[[], None]) -> None:
        """Work until ``stop`` is set, then end within STOP_BUDGET_S; ``ready`` is called once all runs."""

        async def handle(request: ProbeRequest) -> None:
            await self.observer.observe(request)

        async with asyncio.TaskGroup() as group:
            sending = group.create_task(self.outbox.run(stop), name="outbox")
            probing = group.create_task(self.queue.run(handle), name="queue")
            watching = group.create_task(self._watch(), name="health")
            self.ticker.start()
            config = self.wiring.config
            fields = {"servers": len(config.servers), "channels": len(config.channels)}
            log.info("started", extra={"fields": fields})
            ready()
            await stop.wait()
            log.info("stopping")
            await self.ticker.stop()
            watching.cancel()
            await self.queue.drain(PROBE_GRACE_S)
            probing.cancel()
            await asyncio.wait({sending, probing}, timeout=STOP_BUDGET_S - PROBE_GRACE_S - 1)
            sending.cancel()
        log.info("stopped")

    async def _prune(self) -> None:
        storage = self.wiring.config.storage
        policy = Retention(keep=storage.keep, max_bytes=storage.max_size, now=self._clock.now())
        pruned = await asyncio.to_thread(self._store.prune, policy)
        log.info("pruned", extra={"fields": {"runs": pruned.runs, "bytes": pruned.bytes_freed}})

    async def _watch(self) -> None:
        """Keep what the health endpoints answer up to date."""
        while True:
            database, oldest = self.storing, None
            try:
                waiting = await self._store.query(lambda reader: reader.messages(MessageStatus.PENDING, 1000))
                now = self._clock.now()
                ages = [(now - record.message.created_at).total_seconds() for record in waiting]
                oldest = max(ages, default=None)
            except StoreError:
                database = False
            self.health = Health(
                migrated=True, tick_age_s=self.ticker.age_s, database=database, oldest_message_s=oldest
            )
            await asyncio.sleep(HEALTH_EVERY.total_seconds())


def _sending(config: Config) -> tuple[tuple[Channel, ...], Voice, timedelta]:
    """What the outbox knows of the configuration."""
    voice = Voice(zone=config.monitor.timezone, option=config.option)
    return config.channels, voice, config.alerts.group_wait
