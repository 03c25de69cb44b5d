"""Durations, sizes and rates as people write them: ``1h30m``, ``4MiB``, ``10/min``.

Parsers raise ``InvalidValueError`` with a sentence that says what to write instead; it never repeats the text
that was given, because a secret may stand in the wrong place.
"""

import re
from dataclasses import dataclass
from datetime import timedelta


class InvalidValueError(ValueError):
    """A value cannot be used; the message is for people and contains nothing of the value."""


_DURATION_UNITS = {
    "d": timedelta(days=1),
    "h": timedelta(hours=1),
    "m": timedelta(minutes=1),
    "s": timedelta(seconds=1),
    "ms": timedelta(milliseconds=1),
}
_DURATION = re.compile(
    r"(?=[0-9])" + "".join(rf"(?:(?P<{unit}>[0-9]{{1,9}}){unit}(?![a-z]))?" for unit in _DURATION_UNITS)
)

_SIZE_UNITS = {
    "B": 1,
    "kB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}
_SIZE = re.compile(rf"(?P<number>[0-9]{{1,15}})(?P<unit>{'|'.join(_SIZE_UNITS)}|KB)")

_RATE_UNITS = {"s": timedelta(seconds=1), "min": timedelta(minutes=1), "h": timedelta(hours=1)}
_RATE = re.compile(rf"(?P<count>[0-9]{{1,6}})/(?P<unit>{'|'.join(_RATE_UNITS)})")


def parse_duration(text: str) -> timedelta:
    """Read ``15m``, ``1h30m``, ``500ms`` or ``90d``: whole numbers, units d, h, m, s, ms, largest first."""
    found = _DURATION.fullmatch(text)
    if found is None:
        raise InvalidValueError(
            'not a duration: write a number and its unit (d, h, m, s or ms), such as "15m" or "1h30m"'
        )
    try:
        return sum(
            (int(number) * _DURATION_UNITS[unit] for unit, number in found.groupdict().items() if number),
            timedelta(),
        )
    except OverflowError:
        raise InvalidValueError("a longer duration than there can be") from None


def format_duration(duration: timedelta) -> str:
    """Write a duration so that ``parse_duration`` reads it back; what is below a millisecond is dropped."""
    rest = duration
    written = ""
    for unit, length in _DURATION_UNITS.items():
        number, rest = divmod(rest, length)
        if number:
            written += f"{number}{unit}"
    return written or "0s"


def parse_size(text: str) -> int:
    """Read ``4MiB``, ``512MB`` or ``100B`` as bytes; kB, MB, GB and TB are decimal."""
    found = _SIZE.fullmatch(text)
    if found is None:
        raise InvalidValueError(
            'not a size: write a whole number and its unit (B, kB, MB, GB, KiB, MiB, GiB), such as "4MiB"'
        )
    unit = found["unit"]
    return int(found["number"]) * _SIZE_UNITS["kB" if unit == "KB" else unit]


def format_size(size: int) -> str:
    """Write a number of bytes in the unit that needs the fewest digits and loses nothing."""
    exact = [(size // factor, unit) for unit, factor in _SIZE_UNITS.items() if size % factor == 0]
    number, unit = min((pair for pair in exact if pair[0]), default=(0, "B"))
    return f"{number}{unit}"


@dataclass(frozen=True, slots=True)
class Rate:
    """So many in a time, such as ten in a minute."""

    count: int
    per: timedelta

    def __str__(self) -> str:
        unit = next(unit for unit, length in _RATE_UNITS.items() if length == self.per)
        return f"{self.count}/{unit}"


def parse_rate(text: str) -> Rate:
    """Read ``10/min``; the units are s, min and h."""
    found = _RATE.fullmatch(text)
    if found is None or int(found["count"]) == 0:
        raise InvalidValueError('not a rate: write how many in which time (s, min or h), such as "10/min"')
    return Rate(int(found["count"]), _RATE_UNITS[found["unit"]])
