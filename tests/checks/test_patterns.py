"""Which regular expressions ECMA-262 can read, by code points or as browsers do."""

import shutil
import subprocess
from json import dumps, loads

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from driftwatch.checks.patterns import MAX_PATTERN, flaw

VALID = [
    *(
        "",
        "^[a-z0-9_-]{1,64}$",
        "^\\\\d{4}-\\\\d{2}$",
        "^(?:a|b)+?$",
        "(?=a)b",
        "(?!a)b",
        "(?<=a)b",
        "(?<!a)b",
    ),
    *("\\p{L}+", "\\P{Lu}", "[\\p{L}\\p{N}_-]", "\\u{1F600}", "[\\u{1F600}-\\u{1F64F}]", "\\uD83D\\uDE00"),
    *(
        "[\\uD83D\\uDE00-\\uD83D\\uDE4F]",
        "[😀-🙏]",
        "(?<name>a)\\k<name>",
        "(?<$a>b)",
        "[\\d-\\w]",
        "[\\w-.]",
    ),
    *(
        "[^]",
        "[]",
        "[a-]",
        "[-a]",
        "[\\]]",
        "[\\b]",
        "\\$",
        "\\/",
        "\\-",
        "\\_",
        "\\@",
        "\\cA",
        "\\c",
        "\\0",
        "\\1",
        "(a)\\1",
    ),
    *(
        "]",
        "}",
        "{",
        "a{",
        "a{,2}",
        "x{a}",
        "(?=a)*",
        "\\x41",
        "\\xZZ",
        "\\u00",
        "(?i:a)",
        "(?-i:a)",
        "a|{\u0661}",
        "a{99999999999,9999999999}",
        "\\Z",
        "\\A",
        "a|",
        "|",
    ),
    *('^(([^<>()[\\]\\\\.,;:\\s@"]+)|(".+"))@x$', "^(?!.*\\\\.\\\\.)[a-z./]+$", "^\\\\S+@\\\\S+\\\\.\\\\S+$"),
]


@pytest.mark.parametrize("pattern", VALID)
def test_what_one_of_the_two_readings_takes_is_fine(pattern: str) -> None:
    assert flaw(pattern) is None


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("[", "has a [ without its end"),
        ("[a\\]", "has a [ without its end"),
        ("(a", "has a ( without its end"),
        ("a)", "has a ) without its beginning"),
        ("*a", "has a * that repeats nothing"),
        ("a|?", "has a ? that repeats nothing"),
        ("(+)", "has a + that repeats nothing"),
        ("{2}", "has a {2} that repeats nothing"),
        ("a**", "has a * that repeats nothing"),
        ("^*", "has a * that repeats nothing"),
        ("\\b+", "has a + that repeats nothing"),
        ("(?<=a)*", "has a * that repeats nothing"),
        ("a{3,2}", "has {3,2}, whose limits are the wrong way round"),
        ("[z-a]", "has a range in [z-a that runs backwards"),
        ("a\\", "ends with a backslash"),
        ("[\\", "ends with a backslash"),
        ("(?<a>b)\\k<c>", "has a \\k for a group that is not there"),
        ("(?<1a>b)", "has a group named '1a', which is no name"),
    ],
)
def test_what_neither_takes_is_said_in_words(pattern: str, says: str) -> None:
    found = flaw(pattern)
    assert found is not None
    assert (found.says, found.foreign) == (says, False)


@pytest.mark.parametrize(
    "pattern", ["(?P<a>b)", "(?P=a)", "(?i)a", "(?>a)", "(?#a)b", "(?|a|b)", "a++", "a*+"]
)
def test_what_belongs_to_another_engine_is_marked(pattern: str) -> None:
    found = flaw(pattern)
    assert found is not None
    assert found.foreign


def test_an_enormous_pattern_is_taken_as_it_is() -> None:
    assert flaw("(" * (MAX_PATTERN + 1)) is None
    assert flaw("(" * MAX_PATTERN) is not None


def test_limits_of_any_length_are_compared_and_quoted_in_short() -> None:
    found = flaw("a{" + "9" * 5000 + ",1}")
    assert found is not None
    assert found.says.endswith("whose limits are the wrong way round")
    assert len(found.says) < 100
    assert flaw("a{" + "0" * 5000 + "1,2}") is None


SNIPPETS = [
    *"[](){}*+?|^$.ab-12,<>=!:",
    *("(?<a>", "(?:", "(?=", "(?<=", "(?i)", "(?P<a>", "{2,1}", "{1,2}", "{2}", "{,2}", "[^]", "[]", "[a-z]"),
    *("z-a", "\\", "\\d", "\\b", "\\k", "\\k<a>", "\\p{L}", "\\u{1F600}", "\\uD83D\\uDE00", "\\cA", "\\c"),
    *("\\1", "\\08", "\\377", "\\400", "\\]", "\\-", "[\\b]", "\n", "😀"),
]
JUDGE = """
const takes = (pattern, flag) => { try { new RegExp(pattern, flag); return true } catch { return false } };
const patterns = JSON.parse(require("fs").readFileSync(0, "utf8"));
console.log(JSON.stringify(patterns.map(pattern => takes(pattern, "") || takes(pattern, "u"))));
"""


@pytest.mark.skipif(shutil.which("node") is None, reason="needs an engine to compare with: node")
@given(st.lists(st.lists(st.sampled_from(SNIPPETS), max_size=8).map("".join), min_size=300, max_size=300))
@settings(deadline=None, max_examples=5)
def test_nothing_is_held_against_a_pattern_that_an_engine_takes(patterns: list[str]) -> None:
    judge = subprocess.run(
        ["node", "-e", JUDGE], input=dumps(patterns), capture_output=True, text=True, check=True
    )
    taken = [pattern for pattern, fine in zip(patterns, loads(judge.stdout), strict=True) if fine]
    assert [pattern for pattern in taken if flaw(pattern)] == []
