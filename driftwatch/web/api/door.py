"""From a request to an endpoint and back: rights, parameters, the database, errors in one shape."""

import asyncio
import difflib
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, get_origin

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from driftwatch.model import Json
from driftwatch.store.columns import json_text
from driftwatch.store.ports import Store
from driftwatch.web.access import Access
from driftwatch.web.api.endpoint import Call, Endpoint, Read, Right
from driftwatch.web.api.parameters import Parameters
from driftwatch.web.context import Context
from driftwatch.web.hooks.bodies import receive
from driftwatch.web.problems import RETRY_S, InvalidError

PREFIX = "/api/v1"

MOST_ERRORS = 50
"""Faults of one body that are listed."""


READS = 2
"""Requests that read the database at the same time; its other readers are for the probes."""


def routes(endpoints: Sequence[Endpoint], context: Context, access: Access) -> list[Route]:
    """One route for each path, so that a wrong method is told all the right ones."""
    by_path: dict[str, dict[str, Endpoint]] = {}
    for endpoint in endpoints:
        by_path.setdefault(endpoint.path, {})[endpoint.method] = endpoint
    door = Door(context, access)
    return [
        Route(f"{PREFIX}{path}", door.opening(methods), methods=list(methods))
        for path, methods in by_path.items()
    ]


class Door:
    """Lets requests through to their endpoints; whatever it refuses is an HTTPException."""

    def __init__(self, context: Context, access: Access) -> None:
        """Nobody reads yet."""
        self._context = context
        self._access = access
        self._reading = asyncio.Semaphore(READS)

    def opening(self, methods: Mapping[str, Endpoint]) -> Callable[[Request], Awaitable[Response]]:
        """What answers on one path."""

        async def answer(request: Request) -> Response:
            endpoint = methods["GET" if request.method == "HEAD" else request.method]
            self._require(endpoint.right, request)
            return await self._carry_out(endpoint, await self._call(endpoint, request), request)

        return answer

    def _require(self, right: Right, request: Request) -> None:
        http = self._context.config().http
        if right is Right.READ:
            allowed, token = self._access.may_read(request), http.read_token or http.admin_token
            never = "without [http] read_token this is for loopback only"
        else:
            allowed, token = self._access.may_write(request), http.admin_token
            never = "nothing can be changed here without [http] admin_token"
        if allowed:
            return
        if token is None:
            raise HTTPException(403, never)
        headers = {"WWW-Authenticate": 'Bearer realm="driftwatch"'}
        raise HTTPException(401, f"send the {right} token as a bearer token", headers)

    async def _call(self, endpoint: Endpoint, request: Request) -> Call:
        query = _parsed(endpoint.query, _query(endpoint.query, request))
        body = None
        if endpoint.body is not None:
            body = _parsed(endpoint.body, _json(request, await receive(request)))
        now = self._context.clock.now()
        return Call(url=request.url, path=request.path_params, query=query, body=body, now=now)

    async def _carry_out(self, endpoint: Endpoint, call: Call, request: Request) -> Response:
        if endpoint.act is not None:
            return document(await endpoint.act(self._context, call), endpoint.status)
        store = self._context.store()
        if store is None:
            raise HTTPException(503, "driftwatch is starting", {"Retry-After": str(RETRY_S)})
        if endpoint.read is not None:
            return await self._read(store, endpoint.read, call, request)
        assert endpoint.write is not None  # noqa: S101 - one of the three is there
        write = endpoint.write
        content = await store.transact(lambda tx: write(tx, call))
        self._context.wake()
        return document(content, endpoint.status)

    async def _read(self, store: Store, read: Read, call: Call, request: Request) -> Response:
        async with self._reading:
            # The text is made where the rows are read: a list of a megabyte takes tens of milliseconds.
            answer = await store.query(lambda reader: document(read(reader, call)))
        tag = f'"{hashlib.sha256(bytes(answer.body)).hexdigest()[:32]}"'
        if tag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers={"etag": tag})
        answer.headers["etag"] = tag
        return answer


def document(content: Json, status: int = 200) -> Response:
    """JSON that every parser takes, whatever a watched server put into its texts and numbers."""
    return Response(json_text(content).encode("ascii"), status, media_type="application/json")


def _query(kind: type[Parameters], request: Request) -> dict[str, Any]:
    given: dict[str, Any] = {}
    fields = {field.alias or name: field for name, field in kind.model_fields.items()}
    for name in request.query_params:
        values = request.query_params.getlist(name)
        field = fields.get(name)
        several = field is not None and get_origin(field.annotation) is tuple
        if len(values) > 1 and not several:
            raise InvalidError([{"where": name, "message": "given more than once"}])
        given[name] = values if several else values[0]
    return given


def _json(request: Request, body: bytes) -> Json:
    """What a body says; nothing counts as an empty object.

    A form of another website can send neither this content type nor our token.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and (body or kind):
        raise HTTPException(415, "send JSON, with Content-Type: application/json")
    if not body:
        return {}
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None


def _parsed(kind: type[Parameters], given: Json) -> Parameters:
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        errors = [
            {"where": ".".join(map(str, each["loc"])) or "body", "message": _message(kind, each)}
            for each in error.errors(include_url=False, include_input=False)[:MOST_ERRORS]
        ]
        raise InvalidError(errors) from None


def _message(kind: type[Parameters], error: Any) -> str:
    if error["type"] != "extra_forbidden":
        return str(error["msg"]).removeprefix("Value error, ")
    keys = [field.alias or name for name, field in kind.model_fields.items()]
    near = difflib.get_close_matches(str(error["loc"][-1]), keys, n=1)
    if near:
        return f'unknown, did you mean "{near[0]}"?'
    return f"unknown; there is {', '.join(keys)}" if keys else "unknown: nothing can be given here"
