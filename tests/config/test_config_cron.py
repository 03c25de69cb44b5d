from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from apscheduler.triggers.cron import CronTrigger
from hypothesis import given
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


NUMBERS = st.one_of(
    st.just("*"),
    st.builds("*/{}".format, st.integers(1, 30)),
)


@given(
    minute=st.one_of(NUMBERS, st.integers(0, 59).map(str)),
    hour=st.one_of(NUMBERS, st.integers(0, 23).map(str)),
    weekday=st.one_of(st.just("*"), st.integers(0, 7).map(str), st.just("1-5")),
    moment=st.datetimes(datetime(2026, 1, 1), datetime(2027, 1, 1)),  # noqa: DTZ001 - gets its zone below
)
def test_the_scheduler_fires_when_every_field_matches(
    minute: str, hour: str, weekday: str, moment: datetime
) -> None:
    cron = parse_cron(f"{minute} {hour} * * {weekday}")
    fire = trigger(cron).get_next_fire_time(None, moment.replace(tzinfo=UTC))
    assert fire is not None
    assert fire.minute in cron.minutes
    assert fire.hour in cron.hours
    assert fire.weekday() in cron.weekdays
    assert fire - moment.replace(tzinfo=UTC) < timedelta(days=8)


def trigger(cron: Cron) -> CronTrigger:
    """The numbers are those of APScheduler."""
    fields = (cron.minutes, cron.hours, cron.days, cron.months, cron.weekdays)
    minute, hour, day, month, day_of_week = (",".join(map(str, numbers)) for numbers in fields)
    return CronTrigger(
        minute=minute, hour=hour, day=day, month=month, day_of_week=day_of_week, timezone=ZoneInfo("UTC")
    )
