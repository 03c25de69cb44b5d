"""What a report changes: (remembered states, new report) -> Changes. Pure; clock and ids are passed in.

Subjects are ``check:<id>`` and ``toolset:<era>:<credential>``; their values are short strings that are
compared for equality: ``verified``, ``failed:dns``, ``observed_risk:expiring``, ``not_checked:auth``, or a
fingerprint's pair for a toolset.

Shapes of ``Event.details`` per kind:

* ``change``, ``recovery``, ``coverage_lost``, ``coverage_back``: ``{"result": <result JSON>, "previous":
  <result JSON or null>, "blocked": [check ids], "blip": bool}``
* ``toolset_changed``, ``toolset_returned``: ``{"diff": <diff JSON>, "era": str, "credential": str,
  "fingerprint": pair, "previous_fingerprint": pair, "accepted": bool, "seen_before": iso or null}``
* ``added_with_problems``: ``{"results": [<result JSON>]}``
* ``baseline``: ``{"states": {state: count}, "fingerprints": {subject: pair}}``
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from driftwatch.model import Certificate, Depth, Event, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectState:
    """What is remembered about one subject of one server."""

    subject: str
    confirmed: str
    """The current truth. While blocked it keeps the last known value."""
    confirmed_since: datetime
    last_observed_at: datetime
    accepted: str | None = None
    """What a person, a deploy or the first run accepted."""
    pending: str | None = None
    pending_count: int = 0
    pending_since: datetime | None = None
    blocked_by: str | None = None
    """The root check that blocks this one now; then ``confirmed`` is only the last known value."""
    blocked_since: datetime | None = None
    blocked_code: str | None = None
    flap_times: tuple[datetime, ...] = ()
    flapping: bool = False
    stable_count: int = 0
    incident: str | None = None
    """The id of the open incident, if any."""
    version: int = 1
    """The version of the check's declaration, or of the fingerprint's algorithm, that gave ``confirmed``."""
    settings: str = ""
    """A digest of the settings that shaped it."""
    detail: Mapping[str, Json] = field(default_factory=dict)
    """The result JSON behind ``confirmed``; shown, never compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """From the first alerting change away from verified or accepted until recovery or accept."""

    id: str
    subject: str
    opened_at: datetime
    """When the bad value was first seen."""
    opening_event: str
    value: str
    acked_at: datetime | None = None
    acked_by: str | None = None
    next_reminder_at: datetime | None = None
    closed_at: datetime | None = None
    closing_event: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Everything that is remembered about one server when a report arrives."""

    server: str
    states: Mapping[str, SubjectState] = field(default_factory=dict)
    incidents: Mapping[str, Incident] = field(default_factory=dict)
    """Open ones only, by subject."""
    certificate: Certificate | None = None
    """The leaf of the last probe that saw one."""
    last_run_at: datetime | None = None
    seen_fingerprints: Mapping[str, datetime] = field(default_factory=dict)
    """When each fingerprint of this server was last the confirmed one, by pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfirmProbe:
    """A re-probe that would confirm or refute what is pending."""

    due_at: datetime
    depth: Depth


@dataclass(frozen=True, slots=True, kw_only=True)
class Interval:
    """A stretch of time in which a subject was observed with one value; blocked stretches count too."""

    subject: str
    value: str
    since: datetime
    event: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Changes:
    """What one report does to what is remembered: written in one transaction, or not at all."""

    states: tuple[SubjectState, ...] = ()
    """Every state that differs from what was remembered, whole."""
    intervals: tuple[Interval, ...] = ()
    """New stretches; each ends the subject's previous one at its ``since``."""
    incidents: tuple[Incident, ...] = ()
    """Opened and closed ones, whole."""
    events: tuple[Event, ...] = ()
    """Root causes first."""
    confirm: ConfirmProbe | None = None
    """None when nothing is pending: a planned re-probe is then dropped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The numbers of the state machine."""

    confirm: int = 3
    confirm_delays: tuple[timedelta, ...] = (timedelta(seconds=15), timedelta(seconds=45))
    """After the first sighting, the n-th re-probe comes this long after that sighting."""
    loss_confirm: timedelta = timedelta(minutes=5)
    """A change that only loses tools counts when its last agreeing read is this long after the first."""
    reminder: timedelta = timedelta(hours=24)
    flap_count: int = 4
    flap_window: timedelta = timedelta(hours=6)
    flap_settle: int = 12
    accept: str = "deploy"
    """deploy, manual or always."""
