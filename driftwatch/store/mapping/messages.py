"""What happened, who hears of it and who does not: events, silences, deliveries and messages."""

from dataclasses import asdict

from sqlalchemy import RowMapping

from driftwatch.model import Event, EventKind, Silence
from driftwatch.store.mapping.values import Values
from driftwatch.store.ports import (
    FrozenMessage,
    HeldDelivery,
    MessageRecord,
)


def event(row: RowMapping) -> Event:
    """An event; the row also has the server's name."""
    return Event(
        id=row["id"],
        server=row["name"],
        kind=EventKind(row["kind"]),
        level=row["level"],
        alerts=row["alerts"],
        at=row["at"],
        run=row["run"],
        subject=row["subject"],
        before=row["before"],
        after=row["after"],
        since=row["since"],
        details=row["details"],
    )


def event_values(server_id: int | None, value: Event) -> Values:
    """An event as a row."""
    values = {name: getattr(value, name) for name in Event.__slots__}
    del values["server"]
    values["kind"] = value.kind.value
    values["details"] = dict(value.details)
    return {"server_id": server_id, **values}


def silence(row: RowMapping) -> Silence:
    """A silence's row."""
    matcher = row["matcher"]
    return Silence(
        id=row["id"],
        servers=tuple(matcher["servers"]),
        tags=tuple(matcher["tags"]),
        checks=tuple(matcher["checks"]),
        starts_at=row["starts_at"],
        ends_at=row["ends_at"],
        reason=row["reason"],
        created_by=row["created_by"],
        lifted_at=row["lifted_at"],
    )


def silence_values(value: Silence) -> Values:
    """A silence as a row."""
    values = asdict(value)
    matcher = {name: list(values.pop(name)) for name in ("servers", "tags", "checks")}
    return {"matcher": matcher, **values}


def held_delivery(row: RowMapping) -> HeldDelivery:
    """An event that is held back from a channel; the row also has the event."""
    return HeldDelivery(
        event=event(row),
        channel=row["channel"],
        not_before=row["not_before"],
        suppressed_by=row["suppressed_by"],
    )


def message(row: RowMapping) -> FrozenMessage:
    """A message as it was written."""
    return FrozenMessage(
        id=row["id"],
        channel=row["channel"],
        title=row["title"],
        body=row["body"],
        level=row["level"],
        created_at=row["created_at"],
        events=tuple(row["events"]),
        html=row["html"],
    )


def message_values(value: FrozenMessage) -> Values:
    """A message as a row, without its fate."""
    values = asdict(value)
    values["events"] = list(value.events)
    return values


def message_record(row: RowMapping) -> MessageRecord:
    """A message and its fate."""
    return MessageRecord(
        message=message(row),
        status=row["status"],
        attempts=row["attempts"],
        next_attempt_at=row["next_attempt_at"],
        last_error=row["last_error"],
        sent_at=row["sent_at"],
        possible_repeat=row["possible_repeat"],
    )
