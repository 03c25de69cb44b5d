"""What is told and what is not: messages, silences; and what was asked for."""

from datetime import datetime

from typing_extensions import TypedDict

from driftwatch import model
from driftwatch.alerts.quiet import Quiet
from driftwatch.store import ports
from driftwatch.views.shape import Moment, described, iso, iso_or_none


@described
class Message(TypedDict):
    """A message as it was written, and what became of it."""

    id: str
    channel: str
    severity: str
    """info, warning or error."""
    title: str
    body: str
    created_at: Moment
    events: list[str]
    """The ids of the events that it tells of."""
    status: str
    """pending, sending, sent, dead or dropped."""
    attempts: int
    next_attempt_at: Moment | None
    last_error: str | None
    sent_at: Moment | None
    possible_repeat: bool
    """An earlier attempt may have arrived."""


@described
class Backlog(TypedDict):
    """What one channel has not delivered yet. It goes in order: only a test passes the oldest one."""

    channel: str
    messages: int
    """Written, and not delivered."""
    oldest_at: Moment
    attempts: int
    """Of the oldest one."""
    next_attempt_at: Moment | None
    last_error: str | None
    """Why the oldest one did not get through; null for one that was not tried yet."""
    events: int
    """In no message yet: they are told in one once the messages before them are gone."""


@described
class Window(TypedDict):
    """A maintenance window that is on."""

    window: str
    """As it stands in the configuration."""
    servers: list[str]
    tags: list[str]
    """Empty like servers for every server."""
    ends_at: Moment


@described
class Silence(TypedDict):
    """A stretch of time in which what matches is recorded and not told."""

    id: str
    servers: list[str]
    tags: list[str]
    checks: list[str]
    """Empty for everything."""
    starts_at: Moment
    ends_at: Moment
    lifted_at: Moment | None
    in_force: bool
    reason: str
    created_by: str


@described
class ProbeRequest(TypedDict):
    """A probe that is going to be made."""

    server: str
    due_at: Moment
    trigger: str
    depth: str


def message(item: ports.MessageRecord) -> Message:
    """One message and its fate."""
    frozen = item.message
    return {
        "id": frozen.id,
        "channel": frozen.channel,
        "severity": frozen.level.value,
        "title": frozen.title,
        "body": frozen.body,
        "created_at": iso(frozen.created_at),
        "events": list(frozen.events),
        "status": item.status.value,
        "attempts": item.attempts,
        "next_attempt_at": iso_or_none(item.next_attempt_at),
        "last_error": item.last_error,
        "sent_at": iso_or_none(item.sent_at),
        "possible_repeat": item.possible_repeat,
    }


def backlog(item: ports.Backlog) -> Backlog:
    """What one channel has not delivered yet."""
    return {
        "channel": item.channel,
        "messages": item.messages,
        "oldest_at": iso(item.oldest_at),
        "attempts": item.attempts,
        "next_attempt_at": iso_or_none(item.next_attempt_at),
        "last_error": item.last_error,
        "events": item.events,
    }


def window(item: Quiet) -> Window:
    """One maintenance window that is on."""
    return {
        "window": item.name,
        "servers": list(item.servers),
        "tags": list(item.tags),
        "ends_at": iso(item.until),
    }


def silence(item: model.Silence, now: datetime) -> Silence:
    """One silence."""
    return {
        "id": item.id,
        "servers": list(item.servers),
        "tags": list(item.tags),
        "checks": list(item.checks),
        "starts_at": iso(item.starts_at),
        "ends_at": iso(item.ends_at),
        "lifted_at": iso_or_none(item.lifted_at),
        "in_force": item.in_force(now),
        "reason": item.reason,
        "created_by": item.created_by,
    }


def probe_request(item: model.ProbeRequest) -> ProbeRequest:
    """One request."""
    return {
        "server": item.server,
        "due_at": iso(item.due_at),
        "trigger": item.trigger.value,
        "depth": item.depth.value,
    }
