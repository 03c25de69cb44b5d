"""A running service between real servers and real receivers, on a clock that the test moves."""

import asyncio
import contextlib
import email
import email.policy
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.message import EmailMessage
from pathlib import Path
from typing import Any, TypeVar

from aiosmtpd.smtp import SMTP, Envelope, Session
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from driftwatch import config as configuration
from driftwatch import deploys
from driftwatch.alerts.deliver import AppriseSender
from driftwatch.app import Outside, Service
from driftwatch.config import Config
from driftwatch.demo.sample import SampleServer
from driftwatch.deploys import DeployOutcome
from driftwatch.model import EventKind, Release, Trigger
from driftwatch.probe import Resolver, SystemResolver
from driftwatch.store.ports import HookDelivery, MessageStatus, Reader
from driftwatch.store.sqlite import SqliteStore
from driftwatch.web.server import HttpServer
from tests.patience import PATIENCE_S

T = TypeVar("T")


class MovedClock:
    """The machine's time plus what the test added; both clocks move together, as they do in life."""

    def __init__(self) -> None:
        self._added = self._stepped = timedelta(0)
        self.busy: Callable[[], bool] = lambda: False
        """Whether a probe or a message is on its way: a slow machine must not look like a slow server."""

    def advance(self, **span: float) -> None:
        self._added += timedelta(**span)

    def step(self, **span: float) -> None:
        """Set the wall clock, and only that, to another time."""
        self._stepped += timedelta(**span)

    def now(self) -> datetime:
        return datetime.now(UTC) + self._added + self._stepped

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() + self._added.total_seconds()

    async def advance_until(self, condition: Callable[[], bool], *, step_s: float = 20) -> None:
        """Let time pass in small steps, and the service work in between, until something is so."""
        async with asyncio.timeout(PATIENCE_S):
            while not condition():
                if not self.busy():
                    self.advance(seconds=step_s)
                await asyncio.sleep(0.02)


@dataclass
class Receiver:
    """An HTTP endpoint that takes alerts as JSON."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    url: str = ""
    status: int = 200

    async def take(self, request: Request) -> Response:
        if self.status == 200:
            self.messages.append(await request.json())
        return Response(status_code=self.status)


@dataclass
class Mailbox:
    """An SMTP server that keeps what it is given."""

    messages: list[EmailMessage] = field(default_factory=list)
    url: str = ""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:  # noqa: N802
        content = envelope.content
        assert isinstance(content, bytes)
        message = email.message_from_bytes(content, policy=email.policy.default)
        assert isinstance(message, EmailMessage)
        self.messages.append(message)
        return "250 OK"


@contextlib.asynccontextmanager
async def serving(application: ASGIApp, port: int = 0) -> AsyncIterator[int]:
    server = HttpServer("127.0.0.1", port)
    task = asyncio.create_task(server.run(application))
    try:
        yield server.port
    finally:
        server.stop()
        await task


@dataclass
class World:
    """One sample server, and a service that watches it."""

    folder: Path
    clock: MovedClock
    sample: SampleServer
    channels: dict[str, str]
    servers: dict[str, str]
    listen: str = "127.0.0.1:0"
    interval: str = "15m"
    monitor: str = ""
    """More TOML for the monitor's table."""
    resolver: Resolver = field(default_factory=SystemResolver)
    keys: dict[str, str] = field(default_factory=dict)
    """More TOML for some servers, by name."""
    http: str = ""
    """More TOML for [http]."""
    tables: str = ""
    """More TOML for the whole."""
    _announced: int = 0
    _store: SqliteStore | None = None

    @property
    def config(self) -> Config:
        return configuration.load(self.write(), {})

    def write(self) -> Path:
        """Write the configuration as it is now."""
        path = self.folder / "config.toml"
        tables = [
            f'[monitor]\ninterval = "{self.interval}"\n{self.monitor}',
            f'[http]\nlisten = "{self.listen}"\n{self.http}',
        ]
        tables += [
            f'[[server]]\nname = "{name}"\nurl = "{url}"\n{self.keys.get(name, "")}'
            for name, url in self.servers.items()
        ]
        tables += [self.tables]
        tables += [f'[[alert]]\nname = "{name}"\nurl = "{url}"' for name, url in self.channels.items()]
        whole = path.with_suffix(".part")
        whole.write_text("\n\n".join(tables), encoding="utf-8")
        return whole.replace(path)

    def read(self, question: Callable[[Reader], T]) -> T:
        """Ask the database beside the service, as the read commands do."""
        if self._store is None:
            self._store = SqliteStore.open_readonly(self.folder / "driftwatch.db")
        with self._store.read() as reader:
            return question(reader)

    def busy(self) -> bool:
        """Whether the service has handed out a probe, or is sending a message."""

        def under_way(reader: Reader) -> bool:
            scheduled = {Trigger.INTERVAL, Trigger.CONFIRM}
            handed_out = any(
                request.trigger in scheduled or request.due_at <= self.clock.now()
                for request in reader.waiting_requests()
            )
            return handed_out or bool(reader.messages(MessageStatus.SENDING, 1))

        return self.read(under_way)

    def runs(self, server: str = "bookshop") -> int:
        return len(self.read(lambda reader: reader.runs(server, limit=1000)))

    def kinds(self) -> list[EventKind]:
        return [event.kind for event in self.read(lambda reader: reader.events(limit=1000))]

    async def rounds(self, number: int, server: str = "bookshop", *, step_s: float = 60) -> None:
        """Let so many more probes be made; with large steps there may be some more than that."""
        already = self.runs(server)
        await self.clock.advance_until(lambda: self.runs(server) >= already + number, step_s=step_s)

    def announce(self, ref: str, *servers: str, **words: Any) -> Release:
        """A deploy is announced, as the webhook's door does it; the release as it was written."""
        self._announced += 1
        hook = self.config.hook
        release = Release(
            id=f"release-{self._announced}",
            ref=ref,
            received_at=self.clock.now(),
            servers=servers or ("bookshop",),
            **words,
        )
        delivery = HookDelivery(
            id=f"delivery-{self._announced}", body_sha256="", received_at=release.received_at
        )
        store = SqliteStore(self.folder / "driftwatch.db")
        try:
            with store.write() as tx:
                requests = deploys.probes(release, delay=hook.delay)
                answered = tx.announce(delivery, release, requests, debounce=hook.debounce)
                found = tx.release(answered.release or "")
        finally:
            store.close()
        assert found is not None
        return found

    def outcome(self, release: Release, server: str = "bookshop") -> DeployOutcome:
        outcomes = self.read(lambda reader: reader.deploy(release.id))
        return next(outcome for outcome in outcomes if outcome.server == server)

    async def settle(self, release: Release, *, step_s: float = 2) -> DeployOutcome:
        """Let time pass until the release is over, and what it has to tell has left."""
        await self.clock.advance_until(lambda: self.outcome(release).state.over, step_s=step_s)
        return self.outcome(release)

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator[Service]:
        config = self.config
        outside = Outside(
            clock=self.clock,
            resolver=self.resolver,
            sender=AppriseSender(secrets=config.secrets()),
            random=lambda: 0.0,
            tick=timedelta(milliseconds=20),
            pause=lambda _: asyncio.sleep(0),
        )
        service = Service(config, outside, lambda: configuration.load(self.folder / "config.toml", {}))
        task = asyncio.create_task(service.run())
        ready = asyncio.create_task(service.ready())
        await asyncio.wait({task, ready}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            ready.cancel()
            await task
        self.clock.busy = self.busy
        try:
            yield service
        finally:
            self.clock.busy = lambda: False
            service.stop()
            async with asyncio.timeout(PATIENCE_S):
                await task
