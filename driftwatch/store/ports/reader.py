"""What can be asked."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Protocol

from driftwatch.deploys import DeployOutcome
from driftwatch.model import Certificate, Event, EventKind, ProbeRequest, Release, Silence, State
from driftwatch.store.ports.messages import Backlog, Delivery, HeldDelivery, MessageRecord, MessageStatus
from driftwatch.store.ports.runs import RunSummary, SeenCertificate, StateInterval, StoredToolset, Transcript
from driftwatch.store.ports.servers import Glance, ServerOverview, ServerRecord, ServerStatus
from driftwatch.toolset import Toolset
from driftwatch.transitions import Incident, Memory


class Reader(Protocol):
    """One consistent read."""

    def memory(self, server: str) -> Memory | None:
        """What is remembered about a server; None for an unknown one."""

    def toolset(self, server: str, pair: str) -> StoredToolset | None:
        """A remembered tool list by its fingerprint's pair."""

    def last_known(
        self, server: str, subject: str, names: Collection[str], before: datetime | None = None
    ) -> Toolset:
        """The entries of these names, each as it was in the newest confirmed list that had it.

        ``subject`` is a toolset's. With ``before``, only lists count that were the confirmed one before then.
        """

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
        """What was said in the last probe of each depth, the newest first."""

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
