"""What every page shares: who may see it, what it is made of, and what stands there when it cannot be."""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from http import HTTPStatus
from typing import Any

from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from driftwatch import __version__
from driftwatch.alerts.text import duration
from driftwatch.alerts.wording import Voice
from driftwatch.config import Config
from driftwatch.errors import StoreError, UsageError
from driftwatch.store.ports import Reader
from driftwatch.web.access import COOKIE, Access
from driftwatch.web.context import Context
from driftwatch.web.pages.rendering import render

MACHINES = frozenset({"api", "hooks", "metrics", "healthz", "readyz"})
"""Doors that answer machines, also where a browser asks."""

READS = 1
"""Pages that read the database at the same time; its other readers are for the probes and the API."""

STARTING_RETRY_S = 5
"""A page that is shown while the database is migrated asks again after this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a view may know beside the database."""

    config: Config
    now: datetime
    voice: Voice
    query: QueryParams
    path: Mapping[str, str]
    """The parts of the address."""
    stuck: bool
    """The service has not looked for due probes for a while."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """A template and what it shows."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


View = Callable[[Reader, Scene], Page | Response]
"""Everything a page shows, from one consistent read; runs on a reader's thread."""

Endpoint = Callable[[Request], Awaitable[Response]]


Handler = Callable[[Request, Exception], Awaitable[Response]]
"""Makes an answer of an exception."""


def is_for_people(request: Request) -> bool:
    """Whether a browser asks, at an address that is no machine's door."""
    door = request.url.path.lstrip("/").partition("/")[0]
    return door not in MACHINES and "text/html" in request.headers.get("accept", "")


class Site:
    """Turns views into endpoints."""

    def __init__(self, context: Context, access: Access) -> None:
        """Pages are for whom ``access`` lets read."""
        self.context = context
        self.access = access
        self._reading = asyncio.Semaphore(READS)

    def page(self, view: View) -> Endpoint:
        """The endpoint of a view."""

        async def endpoint(request: Request) -> Response:
            refusal = self.refusal(request)
            if refusal is not None:
                return refusal
            store = self.context.store()
            if store is None:
                return self.starting(request)
            async with self._reading:
                page = await store.query(functools.partial(self._look, view, self._scene(request)))
            if isinstance(page, Response):
                return page
            return await asyncio.to_thread(self.show, request, page)

        return endpoint

    def show(self, request: Request, page: Page, headers: Mapping[str, str] | None = None) -> Response:
        """A page in its frame."""
        frame = {
            "banner": self._banner(),
            "now": self.context.clock.now(),
            "zone": self.context.config().monitor.timezone,
            "voice": self._voice(),
            "here": request.url.path,
            "signed_in": COOKIE in request.cookies,
            "version": __version__,
        }
        return render(page.template, page.status, {**frame, **page.values}, headers or {})

    def problem(
        self,
        request: Request,
        status: int,
        heading: str,
        *lines: str,
        headers: Mapping[str, str] | None = None,
    ) -> Response:
        """A page that says what is wrong and what to do."""
        values = {"heading": heading, "lines": lines}
        return self.show(request, Page(template="problem.html", values=values, status=status), headers)

    def told(self, handler: Handler) -> Handler:
        """An error as a page where a browser asks for one, else as ``handler`` tells it to a machine."""

        async def tell(request: Request, error: Exception) -> Response:
            answer = await handler(request, error)
            if not is_for_people(request):
                return answer
            match error:
                case HTTPException(status_code=404):
                    said = "Nothing is here", "The fleet page has links to everything."
                case HTTPException() | UsageError():
                    said = HTTPStatus(answer.status_code).phrase, getattr(error, "detail", str(error))
                case StoreError():
                    said = (
                        "The database cannot be used",
                        "Probes and alerts may be affected too; the service's log says what is wrong.",
                    )
                case _:
                    said = "A bug in driftwatch", "Its log has the trace."
            wanted = ("allow", "connection", "retry-after")
            kept = {name: answer.headers[name] for name in wanted if name in answer.headers}
            return self.problem(request, answer.status_code, *said, headers=kept)

        return tell

    def refusal(self, request: Request) -> Response | None:
        """Why this request may not read, as a page; None for one that may."""
        if self.access.may_read(request):
            return None
        http = self.context.config().http
        if http.read_token is None and http.admin_token is None:
            return self.problem(
                request,
                403,
                "Only from the machine itself",
                "No token for reading is configured: these pages are shown on the loopback interface only.",
                "Set read_token_file under [http] and log in, or public_status = true to show them to all.",
            )
        return self.login(request, request.url.path, 401)

    def login(self, request: Request, wanted: str, status: int, problem: str | None = None) -> Response:
        """The form that takes a token, and then leads to ``wanted``."""
        values = {"wanted": wanted, "problem": problem}
        headers = {"www-authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
        return self.show(request, Page(template="login.html", values=values, status=status), headers)

    def starting(self, request: Request) -> Response:
        """Until the database is open."""
        again = str(STARTING_RETRY_S)
        return self.problem(
            request,
            503,
            "Starting",
            "The database is being opened, and brought up to date where that is needed. "
            "This page asks again by itself.",
            headers={"retry-after": again, "refresh": again},
        )

    @staticmethod
    def _look(view: View, scene: Scene, reader: Reader) -> Page | Response:
        return view(reader, scene)

    def _scene(self, request: Request) -> Scene:
        config = self.context.config()
        return Scene(
            config=config,
            now=self.context.clock.now(),
            voice=self._voice(),
            query=request.query_params,
            path=request.path_params,
            stuck=not self.context.health().alive,
        )

    def _voice(self) -> Voice:
        config = self.context.config()
        return Voice(zone=config.monitor.timezone, option=config.option)

    def _banner(self) -> Sequence[str]:
        health = self.context.health()
        lines = []
        if not health.alive and health.tick_age_s is not None:
            age = duration(timedelta(seconds=health.tick_age_s))
            lines.append(f"driftwatch has made no probes for {age}: what stands here may be stale.")
        if not health.database:
            lines.append("The database does not take what probes find: what stands here may be stale.")
        if not self.context.vitals().config_ok:
            lines.append("The configuration file was changed and refused: the one before it is in force.")
        return lines
