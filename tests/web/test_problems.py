"""Errors have one shape, wherever they come from."""

import asyncio
import http.client
import json

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from driftwatch.web.problems import MEDIA_TYPE, on_bug, on_http_exception
from driftwatch.web.server import HttpServer
from tests.patience import PATIENCE_S


async def broken(_: Request) -> Response:
    raise RuntimeError("the password is hunter2")


def ask(port: int, method: str, path: str) -> tuple[int, str | None, dict[str, object]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request(method, path)
    reply = connection.getresponse()
    body = json.loads(reply.read())
    connection.close()
    return reply.status, reply.headers["content-type"], body


async def test_what_does_not_exist_is_not_allowed_or_breaks_is_told_alike() -> None:
    application = Starlette(
        routes=[Route("/broken", broken)],
        exception_handlers={HTTPException: on_http_exception, Exception: on_bug},
    )
    server = HttpServer("127.0.0.1", 0)
    running = asyncio.create_task(server.run(application))
    try:
        for method, path, status in (
            ("GET", "/nowhere", 404),
            ("POST", "/broken", 405),
            ("GET", "/broken", 500),
        ):
            found, kind, body = await asyncio.to_thread(ask, server.port, method, path)
            assert (found, kind, body["status"]) == (status, MEDIA_TYPE, status)
            assert "hunter2" not in str(body)
    finally:
        server.stop()
        await running
