"""The revisions that a server speaks in each era, as its page and ``status`` show them (pure)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from driftwatch.alerts.wording.subjects import value_words
from driftwatch.model import Era
from driftwatch.transitions import ERAS, Memory
from driftwatch.transitions.subjects import revision_subject
from driftwatch.transitions.values import eras_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """The revisions of one era that is spoken now."""

    era: Era
    revisions: str
    """``2025-11-25``, or every one that is offered: ``2025-11-25 and 2026-07-28``."""
    offered: bool
    """Whether they are a list to choose from; else the one that the two sides settle on."""
    since: datetime
    value: str
    """As ``accept`` takes it."""
    accepted: str | None
    """What was accepted instead; None where these are."""
    pending: str | None
    """What the last probes saw instead, as long as it is not confirmed."""


def spoken_now(memory: Memory) -> Iterator[Spoken]:
    """One for each era that is spoken and of which the revisions are known."""
    eras = memory.states.get(ERAS)
    for era in Era:
        state = memory.states.get(revision_subject(era))
        if state is None or eras is None or era not in eras_of(eras.confirmed):
            continue
        yield Spoken(
            era=era,
            revisions=value_words(state.confirmed),
            offered=era is Era.MODERN,
            since=state.confirmed_since,
            value=state.confirmed,
            accepted=value_words(state.accepted) if state.accepted != state.confirmed else None,
            pending=value_words(state.pending) if state.pending else None,
        )
