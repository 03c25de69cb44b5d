"""A configured server, and how lists of a fleet show it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from driftwatch.model import Certificate, State
from driftwatch.store.ports.runs import RunSummary
from driftwatch.transitions import Incident, Memory, SubjectState


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

    @property
    def probe_at(self) -> datetime:
        """When the next probe is due."""
        return max(self._planned_at, self.not_before or self._planned_at)

    def asked_to_wait(self, now: datetime) -> bool:
        """Whether the next probe waits for the end of the server's own Retry-After."""
        return self.probe_at > max(self._planned_at, now)

    @property
    def _planned_at(self) -> datetime:
        return min(self.next_due_at, self.confirm_due_at or self.next_due_at)


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
