"""What driftwatch or its settings moved is not what the server did."""

from datetime import timedelta

from driftwatch.model import EventKind
from driftwatch.transitions import ERAS, check_subject
from tests.transitions.timeline import (
    CATALOGUE,
    ENDPOINT,
    FINGERPRINT,
    HEALTHY,
    MODERN,
    Timeline,
    down,
    pair,
)

HOUR = timedelta(hours=1)
CHECK = "tool/name-charset"
SUBJECT = check_subject(CHECK)
RISKY = HEALTHY.but(tool__name_charset="observed_risk:charset")


def test_a_check_that_judges_otherwise_after_an_upgrade_is_taken_as_it_is() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.versions[CHECK] = 2
    assert timeline.probes(4, RISKY) == []
    (rebased,) = timeline.of(EventKind.REBASED)
    assert rebased.alerts is False
    assert rebased.details["moved"] == [
        {"subject": SUBJECT, "before": "verified", "after": "observed_risk:charset"}
    ]
    assert timeline.memory
    state = timeline.memory.states[SUBJECT]
    assert (state.confirmed, state.accepted, state.version) == (
        "observed_risk:charset",
        "observed_risk:charset",
        2,
    )


def test_edited_settings_move_results_in_one_event() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.settings = "edited"
    moved = RISKY.but(transport__content_type="failed:html").offering("abcd")
    assert timeline.probes(4, moved) == []
    (rebased,) = timeline.of(EventKind.REBASED)
    assert {item["subject"] for item in rebased.details["moved"]} == {
        check_subject("transport/content-type"),
        SUBJECT,
        MODERN,
    }
    assert timeline.value(MODERN) == pair("abcd")
    assert timeline.check(FINGERPRINT) == "verified"


def test_edited_settings_that_move_nothing_leave_no_trace() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.settings = "edited"
    timeline.probes(2, HEALTHY)
    assert timeline.of(EventKind.REBASED) == []
    assert timeline.memory
    assert timeline.memory.states[SUBJECT].settings == "edited"
    # From here on a change is the server's again.
    assert timeline.probes(3, RISKY) == ["warning change tool/name-charset verified -> observed_risk:charset"]


def test_a_server_that_is_down_after_an_edit_is_down() -> None:
    """A mistyped URL would otherwise become what is normal."""
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.settings = "edited"
    assert timeline.probes(3, down()) == ["error change transport/endpoint verified -> failed:dns"]
    assert timeline.probes(3, HEALTHY) == ["info recovery transport/endpoint failed:dns -> verified"]


def test_whoever_was_told_of_an_incident_is_told_of_its_end() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.probes(3, RISKY)
    timeline.settings = "edited"
    assert timeline.probes(3, HEALTHY) == [
        "info recovery tool/name-charset observed_risk:charset -> verified"
    ]


def test_a_toolset_that_is_back_after_an_edit_is_said_to_be_back() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.probes(3, HEALTHY.offering("abd"))
    timeline.settings = "edited"
    assert timeline.probes(3, HEALTHY) == [f"info toolset_returned {MODERN} {pair('abd')} -> {pair('abc')}"]


def test_a_stretch_never_begins_before_the_one_that_it_ends() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.now -= HOUR  # the clock was put right
    timeline.settings = "edited"
    timeline.probe(RISKY)
    assert {stretch.since for stretch in timeline.changes.intervals} == {timeline.now + HOUR}


def test_what_is_told_stands_before_what_is_only_recorded() -> None:
    timeline = Timeline(catalogue=(CHECK,))
    timeline.probe(RISKY)
    timeline.probes(2, HEALTHY)
    timeline.catalogue = (ENDPOINT, CHECK)
    timeline.probe(HEALTHY)
    assert [event.kind for event in timeline.events[1:]] == [EventKind.RECOVERY, EventKind.REBASED]


OFF = HEALTHY.but(tool__name_charset="not_checked:switched-off")


def test_whoever_was_told_of_an_incident_is_told_that_its_check_is_switched_off() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.probes(3, RISKY)
    timeline.settings = "edited"
    assert timeline.probes(3, OFF) == [
        "info recovery tool/name-charset observed_risk:charset -> not_checked:switched-off"
    ]
    assert timeline.memory
    assert timeline.memory.incidents == {}
    state = timeline.memory.states[SUBJECT]
    assert (state.accepted, state.incident) == ("not_checked:switched-off", None)
    timeline.settings = "as before"
    assert timeline.probes(3, HEALTHY) == []


def test_a_check_that_is_switched_off_while_nothing_is_wrong_is_not_told() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.settings = "edited"
    assert timeline.probes(3, OFF) == []


def test_a_check_that_is_switched_on_and_fails_is_told_once_and_so_is_its_end() -> None:
    timeline = Timeline()
    timeline.probes(2, OFF)
    timeline.settings = "edited"
    assert timeline.probes(3, HEALTHY.but(tool__name_charset="failed:charset")) == [
        "error added_with_problems"
    ]
    assert timeline.probes(3, HEALTHY) == ["info recovery tool/name-charset failed:charset -> verified"]


def test_an_incident_whose_check_is_judged_otherwise_goes_on() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.probes(3, RISKY)
    timeline.versions[CHECK] = 2
    assert timeline.probes(3, HEALTHY.but(tool__name_charset="failed:charset")) == []
    assert timeline.memory
    assert timeline.memory.incidents[SUBJECT].value == "failed:charset"
    assert timeline.probes(3, HEALTHY) == ["info recovery tool/name-charset failed:charset -> verified"]


def test_another_algorithm_is_no_drift() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.algorithm = "dw2"
    assert timeline.probes(4, HEALTHY) == []
    assert timeline.memory
    state = timeline.memory.states[MODERN]
    assert state.confirmed == state.accepted == pair("abc", "dw2")
    assert timeline.check(FINGERPRINT) == "verified"
    assert timeline.probes(3, HEALTHY.offering("abd")) != []


def test_another_algorithm_accepts_nothing() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.probes(3, HEALTHY.offering("abd"))
    timeline.algorithm = "dw2"
    assert timeline.probes(4, HEALTHY.offering("abd")) == []
    assert timeline.memory
    assert timeline.memory.states[MODERN].accepted == pair("abc")
    assert MODERN in timeline.memory.incidents


def test_other_eras_after_an_edit_are_not_told() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.settings = "edited"
    from driftwatch.model import Era  # noqa: PLC0415

    assert timeline.probes(4, HEALTHY.offering("abc", Era.LEGACY)) == []
    assert timeline.value(ERAS) == "modern+legacy"


def test_another_credential_sees_another_list() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.probes(3, HEALTHY.offering("abd"))
    timeline.credential, timeline.settings = "token", "edited"
    assert timeline.probes(4, HEALTHY.offering("abcdef")) == []
    assert timeline.value("toolset:modern:token") == pair("abcdef")
    assert timeline.memory
    assert timeline.memory.incidents == {}  # nobody looks at the anonymous list any more


def test_the_incident_of_a_check_that_an_upgrade_removed_is_closed() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.probes(3, RISKY)
    timeline.catalogue = tuple(check for check in CATALOGUE if check != CHECK)
    assert timeline.probes(3, HEALTHY) == []
    assert timeline.memory
    assert timeline.memory.incidents == {}
    assert timeline.of(EventKind.REBASED)[-1].details["removed"] == [SUBJECT]


def test_the_upgrade_of_a_blocked_check_waits_until_it_is_seen() -> None:
    timeline = Timeline()
    timeline.probes(2, HEALTHY)
    timeline.probes(3, down())
    timeline.versions[CHECK] = 2
    assert timeline.probes(3, RISKY) == ["info recovery transport/endpoint failed:dns -> verified"]
    assert timeline.check(CHECK) == "observed_risk:charset"
    assert timeline.check(ENDPOINT) == "verified"
    assert timeline.memory
    assert timeline.memory.states[SUBJECT].blocked_by is None
