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
from driftwatch.model import Event, EventKind
from driftwatch.schedule.due import DueTimes
from driftwatch.schedule.queue import ProbeQueue
from driftwatch.store.ports import Schedule, ServerRecord, Store, Tx

log = logging.getLogger("driftwatch.service")

TICK = timedelta(seconds=1)
TICK_JOB = "tick"
STOP_GRACE_S = 1.0
FIRST_CHORE = timedelta(minutes=1)
"""A chore is done for the first time no later than this after the start."""
WATCHDOG_S = 60.0
"""How often it is looked whether a server was passed over."""
REMIND_S = 60.0
"""How often a database that stays unusable is logged."""


class Ticker:
    """Hands out due probes once a second and runs chores; all in the loop that started it."""

    def __init__(
        self,
        *,
        store: Store,
        queue: ProbeQueue,
        clock: Clock,
        due_times: Mapping[str, DueTimes],
        chores: Mapping[str, tuple[timedelta, Callable[[], Awaitable[None]]]],
        tick: timedelta = TICK,
        refused: Callable[[str], None] = lambda _: None,
    ) -> None:
        """``chores`` maps a name to its interval and its work; ``refused`` hears why the database failed."""
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
        for name, (interval, work) in {TICK_JOB: (tick, self.tick), **chores}.items():
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
        self._step = timedelta(0)
        """A step that is not in the history yet."""
        self._refusal = refused
        self._guarded_at = clock.monotonic()
        self._handed_out = dict.fromkeys(due_times, clock.monotonic())
        """When each server was handed out last, by the clock that never jumps."""
        self.clock_steps = 0
        """How often the wall clock was stepped since the start."""

    def configure(self, due_times: Mapping[str, DueTimes]) -> None:
        """Other due times from now on: those of every server that may be handed out."""
        self._due_times = due_times

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
                    self._handed_out[request.server] = self._clock.monotonic()
                    self._queue.put(request)
            await self._watch_over(now)
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

    async def _watch_over(self, now: datetime) -> None:
        """Probe whom the due times have passed over, for whatever reason: nobody is silently not watched."""
        steady = self._clock.monotonic()
        if steady - self._guarded_at < WATCHDOG_S:
            return
        self._guarded_at, busy = steady, self._queue.busy()
        late = [
            name
            for name, plan in self._due_times.items()
            if name not in busy
            and steady - self._handed_out.setdefault(name, steady) > plan.overdue_after.total_seconds()
        ]
        if not late or self._more:
            return  # a queue without room is no fault of the due times
        records = await self._store.query(lambda reader: [reader.server(name) for name in late])
        passed_over = [
            record.name
            for record in records
            if record is not None and (record.not_before is None or record.not_before <= now)
        ]
        if passed_over:
            log.error("overdue servers are probed now", extra={"fields": {"servers": passed_over}})
            await self._store.transact(lambda tx: tx.hasten(passed_over, now))
            self._handed_out |= dict.fromkeys(passed_over, steady)

    def _refused(self, sentence: str) -> None:
        """Say what is wrong with the database, once and then now and again: a tick comes every second."""
        self._refusal(sentence)
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
        if step:
            self.clock_steps += 1
            self._step += step
            log.warning("the clock was stepped", extra={"fields": {"seconds": round(step.total_seconds())}})
        if not self._step:
            return
        event = _stepped(self._step, now)

        def repair(tx: Tx) -> None:
            tx.record_event(event, ())
            if self._step < timedelta(0):
                # Everything would be due that much later than its interval says.
                tx.repair_due(now, self._schedule)

        await self._store.transact(repair)
        self._step = timedelta(0)


def _stepped(step: timedelta, now: datetime) -> Event:
    return Event.without_run(
        EventKind.CLOCK_STEP,
        now,
        details={"seconds": step.total_seconds()},
    )


def _job_trouble(event: JobEvent) -> None:
    if event.job_id == TICK_JOB and event.code == EVENT_JOB_MAX_INSTANCES:
        return  # a tick of a busy service takes longer than a second; one that hangs shows in its age
    fields: dict[str, Any] = {"job": event.job_id, "code": event.code}
    error = getattr(event, "exception", None)
    if error is not None:
        log.error("a chore failed", extra={"fields": fields}, exc_info=error)
    else:
        log.warning("a chore was late or still running", extra={"fields": fields})
