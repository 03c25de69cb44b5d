import gc
import re
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.toolset.occurrences import occurrences
from driftwatch.toolset.orders import RULES, Rule

PATTERNS = [re.compile(pattern) for pattern in (r"ab?", r"\bb+", r"(?<=a)b", r"^a|b$", r"([ab])\1*")]


@given(st.sampled_from(PATTERNS), st.text("ab \n", max_size=12))
def test_what_finditer_finds_is_found(pattern: re.Pattern[str], text: str) -> None:
    assert [match.span() for match in occurrences(pattern, text)] == [
        match.span() for match in pattern.finditer(text)
    ]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_no_rule_matches_an_empty_text(rule: Rule) -> None:
    assert rule.phrase.search("") is None


def test_a_thousand_searches_leave_nothing_behind() -> None:
    held = []
    gc.collect()
    before = sys.getallocatedblocks()
    for number in range(1000):
        assert len(list(occurrences(PATTERNS[0], "abba"))) == 2
        held.append(f"{number:06}")  # something else takes the place of what is freed
    held.clear()
    gc.collect()
    assert sys.getallocatedblocks() - before < 50  # finditer: about 90
