"""One probe, judged."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from driftwatch.model.results import Result
from driftwatch.model.states import Depth, Era, Json, Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """The digests of one complete tool list; it does not exist for anything less."""

    algorithm: str
    """The canonical form's name and version, such as ``dw1``."""
    contract: str
    """Hex SHA-256 over names and input schemas."""
    surface: str
    """Hex SHA-256 over everything else that a model reads."""
    checklist: str | None
    """What the launch checklist's jq line prints; None where jq versions disagree."""

    @property
    def pair(self) -> str:
        """The baseline's name, ``dw1:<contract>.<surface>``."""
        return f"{self.algorithm}:{self.contract}.{self.surface}"

    @property
    def short(self) -> str:
        """The pair as people read it, and as ``accept`` takes it."""
        return f"{self.algorithm}:{self.contract[:8]}.{self.surface[:8]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceSummary:
    """What a report says about one surface."""

    era: Era
    revision: str
    tools: int
    pages: int
    complete: bool
    server_info: Json
    fingerprint: Fingerprint | None
    supported_versions: tuple[str, ...] = ()
    """The revisions that are offered; empty where an era has no list of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Certificate:
    """The leaf certificate of a probe's connection, as a report and the reminders need it."""

    not_before: datetime
    not_after: datetime
    issuer: str
    subject_alt_names: tuple[str, ...]
    version: str | None
    """The TLS version, such as ``TLSv1.3``; None when the handshake did not finish."""
    chain_length: int
    """How many certificates the server sent."""
    leaf_sha256: str
    serial: str

    def days_left(self, at: datetime) -> int:
        """Whole days until the certificate ends, rounded down; negative once it has ended."""
        return (self.not_after - at) // timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """One probe, judged: every check of the catalogue once, in catalogue order."""

    driftwatch: str
    server: str
    url: str
    taken_at: datetime
    depth: Depth
    trigger: Trigger
    duration_s: float
    requests: int
    reachable: bool
    """True when any HTTP answer came back from the configured URL over an acceptable connection."""
    credential: str
    """The label of the credential the probe carried; ``anonymous`` without one."""
    surfaces: tuple[SurfaceSummary, ...]
    certificate: Certificate | None
    results: tuple[Result, ...]

    def result(self, check: str) -> Result:
        """The result of one check. Raises KeyError for an id that is not in the report."""
        for result in self.results:
            if result.check == check:
                return result
        raise KeyError(check)
