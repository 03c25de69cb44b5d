import unicodedata
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.alerts.text import (
    NAME_LIMIT,
    clip,
    duration,
    foreign,
    joined,
    label,
    listed,
    moment,
    period,
    sentence,
    within,
)

BERLIN = ZoneInfo("Europe/Berlin")


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("plain, naïve, 名前 🙂", "plain, naïve, 名前 🙂"),
        ("a\nb\tc\rd", r"a\nb\tc\rd"),
        ("\x1b[31mred\x1b[0m", r"\u001b[31mred\u001b[0m"),
        ("\x9bred", r"\u009bred"),
        ("safe\u202eexe.txt", r"safe\u202eexe.txt"),
        ("a\u200bb\u2060c\ufeffd", r"a\u200bb\u2060c\ufeffd"),
        ("a\u2028b\u2029c", r"a\u2028b\u2029c"),
        ("\U000e0041\U000e0042", r"\U000e0041\U000e0042"),
        ("\U000e0041" * 50, r"\U000e0041\U000e0041\U000e0041\U000e0041(+46 hidden)"),
        ("x\ufe00y\U000e0100z", r"x\ufe00y\U000e0100z"),
        ("\u3164\u2800\u00ad", r"\u3164\u2800\u00ad"),
        ("\ud800", r"\ud800"),
        ("\ue000", r"\ue000"),
        ("a\u00a0b\u3000c", "a b c"),
        ("Z\u0301\u0302\u0303\u0304", "Z\u0301\u0302" + r"\u0303\u0304"),
    ],
)
def test_what_nobody_sees_is_spelled_out(hostile: str, harmless: str) -> None:
    assert foreign(hostile) == harmless


@pytest.mark.parametrize(
    ("hostile", "harmless"),
    [
        ("@everyone", "@ everyone"),
        ("m@everyone", "m@ everyone"),
        ("hi @here", "hi @ here"),
        ("@Channel!", "@ Channel!"),
        ("@all", "@ all"),
        ("@someone", "@ someone"),
        ("me@example.org", "me@example.org"),
        ("<!channel>", "< !channel>"),
        ("<!subteam^S1>", "< !subteam^S1>"),
        ("<@U123>", "<@ U123>"),
        ("<#C123>", "< #C123>"),
        ("<https://evil.example|login>", "< https://evil.example|login>"),
        ("<at>all</at>", "< at>all< /at>"),
        ("[click](https://evil.example)", "[click] (https://evil.example)"),
        ("[click][1]", "[click] [1]"),
    ],
)
def test_nobody_is_pinged_and_nothing_becomes_a_link(hostile: str, harmless: str) -> None:
    assert foreign(hostile) == harmless


@given(st.text(), st.integers(min_value=1, max_value=400))
def test_a_foreign_text_is_one_visible_line_within_its_limit(text: str, limit: int) -> None:
    shown = foreign(text, limit)
    assert len(shown) <= limit
    shown.encode()
    assert not [
        character for character in shown if unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    ]
    assert "@everyone" not in shown
    assert "](" not in shown


def test_a_text_of_megabytes_costs_no_more_than_a_line() -> None:
    assert len(foreign("\u202e" * 10_000_000)) < 100


def test_a_name_is_cut_at_64_characters() -> None:
    assert label("x" * 65) == "x" * 63 + "…"
    assert label("x" * 64) == "x" * 64
    assert NAME_LIMIT == 64


def test_prose_is_cut_after_a_whole_sentence() -> None:
    assert sentence("One.\nTwo\n  is long. Three.", 18) == "One. Two is long."
    assert sentence("No end in sight whatever happens", 12) == "No end in s…"
    assert sentence("Short.") == "Short."


def test_clipping_never_exceeds_its_limit() -> None:
    assert clip("abcdef", 6) == "abcdef"
    assert clip("abcdef", 5) == "abcd…"
    assert clip("abc def", 5) == "abc…"


def test_lists_say_how_many_more_there_are() -> None:
    assert listed("abc") == "a, b, c"
    assert listed("abcdefg", shown=2) == "a, b +5 more"
    assert joined("a") == "a"
    assert joined("abc") == "a, b and c"
    assert within(["alpha", "beta", "gamma", "delta"], 20) == "alpha, beta +2 more"
    assert within(["a" * 30, "b"], 10) == "a" * 30 + " +1 more"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (-5, "0 s"),
        (0.6, "1 s"),
        (59, "59 s"),
        (60, "1 min"),
        (61, "1 min 1 s"),
        (3600, "1 h"),
        (3601, "1 h"),
        (8040, "2 h 14 min"),
        (86_400 * 3 + 3600 * 4 + 59, "3 d 4 h"),
        (86_400 + 59, "1 d"),
    ],
)
def test_durations_have_two_units_at_most(seconds: float, words: str) -> None:
    assert duration(timedelta(seconds=seconds)) == words


@pytest.mark.parametrize(
    ("at", "words"),
    [
        (datetime(2026, 11, 2, 10, 14, tzinfo=UTC), "2026-11-02 10:14 UTC (11:14 Europe/Berlin)"),
        (datetime(2026, 11, 2, 23, 14, tzinfo=UTC), "2026-11-02 23:14 UTC (2026-11-03 00:14 Europe/Berlin)"),
        # Both sides of the night in which clocks go back.
        (datetime(2026, 10, 25, 0, 30, tzinfo=UTC), "2026-10-25 00:30 UTC (02:30 Europe/Berlin)"),
        (datetime(2026, 10, 25, 1, 30, tzinfo=UTC), "2026-10-25 01:30 UTC (02:30 Europe/Berlin)"),
        (
            datetime(2026, 7, 1, 12, 0, tzinfo=ZoneInfo("America/New_York")),
            "2026-07-01 16:00 UTC (18:00 Europe/Berlin)",
        ),
    ],
)
def test_times_are_utc_with_the_configured_zone_beside_it(at: datetime, words: str) -> None:
    assert moment(at, BERLIN) == words


@pytest.mark.parametrize("zone", [None, UTC, ZoneInfo("UTC")])
def test_utc_is_not_said_twice(zone: ZoneInfo | None) -> None:
    assert moment(datetime(2026, 11, 2, 10, 14, tzinfo=UTC), zone) == "2026-11-02 10:14 UTC"


def test_a_period_names_a_date_only_where_it_changes() -> None:
    start = datetime(2026, 11, 2, 22, 0, tzinfo=UTC)
    assert period(start, start + timedelta(seconds=40)) == "2026-11-02 22:00 UTC"
    assert period(start, start + timedelta(minutes=30)) == "2026-11-02 22:00 to 22:30 UTC"
    assert period(start, start + timedelta(hours=3)) == "2026-11-02 22:00 to 2026-11-03 01:00 UTC"
    assert (
        period(start, start + timedelta(minutes=90), BERLIN)
        == "2026-11-02 22:00 to 23:30 UTC (23:00 to 2026-11-03 00:30 Europe/Berlin)"
    )
