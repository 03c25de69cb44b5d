"""What belongs into the history only, and what people did."""

from collections.abc import Mapping

from driftwatch.alerts.details import strings
from driftwatch.alerts.text import count, duration, foreign, joined, label, listed
from driftwatch.alerts.wording.note import Note, Voice, began, span, time_of
from driftwatch.alerts.wording.subjects import subject_words, value_words
from driftwatch.model import Event, Json, State


def baseline(event: Event, _voice: Voice) -> Note:
    """A server was seen for the first time."""
    told = event.details.get("states")
    states = told if isinstance(told, Mapping) else {}
    counts = ", ".join(f"{states[state.value]} {state.words}" for state in State if states.get(state.value))
    return _note(event, f"first probe, recorded as the baseline{f': {counts}' if counts else ''}")


def blip(event: Event, _voice: Voice) -> Note:
    """A change that was gone before it was confirmed."""
    sightings = event.details.get("sightings")
    often = f", seen {count(sightings, 'time')}" if isinstance(sightings, int) else ""
    lasted = duration(event.at - began(event))
    what = f"{subject_words(event.subject)} {value_words(event.after)}"
    return _note(event, f"{what} for {lasted}{often} and not confirmed")


def rebased(event: Event, _voice: Voice) -> Note:
    """Results moved because driftwatch or the server's settings changed."""
    moved = event.details.get("moved")
    numbers = (
        (len(moved) if isinstance(moved, list | tuple) else 0, "moved"),
        (len(strings(event.details.get("added"))), "new"),
        (len(strings(event.details.get("removed"))), "gone"),
    )
    told = [f"{number} {what}" for number, what in numbers if number]
    return _note(event, f"taken as it is, without an alert: {joined(told) if told else 'nothing moved'}")


def accepted(event: Event, _voice: Voice) -> Note:
    """A person accepted a toolset or a revision."""
    value = value_words(event.after)
    return _note(event, f"{subject_words(event.subject)} {value} accepted{_by(event)}{_why(event)}")


def acked(event: Event, _voice: Voice) -> Note:
    """A person acknowledged an incident."""
    return _note(event, f"{subject_words(event.subject)} {value_words(event.after)} acknowledged{_by(event)}")


def silenced(event: Event, voice: Voice) -> Note:
    """A person began a silence."""
    until = time_of(event.details.get("ends_at"))
    end = f" until {voice.at(until)}" if until else ""
    return _note(event, f"{_about(event)} silenced{end}{_by(event)}{_why(event)}")


def unsilenced(event: Event, _voice: Voice) -> Note:
    """A person ended a silence."""
    return _note(event, f"the silence of {_about(event)} lifted{_by(event)}")


def server_added(event: Event, _voice: Voice) -> Note:
    """The configuration names a server that it did not name before."""
    return _note(event, "added to the configuration")


def server_removed(event: Event, _voice: Voice) -> Note:
    """The configuration does not name a server any more."""
    return _note(event, "removed from the configuration")


def server_renamed(event: Event, _voice: Voice) -> Note:
    """A server goes on under another name."""
    return _note(event, f"was called {label(event.before)} until now" if event.before else "has a new name")


def config_reloaded(event: Event, _voice: Voice) -> Note:
    """Another configuration is in force."""
    moved = [
        f"{count(len(names), 'server')} {word}"
        for word in ("added", "removed", "renamed", "changed")
        if isinstance(names := event.details.get(word), list) and names
    ]
    restart = strings(event.details.get("restart"))
    later = f"; {listed(map(label, restart))} after a restart" if restart else ""
    return _note(
        event, f"the changed configuration is in force{f': {joined(moved)}' if moved else ''}{later}"
    )


def monitor_gap(event: Event, _voice: Voice) -> Note:
    """No probe was made for a while."""
    lasted = span(event.details.get("gap_s"))
    return _note(event, f"driftwatch had not probed{f' for {lasted}' if lasted else ''}")


def _note(event: Event, phrase: str) -> Note:
    return Note(
        server=event.server,
        level=event.level,
        phrase=phrase,
        tally=event.kind.value.replace("_", " "),
        lines=(f"{phrase[:1].upper()}{phrase[1:]}.",),
    )


def _by(event: Event) -> str:
    by = event.details.get("by")
    return f" by {foreign(str(by), 40)}" if by else ""


def _why(event: Event) -> str:
    reason = event.details.get("reason")
    return f": {foreign(str(reason), 160)}" if reason else ""


def _about(event: Event) -> str:
    """The servers, tags and checks of a silence."""
    details: Mapping[str, Json] = event.details
    whom = [*map(label, strings(details.get("servers")))]
    whom += [f"tag {label(tag)}" for tag in strings(details.get("tags"))]
    checks = strings(details.get("checks"))
    about = listed(whom) if whom else "everything"
    return f"{listed(map(label, checks))} of {about}" if checks else about
