"""The catalogue as a whole: ids are public, prose is complete, sources exist."""

import pytest

from driftwatch import checks
from driftwatch.checks import Declaration
from driftwatch.checks.sources import DOCUMENTS
from driftwatch.model import Severity

every_check = pytest.mark.parametrize("declaration", checks.catalogue, ids=lambda one: one.id)

RULES = {
    1: "transport/content-type",
    2: "transport/accept-sse",
    3: "mcp/protocol-version",
    4: "tool/missing-description",
    5: "tool/description-too-long",
    6: "tool/name-too-long",
    7: "tool/case-collision",
    8: "schema/semantic-format",
    9: "schema/missing-required",
    10: "schema/deep-nesting",
    11: "schema/additionalProperties-strict",
}
"""The rules of the checks reference, in its order. Ids are persisted: this table never changes."""

OWN_IDS = {4, 5, 6, 7, 8}


def test_ids_are_unique() -> None:
    ids = [declaration.id for declaration in checks.catalogue]
    assert len(set(ids)) == len(ids)


@every_check
def test_an_id_begins_with_its_family_which_is_its_module(declaration: Declaration) -> None:
    assert declaration.judge.__module__ == f"driftwatch.checks.{declaration.family}"


def test_every_family_has_checks_and_none_is_left_out() -> None:
    families = [module.__name__.rpartition(".")[2] for module in checks.FAMILIES]
    assert list(dict.fromkeys(declaration.family for declaration in checks.catalogue)) == families


@every_check
def test_prose_is_complete_sentences(declaration: Declaration) -> None:
    for prose in (declaration.summary, declaration.why, declaration.fix):
        for paragraph in prose.split("\n\n"):
            assert paragraph[0].isupper() or paragraph[0] == "`"
            assert paragraph.endswith(".")
    assert not declaration.title.endswith(".")
    assert len(declaration.title) <= 90


@every_check
def test_sources_are_there(declaration: Declaration) -> None:
    assert declaration.sources
    for source in declaration.sources:
        assert source.document == "driftwatch" or source.number <= DOCUMENTS[source.document].count


def test_every_rule_of_the_checks_reference_has_its_check() -> None:
    rules = {
        source.number: (declaration.id, source.own_id)
        for declaration in checks.catalogue
        for source in declaration.sources
        if source.document == "checks-reference"
    }
    assert rules == {number: (check, number in OWN_IDS) for number, check in RULES.items()}


def test_rules_have_the_severity_of_the_reference() -> None:
    breaking = {1, 2, 7}
    for number, check in RULES.items():
        expected = Severity.WILL_BREAK if number in breaking else Severity.HEADS_UP
        assert checks.by_id(check).severity is expected


def test_the_roots_are_those_that_evidence_names_as_causes() -> None:
    roots = [declaration.id for declaration in checks.catalogue if declaration.root]
    assert roots == [
        *("tls/chain", "transport/endpoint", "transport/content-type", "transport/encoding"),
        *("auth/credential", "mcp/initialized-ack", "mcp/envelope", "mcp/message-text", "tools/pagination"),
        "release/replicas",
        "release/stable-listing",
    ]


def test_a_mistyped_id_has_a_nearest_one() -> None:
    assert checks.nearest("transport/content_type") == "transport/content-type"
    assert checks.nearest("content-type") == "transport/content-type"
    assert checks.nearest("Schema/AdditionalProperties") == "schema/additionalProperties-strict"
    assert checks.nearest("nothing like it") is None
    with pytest.raises(KeyError):
        checks.by_id("transport/content_type")
