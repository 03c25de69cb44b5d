"""Reminders before a certificate ends, and its renewal: once for each leaf, whatever a CDN shows in turn."""

import itertools
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
        assert timeline.run(HOUR, showing("two", 90)) == []
        assert timeline.check(EXPIRY) == "observed_risk:within-14-days"
        assert timeline.run(HOUR, showing("two", 90)) == ["info tls_renewed"]
        assert timeline.check(EXPIRY) == "verified"
        (renewed,) = timeline.of(EventKind.TLS_RENEWED)
        assert renewed.details["previous_leaf_sha256"] == "one"
        assert renewed.details["previous_not_after"] == (START + 10 * DAY).isoformat()
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

    @pytest.mark.parametrize(("back_for", "gone"), [(6 * DAY, True), (2 * HOUR, False)])
    def test_a_renewal_that_was_taken_back_is_no_instance_that_was_left_behind(
        self, back_for: timedelta, *, gone: bool
    ) -> None:
        timeline, reminded = Timeline(), START + 7 * DAY
        old, new = showing("old", 10), showing("new", 90)
        taken_back = reminded - back_for
        timeline.run(8 * DAY, lambda now: new if taken_back - HOUR <= now < taken_back else old)
        urgent = timeline.of(EventKind.TLS_REMINDER)[-1]
        assert urgent.details["threshold_days"] == 3
        assert urgent.details["newer_not_after"] == (START + 90 * DAY).isoformat()
        assert urgent.details["newer_is_gone"] is gone


class TestAnInstanceThatWasNotRenewed:
    """What is known of two instances, one with the old certificate and one with the new."""

    OLD = showing("old", 1.25)
    NEW = showing("new", 60)

    def test_what_was_said_of_its_last_day_is_said_again_and_no_renewal_is(self) -> None:
        timeline = Timeline(interval=timedelta(minutes=1))
        assert timeline.probe(self.OLD) == ["error tls_reminder tls/expiry"]
        both = in_turn(self.OLD, self.NEW, since=START - 2 * DAY, until=START + 2 * DAY)
        assert timeline.run(6 * HOUR, both) == ["error tls_reminder tls/expiry"]
        again = timeline.of(EventKind.TLS_REMINDER)[-1]
        assert again.details["newer_not_after"] == (START + 60 * DAY).isoformat()
        assert again.details["leaf_sha256"] == "old"
        assert again.details["threshold_days"] == 1
        assert timeline.of(EventKind.TLS_RENEWED) == []
        assert timeline.check(EXPIRY) == "observed_risk:within-1-days"

    def test_a_rollout_of_a_few_minutes_is_one_renewal(self) -> None:
        timeline = Timeline(interval=timedelta(minutes=1))
        timeline.probe(self.OLD)
        assert timeline.run(timedelta(minutes=8), cycle((self.OLD, self.NEW))) == []
        assert timeline.run(3 * HOUR, self.NEW) == ["info tls_renewed"]
        assert timeline.check(EXPIRY) == "verified"

    def test_once_it_is_renewed_too_that_is_told_a_day_later_and_once(self) -> None:
        timeline = Timeline()
        old = showing("old", 3.5)
        assert timeline.probe(old) == ["error tls_reminder tls/expiry"]
        assert timeline.run(2 * HOUR, cycle((old, self.NEW))) == ["error tls_reminder tls/expiry"]
        assert timeline.run(23 * HOUR, self.NEW) == []
        assert timeline.run(3 * DAY, self.NEW) == ["info tls_renewed"]
        assert timeline.check(EXPIRY) == "verified"

    def test_one_that_turns_up_after_the_renewal_was_told_is_called_to_mind(self) -> None:
        timeline = Timeline()
        old = showing("old", 3.5)
        timeline.probe(old)
        assert timeline.run(2 * HOUR, self.NEW) == ["info tls_renewed"]
        assert timeline.run(12 * HOUR, cycle((old, self.NEW))) == ["error tls_reminder tls/expiry"]
        assert timeline.check(EXPIRY) == "observed_risk:within-3-days"

    def test_the_renewal_of_one_that_has_ended_counts_at_once(self) -> None:
        timeline = Timeline()
        timeline.run(9 * DAY, showing("old", 8.5))
        assert timeline.probe(self.NEW) == ["info tls_renewed"]
        assert timeline.check(EXPIRY) == "verified"

    @pytest.mark.parametrize("seed", range(6))
    def test_however_the_two_take_turns_each_thing_is_said_once(self, seed: int) -> None:
        chance = random.Random(seed)
        timeline = Timeline(interval=chance.choice([timedelta(minutes=1), timedelta(minutes=15), HOUR]))
        timeline.probe(self.OLD)
        timeline.run(8 * HOUR, lambda now: chance.choice((self.OLD, self.NEW)))
        said = timeline.alerts
        assert said[:2] == ["error tls_reminder tls/expiry"] * 2 or "info tls_renewed" in said
        assert said.count("error tls_reminder tls/expiry") == 2
        assert said.count("info tls_renewed") <= 1
        assert timeline.check(EXPIRY) == "observed_risk:within-1-days"


def cycle(views: tuple[View, ...]) -> Callable[[datetime], View]:
    """A load balancer that goes round its instances, the last one first."""
    turn = itertools.cycle(reversed(views))
    return lambda now: next(turn)


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
