from dataclasses import replace
from datetime import timedelta

from driftwatch.model import Depth, Event, EventKind
from driftwatch.transitions import Policy, check_subject
from tests.transitions.timeline import (
    AT_A_SHUT_DOOR,
    BEHIND_ENDPOINT,
    CATALOGUE,
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


def test_a_check_that_only_full_probes_see_is_blocked_without_a_word_until_its_cause_is_gone() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, down(), depth=Depth.LIGHT)
    assert timeline.probes(3, down(), depth=Depth.FULL) == []
    assert timeline.memory
    assert timeline.memory.states[check_subject("session/ended")].blocked_by == ENDPOINT
    timeline.probes(2, HEALTHY, depth=Depth.LIGHT)
    assert timeline.memory.states[check_subject("session/ended")].blocked_by == ENDPOINT
    timeline.probe(HEALTHY, depth=Depth.LIGHT)
    state = timeline.memory.states[check_subject("session/ended")]
    assert (state.blocked_by, state.confirmed) == (None, "verified")
    timeline.probe(HEALTHY, depth=Depth.FULL)
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
    assert timeline.alerts == [
        "warning coverage_lost transport/endpoint verified -> not_checked:auth",
        "info coverage_back transport/endpoint not_checked:auth -> verified",
    ]
    assert timeline.memory
    assert timeline.memory.incidents == {}


REFUSALS = dict.fromkeys(AT_A_SHUT_DOOR, "not_checked:no-auth")
SIGN_IN = (*CATALOGUE, *REFUSALS)
OPEN = replace(HEALTHY, states=REFUSALS)
SHUT = replace(
    shut(),
    states={ENDPOINT: "not_checked:auth", "auth/challenge": "verified", "auth/metadata": "failed:nowhere"},
)


def shown(event: Event) -> dict[str, str]:
    return {item["check"]: item["state"] for item in event.details["shown"]}


def test_how_a_door_refuses_is_told_with_the_door_and_ends_with_it() -> None:
    timeline = Timeline(catalogue=SIGN_IN)
    timeline.run(HOUR, OPEN)
    timeline.run(8 * HOUR, SHUT)
    timeline.run(8 * HOUR, OPEN)
    assert timeline.alerts == [
        "error coverage_lost transport/endpoint verified -> not_checked:auth",
        "info coverage_back transport/endpoint not_checked:auth -> verified",
    ]
    lost, back = [event for event in timeline.events if event.alerts]
    assert shown(lost) == shown(back) == {"auth/challenge": "verified", "auth/metadata": "failed"}
    assert set(lost.details["blocked"]) == set(back.details["blocked"])
    assert timeline.check("auth/metadata") == "not_checked:no-auth"
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_how_a_door_refuses_is_told_with_the_door_also_after_an_outage() -> None:
    timeline = Timeline(catalogue=SIGN_IN)
    timeline.run(HOUR, OPEN)
    outage = down()
    timeline.run(HOUR, replace(outage, causes={**outage.causes, **dict.fromkeys(AT_A_SHUT_DOOR, ENDPOINT)}))
    timeline.run(8 * HOUR, SHUT)
    timeline.run(8 * HOUR, OPEN)
    assert timeline.alerts == [
        "error change transport/endpoint verified -> failed:dns",
        "error coverage_lost transport/endpoint failed:dns -> not_checked:auth",
        "info recovery transport/endpoint not_checked:auth -> verified",
    ]
    _, lost, back = [event for event in timeline.events if event.alerts]
    assert shown(lost) == shown(back) == {"auth/challenge": "verified", "auth/metadata": "failed"}
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_how_a_door_refuses_ends_with_it_also_when_an_outage_comes_next() -> None:
    timeline = Timeline(catalogue=SIGN_IN)
    timeline.run(HOUR, OPEN)
    timeline.run(8 * HOUR, SHUT)
    outage = down()
    timeline.run(HOUR, replace(outage, causes={**outage.causes, **dict.fromkeys(AT_A_SHUT_DOOR, ENDPOINT)}))
    timeline.run(8 * HOUR, OPEN)
    assert timeline.alerts == [
        "error coverage_lost transport/endpoint verified -> not_checked:auth",
        "error change transport/endpoint not_checked:auth -> failed:dns",
        "info recovery transport/endpoint failed:dns -> verified",
    ]
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_a_door_that_shuts_and_opens_again_and_again_is_one_line() -> None:
    timeline = Timeline(catalogue=SIGN_IN)
    timeline.run(HOUR, OPEN)
    for _ in range(4):
        timeline.run(HOUR / 2, SHUT)
        timeline.run(HOUR / 2, OPEN)
    timeline.run(8 * HOUR, OPEN)
    assert [said.split()[:3] for said in timeline.alerts[3:]] == [
        ["warning", "flapping", ENDPOINT],
        ["info", "settled", ENDPOINT],
    ]
    assert len(timeline.alerts) == 5


def test_a_door_that_is_shut_for_one_look_says_nothing() -> None:
    timeline = Timeline(catalogue=SIGN_IN)
    timeline.run(HOUR, OPEN)
    timeline.probe(SHUT, depth=Depth.FULL)
    timeline.run(HOUR, OPEN)
    assert timeline.alerts == []
    assert [event.subject for event in timeline.of(EventKind.BLIP)] == [check_subject(ENDPOINT)]


def test_what_gets_better_or_worse_behind_a_shut_door_is_told_by_itself() -> None:
    timeline = Timeline(catalogue=SIGN_IN)
    timeline.run(HOUR, OPEN)
    timeline.run(HOUR, SHUT)
    documented = replace(SHUT, states={**SHUT.states, "auth/metadata": "verified"})
    timeline.run(8 * HOUR, documented)
    timeline.run(8 * HOUR, SHUT)
    timeline.run(HOUR, OPEN)
    assert timeline.alerts == [
        "error coverage_lost transport/endpoint verified -> not_checked:auth",
        "info recovery auth/metadata failed:nowhere -> verified",
        "error change auth/metadata verified -> failed:nowhere",
        "info coverage_back transport/endpoint not_checked:auth -> verified",
    ]
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_a_door_that_was_shut_from_the_beginning_explains_nothing_that_changes_later() -> None:
    timeline = Timeline(catalogue=SIGN_IN)
    timeline.run(HOUR, replace(SHUT, states={**SHUT.states, "auth/metadata": "not_checked:unclear"}))
    timeline.run(8 * HOUR, SHUT)
    assert timeline.alerts == ["error change auth/metadata not_checked:unclear -> failed:nowhere"]


def test_with_single_probes_that_decide_what_follows_later_is_silent_too() -> None:
    timeline = Timeline(catalogue=SIGN_IN, policy=Policy(confirm=1))
    timeline.probe(OPEN)
    for view in (SHUT, OPEN):
        timeline.now += HOUR
        unseen = dict.fromkeys(REFUSALS, "not_checked:depth")
        timeline.probe(replace(view, states={**view.states, **unseen}), depth=Depth.LIGHT)
        timeline.now += HOUR
        timeline.probe(view)
    assert timeline.alerts == [
        "warning coverage_lost transport/endpoint verified -> not_checked:auth",
        "info coverage_back transport/endpoint not_checked:auth -> verified",
    ]


def test_what_is_seen_with_every_door_open_is_missed_when_it_cannot_be_seen_any_more() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY.but(tool__name_charset="not_checked:no-auth"))
    timeline.probes(4, HEALTHY)
    timeline.probes(3, HEALTHY.but(tool__name_charset="not_checked:no-auth"))
    assert timeline.alerts[-1] == "warning coverage_lost tool/name-charset verified -> not_checked:no-auth"
