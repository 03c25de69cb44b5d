"""A sign of life is sent while all is well, and only then."""

import asyncio
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from driftwatch.alerts.ping import ping
from driftwatch.config import Heartbeat as Settings
from driftwatch.errors import StoreError
from driftwatch.schedule.heartbeat import Heartbeat, failing
from driftwatch.store.ports import Backlog
from tests.service.world import serving

URL = "https://hc.example/ping/secret-uuid"


@dataclass
class Scene:
    at: datetime = datetime(2026, 11, 30, tzinfo=UTC)
    late: int = 0
    waiting: list[Backlog] = field(default_factory=list)
    storing: bool = True
    broken: bool = False
    answer: str | None = None
    pinged: list[str] = field(default_factory=list)
    settings: Settings = field(
        default_factory=lambda: Settings(url=SecretStr(URL), every=timedelta(minutes=1))
    )

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return self.at.timestamp()

    def overdue(self, since: datetime) -> int:
        return self.late

    def backlog(self) -> list[Backlog]:
        return self.waiting

    async def query(self, work: Any) -> Any:
        if self.broken:
            raise StoreError("the volume is full")
        return work(self)

    async def ping(self, url: str) -> str | None:
        self.pinged.append(url)
        return self.answer

    @property
    def heartbeat(self) -> Heartbeat:
        return Heartbeat(
            self,  # type: ignore[arg-type]
            settings=lambda: self.settings,
            storing=lambda: self.storing,
            ping=self.ping,
            clock=self,
        )


async def test_it_is_sent_once_for_each_interval() -> None:
    scene = Scene()
    heartbeat = scene.heartbeat
    for _ in range(13):
        await heartbeat.run()
        scene.at += timedelta(seconds=10)
    assert scene.pinged == [URL] * 3
    assert heartbeat.taken_at == scene.at - timedelta(seconds=10)


async def test_without_an_address_nothing_is_sent() -> None:
    scene = Scene(settings=Settings())
    await scene.heartbeat.run()
    assert scene.pinged == []


async def test_while_due_servers_are_passed_over_it_is_left_out() -> None:
    scene = Scene(late=1)
    await scene.heartbeat.run()
    assert scene.pinged == []


@pytest.mark.parametrize(
    "scene",
    [
        Scene(storing=False),
        Scene(broken=True),
        Scene(waiting=[Backlog(channel="ops", messages=1, oldest_at=datetime(2026, 11, 29, tzinfo=UTC))]),
    ],
    ids=["refused writes", "a broken database", "a dead channel"],
)
async def test_what_is_known_to_be_wrong_is_said_at_once(scene: Scene) -> None:
    heartbeat = scene.heartbeat
    await heartbeat.run()
    assert scene.pinged == [f"{URL}/fail"]
    assert heartbeat.taken_at is None


async def test_a_channel_that_is_only_behind_is_no_failure() -> None:
    scene = Scene()
    scene.waiting = [Backlog(channel="ops", messages=9, oldest_at=scene.at - timedelta(minutes=30))]
    await scene.heartbeat.run()
    assert scene.pinged == [URL]


async def test_a_receiver_that_refuses_is_logged_once_and_without_the_address(
    caplog: pytest.LogCaptureFixture,
) -> None:
    scene = Scene(answer="HTTP 404")
    heartbeat = scene.heartbeat
    with caplog.at_level("INFO", logger="driftwatch.service"):
        for answer in ("HTTP 404", "HTTP 404", None):
            scene.answer = answer
            await heartbeat.run()
            scene.at += timedelta(minutes=1)
    assert caplog.messages == [
        "the heartbeat was not taken: HTTP 404",
        "the heartbeat is taken again",
    ]
    assert len(scene.pinged) == 3


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("https://hc.example/a", "https://hc.example/a/fail"),
        ("https://hc.example/a/?x=1", "https://hc.example/a/fail?x=1"),
        ("https://hc.example", "https://hc.example/fail"),
    ],
)
def test_the_failing_address_has_fail_after_its_path(address: str, expected: str) -> None:
    assert failing(address) == expected


async def endless(_: Request) -> Response:
    """A body that never ends must not matter."""

    async def body(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": True})
        await asyncio.Event().wait()

    return body  # type: ignore[return-value]


async def test_a_ping_reads_the_status_alone_and_follows_no_redirect() -> None:
    doors = {
        "/ok": lambda _: Response("ok"),
        "/endless": endless,
        "/gone": lambda _: Response(status_code=404),
        "/away": lambda _: RedirectResponse("/ok"),
    }
    application = Starlette(routes=[Route(path, door) for path, door in doors.items()])
    async with serving(application) as port:
        answers = {path: await ping(f"http://127.0.0.1:{port}{path}") for path in doors}
    assert answers == {"/ok": None, "/endless": None, "/gone": "HTTP 404", "/away": "HTTP 307"}


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/secret", "http://[/secret", "http:///secret", "http://a b/"]
)
async def test_a_ping_that_goes_nowhere_says_so_without_the_address(url: str) -> None:
    answer = await ping(url)
    assert answer is not None
    assert "secret" not in answer
