"""A client of the API, on a database as a fleet leaves it."""

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx
import jsonschema
from starlette.types import ASGIApp

from bench import fleet_db
from driftwatch import config as configuration
from driftwatch.clock import Clock
from driftwatch.config import Config
from driftwatch.store.ports import Reader, Store
from driftwatch.web.api import DESCRIBED
from driftwatch.web.api.openapi import describe
from driftwatch.web.application import application
from driftwatch.web.context import Context, Reloaded
from driftwatch.web.health import Health
from driftwatch.web.vitals import Vitals

SERVERS = 12
READ, ADMIN = "read-token-0123456789", "admin-token-0123456789"
DRIFTED = "server-00010"
"""One in ten has another tool list than was accepted."""


class Frozen:
    """The moment at which the database was made."""

    def now(self) -> datetime:
        return fleet_db.NOW

    def monotonic(self) -> float:
        return 0.0


@dataclass
class Api:
    """The application, and a client of it."""

    store: Store | None
    config: Config
    clock: Clock = field(default_factory=Frozen)
    woken: int = 0
    token: str | None = READ
    client_host: str = "192.0.2.7"
    reloaded: Reloaded = field(default_factory=Reloaded)

    def _wake(self) -> None:
        self.woken += 1

    async def _reload(self) -> Reloaded:
        return self.reloaded

    @property
    def context(self) -> Context:
        return Context(
            config=lambda: self.config,
            store=lambda: self.store,
            health=lambda: Health(migrated=True, tick_age_s=0, database=True, oldest_message_s=None),
            vitals=lambda: Vitals(started_at=self.clock.now(), config_loaded_at=self.clock.now()),
            clock=self.clock,
            reload=self._reload,
            wake=self._wake,
        )

    async def ask(self, method: str, path: str, *, app: ASGIApp | None = None, **more: Any) -> httpx.Response:
        headers = {"host": "driftwatch.example"} | more.pop("headers", {})
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        transport = httpx.ASGITransport(
            app or application(self.context),
            raise_app_exceptions=False,
            client=(self.client_host, 50_000),
        )
        async with httpx.AsyncClient(transport=transport, base_url="http://driftwatch.example") as client:
            return await client.request(method, path, headers=headers, **more)

    async def get(self, path: str, **query: Any) -> Any:
        reply = await self.ask("GET", f"/api/v1{path}", params=query or None)
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def refused(self, method: str, path: str, **more: Any) -> tuple[int, str]:
        """The status and the sentence of an error, which has the one shape."""
        reply = await self.ask(method, f"/api/v1{path}", **more)
        assert reply.headers["content-type"] == "application/problem+json"
        body = reply.json()
        assert body["type"] == "about:blank"
        assert (body["status"], bool(body["title"])) == (reply.status_code, True)
        return reply.status_code, body["detail"]

    async def walk(self, path: str, key: str, **query: Any) -> list[Any]:
        """Every entry of a list, by its next links."""
        page = await self.get(path, **query)
        found = list(page[key])
        while page["next"]:
            assert page[key]
            assert len(found) < 10_000
            page = await self.get(page["next"].removeprefix("/api/v1"))
            found += page[key]
        return found

    def read(self, question: Callable[[Reader], Any]) -> Any:
        assert self.store is not None
        with self.store.read() as reader:
            return question(reader)


def http(folder: Path, *lines: str) -> Config:
    path = folder / "config.toml"
    path.write_text("\n".join(("[http]", *lines)))
    return configuration.load(path, {})


def strict(schema: Any) -> Any:
    """The schema with nothing allowed beyond what it names."""
    if isinstance(schema, dict):
        closed = {name: strict(member) for name, member in schema.items()}
        return closed | ({"additionalProperties": False} if "properties" in schema else {})
    return [strict(member) for member in schema] if isinstance(schema, list) else schema


def conforms(reply: httpx.Response, method: str, path: str) -> None:
    """Whether the document says exactly this of the answer."""
    described = describe(DESCRIBED)
    schema = described["paths"][path][method.lower()]["responses"][str(reply.status_code)]
    wanted = schema["content"]["application/json"]["schema"]
    jsonschema.validate(
        reply.json(),
        strict({**wanted, "components": described["components"]}),
        cls=jsonschema.Draft202012Validator,
    )
