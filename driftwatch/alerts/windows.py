"""Maintenance windows: when one holds, whatever the clocks of its time zone do (pure).

Times of day are those that a clock on the wall shows. A window of every day covers every time it names: it
begins when the clock first shows ``from`` and ends when it last shows ``to``, so the hour that comes twice in
autumn makes it longer. A window with ``cron`` begins once, the first time, and lasts as long as it says. A
time that is skipped in spring is the moment of the jump.
"""

from collections.abc import Iterator
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from driftwatch.config.alerting import Window
from driftwatch.config.cron import Cron
from driftwatch.config.quantities import format_duration

_DAY = timedelta(days=1)
_EVERY_HOUR = 24


def ends_at(window: Window, now: datetime) -> datetime | None:
    """When the occurrence of a window that holds at ``now`` ends; None outside of one."""
    if window.cron is not None:
        return _end_of_cron(window.cron, window.duration, window.timezone, now)
    start, end = window.start, window.end
    if isinstance(start, datetime) and isinstance(end, datetime):
        return end.astimezone(UTC) if start.astimezone(UTC) <= now < end.astimezone(UTC) else None
    if isinstance(start, time) and isinstance(end, time):
        return _end_of_day(start, end, window.timezone, now)
    return None


def words(window: Window) -> str:
    """A window as people recognise it in their configuration."""
    about = ", ".join((*window.servers, *window.tags))
    if window.cron is not None:
        when = f"{window.cron.text} for {format_duration(window.duration)}"
    else:
        when = f"{_clock(window.start)} to {_clock(window.end)}"
    return f"window {when} {window.timezone}{f' ({about})' if about else ''}"


def _end_of_cron(cron: Cron, lasting: timedelta, zone: tzinfo, now: datetime) -> datetime | None:
    day, oldest = now.astimezone(zone).date(), (now - lasting).astimezone(zone).date() - _DAY
    while day >= oldest:
        begun = [start for start in _starts(cron, day, zone) if start <= now]
        if begun:
            end = max(begun) + lasting
            return end if now < end else None
        day -= _DAY
    return None


def _starts(cron: Cron, day: date, zone: tzinfo) -> Iterator[datetime]:
    if day.month not in cron.months or day.day not in cron.days or day.weekday() not in cron.weekdays:
        return
    hourly = len(cron.hours) == _EVERY_HOUR
    for hour in cron.hours:
        for minute in cron.minutes:
            shown = datetime.combine(day, time(hour, minute))
            if not hourly:
                yield _first(shown, zone)
            elif _exists(shown, zone):
                # What comes every hour comes in an hour that is there twice, and not in one that is skipped.
                yield from {_first(shown, zone), _last(shown, zone)}


def _end_of_day(start: time, end: time, zone: tzinfo, now: datetime) -> datetime | None:
    today = now.astimezone(zone).date()
    for day in (today + _DAY, today, today - _DAY):
        begins = _first(datetime.combine(day, start), zone)
        ends = _last(datetime.combine(day if start < end else day + _DAY, end), zone)
        if begins <= now < ends:
            return ends
    return None


def _first(shown: datetime, zone: tzinfo) -> datetime:
    """When a clock on the wall first shows this time."""
    return _moment(shown, zone, fold=0)


def _last(shown: datetime, zone: tzinfo) -> datetime:
    """When a clock on the wall last shows this time."""
    return _moment(shown, zone, fold=1)


def _moment(shown: datetime, zone: tzinfo, *, fold: int) -> datetime:
    if _exists(shown, zone):
        return shown.replace(tzinfo=zone, fold=fold).astimezone(UTC)
    # Read with the offset of after the jump it lies before it, and the other way round.
    before, after = (shown.replace(tzinfo=zone, fold=side).astimezone(UTC) for side in (1, 0))
    offset = after.astimezone(zone).utcoffset()
    while after - before > timedelta(seconds=1):
        middle = (before + (after - before) / 2).replace(microsecond=0)
        if middle.astimezone(zone).utcoffset() == offset:
            after = middle
        else:
            before = middle
    return after


def _exists(shown: datetime, zone: tzinfo) -> bool:
    return shown.replace(tzinfo=zone).astimezone(UTC).astimezone(zone).replace(tzinfo=None) == shown


def _clock(moment: datetime | time | None) -> str:
    form = "%Y-%m-%d %H:%M" if isinstance(moment, datetime) else "%H:%M"
    return moment.strftime(form) if moment else ""
