"""Commands as processes: signals, what works beside the service, outputs that are closed or full."""

import json
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from driftwatch import checks
from driftwatch.demo.sample import SampleServer
from tests.cli.conftest import Command
from tests.cli.running import PROGRAM, read_until, start, unused_url, write_config
from tests.patience import PATIENCE_S


@pytest.mark.parametrize("name", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_service_with_exit_0_and_a_closed_database(
    tmp_path: Path, sample: tuple[SampleServer, str], name: signal.Signals
) -> None:
    write_config(tmp_path, sample[1], alert=unused_url().replace("http://", "json://"))
    process = start(tmp_path, "run")
    run = read_until(process, "run")
    assert run["server"] == "api"
    assert run["reachable"] is True
    process.send_signal(name)
    out, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, "")
    assert json.loads(out.splitlines()[-1])["message"] == "stopped"
    assert not (tmp_path / "driftwatch.db-wal").exists()


def test_a_hang_up_makes_the_service_read_its_configuration_again(
    tmp_path: Path, sample: tuple[SampleServer, str]
) -> None:
    path = write_config(tmp_path, sample[1], alert=unused_url().replace("http://", "json://"))
    process = start(tmp_path, "run")
    read_until(process, "run")
    text = path.read_text(encoding="utf-8")
    path.write_text(f'{text}\n[[server]]\nname = "second"\nurl = "{sample[1]}"\n', encoding="utf-8")
    process.send_signal(signal.SIGHUP)
    assert read_until(process, "reloaded")["added"] == ["second"]
    process.terminate()
    _, err = process.communicate(timeout=PATIENCE_S)
    assert (process.returncode, err) == (0, "")


def test_a_channel_that_the_check_refuses_is_refused_by_a_start_and_by_a_reload(
    driftwatch: Command, tmp_path: Path, sample: tuple[SampleServer, str]
) -> None:
    path = write_config(tmp_path, sample[1], alert=unused_url().replace("http://", "json://"))
    process = start(tmp_path, "run")
    read_until(process, "run")
    write_config(tmp_path, sample[1], alert="nosuch://s3cret")
    process.send_signal(signal.SIGHUP)
    (problem,) = read_until(process, "the configuration was rejected")["problems"]
    process.terminate()
    process.communicate(timeout=PATIENCE_S)
    assert problem.startswith(f"{path.name}:")
    assert "no service for nosuch://" in problem
    for command in (("run",), ("config", "check")):
        ended = driftwatch(*command)
        assert (ended.code, ended.err) == (2, f"driftwatch: {problem}\n")


def test_a_hanging_server_and_a_hanging_receiver_do_not_hold_up_the_end(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        write_config(tmp_path, f"http://127.0.0.1:{port}/mcp", alert=f"json://127.0.0.1:{port}/")
        process = start(tmp_path, "run")
        silent.settimeout(PATIENCE_S)
        caller, _ = silent.accept()
        process.terminate()
        _, err = process.communicate(timeout=PATIENCE_S)
        caller.close()
    assert (process.returncode, err) == (0, "")


def test_a_second_service_on_the_same_database_refuses_and_names_the_first(
    tmp_path: Path, sample: tuple[SampleServer, str]
) -> None:
    write_config(tmp_path, sample[1])
    first = start(tmp_path, "run")
    read_until(first, "started")
    second = subprocess.run([*PROGRAM, "run"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert second.returncode == 3
    assert f"{first.pid}" in second.stderr
    first.terminate()
    first.communicate(timeout=PATIENCE_S)


def test_reading_commands_and_the_health_check_work_beside_the_service(
    driftwatch: Command, tmp_path: Path, sample: tuple[SampleServer, str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        listen = f"127.0.0.1:{free.getsockname()[1]}"
    write_config(tmp_path, sample[1], extra=f'[http]\nlisten = "{listen}"\n')
    assert driftwatch("healthcheck").code == 1
    process = start(tmp_path, "run")
    read_until(process, "run")
    try:
        assert driftwatch("healthcheck").code == 0
        with urllib.request.urlopen(f"http://{listen}/healthz", timeout=PATIENCE_S) as reply:
            assert reply.status == 200
        status = driftwatch("status")
        assert status.code == 0
        assert "api" in status.out
        (server,) = json.loads(driftwatch("status", "--json").out)["servers"]
        assert server["last_run"]["states"]["verified"] > 0
        assert sum(server["states"].values()) == len(checks.catalogue)
        history = json.loads(driftwatch("history", "api", "--json").out)
        assert {event["kind"] for event in history["events"]} >= {"baseline"}
        assert driftwatch("history", "other").code == 2
        # A configured server's probe knows its baseline.
        report = json.loads(driftwatch("probe", "api", "--json").out)
        assert {check["id"]: check["state"] for check in report["checks"]}[
            "release/fingerprint"
        ] == "verified"
        sample[0].deploy("v2")
        drifted = driftwatch("probe", "api", "--json")
        assert drifted.code == 1
        assert process.poll() is None
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)


def test_a_test_message_goes_through_the_outbox_with_and_without_a_service(
    driftwatch: Command, tmp_path: Path, sample: tuple[SampleServer, str]
) -> None:
    write_config(tmp_path, sample[1], alert=unused_url().replace("http://", "json://"))
    refused = driftwatch("notify", "test", "--timeout", "20")
    assert refused.code == 1
    assert "ops:" in refused.out
    process = start(tmp_path, "run")
    read_until(process, "started")
    try:
        through = driftwatch("notify", "test", "ops", "--json", "--timeout", "20")
        (channel,) = json.loads(through.out)["channels"]
        assert (channel["channel"], channel["sent"], through.code) == ("ops", False, 1)
        assert channel["problem"] == "connection refused"
    finally:
        process.terminate()
        process.communicate(timeout=PATIENCE_S)
    assert driftwatch("notify", "test", "nobody").code == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("command", ["checks", "checks --json", "explain tls/chain", "--version"])
def test_an_output_that_cannot_be_written_ends_with_3_and_one_line(command: str) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [*PROGRAM, *command.split()], stdout=full, stderr=subprocess.PIPE, check=False, text=True
        )
    assert ended.returncode == 3
    assert ended.stderr == "driftwatch: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("redirection", [">&-", "2>&-", ">&- 2>&-"])
def test_a_closed_output_changes_nothing_but_the_output(redirection: str, tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m driftwatch probe {unused_url()} --save saved.json {redirection}"
    environment = {**os.environ, "PYTHONPATH": str(Path.cwd())}
    ended = subprocess.run(
        ["sh", "-c", command], capture_output=True, check=False, text=True, cwd=tmp_path, env=environment
    )
    assert ended.returncode == 1
    assert "Traceback" not in ended.stdout + ended.stderr
    assert (tmp_path / "saved.json").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_configuration_that_may_not_be_read_is_told_like_every_other_problem(
    driftwatch: Command, tmp_path: Path
) -> None:
    (tmp_path / "config.toml").write_text("", encoding="utf-8")
    (tmp_path / "config.toml").chmod(0)
    ended = driftwatch("config", "check", "-c", "config.toml")
    assert ended.code == 2
    assert ended.err.startswith("driftwatch: config.toml: ")
