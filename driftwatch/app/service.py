"""The service: starts everything, and stops it cleanly.

Start: instance lock, port, database (migrated), servers imported; then outbox, queue and tick together.
Stop, within STOP_BUDGET_S: no more ticks, running probes get PROBE_GRACE_S, claimed messages are settled or
left to their lease, HTTP ends, the database is closed.
"""

import asyncio
import logging
import signal
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

from driftwatch.app.importing import import_servers
from driftwatch.app.outside import Outside, open_store
from driftwatch.app.reloading import Reloader, look_every
from driftwatch.app.wiring import Wiring
from driftwatch.app.works import Works
from driftwatch.config import Config, content_digest
from driftwatch.store.ports import Store, Tx
from driftwatch.store.sqlite import InstanceLock
from driftwatch.web.application import application
from driftwatch.web.context import Context, Reloaded
from driftwatch.web.health import Health
from driftwatch.web.server import HttpServer
from driftwatch.web.vitals import Vitals

log = logging.getLogger("driftwatch.service")


class Service:
    """The running service."""

    def __init__(
        self, config: Config, outside: Outside | None = None, load: Callable[[], Config] | None = None
    ) -> None:
        """Nothing happens before ``run``. ``load`` reads the configuration's file again for a reload."""
        self._outside = outside or Outside.real(config)
        self._wiring = Wiring.of(config, self._outside.random)
        now = self._outside.clock.now()
        self._started = Vitals(started_at=now, config_loaded_at=now)
        self._stop = asyncio.Event()
        self._ready = asyncio.Event()
        self._http: HttpServer | None = None
        self._store: Store | None = None
        self._load = load
        self._digest = content_digest(config.files)
        self._works: Works | None = None
        self._reloader: Reloader | None = None
        self._reloads: set[asyncio.Task[Reloaded]] = set()

    def stop(self) -> None:
        """Ask the service to end; ``run`` returns within STOP_BUDGET_S."""
        self._stop.set()

    async def ready(self) -> None:
        """Wait until everything runs."""
        await self._ready.wait()

    async def reload(self) -> Reloaded:
        """Read the configuration's file again and put it in force, or say why it is not."""
        if self._reloader is None:
            return Reloaded(problems=("driftwatch is still starting",))
        return await self._reloader.reload()

    @property
    def port(self) -> int:
        """The HTTP port, once ``run`` has bound it."""
        return self._http.port if self._http else 0

    async def run(self) -> None:
        """Run until ``stop``, SIGTERM or SIGINT; SIGHUP reloads.

        Raises ServiceError when the port is taken, StoreError when the database cannot be used,
        StoreBusyError when another driftwatch runs on it.
        """
        loop = asyncio.get_running_loop()
        # Signals reach the main thread only; elsewhere (a test's thread) stop() is the way.
        with suppress(RuntimeError, ValueError):
            for name in (signal.SIGTERM, signal.SIGINT):
                loop.add_signal_handler(name, self.stop)
            loop.add_signal_handler(signal.SIGHUP, self._hang_up)
        config = self._wiring.config
        with InstanceLock(config.storage.path):
            self._http = HttpServer(config.http.listen.host, config.http.listen.port)
            log.info(
                "listening", extra={"fields": {"host": config.http.listen.host, "port": self._http.port}}
            )
            serving = asyncio.create_task(self._http.run(application(self._context())), name="http")
            store = None
            try:
                store = open_store(config, self._outside.clock)
                await asyncio.to_thread(store.migrate)
                self._store = store
                await self._work(store)
            finally:
                self._http.stop()
                await serving
                self._store = None
                if store is not None:
                    await asyncio.to_thread(store.close)

    async def _work(self, store: Store) -> None:
        now = self._outside.clock.now()

        def begin(tx: Tx) -> None:
            import_servers(tx, self._wiring, now)
            tx.resume_deploys(now)

        await store.transact(begin)
        chores = {"reload": (look_every(self._outside.tick), self._look)}
        self._works = Works(store, self._wiring, self._outside, chores)
        self._reloader = Reloader(self._works, store, self._outside, self._load, self._digest)
        await self._works.run(self._stop, self._ready.set)

    def _context(self) -> Context:
        return Context(
            config=lambda: self._works.wiring.config if self._works else self._wiring.config,
            store=lambda: self._store,
            health=self._health,
            vitals=self._vitals,
            clock=self._outside.clock,
            reload=self.reload,
            wake=self._wake,
            stopping=self._stop.is_set,
        )

    def _health(self) -> Health:
        if self._works is None:
            return Health(migrated=False, tick_age_s=None, database=True, oldest_message_s=None)
        return self._works.health

    def _vitals(self) -> Vitals:
        if self._works is None or self._reloader is None:
            return self._started
        vitals = self._works.vitals(self._started)
        return replace(vitals, config_ok=self._reloader.in_order, config_loaded_at=self._reloader.loaded_at)

    async def _look(self) -> None:
        if self._reloader is not None:
            await self._reloader.look()

    def _hang_up(self) -> None:
        """SIGHUP asks for a reload."""
        task = asyncio.get_running_loop().create_task(self.reload(), name="reload")
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)

    def _wake(self) -> None:
        if self._works is not None:
            self._works.wake()
