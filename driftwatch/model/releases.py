"""A deploy, and where the run after it is."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One deploy, as a webhook announced it; all texts are foreign."""

    id: str
    ref: str
    """What its people call it: a tag, a version, a branch."""
    received_at: datetime
    servers: tuple[str, ...]
    """The names of the servers that it went to."""
    previous_ref: str | None = None
    commit: str | None = None
    link: str | None = None
    actor: str | None = None
    environment: str | None = None
    expect_change: bool = False
    """A change of the toolset is no surprise: it is told as info, and accepted like any other."""


class DeployState(StrEnum):
    """Where the run after a release is, for one server."""

    WAITING = "waiting"
    SETTLING = "settling"
    """Read, and not often enough alike yet."""
    SETTLED = "settled"
    UNSETTLED = "unsettled"
    """Answers still differed when the time was up."""
    INCONCLUSIVE = "inconclusive"
    """The server could not be read when the time was up, or is not watched any more."""

    @property
    def over(self) -> bool:
        """Whether nothing more will come of it."""
        return self not in {DeployState.WAITING, DeployState.SETTLING}


class DeployVerdict(StrEnum):
    """What a release did to one server, in one word for whoever waits; never a score."""

    OK = "ok"
    DRIFT = "drift"
    """The toolset changed, and existing callers keep working."""
    BREAKING = "breaking"
    FAILED = "failed"
    """A check is failed now."""
    RISK = "risk"
    """No check is failed, and one is an observed risk."""
    UNSETTLED = "unsettled"
    INCONCLUSIVE = "inconclusive"
