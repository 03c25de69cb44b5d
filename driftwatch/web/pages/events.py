"""``/events`` and ``/events/{id}``: what happened, and how it was told."""

from datetime import datetime

from driftwatch.alerts.wording.subjects import subject_words, value_words
from driftwatch.errors import UnknownError
from driftwatch.model import EventKind
from driftwatch.store.ports import Reader
from driftwatch.web.pages.site import Page, Scene
from driftwatch.web.pages.words import headline, note

PAGE = 50


def list_view(reader: Reader, scene: Scene) -> Page:
    """What happened, the newest first."""
    server, kind = scene.query.get("server", "")[:64], scene.query.get("kind", "")
    kinds = (EventKind(kind),) if kind in set(EventKind) else ()
    if server and reader.server(server) is None:
        found = []
    else:
        found = reader.events(server or None, before=keyset(scene), limit=PAGE + 1, kinds=kinds)
    shown = found[:PAGE]
    return Page(
        template="events.html",
        values={
            "events": [(each, headline(each, scene.voice)) for each in shown],
            "server": server,
            "kind": kind if kinds else "",
            "kinds": tuple(EventKind),
            "older": below(shown[-1].at, shown[-1].id) if len(found) > PAGE else None,
            "newest": "before" not in scene.query,
        },
    )


def one_view(reader: Reader, scene: Scene) -> Page:
    """One event, and the messages that told it."""
    event = reader.event(scene.path["id"])
    if event is None:
        raise UnknownError("there is no such event, or it is older than what is kept")
    return Page(
        template="event.html",
        values={
            "event": event,
            "note": note(event, scene.voice),
            "headline": headline(event, scene.voice),
            "deliveries": reader.deliveries(event.id),
            "subject_words": subject_words,
            "value_words": value_words,
        },
    )


def below(at: datetime, key: str) -> str:
    """A place in an order by time, newest first, for an address."""
    return f"{at.isoformat()},{key}"


def keyset(scene: Scene) -> tuple[datetime, str] | None:
    """What ``below`` wrote; None without it, or for anything else."""
    at, _, key = scene.query.get("before", "").partition(",")
    try:
        moment = datetime.fromisoformat(at)
    except ValueError:
        return None
    return (moment, key[:64]) if moment.tzinfo else None
