"""What damping says instead of many messages: flapping, settled, replicas that disagree."""

from collections.abc import Mapping

from driftwatch.alerts.text import count, duration, label
from driftwatch.alerts.wording.doors import closed_door, way_in
from driftwatch.alerts.wording.era import rules
from driftwatch.alerts.wording.note import Note, Voice, began, release, span
from driftwatch.alerts.wording.subjects import subject_words, value_words
from driftwatch.model import Event
from driftwatch.transitions.subjects import check_of, is_toolset


def flapping(event: Event, voice: Voice) -> Note:
    """A subject changed too often to tell every time."""
    what = _about(event)
    window = span(event.details.get("window_s"))
    number = event.details.get("changes")
    how_often = f"{count(number, 'change')} in {window}" if isinstance(number, int) and window else "often"
    settle = event.details.get("settle")
    quiet = f"{count(settle, 'probe')} in a row agree" if isinstance(settle, int) else "it has settled"
    check = _check(event.subject)
    ways = [way.partition(" - ")[0] for value in (event.before, event.after) if (way := way_in(check, value))]
    closed = closed_door(check, event.before) or closed_door(check, event.after)
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{' and '.join(ways)} in turn - {how_often}" if ways else f"{what} is flapping - {how_often}",
        tally="flapping",
        lines=(
            f"{what}: {value_words(event.before)} <-> {value_words(event.after)}, {how_often}",
            f"The last change was to {value_words(event.after)}.",
            f"Every change is recorded. The next message about it comes when {quiet}, or for a new value.",
            *rules(event),
        ),
        since=began(event),
        release=release(event.details),
        fix=closed.fix if closed else voice.fix(check),
    )


def settled(event: Event, voice: Voice) -> Note:
    """A toolset, or the eras of a server, are steady again."""
    what, lasted = _about(event), duration(event.at - began(event))
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{what} has settled",
        tally="settled",
        lines=(
            f"{what}: steady again, {value_words(event.after)}",
            f"It had been unsteady for {lasted}, since {voice.at(began(event))}.",
            *rules(event),
        ),
        release=release(event.details),
    )


def unsettled(event: Event, voice: Voice) -> Note:
    """Answers take turns and none of them lasts: most often two instances behind one address."""
    what = _about(event)
    toolset = is_toolset(event.subject)
    values = _values(event)
    many = count(len(values), "toolset" if toolset else "state")
    settle = event.details.get("settle")
    quiet = (
        f" The next message about it comes when {count(settle, 'probe')} in a row agree." if settle else ""
    )
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"replicas disagree - {many} in turn" if toolset else f"{what} is unsettled - {many} in turn",
        tally="replicas disagree" if toolset else "unsettled",
        lines=(
            f"{what}: {many} in turn, none of them lasts",
            f"Most often a rollout that stopped half-way, or one instance that was left behind.{quiet}",
        ),
        items=values,
        since=began(event),
        release=release(event.details),
        affected="clients get one or the other by chance" if toolset else None,
        fix=voice.fix("release/replicas" if toolset else _check(event.subject)),
    )


def _about(event: Event) -> str:
    """The subject; a toolset with every era of which the same is told."""
    eras = event.details.get("era")
    if is_toolset(event.subject) and eras:
        return f"Toolset ({label(str(eras))})"
    return subject_words(event.subject)


def _values(event: Event) -> tuple[str, ...]:
    """The values that take turns, with how often each was seen."""
    told = event.details.get("values")
    if isinstance(told, Mapping) and len(told) > 1:
        return tuple(f"{value_words(str(value))} ({number} times)" for value, number in told.items())
    return value_words(event.before), value_words(event.after)


def _check(subject: str | None) -> str:
    return label(check_of(subject or ""))
