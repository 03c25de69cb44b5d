"""The soak's judgement: it has to notice what it is made for."""

from dataclasses import replace

import pytest

from bench.soak import judge
from bench.soak.drive import Arrival
from bench.soak.judge import Told
from bench.soak.plan import Plan, Restart, Rhythm, plan

RHYTHM = Rhythm(every=60, end=1800, loss_confirm=300)
CHANNELS = ("one", "other")
CHANGE = Told(
    id="event", server="s7", word="toolset x", messages={name: f"m-{name}" for name in CHANNELS}, unsettled=()
)
PLAN = Plan(present=(7,), actions=(), outages=(), expected={7: ("toolset x",)}, rejected=0)


def arrival(channel: str, *, answered: bool = True, refused: bool = False, text: str = "s7") -> Arrival:
    return Arrival(
        at=0, channel=channel, message=f"m-{channel}", text=text, answered=answered, refused=refused
    )


ARRIVALS = [arrival(name) for name in CHANNELS]


def wrong(*, events: list[Told] | None = None, arrivals: list[Arrival] = ARRIVALS) -> list[str]:
    events = [CHANGE] if events is None else events
    return [
        *judge.right_words(PLAN, events),
        *judge.arrived_once(events, arrivals, CHANNELS),
        *judge.names_servers(events, arrivals),
    ]


def test_a_change_that_is_told_once_on_each_channel_is_right() -> None:
    assert wrong() == []


@pytest.mark.parametrize(
    ("events", "arrivals", "says"),
    [
        ([], [], "not told"),
        ([CHANGE, replace(CHANGE, id="again")], ARRIVALS, "without a reason"),
        ([replace(CHANGE, word="toolset y")], ARRIVALS, "without a reason"),
        ([CHANGE, replace(CHANGE, server=None, word="storage_fault")], ARRIVALS, "about itself"),
        ([replace(CHANGE, messages={"one": "m-one"})], ARRIVALS[:1], "no message on each channel"),
        ([CHANGE], ARRIVALS[:1], "never arrived"),
        ([CHANGE], [*ARRIVALS, ARRIVALS[0]], "does not say that it may be a repeat"),
        ([CHANGE], [arrival("one", answered=False), *ARRIVALS], "does not say that it may be a repeat"),
        ([CHANGE], [*ARRIVALS, arrival("third")], "a message about nothing"),
        ([CHANGE], [arrival(name, text="s77") for name in CHANNELS], "is not in the text"),
    ],
)
def test_what_is_lost_or_repeated_or_made_up_is_a_violation(
    events: list[Told], arrivals: list[Arrival], says: str
) -> None:
    assert any(says in each for each in wrong(events=events, arrivals=arrivals))


def test_a_repeat_is_right_after_an_attempt_that_may_have_arrived_if_it_says_so() -> None:
    labelled = arrival("one", text=f"s7 {judge.REPEAT}dw:1)")
    assert wrong(arrivals=[arrival("one", answered=False), labelled, arrival("other")]) == []


def test_a_message_that_was_refused_needs_no_label_when_it_comes_again() -> None:
    assert wrong(arrivals=[arrival("one", answered=False, refused=True), *ARRIVALS]) == []


def test_a_plan_is_the_same_for_the_same_seed_and_over_in_time() -> None:
    made = plan(1, 500, RHYTHM)
    assert made == plan(1, 500, RHYTHM)
    assert made != plan(2, 500, RHYTHM)
    assert all(0 <= action.at < RHYTHM.end for action in made.actions)
    assert all(outage.until <= RHYTHM.end for outage in made.outages)
    assert len([action for action in made.actions if isinstance(action, Restart)]) == 6
    assert len(made.expected) < 500
