"""Events and our own documentation in the words of a page (pure)."""

import functools
import re

from markupsafe import Markup, escape

from driftwatch.alerts.fold import fold
from driftwatch.alerts.wording import Note, Voice, describe
from driftwatch.model import Event, EventKind

CHANGES = (
    EventKind.BASELINE,
    EventKind.ADDED_WITH_PROBLEMS,
    EventKind.CHANGE,
    EventKind.RECOVERY,
    EventKind.COVERAGE_LOST,
    EventKind.COVERAGE_BACK,
    EventKind.TOOLSET_CHANGED,
    EventKind.TOOLSET_RETURNED,
    EventKind.ERA_CHANGED,
    EventKind.REVISION_CHANGED,
    EventKind.FLAPPING,
    EventKind.UNSETTLED,
    EventKind.SETTLED,
    EventKind.TLS_RENEWED,
)
"""Kinds that say something about a server has become another."""

_CODE = re.compile(r"`([^`]+)`")


def anchor(check: str) -> str:
    """A check's id as the name of a place on a page."""
    return check.replace("/", "-")


def note(event: Event, voice: Voice) -> Note:
    """What one event says, in the words of a message."""
    (story,) = fold([event])
    return describe(story, voice)


def headline(event: Event, voice: Voice) -> str:
    """What one event says, in one line."""
    if event.kind is EventKind.BASELINE:
        return "first probe, recorded as the baseline"
    return note(event, voice).phrase


@functools.cache
def prose(text: str) -> Markup:
    """Our own documentation as HTML: paragraphs, examples, code."""
    parts = []
    for paragraph in text.split("\n\n"):
        body = escape(paragraph)
        if paragraph.startswith("    "):
            parts.append(f'<pre tabindex="0"><code>{body}</code></pre>')
        else:
            parts.append(_CODE.sub(r"<code>\1</code>", f"<p>{body}</p>"))
    return Markup("".join(parts))  # noqa: S704 - every paragraph was escaped
