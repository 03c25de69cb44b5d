import json
import math
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Dialect
from sqlalchemy.dialects import postgresql, sqlite

from driftwatch.model import Trigger
from driftwatch.store.columns import JsonText, Moment, decode, encode, from_micros, to_micros, words

# Text with every code point: NUL and lone surrogates are what hostile servers send.
TEXT = st.text(st.characters(codec=None))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=20,
)
MOMENTS = st.datetimes(
    min_value=datetime(1900, 1, 1),  # noqa: DTZ001 - the strategy adds the timezone
    max_value=datetime(2200, 1, 1),  # noqa: DTZ001
    timezones=st.sampled_from([UTC, timezone(timedelta(hours=5, minutes=45)), timezone(-timedelta(hours=9))]),
)


@given(VALUES)
def test_any_json_value_comes_back_from_ascii_text(value: Any) -> None:
    text = encode(value)
    assert text.isascii()
    assert "\x00" not in text
    assert decode(text) == value


@given(st.dictionaries(TEXT, st.integers(), min_size=2))
def test_the_same_content_is_the_same_text(value: dict[str, int]) -> None:
    assert encode(dict(reversed(value.items()))) == encode(value)


@pytest.mark.parametrize("text", ["[1e400]", "[-1e400]", '{"Infinity": [1e400, "Infinity, -Infinity, NaN"]}'])
def test_a_number_that_is_too_large_stays_json(text: str) -> None:
    stored = encode(json.loads(text))
    assert json.loads(stored, parse_constant=pytest.fail) == json.loads(text)


def test_what_is_not_a_number_becomes_nothing() -> None:
    assert encode([math.nan, "NaN"]) == '[null,"NaN"]'


@given(MOMENTS)
def test_a_moment_comes_back_exactly(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment
    assert from_micros(to_micros(moment)).tzinfo is UTC


def test_a_naive_datetime_is_refused_on_every_back_end() -> None:
    for back_end in (sqlite, postgresql):
        dialect: Dialect = back_end.dialect()
        with pytest.raises(ValueError, match="without a timezone cannot be stored"):
            Moment().process_bind_param(datetime(2026, 3, 1), dialect)  # noqa: DTZ001


def test_postgresql_has_a_type_for_moments() -> None:
    moment = datetime(2026, 3, 1, 12, tzinfo=timezone(timedelta(hours=2)))
    dialect: Dialect = postgresql.dialect()  # type: ignore[no-untyped-call]
    assert Moment().process_bind_param(moment, dialect) == moment
    assert isinstance(Moment().load_dialect_impl(dialect), sa.DateTime)
    back = Moment().result_processor(dialect, None)
    assert (back(moment), back(None)) == (moment, None)
    assert str(back(moment)) == "2026-03-01 10:00:00+00:00"


def test_a_vocabulary_is_held_by_the_database_too() -> None:
    metadata = sa.MetaData()
    table = sa.Table(
        "t", metadata, sa.Column("why", words(Trigger)), sa.Column("at", Moment), sa.Column("said", JsonText)
    )
    engine = sa.create_engine("sqlite://")
    metadata.create_all(engine)
    with engine.begin() as connection:
        connection.execute(table.insert(), {"why": Trigger.DEPLOY, "at": from_micros(1), "said": None})
        assert connection.execute(table.select()).one() == (Trigger.DEPLOY, from_micros(1), None)
        with pytest.raises(sa.exc.IntegrityError, match="CHECK"):
            connection.exec_driver_sql("INSERT INTO t (why) VALUES ('whim')")
    engine.dispose()
