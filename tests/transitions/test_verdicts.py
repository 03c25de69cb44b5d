"""What a confirmed change of a check is called, and how loud it is."""

from datetime import timedelta

import pytest

from driftwatch.model import EventKind, Level
from driftwatch.transitions import check_subject
from tests.transitions.timeline import HEALTHY, Timeline, View

CHECK = "transport/content-type"
SUBJECT = check_subject(CHECK)
HOUR = timedelta(hours=1)


def showing(value: str) -> View:
    return View(states={CHECK: value})


def told(*values: str) -> list[str]:
    timeline = Timeline()
    timeline.probe(showing(values[0]))
    said: list[str] = []
    for value in values[1:]:
        timeline.now += 7 * HOUR  # no flapping
        said = timeline.probes(3, showing(value))
    return [text.partition(f" {CHECK}")[0] for text in said]


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (("verified", "failed:a"), "error change"),
        (("verified", "observed_risk:a"), "warning change"),
        (("verified", "not_checked:a"), "warning coverage_lost"),
        (("observed_risk:a", "observed_risk:b"), "warning change"),
        (("observed_risk:a", "failed:a"), "error change"),
        (("verified", "failed:a", "failed:b"), "error change"),
        (("verified", "failed:a", "observed_risk:a"), "warning change"),
        (("verified", "failed:a", "verified"), "info recovery"),
        (("verified", "not_checked:a", "verified"), "info coverage_back"),
        (("verified", "not_checked:a", "not_checked:b", "failed:a"), "error change"),
        (("verified", "not_checked:a", "failed:a"), "error change"),
        (("verified", "not_checked:a", "failed:a", "verified"), "info recovery"),
        (("verified", "failed:a", "not_checked:a"), "warning coverage_lost"),
        (("verified", "failed:a", "not_checked:a", "verified"), "info recovery"),
        (("verified", "failed:a", "not_checked:a", "failed:a"), "error change"),
        # As good as it was accepted is as good as well.
        (("observed_risk:a", "failed:a", "observed_risk:a"), "info recovery"),
        (("not_checked:no-auth", "failed:a", "not_checked:no-auth"), "info recovery"),
        (("not_checked:no-auth", "verified"), "info coverage_back"),
        # What was bad from the beginning gets better.
        (("failed:a", "verified"), "info recovery"),
        (("observed_risk:a", "verified"), "info recovery"),
        (("failed:a", "observed_risk:a"), "warning change"),
    ],
)
def test_every_confirmed_change_has_its_word_and_its_level(values: tuple[str, ...], expected: str) -> None:
    assert told(*values) == [expected]


def test_what_was_accepted_bad_is_outgrown_by_what_is_better() -> None:
    """A server that was down when it was added is not as it should be when it is down again."""
    assert told("failed:dns", "verified", "failed:dns") == ["error change"]
    assert told("failed:a", "observed_risk:a", "failed:a") == ["error change"]
    assert told("observed_risk:a", "verified", "observed_risk:a") == ["warning change"]
    assert told("not_checked:a", "verified", "not_checked:a") == ["warning coverage_lost"]


def test_a_recovery_tells_since_when_and_how_long() -> None:
    timeline = Timeline()
    timeline.run(HOUR, HEALTHY)
    broke = timeline.next_light
    timeline.run(2 * HOUR, showing("failed:a"))
    healed = timeline.next_light
    timeline.run(HOUR, HEALTHY)
    (recovery,) = timeline.of(EventKind.RECOVERY)
    assert recovery.since == broke
    assert recovery.details["duration_s"] == (healed - broke).total_seconds()


def test_a_remark_on_a_verified_check_is_no_change() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    assert timeline.probes(4, showing("verified:remark")) == []
    assert timeline.of(EventKind.BLIP) == []


def test_the_result_behind_a_state_is_kept_fresh() -> None:
    timeline = Timeline()
    timeline.probe(showing("observed_risk:a"))
    assert timeline.memory
    detail = timeline.memory.states[SUBJECT].detail
    assert detail["check"] == CHECK
    assert detail["findings"][0]["code"] == "a"
    assert detail["findings"][0]["severity"] == "heads up"


def test_another_reason_for_not_checking_is_history_and_no_message() -> None:
    assert told("verified", "not_checked:a", "not_checked:b") == []


def test_a_rule_that_ceases_to_apply_is_history_and_missed_by_nobody() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, HEALTHY.but(tool__name_charset="not_checked:not-applicable"))
    assert timeline.alerts == []
    (event,) = timeline.of(EventKind.COVERAGE_LOST)
    assert (event.level, event.subject) == (Level.INFO, "check:tool/name-charset")
    assert timeline.memory
    assert timeline.memory.incidents == {}


def test_a_rule_that_does_not_apply_any_more_is_broken_no_more() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(3, HEALTHY.but(tool__name_charset="failed:x"))
    timeline.probes(3, HEALTHY.but(tool__name_charset="not_checked:not-applicable"))
    assert timeline.alerts == [
        "error change tool/name-charset verified -> failed:x",
        "info recovery tool/name-charset failed:x -> not_checked:not-applicable",
    ]
    assert timeline.memory
    assert timeline.memory.incidents == {}
