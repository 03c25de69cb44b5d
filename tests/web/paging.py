"""The pages on a real socket, over the scene's database, without a service that probes behind it."""

import contextlib
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path

import httpx

from driftwatch import config as configuration
from driftwatch.store.ports import Store
from driftwatch.store.sqlite import SqliteStore
from driftwatch.web.application import application
from driftwatch.web.context import Context
from driftwatch.web.health import Health
from driftwatch.web.vitals import Vitals
from tests.clocks import StandingClock
from tests.service.world import serving
from tests.web.scene import NOW

FINE = Health(migrated=True, tick_age_s=1.0, database=True, oldest_message_s=None)
WELL = Vitals(started_at=NOW, config_loaded_at=NOW)
BROWSER = {"accept": "text/html,application/xhtml+xml"}


@dataclass
class Pages:
    """The pages, and what a test needs to look at them."""

    url: str
    http: httpx.AsyncClient
    clock: StandingClock
    store: Store | None
    health: Health = FINE
    vitals: Vitals = WELL

    async def get(self, path: str, **headers: str) -> httpx.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        return await self.http.get(path, headers=BROWSER | sent)

    async def text(self, path: str) -> str:
        """The words of a page, without markup and superfluous blanks."""
        answer = await self.get(path)
        assert answer.status_code == 200, answer.text
        return words(answer.text)


@dataclass
class Words(HTMLParser):
    """The texts of a page, and each element's start tag with its attributes."""

    parts: list[str] = field(default_factory=list)
    tags: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def parsed(html: str) -> Words:
    found = Words()
    found.feed(html)
    found.close()
    return found


def words(html: str) -> str:
    return " ".join(" ".join(parsed(html).parts).split())


@contextlib.asynccontextmanager
async def shown(folder: Path, database: Path | None, http: Sequence[str] = ()) -> AsyncIterator[Pages]:
    """Pages over a database, or over one that is not open yet; ``http`` is what stands under [http]."""
    path = folder / "config.toml"
    channel = '[[alert]]\nname = "ops"\nurl = "json://secret-address.example/token"'
    path.write_text("\n".join(["[http]", *http, channel]), encoding="utf-8")
    config, clock = configuration.load(path, {}), StandingClock(NOW)
    store = SqliteStore(database, clock=clock.now) if database else None
    parts: list[Pages] = []
    context = Context(
        config=lambda: config,
        store=lambda: parts[0].store,
        health=lambda: parts[0].health,
        vitals=lambda: parts[0].vitals,
        clock=clock,
        wake=lambda: None,
    )
    async with serving(application(context)) as port:
        url = f"http://127.0.0.1:{port}"
        async with httpx.AsyncClient(base_url=url, trust_env=False, timeout=60) as client:
            parts.append(Pages(url=url, http=client, clock=clock, store=store))
            yield parts[0]
    if store is not None:
        store.close()
