"""The door: who calls, what is announced, written before it is answered, and followed by whoever waits."""

import hashlib
import logging
import uuid
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from driftwatch import deploys
from driftwatch.errors import or_meant
from driftwatch.model import Json, Release
from driftwatch.store.ports import HookDelivery, Store
from driftwatch.web.access import Access
from driftwatch.web.context import Context
from driftwatch.web.hooks import bodies, queries, senders, verdict
from driftwatch.web.hooks.announcement import Announcement, AnnouncementError, Ignored
from driftwatch.web.hooks.deliveries import delivery_id
from driftwatch.web.hooks.queries import Query
from driftwatch.web.hooks.rate import Buckets
from driftwatch.web.hooks.signatures import Keys, is_signed
from driftwatch.web.hooks.waiting import Waiting
from driftwatch.web.problems import RETRY_S

log = logging.getLogger("driftwatch.hooks")


def routes(context: Context, access: Access) -> list[Route]:
    """The webhook, for all servers and for one, and where a release can be followed."""
    door = Door(context, access)
    return [
        Route("/hooks/deploy", door.announce, methods=["POST"]),
        Route("/hooks/deploy/{server}", door.announce, methods=["POST"]),
        Route("/api/v1/deploys/{deploy}", door.follow, methods=["GET"]),
    ]


class Door:
    """Takes announcements in, by the configuration in force; whatever it refuses is an HTTPException."""

    def __init__(self, context: Context, access: Access) -> None:
        """Nobody waits yet, and every caller may announce at its whole rate."""
        self._context = context
        self._access = access
        self._buckets = Buckets()
        self._waiting = Waiting(context.stopping)

    async def announce(self, request: Request) -> Response:
        """``POST /hooks/deploy``."""
        store = self._store()
        caller, body = await self._authenticated(request)
        query = queries.read(request.query_params)
        if query.gates and not query.wait_s:
            raise HTTPException(400, "a gate needs a wait, such as ?wait=120&gate=failed")
        said = bodies.parse(request, body)
        try:
            read = senders.read(request.headers, said, query.only)
        except AnnouncementError as error:
            raise HTTPException(422, str(error)) from None
        if isinstance(read, Ignored):
            return JSONResponse({"ignored": read.reason})
        release = self._release(request, read)
        self._limit(caller, query)
        deploy = await self._written(store, release, self._delivery(request, release, body, said))
        return await self._answer(request, store, deploy, query)

    async def follow(self, request: Request) -> Response:
        """``GET /api/v1/deploys/{id}``: for whoever may announce, and whoever may read."""
        keys = Keys(self._context.config().hook)
        if keys.of_token(request.headers) is None and not self._access.may_read(request):
            raise _unauthorized()
        query = queries.read(request.query_params)
        return await self._answer(request, self._store(), request.path_params["deploy"], query)

    def _store(self) -> Store:
        store = self._context.store()
        if store is None or self._context.stopping():
            raise _unavailable("driftwatch is starting or stopping")
        return store

    async def _authenticated(self, request: Request) -> tuple[str, bytes]:
        """Who calls, and the body; nothing of it is read where the headers are enough to refuse."""
        keys = Keys(self._context.config().hook)
        if not keys:
            raise HTTPException(403, "no token or secret is configured: set tokens or secrets in [hook]")
        caller = keys.of_token(request.headers)
        if caller is None and not is_signed(request.headers):
            raise _unauthorized()
        bodies.check_kind(request)
        body = await bodies.receive(request)
        caller = caller or keys.of_signature(request.headers, body, self._context.clock.now())
        if caller is None:
            raise _unauthorized()
        return caller, body

    def _release(self, request: Request, read: Announcement) -> Release:
        """The release that is announced: of the server in the path, those in the body, or all."""
        configured = [server.name for server in self._context.config().servers]
        named = request.path_params.get("server")
        if named is not None and read.servers not in (None, (named,)):
            raise HTTPException(422, "the address names one server and the body others: name them once")
        servers = (named,) if named is not None else read.servers or tuple(configured)
        if not configured:
            raise HTTPException(422, "no server is configured")
        unknown = set(servers).difference(configured)
        if unknown:
            # Not in the caller's own words: what an address held does not come back in an answer.
            raise HTTPException(422, f"no server has that name; {or_meant(min(unknown), configured)}")
        return Release(
            id=str(uuid.uuid4()),
            ref=read.ref,
            received_at=self._context.clock.now(),
            servers=servers,
            previous_ref=read.previous_ref,
            commit=read.commit,
            link=read.link,
            actor=read.actor,
            environment=read.environment,
            expect_change=read.expect_change,
        )

    def _delivery(self, request: Request, release: Release, body: bytes, said: Json) -> HookDelivery:
        path = request.path_params.get("server", "*")
        return HookDelivery(
            id=delivery_id(request.headers, body, said, path=path, now=release.received_at),
            body_sha256=hashlib.sha256(body).hexdigest(),
            received_at=release.received_at,
        )

    def _limit(self, caller: str, query: Query) -> None:
        """Hold back who announces too often, and who would wait where no place is left."""
        rate, now = self._context.config().hook.rate, self._context.clock.monotonic()
        after = self._buckets.take(caller, rate, now)
        if after:
            raise HTTPException(429, "too many announcements", {"Retry-After": str(after)})
        if query.wait_s and self._waiting.full:
            raise _unavailable("too many callers wait already")

    async def _written(self, store: Store, release: Release, delivery: HookDelivery) -> str:
        """The id of the release, once it is in the database; the earlier one's for a repeated delivery."""
        hook = self._context.config().hook
        requests = deploys.probes(release, delay=hook.delay)
        written = await store.transact(
            lambda tx: tx.announce(delivery, release, requests, debounce=hook.debounce)
        )
        if written.body_sha256 != delivery.body_sha256:
            raise HTTPException(409, "this delivery id was used for another body")
        self._context.wake()
        fields = {"deploy": written.release, "servers": release.servers, "ref": release.ref}
        log.info("deploy announced", extra={"fields": fields})
        return written.release or ""

    async def _answer(self, request: Request, store: Store, deploy: str, query: Query) -> Response:
        """The release as it is, or as it is once it is over or the caller has waited long enough."""
        release = await store.query(lambda reader: reader.release(deploy))
        if release is None:
            raise HTTPException(404, "no deploy has this id")
        outcomes = await self._waiting.outcomes(request, store, release, query)
        status_url = f"{request.scope.get('root_path', '')}/api/v1/deploys/{release.id}"
        shown = verdict.shown(release, outcomes, query.gates, status_url=status_url)
        status = verdict.status(outcomes, query.gates)
        headers = {"Location": status_url} if status == HTTPStatus.ACCEPTED else None
        return JSONResponse(shown, status, headers)


def _unauthorized() -> HTTPException:
    return HTTPException(401, "not authorized", {"WWW-Authenticate": "Bearer"})


def _unavailable(detail: str) -> HTTPException:
    return HTTPException(503, detail, {"Retry-After": str(RETRY_S)})
