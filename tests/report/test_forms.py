"""JUnit, SARIF and Markdown: their shape, and that nothing a server sends can leave its place in them."""

import json
import re
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch import checks
from driftwatch.fail_on import FailOn
from driftwatch.model import DEPTH_CODE, Era, Finding, Report, Severity, State
from driftwatch.report import (
    Baseline,
    Place,
    compare,
    counting,
    exit_code,
    to_json,
    to_junit,
    to_markdown,
    to_sarif,
)
from driftwatch.report.markdown import escaped
from driftwatch.toolset import Toolset
from tests.report.reports import finding, fingerprint, healthy, report, result, surface, unreachable

PLACE = Place(uri="config.toml", line=7)
HOSTILE = (
    "a\x00b\x1b[31m]]><script>alert(1)</script> @everyone https://evil.example ![i](x) | `c` "
    "\u202e\ufffe\U000e0041 \ud800 </details> [l](javascript:x) #1 www.evil.example"
)


def of_states(*made: tuple[str, State], **changes: Any) -> Report:
    """A report in which some checks are not verified."""
    states = dict(made)
    return report(
        *(one(declared.id, states.get(declared.id, State.VERIFIED)) for declared in checks.catalogue),
        **changes,
    )


def one(check: str, state: State, *findings: Finding, **changes: Any) -> Any:
    match state:
        case State.FAILED:
            return result(
                check, state, *(findings or [finding(severity=Severity.WILL_BREAK, code="bad")]), **changes
            )
        case State.OBSERVED_RISK:
            return result(check, state, *(findings or [finding()]), **changes)
        case State.NOT_CHECKED:
            return result(check, state, **{"reason": "no answer", "code": "auth", **changes})
        case _:
            return result(check, state)


def hostile() -> Report:
    bad = finding(HOSTILE, message=HOSTILE, measured=HOSTILE, expected=HOSTILE, pointer=HOSTILE, code=HOSTILE)
    made = of_states(server=HOSTILE, url=HOSTILE, surfaces=(surface(revision=HOSTILE, fingerprint=None),))
    results = {each.check: each for each in made.results}
    results["tool/steering-text"] = result("tool/steering-text", State.OBSERVED_RISK, bad)
    results["tool/case-collision"] = result("tool/case-collision", State.FAILED, bad)
    results["mcp/envelope"] = result("mcp/envelope", State.NOT_CHECKED, reason=HOSTILE, code="x")
    return report(*results.values(), server=HOSTILE, url=HOSTILE, surfaces=made.surfaces)


# --- what counts


@pytest.mark.parametrize(
    ("made", "fail_on", "code"),
    [
        ([], [FailOn.FAILED], 0),
        ([("mcp/envelope", State.FAILED)], [FailOn.FAILED], 1),
        ([("mcp/envelope", State.FAILED)], [FailOn.DRIFT], 0),
        ([("mcp/envelope", State.FAILED)], [FailOn.DRIFT, FailOn.FAILED], 1),
        ([("mcp/envelope", State.OBSERVED_RISK)], [FailOn.FAILED], 0),
        ([("mcp/envelope", State.OBSERVED_RISK)], [FailOn.RISK], 1),
        ([("release/fingerprint", State.OBSERVED_RISK)], [FailOn.FAILED], 1),
        ([("release/fingerprint", State.OBSERVED_RISK)], [FailOn.DRIFT], 1),
        ([("transport/endpoint", State.NOT_CHECKED)], [FailOn.FAILED], 0),
        ([("transport/endpoint", State.NOT_CHECKED)], [FailOn.NOT_CHECKED], 1),
        ([("load/rate-limit", State.NOT_CHECKED)], [FailOn.NOT_CHECKED], 0),
    ],
)
def test_what_counts_is_what_was_asked_for_and_drift_always_does(
    made: Sequence[tuple[str, State]], fail_on: list[FailOn], code: int
) -> None:
    judged = of_states(*made)
    assert exit_code(judged, counting(judged, fail_on)) == code


def test_a_server_that_could_not_be_reached_and_holds_nothing_against_it_was_not_checked() -> None:
    assert exit_code(of_states(reachable=False), frozenset()) == 3


# --- the baseline


def test_a_check_that_got_better_or_was_not_exercised_is_no_drift() -> None:
    before = of_states(("mcp/envelope", State.FAILED), ("transport/origin", State.VERIFIED))
    after = report(
        *(
            result(each.check, State.NOT_CHECKED, code=DEPTH_CODE, reason="light")
            if each.check == "transport/origin"
            else each
            for each in of_states().results
        )
    )
    found = compare(Baseline.of(before), after, {})
    assert [(change.check, change.worse) for change in found.checks] == [("mcp/envelope", False)]
    assert counting(after, [FailOn.DRIFT], found) == frozenset()


def test_a_new_finding_of_the_same_state_is_worse() -> None:
    before, after = (
        report(result("tool/missing-description", State.OBSERVED_RISK, *map(finding, names)))
        for names in (["one"], ["one", "two"])
    )
    (change,) = compare(Baseline.of(before), after, {}).checks
    assert change.worse
    assert change.words.endswith("findings: 1 new")


def test_another_version_of_a_check_is_told_and_is_no_drift() -> None:
    before = report(result("mcp/envelope", State.VERIFIED))
    after = report(result("mcp/envelope", State.OBSERVED_RISK, finding(), version=2))
    (change,) = compare(Baseline.of(before), after, {}).checks
    assert not change.worse
    assert "another version" in change.words


def test_checks_that_are_new_or_gone_are_told_and_are_no_drift() -> None:
    before, after = (report(result(check, State.FAILED, finding())) for check in ("old/one", "new/one"))
    found = compare(Baseline.of(before), after, {})
    assert [change.words for change in found.checks] == [
        "new/one: new, failed (strict)",
        "old/one: gone, failed (strict)",
    ]
    assert not any(change.worse for change in found.checks)


def test_a_toolset_is_compared_in_words_where_both_lists_are_there() -> None:
    old, new = (
        Toolset(tools=({"name": name, "inputSchema": {"type": "object"}},), instructions=None)
        for name in ("a", "b")
    )
    after = report(surfaces=(surface(fingerprint=fingerprint(contract="d" * 64)),))
    found = compare(Baseline.of(report(surfaces=(surface(),)), {Era.MODERN: old}), after, {Era.MODERN: new})
    (change,) = found.surfaces
    assert change.diff is not None
    assert change.diff.breaking
    assert found.toolset_changed


def test_a_list_that_could_not_be_read_this_time_is_told_and_is_no_drift() -> None:
    after = report(surfaces=(surface(fingerprint=None, complete=False),))
    found = compare(Baseline.of(report(surfaces=(surface(),))), after, {})
    assert [change.words for change in found.surfaces] == ["the modern toolset has no fingerprint any more"]
    assert not found.toolset_changed


def test_an_era_that_is_no_longer_spoken_is_drift() -> None:
    both = report()
    found = compare(Baseline.of(both), report(surfaces=(surface(Era.MODERN),)), {})
    assert found.toolset_changed


def test_fingerprints_of_different_algorithms_are_not_compared() -> None:
    after = report(surfaces=(surface(fingerprint=fingerprint(algorithm="dw2")),))
    assert compare(Baseline.of(report(surfaces=(surface(),))), after, {}).empty


# --- JUnit


def test_junit_has_a_suite_for_each_family_and_every_check_once() -> None:
    root = ET.fromstring(to_junit(healthy(silent=True), frozenset()))
    assert [suite.get("name") for suite in root] == list(
        dict.fromkeys(declared.family for declared in checks.catalogue)
    )
    assert [case.get("name") for case in root.iter("testcase")] == [each.id for each in checks.catalogue]
    for counted in (root, *root):
        cases = list(counted.iter("testcase"))
        assert counted.get("tests") == str(len(cases))
        assert counted.get("skipped") == str(sum(case.find("skipped") is not None for case in cases))


def test_junit_fails_what_counts_and_skips_what_was_not_checked_with_its_reason() -> None:
    judged = of_states(
        ("mcp/envelope", State.FAILED),
        ("tool/name-charset", State.OBSERVED_RISK),
        ("errors/unknown-method", State.NOT_CHECKED),
    )
    root = ET.fromstring(to_junit(judged, {"mcp/envelope"}))
    cases = {case.get("name"): case for case in root.iter("testcase")}
    failure = cases["mcp/envelope"].find("failure")
    assert failure is not None
    assert failure.get("type") == "bad"
    assert "Fix: " in (failure.text or "")
    skipped = cases["errors/unknown-method"].find("skipped")
    assert skipped is not None
    assert skipped.get("message") == "not checked: no answer"
    assert "observed risk" in (cases["tool/name-charset"].findtext("system-out") or "")
    assert root.get("failures") == "1"


# --- SARIF


def test_sarif_declares_every_check_as_a_rule_with_help() -> None:
    (run,) = to_sarif(healthy(), PLACE)["runs"]
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == [declared.id for declared in checks.catalogue]
    assert all(rule["help"]["text"] and rule["help"]["markdown"] for rule in rules)


def test_sarif_has_a_result_for_each_finding_and_a_notification_for_what_was_not_checked() -> None:
    judged = of_states(("mcp/envelope", State.FAILED), ("errors/unknown-method", State.NOT_CHECKED))
    log = to_sarif(judged, PLACE)
    (run,) = log["runs"]
    (told,) = run["results"]
    assert run["tool"]["driver"]["rules"][told["ruleIndex"]]["id"] == told["ruleId"] == "mcp/envelope"
    assert told["level"] == "error"
    (location,) = told["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "config.toml"},
        "region": {"startLine": 7},
    }
    assert location["logicalLocations"][0]["fullyQualifiedName"] == "notes/modern/add_note"
    (invocation,) = run["invocations"]
    (notification,) = invocation["toolExecutionNotifications"]
    assert notification["associatedRule"]["id"] == "errors/unknown-method"
    assert (log["version"], invocation["executionSuccessful"]) == ("2.1.0", True)


def test_sarif_recognises_a_finding_again_whatever_its_words_are() -> None:
    def marks(*findings: Finding) -> list[str]:
        (run,) = to_sarif(report(result("mcp/envelope", State.OBSERVED_RISK, *findings)), PLACE)["runs"]
        return [told["partialFingerprints"]["driftwatch/v1"] for told in run["results"]]

    same = marks(finding(message="one"), finding(message="two", measured="other"))
    assert len(set(same)) == 1
    assert len({*same, *marks(finding("other"), finding(era=None), finding(pointer="/x"))}) == 4


def test_sarif_says_which_findings_the_baseline_did_not_have() -> None:
    before, after = (
        report(result("mcp/envelope", State.OBSERVED_RISK, *map(finding, names)))
        for names in (["one"], ["one", "two"])
    )
    (run,) = to_sarif(after, PLACE, compare(Baseline.of(before), after, {}))["runs"]
    assert [told["baselineState"] for told in run["results"]] == ["unchanged", "new"]


# --- Markdown


def test_markdown_begins_with_what_counts() -> None:
    judged = of_states(("mcp/envelope", State.FAILED), ("tool/name-charset", State.OBSERVED_RISK))
    text = to_markdown(judged, {"mcp/envelope"})
    assert "**1 failed**, **1 observed risk**" in text
    assert text.index("### Counts against the build") < text.index("### Observed, and let through")
    assert "| add\\_note | modern | Unknown keys are refused. | just that | nothing of the kind |" in text


def test_markdown_has_one_row_for_what_is_the_same_in_both_eras() -> None:
    both = [finding(era=era) for era in (Era.MODERN, Era.LEGACY)]
    text = to_markdown(report(result("mcp/envelope", State.FAILED, *both, finding("other"))), frozenset())
    assert [line for line in text.splitlines() if "Unknown keys" in line] == [
        "| add\\_note | modern, legacy | Unknown keys are refused. | just that | nothing of the kind |",
        "| other | modern | Unknown keys are refused. | just that | nothing of the kind |",
    ]


def test_markdown_names_why_checks_were_not_checked() -> None:
    assert "<details><summary>" in to_markdown(unreachable(), frozenset())
    assert "connection refused" in to_markdown(unreachable(), frozenset())


# --- what a server sends


def test_markdown_says_at_the_top_that_nothing_was_judged() -> None:
    assert "**Nothing behind its front door was judged**" in to_markdown(report(surfaces=()), frozenset())
    assert "judged" not in to_markdown(report(), frozenset())


def test_no_form_lets_foreign_text_out_of_its_place() -> None:
    judged = hostile()
    baseline = Baseline.of(of_states(surfaces=(surface(fingerprint=None),)))
    comparison = compare(baseline, judged, {})
    counted = counting(judged, [FailOn.RISK], comparison)
    cases = ET.fromstring(to_junit(judged, counted, comparison)).iter("testcase")
    assert [case.get("name") for case in cases] == [declared.id for declared in checks.catalogue]
    sarif = json.dumps(to_sarif(judged, PLACE, comparison), ensure_ascii=False)
    markdown = to_markdown(judged, counted, comparison)
    for text in (sarif, markdown, to_junit(judged, counted, comparison)):
        text.encode("utf-8")
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u202e\ufffe\U000e0041]", text)
    assert "<script" not in markdown
    assert "@everyone" not in markdown
    assert "https://evil" not in markdown
    assert "[l](javascript" not in markdown
    (run,) = json.loads(sarif)["runs"]
    assert not any(re.search(r"(?<!\\)[\[\]]", told["message"]["text"]) for told in run["results"])
    rows = [line for line in markdown.splitlines() if line.startswith("| a")]
    assert rows
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {6, 3}  # findings, and reasons


@given(st.text(alphabet=st.characters(), max_size=300))
def test_any_text_is_one_line_of_plain_words_in_markdown(text: str) -> None:
    shown = escaped(text)
    assert len(shown.splitlines()) <= 1
    assert not re.search(r"(?<!\\)[|`*_\[\]]|<|>|@(?!&#8203;)", re.sub(r"\\\\", "", shown))


@given(st.text(alphabet=st.characters(exclude_categories=()), max_size=200))
def test_any_text_gives_well_formed_xml_and_json(text: str) -> None:
    bad = finding(text, message=text, measured=text, expected=text)
    judged = report(result("mcp/envelope", State.FAILED, bad), server=text)
    root = ET.fromstring(to_junit(judged, {"mcp/envelope"}))
    assert root.get("failures") == "1"
    json.dumps(to_sarif(judged, PLACE), ensure_ascii=False).encode("utf-8")


def test_a_json_report_without_a_baseline_says_so() -> None:
    assert to_json(healthy())["baseline"] is None
