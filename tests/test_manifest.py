"""Both references, item by item, and for each check something that trips it."""

from pathlib import Path

import pytest

from driftwatch import checks
from driftwatch.checks.sources import DOCUMENTS
from driftwatch.model import State
from tests.specimens import SPECIMENS

HERE = Path(__file__).parent

ELSEWHERE = {
    "auth/credential": "service/test_credentials.py",
    "timeouts/first-answer": "checks/test_checks_first_answer.py",
    "release/fingerprint": "service/test_main_job.py",
}
"""Checks that need more than a specimen without a store: a credential, a slow machine, a memory. The file
that trips them instead."""

TRIPPED = {
    check
    for specimen in SPECIMENS
    for check, (state, _) in specimen.expect.items()
    if state in {State.FAILED, State.OBSERVED_RISK}
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_entry_of_both_references_has_its_check(name: str) -> None:
    covered = {
        source.number
        for declared in checks.catalogue
        for source in declared.sources
        if source.document == name
    }
    assert covered == set(range(1, DOCUMENTS[name].count + 1))


@pytest.mark.parametrize("declared", checks.catalogue, ids=lambda declared: declared.id)
def test_every_check_is_tripped_by_a_specimen_or_by_a_test_that_is_named(
    declared: checks.Declaration,
) -> None:
    if declared.id in ELSEWHERE:
        assert declared.id not in TRIPPED, "a specimen trips it now: it needs no exception"
        assert (HERE / ELSEWHERE[declared.id]).is_file()
    else:
        assert declared.id in TRIPPED
