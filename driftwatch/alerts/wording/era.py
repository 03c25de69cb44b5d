"""The eras of the protocol that a server speaks: which came, which went, and the rules that hang on them."""

from collections.abc import Mapping

from driftwatch.alerts.details import objects, strings
from driftwatch.alerts.text import count, label, listed
from driftwatch.alerts.wording.note import Note, Voice, began, release
from driftwatch.alerts.wording.subjects import value_words
from driftwatch.model import Era, Event, Json

_SPOKEN = {Era.MODERN.value: "2026-07-28", Era.LEGACY.value: "`initialize`", Era.HTTP_SSE.value: "HTTP+SSE"}
"""What clients of an era speak."""


def changed(event: Event, voice: Voice) -> Note:
    """The server speaks in other eras of the protocol than before."""
    before, after = value_words(event.before), value_words(event.after)
    lost = [_SPOKEN.get(era, label(era)) for era in strings(event.details.get("vanished"))]
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"protocol eras changed - {before} -> {after}",
        tally="with other protocol eras",
        lines=(f"Protocol eras: {before} -> {after}", *rules(event)),
        items=tuple(_surface(item) for item in objects(event.details.get("surfaces"))),
        since=began(event),
        release=release(event.details),
        affected=f"clients that speak only {' or '.join(lost)}" if lost else "existing clients keep working",
        fix=_fix(event, voice) if lost else None,
    )


def _fix(event: Event, voice: Voice) -> str | None:
    if Era.LEGACY in strings(event.details.get("vanished")):
        return voice.fix("mcp/era-coverage")
    return (
        "If it was not meant, look at the last release and at what stands in front: requests of "
        "the era that is gone are refused, or taken for something else."
    )


def rules(event: Event) -> list[str]:
    """The checks whose rules the other eras have, or do not have."""
    told = {"applicable": "Checked now, because the rule applies", "inapplicable": "No longer checked"}
    return [
        f"{said}: {listed(map(label, ids))}."
        for key, said in told.items()
        if (ids := strings(event.details.get(key)))
    ]


def _surface(surface: Mapping[str, Json]) -> str:
    tools = surface.get("tools")
    counted = f", {count(tools, 'tool')}" if isinstance(tools, int) else ""
    return f"{label(str(surface.get('era')))}: revision {label(str(surface.get('revision')))}{counted}"
