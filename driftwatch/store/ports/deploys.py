"""A call of the deploy webhook, and the run after it."""

from dataclasses import dataclass
from datetime import datetime

from driftwatch.deploys import Progress
from driftwatch.model import Release


@dataclass(frozen=True, slots=True, kw_only=True)
class HookDelivery:
    """One call of the deploy webhook; a repeated one gets the first answer."""

    id: str
    """Its sender's, unique for 72 hours."""
    body_sha256: str
    received_at: datetime
    release: str | None = None
    """The id of the release that it announced, or joined; None once that is forgotten."""


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
