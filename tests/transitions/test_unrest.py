"""What keeps changing is said once, and again when it has settled."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import cycle

from driftwatch.model import EventKind, Trigger
from driftwatch.transitions import Policy, check_subject
from tests.transitions.timeline import HEALTHY, MODERN, START, Timeline, View, down, pair

HOUR = timedelta(hours=1)
CHECK = "transport/content-type"
BROKEN = HEALTHY.but(transport__content_type="failed:html")


def flap(timeline: Timeline, times: int, pause: timedelta = timedelta(minutes=20)) -> list[str]:
    """Confirmed changes, one after the other: broken, healed, broken..."""
    said = []
    for number in range(times):
        said += timeline.probes(3, HEALTHY if number % 2 else BROKEN)
        timeline.now += pause
    return said


def in_turn(*views: View) -> Iterator[View]:
    return cycle(views)


class TestFlapping:
    def test_the_fourth_change_within_six_hours_is_called_flapping(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        assert flap(timeline, 4) == [
            f"error change {CHECK} verified -> failed:html",
            f"info recovery {CHECK} failed:html -> verified",
            f"error change {CHECK} verified -> failed:html",
            f"warning flapping {CHECK} failed:html -> verified",
        ]
        (event,) = timeline.of(EventKind.FLAPPING)
        assert event.details["values"] == {"failed:html": 2, "verified": 2}
        assert event.details["changes"] == 4
        assert event.details["change"] == "recovery"
        assert event.details["window_s"] == 6 * 3600
        assert event.since == timeline.events[1].at, "since the first of the changes"

    def test_further_changes_are_stored_and_not_told(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        flap(timeline, 4)
        assert flap(timeline, 6) == []
        stored = [event for event in timeline.events if event.details.get("flapping")]
        assert len(stored) == 6
        assert {event.kind for event in stored} == {EventKind.CHANGE, EventKind.RECOVERY}

    def test_twelve_stable_observations_settle_it(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        flap(timeline, 10)
        assert timeline.probes(11, HEALTHY) == []
        assert timeline.probe(HEALTHY) == [f"info settled {CHECK} verified -> verified"]
        (settled,) = timeline.of(EventKind.SETTLED)
        assert settled.details["muted"] == 6
        assert settled.since == timeline.of(EventKind.CHANGE)[0].at  # when it first counted
        assert flap(timeline, 1) == [f"error change {CHECK} verified -> failed:html"]

    def test_it_may_settle_badly(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        flap(timeline, 5)
        assert timeline.probes(12, BROKEN) == [f"error settled {CHECK} failed:html -> failed:html"]
        assert timeline.memory
        incident = timeline.memory.incidents[check_subject(CHECK)]
        assert incident.next_reminder_at == timeline.events[-1].at + timedelta(hours=24)
        assert timeline.probes(3, HEALTHY) == [f"info recovery {CHECK} failed:html -> verified"]

    def test_a_value_that_was_never_seen_is_told_at_once(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        flap(timeline, 6)
        third = HEALTHY.but(transport__content_type="failed:empty")
        assert timeline.probes(3, third) == [f"error change {CHECK} verified -> failed:empty"]
        assert flap(timeline, 4) == []  # the known ones stay muted
        assert timeline.probes(3, third) == []  # and it is known now

    def test_a_known_value_stays_known_until_it_has_settled(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        flap(timeline, 4)
        assert flap(timeline, 4, pause=timedelta(hours=7)) == []

    def test_changes_further_apart_than_the_window_are_all_told(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        assert len(flap(timeline, 8, pause=timedelta(hours=2))) == 8
        assert timeline.of(EventKind.FLAPPING) == []

    def test_new_releases_in_a_row_are_no_flapping(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        said = [
            text
            for word in ("abcd", "abce", "abcf", "abcg", "abch")
            for text in timeline.probes(3, HEALTHY.offering(word))
        ]
        assert len(said) == 5
        assert timeline.of(EventKind.FLAPPING) == []

    def test_a_deploy_explains_its_change(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        for _ in range(4):
            assert len(timeline.probes(3, HEALTHY.offering("abd"), trigger=Trigger.DEPLOY)) == 1
            assert len(timeline.probes(3, HEALTHY, trigger=Trigger.DEPLOY)) == 1

    def test_a_flapping_toolset_names_both_lists(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        for word in ("abd", "abc", "abd", "abc", "abd"):
            timeline.probes(3, HEALTHY.offering(word))
        (event,) = timeline.of(EventKind.FLAPPING)
        assert set(event.details["values"]) == {pair("abc"), pair("abd")}
        assert event.details["diff"]

    def test_a_flapping_root_is_one_story(self) -> None:
        timeline = Timeline()

        def world(now: datetime) -> View:
            return down("http-5xx") if (now - START) // HOUR % 2 else HEALTHY

        timeline.run(timedelta(days=2), world)
        assert [text.split()[1] for text in timeline.alerts] == ["change", "recovery", "change", "flapping"]

    def test_no_re_probe_is_made_for_what_would_be_muted(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        flap(timeline, 4)
        timeline.probe(BROKEN)
        assert timeline.changes.confirm is None
        timeline.probe(HEALTHY.but(transport__content_type="failed:empty"))
        assert timeline.changes.confirm is not None


class TestUnsettled:
    """Two answers in turn are never confirmed: that is said, too."""

    def test_replicas_that_answer_in_turn_are_told(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        began = timeline.next_light
        views = in_turn(HEALTHY.offering("abcd"), HEALTHY)
        timeline.run(HOUR, lambda _: next(views))
        assert timeline.alerts == [f"warning unsettled {MODERN} {pair('abc')} -> {pair('abcd')}"]
        (event,) = timeline.of(EventKind.UNSETTLED)
        assert event.since == began
        assert timedelta(minutes=10) <= event.at - began < timedelta(minutes=25)
        assert set(event.details["values"]) == {pair("abc"), pair("abcd")}

    def test_it_is_said_once_and_then_when_it_has_settled(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        views = in_turn(HEALTHY.offering("abcd"), HEALTHY)
        timeline.run(timedelta(days=3), lambda _: next(views))
        assert len(timeline.alerts) == 1
        assert len(timeline.of(EventKind.BLIP)) < 20
        said = timeline.run(timedelta(hours=4), HEALTHY)
        assert said == [f"info settled {MODERN} {pair('abc')} -> {pair('abc')}"]
        assert timeline.memory
        assert timeline.memory.incidents == {}

    def test_a_rollout_that_ends_is_a_change_after_all(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        views = in_turn(HEALTHY.offering("abcd"), HEALTHY)
        timeline.run(HOUR, lambda _: next(views))
        timeline.run(timedelta(hours=5), HEALTHY.offering("abcd"))
        assert [text.split()[1] for text in timeline.alerts] == ["unsettled", "settled"]
        assert timeline.value(MODERN) == pair("abcd")
        muted = [event for event in timeline.of(EventKind.TOOLSET_CHANGED) if not event.alerts]
        assert len(muted) == 1
        assert timeline.of(EventKind.SETTLED)[0].details["muted"] == 1
        (settled,) = timeline.of(EventKind.SETTLED)
        assert settled.level == "warning"  # it is not the accepted list, and that is what differs
        assert settled.details["previous_fingerprint"] == pair("abc")
        assert [change["kind"] for change in settled.details["diff"]["changes"]] == ["tool-added"]

    def test_unrest_that_ends_in_a_loss_is_as_loud_as_the_loss(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        views = in_turn(HEALTHY.offering("ab"), HEALTHY)
        timeline.run(HOUR, lambda _: next(views))
        timeline.run(timedelta(hours=5), HEALTHY.offering("ab"))
        (settled,) = timeline.of(EventKind.SETTLED)
        assert settled.level == "error"
        assert [change["kind"] for change in settled.details["diff"]["changes"]] == ["tool-removed"]
        assert timeline.memory
        assert timeline.memory.incidents[MODERN].opened_at <= settled.at

    def test_a_list_that_is_new_at_every_read_is_told_once(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        numbers = iter(range(10_000))
        timeline.run(timedelta(days=3), lambda _: HEALTHY.offering(f"abc{next(numbers)}"))
        assert [text.split()[1] for text in timeline.alerts] == ["unsettled"]
        assert timeline.memory
        assert len(timeline.memory.states[MODERN].turns) < 10

    def test_a_check_in_turn_is_told_too(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        views = in_turn(down("http-5xx"), HEALTHY)
        timeline.run(2 * HOUR, lambda _: next(views))
        assert timeline.alerts == ["warning unsettled transport/endpoint verified -> failed:http-5xx"]

    def test_an_outage_that_takes_turns_with_its_codes_is_one_outage(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        views = in_turn(down("dns"), down("timeout"))
        timeline.run(timedelta(days=2), lambda _: next(views))
        assert [text.split()[1] for text in timeline.alerts] == ["change"]

    def test_one_instance_of_four_is_found(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        views = in_turn(HEALTHY, HEALTHY, HEALTHY, HEALTHY.offering("abcd"))
        timeline.run(timedelta(hours=6), lambda _: next(views))
        assert [text.split()[1] for text in timeline.alerts] == ["unsettled"]

    def test_the_replica_check_speaks_for_the_toolset(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        first = HEALTHY.but(release__replicas="failed:differ")
        timeline.probes(3, first)
        views = in_turn(first.offering("abcd"), first)
        timeline.run(HOUR, lambda _: next(views))
        assert timeline.alerts == ["error change release/replicas verified -> failed:differ"]
        (event,) = timeline.of(EventKind.UNSETTLED)
        assert event.alerts is False

    def test_delays_of_nothing_do_not_make_it_probe_without_a_pause(self) -> None:
        timeline = Timeline(policy=Policy(confirm_delays=(timedelta(0), timedelta(0))))
        timeline.run(HOUR, HEALTHY)
        numbers = iter(range(1_000))
        timeline.run(HOUR, lambda _: HEALTHY.offering(f"abc{next(numbers)}"))
        assert [text.split()[1] for text in timeline.alerts] == ["unsettled"]
        assert timeline.made < 60

    def test_two_blips_are_two_blips(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        for _ in range(2):
            timeline.probe(BROKEN)
            timeline.now += timedelta(minutes=12)
            timeline.probe(HEALTHY)
        assert [event.kind for event in timeline.events[1:]] == [EventKind.BLIP, EventKind.BLIP]

    def test_a_series_of_re_probes_ends_when_it_is_calm(self) -> None:
        timeline = Timeline()
        timeline.run(HOUR, HEALTHY)
        for _ in range(2):
            timeline.probe(HEALTHY.offering("abcd"))
            timeline.now += timedelta(seconds=15)
            timeline.probe(HEALTHY)
            timeline.now += timedelta(seconds=15)
        assert timeline.changes.confirm  # it left twice: watched more closely for a while
        before = timeline.made
        timeline.run(timedelta(minutes=10), HEALTHY)
        assert timeline.made - before <= 6
        assert timeline.changes.confirm is None


def test_damping_can_be_set_so_high_that_everything_is_told() -> None:
    timeline = Timeline(policy=Policy(flap_count=1_000))
    timeline.probe(HEALTHY)
    assert len(flap(timeline, 20)) == 20


class TestAnInstanceThatServesNobody:
    GONE = HEALTHY.but(release__replicas="observed_risk:no-answer")

    def test_that_the_probe_meets_it_a_few_times_is_no_outage(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        assert timeline.probes(3, self.GONE) == [
            "warning change release/replicas verified -> observed_risk:no-answer"
        ]
        for _ in range(4):
            assert timeline.probes(5, down("access-gate")) == []
            assert timeline.probe(self.GONE) == []

    def test_an_outage_of_all_of_them_is_told_after_twelve_probes(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        timeline.probes(3, self.GONE)
        assert timeline.probes(11, down("refused")) == []
        assert timeline.probe(down("refused")) == [
            "error change transport/endpoint verified -> failed:refused"
        ]
