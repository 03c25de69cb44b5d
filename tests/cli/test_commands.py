"""What a person sees at the command line: output, messages and exit codes."""

import contextlib
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from driftwatch import checks
from driftwatch.demo.sample import RELEASES, SampleServer
from driftwatch.report import SCHEMA
from tests.cli.conftest import Command
from tests.cli.running import sample_server, serving, unused_url, write_config

# --- probe and judge


def test_a_probe_of_a_healthy_server_exits_with_0_and_prints_states_in_words(
    driftwatch: Command, sample: tuple[SampleServer, str]
) -> None:
    ended = driftwatch("probe", sample[1])
    assert ended.code == 0
    assert "verified" in ended.out
    assert "modern 2026-07-28" in ended.out
    assert "\x1b" not in ended.out  # plain when it is not a terminal
    assert ended.err == ""


def test_the_json_report_is_the_contract_and_the_only_thing_on_standard_output(
    driftwatch: Command, sample: tuple[SampleServer, str]
) -> None:
    ended = driftwatch("probe", sample[1], "--json", "--depth", "light")
    report = json.loads(ended.out)
    Draft202012Validator(SCHEMA).validate(report)
    assert report["depth"] == "light"
    assert [check["id"] for check in report["checks"]] == [declared.id for declared in checks.catalogue]
    assert {surface["era"] for surface in report["surfaces"]} == {"modern", "legacy"}


def test_a_saved_probe_is_judged_again_to_the_same_report(
    driftwatch: Command, sample: tuple[SampleServer, str], tmp_path: Path
) -> None:
    probed = driftwatch("probe", sample[1], "--json", "--save", "seen.json")
    judged = driftwatch("judge", "seen.json", "--json")
    assert judged.code == probed.code == 0
    assert json.loads(judged.out) == json.loads(probed.out)
    assert (tmp_path / "seen.json").exists()


def test_a_server_that_nobody_answers_for_is_a_failed_check_and_exit_1(driftwatch: Command) -> None:
    ended = driftwatch("probe", unused_url(), "--json")
    report = json.loads(ended.out)
    assert ended.code == 1
    assert report["reachable"] is False
    assert {check["id"]: check["code"] for check in report["checks"]}["transport/endpoint"] == "refused"


def test_a_server_that_answers_and_lists_no_tools_exits_with_1(driftwatch: Command) -> None:
    def without_list(application: ASGIApp) -> ASGIApp:
        async def answer(scope: Scope, receive: Receive, send: Send) -> None:
            broken = dict(scope.get("headers", ())).get(b"mcp-method") == b"tools/list"
            await (Response(status_code=500) if broken else application)(scope, receive, send)

        return answer

    with serving(without_list(SampleServer("v1").application)) as url:
        ended = driftwatch("probe", url, "--depth", "light", "--json")
    report = json.loads(ended.out)
    assert (ended.code, report["reachable"]) == (1, True)
    assert {check["id"]: check["code"] for check in report["checks"]}["tools/pagination"] == "http-status"


def test_observed_risks_count_only_where_that_is_asked_for(driftwatch: Command) -> None:
    with sample_server() as (sample, url):
        sample.tools = ({**sample.tools[0], "description": ""},)
        assert driftwatch("probe", url).code == 0
        assert driftwatch("probe", url, "--fail-on", "risk").code == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["probe", "api"], "no configuration found"),
        (["probe", "mcp.example.com/mcp"], "did you mean https://mcp.example.com/mcp?"),
        (["probe", "127.0.0.1:8000/mcp", "-H", "A: b"], "did you mean https://127.0.0.1:8000/mcp?"),
        (["probe", "http://256.1.1.1/mcp"], "neither a name nor an IP address"),
        (["probe", "http://127.0.0.1/" + "a" * 70_000], "longer than 8000 characters"),
        (["probe", "ftp://host/mcp"], "http"),
        (["probe", "http://127.0.0.1/mcp", "-H", "nonsense"], "--header wants 'Name: value'"),
        (["probe", "http://127.0.0.1/mcp", "--token-file", "missing"], "--token-file missing: No such file"),
        (["judge", "missing.json"], "missing.json: No such file"),
        (["explain", "transport/content-typ"], "transport/content-type"),
        (["status", "-c", "missing.toml"], "missing.toml"),
        (["history", "api", "-c", "missing.toml"], "missing.toml"),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else None,
)
def test_a_wrong_use_exits_with_2_and_says_what_to_do(
    driftwatch: Command, words: list[str], message: str
) -> None:
    ended = driftwatch(*words)
    assert ended.code == 2
    assert message in ended.err
    assert "Traceback" not in ended.err
    assert ended.out == ""


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"schema": "x"}', '{"schema": "driftwatch/evidence/99"}'])
def test_a_file_that_is_no_saved_probe_exits_with_2(driftwatch: Command, tmp_path: Path, text: str) -> None:
    (tmp_path / "seen.json").write_text(text, encoding="utf-8")
    ended = driftwatch("judge", "seen.json")
    assert ended.code == 2
    assert "Traceback" not in ended.err
    assert len(ended.err.splitlines()) == 1


# --- checks and explain


def test_every_check_of_the_catalogue_is_listed_and_explained(driftwatch: Command) -> None:
    listing = driftwatch("checks").out
    for declared in checks.catalogue:
        assert declared.id in listing
        assert declared.title in " ".join(driftwatch("explain", declared.id).out.split())
    listed = json.loads(driftwatch("checks", "--json").out)
    assert len(json.dumps(listed)) > len(checks.catalogue)
    assert json.loads(driftwatch("explain", "tls/chain", "--json").out)["id"] == "tls/chain"


# --- config


def test_every_problem_of_a_configuration_is_told_at_once_with_file_and_line(
    driftwatch: Command, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text(
        '[[server]]\nname = "api"\nurl = "https://h/mcp"\nintervall = "5m"\ntoken = "${NOPE}"\n'
        'checks.off = ["tls/chian"]\nlimits.Ours.name = 3\nlimits.ChatGPT.oldest = "2025-01-01"\n'
        '[[alert]]\nname = "ops"\nurl = "nosuchthing://s3cret"\n',
        encoding="utf-8",
    )
    ended = driftwatch("config", "check")
    assert ended.code == 2
    lines = ended.err.splitlines()
    assert len(lines) == 5
    assert all(line.startswith("config.toml:") for line in lines)
    assert 'did you mean "interval"?' in lines[0]
    assert "NOPE is not set" in lines[1]
    assert "tls/chain" in lines[2]
    assert (
        "Ours: this client is not in driftwatch's own table: description, oldest, newest missing" in lines[3]
    )
    assert "ChatGPT: '2025-01-01' is no protocol revision" in lines[3]
    assert "no service for nosuchthing://" in lines[4]


def test_certificate_files_that_no_probe_can_use_are_problems_of_the_configuration(
    driftwatch: Command, tmp_path: Path
) -> None:
    (tmp_path / "empty.pem").touch()
    server = '[[server]]\nname = "{}"\nurl = "https://h/mcp"\n{} = "empty.pem"\n'
    text = server.format("a", "ca_file") + server.format("b", "client_cert")
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    ended = driftwatch("config", "check")
    assert (ended.code, ended.out) == (2, "")
    first, second = ended.err.removeprefix("driftwatch: ").splitlines()
    assert first.startswith('config.toml:4: server "a".ca_file: ')
    assert second.startswith('config.toml:8: server "b".client_cert: ')
    assert all(line.endswith(": give a PEM file with what belongs there") for line in (first, second))


def test_a_first_configuration_is_written_and_fine_and_nothing_is_overwritten(
    driftwatch: Command, tmp_path: Path
) -> None:
    begun = driftwatch("config", "init", "https://shop.example.com/mcp", "--name", "shop 🛒")
    assert begun.code == 0, begun.err
    checked = driftwatch("config", "check")
    assert checked.out == "config.toml: fine (servers: 1, alert channels: 0)\n"
    assert "nobody is told" in checked.err
    (server,) = json.loads(driftwatch("config", "show", "--json").out)["server"]
    assert (server["name"], server["url"]) == ("shop 🛒", "https://shop.example.com/mcp")
    before = (tmp_path / "config.toml").read_text()
    assert "exists already" in driftwatch("config", "init").err
    assert (tmp_path / "config.toml").read_text() == before
    assert driftwatch("config", "init", "ftp://x", "--file", "other.toml").code == 2
    assert "No such file or folder" in driftwatch("config", "init", "--file", "nowhere/x.toml").err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.toml"]


def test_an_alert_url_that_apprise_does_not_know_is_a_problem_of_the_configuration(
    driftwatch: Command, tmp_path: Path
) -> None:
    write_config(tmp_path, "https://h/mcp", alert="nosuchthing://s3cret-token")
    ended = driftwatch("config", "check")
    assert ended.code == 2
    assert 'alert "ops".url' in ended.err
    assert "s3cret" not in ended.err


def test_the_configuration_is_shown_with_its_defaults_and_without_its_secrets(
    driftwatch: Command, tmp_path: Path
) -> None:
    path = write_config(tmp_path, "https://h/mcp?key=c4nary-query", alert="json://c4nary-host/c4nary-path")
    path.write_text(
        path.read_text(encoding="utf-8").replace('name = "api"', 'name = "api"\ntoken = "c4nary-token"'),
        encoding="utf-8",
    )
    for words in (["config", "show"], ["config", "show", "--json"]):
        shown = driftwatch(*words)
        assert shown.code == 0
        assert "c4nary" not in shown.out
        assert "15m" in shown.out
    assert driftwatch("config", "check").code == 0


# --- the service's database, read beside it


def test_status_and_history_before_the_first_start_say_so(driftwatch: Command, tmp_path: Path) -> None:
    write_config(tmp_path, "https://h/mcp")
    for words in (["status"], ["history", "api"]):
        ended = driftwatch(*words)
        assert ended.code == 3
        assert "driftwatch.db" in ended.err


def test_reading_needs_no_secret_of_the_service(driftwatch: Command, tmp_path: Path) -> None:
    channel = 'name = "ops"\nurl = "${OPS_ALERT_URL}"'
    (tmp_path / "config.toml").write_text(
        f'[[alert]]\n{channel}\n[http]\nlisten = "127.0.0.1:1"\nread_token = "${{READ_TOKEN}}"\n'
        '[storage]\npath = "seen.db"\n'
        '[[server]]\nname = "api"\nurl = "http://127.0.0.1:1/"\ntoken_file = "gone"\n',
        encoding="utf-8",
    )
    for words in (["status"], ["history", "api"], ["diff", "api"]):
        ended = driftwatch(*words)
        assert ended.code == 3
        assert "there is no database at" in ended.err
        assert "seen.db" in ended.err
    assert "not alive: 127.0.0.1:1: " in driftwatch("healthcheck").err
    assert "OPS_ALERT_URL is not set" in driftwatch("config", "check").err


def damaged_not_sqlite(path: Path) -> None:
    path.write_text("this is no database, but it is long enough to look at " * 100, encoding="utf-8")


def damaged_folder(path: Path) -> None:
    path.mkdir()


def damaged_foreign(path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE somebody_elses (x)")
        database.commit()


@pytest.mark.parametrize("damage", [damaged_not_sqlite, damaged_folder, damaged_foreign])
@pytest.mark.parametrize("command", ["run", "status"])
def test_a_database_that_is_not_ours_is_refused_and_left_as_it_is(
    driftwatch: Command, tmp_path: Path, damage: Any, command: str
) -> None:
    write_config(tmp_path, "https://h/mcp")
    path = tmp_path / "driftwatch.db"
    damage(path)
    before = path.read_bytes() if path.is_file() else None
    ended = driftwatch(command)
    assert ended.code == 3
    assert "driftwatch.db" in ended.err
    assert "Traceback" not in ended.err
    assert (path.read_bytes() if path.is_file() else None) == before


# --- demo and help


def test_the_demo_shows_the_alert_and_leaves_a_database_to_look_at(driftwatch: Command) -> None:
    ended = driftwatch("demo")
    assert ended.code == 0
    assert 'tool "order_status" renamed to "get_order_status"' in ended.out
    assert 'parameter "note"' in ended.out
    status = driftwatch("status", "-c", "driftwatch-demo/config.toml")
    assert "bookshop" in status.out
    history = driftwatch("history", "bookshop", "-c", "driftwatch-demo/config.toml").out
    # Both eras changed alike, which is one line.
    assert (
        history.count("toolset changed - 1 tool renamed, 1 parameter dropped (breaking) by release v2") == 1
    )
    compared = driftwatch("diff", "bookshop", "-c", "driftwatch-demo/config.toml").out
    assert compared.startswith("Toolset (modern and legacy): dw1:")
    assert driftwatch("demo").code == 0  # it begins anew


def test_the_demo_ends_with_commands_that_can_be_pasted(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("driftwatch")
    if not program.exists():
        pytest.skip("driftwatch is not installed here")
    environment = {name: value for name, value in os.environ.items() if name != "PATH"}
    ended = subprocess.run(
        [program, "demo"], capture_output=True, check=True, text=True, cwd=tmp_path, env=environment
    )
    commands = [line.strip() for line in ended.stdout.splitlines() if line.startswith("    ")]
    assert commands[-3:] == [
        f"{program} status bookshop -c driftwatch-demo/config.toml",
        f"{program} diff bookshop -c driftwatch-demo/config.toml",
        f"{program} history bookshop -c driftwatch-demo/config.toml",
    ]


def test_a_change_is_shown_accepted_by_its_fingerprint_and_then_is_the_baseline(driftwatch: Command) -> None:
    driftwatch("demo")
    config = ("-c", "driftwatch-demo/config.toml")
    shown = driftwatch("diff", "bookshop", *config)
    assert shown.code == 1
    assert shown.out.count('tool "order_status" renamed to "get_order_status"') == 1
    assert shown.out.startswith("Toolset (modern and legacy): dw1:")
    surfaces = json.loads(driftwatch("diff", "bookshop", *config, "--json").out)["surfaces"]
    pair, old = surfaces[0]["to"], surfaces[0]["from"]
    digests = pair.removeprefix("dw1:").split(".")
    short = f"dw1:{digests[0][:8]}.{digests[1][:8]}"
    assert short in shown.out
    for wrong in (old, "dw1:12345678.12345678", "nonsense", pair[:9]):
        refused = driftwatch("accept", "bookshop", *config, "--fingerprint", wrong, "--reason", "why")
        assert refused.code == 2
        assert short in refused.err
    accepted = driftwatch("accept", "bookshop", *config, "--fingerprint", short, "--reason", "release v2")
    assert (accepted.code, short in accepted.out) == (0, True)
    assert driftwatch("diff", "bookshop", *config).code == 0
    assert driftwatch("diff", "bookshop", *config, "--from", old).code == 1
    # The demo's release v2 left what is current; before it nothing was announced.
    assert driftwatch("diff", "bookshop", *config, "--from", "v2").code == 0
    page = driftwatch("diff", "bookshop", *config, "--from", old, "--to", "v2", "--markdown").out
    assert "| breaking | get\\_order\\_status |" in page
    events = json.loads(driftwatch("history", "bookshop", *config, "--json").out)["events"]
    assert {"kind": "accepted", "reason": "release v2"}.items() <= {
        "kind": events[0]["kind"],
        **events[0]["details"],
    }.items()
    again = driftwatch("accept", "bookshop", *config, "--fingerprint", pair, "--reason", "again")
    assert "accepted already" in again.out


@pytest.mark.parametrize("group", [[], ["config"], ["db"], ["notify"], ["outbox"]])
def test_help_says_what_each_command_does_in_one_line_of_80_columns(
    driftwatch: Command, monkeypatch: pytest.MonkeyPatch, group: list[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = driftwatch(*group, "--help").out.partition("Commands:")[2]
    assert listed
    assert "..." not in listed


# --- foreign text


HALF = "\ud800 café"
"""Half of a surrogate pair, which JSON can write and UTF-8 cannot, beside a letter that both can."""


class _AsciiResponse(JSONResponse):
    """JSON with every other character escaped; as it is, the sample could not send half of one."""

    def render(self, content: Any) -> bytes:
        return json.dumps(content).encode("ascii")


@pytest.fixture
def halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """A sample server whose second release names its tools with half a character."""
    tools = tuple({**tool, "name": f"{tool['name']}{HALF}"} for tool in RELEASES["v2"])
    monkeypatch.setattr("driftwatch.demo.sample.RELEASES", {**RELEASES, "v2": tools})
    monkeypatch.setattr("driftwatch.demo.sample.JSONResponse", _AsciiResponse)


@pytest.mark.usefixtures("halved")
def test_the_json_of_a_probe_escapes_half_a_character_alone(driftwatch: Command) -> None:
    with sample_server() as (sample, url):
        sample.deploy("v2")
        probed = driftwatch("probe", url, "--json", "--save", "seen.json")
    judged = driftwatch("judge", "seen.json", "--json")
    for ended in (probed, judged):
        assert (ended.code, ended.err) == (0, "")
        assert r"\ud800 café" in ended.out
        assert HALF in json.dumps(json.loads(ended.out), ensure_ascii=False)


@pytest.mark.usefixtures("halved")
def test_the_json_of_what_is_remembered_escapes_half_a_character_alone(driftwatch: Command) -> None:
    driftwatch("demo")
    for words in (["status", "bookshop"], ["history", "bookshop"], ["diff", "bookshop"], ["events"]):
        ended = driftwatch(*words, "-c", "driftwatch-demo/config.toml", "--json")
        assert ended.err == ""
        assert r"\ud800 café" in ended.out
        assert HALF in json.dumps(json.loads(ended.out), ensure_ascii=False)
