"""What is called to mind: errors that are still open, and checks that were not checked for long."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from shlex import quote

from driftwatch.alerts.details import objects
from driftwatch.alerts.text import count, duration, foreign, label, listed
from driftwatch.alerts.wording.doors import down_words
from driftwatch.alerts.wording.note import Note, Voice, time_of
from driftwatch.alerts.wording.subjects import subject_words, value_words
from driftwatch.model import Event, Json
from driftwatch.transitions.subjects import check_of, is_toolset

_ID = 8


def reminder(event: Event, voice: Voice) -> Note:
    """What is not right yet at one server, the oldest first."""
    incidents = sorted(objects(event.details.get("incidents")), key=lambda item: str(item.get("since")))
    acked, stale = objects(event.details.get("acked")), objects(event.details.get("stale"))
    alone = incidents[0] if len(incidents) == 1 else None
    if alone is not None:
        lines = [f"{subject_words(str(alone.get('subject')))}: still {value_words(str(alone.get('value')))}"]
        lines += _hidden(alone)
    elif incidents:
        lines = [f"{count(len(incidents), 'problem')} still open:"]
    else:
        lines = [f"{count(len(stale), 'check')} not checked for more than a day:"]
    if acked:
        lines.append(f"Also open, and acknowledged: {listed(map(_acked, acked))}.")
    items = [] if alone else [_open(item, event.at, voice) for item in incidents]
    fixes = {voice.fix(_check(item)) for item in incidents}
    return Note(
        server=event.server,
        level=event.level,
        phrase=_phrase(incidents, stale, event.at),
        tally="still open" if incidents else "not checked",
        lines=tuple(lines),
        items=(*items, *_unseen(stale, voice)),
        since=time_of(alone.get("since")) if alone else None,
        fix=fixes.pop() if len(fixes) == 1 else None,
        acknowledge=_command(event, incidents, voice),
    )


def _command(event: Event, incidents: Sequence[Mapping[str, Json]], voice: Voice) -> str | None:
    if not incidents or not event.server:
        return None
    named = str(incidents[0].get("id"))[:_ID] if len(incidents) == 1 else event.server
    return f"`{voice.command(f'ack {quote(named)}')}` ends these reminders until something changes"


def _hidden(incident: Mapping[str, Json]) -> list[str]:
    blocked = incident.get("blocked")
    return ["Other checks are still not made because of it."] if isinstance(blocked, int) and blocked else []


def _phrase(
    incidents: Sequence[Mapping[str, Json]], stale: Sequence[Mapping[str, Json]], now: datetime
) -> str:
    if not incidents:
        return f"{count(len(stale), 'check')} not checked for more than a day"
    if len(incidents) > 1:
        return f"{count(len(incidents), 'problem')} still open, the oldest{_lasting(incidents[0], now)}"
    return _state(incidents[0], now, "still ")


def _open(incident: Mapping[str, Json], now: datetime, voice: Voice) -> str:
    since = time_of(incident.get("since"))
    began = f", since {voice.at(since)}" if since else ""
    return f"{label(str(incident.get('id')))[:_ID]}: {_state(incident, now)}{began}"


def _state(incident: Mapping[str, Json], now: datetime, still: str = "") -> str:
    """``down for 2 h - connection refused``, ``tls/chain failed (expired) for 1 d``.

    What is down may have been so for another reason at first.
    """
    lasting = _lasting(incident, now)
    subject, value = str(incident.get("subject") or ""), str(incident.get("value") or "")
    down = down_words(_check(incident), value)
    if down:
        return f"{still}down{lasting} - {down}"
    if is_toolset(subject):
        return f"{subject_words(subject)} {still}not accepted ({value_words(value)}){lasting}"
    return f"{subject_words(subject)} {still}{value_words(value)}{lasting}"


def _lasting(incident: Mapping[str, Json], now: datetime) -> str:
    since = time_of(incident.get("since"))
    return f" for {duration(now - since)}" if since else ""


def _acked(incident: Mapping[str, Json]) -> str:
    by = f" by {foreign(str(incident['by']), 40)}" if incident.get("by") else ""
    return f"{subject_words(str(incident.get('subject') or ''))}{by}"


def _unseen(stale: Sequence[Mapping[str, Json]], voice: Voice) -> list[str]:
    """A line for each reason and time, with the checks that it hides."""
    reasons: dict[tuple[str, str], list[str]] = defaultdict(list)
    for item in stale:
        reasons[str(item.get("by") or ""), str(item.get("since") or "")].append(_check(item))
    lines = []
    for (by, since), checks in reasons.items():
        began = time_of(since)
        why = f", because of {label(by)}" if by else ""
        when = f", since {voice.at(began)}" if began else ""
        lines.append(f"{listed(checks)}{when}{why}")
    return lines


def _check(item: Mapping[str, Json]) -> str:
    return label(check_of(str(item.get("subject") or "")))
