"""Tool lists that no probe can be sure of: after a deploy, between instances, on one surface of two."""

import itertools
import string
from datetime import timedelta

from driftwatch.model import Depth, Era, EventKind, Trigger
from driftwatch.transitions import Policy
from tests.transitions.timeline import HEALTHY, LEGACY, MODERN, Timeline, pair

CHANGED = f"toolset_changed {MODERN}"


class TestUnsettledDeploys:
    """A deploy's reads did not agree until the time was up."""

    def test_both_answers_are_told_with_how_often_each_was_read(self) -> None:
        timeline = Timeline()
        timeline.probes(2, HEALTHY)
        counts = {pair("abc"): 4, pair("abcd"): 3}
        timeline.unsettled = {MODERN: counts}
        said = timeline.probe(HEALTHY.offering("abcd"), trigger=Trigger.DEPLOY)
        assert said == [f"warning unsettled {MODERN} {pair('abc')} -> {pair('abcd')}"]
        (event,) = timeline.of(EventKind.UNSETTLED)
        assert event.details["values"] == counts

    def test_it_is_told_once_and_over_when_the_answers_are_calm(self) -> None:
        timeline = Timeline()
        timeline.probes(2, HEALTHY)
        timeline.unsettled = {MODERN: {pair("abc"): 4, pair("abcd"): 3}}
        timeline.probe(HEALTHY.offering("abcd"), trigger=Trigger.DEPLOY)
        timeline.unsettled = {}
        for tools in ("abc", "abcd", "abc", "abcd"):
            assert timeline.probe(HEALTHY.offering(tools)) == []
        assert timeline.probes(20, HEALTHY) == [f"info settled {MODERN} {pair('abc')} -> {pair('abc')}"]

    def test_a_toolset_that_is_confirmed_at_the_last_moment_is_a_change(self) -> None:
        timeline = Timeline()
        timeline.probes(2, HEALTHY)
        timeline.probes(2, HEALTHY.offering("abcd"), trigger=Trigger.DEPLOY)
        timeline.unsettled = {MODERN: {pair("abc"): 1, pair("abcd"): 3}}
        said = timeline.probe(HEALTHY.offering("abcd"), trigger=Trigger.DEPLOY)
        assert said == [f"warning {CHANGED} {pair('abc')} -> {pair('abcd')}"]


class TestTurns:
    """Toolsets of a server whose instances answer with different lists."""

    OTHER = HEALTHY.offering("abcd")

    def test_light_probes_raise_the_question_and_full_ones_confirm_a_list(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        assert timeline.probes(9, self.OTHER, depth=Depth.LIGHT) == []
        assert timeline.changes.confirm
        assert timeline.changes.confirm.depth is Depth.FULL
        assert timeline.probes(3, self.OTHER) == [f"warning {CHANGED} {pair('abc')} -> {pair('abcd')}"]

    def test_a_regular_probe_between_late_re_probes_puts_nothing_off(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        timeline.now += timedelta(minutes=1)
        timeline.probe(self.OTHER, depth=Depth.LIGHT)
        for late in (16, 40):
            timeline.now += timedelta(seconds=late)
            assert timeline.probe(self.OTHER, trigger=Trigger.CONFIRM) == []
        timeline.now += timedelta(seconds=9)
        assert timeline.probe(self.OTHER, depth=Depth.LIGHT) == []
        assert timeline.changes.confirm
        assert timeline.changes.confirm.due_at - timeline.now == timedelta(seconds=15)

    def test_a_list_that_stays_is_told_soon_however_many_came_and_went_before_it(self) -> None:
        timeline = Timeline(interval=timedelta(minutes=5))
        timeline.run(timedelta(minutes=10), HEALTHY)
        letters = iter(string.ascii_letters[3:])
        for _ in range(14):
            for last in itertools.islice(letters, 3):
                timeline.run(timedelta(seconds=20), HEALTHY.offering(f"abc{last}"))
            timeline.run(timedelta(minutes=8), HEALTHY.offering(f"abc{last}"))
        assert timeline.memory
        assert len(timeline.memory.reprobes) > timeline.policy.reprobes
        timeline.run(2 * timeline.interval, HEALTHY.offering(f"abc{last}"))
        assert timeline.value(MODERN) == pair(f"abc{last}")
        assert timeline.alerts[-1].endswith(pair(f"abc{last}"))

    def test_without_re_probes_light_ones_have_to_do(self) -> None:
        timeline = Timeline(policy=Policy(confirm_delays=()))
        timeline.probe(HEALTHY)
        assert len(timeline.probes(3, self.OTHER, depth=Depth.LIGHT)) == 1

    def test_a_list_waits_while_instances_differ_and_is_told_when_they_agree(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        differ = HEALTHY.but(release__replicas="failed:tools-differ")
        assert timeline.probes(3, differ) == ["error change release/replicas verified -> failed:tools-differ"]
        assert timeline.probes(5, self.OTHER, depth=Depth.LIGHT) == []
        assert timeline.probes(11, self.OTHER) == []
        assert sorted(timeline.probe(self.OTHER)) == [
            "info recovery release/replicas failed:tools-differ -> verified",
            f"warning {CHANGED} {pair('abc')} -> {pair('abcd')}",
        ]

    def test_servers_of_other_versions_with_one_list_keep_nothing_waiting(self) -> None:
        timeline = Timeline()
        timeline.probe(HEALTHY)
        versions = self.OTHER.but(release__replicas="observed_risk:versions-differ")
        assert len(timeline.probes(3, versions)) == 2


class TestTwoSurfaces:
    """What one surface says of a list that another one has not settled on yet waits for that."""

    BOTH = HEALTHY.offering("abc", Era.LEGACY)

    def unsettled(self) -> Timeline:
        """A deploy that left answers in turn on the modern surface."""
        timeline = Timeline()
        timeline.probes(2, self.BOTH)
        timeline.unsettled = {MODERN: {pair("abc"): 4, pair("abcd"): 3}}
        timeline.probe(self.BOTH.offering("abcd"), trigger=Trigger.DEPLOY)
        timeline.unsettled = {}
        return timeline

    def test_both_are_told_in_one_run(self) -> None:
        timeline = self.unsettled()
        both = self.BOTH.offering("abcd").offering("abcd", Era.LEGACY)
        said: list[str] = []
        while not said:
            said = timeline.probe(both)
        assert said == [
            f"warning settled {MODERN} {pair('abcd')} -> {pair('abcd')}",
            f"warning settled {LEGACY} {pair('abc')} -> {pair('abcd')}",
        ]
        modern, legacy = timeline.of(EventKind.SETTLED)
        assert modern.details["diff"] == legacy.details["diff"] is not None
        assert timeline.memory
        assert set(timeline.memory.incidents) == {MODERN, LEGACY}
        assert timeline.probes(4, both) == []

    def test_a_list_that_was_never_seen_does_not_wait(self) -> None:
        timeline = self.unsettled()
        said = timeline.probes(3, self.BOTH.offering("abce", Era.LEGACY))
        assert said == [f"warning toolset_changed {LEGACY} {pair('abc')} -> {pair('abce')}"]

    def test_a_new_list_is_told_once_of_both_and_its_rest_is_no_news(self) -> None:
        timeline = self.unsettled()
        both = self.BOTH.offering("abce").offering("abce", Era.LEGACY)
        assert timeline.probes(3, both) == [
            f"warning {CHANGED} {pair('abc')} -> {pair('abce')}",
            f"warning toolset_changed {LEGACY} {pair('abc')} -> {pair('abce')}",
        ]
        assert timeline.probes(20, both, depth=Depth.LIGHT) == []
        assert [event.alerts for event in timeline.of(EventKind.SETTLED)] == [False]

    def test_the_other_one_needs_no_full_probe_when_a_light_one_settles_it(self) -> None:
        timeline = self.unsettled()
        both = self.BOTH.offering("abcd").offering("abcd", Era.LEGACY)
        said = timeline.probes(20, both, depth=Depth.LIGHT)
        assert [line.split()[:3] for line in said] == [
            ["warning", "settled", MODERN],
            ["warning", "settled", LEGACY],
        ]

    def test_both_flap_and_settle_in_one_run(self) -> None:
        timeline = Timeline()
        timeline.probes(2, self.BOTH)
        other = self.BOTH.offering("abcd").offering("abcd", Era.LEGACY)
        for view in (other, self.BOTH, other, self.BOTH, other, self.BOTH):
            timeline.probes(12, view)  # a loss takes five minutes
        timeline.probes(20, self.BOTH)
        flapping, settled = timeline.of(EventKind.FLAPPING), timeline.of(EventKind.SETTLED)
        assert [len({event.run for event in events}) for events in (flapping, settled)] == [1, 1]
        assert (
            {event.subject for event in flapping} == {event.subject for event in settled} == {MODERN, LEGACY}
        )
