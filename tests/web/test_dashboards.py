"""The dashboard and the alert rules that come along ask for metrics that exist."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from driftwatch.model import EventKind, State
from driftwatch.web.metrics import fleet, service

FAMILIES = {family.name for family in (*fleet.FAMILIES, *service.FAMILIES)}
CLAUSES = r"\b(?:by|without|on|ignoring) \([^)]*\)"
WORDS = {
    *("sum", "count", "sort", "increase", "rate", "absent", "time", "vector", "or", "by"),
    *("label_values", "server", "__rate_interval", "m", "h"),
}


@pytest.fixture
def docs(request: pytest.FixtureRequest) -> Path:
    return request.config.rootpath / "docs"


@pytest.fixture
def asked(docs: Path) -> list[str]:
    """Every expression of the dashboard and of the rules."""
    dashboard = json.loads((docs / "grafana-dashboard.json").read_text(encoding="utf-8"))
    rules = yaml.safe_load((docs / "prometheus-rules.yml").read_text(encoding="utf-8"))
    return [*expressions(dashboard), *expressions(rules)]


def expressions(value: Any) -> Iterator[str]:
    match value:
        case dict():
            yield from (text for key, text in value.items() if key in ("expr", "definition"))
            yield from (found for item in value.values() for found in expressions(item))
        case list():
            yield from (found for item in value for found in expressions(item))


def test_every_name_in_an_expression_is_a_metric_or_a_word_of_the_language(asked: list[str]) -> None:
    assert len(asked) > 25
    for text in asked:
        bare = re.sub(CLAUSES, "", re.sub(r"\{[^}]*\}|\[[^\]]*\]", "", text))
        assert set(re.findall(r"[a-zA-Z_]\w*", bare)) <= FAMILIES | WORDS, text


def test_the_words_that_expressions_look_for_are_ones_that_the_labels_have(asked: list[str]) -> None:
    known: dict[str, set[str]] = {
        "state": {*State},
        "kind": {*EventKind},
        "accepted": {"true", "false"},
    }
    for text in asked:
        for label, word in re.findall(r'(\w+)="([^"]*)"', text):
            assert word in known[label], text


def test_panels_do_not_overlap_and_have_ids_of_their_own(docs: Path) -> None:
    panels = json.loads((docs / "grafana-dashboard.json").read_text(encoding="utf-8"))["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    cells = [
        (x, y)
        for place in (panel["gridPos"] for panel in panels)
        for x in range(place["x"], place["x"] + place["w"])
        for y in range(place["y"], place["y"] + place["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_promtool_takes_the_rules(docs: Path) -> None:
    checked = subprocess.run(
        ["promtool", "check", "rules", docs / "prometheus-rules.yml"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")
