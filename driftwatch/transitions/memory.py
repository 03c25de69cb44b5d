"""What is remembered about a server, and the numbers that say when to speak."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from driftwatch.model import Certificate, Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectState:
    """What is remembered about one subject of one server."""

    subject: str
    confirmed: str
    """The current truth. While blocked it keeps the last known value."""
    confirmed_since: datetime
    last_observed_at: datetime
    accepted: str | None = None
    """What a person, a deploy or the first run accepted; None until the subject was really seen once."""
    pending: str | None = None
    pending_count: int = 0
    pending_since: datetime | None = None
    blocked_by: str | None = None
    """The root check that blocks this one now; then ``confirmed`` is only the last known value."""
    blocked_since: datetime | None = None
    blocked_code: str | None = None
    flap_times: tuple[datetime, ...] = ()
    """When the recent confirmed changes began to count."""
    flap_values: tuple[str, ...] = ()
    """The value that was confirmed at each of ``flap_times``."""
    flapping: bool = False
    """True from the event that said flapping or unsettled until the one that says settled."""
    flap_muted: int = 0
    """Confirmed changes since then that were stored and not told."""
    turns: Mapping[str, int] = field(default_factory=dict)
    """How often the answer turned to each value since ``turning_since``; empty when it is calm."""
    turning_since: datetime | None = None
    stable_count: int = 0
    """Observations of the confirmed value in a row, counted only while flapping or turning."""
    incident: str | None = None
    """The id of the open incident, if any."""
    version: int = 1
    """The version of the declaration that gave ``confirmed``; a toolset's value names its algorithm."""
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
    """The latest bad value that was really seen: losing sight of it does not change it."""
    acked_at: datetime | None = None
    acked_by: str | None = None
    next_reminder_at: datetime | None = None
    """None for what nobody is reminded of: warnings, and what was already so at the first look."""
    closed_at: datetime | None = None
    closing_event: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsNotice:
    """Something about a leaf certificate that was noted once and for ever."""

    leaf_sha256: str
    threshold_days: int
    """Days before the end, or one of the marks in ``transitions.certificates``."""
    at: datetime
    not_after: datetime
    """The end of the leaf."""
    issuer: str
    subject_alt_names: tuple[str, ...]
    event: str | None = None
    """The message about it; None where a closer threshold, or something else, spoke for it."""


REPROBE_WINDOW = timedelta(hours=6)
"""How far back re-probes are remembered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """Everything that is remembered about one server when a report arrives."""

    server: str
    states: Mapping[str, SubjectState] = field(default_factory=dict)
    incidents: Mapping[str, Incident] = field(default_factory=dict)
    """Open ones only, by subject."""
    certificate: Certificate | None = None
    """The leaf of the last probe that saw one."""
    certificate_since: datetime | None = None
    """Since when it has been shown without another between."""
    notices: tuple[TlsNotice, ...] = ()
    """What was noted about the certificates that it showed."""
    last_run_at: datetime | None = None
    reprobes: tuple[datetime, ...] = ()
    """When it was re-probed within REPROBE_WINDOW."""
    full_reprobe_at: datetime | None = None
    """When a full re-probe is due that was planned and has not begun."""
    seen_fingerprints: Mapping[str, datetime] = field(default_factory=dict)
    """When each fingerprint of this server last became, or ceased to be, the confirmed one, by pair."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The numbers of the state machine."""

    confirm: int = 3
    """How many observations must agree before a change counts."""
    confirm_delays: tuple[timedelta, ...] = (timedelta(seconds=15), timedelta(seconds=45))
    """After the first sighting, the n-th re-probe comes this long after that sighting."""
    loss_confirm: timedelta = timedelta(minutes=5)
    """A change that only loses tools counts when its last agreeing read is this long after the first."""
    reminder: timedelta = timedelta(hours=24)
    flap_count: int = 4
    flap_window: timedelta = timedelta(hours=6)
    flap_settle: int = 12
    """Stable observations in a row that end flapping."""
    unsettled: timedelta = timedelta(minutes=10)
    """Answers that take turns for longer than this are told, although none of them is ever confirmed."""
    reprobes: int = 30
    """After so many re-probes within REPROBE_WINDOW, answers that take turns wait for the regular probes."""
    gap: timedelta = timedelta.max
    """A longer time without a look is a gap in the watch: what is found after it says so."""
    accept: str = "deploy"
    """deploy, manual or always."""
    tls_days: tuple[int, ...] = (30, 14, 7, 3, 1)
    """Days before a certificate's end at which there is a reminder."""
    tls_share: float = 0.3
    """A threshold counts only below this share of the certificate's lifetime."""
