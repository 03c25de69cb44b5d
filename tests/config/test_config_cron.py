from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest
from apscheduler.triggers.cron import CronTrigger
from hypothesis import assume, given
from hypothesis import strategies as st

from driftwatch.config import InvalidValueError
from driftwatch.config.cron import Cron, parse_cron

MONDAY, SUNDAY = 0, 6


def test_stars_are_every_number() -> None:
    cron = parse_cron("* * * * *")
    assert (len(cron.minutes), len(cron.hours), len(cron.days), len(cron.months), len(cron.weekdays)) == (
        60,
        24,
        31,
        12,
        7,
    )


@pytest.mark.parametrize("weekday", ["0", "7", "sun", "SUN"])
def test_sunday_has_two_numbers_and_a_name(weekday: str) -> None:
    assert parse_cron(f"0 0 * * {weekday}").weekdays == (SUNDAY,)


@pytest.mark.parametrize("weekdays", ["1-5", "mon-fri", "mon,tue,wed-fri", "1,2,3-5"])
def test_the_working_week_begins_on_monday(weekdays: str) -> None:
    assert parse_cron(f"0 0 * * {weekdays}").weekdays == (MONDAY, 1, 2, 3, 4)


def test_lists_ranges_and_steps_are_plain_numbers() -> None:
    cron = parse_cron("*/20 8-18/5 1,15 jan-mar *")
    assert (cron.minutes, cron.hours, cron.days, cron.months) == (
        (0, 20, 40),
        (8, 13, 18),
        (1, 15),
        (1, 2, 3),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("* * * *", "not a cron expression: write minute, hour, day, month, weekday"),
        ("@daily", "not a cron expression"),
        ("0 0 0 * * *", "not a cron expression"),
        ("60 * * * *", "the minute of a cron expression is 0 to 59$"),
        ("* 24 * * *", "the hour of a cron expression is 0 to 23$"),
        ("* * 0 * *", "the day of the month of a cron expression is 1 to 31$"),
        ("* * * 13 *", "the month of a cron expression is 1 to 12, or a name such as jan"),
        ("* * * * 8", "the weekday of a cron expression is 0 to 7, or a name such as sun"),
        ("* * * * monday", "the weekday of a cron expression is 0 to 7"),
        ("*/0 * * * *", "the minute of a cron expression has a step of zero"),
        ("5/10 * * * *", r"a step in the minute of a cron expression needs \* or a range before it"),
        ("30-10 * * * *", "a range in the minute of a cron expression runs backwards"),
        ("1,,2 * * * *", r"the minute of a cron expression is \*, a number, a range or a list"),
        ("L * * * *", "the minute of a cron expression is 0 to 59"),
        ("0 0 13 * fri", "cron programs disagree"),
        ("0 0 31 2,4 *", "this day never comes in these months"),
        ("0 0 30 feb *", "this day never comes in these months"),
    ],
)
def test_what_cannot_recur_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidValueError, match=f"^{message}"):
        parse_cron(text)


def test_the_29th_of_february_does_come() -> None:
    assert parse_cron("0 0 29 2 *").days == (29,)


@pytest.mark.parametrize(
    ("text", "alike"),
    [
        ("*/20 8-10/2 * * *", "0,20,40 8,10 * * *"),
        ("0 4 * * 0", "0 4 * * sun"),
        ("0 4 * * 1-5", "0 4 * * mon,tue,wed,thu,fri"),
        ("0 4 1 jan-jul/3 *", "0 4 1 1,4,7 *"),
    ],
)
def test_a_cron_line_is_written_so_that_every_program_reads_it_alike(text: str, alike: str) -> None:
    cron = parse_cron(text)
    assert str(cron) == alike
    assert replace(parse_cron(alike), text=text) == cron


@st.composite
def lines(draw: st.DrawFn) -> str:
    def field(low: int, high: int) -> str:
        first, last = sorted((draw(st.integers(low, high)), draw(st.integers(low, high))))
        step = draw(st.integers(1, high))
        return draw(
            st.sampled_from(["*", "*", f"{first}", f"{first}-{last}", f"{first}-{last}/{step}", f"*/{step}"])
        )

    weekday = draw(st.sampled_from(["*", field(0, 7)]))
    day = "*" if weekday != "*" else field(1, 28)
    return f"{field(0, 59)} {field(0, 23)} {day} {field(1, 12)} {weekday}"


@given(lines(), st.integers(0, 365 * 24 * 60))
def test_the_scheduler_fires_when_every_field_matches(line: str, minute: int) -> None:
    after = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(minutes=minute)
    try:
        cron = parse_cron(line)
    except InvalidValueError:
        assume(condition=False)
    fire = CronTrigger.from_crontab(str(cron), timezone=UTC).get_next_fire_time(None, after)
    assert fire is not None
    assert matches(cron, fire)
    day = after.date()
    while not matches_day(cron, day):
        day += timedelta(days=1)
    # Nothing in between: the scheduler's day is the first that matches, or the next one when that is over.
    assert fire.date() == day or (day == after.date() and fire.date() > day)


def matches(cron: Cron, at: datetime) -> bool:
    return at.minute in cron.minutes and at.hour in cron.hours and matches_day(cron, at.date())


def matches_day(cron: Cron, day: date) -> bool:
    return day.day in cron.days and day.month in cron.months and day.weekday() in cron.weekdays
