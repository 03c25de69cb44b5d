"""Which channel hears of which event, and when at the earliest (pure)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from driftwatch.alerts.quiet import Quiet, holding
from driftwatch.config import Channel
from driftwatch.model import Event, EventKind, Level
from driftwatch.store.ports import DeliveryPlan

MAIL_SCHEMES = frozenset(
    {
        *("mailto", "mailtos", "mailgun", "sendgrid", "ses", "postmark", "sparkpost", "resend", "smtp2go"),
        *("azure", "o365", "brevo", "mailersend", "sendpulse", "acs", "groundmail"),
    }
)
"""Apprise's services that carry e-mail, where HTML is at home."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRule:
    """What a channel wants to hear, and in which way it is written to."""

    name: str
    tags: tuple[str, ...] = ()
    """Servers with any of these tags; empty for every server."""
    min_level: Level = Level.INFO
    scheme: str = ""
    """The scheme of the channel's URL, such as ``slack``; the URL itself is a secret."""

    @classmethod
    def of(cls, channel: Channel) -> "ChannelRule":
        """The rule of a configured channel."""
        return cls(
            name=channel.name, tags=channel.tags, min_level=channel.min_severity, scheme=channel.scheme
        )

    @property
    def carries_mail(self) -> bool:
        """Whether an HTML version is written for it."""
        return self.scheme in MAIL_SCHEMES

    def wants(self, event: Event, tags: Sequence[str]) -> bool:
        """Whether an event about a server with these tags belongs into the channel.

        Events about driftwatch itself belong into every channel, except that a dead delivery is told through
        the others, where there are any, and a test goes where it was asked for, whatever the filters say.
        """
        named = event.details.get("channel")
        if event.kind is EventKind.TEST:
            return named is None or named == self.name
        if event.kind is EventKind.DELIVERY_DEAD and named == self.name:
            return event.details.get("only") is True
        if event.level.rank < self.min_level.rank:
            return False
        return event.server is None or not self.tags or not set(self.tags).isdisjoint(tags)


def plan(
    events: Iterable[Event],
    channels: Sequence[ChannelRule],
    tags: Sequence[str],
    *,
    now: datetime,
    group_wait: timedelta,
    quiet: Sequence[Quiet] = (),
) -> list[DeliveryPlan]:
    """The rows of the outbox for some events about one server, whose tags are ``tags``.

    Nothing leaves before ``group_wait`` has passed, so that everything of one wait is one message; a test
    leaves at once. ``quiet`` are the silences and windows that hold now: what they cover is held back.
    """
    return [
        DeliveryPlan(
            event=event.id,
            channel=channel.name,
            not_before=now if event.kind is EventKind.TEST else now + group_wait,
            suppressed_by=holding(quiet, event, tags),
        )
        for event in events
        if event.alerts
        for channel in channels
        if channel.wants(event, tags)
    ]


def trial(channel: str, *, now: datetime) -> Event:
    """The event behind ``notify test``: record it with the plan that ``plan`` makes of it."""
    return Event.without_run(
        EventKind.TEST,
        now,
        alerts=True,
        details={"channel": channel},
    )
