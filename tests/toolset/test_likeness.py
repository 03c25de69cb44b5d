"""Which of what is gone is which of what is new: the quick way to the surest pairs agrees with the plain."""

from hypothesis import given
from hypothesis import strategies as st

from driftwatch.toolset.likeness import SURE, surest

places = st.integers(0, 5)


@given(st.dictionaries(st.tuples(places, places), st.tuples(st.integers(0, 9), st.integers(0, 4))))
def test_the_surest_pairs_are_those_of_all_evidence(evidence: dict[tuple[int, int], tuple[int, int]]) -> None:
    left = dict(sorted(evidence.items(), key=lambda item: (-item[1][0], item[0])))
    plain: list[tuple[int, int]] = []
    for (old, new), (score, _) in left.items():
        if score >= SURE and all(old != one and new != other for one, other in plain):
            plain.append((old, new))
    candidates = [(old, new, score + more) for (old, new), (score, more) in evidence.items()]
    assert surest(candidates, lambda old, new: evidence[old, new][0]) == plain


def test_what_is_taken_is_not_asked_about() -> None:
    asked = []

    def evidence(old: int, new: int) -> int:
        asked.append((old, new))
        return 9 if old == new else 5

    assert surest([(old, new, 9) for old in range(9) for new in range(9)], evidence) == [
        (place, place) for place in range(9)
    ]
    assert len(asked) == 9
