"""What happened, and when nobody wants to hear of it."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Self

from driftwatch.model.states import Json, Level


class EventKind(StrEnum):
    """What happened. Names are persisted; never reuse one."""

    BASELINE = "baseline"
    """A server was seen for the first time."""
    ADDED_WITH_PROBLEMS = "added_with_problems"
    """The first observation already has failed checks: said once, so that it is not buried."""
    CHANGE = "change"
    """A check's confirmed state or code changed, not for the better."""
    RECOVERY = "recovery"
    """A check is verified again, or as good as it was accepted."""
    COVERAGE_LOST = "coverage_lost"
    COVERAGE_BACK = "coverage_back"
    TOOLSET_CHANGED = "toolset_changed"
    TOOLSET_RETURNED = "toolset_returned"
    """The toolset is again one that was confirmed before."""
    ERA_CHANGED = "era_changed"
    REVISION_CHANGED = "revision_changed"
    """The revision that is negotiated, or the list of those that are offered, is another one."""
    BLIP = "blip"
    """A change that was gone before it was confirmed; history only."""
    REBASED = "rebased"
    """Results moved because driftwatch or the server's settings changed; history only."""
    FLAPPING = "flapping"
    SETTLED = "settled"
    UNSETTLED = "unsettled"
    DEPLOYED = "deployed"
    """The run after a release is over; told only where a release that changes nothing is news."""
    TLS_REMINDER = "tls_reminder"
    TLS_RENEWED = "tls_renewed"
    REMINDER = "reminder"
    ACCEPTED = "accepted"
    ACKED = "acked"
    SILENCED = "silenced"
    UNSILENCED = "unsilenced"
    SERVER_ADDED = "server_added"
    SERVER_REMOVED = "server_removed"
    SERVER_RENAMED = "server_renamed"
    CONFIG_RELOADED = "config_reloaded"
    """Another configuration is in force; history only."""
    CONFIG_REJECTED = "config_rejected"
    """The configuration file was changed and is wrong: what was in force before stays so."""
    MONITOR_GAP = "monitor_gap"
    MONITOR_OFFLINE = "monitor_offline"
    CLOCK_STEP = "clock_step"
    STORAGE_FAULT = "storage_fault"
    DELIVERY_DEAD = "delivery_dead"
    TEST = "test"
    """`driftwatch notify test` asked for it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened, as it is stored and written about."""

    id: str
    """A UUID; stable for one run and subject, so that a replay names the same event."""
    server: str | None
    """None for events about driftwatch itself."""
    kind: EventKind
    level: Level
    alerts: bool
    """False for what belongs into the history only."""
    at: datetime
    run: str | None
    """The run that confirmed it."""
    subject: str | None = None
    """``check:<id>``, ``toolset:<era>:<credential>``, ``eras`` or ``revision:<era>``."""
    before: str | None = None
    """The old value of the subject, such as ``verified`` or ``failed:dns``."""
    after: str | None = None
    since: datetime | None = None
    """When the new value was first seen, before it was confirmed; for a recovery, when the incident began."""
    details: Mapping[str, Json] = field(default_factory=dict)
    """What compose needs to explain it; its shape per kind is documented in transitions."""

    @classmethod
    def without_run(
        cls,
        kind: EventKind,
        at: datetime,
        *,
        level: Level = Level.INFO,
        alerts: bool = False,
        server: str | None = None,
        subject: str | None = None,
        before: str | None = None,
        after: str | None = None,
        since: datetime | None = None,
        details: Mapping[str, Json] = MappingProxyType({}),
    ) -> Self:
        """An event that no probe confirmed: something about driftwatch itself, or what a person did."""
        return cls(
            id=str(uuid.uuid4()),
            server=server,
            kind=kind,
            level=level,
            alerts=alerts,
            at=at,
            run=None,
            subject=subject,
            before=before,
            after=after,
            since=since,
            details=details,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """A stretch of time in which what matches is recorded and told only if it is still so afterwards."""

    id: str
    """A UUID; people may shorten it."""
    servers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """It is about the servers that are named, and those with any of these tags."""
    checks: tuple[str, ...] = ()
    """Ids of checks, a toolset's change being ``release/fingerprint``; empty for everything."""
    starts_at: datetime
    ends_at: datetime
    reason: str
    created_by: str
    lifted_at: datetime | None = None
    """When somebody ended it before its time."""

    @property
    def over_at(self) -> datetime:
        """When it ends, or ended."""
        return min(self.ends_at, self.lifted_at) if self.lifted_at else self.ends_at

    def in_force(self, now: datetime) -> bool:
        """Whether it holds at this moment."""
        return self.starts_at <= now < self.over_at
