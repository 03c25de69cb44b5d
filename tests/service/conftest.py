import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiosmtpd.smtp import SMTP
from starlette.applications import Starlette
from starlette.routing import Route

from driftwatch.demo.sample import SampleServer
from tests.cli.conftest import driftwatch
from tests.service.world import Mailbox, MovedClock, Receiver, World, serving

__all__ = ["driftwatch"]


@pytest.fixture
def clock() -> MovedClock:
    return MovedClock()


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    kept = Receiver()
    async with serving(Starlette(routes=[Route("/", kept.take, methods=["POST"])])) as port:
        kept.url = f"json://127.0.0.1:{port}/"
        yield kept


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    kept = Mailbox()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: SMTP(kept), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    kept.url = f"mailto://127.0.0.1:{port}?from=driftwatch@example.com&to=ops@example.com&mode=insecure"
    yield kept
    server.close()
    await server.wait_closed()


@pytest.fixture
async def world(
    tmp_path: Path, clock: MovedClock, receiver: Receiver, mailbox: Mailbox
) -> AsyncIterator[World]:
    sample = SampleServer("v1")
    async with serving(sample.application) as port:
        made = World(
            folder=tmp_path,
            clock=clock,
            sample=sample,
            channels={"ops": receiver.url, "mail": mailbox.url},
            servers={"bookshop": f"http://127.0.0.1:{port}/mcp"},
        )
        yield made
        made.close()
