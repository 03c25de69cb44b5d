"""Events -> one message, as a person reads it on a phone (pure)."""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from driftwatch.alerts import html, layout
from driftwatch.alerts.fold import fold
from driftwatch.alerts.route import ChannelRule
from driftwatch.alerts.text import count, foreign
from driftwatch.alerts.wording import Voice, describe
from driftwatch.model import Event, Level
from driftwatch.store.ports import FrozenMessage

NAMESPACE = uuid.UUID("5ab16a1c-6d0e-5f0e-9d55-3b8b0f3b7c52")
"""Of message ids; never change it: receivers deduplicate by them."""

PREFIX = "[driftwatch] "

REPEAT = "(possible repeat of {id})"

TEXT_LIMIT = 1500
"""Characters of a body: what every chat service takes whole."""

MAIL_LIMIT = 8000
"""Characters of the text in an e-mail's HTML body."""

_PLAIN_LINES = 4

_REPEAT_ROOM = 1 + len(REPEAT.format(id="dw:12345678"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Composed:
    """A message's text, frozen from here on."""

    title: str
    body: str
    """At most TEXT_LIMIT characters, a possible repeat's label included."""
    html: str | None
    """For channels that carry e-mail; None for the others."""
    level: Level


def message_id(channel: str, events: Iterable[str]) -> str:
    """The id of the message that tells these events on this channel; the same again after any crash."""
    return str(uuid.uuid5(NAMESPACE, "\n".join((channel, *sorted(events)))))


def mark(message: str) -> str:
    """A message id as people see it: ``dw:1a2b3c4d``."""
    return f"dw:{message[:8]}"


def compose(events: Sequence[Event], channel: ChannelRule, *, voice: Voice | None = None) -> Composed:
    """What is written to a channel about some events. They keep their order: root causes first."""
    voice = voice or Voice()
    notes = [describe(story, voice) for story in fold(events)]
    sections = layout.arrange(notes)
    title = layout.title(sections)
    footer = mark(message_id(channel.name, (event.id for event in events)))
    body = layout.text(layout.lay_out(sections, voice, footer, TEXT_LIMIT - _REPEAT_ROOM))
    level = max((note.level for note in notes), key=lambda level: level.rank)
    page = None
    if channel.carries_mail:
        page = html.page(title, level, layout.lay_out(sections, voice, footer, MAIL_LIMIT))
    return Composed(title=PREFIX + title, body=body, html=page, level=level)


def plain(events: Sequence[Event], channel: ChannelRule) -> Composed:
    """The bare facts, for events that ``compose`` fails on: an ugly message is better than none."""
    lines = [
        foreign(f"{event.server}: {event.kind} {event.subject}: {event.before} -> {event.after}")
        for event in events
    ]
    footer = mark(message_id(channel.name, (event.id for event in events)))
    shown = [f"- {line}" for line in lines[:_PLAIN_LINES]]
    rest = [f"+{len(lines) - _PLAIN_LINES} more"] if len(lines) > _PLAIN_LINES else []
    return Composed(
        title=f"{PREFIX}{count(len(events), 'event')} that could not be put into words",
        body="\n".join([*shown, *rest, "More: driftwatch status", footer]),
        html=None,
        level=max((event.level for event in events), key=lambda level: level.rank),
    )


def label_repeat(message: FrozenMessage) -> FrozenMessage:
    """The same message, saying that an earlier attempt may have arrived."""
    label = REPEAT.format(id=mark(message.id))
    return replace(
        message,
        body=f"{message.body}\n{label}",
        html=html.with_line(message.html, label) if message.html else None,
    )
