"""The hourly look at the stored dates: a server that nobody reaches gets its reminders too."""

import logging
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta

from driftwatch.alerts.resume import address
from driftwatch.alerts.route import ChannelRule
from driftwatch.clock import Clock, StepWatch
from driftwatch.config import Window
from driftwatch.errors import StoreError
from driftwatch.model import State
from driftwatch.observe import Watched
from driftwatch.store.ports import Store, Tx
from driftwatch.transitions import check_subject
from driftwatch.transitions.certificates import crossed, remind
from driftwatch.transitions.memory import Memory
from driftwatch.transitions.values import ENDPOINT, state_of

log = logging.getLogger("driftwatch.service")

EVERY = timedelta(hours=1)


class CertificateDates:
    """A chore. What a probe has told already, or will tell because the server answers, it leaves alone."""

    def __init__(
        self,
        *,
        store: Store,
        clock: Clock,
        watched: Mapping[str, Watched],
        channels: Sequence[ChannelRule],
        group_wait: timedelta,
        windows: Sequence[Window] = (),
        told: Callable[[], None],
    ) -> None:
        """``told`` is called when there is something to send."""
        self._store = store
        self._clock = clock
        self._steps = StepWatch(clock)
        self._told = told
        self.configure(watched=watched, channels=channels, group_wait=group_wait, windows=windows)

    def configure(
        self,
        *,
        watched: Mapping[str, Watched],
        channels: Sequence[ChannelRule],
        group_wait: timedelta,
        windows: Sequence[Window] = (),
    ) -> None:
        """Other servers, channels and windows from now on."""
        self._watched = watched
        self._channels = tuple(channels)
        self._group_wait = group_wait
        self._windows = tuple(windows)

    async def run(self) -> None:
        """Look once at every server; not while the clock has just been stepped."""
        if self._steps.step():
            return
        now = self._clock.now()
        try:
            known = await self._store.query(lambda reader: reader.leaves())
            for name, leaf in known.items():
                if name in self._watched and crossed(leaf, self._watched[name].transitions, now):
                    await self._remind(name, now)
        except StoreError as error:
            log.warning("certificate dates have to wait", extra={"fields": {"error": str(error)}})

    async def _remind(self, name: str, now: datetime) -> None:
        watched = self._watched[name]

        def write(tx: Tx) -> bool:
            memory = tx.lock_server(name)
            if memory is None or memory.certificate is None:
                return False
            event, notices = remind(
                name,
                memory.certificate,
                memory.notices,
                policy=watched.transitions,
                now=now,
                expiry_is_told=_answers(memory),
                since=memory.certificate_since,
            )
            # The end of a certificate that a probe will meet is left to that probe.
            if event is None and _answers(memory):
                return False
            if event is not None:
                deliveries = address(
                    tx,
                    [event],
                    self._channels,
                    watched.tags,
                    now=now,
                    group_wait=self._group_wait,
                    windows=self._windows,
                    reminder=watched.transitions.reminder,
                )
                tx.record_event(event, deliveries)
            tx.note_certificate(name, notices)
            return event is not None

        if await self._store.transact(write):
            self._told()


def _answers(memory: Memory) -> bool:
    """Whether the server could be reached when it was last looked at."""
    endpoint = memory.states.get(check_subject(ENDPOINT))
    return endpoint is None or state_of(endpoint.confirmed) is not State.FAILED
