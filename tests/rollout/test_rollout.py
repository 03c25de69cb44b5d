from collections.abc import Iterator

import pytest

from driftwatch.deploys import DeployOutcome
from driftwatch.model import DeployState, DeployVerdict, Depth, Era, Event, EventKind
from tests.rollout.scene import SECOND, Scene, scene, seen
from tests.store.world import MINUTE

FULL, LIGHT = Depth.FULL, Depth.LIGHT


@pytest.fixture
def it() -> Iterator[Scene]:
    with scene() as made:
        yield made


def outcome(it: Scene, release: str = "r0") -> DeployOutcome:
    with it.store.read() as reader:
        (found,) = reader.deploy(release)
    return found


def told(it: Scene) -> list[Event]:
    """What has left for the channel, or would now."""
    with it.store.write() as tx:
        return [each.event for each in tx.pending_deliveries(it.clock())]


def test_the_first_read_is_full_and_the_others_are_light(it: Scene) -> None:
    it.announce()
    assert it.read_on("d", "d") == [FULL, LIGHT]
    assert outcome(it).verdict is DeployVerdict.OK


def test_an_answer_that_no_full_probe_has_seen_is_given_one(it: Scene) -> None:
    it.announce()
    assert it.read_on("d", "e", "e") == [FULL, LIGHT, FULL]
    assert outcome(it).changed


def test_a_check_in_doubt_is_looked_at_again_as_deeply_and_told_at_the_end(it: Scene) -> None:
    broken = seen("e").but(session__ended="failed:reused")
    it.announce()
    assert it.read_on(broken) == [FULL]
    assert told(it) == []
    assert it.read_on(broken) == [FULL]
    kinds = {(event.kind, event.subject) for event in told(it)}
    assert (EventKind.CHANGE, "check:session/ended") in kinds
    assert EventKind.TOOLSET_CHANGED in {kind for kind, _ in kinds}
    assert {event.details["release"]["relation"] for event in told(it)} == {"by"}
    assert outcome(it).verdict is DeployVerdict.FAILED


def test_a_read_that_began_before_another_announcement_joined_does_not_count(it: Scene) -> None:
    it.announce()
    it.clock.advance(2 * SECOND)
    (read,) = it.take()
    it.announce()  # within the moment in which announcements join
    it.record(read, seen("e"))
    assert outcome(it).state is DeployState.SETTLING
    (following,) = it.deploy_reads()
    assert following.due_at > it.clock()
    assert it.read_on("d", "d") == [FULL, LIGHT]
    assert not outcome(it).changed


def test_nothing_is_told_of_an_outage_before_the_time_is_up(it: Scene) -> None:
    it.announce()
    it.read_on("-", "-", "-")
    assert outcome(it).state is DeployState.SETTLING
    it.clock.advance(2 * MINUTE)
    it.read_on("-")
    (event,) = told(it)
    assert (event.kind, event.after) == (EventKind.CHANGE, "failed:refused")
    assert event.details["release"]["relation"] == "after"
    assert (outcome(it).state, outcome(it).verdict) == (DeployState.INCONCLUSIVE, DeployVerdict.FAILED)


def test_a_release_after_which_a_server_is_still_down_is_told_although_nothing_changed(it: Scene) -> None:
    for _ in range(4):
        it.clock.advance(15 * MINUTE)
        it.probe("-")
    before = len(told(it))
    it.announce()
    it.read_on("-")
    it.clock.advance(2 * MINUTE)
    it.read_on("-")
    (event,) = told(it)[before:]
    assert event.kind is EventKind.DEPLOYED
    assert outcome(it).events == (event.id,)


def test_eras_that_differ_when_the_time_is_up_are_told_and_nothing_else(it: Scene) -> None:
    both = seen("d").offering("abcd", Era.LEGACY)
    it.announce()
    it.read_on("d", both, "d", both)
    it.clock.advance(2 * MINUTE)
    it.read_on("d")
    (event,) = told(it)
    assert event.details["values"] == {"modern": 3, "modern+legacy": 2}
    assert (event.kind, event.subject) == (EventKind.UNSETTLED, "eras")
    assert outcome(it).verdict is DeployVerdict.UNSETTLED


def test_answers_that_differ_when_the_time_is_up_are_told_with_their_counts(it: Scene) -> None:
    it.announce()
    it.read_on("d", "e", "d", "e")
    it.clock.advance(2 * MINUTE)
    it.read_on("d")
    (event,) = told(it)
    assert event.kind is EventKind.UNSETTLED
    assert sorted(event.details["values"].values()) == [2, 3]
    assert outcome(it).verdict is DeployVerdict.UNSETTLED


def test_what_is_new_after_another_announcement_is_told_as_that_ones_doing(it: Scene) -> None:
    it.announce()
    it.read_on("e")
    it.clock.advance(4 * SECOND)
    it.announce()  # a repair, while the first release is still being read
    assert it.read_on("f", "f", "f") == [LIGHT, FULL, LIGHT]
    changed = [event for event in told(it) if event.kind is EventKind.TOOLSET_CHANGED]
    assert changed
    assert {event.details["release"]["ref"] for event in changed} == {"r1"}
    assert {event.details["release"]["previous_ref"] for event in changed} == {"r0"}
    assert outcome(it, "r0").run_release == "r1"
    assert outcome(it, "r0").verdict is outcome(it, "r1").verdict is DeployVerdict.BREAKING
    assert it.under_way() == []


def test_what_was_there_before_another_announcement_stays_the_first_ones_doing(it: Scene) -> None:
    it.announce()
    it.read_on("e")
    it.clock.advance(4 * SECOND)
    it.announce()
    it.read_on("e", "e", "e")
    changed = [event for event in told(it) if event.kind is EventKind.TOOLSET_CHANGED]
    assert {event.details["release"]["ref"] for event in changed} == {"r0"}
    assert outcome(it, "r1").state is DeployState.SETTLED
    assert it.under_way() == []
