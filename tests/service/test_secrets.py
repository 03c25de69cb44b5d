"""Secrets, followed through a whole run of the service: they are in no place that anybody can read."""

import json
import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from io import StringIO
from pathlib import Path

import pytest

from driftwatch import logs
from driftwatch.demo.sample import SampleServer
from driftwatch.model import EventKind
from tests.cli.conftest import Command
from tests.service.world import Mailbox, MovedClock, Receiver, World
from tests.specimens.authorization import Gate
from tests.specimens.http import Answer, Incoming, Loopback, serving
from tests.specimens.mcp import Json, Mcp, tool
from tests.specimens.oauth import SECRET, AuthorizationServer, IssuedGate

TOKEN = "canary-t0ken-0123456789"
RENEWED = "canary-t0ken-renewed-42"
HEADER = "canary-header-0123456789"
QUERY = "canary-query-0123456789"
ALERT = "canary-alert-0123456789"
CANARIES = (TOKEN, RENEWED, HEADER, QUERY, ALERT, SECRET, "s3cret%2Fof%2Bthe%3Dclient", "issued-t0ken")


class Tattler:
    """A server that tells everybody what it was sent: in headers, texts, errors."""

    def __init__(self) -> None:
        self.tools: tuple[Json, ...] = (tool("one"),)

    def __call__(self, incoming: Incoming, answer: Answer) -> Answer:
        told = f"{incoming.headers.get('authorization')} {incoming.headers.get('x-api-key')} {incoming.path}"
        body = answer.body.replace(b"Does what", f"You sent {told}; does what".encode())
        return answer.but(body=body).with_header("X-Seen", told)


class OpenGate(Gate):
    """Opens for either of two tokens."""

    tokens: tuple[str, ...] = (TOKEN, RENEWED)

    def opens(self, sent: str | None) -> bool:
        return sent in {f"Bearer {token}" for token in self.tokens}


@asynccontextmanager
async def tattling(gate: Gate) -> AsyncIterator[tuple[Mcp, Loopback]]:
    mcp = Mcp(before=gate, after=Tattler())
    async with serving(mcp.respond) as loopback:
        yield mcp, loopback


def write(file: Path, text: str) -> None:
    file.write_text(f"{text}\n", encoding="utf-8")


@contextmanager
def unredacted_log() -> Iterator[StringIO]:
    """The log as it would be if it did not know a single secret."""
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    stream = StringIO()
    logs.configure((), stream=stream, level="DEBUG")
    try:
        yield stream
    finally:
        root.handlers[:] = before
        root.setLevel(level)


@pytest.fixture
async def watched(
    tmp_path: Path, clock: MovedClock, receiver: Receiver, mailbox: Mailbox
) -> AsyncIterator[tuple[World, list[Mcp], OpenGate]]:
    write(tmp_path / "token", TOKEN)
    write(tmp_path / "secret", SECRET)
    issuer, gate = AuthorizationServer(), IssuedGate()
    gate.issuer = issuer
    filed = OpenGate()
    async with (
        serving(issuer.respond) as authority,
        tattling(filed) as (first, one),
        tattling(gate) as (second, two),
    ):
        world = World(
            folder=tmp_path,
            clock=clock,
            sample=SampleServer("v1"),
            channels={"ops": f"{receiver.url}?+X-Token={ALERT}", "mail": mailbox.url},
            servers={"filed": f"{one.url()}?key={QUERY}", "issued": two.url()},
            keys={
                "filed": f'token_file = "token"\nheaders = {{ X-Api-Key = "{HEADER}" }}',
                "issued": f'[server.oauth]\nclient_id = "driftwatch"\nclient_secret_file = "secret"\n'
                f'token_url = "{authority.url("/token")}"',
            },
        )
        yield world, [first, second], filed
        world.close()


def files_of(folder: Path) -> dict[str, str]:
    """The database with its journal, as bytes that can be searched."""
    return {file.name: file.read_bytes().decode("latin-1") for file in folder.glob("driftwatch.db*")}


async def test_no_secret_gets_out_of_a_run(
    watched: tuple[World, list[Mcp], OpenGate], receiver: Receiver, mailbox: Mailbox, driftwatch: Command
) -> None:
    world, mcps, gate = watched

    def told() -> list[str]:
        return [json.dumps(receiver.messages), "".join(map(str, mailbox.messages))]

    with unredacted_log() as log:
        async with world.running():
            await world.rounds(1, "filed")
            await world.rounds(1, "issued")
            for mcp in mcps:
                mcp.tools = (tool("one", description="Does what it is told."), tool("two"))
            await world.clock.advance_until(
                lambda: world.kinds().count(EventKind.TOOLSET_CHANGED) >= 4, step_s=30
            )
            write(world.folder / "token", RENEWED)
            gate.tokens = (RENEWED,)
            await world.rounds(3, "filed")
            assert EventKind.CHANGE not in world.kinds()
            gate.tokens = ()
            await world.clock.advance_until(
                lambda: all("401 with our credential" in text for text in told()), step_s=30
            )
    texts = {"alert": told()[0], "mail": told()[1], "log": log.getvalue(), **files_of(world.folder)}
    for command in ("status", "history", "outbox", "diff filed", "config show", "config check"):
        for flags in ((), ("--json",)):
            ended = driftwatch(*command.split(), *flags, "--config", world.folder / "config.toml")
            texts[" ".join((command, *flags))] = ended.out + ended.err
    assert any("You sent" in text for place, text in texts.items() if place.startswith("driftwatch.db"))
    for place, text in texts.items():
        for canary in CANARIES:
            assert canary not in text, f"{canary} is in {place}"
