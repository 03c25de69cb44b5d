"""Whole messages about protocol revisions, as they arrive."""
# ruff: noqa: E501 - a line of a message is as long as it arrives

from dataclasses import replace
from typing import Any

from driftwatch.model import EventKind, Json, Level
from tests.alerts.told import Message

LEGACY: dict[str, Json] = {"subject": "revision:legacy", "era": "legacy", "duration_s": None}
MODERN: dict[str, Json] = {"subject": "revision:modern", "era": "modern", "duration_s": None}


def test_a_lower_revision_that_a_release_brought(event: Any, message: Message) -> None:
    lower = event(
        EventKind.REVISION_CHANGED,
        Level.WARNING,
        **LEGACY,
        before="2025-11-25",
        after="2025-06-18",
    )
    details = {
        **lower.details,
        "before": ["2025-11-25"],
        "after": ["2025-06-18"],
        "loses": True,
        "accepted": False,
        "baseline": ["2025-11-25"],
        "release": {"ref": "v42", "relation": "by"},
        "inapplicable": ["errors/tool-arguments"],
    }
    assert (
        message(replace(lower, details=details))
        == """\
[driftwatch] api-prod: protocol revision changed - 2025-11-25 -> 2025-06-18 by release v42

Protocol revision (legacy): 2025-11-25 -> 2025-06-18
No longer possible: icons, tasks and elicitation by URL (2025-11-25).
No longer checked: errors/tool-arguments.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Changed by release: v42
Affected: clients that speak only 2025-11-25
Baseline: still 2025-11-25, until the change is accepted
Fix: If it is meant, accept it: `driftwatch accept api-prod --revision 2025-06-18 --reason "..."`. If not, look at the release that brought it.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_higher_revision(event: Any, message: Message) -> None:
    higher = event(
        EventKind.REVISION_CHANGED,
        Level.INFO,
        **LEGACY,
        before="2025-03-26",
        after="2025-11-25",
    )
    details = {
        **higher.details,
        "before": ["2025-03-26"],
        "after": ["2025-11-25"],
        "loses": False,
        "accepted": True,
        "baseline": ["2025-11-25"],
    }
    assert (
        message(replace(higher, details=details))
        == """\
[driftwatch] api-prod: protocol revision changed - 2025-03-26 -> 2025-11-25

Protocol revision (legacy): 2025-03-26 -> 2025-11-25
Now possible: structured tool results, titles, resource links and elicitation (2025-06-18); icons, tasks and elicitation by URL (2025-11-25).
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: existing clients keep working
Baseline: what is spoken now; nothing is to be accepted by hand

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_an_offer_that_is_gone(event: Any, message: Message) -> None:
    less = event(
        EventKind.REVISION_CHANGED,
        Level.WARNING,
        **MODERN,
        before="2025-06-18+2025-11-25+2026-07-28",
        after="2025-11-25+2026-07-28",
    )
    details = {
        **less.details,
        "before": ["2025-06-18", "2025-11-25", "2026-07-28"],
        "after": ["2025-11-25", "2026-07-28"],
        "loses": True,
        "accepted": False,
        "baseline": ["2025-06-18", "2025-11-25", "2026-07-28"],
    }
    assert (
        message(replace(less, details=details))
        == """\
[driftwatch] api-prod: offered revisions changed - 2025-06-18, 2025-11-25 and 2026-07-28 -> 2025-11-25 and 2026-07-28

Offered revisions (modern): 2025-06-18, 2025-11-25 and 2026-07-28 -> 2025-11-25 and 2026-07-28
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: clients that speak only 2025-06-18
Baseline: still 2025-06-18, 2025-11-25 and 2026-07-28, until the change is accepted
Fix: If it is meant, accept it: `driftwatch accept api-prod --revision 2025-11-25+2026-07-28 --reason "..."`. If not, look at the release that brought it.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_revision_that_is_back(event: Any, message: Message) -> None:
    back = event(
        EventKind.REVISION_CHANGED,
        Level.INFO,
        **{**LEGACY, "duration_s": 7200.0},
        before="2025-06-18",
        after="2025-11-25",
    )
    details = {
        **back.details,
        "before": ["2025-06-18"],
        "after": ["2025-11-25"],
        "loses": False,
        "accepted": True,
        "baseline": ["2025-11-25"],
    }
    assert (
        message(replace(back, details=details))
        == """\
[driftwatch] api-prod: protocol revision as accepted again - 2025-06-18 -> 2025-11-25

Protocol revision (legacy): 2025-06-18 -> 2025-11-25
Now possible: icons, tasks and elicitation by URL (2025-11-25).
This is what was accepted; it had been otherwise for 2 h.
Affected: existing clients keep working
Baseline: what is spoken now; nothing is to be accepted by hand

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_revision_that_nobody_knows_is_shown_without_its_tricks(event: Any, message: Message) -> None:
    strange = event(
        EventKind.REVISION_CHANGED,
        Level.WARNING,
        **LEGACY,
        before="2025-11-25",
        after="*20\u202e25*",
    )
    details = {
        **strange.details,
        "before": ["2025-11-25"],
        "after": ["*20\u202e25*"],
        "loses": True,
        "accepted": True,
        "baseline": ["*20\u202e25*"],
    }
    assert (
        message(replace(strange, details=details))
        == """\
[driftwatch] api-prod: protocol revision changed - 2025-11-25 -> *20\\u202e25*

Protocol revision (legacy): 2025-11-25 -> *20\\u202e25*
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: clients that do not know *20\\u202e25*
Baseline: what is spoken now; nothing is to be accepted by hand
Fix: Serve a newer revision beside the old one.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )
