"""When a maintenance window holds: around both edges of daylight saving time, by the clock on the wall.

In Berlin the clocks went from 02:00 to 03:00 on 2026-03-29 (01:00 UTC) and from 03:00 back to 02:00 on
2026-10-25 (01:00 UTC).
"""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from driftwatch.alerts.windows import ends_at, words
from driftwatch.config import Alerts, Window
from tests.quiet.street import DOWN, HOUR, MINUTE, Street

BERLIN = "Europe/Berlin"
NEW_YORK = "America/New_York"


def utc(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def held(day: str, **window: Any) -> list[str]:
    """The stretches in UTC that begin between noon of the day before and noon of the day after."""
    made = Window.model_validate(window)
    now, until = utc(day) - timedelta(hours=12), utc(day) + timedelta(hours=36)
    stretches = []
    while now < until:
        end = ends_at(made, now)
        if end is None:
            now += timedelta(minutes=5)
            continue
        assert ends_at(made, now - timedelta(microseconds=1)) is None
        assert ends_at(made, end - timedelta(microseconds=1)) == end
        stretches.append(f"{now:%d %H:%M} - {end:%d %H:%M}")
        now = end
    return stretches


SPRING, AUTUMN = "2026-03-29", "2026-10-25"


@pytest.mark.parametrize(
    ("day", "window", "stretches"),
    [
        # Every day, over midnight: an hour shorter in spring, an hour longer in autumn.
        (SPRING, {"from": "22:30", "to": "06:00"}, ["28 21:30 - 29 04:00", "29 20:30 - 30 04:00"]),
        (AUTUMN, {"from": "22:30", "to": "06:00"}, ["24 20:30 - 25 05:00", "25 21:30 - 26 05:00"]),
        # It begins or ends at a time that is skipped: that is the moment of the jump.
        (SPRING, {"from": "02:30", "to": "04:00"}, ["29 01:00 - 29 02:00", "30 00:30 - 30 02:00"]),
        (SPRING, {"from": "01:00", "to": "02:30"}, ["29 00:00 - 29 01:00", "29 23:00 - 30 00:30"]),
        # The whole window is skipped.
        (SPRING, {"from": "02:15", "to": "02:45"}, ["30 00:15 - 30 00:45"]),
        # It begins or ends at a time that comes twice: from the first to the last.
        (AUTUMN, {"from": "02:30", "to": "04:00"}, ["25 00:30 - 25 03:00", "26 01:30 - 26 03:00"]),
        (AUTUMN, {"from": "01:00", "to": "02:30"}, ["24 23:00 - 25 01:30", "26 00:00 - 26 01:30"]),
        # With cron it begins once and lasts as long as it says.
        (SPRING, {"cron": "30 1 * * *", "duration": "2h"}, ["29 00:30 - 29 02:30", "29 23:30 - 30 01:30"]),
        (SPRING, {"cron": "30 2 * * *", "duration": "1h"}, ["29 01:00 - 29 02:00", "30 00:30 - 30 01:30"]),
        (AUTUMN, {"cron": "30 2 * * *", "duration": "1h"}, ["25 00:30 - 25 01:30", "26 01:30 - 26 02:30"]),
        (AUTUMN, {"cron": "0 4 * * sun", "duration": "30m"}, ["25 03:00 - 25 03:30"]),
        # Across the edge it lasts as long as on any other day.
        (AUTUMN, {"cron": "0 23 * * sat", "duration": "8h"}, ["24 21:00 - 25 05:00"]),
    ],
)
def test_a_window_follows_the_clock_of_its_zone(
    day: str, window: dict[str, Any], stretches: list[str]
) -> None:
    assert held(day, timezone=BERLIN, **window) == stretches


def test_what_comes_every_hour_comes_in_each_hour_that_there_is() -> None:
    autumn = held(AUTUMN, timezone=BERLIN, cron="0 * * * *", duration="5m")
    spring = held(SPRING, timezone=BERLIN, cron="0 * * * *", duration="5m")
    assert len(autumn) == len(spring) == 48
    half = held(SPRING, timezone=BERLIN, cron="30 * * * *", duration="10m")
    assert len(half) == 48


@pytest.mark.parametrize(
    ("zone", "now", "end"),
    [
        (BERLIN, "2026-07-01T21:59", None),
        (BERLIN, "2026-07-01T22:00", "2026-07-01T23:00"),  # 00:00 in Berlin
        ("UTC", "2026-07-01T22:00", None),
        (NEW_YORK, "2026-07-01T04:00", "2026-07-01T05:00"),
        ("Asia/Kathmandu", "2026-07-01T18:15", "2026-07-01T19:15"),
    ],
)
def test_the_same_hours_are_other_moments_elsewhere(zone: str, now: str, end: str | None) -> None:
    window = Window.model_validate({"from": "00:00", "to": "01:00", "timezone": zone})
    assert ends_at(window, utc(now)) == (utc(end) if end else None)


def test_a_window_for_once_holds_once() -> None:
    window = Window.model_validate({"from": "2026-12-24 22:30", "to": "2026-12-26 08:00", "timezone": BERLIN})
    assert ends_at(window, utc("2026-12-24T21:29")) is None
    assert ends_at(window, utc("2026-12-24T21:30")) == utc("2026-12-26T07:00")
    assert ends_at(window, utc("2026-12-26T07:00")) is None


def test_a_week_long_window_begins_on_its_day() -> None:
    window = Window.model_validate({"cron": "0 0 1 * *", "duration": "7d"})
    assert ends_at(window, utc("2026-03-07T23:59")) == utc("2026-03-08T00:00")
    assert ends_at(window, utc("2026-03-08T00:00")) is None
    assert ends_at(window, utc("2026-02-28T23:59")) is None


@pytest.mark.parametrize(
    ("window", "said"),
    [
        ({"cron": "0 4 * * sun", "duration": "2h"}, "window 0 4 * * sun for 2h UTC"),
        ({"from": "22:30", "to": "06:00", "timezone": BERLIN}, "window 22:30 to 06:00 Europe/Berlin"),
        (
            {"from": "2026-12-24 22:30", "to": "2026-12-26 08:00", "servers": ["api"], "tags": ["prod"]},
            "window 2026-12-24 22:30 to 2026-12-26 08:00 UTC (api, prod)",
        ),
    ],
)
def test_a_window_is_recognised_by_what_stands_in_the_configuration(
    window: dict[str, Any], said: str
) -> None:
    assert words(Window.model_validate(window)) == said


@pytest.mark.parametrize(
    ("start", "begins_h", "lasts_h"),
    [("2026-03-28T20:00", 1.5, 6.5), ("2026-10-24T20:00", 0.5, 8.5)],
)
async def test_what_broke_in_the_night_of_the_change_is_told_when_the_window_ends(
    tmp_path: Path, start: str, begins_h: float, lasts_h: float
) -> None:
    window = {"from": "22:30", "to": "06:00", "timezone": BERLIN, "tags": ["prod"]}
    street = Street(
        tmp_path / "driftwatch.db", start=utc(start), alerts=Alerts.model_validate({"window": [window]})
    )
    await street.probe("api")
    assert await street.wait(begins_h * HOUR + MINUTE) == []
    await street.probe("api", DOWN)
    end = utc(start) + (begins_h + lasts_h) * HOUR
    assert await street.wait(end - street.clock.now() - MINUTE, step=10 * MINUTE) == []
    (title,) = await street.wait(2 * MINUTE)
    assert title.startswith("api: down")
    assert await street.wait(12 * HOUR, step=HOUR) == []
    street.store.close()
