"""The interface of the store: domain types in, domain types out; rows and sessions never leave.

One write transaction is a ``Tx``, one consistent read a ``Reader``. SQLite serves both today; nothing here
knows it.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Protocol, TypeVar

from driftwatch.deploys import DeployOutcome, Progress
from driftwatch.model import (
    Certificate,
    Event,
    EventKind,
    Fingerprint,
    Json,
    Level,
    ProbeRequest,
    Release,
    Report,
    Silence,
    State,
)
from driftwatch.toolset import Toolset
from driftwatch.transitions import Changes, Incident, Memory, SubjectState, TlsNotice

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerRecord:
    """A configured server as a row: imported from the configuration at start, scheduled from here."""

    name: str
    url: str
    """Without secrets."""
    host: str
    """``host:port`` after normalisation; the unit of per-host limits."""
    credential: str
    revision: str
    """A digest of the settings that shape results."""
    next_due_at: datetime
    next_full_at: datetime
    tags: tuple[str, ...] = ()
    previous_name: str | None = None
    """What it was called until now: imported under its new name, it keeps everything."""
    confirm_due_at: datetime | None = None
    confirm_depth: str | None = None
    not_before: datetime | None = None
    """The server's own Retry-After."""
    removed_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The next due times of a server, computed by the scheduler and written with the hand-out."""

    next_due_at: datetime
    next_full_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What importing the configuration changed, by server name."""

    added: tuple[str, ...]
    returned: tuple[str, ...]
    """Configured again after they were removed; what was remembered about them is still there."""
    removed: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...] = ()
    """The name before and the name now."""
    changed: tuple[str, ...] = ()
    """Known ones of which a URL, a tag or another setting is a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsetRecord:
    """One complete tool list to remember; bodies are stored once per content."""

    era: str
    credential: str
    revision: str
    fingerprint: Fingerprint
    tools: tuple[Json, ...]
    instructions: str | None
    per_tool: tuple[tuple[str, str], ...]
    """Name and digest of each tool, in the list's order."""
    further: tuple[tuple[str, tuple[Json, ...]], ...] = ()
    """Kind and entries of the other lists that are watched."""

    @property
    def content(self) -> Toolset:
        """What the fingerprint was made of."""
        return Toolset(tools=self.tools, instructions=self.instructions, further=self.further)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRecord:
    """One probe that was made. Its key is (server, due_at, trigger): a replay is a no-op."""

    id: str
    request: ProbeRequest
    report: Report
    toolsets: tuple[ToolsetRecord, ...] = ()
    transcript: Json = None
    """What was said, as ``report.transcript`` gives it; only a server's last one of each depth is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPlan:
    """To which channels an event goes, and when at the earliest."""

    event: str
    channel: str
    not_before: datetime
    suppressed_by: str | None = None


class MessageStatus(StrEnum):
    """Where a message is on its way."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DEAD = "dead"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenMessage:
    """A message as it was written, once and for all."""

    id: str
    """UUIDv5 of the channel and the sorted ids of its events."""
    channel: str
    title: str
    body: str
    level: Level
    created_at: datetime
    events: tuple[str, ...]
    html: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedMessage:
    """A message that one dispatcher may send until its lease ends."""

    message: FrozenMessage
    owner: str
    attempts: int
    """This attempt included. Together with the owner it fences the settlement."""
    lease: timedelta
    possible_repeat: bool
    """An earlier attempt may have arrived; the text says so."""
    trial: bool = False
    """It is what `driftwatch notify test` asked for: it has one attempt, and whoever asked sees its end."""


class DeliveryOutcome(StrEnum):
    """What became of one attempt to send."""

    SENT = "sent"
    FAILED = "failed"
    """Try again."""
    UNKNOWN = "unknown"
    """It may have arrived: try again, labelled as a possible repeat."""
    REJECTED = "rejected"
    """Trying again cannot help, for example a URL that Apprise does not understand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The end of one attempt, as it is written."""

    outcome: DeliveryOutcome
    at: datetime
    next_attempt_at: datetime | None = None
    """When to try again; None after sent and for a dead letter."""
    error: str | None = None
    """Redacted, at most 300 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord:
    """A message and its fate, for people."""

    message: FrozenMessage
    status: MessageStatus
    attempts: int
    next_attempt_at: datetime | None
    last_error: str | None
    sent_at: datetime | None
    possible_repeat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingDelivery:
    """One event that waits to be written about for one channel."""

    event: Event
    channel: str
    not_before: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDelivery:
    """One event that a silence or a window keeps from a channel."""

    event: Event
    channel: str
    not_before: datetime
    suppressed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What a channel has not delivered yet."""

    channel: str
    messages: int
    oldest_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class StateInterval:
    """A stretch of time in which a subject had one confirmed value."""

    id: int
    """Rises with time; together with ``since`` the keyset of the next page."""
    subject: str
    value: str
    since: datetime
    until: datetime | None
    """None for the present."""
    event: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Heartbeat:
    """The latest sign of life of a service."""

    owner: str
    pid: int
    driftwatch: str
    """Its version."""
    started_at: datetime
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One line of a server's history of runs."""

    id: str
    taken_at: datetime
    trigger: str
    depth: str
    duration_s: float
    requests: int
    reachable: bool
    counts: Mapping[str, int]
    """How many checks were in each of the four states."""
    release_ref: str | None = None
    """The id of the release that it looked after."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCertificate:
    """A certificate that a server showed, and when."""

    certificate: Certificate
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """To which channel an event went, and in which message."""

    channel: str
    not_before: datetime
    message: MessageRecord | None
    """None until it is written, and where it is kept back."""
    suppressed_by: str | None
    dropped_at: datetime | None

    @property
    def told(self) -> bool:
        """Whether it is in a message, or will be in the next one."""
        return self.suppressed_by is None and self.dropped_at is None


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was said on a server's last visit of one depth."""

    run: str
    depth: str
    taken_at: datetime
    content: Json
    """As ``report.transcript`` gives it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerStatus:
    """One server as ``status`` shows it."""

    record: ServerRecord
    memory: Memory
    last_run: RunSummary | None
    certificate: Certificate | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOverview:
    """One server in one line, as lists of large fleets show it."""

    record: ServerRecord
    counts: Mapping[State, int]
    """How many checks are in each state now."""
    worst: State
    """As ``transitions.standing`` sums them up."""
    changed_at: datetime | None
    """When a check last got another state or code; None before the first run."""
    last_run: RunSummary | None
    certificate: Certificate | None
    toolsets: tuple[SubjectState, ...]
    """What is remembered of its tool lists, one for each surface."""
    incidents: tuple[Incident, ...]
    """Open ones."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Glance:
    """What it takes to sort and filter a fleet."""

    name: str
    tags: tuple[str, ...]
    worst: State
    counts: Mapping[State, int]
    last_run_at: datetime | None
    next_due_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FleetTotals:
    """All configured servers in a few numbers."""

    servers: int
    with_state: Mapping[State, int]
    """How many servers have at least one check in the state."""
    checks: Mapping[State, int]
    """How many checks are in the state, over all servers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredToolset:
    """A remembered tool list, put together again."""

    pair: str
    revision: str
    fingerprint: Fingerprint
    tools: tuple[Json, ...]
    instructions: str | None
    first_seen_at: datetime
    further: tuple[tuple[str, tuple[Json, ...]], ...] = ()

    @property
    def content(self) -> Toolset:
        """What the fingerprint was made of."""
        return Toolset(tools=self.tools, instructions=self.instructions, further=self.further)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookDelivery:
    """One call of the deploy webhook; a repeated one gets the first answer."""

    id: str
    """Its sender's, unique for 72 hours."""
    body_sha256: str
    received_at: datetime
    release: str | None = None
    """The id of the release that it announced, or joined; None once that is forgotten."""
    receipt: Json = field(default_factory=dict)
    """Whatever the door has to answer a second time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployRun:
    """The run after a release, for one server, between two reads."""

    server: str
    release: Release
    """The newest of those that it looks after."""
    due_at: datetime
    """No read before this counts."""
    progress: Progress | None = None
    """None before the first read, and after another announcement joined."""
    events: tuple[str, ...] = ()
    """What it has to tell at its end, so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """What may be forgotten."""

    keep: timedelta
    max_bytes: int
    now: datetime
    batch: int = 5000


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """What one pruning removed."""

    runs: int = 0
    intervals: int = 0
    events: int = 0
    messages: int = 0
    toolsets: int = 0
    bytes_freed: int = 0

    def __add__(self, other: "Pruned") -> "Pruned":
        """Both together."""
        return Pruned(**{name: getattr(self, name) + getattr(other, name) for name in self.__slots__})


class Reader(Protocol):
    """One consistent read."""

    def memory(self, server: str) -> Memory | None:
        """What is remembered about a server; None for an unknown one."""

    def toolset(self, server: str, pair: str) -> StoredToolset | None:
        """A remembered tool list by its fingerprint's pair."""

    def status(self, after: str = "", limit: int = 200) -> list[ServerStatus]:
        """Configured servers after a name, by name, with everything that is remembered about each."""

    def server_status(self, name: str) -> ServerStatus | None:
        """One configured server with everything that is remembered about it."""

    def glance(self, name: str | None = None) -> list[Glance]:
        """Every configured server in a few words, or one of them, by name."""

    def overview(
        self,
        after: str = "",
        limit: int = 200,
        state: State | None = None,
        names: Sequence[str] | None = None,
    ) -> list[ServerOverview]:
        """Configured servers after a name, by name, in one line each.

        With ``state`` only those of which at least one check is in it now, with ``names`` only these.
        """

    def latest_events(self, names: Sequence[str], kinds: Sequence[EventKind]) -> dict[str, Event]:
        """The newest event of some kinds, by the server's name."""

    def states_now(self, names: Sequence[str]) -> dict[str, dict[str, State]]:
        """The state of every check of some servers now: by server, then by check."""

    def last_probed(self) -> dict[str, datetime | None]:
        """When each configured server was last probed, by name; None for one that never was."""

    def overdue(self, since: datetime) -> int:
        """How many servers have been due since before this moment, and no probe of them is on its way."""

    def totals(self) -> FleetTotals:
        """All configured servers in a few numbers."""

    def server(self, name: str) -> ServerRecord | None:
        """One server's row."""

    def leaves(self) -> dict[str, Certificate]:
        """The last leaf certificate of every configured server that showed one, by name."""

    def servers(self) -> list[ServerRecord]:
        """Every configured server's row, by name."""

    def events(
        self,
        server: str | None = None,
        before: tuple[datetime, str] | None = None,
        limit: int = 50,
        kinds: Sequence[EventKind] = (),
        since: datetime | None = None,
    ) -> list[Event]:
        """The newest events first, below a keyset (at, id), none before ``since``."""

    def event(self, event: str) -> Event | None:
        """One event by its id."""

    def release(self, release: str) -> Release | None:
        """One release by its id."""

    def releases(
        self,
        server: str | None = None,
        before: datetime | None = None,
        limit: int = 50,
        ref: str | None = None,
    ) -> list[Release]:
        """The newest releases first: of one server, received before a time, with one ref."""

    def latest_releases(self, names: Sequence[str]) -> dict[str, Release]:
        """The newest release of some servers, by the server's name."""

    def outcomes(self, server: str, limit: int = 50) -> list[DeployOutcome]:
        """What the newest releases did to one server, the newest first."""

    def deploy(self, release: str) -> tuple[DeployOutcome, ...]:
        """What a release did to each of its servers, by name; empty for an unknown one."""

    def confirmed_at(self, server: str, subject: str, at: datetime) -> str | None:
        """The value that a subject had at a time; None where the history does not reach so far."""

    def deliveries(self, event: str) -> list[Delivery]:
        """What became of an event on each of its channels, by their names."""

    def runs(self, server: str, before: datetime | None = None, limit: int = 50) -> list[RunSummary]:
        """The newest runs first."""

    def certificates(self, server: str, limit: int = 20) -> list[SeenCertificate]:
        """The certificates that a server showed, the newest first."""

    def transcripts(self, server: str) -> list[Transcript]:
        """What was said on the last visit of each depth, the newest first."""

    def intervals(
        self,
        server: str,
        subject: str | None = None,
        before: tuple[datetime, int] | None = None,
        limit: int = 200,
    ) -> list[StateInterval]:
        """The stretches of time in which subjects had one value, newest first, below a keyset (since, id)."""

    def messages(
        self,
        status: MessageStatus | None = None,
        limit: int = 100,
        before: tuple[datetime, str] | None = None,
    ) -> list[MessageRecord]:
        """The newest messages first, below a keyset (created_at, id)."""

    def message(self, message: str) -> MessageRecord | None:
        """One message by its id."""

    def held_deliveries(
        self, server: str | None = None, still_held_by: Collection[str] = ()
    ) -> list[HeldDelivery]:
        """What is held back, of one server or of all, except by what is named; in the order it happened."""

    def reminders(self) -> dict[str, list[Incident]]:
        """The open incidents that are called to mind some time, by configured server."""

    def incident(self, incident: str) -> Incident | None:
        """One incident, open or over."""

    def messages_like(self, prefix: str) -> list[MessageRecord]:
        """The messages whose ids begin so; at most two, since more than one is one too many."""

    def incidents_like(self, prefix: str) -> list[tuple[str, Incident]]:
        """The open incidents whose ids begin so, with their servers' names; at most two."""

    def silences(self, now: datetime | None = None, limit: int = 1000) -> list[Silence]:
        """The silences in force at a moment, or all of them; the newest first."""

    def backlog(self) -> list[Backlog]:
        """The channels with messages that are not delivered yet, by name."""

    def next_due(self) -> datetime | None:
        """When the next probe is due."""

    def waiting_requests(self, limit: int = 1000) -> list[ProbeRequest]:
        """Persisted requests that were not carried out: what waits, and what was handed out and has no run.

        ``take_due`` hands out all of them when they are due, after a restart too; this is for people.
        """

    def heartbeat(self) -> Heartbeat | None:
        """The latest sign of life of a service; None before the first."""


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
        """Do not visit the server before this time (its Retry-After)."""

    def hasten(self, servers: Sequence[str], at: datetime, *, full: bool = False) -> None:
        """Visit some servers at this time, unless they are due earlier; with ``full`` by a full probe."""

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

    def pause_channel(self, channel: str, until: datetime) -> None:
        """Claim nothing for a channel before this time: its receiver asked for it, or its pace is used up."""

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

    def record_heartbeat(self, owner: str, now: datetime) -> None:
        """Note that the service is alive."""


class Store(Protocol):
    """The database: one writer at a time, any number of readers."""

    def write(self) -> AbstractContextManager[Tx]:
        """One write transaction, committed at the end, rolled back on any exception."""

    def read(self) -> AbstractContextManager[Reader]:
        """One consistent read."""

    async def transact(self, work: Callable[[Tx], T]) -> T:
        """Run ``work`` in one write transaction on the writer thread."""

    async def query(self, work: Callable[[Reader], T]) -> T:
        """Run ``work`` in one read on a reader thread."""

    def migrate(self) -> None:
        """Bring the schema up to date, after a backup when there was one before."""

    def backup(self, target: Path | None = None, *, keep: int | None = None) -> Path:
        """Copy the store as it is now, while it is in use; only the ``keep`` newest copies stay."""

    def last_backup_at(self) -> datetime | None:
        """When the newest copy was made that nobody named; None without one."""

    def prune(self, policy: Retention) -> Pruned:
        """Forget what is older than the policy allows, in small transactions; open incidents stay."""

    def size(self) -> int:
        """Bytes that it takes on disk."""

    def close(self) -> None:
        """Finish what runs, checkpoint, close."""
