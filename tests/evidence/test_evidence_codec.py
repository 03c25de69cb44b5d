"""Evidence as JSON: there and back, and no damage that gets past the reader."""

import json
from typing import Any

import pytest

from driftwatch.errors import EvidenceError
from driftwatch.evidence import Missing, from_json, to_json
from driftwatch.model import Depth, Era
from tests.checks.factories import evidence, surface, tool
from tests.specimens.running import running


def whole() -> dict[str, Any]:
    seen = evidence(surface(Era.MODERN, tool("a")), surface(Era.LEGACY, tool("a")))
    return json.loads(json.dumps(to_json(seen)))  # type: ignore[no-any-return]


async def test_what_a_full_probe_saw_comes_back_the_same() -> None:
    async with running() as server:
        seen = await server.probe(depth=Depth.FULL)
    assert from_json(json.loads(json.dumps(to_json(seen)))) == seen


def test_a_part_that_an_older_version_did_not_know_is_missing() -> None:
    saved = whole()
    del saved["surfaces"][0]["second_read"]
    part = from_json(saved).surfaces[0].second_read
    assert isinstance(part, Missing)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("outcome",), None),
        (("outcome", "code"), 7),
        (("openings", 0, "attempts"), []),
        (("openings", 0, "attempts"), {"0": None}),
        (("surfaces", 0, "era"), "medieval"),
        (("surfaces", 0, "listing"), "all of them"),
        (("authorization",), {"missing": 1, "code": "no-auth", "cause": None}),
        (("authorization",), {"missing": "why", "code": None, "cause": None}),
        (("authorization",), {"missing": "why"}),
        (("taken_at",), "yesterday"),
        (("taken_at",), "2026-11-30 12:00:00"),
        (("duration_s",), 10**400),
        (("requests",), True),
    ],
)
def test_damage_is_told_and_never_judged(path: tuple[Any, ...], value: Any) -> None:
    saved = whole()
    *way, last = path
    inner = saved
    for step in way:
        inner = inner[step]
    inner[last] = value
    with pytest.raises(EvidenceError, match="damaged"):
        from_json(saved)


@pytest.mark.parametrize("value", [None, [], "x", {}, {"schema": 1}, {"schema": "driftwatch/report/1"}])
def test_what_is_no_evidence_is_told(value: Any) -> None:
    with pytest.raises(EvidenceError, match="not a probe saved by driftwatch"):
        from_json(value)
