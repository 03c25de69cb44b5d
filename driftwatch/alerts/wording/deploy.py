"""Releases that changed nothing, changed something for a moment, or could not be read."""

from collections.abc import Mapping
from dataclasses import replace

from driftwatch.alerts.text import count, foreign, label
from driftwatch.alerts.wording.doors import ROOT, down_words
from driftwatch.alerts.wording.note import Note, Release, Voice, began, release, state, words
from driftwatch.alerts.wording.subjects import short_pair, subject_words
from driftwatch.model import Event, Json, State
from driftwatch.toolset import Diff


def deployed(event: Event, voice: Voice) -> Note:
    """The run after a release is over, and this is all that there is to say."""
    blip = event.details.get("blip")
    if isinstance(blip, Mapping):
        return _blip(event, blip)
    if event.details.get("state") == "inconclusive":
        return _inconclusive(event, voice)
    if event.details.get("told"):
        return _told(event)
    if event.details.get("state") == "unsettled":
        return _unsettled(event)
    of = _release(event, "of")
    return Note(
        server=event.server,
        level=event.level,
        phrase="unchanged",
        tally="unchanged",
        lines=(f"The toolset and every check are as before: {_reads(event)} agree.",),
        release=of,
        alike=f"unchanged by {of.line}" if of else None,
    )


def _told(event: Event) -> Note:
    """What the release did has events of its own; this one is for the history."""
    how = label(str(event.details.get("state") or "over"))
    verdict = label(str(event.details.get("verdict") or "unknown"))
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{how} - {verdict}",
        tally="deploy over",
        lines=(f"The run is over: {how}, {verdict}, {_reads(event)}.",),
        since=began(event),
        release=_release(event, "after"),
    )


def _blip(event: Event, blip: Mapping[str, Json]) -> Note:
    """The release showed another list for a moment; it was never confirmed."""
    what = subject_words(str(blip.get("subject") or ""))
    times = blip.get("times")
    read = f"read {count(times, 'time')}" if isinstance(times, int) else "read"
    other = short_pair(str(blip.get("fingerprint") or ""))
    told = blip.get("diff")
    try:
        diff = Diff.from_json(told) if isinstance(told, Mapping) else None
    except (KeyError, TypeError):  # written by another version
        diff = None
    return Note(
        server=event.server,
        level=event.level,
        phrase="toolset changed for a moment",
        tally="toolset changed and back",
        lines=(
            f"{what}: another list, {other}, was {read} and is gone again.",
            "A client that listed the tools in between may still hold the other list.",
        ),
        items=tuple(foreign(change.message) for change in diff.changes) if diff else (),
        since=began(event),
        release=_release(event, "of"),
    )


def _inconclusive(event: Event, voice: Voice) -> Note:
    """The time was up, and the server had not shown enough to judge."""
    root = str(event.details.get("root") or "")
    down = down_words(ROOT, root)
    last = () if state(root) == State.VERIFIED else (f"The last one: {ROOT} {words(root)}.",)
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"still down - {down}" if down else "not settled - too few answers",
        tally="still down" if down else "not settled",
        lines=(
            f"What this release did is not known: {_reads(event)}, and too few of them saw the tools.",
            *last,
        ),
        since=began(event),
        release=_release(event, "after"),
        affected="every client" if down else None,
        fix=voice.fix(ROOT),
    )


def _unsettled(event: Event) -> Note:
    """The time was up while answers still differed, as they did before the release."""
    return Note(
        server=event.server,
        level=event.level,
        phrase="not settled - answers differ",
        tally="not settled",
        lines=(f"Which of them the release left is not known: {_reads(event)}, and they do not agree.",),
        since=began(event),
        release=_release(event, "after"),
    )


def _release(event: Event, relation: str) -> Release | None:
    found = release(event.details)
    return replace(found, relation=relation) if found else None


def _reads(event: Event) -> str:
    reads = event.details.get("reads")
    return count(reads, "read") if isinstance(reads, int) else "several reads"
