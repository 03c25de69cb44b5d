from dataclasses import replace
from datetime import timedelta

from driftwatch.model import Depth, EventKind
from driftwatch.transitions import check_subject
from tests.transitions.timeline import (
    BEHIND_ENDPOINT,
    CHAIN,
    ENDPOINT,
    FINGERPRINT,
    HEALTHY,
    MODERN,
    PAGINATION,
    Timeline,
    View,
    down,
    pair,
)

HOUR = timedelta(hours=1)
CHARSET = "tool/name-charset"
CONTENT = "transport/content-type"


def test_an_outage_and_its_end_are_two_alerts() -> None:
    timeline = Timeline()
    timeline.run(HOUR, HEALTHY)
    timeline.run(2 * HOUR, down())
    timeline.run(timedelta(days=1), HEALTHY)
    assert timeline.alerts == [
        "error change transport/endpoint verified -> failed:dns",
        "info recovery transport/endpoint failed:dns -> verified",
    ]


def test_the_cause_lists_what_it_blocks_and_its_end_what_is_free_again() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, down())
    timeline.probes(3, HEALTHY)
    change, recovery = [event for event in timeline.events if event.alerts]
    blocked = {*BEHIND_ENDPOINT, FINGERPRINT}
    assert set(change.details["blocked"]) == set(recovery.details["blocked"]) == blocked


def test_a_blocked_check_keeps_its_last_known_state_and_says_so() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    began = timeline.now = timeline.now + HOUR
    timeline.probes(2, down())
    assert timeline.memory
    assert timeline.memory.states[check_subject(CONTENT)].blocked_by is None  # only pending so far
    timeline.probe(down())
    state = timeline.memory.states[check_subject(CONTENT)]
    assert (state.confirmed, state.blocked_by, state.blocked_code) == ("verified", ENDPOINT, "dns")
    assert state.blocked_since == began
    stretches = {item.subject: item for item in timeline.changes.intervals}
    assert stretches[check_subject(CONTENT)].value == "not_checked:dns"
    assert stretches[check_subject(CONTENT)].since == began
    assert stretches[check_subject(CONTENT)].event == timeline.of(EventKind.CHANGE)[0].id


def test_a_check_that_comes_back_as_it_was_is_silent() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, down())
    back = timeline.now
    timeline.probes(3, HEALTHY)
    assert timeline.memory
    state = timeline.memory.states[check_subject(CONTENT)]
    assert (state.blocked_by, state.blocked_since, state.blocked_code) == (None, None, None)
    stretches = [item for item in timeline.changes.intervals if item.subject == check_subject(CONTENT)]
    assert [(item.value, item.since) for item in stretches] == [("verified", back)]
    assert len(timeline.alerts) == 2


def test_a_check_that_comes_back_changed_is_told_together_with_the_recovery() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, down())
    assert timeline.probes(2, HEALTHY.but(transport__content_type="failed:html")) == []
    said = timeline.probe(HEALTHY.but(transport__content_type="failed:html"))
    assert said == [
        "info recovery transport/endpoint failed:dns -> verified",
        "error change transport/content-type verified -> failed:html",
    ]


def test_a_check_that_is_blocked_at_first_sight_is_seen_first_when_its_cause_is_gone() -> None:
    timeline = Timeline()
    timeline.probe(down())
    timeline.probes(4, down())
    broken = HEALTHY.but(transport__content_type="failed:html")
    assert timeline.probes(2, broken) == []
    assert timeline.probe(broken) == [
        "info recovery transport/endpoint failed:dns -> verified",
        "error added_with_problems",
    ]
    assert timeline.memory
    state = timeline.memory.states[check_subject(CONTENT)]
    assert state.confirmed == state.accepted == "failed:html"
    assert timeline.probes(3, HEALTHY) == ["info recovery transport/content-type failed:html -> verified"]


def test_a_check_that_was_never_seen_has_no_last_known_state() -> None:
    timeline = Timeline()
    timeline.probe(down("dns"))
    assert timeline.memory
    state = timeline.memory.states[check_subject(CONTENT)]
    assert (state.confirmed, state.accepted, state.blocked_by) == ("not_checked:dns", None, ENDPOINT)
    timeline.probes(3, down("timeout"))
    assert timeline.check(CONTENT) == "not_checked:timeout"
    timeline.probes(3, HEALTHY)
    assert timeline.check(CONTENT) == "verified"
    assert timeline.alerts == [
        "error added_with_problems",
        "error change transport/endpoint failed:dns -> failed:timeout",
        "info recovery transport/endpoint failed:timeout -> verified",
    ]


def test_a_list_that_cannot_be_read_blocks_what_is_judged_by_it() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    broken = View(
        states={PAGINATION: "failed:repeated-cursor"},
        causes=dict.fromkeys(("tool/name-charset", FINGERPRINT), PAGINATION),
        tools={},
    )
    assert timeline.probes(3, broken) == ["error change tools/pagination verified -> failed:repeated-cursor"]
    (change,) = timeline.of(EventKind.CHANGE)
    assert change.details["blocked"] == ["tool/name-charset", FINGERPRINT]
    assert timeline.value(MODERN) == pair("abc")


def test_a_cause_behind_a_cause_is_followed_to_its_root() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    expired = View(
        states={CHAIN: "failed:expired"},
        causes={ENDPOINT: CHAIN, **dict.fromkeys((*BEHIND_ENDPOINT, FINGERPRINT), ENDPOINT)},
        tools={},
    )
    assert timeline.probes(3, expired) == ["error change tls/chain verified -> failed:expired"]
    assert timeline.memory
    assert timeline.memory.states[check_subject(CONTENT)].blocked_by == CHAIN
    (change,) = timeline.of(EventKind.CHANGE)
    assert set(change.details["blocked"]) == {ENDPOINT, *BEHIND_ENDPOINT, FINGERPRINT}


def test_a_shut_door_is_lost_coverage_with_everything_behind_it() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    shut = View(
        states={ENDPOINT: "not_checked:auth"},
        causes=dict.fromkeys((*BEHIND_ENDPOINT, FINGERPRINT), ENDPOINT),
        tools={},
    )
    assert timeline.probes(3, shut) == [
        "warning coverage_lost transport/endpoint verified -> not_checked:auth"
    ]
    assert timeline.of(EventKind.COVERAGE_LOST)[0].details["blocked"]
    assert timeline.probes(3, HEALTHY) == [
        "info coverage_back transport/endpoint not_checked:auth -> verified"
    ]


def test_an_explanation_that_does_not_hold_is_no_reason_to_be_silent() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    odd = View(causes={CONTENT: ENDPOINT})  # blocked by a check that has nothing wrong with it
    assert timeline.probes(3, odd) == [
        "warning coverage_lost transport/content-type verified -> not_checked:unknown"
    ]


def test_causes_that_explain_each_other_explain_nothing() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    odd = View(causes={CONTENT: PAGINATION, PAGINATION: CONTENT})
    assert len(timeline.probes(3, odd)) == 2


def test_a_change_that_was_pending_before_an_outage_starts_anew_after_it() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    broken = HEALTHY.but(transport__content_type="failed:html")
    timeline.probes(2, broken)
    timeline.probes(4, down())
    assert timeline.memory
    assert timeline.memory.states[check_subject(CONTENT)].pending is None
    timeline.probes(2, broken)
    assert timeline.check(CONTENT) == "verified"
    timeline.probe(broken)
    assert timeline.check(CONTENT) == "failed:html"


def test_a_recovery_that_does_not_last_leaves_everything_blocked() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, down())
    timeline.probes(2, HEALTHY.but(transport__content_type="failed:html"))
    assert timeline.probes(5, down()) == []
    assert timeline.memory
    state = timeline.memory.states[check_subject(CONTENT)]
    assert (state.blocked_by, state.pending) == (ENDPOINT, None)


def test_a_check_that_only_full_probes_see_is_blocked_without_a_word_when_one_comes() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, down(), depth=Depth.LIGHT)
    assert timeline.probes(3, down(), depth=Depth.FULL) == []
    assert timeline.memory
    assert timeline.memory.states[check_subject("session/ended")].blocked_by == ENDPOINT
    timeline.probes(3, HEALTHY, depth=Depth.LIGHT)
    assert timeline.memory.states[check_subject("session/ended")].blocked_by == ENDPOINT
    timeline.probe(HEALTHY, depth=Depth.FULL)
    assert timeline.memory.states[check_subject("session/ended")].blocked_by is None
    assert len(timeline.alerts) == 2


def test_root_causes_come_first_then_errors_then_warnings() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY.offering("abc"))
    broken = View(
        states={
            PAGINATION: "failed:page-error",
            "transport/content-type": "failed:html",
            CHAIN: "observed_risk:short",
        },
        causes={"tool/name-charset": PAGINATION, FINGERPRINT: PAGINATION},
    )
    assert timeline.probes(3, broken) == [
        "error change tools/pagination verified -> failed:page-error",
        "error change transport/content-type verified -> failed:html",
        "warning change tls/chain verified -> observed_risk:short",
    ]


def shut(**states: str) -> View:
    """A server that asks for credentials, seen by somebody who has none."""
    closed = View(
        states={ENDPOINT: "not_checked:auth"},
        causes=dict.fromkeys((*BEHIND_ENDPOINT, FINGERPRINT), ENDPOINT),
        tools={},
    )
    return closed.but(**states)


def test_what_only_a_shut_door_shows_is_not_missed_when_it_opens() -> None:
    timeline = Timeline()
    open_door = HEALTHY.but(tool__name_charset="not_checked:no-auth")
    timeline.probe(open_door)
    behind = replace(shut(), causes=dict.fromkeys({*BEHIND_ENDPOINT, FINGERPRINT} - {CHARSET}, ENDPOINT))
    timeline.probes(3, behind)
    timeline.probes(3, open_door)
    assert timeline.alerts[-2:] == [
        "info coverage_back transport/endpoint not_checked:auth -> verified",
        "info recovery tool/name-charset verified -> not_checked:no-auth",
    ]
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_what_is_seen_with_every_door_open_is_missed_when_it_cannot_be_seen_any_more() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY.but(tool__name_charset="not_checked:no-auth"))
    timeline.probes(4, HEALTHY)
    timeline.probes(3, HEALTHY.but(tool__name_charset="not_checked:no-auth"))
    assert timeline.alerts[-1] == "warning coverage_lost tool/name-charset verified -> not_checked:no-auth"
