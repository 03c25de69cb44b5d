"""The API against what schemathesis makes of its own document: no 500, and every answer as it is written.

Only where schemathesis is installed; it is not among the test extras.
"""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from driftwatch.store.sqlite import SqliteStore
from driftwatch.web.api import DESCRIBED
from driftwatch.web.application import application
from tests.web.asking import ADMIN, READ, Api, Frozen, http

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
CONFORMANCE = pytest.importorskip("schemathesis.specs.openapi.checks")
CHECKS = (
    pytest.importorskip("schemathesis.checks").not_a_server_error,
    CONFORMANCE.status_code_conformance,
    CONFORMANCE.content_type_conformance,
    CONFORMANCE.response_schema_conformance,
)


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory, fleet: Path) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("fuzzed")
    shutil.copy(fleet, folder / "driftwatch.db")
    store = SqliteStore(folder / "driftwatch.db", clock=Frozen().now)
    api = Api(store=store, config=http(folder, f'read_token = "{READ}"', f'admin_token = "{ADMIN}"'))
    yield schemathesis.openapi.from_asgi("/api/v1/openapi.json", application(api.context))
    store.close()


@pytest.mark.parametrize("endpoint", DESCRIBED, ids=lambda endpoint: endpoint.name)
def test_every_answer_is_what_the_document_says(document: Any, endpoint: Any) -> None:
    operation = document[endpoint.path][endpoint.method]

    @settings(max_examples=25, suppress_health_check=list(HealthCheck))
    @given(case=operation.as_strategy())
    def answered(case: Any) -> None:
        case.call_and_validate(checks=CHECKS, headers={"Authorization": f"Bearer {ADMIN}"})

    answered()
