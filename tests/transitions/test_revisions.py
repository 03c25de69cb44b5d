"""Revisions are watched like tool lists: confirmed, accepted by policy, told once, and again when back."""

from dataclasses import replace
from datetime import timedelta
from itertools import cycle

import pytest

from driftwatch.model import Era, EventKind, Level, Trigger
from driftwatch.transitions import Policy, accept
from tests.transitions.timeline import HEALTHY, START, Timeline, View

HOUR = timedelta(hours=1)
SUBJECT = "revision:legacy"
OFFERS = "revision:modern"
NEWEST = HEALTHY.offering("abc", Era.LEGACY).speaking("2025-11-25", era=Era.LEGACY)
OLDER = NEWEST.speaking("2025-06-18", era=Era.LEGACY)
OLDEST = NEWEST.speaking("2024-11-05", era=Era.LEGACY)


def begun(view: View = NEWEST, policy: Policy | None = None) -> Timeline:
    timeline = Timeline(policy=policy) if policy else Timeline()
    timeline.probe(view)
    return timeline


def told(timeline: Timeline) -> list[str]:
    return [alert for alert in timeline.alerts if "revision_changed" in alert]


def test_a_lower_revision_is_told_once_with_what_clients_lose() -> None:
    timeline = begun()
    timeline.run(HOUR, NEWEST)
    timeline.run(24 * HOUR, OLDER)
    assert timeline.alerts == [f"warning revision_changed {SUBJECT} 2025-11-25 -> 2025-06-18"]
    (event,) = timeline.of(EventKind.REVISION_CHANGED)
    assert event.details == {
        "era": "legacy",
        "before": ["2025-11-25"],
        "after": ["2025-06-18"],
        "loses": True,
        "accepted": False,
        "baseline": ["2025-11-25"],
        "duration_s": None,
        "incident": event.details["incident"],
        "applicable": [],
        "inapplicable": [],
    }
    assert timeline.memory
    assert SUBJECT in timeline.memory.incidents


def test_a_higher_revision_takes_nothing_away_and_is_accepted() -> None:
    timeline = begun(OLDER, Policy(accept="manual"))
    assert timeline.probes(4, NEWEST) == [f"info revision_changed {SUBJECT} 2025-06-18 -> 2025-11-25"]
    assert timeline.memory
    assert timeline.memory.states[SUBJECT].accepted == "2025-11-25"
    assert timeline.memory.incidents == {}


def test_a_list_of_offers_that_gains_and_loses_a_revision() -> None:
    some, more = (HEALTHY.speaking("2026-07-28", *also) for also in ((), ("2025-11-25",)))
    timeline = begun(some)
    gained = f"info revision_changed {OFFERS} 2026-07-28 -> 2025-11-25+2026-07-28"
    assert timeline.probes(3, more) == [gained]
    assert timeline.probes(3, some) == [
        f"warning revision_changed {OFFERS} 2025-11-25+2026-07-28 -> 2026-07-28"
    ]


def test_a_revision_that_nobody_knows_is_no_gain() -> None:
    timeline = begun()
    strange = NEWEST.speaking("2025-11-26", era=Era.LEGACY)
    assert timeline.probes(3, strange) == [f"warning revision_changed {SUBJECT} 2025-11-25 -> 2025-11-26"]


def test_a_return_to_the_accepted_revision_ends_the_incident_and_says_how_long_it_lasted() -> None:
    timeline = begun()
    timeline.run(2 * HOUR, OLDER)
    timeline.run(2 * HOUR, NEWEST)
    assert told(timeline)[1:] == [f"info revision_changed {SUBJECT} 2025-06-18 -> 2025-11-25"]
    (_, back) = timeline.of(EventKind.REVISION_CHANGED)
    assert back.details["duration_s"] >= HOUR.total_seconds()
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_halfway_back_is_no_acceptance() -> None:
    timeline = begun()
    timeline.probes(3, OLDEST)
    assert timeline.probes(3, OLDER) == [f"info revision_changed {SUBJECT} 2024-11-05 -> 2025-06-18"]
    assert timeline.memory
    assert timeline.memory.states[SUBJECT].accepted == "2025-11-25"
    assert SUBJECT in timeline.memory.incidents


def test_a_blip_is_for_the_history_alone() -> None:
    timeline = begun()
    assert timeline.probes(2, OLDER) + timeline.probes(4, NEWEST) == []
    assert [event.subject for event in timeline.of(EventKind.BLIP)] == [SUBJECT]


def test_a_person_accepts_a_revision_by_its_name() -> None:
    timeline = begun()
    timeline.probes(3, OLDER)
    assert timeline.memory
    changes = accept(timeline.memory, "2025-06-18", by="ann", reason="meant", now=START + HOUR)
    (state,), (incident,) = changes.states, changes.incidents
    assert (state.subject, state.accepted) == (SUBJECT, "2025-06-18")
    assert incident.closed_at == START + HOUR


def test_a_policy_that_accepts_everything_accepts_a_lower_one() -> None:
    timeline = begun(policy=Policy(accept="always"))
    assert timeline.probes(3, OLDER) == [f"warning revision_changed {SUBJECT} 2025-11-25 -> 2025-06-18"]
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_a_deploy_accepts_a_higher_revision_but_none_that_locks_clients_out() -> None:
    for view, accepted in ((NEWEST, "2025-11-25"), (OLDEST, "2025-06-18")):
        timeline = begun(OLDER)
        for _ in range(3):
            timeline.probe(view, trigger=Trigger.DEPLOY)
        assert timeline.memory
        assert timeline.memory.states[SUBJECT].accepted == accepted


def test_a_memory_from_before_revisions_were_watched_takes_them_silently() -> None:
    timeline = begun()
    assert timeline.memory
    states = {
        subject: state
        for subject, state in timeline.memory.states.items()
        if not subject.startswith("revision:")
    }
    timeline.memory = replace(timeline.memory, states=states)
    assert timeline.probes(4, OLDER) == []
    assert timeline.memory.states[SUBJECT].accepted == "2025-06-18"
    assert SUBJECT in timeline.of(EventKind.REBASED)[-1].details["added"]


def test_edited_settings_move_a_revision_without_a_word() -> None:
    timeline = begun()
    timeline.settings = "other"
    assert timeline.probes(4, OLDER) == []


def test_instances_that_settle_on_different_revisions_are_no_change() -> None:
    timeline = begun()
    differ = "observed_risk:revisions-differ"
    in_turn = cycle([OLDER.but(release__replicas=differ), NEWEST.but(release__replicas=differ)])
    timeline.run(12 * HOUR, lambda _: next(in_turn))
    assert told(timeline) == []


def test_rules_that_come_with_a_revision_are_told_with_it() -> None:
    timeline = begun(OLDER.but(tool__name_charset="not_checked:not-applicable"))
    assert timeline.probes(4, NEWEST) == [f"info revision_changed {SUBJECT} 2025-06-18 -> 2025-11-25"]
    (event,) = timeline.of(EventKind.REVISION_CHANGED)
    assert event.details["applicable"] == ["tool/name-charset"]


def test_the_incident_of_an_era_that_is_gone_is_closed() -> None:
    timeline = begun()
    timeline.probes(3, OLDER)
    timeline.probes(3, HEALTHY)
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_a_loss_is_a_warning_and_a_gain_is_not() -> None:
    timeline = begun()
    timeline.probes(3, OLDER)
    timeline.probes(3, NEWEST)
    levels = [event.level for event in timeline.of(EventKind.REVISION_CHANGED)]
    assert levels == [Level.WARNING, Level.INFO]


@pytest.mark.parametrize(
    ("revision", "value"),
    [
        ("20\ud80025", "20\\ud80025"),
        ("1+1\x00 \u202e", "1\\u002b1\\u0000\\u0020\\u202e"),
        ("x" * 50, "x" * 40),
        ("", ""),
    ],
)
def test_a_value_can_be_stored_and_typed_whatever_a_server_calls_its_revision(
    revision: str, value: str
) -> None:
    timeline = begun(HEALTHY.offering("abc", Era.LEGACY).speaking(revision, era=Era.LEGACY))
    assert timeline.value(SUBJECT) == value
