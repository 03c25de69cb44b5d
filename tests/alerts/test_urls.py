import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from driftwatch.alerts import urls
from driftwatch.alerts.services import validate

URLS = (
    "json://127.0.0.1/path",
    "slack://TokenA/bad",
    "slak://a/b",
    "no url at all",
    "json://a/x, json://b/y",
)


def judged() -> list[str | None]:
    with urls.judging() as refuse:
        return [refuse(url) for url in URLS]


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The processes that were started, with the words and the environment they were given."""
    seen: list[Any] = []

    class Popen(subprocess.Popen[bytes]):
        def __init__(self, words: list[str], *, env: dict[str, str], **settings: Any) -> None:
            super().__init__(words, env=env, **settings)
            seen.append((self, words, env))

    monkeypatch.setattr(subprocess, "Popen", Popen)
    return seen


def stand_in(folder: Path, script: str) -> str:
    """A program in the interpreter's place."""
    path = folder / "python"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def test_a_process_of_its_own_judges_as_this_one_would(started: list[Any]) -> None:
    assert judged() == [validate(url) for url in URLS]
    ((process, _, _),) = started
    assert process.returncode is not None


def test_apprise_is_loaded_there_and_not_here() -> None:
    program = (
        "import sys; from driftwatch.alerts import urls\n"
        "with urls.judging() as refuse: refuse('slack://TokenA/bad') and refuse('slak://a') or sys.exit(1)\n"
        "print('apprise' in sys.modules)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "False\n"


def test_neither_a_url_nor_any_secret_of_the_environment_is_in_the_process_s_words_or_environment(
    started: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLACK_URL", "slack://s3cret")
    judged()
    ((_, words, environment),) = started
    given = " ".join([*words, *environment, *environment.values()])
    assert "s3cret" not in given
    assert not any(url in given for url in URLS)


def test_the_folder_that_a_service_is_started_in_is_no_place_for_modules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[Any]
) -> None:
    (tmp_path / "json.py").write_text("open('loaded', 'w')")
    monkeypatch.chdir(tmp_path)
    assert judged() == [validate(url) for url in URLS]
    assert started
    assert not (tmp_path / "loaded").exists()


@pytest.mark.parametrize("script", ["exit 1", "read line; echo nonsense", "exec sleep 600"])
def test_what_cannot_be_judged_there_is_judged_here(
    script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, started: list[Any]
) -> None:
    monkeypatch.setattr(urls, "DEADLINE_S", 0.2)
    monkeypatch.setattr(sys, "executable", stand_in(tmp_path, script))
    assert judged() == [validate(url) for url in URLS]
    ((process, _, _),) = started
    assert process.returncode is not None


def test_where_no_process_can_be_started_this_one_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", os.fspath(tmp_path / "nothing"))
    assert judged() == [validate(url) for url in URLS]
