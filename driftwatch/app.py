"""The composition root: builds everything from the configuration, starts it, and stops it cleanly.

Start: instance lock, port, database (migrated), servers imported; then outbox, queue and tick together.
Stop, within STOP_BUDGET_S: no more ticks, running probes get PROBE_GRACE_S, claimed messages are settled or
left to their lease, HTTP ends, the database is closed.
"""

import asyncio
import functools
import logging
import random
import signal
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from driftwatch import deploys, rollout, transitions
from driftwatch.alerts.deliver import AppriseSender
from driftwatch.alerts.outbox import Outbox, Sender
from driftwatch.alerts.ping import ping
from driftwatch.alerts.route import ChannelRule, plan, trial
from driftwatch.alerts.wording import Voice
from driftwatch.clock import Clock, SystemClock
from driftwatch.config import Config, Server
from driftwatch.errors import StoreBusyError, StoreError
from driftwatch.guard import Canary, NetworkGuard
from driftwatch.model import Event, EventKind, Level, ProbeRequest
from driftwatch.observe import Observer, Watched, checks_policy, prober
from driftwatch.probe import Pause, Resolver, SystemResolver, Target, TrustStore, canary
from driftwatch.schedule import backups, certificates, heartbeat, resuming
from driftwatch.schedule.backups import Backups
from driftwatch.schedule.certificates import CertificateDates
from driftwatch.schedule.due import DueTimes, first_due
from driftwatch.schedule.queue import LocalQueue
from driftwatch.schedule.resuming import Resuming
from driftwatch.schedule.ticker import TICK, Ticker
from driftwatch.store.ports import Imported, MessageRecord, MessageStatus, Retention, ServerRecord, Store, Tx
from driftwatch.store.sqlite import InstanceLock, SqliteStore
from driftwatch.web.application import application
from driftwatch.web.context import Context
from driftwatch.web.health import Health
from driftwatch.web.server import HttpServer
from driftwatch.web.vitals import Vitals

log = logging.getLogger("driftwatch.service")

STOP_BUDGET_S = 8.0
PROBE_GRACE_S = 4.0
"""What running probes get at a stop; a cancelled one still ends its sessions, which takes a moment more."""

PRUNE_EVERY = timedelta(hours=1)
HEALTH_EVERY = timedelta(seconds=15)
NOTIFY_POLL_S = 0.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """Everything through which the service touches the world; tests and the demo pass their own."""

    clock: Clock
    resolver: Resolver
    sender: Sender
    random: Callable[[], float] = random.random
    tick: timedelta = TICK
    pause: Pause = asyncio.sleep
    """Waits before a probe's retry inside a run."""

    @classmethod
    def real(cls, config: Config) -> "Outside":
        """The machine's clock, resolver and Apprise."""
        sender = AppriseSender(secrets=config.secrets())
        if config.channels:
            sender.warm()
        return cls(clock=SystemClock(), resolver=SystemResolver(), sender=sender)


def watched(config: Config, server: Server) -> Watched:
    """Everything an observation of one server needs."""
    monitor = config.monitor
    return Watched(
        target=Target.of(config, server),
        tags=server.tags,
        revision=server.revision,
        checks=checks_policy(config, server),
        transitions=transitions.Policy(
            confirm=monitor.confirm,
            confirm_delays=monitor.confirm_delays,
            loss_confirm=monitor.loss_confirm,
            reminder=config.alerts.reminder,
            flap_count=monitor.flap.count,
            flap_window=monitor.flap.window,
            flap_settle=monitor.flap.settle,
            accept=server.accept,
            tls_days=config.alerts.tls_days,
        ),
    )


def rollouts(config: Config) -> rollout.Settings:
    """How the reads after a release are made."""
    return rollout.Settings(
        rules=deploys.Rules(reads=config.hook.reads, timeout=config.hook.settle_timeout),
        on_unchanged=config.alerts.on_unchanged_deploy,
    )


def open_store(config: Config, clock: Clock) -> SqliteStore:
    """The database for writing. Raises StoreError when it cannot be used."""
    return SqliteStore(config.storage.path, backup_dir=config.storage.backup_dir, clock=clock.now)


class Service:
    """The running service."""

    def __init__(self, config: Config, outside: Outside | None = None) -> None:
        """Nothing happens before ``run``."""
        self._config = config
        self._outside = outside or Outside.real(config)
        now = self._outside.clock.now()
        self._stop = asyncio.Event()
        self._ready = asyncio.Event()
        self._http: HttpServer | None = None
        self._store: Store | None = None
        self._wake: Callable[[], None] = lambda: None
        self._vitals: Callable[[], Vitals] = lambda: Vitals(started_at=now, config_loaded_at=now)
        self._health = Health(migrated=False, tick_age_s=None, database=True, oldest_message_s=None)

    def stop(self) -> None:
        """Ask the service to end; ``run`` returns within STOP_BUDGET_S."""
        self._stop.set()

    async def ready(self) -> None:
        """Wait until everything runs."""
        await self._ready.wait()

    @property
    def port(self) -> int:
        """The HTTP port, once ``run`` has bound it."""
        return self._http.port if self._http else 0

    async def run(self) -> None:
        """Run until ``stop``, SIGTERM or SIGINT.

        Raises ServiceError when the port is taken, StoreError when the database cannot be used,
        StoreBusyError when another driftwatch runs on it.
        """
        loop = asyncio.get_running_loop()
        # Signals reach the main thread only; elsewhere (a test's thread) stop() is the way.
        with suppress(RuntimeError, ValueError):
            for name in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(name, self.stop)
        listen = self._config.http.listen
        with InstanceLock(self._config.storage.path):
            self._http = HttpServer(listen.host, listen.port)
            serving = asyncio.create_task(self._http.run(application(self._context())), name="http")
            store = None
            try:
                store = open_store(self._config, self._outside.clock)
                await asyncio.to_thread(store.migrate)
                self._store = store
                await self._work(store)
            finally:
                self._http.stop()
                await serving
                self._store = None
                if store is not None:
                    await asyncio.to_thread(store.close)

    def _context(self) -> Context:
        return Context(
            config=lambda: self._config,
            store=lambda: self._store,
            health=lambda: self._health,
            vitals=lambda: self._vitals(),  # noqa: PLW0108 - there is more to count once everything is built
            clock=self._outside.clock,
            wake=lambda: self._wake(),  # noqa: PLW0108 - it is another one as soon as there is an outbox
            stopping=self._stop.is_set,
        )

    async def _work(self, store: Store) -> None:
        config, outside = self._config, self._outside
        servers = {server.name: server for server in config.servers}
        plans = {name: self._due_times(server) for name, server in servers.items()}
        await store.transact(functools.partial(self._import, servers, plans))
        queue = LocalQueue(
            concurrency=config.monitor.concurrency,
            per_host=config.monitor.per_host,
            host_of=lambda name: servers[name].host if name in servers else name,
        )
        outbox = Outbox(
            store=store,
            sender=outside.sender,
            channels=config.channels,
            clock=outside.clock,
            voice=Voice(zone=config.monitor.timezone),
            group_wait=config.alerts.group_wait,
        )
        watching = {name: watched(config, server) for name, server in servers.items()}
        rules = [ChannelRule.of(channel) for channel in config.channels]
        guard = NetworkGuard(
            store=store,
            clock=outside.clock,
            hosts={name: server.host.rpartition(":")[0] for name, server in servers.items()},
            channels=rules,
            group_wait=config.alerts.group_wait,
            canary=self._canary(),
            told=outbox.wake,
        )
        observer = Observer(
            watched=watching,
            store=store,
            prober=prober(clock=outside.clock, resolver=outside.resolver, pause=outside.pause),
            clock=outside.clock,
            channels=rules,
            group_wait=config.alerts.group_wait,
            windows=config.alerts.windows,
            rollouts=rollouts(config),
            guard=guard,
            told=outbox.wake,
        )
        dates = CertificateDates(
            watched=watching,
            store=store,
            clock=outside.clock,
            channels=rules,
            group_wait=config.alerts.group_wait,
            windows=config.alerts.windows,
            told=outbox.wake,
        )
        pulse = heartbeat.Heartbeat(
            store,
            settings=lambda: self._config.heartbeat,
            storing=lambda: observer.storing and ticker.storing,
            ping=ping,
            clock=outside.clock,
        )
        nightly = Backups(store, keep=lambda: self._config.storage.backups, now=outside.clock.now)
        silences = Resuming(store=store, clock=outside.clock, alerts=config.alerts, told=outbox.wake)
        ticker = Ticker(
            store=store,
            queue=queue,
            clock=outside.clock,
            due_times=plans,
            chores={
                "prune": (PRUNE_EVERY, functools.partial(self._prune, store)),
                "certificates": (certificates.EVERY, dates.run),
                "backup": (backups.LOOK_EVERY, nightly.run),
                "resume": (resuming.EVERY, silences.run),
                "heartbeat": (heartbeat.LOOK_EVERY, pulse.run),
            },
            tick=outside.tick,
        )

        def wake() -> None:
            ticker.wake()
            outbox.wake()

        self._wake = wake
        started = self._vitals()

        def vitals() -> Vitals:
            return replace(
                started,
                queue_depth=queue.depth(),
                tick_age_s=ticker.age_s,
                storing=observer.storing and ticker.storing,
                clock_steps=ticker.clock_steps,
                probes=observer.counts,
                deliveries=outbox.counts,
                heartbeat_at=pulse.taken_at,
            )

        self._vitals = vitals

        async def handle(request: ProbeRequest) -> None:
            await observer.observe(request)

        async with asyncio.TaskGroup() as group:
            sending = group.create_task(outbox.run(self._stop), name="outbox")
            probing = group.create_task(queue.run(handle), name="queue")
            health = group.create_task(self._watch(store, ticker, observer), name="health")
            ticker.start()
            log.info("started", extra={"fields": {"servers": len(servers), "channels": len(config.channels)}})
            self._ready.set()
            await self._stop.wait()
            log.info("stopping")
            await ticker.stop()
            health.cancel()
            await queue.drain(PROBE_GRACE_S)
            probing.cancel()
            await asyncio.wait({sending, probing}, timeout=STOP_BUDGET_S - PROBE_GRACE_S - 1)
            sending.cancel()
        log.info("stopped")

    def _import(self, servers: Mapping[str, Server], plans: Mapping[str, DueTimes], tx: Tx) -> None:
        """Bring servers and due times in line with the configuration; the history says what moved."""
        now = self._outside.clock.now()
        imported = tx.import_servers(
            [server_record(server, now, len(servers)) for server in servers.values()], now
        )
        tx.repair_due(now, lambda record, at: plans[record.name].after(at, next_full_at=record.next_full_at))
        tx.resume_deploys(now)
        for event in _import_events(imported, now):
            tx.record_event(event, ())

    def _canary(self) -> Canary | None:
        """What asks the address that is always up, if one is configured."""
        url, outside = self._config.monitor.canary_url, self._outside
        if url is None:
            return None
        return functools.partial(
            canary.answers, url, trust=TrustStore(), resolver=outside.resolver, now=outside.clock.now
        )

    def _due_times(self, server: Server) -> DueTimes:
        monitor = self._config.monitor
        return DueTimes(
            server.name,
            interval=server.interval,
            full_interval=server.full_interval,
            schedule=str(server.schedule) if server.schedule else None,
            timezone=str(monitor.timezone),
            jitter=monitor.jitter,
            random=self._outside.random,
        )

    async def _prune(self, store: Store) -> None:
        storage = self._config.storage
        policy = Retention(keep=storage.keep, max_bytes=storage.max_size, now=self._outside.clock.now())
        pruned = await asyncio.to_thread(store.prune, policy)
        log.info("pruned", extra={"fields": {"runs": pruned.runs, "bytes": pruned.bytes_freed}})

    async def _watch(self, store: Store, ticker: Ticker, observer: Observer) -> None:
        """Keep what the health endpoints answer up to date."""
        while True:
            database, oldest = observer.storing and ticker.storing, None
            try:
                waiting = await store.query(lambda reader: reader.messages(MessageStatus.PENDING, 1000))
                now = self._outside.clock.now()
                ages = [(now - record.message.created_at).total_seconds() for record in waiting]
                oldest = max(ages, default=None)
            except StoreError:
                database = False
            self._health = Health(
                migrated=True, tick_age_s=ticker.age_s, database=database, oldest_message_s=oldest
            )
            await asyncio.sleep(HEALTH_EVERY.total_seconds())


def server_record(server: Server, now: datetime, fleet: int) -> ServerRecord:
    """A configured server as a row; ``fleet`` is how many there are, for spreading the first visits."""
    due = first_due(server.name, now, fleet)
    return ServerRecord(
        name=server.name,
        url=server.shown_url,
        host=server.host,
        credential=server.credential_label,
        revision=server.revision,
        next_due_at=due,
        # The first visit is a full one: a baseline of everything.
        next_full_at=due,
        tags=server.tags,
    )


def _import_events(imported: Imported, now: datetime) -> list[Event]:
    kinds = (
        (EventKind.SERVER_ADDED, (*imported.added, *imported.returned)),
        (EventKind.SERVER_REMOVED, imported.removed),
    )
    return [
        Event(id=str(uuid.uuid4()), server=name, kind=kind, level=Level.INFO, alerts=False, at=now, run=None)
        for kind, names in kinds
        for name in names
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    """What became of the test message of one channel."""

    channel: str
    sent: bool
    message: str | None
    """The message's id, once it is written."""
    problem: str | None
    """Why it has not arrived."""


async def notify_test(
    config: Config, names: Sequence[str], wait_s: float, outside: Outside | None = None
) -> list[Tested]:
    """Send a test message to some channels through the outbox; what became of each within ``wait_s``.

    A running service delivers them; without one they are delivered here.
    """
    outside = outside or Outside.real(config)
    with suppress(StoreBusyError), InstanceLock(config.storage.path):
        store = open_store(config, outside.clock)
        try:
            await asyncio.to_thread(store.migrate)
            outbox = Outbox(store=store, sender=outside.sender, channels=config.channels, clock=outside.clock)
            return await _try_out(config, names, store, outside.clock, wait_s=wait_s, outbox=outbox)
        finally:
            store.close()
    store = open_store(config, outside.clock)
    try:
        return await _try_out(config, names, store, outside.clock, wait_s=wait_s, outbox=None)
    finally:
        store.close()


async def _try_out(
    config: Config, names: Sequence[str], store: Store, clock: Clock, *, wait_s: float, outbox: Outbox | None
) -> list[Tested]:
    rules = [ChannelRule.of(channel) for channel in config.channels]
    trials = {name: trial(name, now=clock.now()) for name in names}

    def write(tx: Tx) -> None:
        for event in trials.values():
            tx.record_event(event, plan([event], rules, (), now=event.at, group_wait=timedelta(0)))

    await store.transact(write)
    until = clock.monotonic() + wait_s
    while True:
        if outbox is not None:
            await outbox.run_once()
        records = await store.query(lambda reader: reader.messages(None, 1000))
        found = {name: _carrier(records, event) for name, event in trials.items()}
        tested = [_tested(name, found[name], records) for name in names]
        over = clock.monotonic() >= until
        if over or all(each.sent or each.problem for each in tested):
            return [
                each if each.sent or each.problem else replace(each, problem="nobody has taken it up yet")
                for each in tested
            ]
        await asyncio.sleep(NOTIFY_POLL_S)


def _carrier(records: Sequence[MessageRecord], event: Event) -> MessageRecord | None:
    return next((record for record in records if event.id in record.message.events), None)


def _tested(name: str, record: MessageRecord | None, records: Sequence[MessageRecord]) -> Tested:
    if record is not None:
        tried = record.attempts and record.status is not MessageStatus.SENDING
        problem = (record.last_error or record.status.value) if tried and not record.sent_at else None
        return Tested(
            channel=name, sent=record.sent_at is not None, message=record.message.id, problem=problem
        )
    # A channel has one message on its way: while that one waits for its next attempt, so does the test.
    ahead = [
        item for item in records if item.message.channel == name and item.status is MessageStatus.PENDING
    ]
    failing = next((item.last_error for item in ahead if item.attempts and item.last_error), None)
    problem = f"waits behind a message that could not be delivered: {failing}" if failing else None
    return Tested(channel=name, sent=False, message=None, problem=problem)
