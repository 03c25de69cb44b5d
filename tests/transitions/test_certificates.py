"""Reminders before a certificate ends, and its renewal: once for each leaf, whatever a CDN shows in turn."""

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from driftwatch.model import EventKind, Level
from driftwatch.transitions import Policy, check_subject
from driftwatch.transitions.certificates import remind
from tests.transitions.timeline import (
    BEHIND_ENDPOINT,
    CHAIN,
    ENDPOINT,
    EXPIRY,
    FINGERPRINT,
    HEALTHY,
    START,
    Timeline,
    View,
    certificate,
    down,
)

HOUR = timedelta(hours=1)
DAY = timedelta(days=1)


def showing(leaf: str, days: float) -> View:
    """A server whose certificate ends so many days after the start."""
    return replace(HEALTHY, leaf=leaf, ends=START + days * DAY)


def expired(leaf: str, days: float) -> View:
    """The same after its end, as a handshake sees it."""
    causes = {ENDPOINT: CHAIN, **dict.fromkeys((*BEHIND_ENDPOINT, FINGERPRINT), ENDPOINT)}
    return replace(showing(leaf, days), states={CHAIN: "failed:expired"}, causes=causes, tools={})


def thresholds(timeline: Timeline) -> list[int]:
    return [event.details["threshold_days"] for event in timeline.of(EventKind.TLS_REMINDER)]


class TestReminders:
    def test_each_threshold_below_a_share_of_the_lifetime_is_told_once(self) -> None:
        timeline = Timeline()
        timeline.run(40 * DAY, showing("one", 40.5))
        assert thresholds(timeline) == [14, 7, 3, 1]
        assert timeline.alerts == [
            "warning tls_reminder tls/expiry",
            "warning tls_reminder tls/expiry",
            "error tls_reminder tls/expiry",
            "error tls_reminder tls/expiry",
        ]

    @pytest.mark.parametrize(
        ("lifetime", "told"), [(398, [30, 14, 7, 3, 1]), (90, [14, 7, 3, 1]), (47, [14, 7, 3, 1]), (6, [1])]
    )
    def test_short_lived_certificates_have_fewer_reminders(self, lifetime: int, told: list[int]) -> None:
        ends = START + lifetime * DAY
        leaf = replace(certificate("one", ends), not_before=START)
        notices, days = list(remind("api", leaf, [], policy=Policy(), now=START)[1]), []
        for hours in range(lifetime * 24):
            event, new = remind("api", leaf, notices, policy=Policy(), now=START + hours * HOUR)
            notices += new
            days += [event.details["threshold_days"]] if event else []
        assert days == told

    def test_the_check_moves_with_the_reminder_and_says_nothing_of_its_own(self) -> None:
        timeline = Timeline()
        timeline.run(30 * DAY, showing("one", 40.5))
        (reminder,) = timeline.of(EventKind.TLS_REMINDER)
        assert timeline.check(EXPIRY) == "observed_risk:within-14-days"
        assert [event for event in timeline.events if event.subject == check_subject(EXPIRY)] == [reminder]
        assert timeline.memory
        assert timeline.memory.incidents == {}

    def test_a_certificate_that_is_short_at_first_sight_is_told_with_its_closest_threshold(self) -> None:
        timeline = Timeline()
        assert timeline.probe(showing("one", 3.5)) == ["error tls_reminder tls/expiry"]
        (reminder,) = timeline.of(EventKind.TLS_REMINDER)
        assert reminder.details["threshold_days"] == 3
        assert reminder.details["superseded"] == [14, 7]
        assert timeline.run(DAY, showing("one", 3.5)) == []
        assert timeline.run(DAY, showing("one", 3.5)) == ["error tls_reminder tls/expiry"]

    def test_a_handshake_that_fails_speaks_for_the_end(self) -> None:
        timeline = Timeline()
        timeline.run(9 * DAY, showing("one", 9.0))
        timeline.events.clear()
        timeline.run(HOUR, expired("one", 9.0))
        assert timeline.alerts == ["error change tls/chain verified -> failed:expired"]
        assert timeline.check(EXPIRY) == "failed:expired"

    def test_an_end_that_no_handshake_shows_is_told(self) -> None:
        timeline = Timeline()
        timeline.run(9 * DAY, showing("one", 9.0))
        assert timeline.run(HOUR, showing("one", 9.0)) == ["error tls_reminder tls/expiry"]
        assert thresholds(timeline)[-1] == 0

    def test_after_a_clock_step_one_look_says_nothing(self) -> None:
        timeline = Timeline()
        timeline.probe(showing("one", 40))
        timeline.now += 27 * DAY
        timeline.dates = False
        assert timeline.probe(showing("one", 40)) == []
        assert timeline.check(EXPIRY) == "verified"
        timeline.dates = True
        assert timeline.probe(showing("one", 40)) == ["warning tls_reminder tls/expiry"]

    def test_lost_sight_of_the_certificate_is_told_and_its_return_too_but_not_the_date_again(self) -> None:
        timeline = Timeline()
        timeline.probe(showing("one", 10))
        unseen = HEALTHY.but(tls__expiry="not_checked:no-certificate")
        said = timeline.probes(3, unseen) + timeline.probes(3, showing("one", 10))
        assert [text.split()[1] for text in said] == ["coverage_lost", "coverage_back"]


class TestRenewals:
    def test_a_renewal_without_a_reminder_is_history(self) -> None:
        timeline = Timeline()
        timeline.probe(replace(HEALTHY, leaf="one"))
        timeline.now += HOUR
        assert timeline.probe(replace(HEALTHY, leaf="two")) == []
        (renewed,) = timeline.of(EventKind.TLS_RENEWED)
        assert renewed.details["previous_leaf_sha256"] == "one"
        assert renewed.details["names_lost"] == []
        assert timeline.memory
        assert timeline.memory.certificate
        assert timeline.memory.certificate.leaf_sha256 == "two"

    def test_a_renewal_after_a_reminder_is_told_and_the_one_after_it_is_not(self) -> None:
        timeline = Timeline()
        timeline.probe(showing("one", 10))
        assert timeline.probe(showing("two", 90)) == ["info tls_renewed"]
        assert timeline.check(EXPIRY) == "verified"
        timeline.now += 30 * DAY
        assert timeline.probe(showing("three", 150)) == []
        assert len(timeline.of(EventKind.TLS_RENEWED)) == 2

    def test_the_same_leaf_and_an_older_one_are_no_renewal(self) -> None:
        timeline = Timeline()
        timeline.probe(replace(HEALTHY, leaf="two"))
        timeline.now -= HOUR  # the instance that still has the old one
        timeline.probe(replace(HEALTHY, leaf="one"))
        timeline.probe(replace(HEALTHY, leaf="one"))
        assert timeline.of(EventKind.TLS_RENEWED) == []

    def test_an_unreachable_server_keeps_its_last_certificate(self) -> None:
        timeline = Timeline()
        timeline.probe(replace(HEALTHY, leaf="one"))
        timeline.probe(down())
        assert timeline.memory
        assert timeline.memory.certificate == certificate("one", START + timedelta(days=60))

    def test_an_instance_that_was_left_behind_is_told_before_it_breaks(self) -> None:
        timeline = Timeline()
        timeline.run(40 * DAY, in_turn(showing("old", 40.5), showing("new", 100), until=START + 40 * DAY))
        assert thresholds(timeline) == [14, 3, 1]
        urgent = timeline.of(EventKind.TLS_REMINDER)[-1]
        assert urgent.level is Level.ERROR
        assert urgent.details["newer_not_after"] == (START + 100 * DAY).isoformat()
        assert len(timeline.of(EventKind.TLS_RENEWED)) == 2  # one of them is history: before the reminder


def in_turn(old: View, new: View, *, since: datetime = START, until: datetime) -> Callable[[datetime], View]:
    """A CDN that rolls a certificate out: until its end each probe meets the one or the other by chance."""
    chance = random.Random(1)

    def show(now: datetime) -> View:
        if now < since:
            return old
        return new if now >= until or chance.random() < (now - since) / (until - since) else old

    return show


@pytest.mark.parametrize("rollout", [(0, 36), (20, 30), (24, 28), (29, 36)])
def test_forty_days_of_a_cdn_that_rolls_out_a_certificate_are_two_messages(rollout: tuple[int, int]) -> None:
    since, until = (START + days * DAY for days in rollout)
    timeline = Timeline()
    timeline.run(40 * DAY, in_turn(showing("old", 40.5), showing("new", 130), since=since, until=until))
    assert timeline.alerts == ["warning tls_reminder tls/expiry", "info tls_renewed"]
