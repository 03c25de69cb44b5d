from driftwatch.checks import Remembered
from driftwatch.evidence import Missing
from driftwatch.model import Era, Fingerprint, Result, State
from tests.checks.factories import evidence, fingerprint, judged, remembered, surface

CHECK = "release/fingerprint"
SEEN = evidence(surface(Era.LEGACY))
NOW = fingerprint("a", "b")


def compared(before: Remembered | Missing, now: Fingerprint | Missing = NOW) -> Result:
    return judged(CHECK, SEEN, fingerprints={Era.LEGACY: now}, known={Era.LEGACY: before})


def test_the_accepted_toolset_is_verified() -> None:
    assert compared(remembered(NOW)).state is State.VERIFIED


def test_a_changed_contract_is_a_risk_until_it_is_accepted() -> None:
    result = compared(remembered(fingerprint("c", "b")))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "changed")
    (finding,) = result.findings
    assert finding.message == "The tool list differs from the accepted one: names or input schemas."
    assert finding.expected == f"contract {'c' * 12}, surface {'b' * 12}"
    assert finding.measured == f"contract {'a' * 12}, surface {'b' * 12}"


def test_a_changed_text_is_told_apart_from_a_changed_contract() -> None:
    result = compared(remembered(fingerprint("a", "c")))
    assert result.findings[0].message == "The tool list differs from the accepted one: texts only."


def test_the_difference_is_said_where_it_is_known() -> None:
    before = remembered(fingerprint("c", "b"), difference="1 tool removed: archive_note")
    result = compared(before)
    assert result.findings[0].message == "1 tool removed: archive_note"


def test_what_was_confirmed_meanwhile_does_not_count_as_accepted() -> None:
    before = remembered(fingerprint("c", "b"), confirmed=NOW.pair)
    result = compared(before)
    assert result.code == "changed"


def test_without_an_earlier_fingerprint_there_is_nothing_to_compare() -> None:
    result = judged(CHECK, SEEN, fingerprints={Era.LEGACY: NOW})
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, "no-baseline", None)
    first = Missing("no earlier fingerprint; baseline recorded now", "no-baseline")
    result = compared(first)
    assert result.reason == "no earlier fingerprint; baseline recorded now"


def test_an_incomplete_list_has_no_fingerprint_and_says_so_before_anything_else() -> None:
    incomplete = Missing("the tool list is incomplete: page 2 failed", "incomplete-list", "tools/pagination")
    result = judged(CHECK, SEEN, fingerprints={Era.LEGACY: incomplete})
    assert (result.state, result.code, result.cause) == (
        State.NOT_CHECKED,
        "incomplete-list",
        "tools/pagination",
    )


def test_another_algorithm_is_not_drift() -> None:
    before = remembered(fingerprint("a", "b", algorithm="dw0"))
    result = compared(before)
    assert (result.state, result.code) == (State.NOT_CHECKED, "other-algorithm")


def test_each_era_is_compared_with_its_own_baseline() -> None:
    seen = evidence()
    old = fingerprint("c", "b")
    result = judged(
        CHECK,
        seen,
        fingerprints={Era.MODERN: NOW, Era.LEGACY: NOW},
        known={Era.MODERN: remembered(NOW), Era.LEGACY: remembered(old)},
    )
    assert [finding.era for finding in result.findings] == [Era.LEGACY]
