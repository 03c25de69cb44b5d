"""The protocol revisions that a server settles on or offers: which came, which went, who needs them."""

from collections.abc import Iterator, Sequence

from driftwatch.alerts.details import strings
from driftwatch.alerts.text import foreign, joined
from driftwatch.alerts.wording.era import rules
from driftwatch.alerts.wording.note import Note, Voice, began, gap_line, release, span
from driftwatch.alerts.wording.subjects import accepting, subject_words
from driftwatch.model import KNOWN_REVISIONS, Era, Event, position

_BROUGHT = {
    "2025-03-26": "tool annotations and audio",
    "2025-06-18": "structured tool results, titles, resource links and elicitation",
    "2025-11-25": "icons, tasks and elicitation by URL",
}
"""What users of a server notice most of what a revision brought."""


def changed(event: Event, voice: Voice) -> Note:
    """Another revision is settled on, or another list of them is offered."""
    details = event.details
    before, after = strings(details.get("before")), strings(details.get("after"))
    moved = f"{_words(before)} -> {_words(after)}"
    loses, lasted = bool(details.get("loses")), span(details.get("duration_s"))
    offers = details.get("era") == Era.MODERN
    what = "offered revisions" if offers else "protocol revision"
    gained, lost = ((), ()) if offers else (_passed(before, after), _passed(after, before))
    return Note(
        server=event.server,
        level=event.level,
        phrase=f"{what} {'as accepted again' if lasted else 'changed'} - {moved}",
        tally=f"{what} {'as accepted again' if lasted else 'changed'}",
        lines=(
            f"{subject_words(event.subject)}: {moved}",
            *_brought("Now possible", gained),
            *_brought("No longer possible", lost),
            *((f"This is what was accepted; it had been otherwise for {lasted}.",) if lasted else ()),
            *rules(event),
            *gap_line(details),
        ),
        since=None if lasted else began(event),
        release=release(details),
        affected=_affected(before, after, lost) if loses else "existing clients keep working",
        baseline=_baseline(event),
        fix=_fix(event, voice) if loses else None,
    )


def _words(revisions: Sequence[str]) -> str:
    return joined(foreign(revision, 40) for revision in revisions or ("unknown",))


def _passed(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """Every revision on the way up from one to another; none where one of them does not exist."""
    if not before or not after or not set(KNOWN_REVISIONS).issuperset((*before, *after)):
        return ()
    return KNOWN_REVISIONS[max(map(position, before)) + 1 : max(map(position, after)) + 1]


def _brought(begins: str, revisions: Sequence[str]) -> Iterator[str]:
    told = [f"{_BROUGHT[revision]} ({revision})" for revision in revisions if revision in _BROUGHT]
    if told:
        yield f"{begins}: {'; '.join(told)}."


def _affected(before: Sequence[str], after: Sequence[str], lost: Sequence[str]) -> str:
    unknown = [revision for revision in after if revision not in KNOWN_REVISIONS]
    if unknown:
        return f"clients that do not know {_words(unknown)}"
    only = lost or [revision for revision in before if revision not in after]
    return f"clients that speak only {' or '.join(foreign(revision, 40) for revision in only)}"


def _baseline(event: Event) -> str:
    if event.details.get("accepted"):
        return "what is spoken now; nothing is to be accepted by hand"
    return f"still {_words(strings(event.details.get('baseline')))}, until the change is accepted"


def _fix(event: Event, voice: Voice) -> str | None:
    if event.server is None or event.details.get("accepted"):
        return voice.fix("mcp/protocol-version")
    accept = voice.command(accepting(event.server, event.after or ""))
    return f"If it is meant, accept it: `{accept}`. If not, look at the release that brought it."
