"""The way of an event to a channel: planned, written, claimed, settled."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from driftwatch.model import Event, Level


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryPlan:
    """To which channels an event goes, and when at the earliest."""

    event: str
    channel: str
    not_before: datetime
    suppressed_by: str | None = None


class MessageStatus(StrEnum):
    """Where a message is on its way."""

    PENDING = "pending"
    SENDING = "sending"
    SENT = "sent"
    DEAD = "dead"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenMessage:
    """A message as it was written, once and for all."""

    id: str
    """UUIDv5 of the channel and the sorted ids of its events."""
    channel: str
    title: str
    body: str
    level: Level
    created_at: datetime
    events: tuple[str, ...]
    html: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedMessage:
    """A message that one dispatcher may send until its lease ends."""

    message: FrozenMessage
    owner: str
    attempts: int
    """This attempt included. Together with the owner it fences the settlement."""
    lease: timedelta
    possible_repeat: bool
    """An earlier attempt may have arrived; the text says so."""
    trial: bool = False
    """It is what `driftwatch notify test` asked for: it has one attempt, and whoever asked sees its end."""


class DeliveryOutcome(StrEnum):
    """What became of one attempt to send."""

    SENT = "sent"
    FAILED = "failed"
    """Try again."""
    UNKNOWN = "unknown"
    """It may have arrived: try again, labelled as a possible repeat."""
    REJECTED = "rejected"
    """Trying again cannot help, for example a URL that Apprise does not understand."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlement:
    """The end of one attempt, as it is written."""

    outcome: DeliveryOutcome
    at: datetime
    next_attempt_at: datetime | None = None
    """When to try again; None after sent and for a dead letter."""
    error: str | None = None
    """Redacted, at most 300 characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecord:
    """A message and its fate, for people."""

    message: FrozenMessage
    status: MessageStatus
    attempts: int
    next_attempt_at: datetime | None
    last_error: str | None
    sent_at: datetime | None
    possible_repeat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingDelivery:
    """One event that waits to be written about for one channel."""

    event: Event
    channel: str
    not_before: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldDelivery:
    """One event that a silence or a window keeps from a channel."""

    event: Event
    channel: str
    not_before: datetime
    suppressed_by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """What a channel has not delivered yet."""

    channel: str
    messages: int
    oldest_at: datetime
    """When the oldest of them was written: nothing of this channel has gone past it since."""
    attempts: int = 0
    """Of the oldest one."""
    next_attempt_at: datetime | None = None
    last_error: str | None = None
    events: int = 0
    """Events that are not in any message yet: they wait until the messages before them are gone."""

    @property
    def stuck(self) -> bool:
        """Whether the oldest message was tried, and did not get through."""
        return self.last_error is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """To which channel an event went, and in which message."""

    channel: str
    not_before: datetime
    message: MessageRecord | None
    """None until it is written, and where it is kept back."""
    suppressed_by: str | None
    dropped_at: datetime | None

    @property
    def told(self) -> bool:
        """Whether it is in a message, or will be in the next one."""
        return self.suppressed_by is None and self.dropped_at is None
