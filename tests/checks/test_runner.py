import logging
from collections.abc import Callable, Iterator

import pytest

from driftwatch.checks import Policy
from driftwatch.checks.base import Found, NotChecked, Verdict, Verified, check
from driftwatch.checks.reads import compare
from driftwatch.checks.runner import Scene, ask
from driftwatch.checks.sources import OWN
from driftwatch.checks.view import Tool
from driftwatch.evidence import Evidence, Exchange
from driftwatch.model import DEPTH_CODE, Depth, Era, Result, Severity, State
from tests.checks.factories import broken, evidence, exchange, shut, surface, tool

PROSE = "Summary.\n\nWhy it matters:\n    Because.\n\nHow to fix it:\n    So."


def found(code: str, severity: Severity | None = None) -> Found:
    return Found(code=code, subject="s", message="m", expected="e", measured="m", severity=severity)


BUSY = NotChecked("it was busy", "busy")


def asked(
    verdict: Callable[[Era], Verdict],
    seen: Evidence | None = None,
    policy: Policy | None = None,
    **form: object,
) -> Result:
    """The result of a check that is asked once per surface and answers with ``verdict``."""

    def judge(era: Era, tools: tuple[Tool, ...]) -> Verdict:
        assert tools
        return verdict(era)

    judge.__doc__ = PROSE
    declare = check(
        id="family/name",
        title="Title",
        severity=Severity.HEADS_UP,
        sources=(OWN,),
        **form,  # type: ignore[arg-type]
    )
    return ask(declare(judge), scene(seen or evidence(), policy or Policy()))


def scene(seen: Evidence, policy: Policy | None = None) -> Scene:
    """A probe of which nothing is remembered."""
    return Scene(
        evidence=seen,
        fingerprints={},
        remembered={},
        policy=policy or Policy(),
        compared=compare(seen.surfaces, seen.replicas),
    )


def test_no_finding_is_verified() -> None:
    assert asked(lambda _: []) == Result(check="family/name", state=State.VERIFIED)


def test_the_worst_finding_gives_state_and_code_and_the_first_of_the_worst_wins() -> None:
    def verdict(_: Era) -> Iterator[Found]:
        yield found("small", Severity.NOTE)
        yield found("default")
        yield found("first", Severity.WILL_BREAK)
        yield found("second", Severity.WILL_BREAK)

    result = asked(verdict)
    assert (result.state, result.code) == (State.FAILED, "first")
    assert len(result.findings) == 8


def test_a_heads_up_is_an_observed_risk() -> None:
    result = asked(lambda _: [found("hint")])
    assert (result.state, result.code) == (State.OBSERVED_RISK, "hint")
    assert [finding.era for finding in result.findings] == [Era.MODERN, Era.LEGACY]


def test_one_bad_surface_decides() -> None:
    result = asked(lambda era: [found("bad")] if era is Era.LEGACY else [])
    assert result.state is State.OBSERVED_RISK
    assert [finding.era for finding in result.findings] == [Era.LEGACY]


def test_a_surface_that_cannot_be_judged_is_named_beside_one_that_can() -> None:
    def verdict(era: Era) -> Verdict:
        return BUSY if era is Era.LEGACY else []

    result = asked(verdict)
    assert (result.state, result.code) == (State.VERIFIED, None)
    assert result.reason == "legacy: not checked: it was busy"


@pytest.mark.parametrize(("verdict", "state"), [([], State.VERIFIED), (BUSY, State.NOT_CHECKED)])
def test_where_the_rule_is_not_about_one_surface_the_other_decides(verdict: Verdict, state: State) -> None:
    elsewhere = NotChecked("it is judged in the legacy era", "not-applicable")
    result = asked(lambda era: elsewhere if era is Era.MODERN else verdict)
    assert (result.state, result.reason) == (state, "it was busy" if verdict else None)
    assert asked(lambda _: elsewhere).code == "not-applicable"


def test_where_no_surface_can_be_judged_the_first_reason_counts() -> None:
    result = asked(lambda era: NotChecked(f"{era} was busy", f"busy-{era}", "tools/pagination"))
    assert (result.state, result.code, result.cause) == (
        State.NOT_CHECKED,
        "busy-modern",
        "tools/pagination",
    )
    assert result.reason == "modern: modern was busy; legacy: legacy was busy"


def test_the_same_reason_is_said_once() -> None:
    assert asked(lambda _: NotChecked("it was busy", "busy")).reason == "it was busy"
    assert asked(lambda _: Verified("all good")).reason == "all good"


def test_a_missing_part_answers_for_the_check() -> None:
    both = evidence(surface(Era.MODERN, listing=broken("json")), surface(Era.LEGACY, listing=broken("json")))
    result = asked(lambda _: [found("never")], both)
    assert (result.state, result.code, result.cause) == (
        State.NOT_CHECKED,
        "incomplete-list",
        "tools/pagination",
    )


def test_without_a_surface_the_blocker_answers() -> None:
    result = asked(lambda _: [found("never")], shut("refused", message="connection refused"))
    assert (result.state, result.code, result.cause, result.reason) == (
        State.NOT_CHECKED,
        "refused",
        "transport/endpoint",
        "connection refused",
    )


def test_a_crash_is_a_bug_of_driftwatch_whatever_another_surface_said(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def verdict(era: Era) -> Iterator[Found]:
        yield found("bad", Severity.WILL_BREAK)
        if era is Era.LEGACY:
            raise ZeroDivisionError

    with caplog.at_level(logging.ERROR, "driftwatch.checks"):
        result = asked(verdict)
    assert (result.state, result.code, result.findings) == (State.NOT_CHECKED, "bug", ())
    assert "ZeroDivisionError in family/name" in (result.reason or "")
    assert caplog.records[0].exc_info is not None


def test_a_check_that_is_switched_off_says_so_before_anything_else() -> None:
    result = asked(
        lambda _: [found("never")], shut("dns"), Policy(off=frozenset({"family/name"})), depth=Depth.FULL
    )
    assert (result.state, result.code) == (State.NOT_CHECKED, "switched-off")


def test_a_light_probe_leaves_a_full_check_with_the_reserved_code() -> None:
    light = evidence(depth=Depth.LIGHT)
    assert asked(lambda _: [found("never")], light, depth=Depth.FULL).code == DEPTH_CODE
    assert asked(lambda _: [found("now")], evidence(), depth=Depth.FULL).code == "now"
    assert asked(lambda _: [found("now")], light).code == "now"


def test_a_check_speaks_of_its_own_eras_and_revisions_only() -> None:
    result = asked(lambda _: [found("bad")], eras=(Era.LEGACY,))
    assert [finding.era for finding in result.findings] == [Era.LEGACY]
    result = asked(lambda _: [found("bad")], since_revision="2026-07-28")
    assert [finding.era for finding in result.findings] == [Era.MODERN]
    old = evidence(surface(Era.LEGACY, revision="2025-03-26"))
    result = asked(lambda _: [found("bad")], old, since_revision="2025-11-25")
    assert result.code == "not-applicable"
    assert result.reason == "the rule exists since revision 2025-11-25; this server speaks legacy 2025-03-26"


def test_the_declarations_version_travels_with_the_result() -> None:
    assert asked(lambda _: [], version=7).version == 7


def test_eras_that_list_the_same_tools_are_looked_at_once() -> None:
    looked = []

    def judge(tools: tuple[Tool, ...]) -> Verdict:
        looked.append(tools)
        return [found("bad")]

    judge.__doc__ = PROSE
    declaration = check(id="a/b", title="T", severity=Severity.NOTE, sources=(OWN,))(judge)
    same = scene(evidence())
    result = ask(declaration, same)
    assert len(looked) == 1
    assert [finding.era for finding in result.findings] == [Era.MODERN, Era.LEGACY]
    unlike = evidence(surface(Era.MODERN, tool("a")), surface(Era.LEGACY, tool("b")))
    ask(declaration, scene(unlike))
    assert len(looked) == 3


def test_exchanges_are_the_opening_and_the_pages() -> None:
    seen: list[str | None] = []

    def judge(exchanges: tuple[Exchange, ...]) -> Verdict:
        seen.extend(one.rpc_method for one in exchanges)
        return []

    judge.__doc__ = PROSE
    declaration = check(id="a/b", title="T", severity=Severity.NOTE, sources=(OWN,))(judge)
    pages = evidence(surface(listing=broken("json", exchanges=(exchange("tools/list"),) * 2)))
    ask(declaration, scene(pages))
    assert seen == ["initialize", "tools/list", "tools/list"]
