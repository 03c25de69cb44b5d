import json
import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from driftwatch.model import Json, Report
from driftwatch.report import SCHEMA, to_json
from tests.report.reports import fingerprint, healthy, report, surface, unreachable

VALIDATOR = Draft202012Validator(SCHEMA, format_checker=Draft202012Validator.FORMAT_CHECKER)


@pytest.mark.parametrize(
    "made", [healthy(), unreachable(), report()], ids=["healthy", "unreachable", "empty"]
)
def test_every_report_has_the_form_of_the_contract(made: Report) -> None:
    VALIDATOR.validate(json.loads(json.dumps(to_json(made))))


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_a_report_has_exactly_the_fields_of_the_contract() -> None:
    assert list(to_json(healthy())) == [
        *("schema", "driftwatch", "server", "taken_at", "depth", "trigger", "duration_s", "requests"),
        *("reachable", "surfaces", "tls", "checks", "baseline"),
    ]
    assert _undeclared(to_json(healthy()), SCHEMA) == []


def _undeclared(value: Json, schema: dict[str, Any], path: str = "") -> list[str]:
    """Members that the schema does not name."""
    if "anyOf" in schema:
        schema = next(one for one in schema["anyOf"] if one["type"] != "null")
    if isinstance(value, list):
        return [extra for item in value for extra in _undeclared(item, schema["items"], f"{path}[]")]
    if not isinstance(value, dict) or "properties" not in schema:
        return []
    declared = schema["properties"]
    extra = [f"{path}.{name}" for name in value if name not in declared]
    return extra + [
        found
        for name, item in value.items()
        if name in declared
        for found in _undeclared(item, declared[name], f"{path}.{name}")
    ]


def test_the_values_of_a_report_are_those_of_the_probe() -> None:
    made = to_json(healthy())
    assert made["server"] == {"name": "notes", "url": "https://mcp.example.org/mcp"}
    assert made["taken_at"] == "2026-11-30T12:00:00Z"
    assert made["surfaces"][0] == {
        "era": "modern",
        "revision": "2026-07-28",
        "tools": 1,
        "pages": 1,
        "complete": True,
        "server_info": {"name": "notes", "version": "1"},
        "fingerprint": {
            "contract": f"dw1:{'a' * 64}",
            "surface": f"dw1:{'b' * 64}",
            "checklist": "c" * 64,
        },
    }
    assert made["tls"] == {
        "not_after": "2027-02-10T12:00:00Z",
        "days_left": 72,
        "issuer": "CN=R11,O=Let's Encrypt,C=US",
        "subject_alt_names": ["mcp.example.org"],
        "version": "TLSv1.3",
        "chain_length": 2,
        "leaf_sha256": "ab" * 32,
    }
    verified = next(item for item in made["checks"] if item["id"] == "transport/endpoint")
    assert verified == {
        "id": "transport/endpoint",
        "state": "verified",
        "reason": None,
        "code": None,
        "version": 1,
        "findings": [],
    }


def test_a_finding_is_told_whole() -> None:
    made = to_json(healthy(silent=True))
    (finding, _) = next(item for item in made["checks"] if item["id"] == "tool/missing-description")[
        "findings"
    ]
    assert finding == {
        "severity": "heads up",
        "code": "missing",
        "era": "modern",
        "subject": "add_note",
        "pointer": "/description",
        "message": "The tool has no description: agents guess from its name what it does.",
        "expected": "a sentence",
        "measured": "absent",
        "clients": [],
    }


@pytest.mark.parametrize(
    ("at", "text"),
    [
        (datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(hours=2))), "2026-11-30T10:00:00Z"),
        (datetime(2026, 11, 30, 12, 0, 0, 5, tzinfo=UTC), "2026-11-30T12:00:00.000005Z"),
    ],
)
def test_every_time_is_utc_and_ends_with_z(at: datetime, text: str) -> None:
    made = to_json(report(taken_at=at))
    assert made["taken_at"] == text
    VALIDATOR.validate(made)


def test_what_a_server_says_about_itself_is_an_object_or_nothing() -> None:
    for info in ("text", ["list"], 7, None):
        assert to_json(report(surfaces=(surface(server_info=info),)))["surfaces"][0]["server_info"] is None


def test_an_incomplete_list_has_no_fingerprint() -> None:
    made = to_json(report(surfaces=(surface(complete=False, fingerprint=None),)))
    assert made["surfaces"][0]["fingerprint"] is None
    VALIDATOR.validate(made)


def test_a_checklist_digest_may_be_missing() -> None:
    made = to_json(report(surfaces=(surface(fingerprint=fingerprint(checklist=None)),)))
    assert made["surfaces"][0]["fingerprint"]["checklist"] is None
    VALIDATOR.validate(made)


def test_the_documented_example_has_the_form_of_the_contract(request: pytest.FixtureRequest) -> None:
    page = (request.config.rootpath / "docs/report.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```json\n(.+?)```", page, re.DOTALL)
    VALIDATOR.validate(json.loads(example))
    assert _undeclared(json.loads(example), SCHEMA) == []
