"""The webhook's door on a real socket, over a real database, without a service that probes behind it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx

from driftwatch import config as configuration
from driftwatch.app import server_record
from driftwatch.config import Config
from driftwatch.deploys import DeployOutcome
from driftwatch.model import DeployState, DeployVerdict, State
from driftwatch.store.ports import Store
from driftwatch.store.sqlite import SqliteStore
from driftwatch.web.application import application
from driftwatch.web.context import Context
from driftwatch.web.health import Health
from driftwatch.web.vitals import Vitals
from tests.clocks import StandingClock
from tests.service.world import serving

TOKEN, SECRET = "hook-token-0123456789", "hook-secret-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}
KEYS = f'tokens = ["{TOKEN}"]\nsecrets = ["{SECRET}"]'
START = datetime(2026, 11, 1, 12, tzinfo=UTC)
VERIFIED = {State.VERIFIED.value: 30}


class HookClock(StandingClock):
    """A clock that moves when a test says so, or a little at every look."""

    step = timedelta(0)

    def now(self) -> datetime:
        self.advance(self.step)
        return self.wall


@dataclass
class Hooked:
    """The door, and what a test needs to knock at it."""

    url: str
    store: SqliteStore
    clock: HookClock
    context: Context
    parts: dict[str, Any]
    http: httpx.AsyncClient
    woke: asyncio.Event
    """Set once the service was told that there is something to do."""

    async def post(
        self, body: Any = None, path: str = "/hooks/deploy", *, content: bytes | None = None, **headers: str
    ) -> httpx.Response:
        """Announce with the token, unless the headers say who else calls."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if content is None:
            return await self.http.post(path, json=body, headers=sent or BEARER)
        return await self.http.post(path, content=content, headers=sent or BEARER)

    async def end(self, deploy: str, server: str, **what: Any) -> None:
        """Let the run of a release be over, as the service does."""
        outcome = DeployOutcome(
            release=deploy,
            server=server,
            run_release=deploy,
            state=DeployState.SETTLED,
            verdict=DeployVerdict.OK,
            counts=VERIFIED,
            reads=3,
            finished_at=self.clock.wall,
        )
        await self.store.transact(lambda tx: tx.end_deploy(replace(outcome, **what), self.clock.wall))

    async def releases(self) -> list[str]:
        found = await self.store.query(lambda reader: reader.releases(limit=1000))
        return [release.ref for release in found]


def configured(folder: Path, hook: str = KEYS, *, servers: tuple[str, ...] = ("api.v1", "web")) -> Config:
    path = folder / "config.toml"
    tables = [f'[[server]]\nname = "{name}"\nurl = "https://{name}.example.com/mcp"' for name in servers]
    path.write_text("\n".join([f"[hook]\n{hook}", *tables]), encoding="utf-8")
    return configuration.load(path, {})


@contextlib.asynccontextmanager
async def hooked(folder: Path, config: Config | None = None) -> AsyncIterator[Hooked]:
    config = config or configured(folder)
    clock = HookClock(START)
    store = SqliteStore(folder / "driftwatch.db", clock=clock.now)
    store.migrate()
    records = [server_record(server, clock.wall, 1) for server in config.servers]
    await store.transact(lambda tx: tx.import_servers(records, clock.wall))
    parts: dict[str, Any] = {"config": config, "store": store, "stopping": False}
    health = Health(migrated=True, tick_age_s=0.0, database=True, oldest_message_s=None)
    woke = asyncio.Event()

    def given_store() -> Store | None:
        found: Store | None = parts["store"]
        return found

    context = Context(
        config=lambda: parts["config"],
        store=given_store,
        health=lambda: health,
        vitals=lambda: Vitals(started_at=clock.wall, config_loaded_at=clock.wall),
        clock=clock,
        wake=woke.set,
        stopping=lambda: bool(parts["stopping"]),
    )
    async with serving(application(context)) as port:
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=600) as http:
            yield Hooked(url, store, clock, context, parts, http, woke)
    store.close()
