from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.deploys import Look, Phase, Progress, Rules, advance, next_read, phase

START = datetime(2026, 3, 1, tzinfo=UTC)
TOOLS = "toolset:modern:anonymous"
RULES = Rules(reads=3, timeout=timedelta(minutes=5))
DOWN = "-"
"""A read that saw no list."""


def read(answers: str, *, before: str = "a", full: Sequence[int] = (0,), root: str | None = None) -> Progress:
    """A run of reads, each a letter for the list that it saw; ``full`` numbers the full probes."""
    known = {TOOLS: before} if before else {}
    progress = Progress(started_at=START, before=known, accepted=known, root=root)
    for number, answer in enumerate(answers):
        look = Look(
            at=START + timedelta(seconds=5 * number),
            full=number in full,
            toolsets={} if answer == DOWN else {TOOLS: answer},
            root="failed:refused" if answer == DOWN else "verified",
        )
        progress = advance(progress, look)
    return progress


def ends(progress: Progress, after: float = 30, *, pending: bool = False) -> Phase:
    return phase(progress, RULES, START + timedelta(seconds=after), pending=pending)


@pytest.mark.parametrize(
    ("answers", "after", "expected"),
    [
        ("aa", 30, Phase.READING),
        ("aaa", 30, Phase.SETTLED),
        ("bbb", 30, Phase.SETTLED),
        ("abb", 30, Phase.READING),
        ("---", 30, Phase.READING),
        # Too few, and the time is up.
        ("abab", 300, Phase.UNSETTLED),
        ("a-b", 300, Phase.UNSETTLED),
        ("bbb--", 300, Phase.LOST),
        ("-----", 300, Phase.LOST),
        ("---a", 300, Phase.UNSURE),
        # An answer that was left before takes twice as many: the rollout may be half-way.
        ("abaaa", 30, Phase.READING),
        ("abaaaaaa", 30, Phase.SETTLED),
        ("ababbb", 30, Phase.READING),
        ("ababbbbbb", 30, Phase.SETTLED),
        # What is not seen for a moment is not another answer.
        ("a-aaa", 30, Phase.SETTLED),
    ],
)
def test_reads_settle_when_enough_of_them_agree(answers: str, after: float, expected: Phase) -> None:
    assert ends(read(answers, full=range(20)), after) is expected


def test_an_answer_that_no_full_probe_has_seen_is_not_settled() -> None:
    assert ends(read("abbb", full=[0])) is Phase.READING
    assert ends(read("abbb", full=[0, 2])) is Phase.SETTLED
    assert ends(read("abbb", full=[0]), 300) is Phase.SETTLED


def test_a_check_in_doubt_goes_on_until_the_time_is_up() -> None:
    assert ends(read("aaa"), pending=True) is Phase.READING
    assert ends(read("aaa"), 300, pending=True) is Phase.SETTLED


def test_a_server_that_never_showed_a_list_settles_on_the_state_of_its_endpoint() -> None:
    progress = read("---", before="", root="failed:refused")
    assert ends(progress) is Phase.SETTLED
    assert not progress.changed


def test_the_change_is_what_differs_from_what_was_there_before() -> None:
    assert not read("baaa").changed
    assert read("abbb").changed
    assert not read("aaa", before="").changed


def test_the_drift_is_what_differs_from_what_was_accepted_when_the_run_began() -> None:
    assert read("abbb").drifted == {TOOLS: ("a", "b")}
    assert read("baaa").drifted == {}
    assert read("aaa", before="").drifted == {}
    kept = replace(read("bbb", before="b"), accepted={TOOLS: "a"})
    assert not kept.changed
    assert kept.drifted == {TOOLS: ("a", "b")}


def test_every_value_is_counted() -> None:
    progress = read("ab-abb")
    assert progress.spoken(TOOLS) == {"a": 2, "b": 3}
    assert (progress.reads, progress.agreeing) == (6, 2)


@given(answers=st.text("abc-", max_size=30))
def test_progress_goes_through_json_at_any_moment(answers: str) -> None:
    progress = read(answers, root="not_checked:auth")
    assert Progress.from_json(progress.to_json()) == progress


@given(answers=st.text("abc-", min_size=1, max_size=30))
def test_every_run_is_over_when_its_time_is_up(answers: str) -> None:
    assert ends(read(answers), 300) is not Phase.READING


@given(
    reads=st.integers(0, 60),
    made=st.integers(0, 400),
    timeout=st.timedeltas(timedelta(seconds=1), timedelta(hours=1)),
)
def test_the_next_read_is_soon_and_one_is_made_when_the_time_is_up(
    reads: int, made: int, timeout: timedelta
) -> None:
    now, rules = START + timedelta(seconds=made), Rules(timeout=timeout)
    due = next_read(Progress(started_at=START, reads=reads), rules, now)
    assert now <= due <= now + timedelta(seconds=30)
    assert due <= max(now, START + timeout)


def test_a_rollout_that_takes_its_time_is_probed_less_often() -> None:
    pauses = [
        (next_read(Progress(started_at=START, reads=reads), RULES, START) - START).total_seconds()
        for reads in (1, 5, 6, 12, 36, 100)
    ]
    assert pauses == [5, 5, 10, 15, 30, 30]


def test_a_read_that_is_shown_several_lists_agrees_with_nothing() -> None:
    progress = read("aa")
    look = Look(at=START, full=True, toolsets={TOOLS: "a"}, root="verified", also={TOOLS: "b"}, in_doubt=True)
    progress = advance(progress, look)
    assert (progress.agreeing, progress.thorough) == (0, False)
    assert progress.spoken(TOOLS) == {"a": 3, "b": 1}
    assert ends(progress) is Phase.READING
    assert ends(progress, 300) is Phase.UNSETTLED


def test_reads_that_met_other_revisions_have_not_settled_when_the_time_is_up() -> None:
    spoken = {"revision:legacy": {"2025-11-25": 2, "2025-06-18": 1}}
    assert ends(replace(read("aa"), revisions=spoken), after=301) is Phase.UNSETTLED
    assert ends(read("aa"), after=301) is Phase.UNSURE
