"""The revisions that a server speaks, as its page and ``status`` show them."""

from datetime import UTC, datetime
from typing import Any

from driftwatch.model import Era
from driftwatch.transitions import ERAS, Memory, SubjectState
from driftwatch.transitions.subjects import revision_subject
from driftwatch.views.spoken import Spoken, spoken_now

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
MODERN, LEGACY = revision_subject(Era.MODERN), revision_subject(Era.LEGACY)


def shown(values: dict[str, str], **changes: Any) -> list[Spoken]:
    states = {
        subject: SubjectState(
            subject=subject,
            confirmed=value,
            confirmed_since=NOON,
            last_observed_at=NOON,
            **{"accepted": value, **changes},
        )
        for subject, value in values.items()
    }
    return list(spoken_now(Memory(server="api", states=states)))


def test_an_era_offers_a_list_or_settles_on_one() -> None:
    modern, legacy = shown({ERAS: "modern+legacy", MODERN: "2025-11-25+2026-07-28", LEGACY: "2025-06-18"})
    assert (modern.revisions, modern.offered) == ("2025-11-25 and 2026-07-28", True)
    assert (legacy.revisions, legacy.offered) == ("2025-06-18", False)


def test_an_era_that_is_no_longer_spoken_is_not_shown() -> None:
    assert [each.era for each in shown({ERAS: "legacy", MODERN: "2026-07-28", LEGACY: "2025-06-18"})] == [
        Era.LEGACY
    ]


def test_without_any_known_era_nothing_is_shown() -> None:
    assert shown({LEGACY: "2025-06-18"}) == []


def test_what_was_accepted_and_what_may_come_are_named_where_they_differ() -> None:
    told = {ERAS: "legacy", LEGACY: "2025-11-25"}
    (same,) = shown(told)
    (other,) = shown(told, accepted="2025-06-18", pending="2025-03-26")
    assert (same.accepted, same.pending) == (None, None)
    assert (other.accepted, other.pending) == ("2025-06-18", "2025-03-26")
