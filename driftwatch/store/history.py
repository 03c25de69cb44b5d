"""Reading: what is remembered, what happened, what waits. Every query is bounded."""

import itertools
from collections.abc import Collection, Sequence
from datetime import datetime

from driftwatch.model import Event, EventKind, Fingerprint, Json, ProbeRequest, Trigger
from driftwatch.store import mapping
from driftwatch.store.due import is_lost
from driftwatch.store.fleet import Fleet
from driftwatch.store.ports import (
    Backlog,
    Delivery,
    MessageRecord,
    MessageStatus,
    RunSummary,
    SeenCertificate,
    ServerRecord,
    StateInterval,
    StoredToolset,
    Transcript,
)
from driftwatch.store.releases import Releases
from driftwatch.store.statements import history as sql
from driftwatch.store.statements.due import NEXT_PROBE, REQUESTS
from driftwatch.store.statements.outbox import (
    BACKLOG,
    DELIVERIES_OF,
    MESSAGE,
    WAITING_EVENTS,
    newest_messages,
)
from driftwatch.store.statements.servers import SERVER
from driftwatch.store.told import Told
from driftwatch.toolset import Toolset, further_name
from driftwatch.transitions import Memory
from driftwatch.transitions.subjects import surface_of

LISTS_LOOKED_AT = 100
"""Confirmed lists of a surface in which the last definition of what has returned is looked for."""


class SqlReader(Fleet, Releases, Told):
    """One consistent read."""

    def memory(self, server: str) -> Memory | None:
        """What is remembered about a server; None for an unknown one."""
        found = self._memory(server)
        return found[1] if found else None

    def toolset(self, server: str, pair: str) -> StoredToolset | None:
        """A remembered tool list by its fingerprint's pair."""
        key = self._find_server(server)
        rows = [] if key is None else self._rows(sql.TOOLSET, server=key, which_pair=pair)
        if not rows:
            return None
        row = rows[0]
        return StoredToolset(
            pair=row["pair"],
            revision=row["revision"],
            fingerprint=Fingerprint(
                algorithm=row["algorithm"],
                contract=row["contract"],
                surface=row["surface"],
                checklist=row["checklist"],
            ),
            tools=tuple(tool["content"] for tool in self._rows(sql.TOOLSET_TOOLS, toolset=row["id"])),
            instructions=row["instructions"],
            first_seen_at=row["first_seen_at"],
            further=tuple((kind, tuple(entries)) for kind, entries in (row["further"] or {}).items()),
        )

    def last_known(
        self, server: str, subject: str, names: Collection[str], before: datetime | None = None
    ) -> Toolset:
        """The entries of these names, each as it was in the newest confirmed list that had it."""
        era, credential = surface_of(subject)
        key = self._find_server(server)
        tools: dict[str, Json] = {}
        further: dict[tuple[str, str], Json] = {}
        surface = {"server": key, "which_era": era, "label": credential, "limit": LISTS_LOOKED_AT}
        if before is not None:
            surface["which_subject"] = subject
        for row in [] if key is None else self._rows(sql.confirmed_lists(before), **surface):
            missing = [name for name in names if name not in tools]
            for tool in self._rows(sql.TOOLS_NAMED, toolset=row["id"], names=missing) if missing else ():
                tools.setdefault(tool["name"], tool["content"])
            for kind, entries in (row["further"] or {}).items():
                for entry in entries:
                    further.setdefault((kind, further_name(kind, entry)), entry)
        kinds = dict.fromkeys(kind for kind, _ in further)
        return Toolset(
            tools=tuple(tools.values()),
            further=tuple(
                (kind, tuple(each for (of, name), each in further.items() if of == kind and name in names))
                for kind in kinds
            ),
        )

    def server(self, name: str) -> ServerRecord | None:
        """One server's row."""
        rows = self._rows(SERVER, server=name)
        return mapping.server_record(rows[0]) if rows else None

    def events(
        self,
        server: str | None = None,
        before: tuple[datetime, str] | None = None,
        limit: int = 50,
        kinds: Sequence[EventKind] = (),
        since: datetime | None = None,
    ) -> list[Event]:
        """The newest events first, below a keyset (at, id), none before ``since``."""
        key = None if server is None else self._find_server(server)
        if server is not None and key is None:
            return []
        query = sql.newest_events(key, before, kinds, since)
        return [mapping.event(row) for row in self._rows(query, limit=limit)]

    def event(self, event: str) -> Event | None:
        """One event by its id."""
        rows = self._rows(sql.EVENT, key=event)
        return mapping.event(rows[0]) if rows else None

    def deliveries(self, event: str) -> list[Delivery]:
        """What became of an event on each of its channels, by their names."""
        return [
            Delivery(
                channel=row["to_channel"],
                not_before=row["not_before"],
                message=mapping.message_record(row) if row["id"] is not None else None,
                suppressed_by=row["suppressed_by"],
                dropped_at=row["dropped_at"],
            )
            for row in self._rows(DELIVERIES_OF, event=event)
        ]

    def runs(self, server: str, before: datetime | None = None, limit: int = 50) -> list[RunSummary]:
        """The newest runs first."""
        key = self._find_server(server)
        if key is None:
            return []
        rows = self._rows(sql.newest_runs(before), server=key, limit=limit)
        return [mapping.run_summary(row) for row in rows]

    def certificates(self, server: str, limit: int = 20) -> list[SeenCertificate]:
        """The certificates that a server showed, the newest first."""
        key = self._find_server(server)
        rows = [] if key is None else self._rows(sql.CERTIFICATES, server=key, limit=limit)
        found = ((mapping.certificate(row), row) for row in rows)
        return [
            SeenCertificate(
                certificate=certificate, first_seen_at=row["first_seen_at"], last_seen_at=row["last_seen_at"]
            )
            for certificate, row in found
            if certificate is not None
        ]

    def transcripts(self, server: str) -> list[Transcript]:
        """What was said in the last probe of each depth, the newest first."""
        key = self._find_server(server)
        rows = [] if key is None else self._rows(sql.TRANSCRIPTS, server=key)
        return [
            Transcript(
                run=row["run"], depth=row["depth"].value, taken_at=row["taken_at"], content=row["content"]
            )
            for row in rows
        ]

    def intervals(
        self,
        server: str,
        subject: str | None = None,
        before: tuple[datetime, int] | None = None,
        limit: int = 200,
    ) -> list[StateInterval]:
        """The stretches of time in which subjects had one value, newest first, below a keyset (since, id)."""
        key = self._find_server(server)
        if key is None:
            return []
        return [
            StateInterval(
                id=row["id"],
                subject=row["subject"],
                value=row["value"],
                since=row["since"],
                until=row["until"],
                event=row["event"],
            )
            for row in self._rows(sql.newest_intervals(subject, before), server=key, limit=limit)
        ]

    def messages(
        self,
        status: MessageStatus | None = None,
        limit: int = 100,
        before: tuple[datetime, str] | None = None,
    ) -> list[MessageRecord]:
        """The newest messages first, below a keyset (created_at, id)."""
        rows = self._rows(newest_messages(status, before), limit=limit)
        return [mapping.message_record(row) for row in rows]

    def message(self, message: str) -> MessageRecord | None:
        """One message by its id."""
        rows = self._rows(MESSAGE, key=message)
        return mapping.message_record(rows[0]) if rows else None

    def backlog(self) -> list[Backlog]:
        """The channels with messages that are not delivered yet, by name."""
        behind = {row["channel"]: row["number"] for row in self._rows(WAITING_EVENTS)}
        found = itertools.groupby(self._rows(BACKLOG), key=lambda row: row["channel"])
        backlog = []
        for channel, rows in found:
            oldest, *others = rows
            backlog.append(
                Backlog(
                    channel=channel,
                    messages=1 + len(others),
                    oldest_at=oldest["created_at"],
                    attempts=oldest["attempts"],
                    next_attempt_at=oldest["next_attempt_at"],
                    last_error=oldest["last_error"],
                    events=behind.get(channel, 0),
                )
            )
        return backlog

    def next_due(self) -> datetime | None:
        """When the next probe is due."""
        now = self._process.clock()
        probe = self._first(NEXT_PROBE)
        times = [probe[0]] if probe is not None and probe[0] is not None else []
        requests = self._rows(REQUESTS)
        on_the_way = {
            row["name"] for row in requests if row["claimed_by"] and not is_lost(row, now, self._process)
        }
        deploying = {row["name"] for row in requests if row["trigger"] is Trigger.DEPLOY}
        times += [
            max(row["due_at"], row["not_before"] or row["due_at"])
            for row in requests
            if row["name"] not in on_the_way
            and (row["trigger"] is Trigger.DEPLOY or row["name"] not in deploying)
        ]
        return min(times, default=None)

    def waiting_requests(self, limit: int = 1000) -> list[ProbeRequest]:
        """Persisted requests that were not carried out: what waits, and what was handed out and has no run.

        ``take_due`` hands out all of them when they are due, after a restart too; this is for people.
        """
        return [mapping.probe_request(row) for row in self._rows(REQUESTS.limit(limit))]
