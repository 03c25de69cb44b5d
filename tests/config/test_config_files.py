"""The files behind a configuration, and whether their content is another one."""

import os
from pathlib import Path

import pytest

from driftwatch.config import adhoc, content_digest, load


def test_a_configuration_knows_its_file_and_every_secret_in_a_file(tmp_path: Path) -> None:
    for name in ("token", "hook", "word"):
        (tmp_path / name).write_text("a-secret-0123456789\n")
    path = tmp_path / "config.toml"
    path.write_text(
        '[hook]\ntoken_files = ["hook"]\n'
        '[[server]]\nname = "api"\nurl = "https://h.example/mcp"\ntoken_file = "token"\n'
        'headers.X-Key = "${file:word}"\n'
    )
    files = load(path, {}).files
    assert files[0] == path
    assert {file.name for file in files[1:]} == {"token", "hook", "word"}
    assert all(file.is_absolute() for file in files)


def test_a_configuration_that_is_in_no_file_has_none() -> None:
    assert adhoc("https://h.example/mcp").files == ()
    assert adhoc("https://h.example/mcp").option == ""


def test_commands_need_the_name_of_a_file_that_they_would_not_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("config.toml", "our own.toml"):
        (tmp_path / name).write_text("")
    assert load(Path("config.toml"), {}).option == ""
    assert load(tmp_path / "config.toml", {}).option == ""
    assert load(Path("our own.toml"), {}).option == f" -c '{tmp_path}/our own.toml'"


def test_the_digest_follows_the_content_and_not_the_time(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("a")
    other.write_text("b")
    before = content_digest([one, other])
    os.utime(one, (1, 1))
    assert content_digest([one, other]) == before
    one.write_text("c")
    assert content_digest([one, other]) != before
    one.write_text("a")
    other.unlink()
    gone = content_digest([one, other])
    assert gone != before
    other.mkdir()
    assert content_digest([one, other]) not in {before, gone}


def test_content_that_moves_from_one_file_to_another_is_a_change(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_text("a")
    other.write_text("b")
    assert content_digest([one, other]) != content_digest([other, one])


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    gone = content_digest([pipe])
    os.mkfifo(pipe)
    assert content_digest([pipe]) != gone
