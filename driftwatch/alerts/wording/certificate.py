"""Certificates: the reminders before the end, and the renewal after one."""

from datetime import datetime, timedelta

from driftwatch.alerts.details import strings
from driftwatch.alerts.text import count, foreign, listed
from driftwatch.alerts.wording.note import Note, Voice, release, time_of
from driftwatch.model import Event

EXPIRY = "tls/expiry"


def reminder(event: Event, voice: Voice) -> Note:
    """A threshold before the end of the certificate was crossed, or the end itself."""
    details = event.details
    ends = time_of(details.get("not_after"))
    left = _left(ends, event.at)
    names = strings(details.get("subject_alt_names"))
    issuer = details.get("issuer")
    lines = [f"The certificate {_ends(ends, event.at, voice)}."]
    if issuer:
        lines.append(f"Issued by {foreign(str(issuer), 120)}" + (f", for {_names(names)}." if names else "."))
    newer, gone = time_of(details.get("newer_not_after")), details.get("newer_is_gone") is True
    beside = ""
    if newer and gone:
        beside = ", after a newer one was taken back"
        lines.append(f"A newer one, until {voice.at(newer)}, had come and has not been seen for a day.")
    elif newer:
        beside = ", beside a newer one"
        digest = f" (sha256 {str(details['leaf_sha256'])[:12]})" if details.get("leaf_sha256") else ""
        lines.append(
            f"2 certificates are served: this one{digest}, and a newer one until {voice.at(newer)}. "
            "An instance was not renewed."
        )
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"certificate {left}{beside}",
        tally="certificate ending" if ends is None or ends > event.at else "certificate expired",
        lines=tuple(lines),
        affected="every client, from that moment" if ends is None or ends > event.at else "every client",
        fix=voice.fix(EXPIRY),
        release=release(details),
    )


def renewed(event: Event, voice: Voice) -> Note:
    """Another certificate with a later end, after a reminder was sent."""
    ends = time_of(event.details.get("not_after"))
    before = time_of(event.details.get("previous_not_after"))
    line = f"The new certificate is valid{f' until {voice.at(ends)}' if ends else ''}"
    if before:
        line += f"; the old one {'ended' if before <= event.at else 'would end'} {voice.at(before)}"
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"certificate renewed{f' until {ends:%Y-%m-%d}' if ends else ''}",
        tally="certificate renewed",
        lines=(f"{line}.", *_lost(event)),
        release=release(event.details),
    )


def _lost(event: Event) -> tuple[str, ...]:
    names = strings(event.details.get("names_lost"))
    return (f"It does not cover any more: {_names(names)}.",) if names else ()


def _left(ends: datetime | None, now: datetime) -> str:
    if ends is None:
        return "ends soon"
    if ends <= now:
        return "has expired"
    left = ends - now
    if left >= timedelta(days=2):
        return f"ends in {count(left // timedelta(days=1), 'day')}"
    hours = left // timedelta(hours=1)
    return f"ends in {count(hours, 'hour') if hours else 'less than an hour'}"


def _ends(ends: datetime | None, now: datetime, voice: Voice) -> str:
    if ends is None:
        return "ends soon"
    if ends <= now:
        return f"expired on {voice.at(ends)}"
    return f"{_left(ends, now)}, on {voice.at(ends)}"


def _names(names: tuple[str, ...]) -> str:
    return listed((foreign(item, 64) for item in names), shown=3)
