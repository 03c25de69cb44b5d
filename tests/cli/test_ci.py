"""The forms of a report for continuous integration, and the page that says how to use them."""

import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from starlette.responses import Response

from driftwatch.demo.sample import SampleServer
from tests.cli.conftest import Command
from tests.cli.running import sample_server, serving, unused_url

URL = "https://staging.example.com/mcp"


@pytest.fixture
def sample() -> Iterator[tuple[SampleServer, str]]:
    with sample_server() as running:
        yield running


def silent(sample: SampleServer) -> None:
    """Take the first tool's description away: an observed risk, and another surface."""
    sample.tools = ({**sample.tools[0], "description": ""}, *sample.tools[1:])


def test_every_form_is_written_beside_the_text(
    driftwatch: Command, sample: tuple[SampleServer, str], tmp_path: Path
) -> None:
    ended = driftwatch("probe", sample[1], "--junit", "j.xml", "--sarif", "s.json", "--markdown", "m.md")
    assert ended.code == 0
    assert "verified" in ended.out
    assert ET.parse(tmp_path / "j.xml").getroot().tag == "testsuites"
    assert json.loads((tmp_path / "s.json").read_text())["version"] == "2.1.0"
    assert (tmp_path / "m.md").read_text().startswith("## driftwatch: ")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["j.xml", "m.md", "s.json"]


@pytest.mark.parametrize("form", ["--junit", "--sarif", "--markdown"])
def test_a_dash_is_standard_output_and_then_nothing_else_is_there(
    driftwatch: Command, sample: tuple[SampleServer, str], form: str
) -> None:
    ended = driftwatch("probe", sample[1], form, "-")
    assert ended.out[:2] in {"<?", "{\n", "##"}
    assert ended.out.endswith("\n")


def test_two_forms_cannot_share_standard_output(driftwatch: Command) -> None:
    ended = driftwatch("probe", unused_url(), "--json", "--junit", "-")
    assert ended.code == 2
    assert "only one form" in ended.err


def test_a_file_that_cannot_be_written_is_named_and_nothing_is_left_behind(
    driftwatch: Command, sample: tuple[SampleServer, str], tmp_path: Path
) -> None:
    ended = driftwatch("probe", sample[1], "--sarif", "nowhere/s.json")
    assert ended.code == 2
    assert "--sarif nowhere/s.json: No such file" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_a_report_replaces_the_file_behind_a_link_and_keeps_the_link(
    driftwatch: Command, sample: tuple[SampleServer, str], tmp_path: Path
) -> None:
    (tmp_path / "summary").write_text("old")
    (tmp_path / "link").symlink_to("summary")
    driftwatch("probe", sample[1], "--markdown", "link")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "summary").read_text().startswith("## driftwatch")


@pytest.mark.parametrize("kept", ["--save", "--json"])
def test_against_its_own_baseline_a_server_has_not_changed(
    driftwatch: Command, sample: tuple[SampleServer, str], tmp_path: Path, kept: str
) -> None:
    keep(driftwatch, sample[1], kept, tmp_path)
    ended = driftwatch("probe", sample[1], "--baseline", "base.json", "--fail-on", "drift")
    assert ended.code == 0
    assert "nothing is different" in ended.out


@pytest.mark.parametrize(
    ("kept", "words"),
    [("--save", "description dropped|description changed"), ("--json", "kept no tool list")],
)
def test_a_toolset_that_is_not_the_baselines_exits_with_1_and_is_told(
    driftwatch: Command, sample: tuple[SampleServer, str], tmp_path: Path, kept: str, words: str
) -> None:
    keep(driftwatch, sample[1], kept, tmp_path)
    silent(sample[0])
    ended = driftwatch("probe", sample[1], "--baseline", "base.json", "--json")
    told = json.loads(ended.out)
    assert ended.code == 1
    assert {change["era"] for change in told["baseline"]["surfaces"]} == {"modern", "legacy"}
    assert "tool/missing-description" in {change["id"] for change in told["baseline"]["checks"]}
    text = driftwatch("probe", sample[1], "--baseline", "base.json").out
    assert re.search(words, " ".join(text.split()))


def test_what_was_as_bad_in_the_baseline_is_let_through_where_only_drift_counts(
    driftwatch: Command, tmp_path: Path
) -> None:
    keep(driftwatch, url := unused_url(), "--save", tmp_path)
    assert driftwatch("probe", url, "--baseline", "base.json").code == 1
    assert driftwatch("probe", url, "--baseline", "base.json", "--fail-on", "drift").code == 3


@pytest.mark.parametrize("form", ["--json", "--junit", "--sarif", "--markdown"])
def test_a_shut_door_lets_a_build_through_and_says_so_beside_every_form(
    driftwatch: Command, form: str
) -> None:
    words = [form] if form == "--json" else [form, "-"]
    with serving(Response(status_code=429)) as url:
        for each in ([], words):
            ended = driftwatch("probe", url, *each)
            assert ended.code == 0
            assert "Nothing behind its front door was judged (HTTP 429" in ended.err
            assert "With --fail-on not-checked it exits with 1." in ended.err
        ended = driftwatch("probe", url, *words, "--fail-on", "not-checked")
        assert (ended.code, ended.err) == (1, "")


def test_what_got_worse_counts_as_drift(
    driftwatch: Command, sample: tuple[SampleServer, str], tmp_path: Path
) -> None:
    keep(driftwatch, sample[1], "--save", tmp_path)
    driftwatch("probe", unused_url(), "--save", "now.json")
    ended = driftwatch("judge", "now.json", "--baseline", "base.json", "--fail-on", "drift")
    assert ended.code == 1
    assert "transport/endpoint: verified -> failed (refused)" in ended.out


@pytest.mark.parametrize("text", ["{}", "[]", '{"schema": "driftwatch/report/1"}', "not JSON"])
def test_a_file_that_is_no_baseline_is_refused(driftwatch: Command, tmp_path: Path, text: str) -> None:
    (tmp_path / "base.json").write_text(text)
    assert driftwatch("probe", unused_url(), "--baseline", "base.json").code == 2


def keep(driftwatch: Command, url: str, how: str, folder: Path) -> None:
    if how == "--save":
        driftwatch("probe", url, "--save", "base.json")
    else:
        (folder / "base.json").write_text(driftwatch("probe", url, "--json").out)


# --- docs/ci.md


def documented(page: Path) -> list[tuple[str, list[str]]]:
    """Each YAML example's text, and the driftwatch commands in it."""
    examples = re.findall(r"```yaml\n(.+?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    return [(example, list(commands(yaml.safe_load(example)))) for example in examples]


def commands(value: Any) -> Iterator[str]:
    match value:
        case dict():
            yield from (found for item in value.values() for found in commands(item))
        case list():
            yield from (found for item in value for found in commands(item))
        case str() if value.startswith("driftwatch "):
            yield value


def test_the_examples_of_the_page_work_and_write_the_files_that_their_next_steps_read(
    driftwatch: Command,
    sample: tuple[SampleServer, str],
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    keep(driftwatch, sample[1], "--save", tmp_path)
    (tmp_path / "base.json").rename(tmp_path / "mcp-baseline.json")
    examples = documented(request.config.rootpath / "docs/ci.md")
    assert [len(found) for _, found in examples] == [1, 1]
    for example, found in examples:
        words = shlex.split(os.path.expandvars(found[0].replace(URL, sample[1])))
        ended = driftwatch(*words[1:])
        assert (ended.code, ended.err) == (0, "")
        for name in re.findall(r"(?:sarif_file|path|junit): (\S+)", example):
            assert (tmp_path / name).stat().st_size > 0
    assert (tmp_path / "summary.md").read_text().startswith("## driftwatch: ")
