"""A probe that was made, and what it leaves behind about a server."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from driftwatch.model import Certificate, Fingerprint, Json, ProbeRequest, Report
from driftwatch.toolset import Toolset, ToolsetRecord


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
class SeenCertificate:
    """A certificate that a server showed, and when."""

    certificate: Certificate
    first_seen_at: datetime
    last_seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Transcript:
    """What was said in a server's last probe of one depth."""

    run: str
    depth: str
    taken_at: datetime
    content: Json
    """As ``report.transcript`` gives it."""


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
