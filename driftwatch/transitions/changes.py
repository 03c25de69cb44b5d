"""What goes into a decision beside the report, and what comes out of it."""

from dataclasses import dataclass
from datetime import datetime

from driftwatch.model import Depth, Event
from driftwatch.toolset import Diff
from driftwatch.transitions.memory import Incident, SubjectState, TlsNotice


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsetObservation:
    """One complete tool list that this probe read."""

    subject: str
    """``toolset:<era>:<credential>``."""
    pair: str
    algorithm: str
    """The canonical form behind the pair, such as ``dw1``."""
    diff: Diff | None
    """From the confirmed list to this one; None when they are the same or the old one is not stored."""
    drift: Diff | None = None
    """The same from the accepted list: what changed all in all."""
    volatile: bool = False
    """Whether the list changes at every read: the pair is then of what stays."""
    only_noise: bool = False
    """Whether it and the confirmed list differ only in what changes at every read; False where neither this
    list changes at every read nor it was seen before."""
    in_doubt: bool = False
    """Whether another read of the same probe contradicts it: then it counts for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmProbe:
    """A re-probe that would confirm or refute what is pending."""

    due_at: datetime
    depth: Depth


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A stretch of time in which a subject had one confirmed value; blocked stretches count too."""

    subject: str
    value: str
    since: datetime
    event: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What one report does to what is remembered: written in one transaction, or not at all."""

    states: tuple[SubjectState, ...] = ()
    """Every state that differs from what was remembered, whole; what was seen again differs in its time."""
    intervals: tuple[Interval, ...] = ()
    """New stretches; each ends the subject's previous one at its ``since``."""
    incidents: tuple[Incident, ...] = ()
    """Opened, changed and closed ones, whole."""
    events: tuple[Event, ...] = ()
    """Root causes first, then errors, warnings and the rest."""
    notices: tuple[TlsNotice, ...] = ()
    """What is noted about certificates; one that was noted before stays as it is."""
    confirm: ConfirmProbe | None = None
    """None when nothing is in doubt: a planned re-probe is then dropped."""
