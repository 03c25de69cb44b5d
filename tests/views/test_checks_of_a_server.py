"""What a page and ``status`` say of each check of a server."""

from datetime import UTC, datetime, timedelta
from typing import Any

from driftwatch import checks
from driftwatch.model import State
from driftwatch.transitions import Memory, SubjectState
from driftwatch.views.checks import FINDINGS_SHOWN, Check, checks_now

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def state(check: str, confirmed: str, **changes: Any) -> SubjectState:
    return SubjectState(
        subject=f"check:{check}", confirmed=confirmed, confirmed_since=NOON, last_observed_at=NOON, **changes
    )


def shown(*states: SubjectState) -> tuple[Check, ...]:
    return checks_now(Memory(server="api", states={each.subject: each for each in states}))


def finding(subject: str, **changes: Any) -> dict[str, Any]:
    said = {
        "severity": "heads up",
        "code": "missing",
        "subject": subject,
        "message": "The tool has no description.",
        "expected": "a sentence",
        "measured": "absent",
        "clients": [],
        "era": "modern",
    }
    return {**said, **changes}


def described(*findings: dict[str, Any]) -> Check:
    (check,) = shown(
        state("tool/missing-description", "observed_risk:missing", detail={"findings": list(findings)})
    )
    return check


def test_checks_stand_in_the_order_of_the_catalogue_and_what_is_no_check_is_left_out() -> None:
    eras = SubjectState(subject="eras", confirmed="modern", confirmed_since=NOON, last_observed_at=NOON)
    found = shown(eras, *(state(each.id, "verified") for each in reversed(checks.catalogue)))
    assert [each.declaration for each in found] == list(checks.catalogue)
    assert not any(each.loud for each in found)


def test_subjects_with_the_same_finding_stand_together() -> None:
    check = described(finding("read"), finding("write"), finding("write", era="legacy"))
    (told,) = check.told
    assert (told.subjects, told.measured, told.eras) == ("read, write", "absent", "modern and legacy")
    assert (check.state, check.code, check.bad) == (State.OBSERVED_RISK, "missing", True)


def test_an_era_is_named_only_where_another_one_has_findings_too() -> None:
    (told,) = described(finding("read"), finding("write")).told
    assert told.eras == ""


def test_what_was_measured_is_not_said_where_subjects_differ_or_the_message_has_it() -> None:
    (differing,) = described(finding("read"), finding("write", measured="blank")).told
    (quoting,) = described(finding("read", message="It is absent.")).told
    assert (differing.measured, quoting.measured) == ("", "")


def test_what_fails_is_told_before_what_is_a_risk() -> None:
    check = described(finding("read"), finding("write", severity="will break", message="It is gone."))
    assert [each.message for each in check.told] == ["It is gone.", "The tool has no description."]


def test_findings_beyond_the_limit_are_counted() -> None:
    check = described(*(finding(f"tool-{each}", message=f"{each}.") for each in range(FINDINGS_SHOWN + 3)))
    assert (len(check.told), check.more) == (FINDINGS_SHOWN, 3)


def test_a_tool_name_that_hides_something_is_spelled_out() -> None:
    (told,) = described(finding("re\u202ead\n")).told
    assert told.subjects == r"re\u202ead\n"


def test_a_blocked_check_names_its_cause_and_what_it_was_before() -> None:
    later = NOON + timedelta(hours=1)
    (check,) = shown(
        state(
            "tools/pagination",
            "failed:loop",
            accepted="verified",
            blocked_by="transport/endpoint",
            blocked_code="timeout",
            blocked_since=later,
            detail={"findings": [finding("list")]},
        )
    )
    assert (check.state, check.code, check.since) == (State.NOT_CHECKED, "timeout", later)
    assert check.reason is not None
    assert check.reason.startswith("transport/endpoint explains it")
    assert (check.last_known, check.told) == ("failed (loop)", ())


def test_a_change_that_is_not_confirmed_is_something_to_read_about() -> None:
    (check,) = shown(state("tls/chain", "verified", pending="failed:expired", pending_count=2))
    assert (check.state, check.pending, check.pending_count) == (State.VERIFIED, "failed (expired)", 2)
    assert (check.bad, check.loud) == (False, True)
