"""Prometheus' text format (pure): families of samples, escaped and in order."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class Kind(StrEnum):
    """What a family's numbers are."""

    GAUGE = "gauge"
    COUNTER = "counter"


@dataclass(frozen=True, slots=True, eq=False)  # each is its own key, looked up thousands of times
class Family:
    """One metric: its name with the unit, and what it tells."""

    name: str
    help: str
    kind: Kind = Kind.GAUGE

    @property
    def header(self) -> bytes:
        """The lines that stand before its samples."""
        return f"# HELP {self.name} {self.help}\n# TYPE {self.name} {self.kind}\n".encode()

    def sample(self, value: float, labels: Mapping[str, str] | None = None) -> bytes:
        """One line."""
        inner = ",".join(f'{name}="{escaped(text)}"' for name, text in (labels or {}).items())
        name = f"{self.name}{{{inner}}}" if inner else self.name
        return f"{name} {_number(value)}\n".encode()


def escaped(text: str) -> str:
    """A label's value: every text can be one; a lone surrogate, which no encoding has, is spelled out."""
    return text.translate(_ESCAPES).encode("utf-8", "backslashreplace").decode()


def seconds(at: datetime) -> float:
    """A time as the seconds since 1970 that Prometheus counts."""
    return round(at.timestamp(), 3)


def exposition(families: Iterable[tuple[Family, Iterable[bytes]]]) -> bytes:
    """The whole text; a family without samples is left out."""
    parts: list[bytes] = []
    for family, samples in families:
        lines = b"".join(samples)
        if lines:
            parts += [family.header, lines]
    return b"".join(parts)


def _number(value: float) -> str:
    if math.isinf(value) or math.isnan(value):
        return {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN")
    return str(int(value)) if value == int(value) else repr(float(value))
