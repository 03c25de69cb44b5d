from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.schedule.due import SHORTEST_GAP, START_SPREAD, DueTimes, first_due

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
QUARTER = timedelta(minutes=15)
SIX_HOURS = timedelta(hours=6)


def due_times(
    name: str = "api",
    *,
    interval: timedelta = QUARTER,
    schedule: str | None = None,
    timezone: str = "UTC",
    random: Callable[[], float] = lambda: 0.0,
) -> DueTimes:
    return DueTimes(
        name,
        interval=interval,
        full_interval=SIX_HOURS,
        schedule=schedule,
        timezone=timezone,
        random=random,
    )


@given(
    name=st.text(min_size=1),
    seconds=st.integers(1, 86_400),
    offset=st.integers(0, 10**8),
    luck=st.floats(0, 1),
)
def test_the_next_due_time_lies_within_one_interval_and_its_jitter(
    name: str, seconds: int, offset: int, luck: float
) -> None:
    interval = timedelta(seconds=seconds)
    now = NOW + timedelta(seconds=offset)
    due = due_times(name, interval=interval, random=lambda: luck).after(now, next_full_at=now).next_due_at
    assert now < due <= now + interval * 1.1 + timedelta(microseconds=1)


def test_without_jitter_due_times_are_whole_intervals_apart_whenever_one_asks() -> None:
    times = due_times()
    first = times.after(NOW, next_full_at=NOW).next_due_at
    assert times.after(first, next_full_at=NOW).next_due_at == first + QUARTER
    assert times.after(first + timedelta(minutes=7), next_full_at=NOW).next_due_at == first + QUARTER


def test_jitter_never_makes_a_server_due_twice_in_one_slot() -> None:
    late = due_times(random=lambda: 1.0)
    due = late.after(NOW, next_full_at=NOW).next_due_at
    following = due_times().after(due, next_full_at=NOW).next_due_at
    assert following - due >= QUARTER * 0.9


def test_missed_runs_coalesce_into_one() -> None:
    times = due_times()
    a_week_later = NOW + timedelta(days=7)
    assert times.after(a_week_later, next_full_at=NOW).next_due_at > a_week_later


def test_servers_of_one_interval_spread_over_it() -> None:
    minutes = {
        due_times(f"server-{number}").after(NOW, next_full_at=NOW).next_due_at.minute for number in range(200)
    }
    assert len(minutes) == 15


def test_the_phase_belongs_to_the_name_so_a_restart_changes_nothing() -> None:
    assert due_times().after(NOW, next_full_at=NOW) == due_times().after(NOW, next_full_at=NOW)


def test_a_full_probe_that_is_not_due_yet_stays_planned() -> None:
    planned = NOW + timedelta(hours=2)
    assert due_times().after(NOW, next_full_at=planned).next_full_at == planned
    assert due_times().after(NOW, next_full_at=NOW).next_full_at > NOW


def test_a_cron_line_counts_in_its_own_zone_and_makes_every_probe_full() -> None:
    berlin = due_times(schedule="30 3 * * *", timezone="Europe/Berlin")
    schedule = berlin.after(datetime(2026, 7, 1, tzinfo=UTC), next_full_at=NOW)
    assert schedule.next_due_at == schedule.next_full_at == datetime(2026, 7, 1, 1, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("line", "day", "fires"),
    [
        # 2026-03-29: 02:00 to 03:00 is left out in Berlin; 2026-10-25: it comes twice.
        ("30 3 * * *", datetime(2026, 3, 28, 3, tzinfo=UTC), [(29, 1, 30), (30, 1, 30)]),
        ("30 3 * * *", datetime(2026, 10, 24, 3, tzinfo=UTC), [(25, 2, 30), (26, 2, 30)]),
        ("30 1 * * *", datetime(2026, 3, 28, 3, tzinfo=UTC), [(29, 0, 30), (29, 23, 30)]),
        ("0 * * * *", datetime(2026, 3, 29, 0, 30, tzinfo=UTC), [(29, 1, 0), (29, 2, 0)]),
    ],
)
def test_the_edges_of_summer_time_neither_leave_a_probe_out_nor_double_it(
    line: str, day: datetime, fires: list[tuple[int, int, int]]
) -> None:
    berlin, at, seen = due_times(schedule=line, timezone="Europe/Berlin"), day, []
    for _ in fires:
        at = berlin.after(at, next_full_at=NOW).next_due_at
        seen.append((at.day, at.hour, at.minute))
    assert seen == fires


@pytest.mark.parametrize(
    ("first", "nights"),
    [
        (datetime(2026, 3, 28, tzinfo=UTC), ["28 02:30", "29 03:30", "30 02:30"]),
        # The hour that comes twice has two probes: one too many says nothing twice.
        (datetime(2026, 10, 24, tzinfo=UTC), ["24 02:30", "25 02:30", "25 02:30", "26 02:30"]),
    ],
)
def test_a_nightly_probe_in_the_hour_that_is_missing_or_doubled_is_never_left_out(
    first: datetime, nights: list[str]
) -> None:
    berlin, at, seen = due_times(schedule="30 2 * * *", timezone="Europe/Berlin"), first, []
    for _ in nights:
        at = berlin.after(at, next_full_at=NOW).next_due_at
        seen.append(at.astimezone(ZoneInfo("Europe/Berlin")).strftime("%d %H:%M"))
    assert seen == nights


@pytest.mark.parametrize(
    ("line", "longest"),
    [("0 3 * * *", timedelta(days=2)), ("0 3 * * mon-fri", timedelta(days=6)), ("* * * * *", SHORTEST_GAP)],
)
def test_two_missed_probes_are_a_gap(line: str, longest: timedelta) -> None:
    assert due_times(schedule=line).overdue_after == longest


def test_a_short_interval_has_no_gap_in_a_restart() -> None:
    assert due_times().overdue_after == 2 * QUARTER
    assert due_times(schedule="0 0 30 2 *").overdue_after == timedelta.max


def test_a_cron_line_that_never_comes_is_never_due() -> None:
    assert due_times(schedule="0 0 30 2 *").after(NOW, next_full_at=NOW).next_due_at.year == 9999


@pytest.mark.parametrize(("fleet", "longest"), [(1, timedelta(0)), (10, timedelta(seconds=3))])
def test_a_small_fleet_is_probed_soon_after_the_start(fleet: int, longest: timedelta) -> None:
    assert all(NOW <= first_due(f"s{number}", NOW, fleet) <= NOW + longest for number in range(fleet))


def test_a_large_fleet_is_spread_over_a_minute_at_the_start() -> None:
    dues = [first_due(f"s{number}", NOW, 5000) for number in range(5000)]
    assert max(dues) <= NOW + START_SPREAD
    assert max(dues) - min(dues) > START_SPREAD * 0.9
