import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.model import Depth, Era, Report, Severity, State
from driftwatch.report import plain, to_text
from tests.checks import factories
from tests.report.reports import finding, healthy, judged, report, result, surface, unreachable

STRICT = "schema/additionalProperties-strict"
ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


def text(made: Report, width: int = 100) -> str:
    return to_text(made, colour=False, width=width)


def test_the_header_says_what_was_probed_and_what_was_found() -> None:
    lines = text(healthy()).splitlines()
    assert lines[0] == "notes  https://mcp.example.org/mcp"
    assert lines[1].startswith(
        "reachable · certificate ends in 72 days · full probe · 6 requests in 0.25 s ·"
    )
    assert "modern 2026-07-28 · 1 tool · notes 1 · fingerprint dw1:aaaaaaaa.bbbbbbbb" in lines
    assert "legacy 2025-11-25 · 1 tool · notes 1 · fingerprint dw1:aaaaaaaa.bbbbbbbb" in lines


def test_a_list_that_was_not_read_to_its_end_says_so() -> None:
    made = report(surfaces=(surface(complete=False, fingerprint=None, pages=3, tools=12),), depth=Depth.LIGHT)
    assert "modern 2026-07-28 · 12 tools on 3 pages, list incomplete · notes 1" in text(made)


def test_a_report_about_which_little_could_be_judged_says_so_at_the_top() -> None:
    assert "Nothing behind its front door was judged" in to_text(report(surfaces=()), colour=False, width=100)
    halves = (surface(complete=False), surface(Era.LEGACY, complete=False))
    assert "Its tools were not judged" in to_text(report(surfaces=halves), colour=False, width=100)
    one = (surface(complete=False), surface(Era.LEGACY))
    assert "not judged" not in to_text(report(surfaces=one), colour=False, width=100)


def test_a_credential_is_named_by_its_label() -> None:
    assert "full probe with prod-token" in text(report(credential="prod-token"))


def test_the_four_states_are_words_and_the_summary_has_no_score() -> None:
    made = report(
        result(STRICT, State.OBSERVED_RISK, finding()),
        result("tool/case-collision", State.FAILED, finding(severity=Severity.WILL_BREAK, code="case")),
        result("tls/chain", State.VERIFIED),
        result("tls/expiry", State.NOT_CHECKED, reason="no certificate", code="no-certificate"),
    )
    shown = text(made)
    for words in ("observed risk  ", "failed         ", "verified       ", "not checked"):
        assert words in shown
    assert shown.splitlines()[-1] == "1 failed, 1 observed risk, 1 verified, 1 not checked"
    assert "%" not in shown


def test_tools_that_share_a_finding_are_said_once() -> None:
    names = [f"tool_{number}" for number in range(35)]
    made = report(result(STRICT, State.OBSERVED_RISK, *map(finding, names)))
    flat = " ".join(text(made).split())
    assert "35 tools (modern only): Unknown keys are refused. Measured: just that. " in flat
    assert "tool_0, tool_1, tool_2, … +32" in flat


def test_four_tools_are_all_named() -> None:
    made = report(result(STRICT, State.OBSERVED_RISK, *map(finding, "abcd")))
    assert "a, b, c, d" in text(made)


def test_what_was_measured_stands_behind_each_name_where_it_differs() -> None:
    made = report(
        result(
            STRICT, State.OBSERVED_RISK, finding("a", measured="4 levels"), finding("b", measured="7 levels")
        )
    )
    assert "a (4 levels), b (7 levels)" in " ".join(text(made).split())


def test_eras_that_say_the_same_are_folded_and_one_era_alone_is_named() -> None:
    both = [finding(era=Era.MODERN), finding(era=Era.LEGACY)]
    assert "add_note: Unknown keys are refused." in text(report(result(STRICT, State.OBSERVED_RISK, *both)))
    one = text(report(result(STRICT, State.OBSERVED_RISK, both[1])))
    assert "add_note (legacy only): Unknown keys are refused." in one
    single = report(result(STRICT, State.OBSERVED_RISK, both[1]), surfaces=(surface(Era.LEGACY),))
    assert "add_note: Unknown keys are refused." in text(single)


def test_a_finding_comes_with_its_fix() -> None:
    made = report(result("tool/missing-description", State.OBSERVED_RISK, finding()))
    assert "Fix: Write one sentence: what the tool does, and when to use it." in text(made)


def test_many_different_findings_end_with_a_count() -> None:
    different = [finding(f"t{number}", message=f"Number {number} is wrong.") for number in range(20)]
    shown = text(report(result(STRICT, State.OBSERVED_RISK, *different)))
    assert "Number 7 is wrong." in shown
    assert "Number 8 is wrong." not in shown
    assert "… +12 more findings" in shown


def test_the_worst_findings_of_a_check_come_first() -> None:
    mild = finding("mild", message="Mild.")
    grave = finding("grave", message="Grave.", severity=Severity.WILL_BREAK)
    shown = text(report(result(STRICT, State.FAILED, mild, grave)))
    assert shown.index("Grave.") < shown.index("Mild.")


def test_what_a_root_blocks_is_listed_under_it_once() -> None:
    shown = text(unreachable(), width=200)
    assert shown.count("connection refused (because of transport/endpoint)") == 1
    assert "tool/case-collision" in shown
    assert shown.splitlines()[1].startswith("not reachable · no certificate")
    assert "No usable answer to a POST: connection refused." in shown


def test_a_verified_check_with_a_remark_has_its_own_line() -> None:
    shown = text(healthy())
    assert "verified       tls/expiry: ends 2027-02-10 12:00 UTC, in 72 days" in shown


def test_colour_only_repeats_what_the_words_say() -> None:
    made = healthy(silent=True)
    coloured = to_text(made, colour=True, width=100)
    assert "\x1b[33mobserved risk\x1b[0m" in coloured
    assert ESCAPE.sub("", coloured) == text(made)


def test_plain_text_has_no_escape_sequences() -> None:
    assert "\x1b" not in text(healthy(silent=True))


@pytest.mark.parametrize("width", [60, 100, 200])
def test_lines_stay_within_the_width(width: int) -> None:
    for line in text(healthy(silent=True), width).splitlines():
        assert len(line) <= width


def test_a_narrow_terminal_is_served_like_one_of_40_columns() -> None:
    assert text(healthy(), 5) == text(healthy(), 40)


@pytest.mark.parametrize(
    ("foreign", "shown"),
    [
        ("a\x1b[2Jb", "a\\u001b[2Jb"),
        ("a\r\nb\tc", "a\\u000d\\u000ab\\u0009c"),
        ("\u202eevil", "\\u202eevil"),
        ("a\u200bb", "a\\u200bb"),
        ("\U000e0041", "\\U000e0041"),
        ("\ud800", "\\ud800"),
        ("\u2028", "\\u2028"),
        ("\x9b31m", "\\u009b31m"),
        ("a\u3164b", "a\\u3164b"),
        ("a\u00a0b", "a b"),
        ("größe 長 👍", "größe 長 👍"),
    ],
)
def test_foreign_text_is_neutralised(foreign: str, shown: str) -> None:
    assert plain(foreign) == shown


def test_foreign_text_is_cut() -> None:
    assert plain("x" * 1000, 10) == "xxxxxxxxx…"


@given(st.text())
def test_neutralised_text_holds_nothing_that_acts(foreign: str) -> None:
    for character in plain(foreign):
        assert unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    plain(foreign).encode()


@given(st.text(min_size=1))
def test_a_hostile_server_cannot_write_on_the_terminal(hostile: str) -> None:
    tool = factories.tool(hostile, description=hostile * 3)
    seen = factories.evidence(
        factories.surface(
            Era.MODERN, tool, revision=hostile, server_info={"name": hostile, "version": hostile}
        )
    )
    made = judged(seen)
    shown = to_text(made, colour=False, width=100)
    for line in shown.splitlines():
        assert line.isprintable()
