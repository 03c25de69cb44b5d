"""Everything that one probe saw."""

from dataclasses import dataclass
from datetime import datetime

from driftwatch.evidence.beside import Addresses, Authorization, Burst, LogSearch, Replicas, SlowCall, Tls
from driftwatch.evidence.exchange import NEEDS_FULL, NO_AUTHORIZATION, Missing, Opening, Outcome
from driftwatch.evidence.surface import Surface
from driftwatch.model import Depth, Json, Trigger


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Everything that one probe saw."""

    driftwatch: str
    server: str
    url: str
    taken_at: datetime
    depth: Depth
    trigger: Trigger
    duration_s: float
    requests: int
    credential: str
    settings: Json
    """What shaped the probe, without secrets: limits, origin, switched-off checks."""
    outcome: Outcome
    openings: tuple[Opening, ...] | Missing
    surfaces: tuple[Surface, ...]
    tls: Tls | Missing
    retry_after_s: float | None = None
    """The longest pause that a 429 or 503 asked for (Retry-After): for the next probe, not for this one."""
    authorization: Authorization | Missing = NO_AUTHORIZATION
    # What only a full probe does, beside the conversation.
    addresses: Addresses | Missing = NEEDS_FULL
    replicas: Replicas | Missing = NEEDS_FULL
    slow_call: SlowCall | Missing = NEEDS_FULL
    logs: LogSearch | Missing = NEEDS_FULL
    burst: Burst | Missing = NEEDS_FULL

    @property
    def blocker(self) -> Missing:
        """Why there is no surface: what every check of a surface then answers."""
        return self.outcome.blocker
