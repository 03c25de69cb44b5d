"""The tick: takes what is due from the store and puts it into the queue; the chores run beside it.

APScheduler drives both. Due times are data in the store, so a restart changes nothing; the tick only asks.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from apscheduler.events import EVENT_JOB_ERROR, EVENT_JOB_MAX_INSTANCES, EVENT_JOB_MISSED, JobEvent
from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.schedulers.base import STATE_RUNNING

from driftwatch.clock import Clock, StepWatch
from driftwatch.errors import StoreError
from driftwatch.schedule.due import DueTimes
from driftwatch.schedule.queue import LocalQueue
from driftwatch.store.ports import Schedule, ServerRecord, Store

log = logging.getLogger("driftwatch.service")

TICK = timedelta(seconds=1)
STOP_GRACE_S = 1.0
FIRST_CHORE = timedelta(minutes=1)
"""A chore is done for the first time no later than this after the start."""
REMIND_S = 60.0
"""How often a database that stays unusable is logged."""


class Ticker:
    """Hands out due probes once a second and runs chores; all in the loop that started it."""

    def __init__(
        self,
        *,
        store: Store,
        queue: LocalQueue,
        clock: Clock,
        due_times: Mapping[str, DueTimes],
        chores: Mapping[str, tuple[timedelta, Callable[[], Awaitable[None]]]],
        tick: timedelta = TICK,
    ) -> None:
        """``chores`` maps a name to its interval and its work."""
        self._store = store
        self._queue = queue
        self._clock = clock
        self._due_times = due_times
        # The timezone is given, because APScheduler would otherwise read TZ and fail on a bad one.
        self._scheduler = AsyncIOScheduler(
            timezone=UTC,
            job_defaults={"coalesce": True, "misfire_grace_time": None, "max_instances": 1},
        )
        trouble = EVENT_JOB_ERROR | EVENT_JOB_MISSED | EVENT_JOB_MAX_INSTANCES
        self._scheduler.add_listener(_job_trouble, trouble)
        self._running: set[asyncio.Task[None]] = set()
        self._one_at_a_time = asyncio.Lock()
        for name, (interval, work) in {"tick": (tick, self.tick), **chores}.items():
            # Soon after the start: a service that is restarted more often than a chore's interval would never
            # come to it.
            first = datetime.now(UTC) + min(interval, FIRST_CHORE)
            self._scheduler.add_job(
                self._run,
                "interval",
                seconds=interval.total_seconds(),
                id=name,
                args=[work],
                next_run_time=first,
            )
        self._more = False
        """Whether the last tick left something that is due, because the queue had no room for it."""
        queue.on_empty = self._go_on
        self._ticked_at = self._told_at = clock.monotonic()
        self.storing = True
        """False after a tick that the database refused, until it takes one again."""
        self._steps = StepWatch(clock)
        self.clock_steps = 0
        """How often the wall clock was stepped since the start."""

    def start(self) -> None:
        """Begin to tick; needs a running loop."""
        self._scheduler.start()

    async def stop(self) -> None:
        """Hand out nothing more; what runs gets STOP_GRACE_S."""
        # APScheduler's own shutdown cancels running coroutines, so they are waited for first.
        self._scheduler.pause()
        if self._running:
            await asyncio.wait(self._running, timeout=STOP_GRACE_S)
        self._scheduler.shutdown(wait=False)

    def wake(self) -> None:
        """Look now: something was asked for that is not to wait for the next second."""
        if self._scheduler.state == STATE_RUNNING:
            task = asyncio.create_task(self._run(self.tick), name="tick")
            self._running.add(task)

    @property
    def age_s(self) -> float:
        """Seconds since the last completed tick."""
        return self._clock.monotonic() - self._ticked_at

    async def tick(self) -> None:
        """Hand out what is due, as much as the queue has room for."""
        async with self._one_at_a_time:
            await self._tick(self._clock.now())

    async def _tick(self, now: datetime) -> None:
        self._more = False
        try:
            await self._repair_clock_step(now)
            next_due = await self._store.query(lambda reader: reader.next_due())
            room = self._queue.room()
            is_due = next_due is not None and next_due <= now
            self._more = is_due and not room
            if is_due and room:
                busy = tuple(self._queue.busy())
                taken = await self._store.transact(lambda tx: tx.take_due(now, room, self._schedule, busy))
                self._more = len(taken) == room
                for request in taken:
                    self._queue.put(request)
        except StoreError as error:
            self._refused(str(error))
        else:
            if not self.storing:
                log.info("the tick can use the database again")
            self.storing = True
        self._ticked_at = self._clock.monotonic()

    def _go_on(self) -> None:
        """Tick at once where more is due than the queue had room for: its workers never wait for it."""
        if self._more:
            self._more = False
            self.wake()

    def _refused(self, sentence: str) -> None:
        """Say what is wrong with the database, once and then now and again: a tick comes every second."""
        now = self._clock.monotonic()
        if self.storing or now - self._told_at >= REMIND_S:
            log.error("the tick could not use the database", extra={"fields": {"error": sentence}})
            self._told_at = now
        self.storing = False

    async def _run(self, work: Callable[[], Awaitable[None]]) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a coroutine of APScheduler runs as a task
        self._running.add(task)
        try:
            await work()
        finally:
            self._running.discard(task)

    def _schedule(self, record: ServerRecord, now: datetime) -> Schedule:
        return self._due_times[record.name].after(now, next_full_at=record.next_full_at)

    async def _repair_clock_step(self, now: datetime) -> None:
        step = self._steps.step()
        if not step:
            return
        self.clock_steps += 1
        log.warning("the clock was stepped", extra={"fields": {"seconds": round(step.total_seconds())}})
        if step < timedelta(0):
            # Everything would be due that much later than its interval says.
            await self._store.transact(lambda tx: tx.repair_due(now, self._schedule))


def _job_trouble(event: JobEvent) -> None:
    fields: dict[str, Any] = {"job": event.job_id, "code": event.code}
    error = getattr(event, "exception", None)
    if error is not None:
        log.error("a chore failed", extra={"fields": fields}, exc_info=error)
    else:
        log.warning("a chore was late or still running", extra={"fields": fields})
