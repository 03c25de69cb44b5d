"""What can be changed."""

from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from typing import Protocol

from driftwatch.deploys import DeployOutcome
from driftwatch.model import Event, ProbeRequest, Release, Silence
from driftwatch.store.ports.deploys import DeployRun, HookDelivery
from driftwatch.store.ports.messages import (
    ClaimedMessage,
    DeliveryPlan,
    FrozenMessage,
    HeldDelivery,
    PendingDelivery,
    Settlement,
)
from driftwatch.store.ports.reader import Reader
from driftwatch.store.ports.runs import RunRecord
from driftwatch.store.ports.servers import Imported, Schedule, ServerRecord
from driftwatch.transitions import Changes, Memory, TlsNotice


class Tx(Reader, Protocol):
    """One write transaction; it reads what it has written."""

    def lock_server(self, server: str) -> Memory | None:
        """Lock a server's row and read what is remembered; the first call of every run's transaction."""

    def record_run(self, run: RunRecord) -> bool:
        """Write the run and its toolsets. False when this key was written before: stop there.

        The hand-out of a scheduled probe ends here; a deploy or manual request stays until ``request_done``.
        """

    def apply(self, server: str, changes: Changes, deliveries: Sequence[DeliveryPlan]) -> None:
        """Write states, intervals, incidents, events and the rows of the outbox.

        A state that was only seen again is not written: the server's row says when.
        """

    def note_certificate(self, server: str, notices: Sequence[TlsNotice]) -> None:
        """Note something about a certificate of a server; what was noted before stays as it is."""

    def record_event(self, event: Event, deliveries: Sequence[DeliveryPlan]) -> None:
        """Write one event that no run produced, with its rows of the outbox."""

    def import_servers(self, servers: Sequence[ServerRecord], now: datetime) -> Imported:
        """Make the rows equal to the configuration.

        Due times of known servers stay; servers that are no longer configured are marked as removed, and what
        waits for them, deploys too, is given up.
        One that continues a known one under another name is that one: its history, states and silences go on.
        """

    def take_due(
        self,
        now: datetime,
        limit: int,
        schedule: Callable[[ServerRecord, datetime], Schedule],
        busy: Collection[str] = (),
    ) -> list[ProbeRequest]:
        """Hand out what is due, at most ``limit``, and advance its due times in the same transaction.

        Persisted requests whose time has come go first, by priority, then servers by their due time; one for
        each server at most. ``busy`` names the servers for which a request waits or runs in this process:
        they are left for a later tick. The depth is full when ``next_full_at`` has passed, or that of the
        planned confirmation.

        What is handed out is remembered until its run is recorded or ``request_done``: after a crash it is
        due again with the same key, in a running process two minutes after nobody is busy with it any more.
        """

    def postpone(self, server: str, not_before: datetime) -> None:
        """Do not probe the server before this time (its Retry-After)."""

    def hasten(self, servers: Sequence[str], at: datetime, *, full: bool = False) -> None:
        """Probe some servers at this time, unless they are due earlier; with ``full`` by a full probe."""

    def repair_due(self, now: datetime, schedule: Callable[[ServerRecord, datetime], Schedule]) -> int:
        """Bring due times that lie further away than the schedule allows back to it; how many.

        They do after the wall clock was stepped back, or after an interval was made shorter. What waits in
        the outbox for more than a day is brought forward too.
        """

    def enqueue(self, request: ProbeRequest) -> bool:
        """Persist a request that is not on the interval; False when the same one already waits.

        ``take_due`` hands it out at its ``due_at``. One request for each server and trigger waits; a newer
        one gives it its release, its higher priority and its greater depth.
        """

    def request_done(self, request: ProbeRequest) -> None:
        """Forget a persisted request that was carried out."""

    def announce(
        self,
        delivery: HookDelivery,
        release: Release,
        requests: Sequence[ProbeRequest],
        *,
        debounce: timedelta,
    ) -> HookDelivery:
        """Write a call of the webhook, its release, and the first read of each server; what to answer.

        A delivery id that was used within 72 hours gives the earlier delivery back, and nothing is written;
        its ``body_sha256`` says whether it was the same call. Another announcement for the same servers
        within ``debounce`` joins the release of the first: that takes its words, and its reads begin anew.
        A server has one run at a time, and at most one that waits: the newest release takes the older
        waiting ones along.
        """

    def deploy_run(self, server: str) -> DeployRun | None:
        """The run that is under way for a server, or waits for its first read; None without one."""

    def go_on(self, run: DeployRun, request: ProbeRequest) -> None:
        """Keep the progress of a run and plan its next read."""

    def hand_over(self, run: DeployRun, now: datetime) -> bool:
        """Let the release that waits for the server take this run along; False where none waits."""

    def end_deploy(self, outcome: DeployOutcome, now: datetime) -> bool:
        """Write what became of a server's run, for every release that it looked after.

        The next run of the server, if one waits, is planned. Where it was the last server of the release,
        what the release has to tell may leave: then True.
        """

    def resume_deploys(self, now: datetime) -> int:
        """Plan a read for every run that lost its own; how many."""

    def pending_deliveries(
        self, now: datetime, limit: int = 500, channel: str | None = None
    ) -> list[PendingDelivery]:
        """What waits to be written about, oldest first: all rows of each channel that has a due one.

        With ``channel`` only that channel's rows, so that a long queue of one never hides another.
        """

    def replan(self, deliveries: Sequence[DeliveryPlan]) -> None:
        """Hold back by something else, or not any more, what is held back."""

    def drop_deliveries(self, deliveries: Sequence[HeldDelivery], now: datetime) -> None:
        """Give up what is held back: it is in the history only."""

    def remind(self, incidents: Sequence[str], at: datetime) -> None:
        """Plan the next reminder of open incidents that have one."""

    def freeze(self, message: FrozenMessage) -> bool:
        """Write a message and tie its deliveries to it. False when this id exists already."""

    def claim(self, owner: str, lease: timedelta, channels: Sequence[str]) -> ClaimedMessage | None:
        """Lease the oldest due message of a channel that nobody else holds; FIFO per channel.

        A message that waits for its next attempt holds back the younger ones of its channel, but not a test.
        """

    def has_message(self, channel: str) -> bool:
        """Whether a message of a channel is on its way; tests do not count."""

    def settle(self, claim: ClaimedMessage, settlement: Settlement) -> bool:
        """Write the end of an attempt. False when the claim was lost meanwhile: nothing is written."""

    def retry_message(self, message: str, now: datetime) -> bool:
        """Send a waiting message without further delay, or a dead one again; False for any other."""

    def drop_message(self, message: str, now: datetime) -> bool:
        """Give up a message that waits or is dead; False for any other."""

    def drop_channels(self, keep: Sequence[str], now: datetime) -> int:
        """Drop what waits for channels that are no longer configured; how many messages and deliveries."""

    def db_now(self) -> datetime:
        """The database's clock, for leases only."""

    def add_silence(self, silence: Silence) -> None:
        """Write a new silence."""

    def lift_silence(self, silence: str, now: datetime) -> None:
        """End a silence before its time."""
