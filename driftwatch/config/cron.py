"""Cron expressions: five fields, read once into plain numbers.

Cron programs disagree about some things, so they are settled here and nobody else has to know: a weekday
may be 0 or 7 for Sunday and becomes Python's (Monday is 0); a day of the month together with a weekday is
refused, and so is an expression that can never come, such as the 31st of February.
"""

import re
from dataclasses import dataclass

from driftwatch.config.quantities import InvalidValueError

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_LONGEST = {1: 31, 2: 29, 3: 31, 4: 30, 5: 31, 6: 30, 7: 31, 8: 31, 9: 30, 10: 31, 11: 30, 12: 31}
_ITEM = re.compile(r"(?:\*|(?P<first>\w+)(?:-(?P<last>\w+))?)(?:/(?P<step>[0-9]{1,2}))?")


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def number(self, text: str) -> int:
        lowered = text.lower()
        if lowered in self.names:
            return self.low + self.names.index(lowered)
        if re.fullmatch("[0-9]{1,2}", text) and self.low <= int(text) <= self.high:
            return int(text)
        named = f", or a name such as {self.names[0]}" if self.names else ""
        raise InvalidValueError(f"the {self.name} of a cron expression is {self.low} to {self.high}{named}")

    def numbers(self, text: str) -> tuple[int, ...]:
        chosen: set[int] = set()
        for item in text.split(","):
            found = _ITEM.fullmatch(item)
            if found is None:
                raise InvalidValueError(
                    f"the {self.name} of a cron expression is *, a number, a range or a list of these"
                )
            step = int(found["step"] or 1)
            if step == 0:
                raise InvalidValueError(f"the {self.name} of a cron expression has a step of zero")
            if found["first"] is None:
                first, last = self.low, self.high
            else:
                first = self.number(found["first"])
                last = self.number(found["last"]) if found["last"] else first
                if found["step"] and not found["last"]:
                    raise InvalidValueError(
                        f"a step in the {self.name} of a cron expression needs * or a range before it"
                    )
            if last < first:
                raise InvalidValueError(f"a range in the {self.name} of a cron expression runs backwards")
            chosen.update(range(first, last + 1, step))
        return tuple(sorted(chosen))


_FIELDS = (
    _Field("minute", 0, 59),
    _Field("hour", 0, 23),
    _Field("day of the month", 1, 31),
    _Field("month", 1, 12, _MONTHS),
    _Field("weekday", 0, 7, _WEEKDAYS),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cron:
    """When something recurs: whenever every field matches, in a time zone that is kept elsewhere."""

    text: str
    """As it was written."""
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    days: tuple[int, ...]
    months: tuple[int, ...]
    weekdays: tuple[int, ...]
    """Monday is 0, as in ``datetime.weekday`` and in APScheduler."""

    def __str__(self) -> str:
        """The same moments in a form that all cron programs read alike: plain numbers, weekdays by name."""
        weekdays = [_WEEKDAYS[(number + 1) % 7] for number in self.weekdays]
        plain = (self.minutes, self.hours, self.days, self.months, weekdays)
        return " ".join(
            given if given == "*" else ",".join(map(str, values))
            for given, values in zip(self.text.split(), plain, strict=True)
        )


def parse_cron(text: str) -> Cron:
    """Read ``minute hour day month weekday``: numbers, names, ``*``, ranges, steps and lists.

    Raises InvalidValueError.
    """
    fields = text.split()
    if len(fields) != len(_FIELDS):
        raise InvalidValueError(
            'not a cron expression: write minute, hour, day, month, weekday, such as "30 4 * * mon-fri"'
        )
    minutes, hours, days, months, weekdays = (
        field.numbers(given) for field, given in zip(_FIELDS, fields, strict=True)
    )
    if not fields[2].startswith("*") and not fields[4].startswith("*"):
        raise InvalidValueError(
            "cron programs disagree about a day of the month together with a weekday: keep one, * the other"
        )
    if min(days) > max(_LONGEST[month] for month in months):
        raise InvalidValueError("this day never comes in these months")
    return Cron(
        text=" ".join(fields),
        minutes=minutes,
        hours=hours,
        days=days,
        months=months,
        weekdays=tuple(sorted({(day - 1) % 7 for day in weekdays})),
    )
