"""Failures that people reported about outages, limits, compression and connections, replayed.

Each test is named by the case's id. docs/decisions/0003-field-cases.md says where an expectation was decided.
"""

import asyncio
import gzip
import socket
from collections.abc import AsyncIterator, Callable
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

import pytest

from driftwatch.checks.clients import FIRST_ANSWER_S
from driftwatch.model import State
from driftwatch.probe import Limits
from driftwatch.probe.wire.address import Address
from tests.servers import certificates
from tests.servers.raw import STALL
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp, refusal
from tests.specimens.replay import VERIFIED, Watching, one_message, to

# transient-and-limits


async def test_one_502(watch: Watching) -> None:
    async with watch(Mcp()) as watched:
        before = watched.pairs
        answers = [Answer(status=502)]
        watched.server.before = lambda *_: answers.pop() if answers else None
        await watched.look()
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.pairs == before
        assert watched.alerts == []


async def test_429_on_second_request(watch: Watching) -> None:
    async with watch(Mcp(legacy=False)) as watched:
        before = watched.pairs
        limited = to("tools/list", lambda asked: refusal(asked.rpc, -32000, "slow down", status=429))
        watched.server.before = limited
        await watched.look()
        assert watched.state("tools/pagination") == (State.NOT_CHECKED, "rate-limited")
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.pairs == [None]
        watched.server.before = None
        await watched.look(3)
        assert watched.pairs == before
        assert watched.alerts == []


async def test_cold_start(watch: Watching, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftwatch.checks.timeouts.FIRST_ANSWER_S", FIRST_ANSWER_S / 50)
    async with watch(Mcp(legacy=False)) as watched:
        before = watched.pairs
        respond, asleep = watched.running.loopback.respond, [FIRST_ANSWER_S / 20]

        async def waking(incoming: Incoming) -> Answer:
            if asleep:
                await asyncio.sleep(asleep.pop())
            return await respond(incoming)

        watched.running.loopback.respond = waking
        await watched.look()
        assert watched.state("timeouts/first-answer")[0] is State.OBSERVED_RISK
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.pairs == before
        await watched.look(3)
        assert watched.alerts == []


# compression, network-path


async def test_brotli_on_big_list(watch: Watching) -> None:
    async with watch(Mcp(legacy=False)) as watched:
        compressed = to(
            "tools/list",
            lambda _: Answer(
                headers=(("Content-Type", "application/json"), ("Content-Encoding", "br")),
                body=b"\x8b\x02\x80raw brotli\x03",
            ),
        )
        watched.server.before = compressed
        await watched.look(6)
        assert watched.state("transport/encoding")[0] is not State.VERIFIED
        assert watched.pairs == [None]
        assert len(watched.messages) == 1


def _has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


class _DeadIpv6:
    """A name whose IPv6 address refuses and whose IPv4 address works."""

    def __init__(self) -> None:
        self.dead = False

    async def resolve(self, host: str, port: int) -> list[Address]:
        other = [Address(ip_address("::1"), port)] if self.dead else []
        return [*other, Address(ip_address("127.0.0.1"), port)]


@pytest.mark.skipif(not _has_ipv6(), reason="this machine has no IPv6")
async def test_dead_aaaa(watch: Watching) -> None:
    name = _DeadIpv6()
    async with watch(Mcp(legacy=False), resolver=name) as watched:
        watched.running.loopback.host = "localhost"
        await watched.look(2)
        before = watched.pairs
        name.dead = True
        await one_message(watched)
        assert watched.state("network/addresses") == (State.OBSERVED_RISK, "ipv6-dead")
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.pairs == before


async def _in_chunks(body: bytes) -> AsyncIterator[bytes]:
    yield body[:20]
    yield body[20:]


@pytest.mark.parametrize(
    ("ends", "state"),
    [
        pytest.param(lambda answer: answer, State.VERIFIED, id="with-its-length"),
        pytest.param(lambda answer: answer.but(measured=False), State.NOT_CHECKED, id="without-length"),
        pytest.param(
            lambda answer: answer.but(body=b"", later=_in_chunks(answer.body)),
            State.NOT_CHECKED,
            id="chunked",
        ),
    ],
)
async def test_no_close_notify(
    watch: Watching, ca_file: Path, ends: Callable[[Answer], Answer], state: State
) -> None:
    def after(incoming: Incoming, answer: Answer) -> Answer:
        if incoming.rpc_method != "tools/list":
            return answer
        return ends(answer.with_header("Connection", "close").but(abrupt=True))

    context = certificates.intermediate().issue("127.0.0.1").context()
    async with watch(Mcp(legacy=False), context=context, ca_file=ca_file) as watched:
        before = watched.pairs
        watched.server.after = after
        await watched.look(6)
        assert watched.state("transport/endpoint") == VERIFIED
        assert watched.state("tools/pagination")[0] is state
        if state is State.VERIFIED:
            assert watched.pairs == before
            assert watched.alerts == []
        else:
            assert watched.pairs == [None]
            assert len(watched.messages) == 1
            watched.server.after = None
            await watched.look()
            assert watched.pairs == before


# names-text-size


async def test_list_too_big(watch: Watching) -> None:
    filler = {"filler": "x" * 400_000}
    async with watch(Mcp(legacy=False)) as watched:
        before = watched.pairs
        watched.server.tools = (*watched.server.tools[:-1], {**watched.server.tools[-1], "_meta": filler})
        await watched.look(4)
        assert watched.pairs == before
        assert watched.alerts == []


async def _endless() -> AsyncIterator[bytes]:
    yield b'{"jsonrpc":"2.0","id":1,"result":{"tools":["'
    while True:
        yield b"x" * 64 * 1024


BOMB = gzip.compress(b'{"jsonrpc":"2.0","id":1,"result":{"tools":["' + b"x" * 9_000_000)
JSON = ("Content-Type", "application/json")


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda _: Answer(headers=(JSON,), later=_endless()), id="endless"),
        pytest.param(lambda _: Answer(headers=(JSON, ("Content-Encoding", "gzip")), body=BOMB), id="bomb"),
    ],
)
async def test_list_without_end(watch: Watching, answer: Callable[[Incoming], Answer]) -> None:
    limits = Limits(max_body=2**20)
    async with watch(Mcp(legacy=False), limits=limits) as watched:
        watched.server.before = to("tools/list", answer)
        await watched.look(6, every=timedelta(seconds=30))
        assert watched.state("release/fingerprint")[0] is State.NOT_CHECKED
        assert watched.state("tools/pagination")[0] is not State.VERIFIED
        assert watched.pairs == [None]
        assert len(watched.messages) == 1


@pytest.mark.parametrize(
    ("method", "answer", "check"),
    [
        pytest.param("tools/list", Answer(status=500), "tools/pagination", id="list-500"),
        pytest.param("tools/list", Answer(cut=True), "tools/pagination", id="list-cut"),
        pytest.param("notifications/initialized", Answer(status=500), "mcp/initialized-ack", id="ack-500"),
        pytest.param("notifications/initialized", Answer(cut=True), "mcp/initialized-ack", id="ack-cut"),
    ],
)
async def test_agents_get_no_tools_is_one_message(
    watch: Watching, method: str, answer: Answer, check: str
) -> None:
    async with watch(Mcp()) as watched:
        before = watched.pairs
        watched.server.before = to(method, lambda _: answer)
        await watched.look(2)
        assert watched.alerts == []  # twice may be a restart
        await watched.look(6)
        assert watched.state(check)[0] is State.FAILED
        assert len(watched.messages) == 1
        watched.server.before = None
        await watched.look(4)
        assert watched.state(check) == VERIFIED
        assert watched.pairs == before
        assert len(watched.messages) == 2


async def test_a_list_that_takes_all_the_time_explains_what_was_not_asked_after_it(watch: Watching) -> None:
    async with watch(Mcp(), limits=Limits(timeout_s=2, deadline_s=4)) as watched:
        watched.server.before = to("tools/list", lambda _: Answer(script=(STALL,)))
        report = await watched.look(3)
        assert watched.state("tools/pagination") == (State.FAILED, "timeout")
        assert len(watched.alerts) == 1
        late = [result for result in report.results if result.code == "deadline"]
        assert {result.cause for result in late} == {"tools/pagination"}
