import subprocess
import sys
from collections.abc import Callable

import pytest

from driftwatch.checks.base import Declaration, Found, Verdict, check, listed, shown
from driftwatch.checks.sources import OWN, Source
from driftwatch.checks.view import Tool
from driftwatch.evidence import Exchange, Missing, Tls
from driftwatch.model import Era, Severity


def declared(function: Callable[..., Verdict], **changes: object) -> Declaration:
    form: dict[str, object] = {
        "id": "family/name",
        "title": "Title",
        "severity": Severity.NOTE,
        "sources": (OWN,),
    }
    return check(**{**form, **changes})(function)  # type: ignore[arg-type]


def fine(tls: Tls) -> Verdict:
    """One sentence.

    And more of it,
    on two lines.

    Why it matters:
        Because.

    How to fix it:
        First this.

        Then that.
    """
    return ()


def test_the_docstring_is_the_documentation() -> None:
    declaration = declared(fine)
    assert declaration.summary == "One sentence.\n\nAnd more of it, on two lines."
    assert declaration.why == "Because."
    assert declaration.fix == "First this.\n\nThen that."


def test_the_parameters_are_what_it_needs() -> None:
    declaration = declared(fine)
    assert (declaration.needs, declaration.takes_missing) == (("tls",), frozenset())
    assert (declaration.family, declaration.per_surface) == ("family", False)


def test_a_part_may_be_asked_for_even_when_it_is_missing() -> None:
    def both(tls: Tls | Missing, tools: tuple[Tool, ...]) -> Verdict:
        return ()

    both.__doc__ = fine.__doc__
    declaration = declared(both)
    assert declaration.takes_missing == {"tls"}
    assert declaration.per_surface


def without_docstring(tls: Tls) -> Verdict:
    return ()


def test_a_check_without_prose_does_not_import() -> None:
    with pytest.raises(TypeError, match=r"no docstring.*-OO"):
        declared(without_docstring)


@pytest.mark.parametrize(
    "prose",
    [
        "Only a summary.",
        "Summary.\n\nWhy it matters:\n    Because.",
        "Summary.\n\nHow to fix it:\n    So.\n\nWhy it matters:\n    Because.",
        "Summary.\n\nWhy it matters:\n\nHow to fix it:\n    So.",
        "Summary.\n\nWhy it matters:\n    Because.\n\nHow to fix it:\n",
    ],
)
def test_both_headings_are_needed_with_words_under_them(prose: str) -> None:
    def incomplete() -> Verdict:
        return []

    incomplete.__doc__ = prose
    with pytest.raises(TypeError, match="docstring needs"):
        declared(incomplete)


def test_a_part_that_does_not_exist_does_not_import() -> None:
    def mistyped(tlss: Tls) -> Verdict:
        return ()

    mistyped.__doc__ = fine.__doc__
    with pytest.raises(TypeError, match="no part 'tlss'"):
        declared(mistyped)


def test_a_part_of_the_wrong_type_does_not_import() -> None:
    def wrong(tls: Exchange) -> Verdict:
        return ()

    wrong.__doc__ = fine.__doc__
    with pytest.raises(TypeError, match=r"tls is <class .*Tls"):
        declared(wrong)


def test_a_revision_that_does_not_exist_does_not_import() -> None:
    with pytest.raises(TypeError, match="no protocol revision"):
        declared(fine, since_revision="2025-11-26")


def test_a_source_that_the_document_does_not_have_does_not_import() -> None:
    with pytest.raises(ValueError, match="no entry 14"):
        Source("launch-checklist", 14)


def test_optimised_python_is_refused_with_the_reason() -> None:
    run = subprocess.run(
        [sys.executable, "-OO", "-c", "import driftwatch.checks"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 1
    assert "do not run driftwatch with python -OO" in run.stderr


def test_a_finding_takes_severity_and_era_from_its_declaration_and_surface() -> None:
    found = Found(code="c", subject="s", message="m", expected="e", measured="m")
    finding = found.finding(Severity.NOTE, Era.LEGACY)
    assert (finding.severity, finding.era) == (Severity.NOTE, Era.LEGACY)
    own = Found(
        code="c",
        subject="s",
        message="m",
        expected="e",
        measured="m",
        severity=Severity.WILL_BREAK,
        era=Era.MODERN,
    ).finding(Severity.NOTE, Era.LEGACY)
    assert (own.severity, own.era) == (Severity.WILL_BREAK, Era.MODERN)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", '"a"'),
        ("x" * 90, '"' + "x" * 79 + '…"'),
        (None, "null"),
        (True, "true"),
        ([1], "a list"),
        ({}, "an object"),
        (1.5, "1.5"),
    ],
)
def test_foreign_values_are_shown_short(value: object, text: str) -> None:
    assert shown(value) == text


def test_an_integer_that_python_will_not_spell_out_is_shown_in_words() -> None:
    assert shown(10**5000) == "a very large number"


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["a"], "a"),
        (["a", "b"], "a and b"),
        (list("abcde"), "a, b, c, d and e"),
        (list("abcdef"), "a, b, c, d and 2 more"),
    ],
)
def test_long_lists_are_cut(names: list[str], text: str) -> None:
    assert listed(names) == text
