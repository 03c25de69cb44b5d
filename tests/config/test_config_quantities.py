from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.config import (
    InvalidValueError,
    Rate,
    format_duration,
    format_size,
    parse_duration,
    parse_rate,
    parse_size,
)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15m", 900),
        ("1h30m", 5400),
        ("500ms", 0.5),
        ("90d", 7_776_000),
        ("0s", 0),
        ("90m", 5400),
        ("1m500ms", 60.5),
        ("1d2h3m4s5ms", 93_784.005),
    ],
)
def test_a_duration_is_read(text: str, seconds: float) -> None:
    assert parse_duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "15",
        "m",
        "15 m",
        "1h 30m",
        "30m1h",
        "1m1m",
        "-1m",
        "1.5h",
        "15M",
        "1w",
        "15min",
        "1s ",
        "1e3s",
        "٣m",
    ],
)
def test_what_is_no_duration_is_refused_with_the_form_to_write(text: str) -> None:
    with pytest.raises(
        InvalidValueError, match=r'^not a duration: write a number and its unit .* such as "15m"'
    ):
        parse_duration(text)


def test_a_duration_beyond_all_calendars_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="longer duration than there can be"):
        parse_duration("999999999d24h")


@given(st.integers(0, 10**12).map(lambda ms: timedelta(milliseconds=ms)))
def test_a_written_duration_reads_back_the_same(duration: timedelta) -> None:
    assert parse_duration(format_duration(duration)) == duration


@given(st.text(max_size=12))
def test_any_text_is_a_duration_or_is_refused(text: str) -> None:
    try:
        duration = parse_duration(text)
    except InvalidValueError:
        return
    assert parse_duration(format_duration(duration)) == duration


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("4MiB", 4 * 2**20),
        ("512MB", 512_000_000),
        ("100B", 100),
        ("1kB", 1000),
        ("1KB", 1000),
        ("2GiB", 2**31),
    ],
)
def test_a_size_is_read_in_bytes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "4", "MiB", "4 MiB", "4mib", "4Mb", "4M", "-4MiB", "4.5MiB"])
def test_what_is_no_size_is_refused_with_the_form_to_write(text: str) -> None:
    with pytest.raises(InvalidValueError, match=r'^not a size: write a whole number and its unit .* "4MiB"'):
        parse_size(text)


@given(st.integers(0, 10**15 - 1))
def test_a_written_size_reads_back_the_same(size: int) -> None:
    assert parse_size(format_size(size)) == size


@pytest.mark.parametrize(("size", "text"), [(4 * 2**20, "4MiB"), (10**6, "1MB"), (1500, "1500B"), (0, "0B")])
def test_a_size_is_written_as_short_as_it_can_be(size: int, text: str) -> None:
    assert format_size(size) == text


@pytest.mark.parametrize("text", ["10/min", "1/s", "500/h"])
def test_a_rate_reads_back_the_same(text: str) -> None:
    assert str(parse_rate(text)) == text


def test_a_rate_is_a_count_in_a_time() -> None:
    assert parse_rate("10/min") == Rate(10, timedelta(minutes=1))


@pytest.mark.parametrize("text", ["10", "0/min", "10/day", "ten/min", "10 / min"])
def test_what_is_no_rate_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError, match=r'^not a rate: .* "10/min"'):
        parse_rate(text)
