import asyncio
import http.client
import json
import socket

import pytest
from starlette.applications import Starlette

from driftwatch.errors import ServiceError
from driftwatch.web.health import Health, routes
from driftwatch.web.server import HttpServer
from tests.patience import PATIENCE_S

FINE = Health(migrated=True, tick_age_s=1.0, database=True, oldest_message_s=None)


def ask(port: int, path: str) -> tuple[int, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    connection.request("GET", path)
    reply = connection.getresponse()
    body = json.loads(reply.read())
    connection.close()
    return reply.status, body


async def answers(health: Health) -> dict[str, int]:
    server = HttpServer("127.0.0.1", 0)
    running = asyncio.create_task(server.run(Starlette(routes=routes(lambda: health))))
    found = {}
    for path in ("/healthz", "/readyz"):
        found[path], _ = await asyncio.to_thread(ask, server.port, path)
    server.stop()
    await running
    return found


@pytest.mark.parametrize(
    ("health", "alive", "ready"),
    [
        (FINE, 200, 200),
        (Health(migrated=False, tick_age_s=None, database=True, oldest_message_s=None), 200, 503),
        (Health(migrated=True, tick_age_s=31.0, database=True, oldest_message_s=None), 503, 503),
        (Health(migrated=True, tick_age_s=1.0, database=False, oldest_message_s=None), 200, 503),
        (Health(migrated=True, tick_age_s=1.0, database=True, oldest_message_s=3601.0), 200, 503),
    ],
    ids=["fine", "migrating", "stuck loop", "database refuses", "messages do not leave"],
)
async def test_alive_means_ticking_and_ready_means_doing_its_work(
    health: Health, alive: int, ready: int
) -> None:
    assert await answers(health) == {"/healthz": alive, "/readyz": ready}


def test_a_taken_port_is_an_error_that_says_what_to_do() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(ServiceError, match=rf"cannot listen on 127.0.0.1:{port}: .* set \[http\] listen"):
            HttpServer("127.0.0.1", port)
