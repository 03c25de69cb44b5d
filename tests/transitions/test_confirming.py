from dataclasses import replace
from datetime import timedelta

import pytest

from driftwatch.model import Depth, EventKind, Trigger
from driftwatch.transitions import Policy, check_subject
from tests.transitions.timeline import (
    AT_A_SHUT_DOOR,
    CHAIN,
    ENDPOINT,
    EXPIRY,
    FULL_ONLY,
    HEALTHY,
    MODERN,
    START,
    Timeline,
    View,
    down,
    pair,
)

MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
SLOW = HEALTHY.but(transport__content_type="failed:html")


def test_the_first_observation_is_a_baseline_that_nobody_is_told_of() -> None:
    timeline = Timeline()
    said = timeline.probe(HEALTHY.but(tool__name_charset="observed_risk:charset"))
    assert said == []
    (baseline,) = timeline.events
    assert baseline.kind is EventKind.BASELINE
    assert baseline.details["states"] == {"verified": 7, "failed": 0, "observed_risk": 1, "not_checked": 1}
    assert baseline.details["fingerprints"] == {MODERN: pair("abc")}
    assert timeline.memory
    state = timeline.memory.states[check_subject("tool/name-charset")]
    assert state.confirmed == state.accepted == "observed_risk:charset"


def test_what_is_failed_at_first_sight_is_told_once() -> None:
    timeline = Timeline()
    assert timeline.probe(SLOW) == ["error added_with_problems"]
    assert timeline.run(3 * HOUR, SLOW) == []
    (told,) = timeline.of(EventKind.ADDED_WITH_PROBLEMS)
    assert [item["check"] for item in told.details["results"]] == ["transport/content-type"]


def test_a_server_that_is_down_at_first_sight_is_one_event_with_its_consequences() -> None:
    timeline = Timeline()
    assert timeline.probe(down("refused")) == ["error added_with_problems"]
    (told,) = timeline.of(EventKind.ADDED_WITH_PROBLEMS)
    assert [item["check"] for item in told.details["results"]] == [ENDPOINT]
    assert "tools/pagination" in told.details["blocked"]


def test_nothing_is_said_while_nothing_changes() -> None:
    timeline = Timeline()
    timeline.run(timedelta(days=2), HEALTHY)
    assert [event.kind for event in timeline.events] == [EventKind.BASELINE]
    assert timeline.changes.intervals == ()
    assert timeline.changes.incidents == ()
    assert timeline.changes.confirm is None


def test_a_change_counts_when_three_observations_agree() -> None:
    timeline = Timeline()
    timeline.probes(4, HEALTHY)
    seen = timeline.now
    assert timeline.probes(2, SLOW) == []
    assert timeline.probe(SLOW) == ["error change transport/content-type verified -> failed:html"]
    (change,) = timeline.of(EventKind.CHANGE)
    assert change.since == seen
    assert change.at == timeline.now
    assert change.details["previous"]["state"] == "verified"
    assert change.details["result"]["code"] == "html"


def test_a_blip_is_history_and_not_an_alert() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    blipped = timeline.now
    timeline.probes(2, SLOW)
    assert timeline.probes(5, HEALTHY) == []
    (blip,) = timeline.of(EventKind.BLIP)
    assert (blip.before, blip.after, blip.since) == ("verified", "failed:html", blipped)
    assert blip.alerts is False
    assert blip.details["sightings"] == 2


def test_the_re_probes_come_15_and_45_seconds_after_the_first_sighting() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.now = first = START + HOUR
    for delay in (15, 45):
        timeline.probe(SLOW, depth=Depth.LIGHT)
        confirm = timeline.changes.confirm
        assert confirm
        assert (confirm.due_at, confirm.depth) == (first + timedelta(seconds=delay), Depth.LIGHT)
        timeline.now = confirm.due_at
    timeline.probe(SLOW, depth=Depth.LIGHT)
    assert timeline.changes.confirm is None
    assert len(timeline.alerts) == 1


def test_a_planned_re_probe_is_dropped_when_the_change_is_gone() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probe(SLOW)
    assert timeline.changes.confirm
    timeline.probe(HEALTHY)
    assert timeline.changes.confirm is None


def test_after_the_delays_are_used_up_the_next_regular_probe_decides() -> None:
    timeline = Timeline(policy=Policy(confirm=5))
    timeline.probe(HEALTHY)
    timeline.probes(3, SLOW)
    assert timeline.changes.confirm is None
    assert timeline.probes(2, SLOW) == ["error change transport/content-type verified -> failed:html"]


def test_a_re_probe_repeats_the_depth_that_saw_the_change() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    ended = HEALTHY.but(session__ended="failed:still-open")
    timeline.probe(ended, depth=Depth.FULL)
    timeline.now += MINUTE
    # A light probe comes in between. It says nothing about the session, and must not lose the re-probe.
    timeline.probe(ended, depth=Depth.LIGHT)
    assert timeline.changes.confirm
    assert timeline.changes.confirm.depth is Depth.FULL
    assert timeline.changes.confirm.due_at == timeline.now, "it is overdue"


def test_a_change_that_only_full_probes_see_is_confirmed_within_a_minute() -> None:
    timeline = Timeline()
    timeline.run(HOUR, HEALTHY)
    broken = HEALTHY.but(session__ended="failed:still-open")
    timeline.run(6 * HOUR, broken)
    (change,) = timeline.of(EventKind.CHANGE)
    assert change.since
    assert change.at - change.since == timedelta(seconds=45)


def test_a_re_probe_never_follows_at_once() -> None:
    """Otherwise a check that stays pending and cannot be seen would be asked for without a pause."""
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probe(SLOW)
    for _ in range(6):
        timeline.now += 5 * MINUTE
        timeline.probe(down(), depth=Depth.LIGHT)
        assert timeline.changes.confirm is None or timeline.changes.confirm.due_at > timeline.now


def test_what_a_light_probe_does_not_exercise_keeps_its_state() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY.but(session__ended="observed_risk:slow"))
    timeline.probes(6, HEALTHY, depth=Depth.LIGHT)
    assert timeline.check("session/ended") == "observed_risk:slow"
    assert timeline.memory
    assert timeline.memory.states[check_subject("session/ended")].last_observed_at == START


def test_a_failure_that_the_first_full_probe_finds_after_light_ones_is_told() -> None:
    timeline = Timeline()
    broken = HEALTHY.but(session__ended="failed:still-open")
    timeline.probes(3, broken, depth=Depth.LIGHT)
    assert timeline.alerts == []
    assert timeline.probe(broken, depth=Depth.FULL) == ["error added_with_problems"]


def test_a_check_that_an_upgrade_brings_is_taken_as_it_is() -> None:
    timeline = Timeline(catalogue=(ENDPOINT, CHAIN))
    timeline.probes(2, HEALTHY)
    timeline.catalogue = (*timeline.catalogue, "transport/content-type")
    assert timeline.probes(4, SLOW) == []
    (rebased,) = timeline.of(EventKind.REBASED)
    assert rebased.details["added"] == ["check:transport/content-type"]


def test_an_outage_that_shows_itself_in_turns_still_confirms() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    said = [timeline.probe(down(code)) for code in ("dns", "timeout", "refused")]
    assert said == [[], [], ["error change transport/endpoint verified -> failed:refused"]]


def test_another_code_of_the_same_state_has_to_agree_with_itself() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, down("dns"))
    for code in ("timeout", "refused", "timeout", "refused"):
        assert timeline.probe(down(code)) == []
    assert timeline.probes(2, down("refused")) == [
        "error change transport/endpoint failed:dns -> failed:refused"
    ]


def test_a_third_value_starts_the_count_again() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    risky = HEALTHY.but(transport__content_type="observed_risk:charset")
    assert timeline.probes(2, SLOW) == []
    assert timeline.probes(2, risky) == []
    assert timeline.probe(risky) == [
        "warning change transport/content-type verified -> observed_risk:charset"
    ]


def test_a_date_needs_no_second_look() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    soon = replace(HEALTHY, leaf="one", ends=START + timedelta(days=10))
    assert timeline.probe(soon) == ["warning tls_reminder tls/expiry"]
    assert timeline.check(EXPIRY) == "observed_risk:within-14-days"
    assert timeline.changes.confirm is None
    unseen = HEALTHY.but(tls__expiry="not_checked:no-certificate")
    assert timeline.probe(unseen) == []
    assert timeline.check(EXPIRY) == "observed_risk:within-14-days"


def test_a_confirmed_count_of_one_speaks_at_once() -> None:
    timeline = Timeline(policy=Policy(confirm=1))
    timeline.probe(HEALTHY)
    assert timeline.probe(SLOW) == ["error change transport/content-type verified -> failed:html"]
    assert timeline.changes.confirm is None


@pytest.mark.parametrize("trigger", list(Trigger))
def test_every_trigger_counts(trigger: Trigger) -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    assert timeline.probes(3, SLOW, trigger=trigger) == [
        "error change transport/content-type verified -> failed:html"
    ]


def test_every_full_only_check_of_the_timeline_is_in_its_catalogue() -> None:
    assert {*Timeline().catalogue, *AT_A_SHUT_DOOR} >= FULL_ONLY


def test_a_gap_in_the_watch_is_history_unless_the_clock_was_stepped() -> None:
    timeline = Timeline(policy=Policy(gap=timedelta(minutes=30)))
    timeline.run(HOUR, HEALTHY)
    timeline.now += 3 * HOUR
    assert timeline.probe(HEALTHY) == []
    (gap,) = timeline.of(EventKind.MONITOR_GAP)
    assert gap.details["gap_s"] > 3 * 3600
    assert gap.details["until"] == timeline.now.isoformat()
    timeline.now += 3 * HOUR
    timeline.dates = False
    timeline.probe(HEALTHY)
    assert len(timeline.of(EventKind.MONITOR_GAP)) == 1


@pytest.mark.parametrize("seconds", [1, 5, 7, 10, 14, 15, 16, 20, 29, 30, 31, 60, 90, 15 * 60])
@pytest.mark.parametrize(
    "shown",
    [
        HEALTHY.offering("abcd"),
        HEALTHY.offering("abd"),
        HEALTHY.speaking("2025-11-25"),
        SLOW,
        down(),
    ],
    ids=["tool added", "tool renamed", "revision", "content type", "down"],
)
def test_a_change_is_told_within_two_minutes_of_the_probe_that_met_it_at_any_interval(
    seconds: int, shown: View
) -> None:
    timeline = Timeline(interval=timedelta(seconds=seconds))
    timeline.run(HOUR, HEALTHY.speaking("2026-07-28"))
    timeline.run(timeline.interval + 2 * MINUTE, shown)
    assert len(timeline.alerts) == 1


@pytest.mark.parametrize("seconds", [1, 5, 10, 14, 15, 16, 31, 90, 15 * 60])
def test_lost_tools_are_told_soon_after_they_were_waited_for_at_any_interval(seconds: int) -> None:
    timeline = Timeline(interval=timedelta(seconds=seconds))
    timeline.run(HOUR, HEALTHY)
    timeline.run(timeline.policy.loss_confirm + timeline.interval + 2 * MINUTE, HEALTHY.offering("ab"))
    assert len(timeline.alerts) == 1
