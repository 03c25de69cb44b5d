import asyncio
import logging
from datetime import UTC, datetime

import pytest

from driftwatch.model import Depth, ProbeRequest, Trigger
from driftwatch.schedule.queue import ProbeQueue
from tests.patience import PATIENCE_S

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def request(server: str, *, priority: int = 0, trigger: Trigger = Trigger.INTERVAL) -> ProbeRequest:
    return ProbeRequest(server=server, due_at=NOW, trigger=trigger, depth=Depth.LIGHT, priority=priority)


class Probes:
    """A handler whose probes end when the test says so."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.running: set[str] = set()
        self.cancelled: list[str] = []
        self._gates: dict[str, asyncio.Event] = {}
        self._moved = asyncio.Condition()

    async def __call__(self, request: ProbeRequest) -> None:
        self.started.append(request.server)
        self.running.add(request.server)
        gate = self._gates.setdefault(request.server, asyncio.Event())
        async with self._moved:
            self._moved.notify_all()
        try:
            await gate.wait()
        except asyncio.CancelledError:
            self.cancelled.append(request.server)
            raise
        finally:
            self.running.discard(request.server)
            gate.clear()

    def finish(self, server: str) -> None:
        self._gates[server].set()

    async def until_started(self, count: int) -> None:
        async with asyncio.timeout(PATIENCE_S), self._moved:
            await self._moved.wait_for(lambda: len(self.started) >= count)


def make(*, concurrency: int = 8, per_host: int = 2) -> ProbeQueue:
    return ProbeQueue(
        concurrency=concurrency, per_host=per_host, host_of=lambda server: server.split("/", maxsplit=1)[0]
    )


async def settle() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


async def test_at_most_a_few_probes_run_at_a_time() -> None:
    queue, probes = make(concurrency=2), Probes()
    for name in ("a", "b", "c"):
        queue.put(request(name))
    async with asyncio.TaskGroup() as group:
        runner = group.create_task(queue.run(probes))
        await probes.until_started(2)
        await settle()
        assert probes.running == {"a", "b"}
        probes.finish("a")
        await probes.until_started(3)
        assert probes.running == {"b", "c"}
        runner.cancel()


async def test_a_server_is_probed_once_at_a_time_whatever_asked_for_it() -> None:
    queue, probes = make(), Probes()
    queue.put(request("a"))
    queue.put(request("a", trigger=Trigger.DEPLOY))
    async with asyncio.TaskGroup() as group:
        runner = group.create_task(queue.run(probes))
        await probes.until_started(1)
        await settle()
        assert probes.started == ["a"]
        assert "a" in queue.busy()
        probes.finish("a")
        await probes.until_started(2)
        runner.cancel()


async def test_servers_on_one_host_wait_for_each_other_while_others_go_on() -> None:
    queue, probes = make(per_host=1), Probes()
    for name in ("host/a", "host/b", "other/c"):
        queue.put(request(name))
    async with asyncio.TaskGroup() as group:
        runner = group.create_task(queue.run(probes))
        await probes.until_started(2)
        await settle()
        assert probes.running == {"host/a", "other/c"}
        probes.finish("host/a")
        await probes.until_started(3)
        assert probes.running == {"host/b", "other/c"}
        runner.cancel()


async def test_a_deploy_goes_before_the_interval() -> None:
    queue, probes = make(concurrency=1), Probes()
    queue.put(request("slow"))
    queue.put(request("deployed", priority=10))
    async with asyncio.TaskGroup() as group:
        runner = group.create_task(queue.run(probes))
        await probes.until_started(1)
        assert probes.started == ["deployed"]
        runner.cancel()


async def test_a_bug_in_one_probe_is_logged_and_the_next_one_goes_on(
    caplog: pytest.LogCaptureFixture,
) -> None:
    queue, seen = make(concurrency=1), []
    done = asyncio.Event()

    async def handle(wanted: ProbeRequest) -> None:
        seen.append(wanted.server)
        if wanted.server == "a":
            raise ZeroDivisionError
        done.set()

    queue.put(request("a"))
    queue.put(request("b"))
    with caplog.at_level(logging.ERROR, "driftwatch.service"):
        runner = asyncio.create_task(queue.run(handle))
        async with asyncio.timeout(PATIENCE_S):
            await done.wait()
        runner.cancel()
    assert seen == ["a", "b"]
    assert "ZeroDivisionError" in caplog.text


async def test_draining_waits_for_what_runs_and_starts_nothing_more() -> None:
    queue, probes = make(concurrency=1), Probes()
    queue.put(request("a"))
    queue.put(request("b"))
    runner = asyncio.create_task(queue.run(probes))
    await probes.until_started(1)
    draining = asyncio.create_task(queue.drain(5))
    await settle()
    probes.finish("a")
    assert await draining
    assert probes.started == ["a"]
    runner.cancel()


async def test_what_does_not_end_in_time_is_cancelled_and_cleans_up() -> None:
    queue, probes = make(), Probes()
    queue.put(request("a"))
    runner = asyncio.create_task(queue.run(probes))
    await probes.until_started(1)
    assert not await queue.drain(0)
    runner.cancel()
    with pytest.raises(asyncio.CancelledError):
        await runner
    assert probes.cancelled == ["a"]
    assert queue.depth() == 0


async def test_no_more_is_handed_out_than_keeps_every_worker_busy() -> None:
    queue = make(concurrency=2)
    assert queue.room() == 4
    for number in range(6):
        queue.put(request(f"s{number}"))
    assert queue.room() == 0
