"""The queue of probes in one process: priorities, a lock per server, a limit per host, bounded workers."""

import asyncio
import heapq
import itertools
import logging
from collections import Counter
from collections.abc import Awaitable, Callable

from driftwatch.model import ProbeRequest

log = logging.getLogger("driftwatch.service")

Handler = Callable[[ProbeRequest], Awaitable[None]]


class ProbeQueue:
    """A bounded number of probes at a time, at most one per server and a few per host."""

    def __init__(self, *, concurrency: int, per_host: int, host_of: Callable[[str], str]) -> None:
        """``host_of`` names the host of a server; limits count by it."""
        self.configure(concurrency=concurrency, per_host=per_host, host_of=host_of)
        self._waiting: list[tuple[int, int, ProbeRequest]] = []
        self._order = itertools.count()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._hosts: Counter[str] = Counter()
        self._changed = asyncio.Event()
        self.on_empty: Callable[[], None] = lambda: None
        """Called when nothing waits any more and a worker has become free."""

    def configure(self, *, concurrency: int, per_host: int, host_of: Callable[[str], str]) -> None:
        """Other limits from now on; what runs goes on."""
        self._concurrency = concurrency
        self._per_host = per_host
        self._host_of = host_of

    def put(self, request: ProbeRequest) -> None:
        """Take a request that the store has handed out; the one with the higher priority goes first."""
        heapq.heappush(self._waiting, (-request.priority, next(self._order), request))
        self._changed.set()

    def wake(self) -> None:
        """There may be something to do."""
        self._changed.set()

    def depth(self) -> int:
        """How many requests wait or run."""
        return len(self._waiting) + len(self._running)

    def room(self) -> int:
        """How many more requests it makes sense to hand out now: enough to keep every worker busy."""
        return max(0, 2 * self._concurrency - self.depth())

    def busy(self) -> frozenset[str]:
        """The servers that wait or run, for which nothing more should be handed out."""
        return frozenset(self._running) | {request.server for _, _, request in self._waiting}

    async def run(self, handle: Handler) -> None:
        """Carry out requests until cancelled; running ones are then cancelled too and waited for."""
        try:
            while True:
                self._changed.clear()
                self._start(handle)
                await self._changed.wait()
        finally:
            await self.cancel()

    async def drain(self, seconds: float) -> bool:
        """Start nothing more and wait for what runs, at most ``seconds``; True when all is done."""
        self._waiting.clear()
        self.on_empty = lambda: None
        if not self._running:
            return True
        _, pending = await asyncio.wait(self._running.values(), timeout=seconds)
        return not pending

    async def cancel(self) -> None:
        """Cancel what runs and wait until it has cleaned up."""
        tasks = list(self._running.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _start(self, handle: Handler) -> None:
        held_back = []
        while self._waiting and len(self._running) < self._concurrency:
            item = heapq.heappop(self._waiting)
            request = item[2]
            host = self._host_of(request.server)
            if request.server in self._running or self._hosts[host] >= self._per_host:
                held_back.append(item)
                continue
            self._hosts[host] += 1
            task = asyncio.create_task(self._carry_out(handle, request, host), name=f"probe {request.server}")
            self._running[request.server] = task
        for item in held_back:
            heapq.heappush(self._waiting, item)

    async def _carry_out(self, handle: Handler, request: ProbeRequest, host: str) -> None:
        try:
            await handle(request)
        except Exception:
            # One server's surprise must not end the service; the trace is in the log, the next run comes.
            fields = {"server": request.server, "trigger": request.trigger.value}
            log.exception("a probe ended with a bug in driftwatch", extra={"fields": fields})
        finally:
            del self._running[request.server]
            self._hosts[host] -= 1
            if not self._hosts[host]:
                del self._hosts[host]
            self._changed.set()
            if not self._waiting:
                self.on_empty()
