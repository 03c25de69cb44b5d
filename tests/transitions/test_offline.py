"""When many servers that fail at once are driftwatch's own network."""

from dataclasses import replace
from datetime import datetime, timedelta

import pytest

from driftwatch.model import Depth, Trigger
from driftwatch.transitions import Memory, check_subject
from driftwatch.transitions.offline import (
    Cut,
    Sight,
    cut_of,
    recent,
    suspected,
    unanswered,
    was_well,
    without_doubt,
)
from tests.transitions.timeline import ENDPOINT, HEALTHY, START, Timeline, View, down

SECOND = timedelta(seconds=1)


def sights(*fates: str) -> list[Sight]:
    """One per host, a second apart: ``lost`` or ``well``."""
    return [
        Sight(host=f"h{number}", at=START + number * SECOND, lost=fate == "lost")
        for number, fate in enumerate(fates)
    ]


def cut(hosts: int, lost: int) -> Cut:
    return Cut(since=START, hosts=hosts, lost=lost)


@pytest.mark.parametrize(
    ("seen", "fleet", "canary", "ours"),
    [
        (cut(1, 1), 1, True, False),
        (cut(2, 2), 2, True, False),
        (cut(3, 3), 3, True, True),
        (cut(3, 3), 3, False, True),
        (cut(5, 4), 5, True, True),
        (cut(5, 4), 5, False, False),
        (cut(5, 3), 5, True, False),
        (cut(3, 3), 40, True, False),
        (cut(8, 8), 40, False, True),
        (cut(8, 7), 40, True, True),
        (cut(8, 7), 40, False, False),
        (None, 5, True, False),
    ],
)
def test_it_takes_three_hosts_and_nearly_all_that_were_looked_at(
    seen: Cut | None,
    fleet: int,
    canary: bool,  # noqa: FBT001 - columns of the table
    ours: bool,  # noqa: FBT001
) -> None:
    assert suspected(seen, hosts=fleet, canary=canary, offline=False) is ours


def test_it_is_over_when_enough_hosts_answer() -> None:
    assert suspected(cut(1, 1), hosts=5, canary=False, offline=True)
    assert not suspected(cut(5, 4), hosts=5, canary=False, offline=True)
    assert suspected(cut(5, 4), hosts=5, canary=True, offline=True)
    assert not suspected(cut(5, 3), hosts=5, canary=True, offline=True)
    assert not suspected(None, hosts=5, canary=True, offline=True)


def test_a_probe_before_the_first_failure_says_nothing() -> None:
    assert cut_of(sights("well", "well", "lost", "lost", "well")) == Cut(
        since=START + 2 * SECOND, hosts=3, lost=2
    )
    assert cut_of(sights("well", "well")) is None


def test_a_host_with_one_server_that_answers_is_there() -> None:
    one, other = sights("lost", "well")
    assert cut_of([one, replace(other, host=one.host)]) == Cut(since=START, hosts=1, lost=0)


def test_failures_that_are_long_ago_are_no_coincidence() -> None:
    seen = sights("lost", "well")
    assert recent(seen, START + timedelta(minutes=5)) == seen
    assert recent(seen, START + timedelta(minutes=11)) == seen[1:]


@pytest.mark.parametrize("code", ["dns", "refused", "unreachable", "timeout", "reset", "deadline"])
def test_only_what_nobody_answered_counts(code: str) -> None:
    timeline = Timeline()
    report = replace(timeline.report(down(code), Depth.LIGHT, Trigger.INTERVAL), reachable=False)
    assert unanswered(report)
    assert not unanswered(replace(report, reachable=True))
    for other in (HEALTHY, down("http-5xx"), View(states={ENDPOINT: "not_checked:auth"})):
        seen = timeline.report(other, Depth.LIGHT, Trigger.INTERVAL)
        assert not unanswered(replace(seen, reachable=False))


def test_a_server_that_was_down_before_is_not_asked() -> None:
    timeline = Timeline()
    assert was_well(None)
    timeline.probe(HEALTHY)
    timeline.probes(2, down())
    assert was_well(timeline.memory)
    timeline.probes(1, down())
    assert not was_well(timeline.memory)


def test_what_was_in_doubt_when_it_was_cut_off_is_forgotten() -> None:
    timeline = Timeline()
    timeline.probe(HEALTHY)
    timeline.probes(2, down())
    assert timeline.memory
    over_at: datetime = timeline.now
    timeline.memory = without_doubt(timeline.memory, over_at)
    assert timeline.probes(2, down()) == []
    assert timeline.probe(down()) == ["error change transport/endpoint verified -> failed:dns"]
    kept: Memory = without_doubt(timeline.memory, over_at)
    assert kept.states[check_subject(ENDPOINT)].confirmed == "failed:dns"
