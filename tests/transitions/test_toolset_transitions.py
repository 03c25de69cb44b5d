from dataclasses import replace
from datetime import timedelta

import pytest

from driftwatch.model import Depth, Era, EventKind, State, Trigger
from driftwatch.toolset import diff
from driftwatch.transitions import ERAS, Policy, check_subject
from tests.transitions.timeline import (
    FINGERPRINT,
    HEALTHY,
    LEGACY,
    MODERN,
    START,
    Timeline,
    View,
    down,
    pair,
    toolset,
)

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
CHANGED = f"toolset_changed {MODERN}"
RETURNED = f"toolset_returned {MODERN}"


def test_a_rename_is_one_alert() -> None:
    timeline = Timeline()
    timeline.run(HOUR, HEALTHY)
    renamed = timeline.next_light
    timeline.run(timedelta(days=1), HEALTHY.offering("abd"))
    assert timeline.alerts == [f"error {CHANGED} {pair('abc')} -> {pair('abd')}"]
    (event,) = timeline.of(EventKind.TOOLSET_CHANGED)
    assert event.since == renamed
    assert event.details == {
        "diff": diff(toolset("abc"), toolset("abd")).to_json(),
        "era": "modern",
        "credential": "anonymous",
        "fingerprint": pair("abd"),
        "previous_fingerprint": pair("abc"),
        "accepted": False,
        "seen_before": None,
        "incident": event.details["incident"],
    }


def test_the_level_is_that_of_the_difference() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    assert timeline.probes(3, HEALTHY.offering("abcd")) == [
        f"warning {CHANGED} {pair('abc')} -> {pair('abcd')}"
    ]


def test_the_fingerprint_check_moves_with_the_toolset_without_a_word() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    assert timeline.check(FINGERPRINT) == "verified"
    timeline.probes(2, HEALTHY.offering("abcd"))
    assert timeline.check(FINGERPRINT) == "verified"  # nothing is confirmed yet
    timeline.probe(HEALTHY.offering("abcd"))
    assert timeline.check(FINGERPRINT) == "observed_risk:changed"
    told = timeline.of(EventKind.TOOLSET_CHANGED)
    stretch = [item for item in timeline.changes.intervals if item.subject == check_subject(FINGERPRINT)]
    assert [(item.value, item.event) for item in stretch] == [("observed_risk:changed", told[0].id)]
    assert len(timeline.alerts) == 1


def test_a_toolset_that_returns_before_it_counts_is_a_blip() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.probes(2, HEALTHY.offering("abcd"))
    timeline.probes(8, HEALTHY)
    assert timeline.alerts == []
    assert len(timeline.of(EventKind.BLIP)) == 1
    assert timeline.check(FINGERPRINT) == "verified"


def test_a_toolset_that_was_confirmed_before_is_said_to_be_back() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.now = changed = START + 7 * HOUR
    timeline.probes(3, HEALTHY.offering("abd"))
    timeline.now += 7 * HOUR
    back = timeline.now
    said = timeline.probes(3, HEALTHY)
    assert said == [f"info {RETURNED} {pair('abd')} -> {pair('abc')}"]
    (event,) = timeline.of(EventKind.TOOLSET_RETURNED)
    assert event.details["seen_before"] == changed.isoformat()  # until then it was the confirmed one
    assert event.since == back
    assert event.details["accepted"] is True
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_a_toolset_that_the_other_surface_already_shows_is_not_said_to_be_back() -> None:
    both = HEALTHY.offering("abc", Era.LEGACY)
    timeline = Timeline()
    timeline.probe(both)
    timeline.probes(3, both.offering("abcd"))
    said = timeline.probes(3, both.offering("abcd").offering("abcd", Era.LEGACY))
    assert said == [f"warning toolset_changed {LEGACY} {pair('abc')} -> {pair('abcd')}"]


def test_a_list_that_was_not_read_to_its_end_changes_nothing() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    before = timeline.memory
    timeline.probes(4, replace(HEALTHY, tools={}))
    assert before
    assert timeline.memory
    assert timeline.memory.states[MODERN] == before.states[MODERN]
    assert timeline.value(ERAS) == "modern"


def test_lost_coverage_of_the_list_is_told_and_its_return_too() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    unread = View(states={FINGERPRINT: "not_checked:too-large"}, tools={})
    assert timeline.probes(3, unread) == [
        "warning coverage_lost release/fingerprint verified -> not_checked:too-large"
    ]
    # That the list is another one now is the toolset's own news.
    assert timeline.probes(3, HEALTHY.offering("abcd")) == [
        f"warning {CHANGED} {pair('abc')} -> {pair('abcd')}",
        "info coverage_back release/fingerprint not_checked:too-large -> observed_risk:changed",
    ]


class TestLoss:
    """Tools that are only gone are what a rollout looks like from outside."""

    def test_a_loss_counts_when_it_lasts_five_minutes(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        timeline.run(HOUR, HEALTHY.offering("ab"))
        (event,) = timeline.of(EventKind.TOOLSET_CHANGED)
        assert event.since
        assert event.at - event.since == timedelta(minutes=5)

    def test_a_loss_that_a_rollout_makes_good_is_silent(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        lost = timeline.next_light
        timeline.run(HOUR, lambda now: HEALTHY.offering("ab") if now < lost + 4 * MINUTE else HEALTHY)
        assert timeline.alerts == []

    def test_agreeing_reads_are_made_at_the_usual_delays_and_then_at_the_end(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        timeline.now = lost = START + HOUR
        planned = []
        for depth in (Depth.LIGHT, Depth.FULL, Depth.FULL, Depth.FULL):
            timeline.probe(HEALTHY.offering("ab"), depth=depth)
            assert timeline.changes.confirm
            timeline.now = timeline.changes.confirm.due_at
            planned.append((timeline.now - lost).total_seconds())
        assert planned == [15, 30, 45, 300]
        assert timeline.probe(HEALTHY.offering("ab")) != []

    def test_after_a_deploy_it_counts_at_once(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        assert timeline.probes(3, HEALTHY.offering("ab"), trigger=Trigger.DEPLOY) == [
            f"error {CHANGED} {pair('abc')} -> {pair('ab')}"
        ]

    def test_a_loss_with_a_gain_is_no_mere_loss(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        assert len(timeline.probes(3, HEALTHY.offering("abx"))) == 1


class TestAcceptance:
    @pytest.mark.parametrize(
        ("policy", "trigger", "tools", "accepted"),
        [
            ("deploy", Trigger.DEPLOY, "abcd", True),
            ("deploy", Trigger.DEPLOY, "abd", False),
            ("deploy", Trigger.INTERVAL, "abcd", False),
            ("deploy", Trigger.CONFIRM, "abcd", False),
            ("manual", Trigger.DEPLOY, "abcd", False),
            ("always", Trigger.INTERVAL, "abd", True),
        ],
    )
    def test_what_becomes_the_baseline_by_itself(
        self, policy: str, trigger: Trigger, tools: str, *, accepted: bool
    ) -> None:
        timeline = Timeline(policy=Policy(accept=policy))
        timeline.probes(2, HEALTHY)
        assert len(timeline.probes(3, HEALTHY.offering(tools), trigger=trigger)) == 1
        (event,) = timeline.of(EventKind.TOOLSET_CHANGED)
        assert event.details["accepted"] is accepted
        stretched = {stretch.subject for stretch in timeline.changes.intervals}
        assert (check_subject(FINGERPRINT) in stretched) is not accepted
        assert timeline.memory
        state = timeline.memory.states[MODERN]
        assert state.accepted == pair(tools if accepted else "abc")
        assert (MODERN in timeline.memory.incidents) is not accepted
        assert timeline.probes(3, HEALTHY.offering(tools)) == []
        expected = "verified" if accepted else "observed_risk:changed"
        assert timeline.check(FINGERPRINT) == expected

    def test_what_nobody_has_accepted_is_not_accepted_along_with_what_comes_after_it(self) -> None:
        timeline = Timeline()
        timeline.probes(2, HEALTHY)
        timeline.probes(3, HEALTHY.offering("abd"), trigger=Trigger.DEPLOY)
        timeline.probes(3, HEALTHY.offering("abde"), trigger=Trigger.DEPLOY)
        assert [event.details["accepted"] for event in timeline.of(EventKind.TOOLSET_CHANGED)] == [
            False,
            False,
        ]
        assert timeline.memory
        assert timeline.memory.states[MODERN].accepted == pair("abc")

    def test_a_person_who_accepts_is_not_told_again(self) -> None:
        timeline = Timeline()
        timeline.probes(2, HEALTHY)
        timeline.probes(3, HEALTHY.offering("abd"))
        assert timeline.memory
        state = timeline.memory.states[MODERN]
        accepted = replace(state, accepted=state.confirmed, incident=None)
        timeline.memory = replace(
            timeline.memory, states={**timeline.memory.states, MODERN: accepted}, incidents={}
        )
        assert timeline.probes(4, HEALTHY.offering("abd")) == []
        assert timeline.check(FINGERPRINT) == "verified"

    def test_a_list_whose_predecessor_is_not_stored_is_told_without_a_difference(self) -> None:
        timeline = Timeline(policy=Policy(confirm=1))
        timeline.probe(HEALTHY)
        assert timeline.memory
        gone = replace(timeline.memory.states[MODERN], confirmed=pair("zzz"))
        timeline.memory = replace(timeline.memory, states={**timeline.memory.states, MODERN: gone})
        assert len(timeline.probe(HEALTHY)) == 1


class TestEras:
    def test_an_era_that_appears_is_told_once_and_its_list_recorded(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        both = HEALTHY.offering("abc", Era.LEGACY)
        assert timeline.probes(2, both) == []
        assert timeline.probe(both) == ["warning era_changed eras modern -> modern+legacy"]
        assert timeline.value(LEGACY) == pair("abc")
        assert timeline.probes(3, both) == []

    def test_an_era_that_vanishes_is_an_error(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY.offering("abc", Era.LEGACY))
        assert timeline.probes(4, HEALTHY) == ["error era_changed eras modern+legacy -> modern"]
        (event,) = timeline.of(EventKind.ERA_CHANGED)
        assert (event.details["vanished"], event.details["appeared"]) == (["legacy"], [])

    def test_an_outage_is_no_news_about_eras(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        timeline.probes(4, down())
        timeline.probes(4, HEALTHY)
        assert timeline.of(EventKind.ERA_CHANGED) == []

    def test_an_era_about_which_nothing_was_learned_stays(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY.offering("abc", Era.LEGACY))
        timeline.unclear = (Era.LEGACY,)
        assert timeline.probes(5, HEALTHY) == []
        timeline.unclear = ()
        assert len(timeline.probes(3, HEALTHY)) == 1

    def test_the_list_of_an_era_that_is_gone_has_no_open_incident(self) -> None:
        timeline = Timeline()
        both = HEALTHY.offering("abc", Era.LEGACY)
        timeline.probe(both)
        timeline.probes(3, both.offering("abd", Era.LEGACY))
        assert timeline.memory
        assert LEGACY in timeline.memory.incidents
        timeline.probes(3, HEALTHY)
        assert timeline.memory.incidents == {}
        assert timeline.of(EventKind.REBASED)[-1].details["removed"] == [LEGACY]


def test_every_state_of_the_fingerprint_check_but_lost_coverage_is_silent() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    for value in (State.VERIFIED.value, "observed_risk:changed", "not_checked:other-algorithm"):
        assert timeline.probes(4, HEALTHY.but(release__fingerprint=value)) == []
        assert timeline.check(FINGERPRINT) == value
