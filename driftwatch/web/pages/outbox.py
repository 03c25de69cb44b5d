"""``/outbox``: the messages and their fate. Channels go by their names; their addresses are secrets."""

from driftwatch.store.ports import MessageRecord, MessageStatus, Reader
from driftwatch.web.pages.events import below, keyset
from driftwatch.web.pages.site import Page, Scene

PAGE = 50

FATE = {
    MessageStatus.PENDING: "waiting",
    MessageStatus.SENDING: "being sent",
    MessageStatus.SENT: "sent",
    MessageStatus.DEAD: "given up",
    MessageStatus.DROPPED: "dropped",
}


def view(reader: Reader, scene: Scene) -> Page:
    """The messages, the newest first."""
    asked = scene.query.get("status", "")
    status = MessageStatus(asked) if asked in set(MessageStatus) else None
    found = reader.messages(status, limit=PAGE + 1, before=keyset(scene))
    shown = found[:PAGE]
    last = shown[-1].message if len(found) > PAGE else None
    return Page(
        template="outbox.html",
        values={
            "messages": shown,
            "status": status,
            "fates": FATE,
            "is_bad": is_bad,
            "channels": [channel.name for channel in scene.config.channels],
            "backlog": reader.backlog(),
            "older": below(last.created_at, last.id) if last else None,
            "newest": "before" not in scene.query,
        },
    )


def is_bad(record: MessageRecord) -> bool:
    """Whether somebody should look after a message."""
    return record.status is MessageStatus.DEAD or bool(record.last_error and not record.sent_at)
