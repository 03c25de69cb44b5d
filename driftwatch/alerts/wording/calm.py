"""What damping says instead of many messages: flapping, settled, replicas that disagree, reminders."""

from collections.abc import Mapping
from datetime import datetime

from driftwatch.alerts.text import count, duration, foreign, label
from driftwatch.alerts.wording.note import (
    Note,
    Voice,
    began,
    release,
    span,
    time_of,
    words,
)
from driftwatch.model import Event, Json


def flapping(event: Event, voice: Voice) -> Note:
    """A subject changed too often to tell every time."""
    what = subject_words(event.subject)
    window = span(event.details.get("window_s"))
    number = event.details.get("changes")
    how_often = f"{count(number, 'change')} in {window}" if isinstance(number, int) and window else "often"
    settle = event.details.get("settle")
    quiet = f"{count(settle, 'probe')} in a row agree" if isinstance(settle, int) else "it has settled"
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{what} is flapping - {how_often}",
        tally="flapping",
        lines=(
            f"{what} goes back and forth, {how_often}: {_both(event, ' <-> ')}.",
            f"Every change is recorded. The next message about it comes when {quiet}, or for a new value.",
        ),
        since=began(event),
        release=release(event.details),
        fix=voice.fix(_check(event.subject)),
    )


def settled(event: Event, voice: Voice) -> Note:
    """A flapping or unsettled subject is steady again."""
    what = subject_words(event.subject)
    lasted = duration(event.at - began(event))
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{what} has settled: {value_words(event.after)}",
        tally="settled",
        lines=(
            f"{what} is steady again: {value_words(event.after)}.",
            f"It had been unsteady for {lasted}, since {voice.at(began(event))}.",
        ),
        release=release(event.details),
    )


def unsettled(event: Event, voice: Voice) -> Note:
    """Two answers in turn: most often two instances behind one address."""
    seen = event.details.get("values")
    counted = (
        tuple(
            f"{value_words(str(value))}: {count(number, 'time')}"
            for value, number in seen.items()
            if isinstance(number, int)
        )
        if isinstance(seen, Mapping)
        else ()
    )
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"replicas disagree - {count(max(len(counted), 2), 'toolset')} answer in turn",
        tally="replicas disagree",
        lines=(
            f"Connections are answered with {count(max(len(counted), 2), 'toolset')} in turn"
            + (":" if counted else f": {_both(event, ' and ')}."),
            "Most often a rollout that stopped half-way, or an instance that was not updated.",
        ),
        items=counted,
        since=began(event),
        release=release(event.details),
        affected="clients get one or the other by chance",
        fix=voice.fix("release/replicas"),
    )


def reminder(event: Event, voice: Voice) -> Note:
    """What is still not right."""
    told = event.details.get("incidents")
    incidents = [item for item in told if isinstance(item, Mapping)] if isinstance(told, list | tuple) else []
    if not incidents:
        lasted = duration(event.at - began(event))
        what = subject_words(event.subject)
        return Note(
            server=event.server,
            level=event.level,
            phrase=f"{what} still {value_words(event.after)}, for {lasted}",
            tally="still open",
            lines=(f"{what} is still {value_words(event.after)}.",),
            since=began(event),
            fix=voice.fix(_check(event.subject)),
        )
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{count(len(incidents), 'problem')} still open",
        tally="still open",
        lines=(f"{count(len(incidents), 'problem')} still open:",),
        items=tuple(_incident(item, event.at) for item in incidents),
    )


def era_changed(event: Event, voice: Voice) -> Note:
    """The server speaks in other eras of the protocol than before."""
    before, after = eras(event.before), eras(event.after)
    lost = [era for era in before if era not in after]
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"protocol eras changed - {_and(before)} -> {_and(after)}",
        tally="era changed",
        lines=(f"The server speaks other eras of the protocol: {_and(before)} -> {_and(after)}.",),
        since=began(event),
        release=release(event.details),
        affected=f"clients that speak only {_and(lost)}" if lost else None,
        fix=voice.fix("mcp/era-coverage") if lost else None,
    )


def subject_words(subject: str | None) -> str:
    """``transport/endpoint`` for a check, ``the toolset (modern)`` for a toolset."""
    kind, _, rest = (subject or "").partition(":")
    if kind == "toolset":
        era = rest.partition(":")[0]
        return f"the toolset ({label(era)})" if era else "the toolset"
    return label(rest or kind or "it")


def value_words(value: str | None) -> str:
    """A state in words, or the short form of a fingerprint."""
    algorithm, _, digest = (value or "").partition(":")
    if "." in digest and algorithm.startswith("dw"):
        return short_pair(str(value))
    return words(value)


def short_pair(pair: str) -> str:
    """``dw1:1a2b3c4d.5e6f7a8b``: enough of a fingerprint to tell two apart."""
    algorithm, _, digests = pair.partition(":")
    return f"{label(algorithm)}:{'.'.join(label(part)[:8] for part in digests.split('.'))}"


def eras(value: str | None) -> list[str]:
    """The eras in an era event's value, ``legacy+modern``; ``http+sse`` is one era."""
    text = (value or "").replace("http+sse", "http/sse")
    return [
        foreign(era, 20).replace("http/sse", "http+sse") for era in text.replace(",", "+").split("+") if era
    ]


def _both(event: Event, between: str) -> str:
    return between.join((value_words(event.before), value_words(event.after)))


def _and(names: list[str]) -> str:
    return " and ".join(names) or "none"


def _check(subject: str | None) -> str:
    return label((subject or "").removeprefix("check:"))


def _incident(incident: Mapping[str, Json], now: datetime) -> str:
    since = time_of(incident.get("since")) or time_of(incident.get("opened_at"))
    lasted = f", for {duration(now - since)}" if since else ""
    server = f"{label(str(incident['server']))}: " if incident.get("server") else ""
    value = value_words(str(incident.get("value") or ""))
    return f"{server}{subject_words(str(incident.get('subject') or ''))} {value}{lasted}"
