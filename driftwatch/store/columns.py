"""How values are stored, the same way on every back end.

Times are moments, never local or naive. Whatever comes from outside (a server's tool, a receiver's error, a
person's reason) is canonical JSON in a TEXT column: pure ASCII, so that neither a NUL nor a lone surrogate
can break a write, and byte for byte what was stored, which JSONB would not promise.
"""

import json
import re
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Dialect
from sqlalchemy.types import TypeDecorator, TypeEngine

from driftwatch.model import Json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

_STRING_OR_SPECIAL = re.compile(r'"(?:[^"\\]|\\.)*"|-?Infinity|NaN')
_SPECIAL = {"Infinity": "1e999", "-Infinity": "-1e999", "NaN": "null"}


_decode = json.JSONDecoder().decode


def to_micros(moment: datetime) -> int:
    """Microseconds since 1970, exactly. Raises ValueError for a naive datetime: no time line holds it."""
    if moment.tzinfo is None:
        raise ValueError(f"a datetime without a timezone cannot be stored: {moment!r}")
    return (moment - _EPOCH) // timedelta(microseconds=1)


def from_micros(micros: int) -> datetime:
    """The moment, in UTC."""
    return _EPOCH + timedelta(microseconds=micros)


def encode(value: Json) -> str:
    """Canonical JSON text in ASCII: keys sorted, no spaces, the same for the same content."""
    return json_text(value, sort_keys=True)


def json_text(value: Json, *, sort_keys: bool = False) -> str:
    """JSON in ASCII that every parser takes, whatever a server put into its texts and numbers.

    ``1e400`` is JSON and Python reads it as infinity; it is written as ``1e999``, which reads back the same.
    """
    try:
        return json.dumps(value, allow_nan=False, sort_keys=sort_keys, separators=(",", ":"))
    except ValueError:
        text = json.dumps(value, sort_keys=sort_keys, separators=(",", ":"))
        return _STRING_OR_SPECIAL.sub(lambda found: _SPECIAL.get(found[0], found[0]), text)


def decode(text: str) -> Json:
    """Read what encode wrote. Most of what is stored is empty, and answered without a parser."""
    if text == "{}":
        return {}
    if text == "[]":
        return []
    return _decode(text)


class JsonText(TypeDecorator[Json]):
    """Any JSON value as canonical text; None is NULL."""

    impl = sa.Text
    cache_ok = True

    def process_bind_param(self, value: Json, dialect: Dialect) -> str | None:  # noqa: ARG002
        """Encode."""
        return None if value is None else encode(value)

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[str | None], Json]:  # noqa: ARG002
        """Decode; every state of a server goes through here on every probe."""
        return lambda text: None if text is None else decode(text)


class PackedJson(TypeDecorator[Json]):
    """Any JSON value as canonical text, compressed: for what is large and read by people only."""

    impl = sa.LargeBinary
    cache_ok = True

    def process_bind_param(self, value: Json, dialect: Dialect) -> bytes:  # noqa: ARG002
        """Encode and compress."""
        return zlib.compress(encode(value).encode("ascii"))

    def process_result_value(self, value: Any, dialect: Dialect) -> Json:  # noqa: ARG002
        """Decompress and decode."""
        return decode(zlib.decompress(value).decode("ascii"))


class Moment(TypeDecorator[datetime]):
    """An aware datetime, exact to the microsecond; it comes back in UTC.

    SQLite has no such type: there it is the number of microseconds since 1970, a third of the size of the
    text and in the right order. To read it by hand: ``datetime(taken_at / 1e6, 'unixepoch')``.
    """

    impl = sa.BigInteger
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """An integer on SQLite, the real type elsewhere."""
        real = sa.BigInteger() if dialect.name == "sqlite" else sa.DateTime(timezone=True)
        return dialect.type_descriptor(real)

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> Any:
        """Microseconds for SQLite. Raises ValueError for a naive datetime."""
        if value is None:
            return None
        micros = to_micros(value)
        return micros if dialect.name == "sqlite" else value

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], datetime | None]:  # noqa: ARG002
        """Aware, in UTC; every state of a server goes through here on every probe."""
        if dialect.name == "sqlite":
            return lambda micros: None if micros is None else from_micros(micros)
        return lambda moment: None if moment is None else moment.astimezone(UTC)


BigCount = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
"""Ids and counters. SQLite needs the plain word INTEGER for a key that counts by itself."""


def words(vocabulary: type[StrEnum]) -> sa.Enum:
    """The values of a closed vocabulary, held to it by a CHECK named after the type."""
    return sa.Enum(
        vocabulary,
        name=vocabulary.__name__.lower(),
        native_enum=False,
        create_constraint=True,
        length=16,
        values_callable=lambda kind: [member.value for member in kind],
    )
