"""The server's log files: what is found in them, in which forms, and that nothing of them comes out."""

import base64
import gzip
import os
from pathlib import Path
from typing import Any

import pytest

from driftwatch.evidence import LogSearch, Missing, to_json
from driftwatch.model import Depth
from driftwatch.probe import Credential
from driftwatch.probe.steps import log_files
from driftwatch.probe.steps.log_files import search
from tests.specimens.http import Answer, Incoming
from tests.specimens.mcp import Mcp
from tests.specimens.running import running

TOKEN = "tok-4f9a8b7c6d5e"
CREDENTIAL = Credential.bearer("token", TOKEN)
MARKER = "0123456789abcdef0123456789abcdef"


def searched(*patterns: Path, credential: Credential | None = CREDENTIAL) -> LogSearch:
    found = search(patterns, marker=MARKER, credential=credential)
    assert isinstance(found, LogSearch)
    return found


def counts(found: LogSearch) -> dict[str, tuple[int, int]]:
    return {file.name: (file.marker, file.credential) for file in found.files}


def test_both_values_are_counted_file_by_file(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text(f"Authorization: Bearer {TOKEN}\nx {TOKEN}\n")
    (tmp_path / "b.log").write_text(f"X-Driftwatch-Probe: {MARKER}\n")
    (tmp_path / "c.log").write_text("GET /mcp 405\n")
    found = searched(tmp_path / "*.log")
    assert counts(found) == {"a.log": (0, 2), "b.log": (1, 0), "c.log": (0, 0)}
    assert (found.unread, found.left_out) == ((), 0)


@pytest.mark.parametrize(
    "line",
    [
        f"?access_token={TOKEN}&x=1",
        f"Basic {base64.b64encode(f'user:{TOKEN}'.encode()).decode()}",
        f'{{"authorization": "Bearer {TOKEN}"}}',
    ],
)
def test_a_credential_is_found_in_every_form_that_logs_write(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.log").write_text(line)
    assert counts(searched(tmp_path / "a.log"))["a.log"][1] == 1


def test_a_secret_of_the_urls_query_is_counted_and_a_setting_in_it_is_not(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("POST /mcp?api_key=k3y-of-ours&tools=repos 200\nlists repos\n")
    url = "https://mcp.invalid/mcp?api_key=k3y-of-ours&tools=repos"
    found = search([tmp_path / "a.log"], marker=MARKER, credential=None, url=url)
    assert isinstance(found, LogSearch)
    assert counts(found) == {"a.log": (0, 1)}


def test_rotated_and_compressed_files_are_searched(tmp_path: Path) -> None:
    (tmp_path / "app.log.2.gz").write_bytes(gzip.compress(f"... {TOKEN} ...".encode()))
    (tmp_path / "app.log.1").write_text(TOKEN)
    assert counts(searched(tmp_path / "app.log*")) == {"app.log.1": (0, 1), "app.log.2.gz": (0, 1)}


@pytest.mark.parametrize("before", [-8, -1, 0, 1])
def test_a_value_across_two_chunks_is_counted_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    monkeypatch.setattr(log_files, "_CHUNK", 64)
    text = "." * (64 + before) + TOKEN + "." * 200 + TOKEN + "." * 3
    (tmp_path / "a.log").write_text(text)
    assert counts(searched(tmp_path / "a.log"))["a.log"] == (0, 2)


def test_the_newest_files_and_the_newest_lines_come_first_when_there_is_too_much(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_files, "MAX_BYTES", 100)
    for age, name in enumerate(["new.log", "old.log"]):
        path = tmp_path / name
        path.write_text(TOKEN + "." * 500 + TOKEN)
        os.utime(path, (1_000_000 - age, 1_000_000 - age))
    found = searched(tmp_path / "*.log")
    assert counts(found) == {"new.log": (0, 1)}
    assert (found.files[0].size, found.left_out) == (100, 1)


def test_a_compressed_file_that_expands_without_end_is_read_to_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_files, "MAX_BYTES", 10_000)
    (tmp_path / "bomb.gz").write_bytes(gzip.compress(b"\0" * 5_000_000))
    assert searched(tmp_path / "bomb.gz").files[0].size == 10_000


def test_a_file_that_cannot_be_read_is_named_and_the_others_are_searched(tmp_path: Path) -> None:
    (tmp_path / "bad.gz").write_bytes(b"not gzip at all")
    (tmp_path / "a.log").write_text("fine")
    found = searched(tmp_path / "*")
    assert (found.unread, list(counts(found))) == (("bad.gz",), ["a.log"])
    only = search([tmp_path / "bad.gz"], marker=MARKER, credential=None)
    assert only == Missing("the log files cannot be read: bad.gz", "log-unreadable")


def test_no_file_at_all_is_said(tmp_path: Path) -> None:
    found = search([tmp_path / "*.log", tmp_path, Path("/")], marker=MARKER, credential=None)
    assert found == Missing("none of the configured log files exists", "no-log-file")


def test_a_header_that_is_no_secret_is_not_looked_for(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("repos repos repos")
    plain = Credential(label="headers", headers=(("X-MCP-Toolsets", "repos"),))
    assert counts(searched(tmp_path / "a.log", credential=plain))["a.log"] == (0, 0)


async def logged(log: Path, line: Any, *, credential: Credential | None = None) -> LogSearch:
    """A full probe of a server that writes a line for every request."""

    def before(_: Mcp, incoming: Incoming) -> Answer | None:
        with log.open("a") as file:
            file.write(f"{line(incoming)}\n")
        return None

    async with running(Mcp(before=before)) as server:
        evidence = await server.probe(depth=Depth.FULL, log_files=(log,), credential=credential)
        sent = {incoming.headers.get(log_files.MARKER_HEADER.lower()) for incoming in server.loopback.log}
        assert len(sent - {None}) == 1
        assert server.pauses == [1.0]
    assert TOKEN not in str(to_json(evidence))
    assert isinstance(evidence.logs, LogSearch)
    return evidence.logs


async def test_a_server_that_logs_every_header_is_caught_without_any_credential(tmp_path: Path) -> None:
    found = await logged(tmp_path / "a.log", lambda incoming: incoming.headers)
    assert found.files[0].marker > 5


async def test_a_server_that_logs_the_token_is_caught(tmp_path: Path) -> None:
    found = await logged(
        tmp_path / "a.log", lambda incoming: incoming.headers.get("authorization"), credential=CREDENTIAL
    )
    assert found.files[0].credential > 5
    assert found.files[0].marker == 0


async def test_a_server_that_logs_paths_is_fine(tmp_path: Path) -> None:
    found = await logged(tmp_path / "a.log", lambda incoming: incoming.path, credential=CREDENTIAL)
    assert (found.files[0].credential, found.files[0].marker) == (0, 0)


async def test_a_light_probe_and_one_without_log_files_carry_no_marker(tmp_path: Path) -> None:
    async with running() as server:
        await server.probe(log_files=(tmp_path / "a.log",))
        await server.probe(depth=Depth.FULL)
    assert not any(log_files.MARKER_HEADER.lower() in incoming.headers for incoming in server.loopback.log)
