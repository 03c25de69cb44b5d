"""Chores: open errors are called to mind, and checks that nobody has been able to look at for a day."""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from driftwatch.alerts.quiet import Quiet, in_force
from driftwatch.alerts.route import ChannelRule, plan
from driftwatch.checks import catalogue
from driftwatch.clock import Clock
from driftwatch.config import Window
from driftwatch.model import EventKind
from driftwatch.observe import Watched
from driftwatch.store.ports import Reader, Store, Tx
from driftwatch.transitions import Incident, Memory, SubjectState
from driftwatch.transitions.reminding import STALE_AFTER, audible, due, remind
from driftwatch.transitions.reminding import stale as not_looked_at

log = logging.getLogger("driftwatch.events")

EVERY = timedelta(minutes=1)
LOOK_FOR_STALE_EVERY = timedelta(hours=1)

_EARLIER = 100
"""Reminders of a server that are looked at for what was told."""

IN_DOUBT = timedelta(hours=1)
"""For so long a reminder waits for what may be over, or another thing, to be confirmed."""


class Reminders:
    """Everything that is due at one look is written in one transaction, so each channel gets one digest."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        watched: Mapping[str, Watched],
        channels: Sequence[ChannelRule],
        windows: Sequence[Window],
        full_intervals: Mapping[str, timedelta],
        told: Callable[[], None],
    ) -> None:
        """``full_intervals`` says how often a server is probed in full, ``told`` is called after writing."""
        self._store = store
        self._clock = clock
        self._told = told
        self.configure(watched=watched, channels=channels, windows=windows, full_intervals=full_intervals)

    def configure(
        self,
        *,
        watched: Mapping[str, Watched],
        channels: Sequence[ChannelRule],
        windows: Sequence[Window],
        full_intervals: Mapping[str, timedelta],
    ) -> None:
        """Other servers, channels and windows from now on."""
        self._watched = watched
        self._channels = tuple(channels)
        self._windows = tuple(windows)
        self._full_intervals = full_intervals

    async def run(self) -> None:
        """Call to mind what is due, and with it what would be due soon."""
        now = self._clock.now()
        found = await self._store.query(lambda reader: reader.reminders())
        names = [name for name in found if name in self._watched]
        if any(self._is_due(name, found[name], now) for name in names):
            await self._write(names, now)

    async def look_for_stale(self) -> None:
        """Call to mind, once, what was not looked at for long although its server was probed."""
        names = await self._store.query(
            lambda reader: [name for name in self._watched if self._stale(reader, reader.memory(name))]
        )
        if names:
            await self._write(names, self._clock.now(), stale=True)

    async def _write(self, names: Collection[str], now: datetime, *, stale: bool = False) -> None:
        def write(tx: Tx) -> int:
            quiet = in_force(tx.silences(now), self._windows, now)
            found = [(name, memory) for name in names if (memory := tx.lock_server(name))]
            heard = {
                name: [
                    incident
                    for incident in audible(memory, self._silences(quiet, name))
                    if self._is_known(memory, incident, now)
                ]
                for name, memory in found
            }
            late = any(self._is_due(name, incidents, now) for name, incidents in heard.items())
            return sum(
                self._remind(
                    tx,
                    memory,
                    heard[name] if late else (),
                    self._stale(tx, memory) if stale and not self._is_silent(quiet, name) else (),
                    now,
                )
                for name, memory in found
            )

        number = await self._store.transact(write)
        if number:
            log.info("reminded", extra={"fields": {"servers": number}})
            self._told()

    def _remind(
        self,
        tx: Tx,
        memory: Memory,
        incidents: Sequence[Incident],
        unseen: Sequence[SubjectState],
        now: datetime,
    ) -> bool:
        watched = self._watched[memory.server]
        interval = watched.transitions.reminder
        reminder = remind(memory, incidents, now=now, reminder=interval, stale=unseen)
        if reminder is None:
            return False
        # It leaves at once, and so do all the others that are written with it.
        deliveries = plan([reminder.event], self._channels, watched.tags, now=now, group_wait=timedelta(0))
        tx.record_event(reminder.event, deliveries)
        tx.remind(reminder.incidents, now + interval)
        return True

    def _is_known(self, memory: Memory, incident: Incident, now: datetime) -> bool:
        """Whether it is known to be open now: its server was looked at lately, and did not look otherwise."""
        last, state = memory.last_run_at, memory.states.get(incident.subject)
        if last is None or now - last > self._watched[memory.server].transitions.gap:
            return False
        since = state.pending_since if state else None
        return since is None or now - since >= IN_DOUBT

    def _is_due(self, name: str, incidents: Iterable[Incident], now: datetime) -> bool:
        reminder = self._watched[name].transitions.reminder
        return any(due(incident, now, reminder) for incident in incidents)

    def _silences(self, quiet: Sequence[Quiet], name: str) -> Callable[[str], bool]:
        """Whether a subject of a server is silent."""
        about = [each for each in quiet if each.is_about(name, self._watched[name].tags)]
        return lambda subject: any(each.covers_subject(subject) for each in about)

    def _is_silent(self, quiet: Sequence[Quiet], name: str) -> bool:
        """Whether all of a server is silent."""
        return any(not each.checks and each.is_about(name, self._watched[name].tags) for each in quiet)

    def _stale(self, reader: Reader, memory: Memory | None) -> tuple[SubjectState, ...]:
        if memory is None:
            return ()
        earlier = reader.events(memory.server, limit=_EARLIER, kinds=[EventKind.REMINDER])
        told = {
            (each["subject"], each["since"]) for event in earlier for each in event.details.get("stale", ())
        }
        # What a full probe alone looks at is not seen in between.
        after = max(STALE_AFTER, 2 * self._full_intervals.get(memory.server, timedelta(0)))
        return not_looked_at(memory, [declared.id for declared in catalogue], told, after=after)
