from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from driftwatch.config import load
from driftwatch.errors import ConfigError

Problems = Callable[..., list[str]]

SERVER = '[[server]]\nname = "api"\nurl = "https://mcp.example.com/mcp"\n'
"""Three lines; what is added stands from line 4 on."""


def cases() -> Iterator[tuple[str, list[str]]]:
    """The documents of faults.txt, each with its problems."""
    document: list[str] = []
    expected: list[str] = []
    for line in [*(Path(__file__).parent / "faults.txt").read_text(encoding="utf-8").splitlines(), ""]:
        if line.startswith("=> "):
            expected.append(line.removeprefix("=> "))
        elif expected:
            yield "\n".join(document), expected
            document, expected = [], []
        elif document or (not line.startswith("#") and line):
            document.append(line)


@pytest.mark.parametrize(("text", "expected"), list(cases()))
def test_a_fault_is_reported_with_its_line_its_key_and_what_to_do(
    problems: Problems, text: str, expected: list[str]
) -> None:
    assert problems(text, known_checks=["tls/expiry"]) == expected


def test_checks_are_judged_only_where_they_are_known(problems: Problems) -> None:
    assert problems(SERVER + 'checks.off = ["x"]', known_checks=["tls/expiry"]) == [
        '4: server "api".checks.off #1: no such check: see "driftwatch checks"'
    ]


def test_a_file_that_cannot_be_read_is_the_only_fault_of_its_channel(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text(SERVER + '[[alert]]\nname = "ops"\nurl_file = "nowhere"\n')
    with pytest.raises(ConfigError) as raised:
        load(file, {}, refuse_channel=lambda url: f"refused {url}")
    (problem,) = str(raised.value).splitlines()
    assert 'alert "ops".url_file: the file does not exist' in problem


def test_a_fault_of_the_monitor_does_not_hide_those_of_the_servers(problems: Problems) -> None:
    assert len(problems("[monitor]\nconfirm = 0\n" + SERVER + "accept = 1\n")) == 2


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"a = 1\nb = \xe9", "2: not UTF-8 text: save it as UTF-8"),
        ("a = 1".encode("utf-16"), "1: UTF-16 text: save it as UTF-8"),
        ("a = 1".encode("utf-8-sig"), "1: begins with a byte order mark: save it as UTF-8 without one"),
        (b"a = " + b"[" * 3000 + b"]" * 3000, " arrays and tables are nested too deeply: flatten them"),
        (b"a = 1" + b"0" * 5000, " a number is too long: shorten it"),
        (b"#" * (16 * 2**20 + 1), " longer than 16 MiB: this is hardly a configuration"),
    ],
)
def test_a_file_that_is_no_text_of_ours_is_said_to_be(
    problems: Problems, content: bytes, problem: str
) -> None:
    assert problems(content) == [problem]


def test_a_missing_file_a_folder_and_an_impossible_path_are_told_apart(tmp_path: Path) -> None:
    for path, message in {
        tmp_path / "none.toml": "no such file: create it with `driftwatch config init`, or name another one",
        tmp_path: "this is a folder: name the configuration file in it",
        tmp_path / "a\0b": "cannot be read (ValueError): correct the path",
    }.items():
        with pytest.raises(ConfigError) as raised:
            load(path, {})
        assert str(raised.value) == f"{path}: {message}"
        assert raised.value.exit_code == 2


def test_a_problem_names_the_file_as_it_was_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("config.toml").write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(ConfigError) as raised:
        load(Path("config.toml"), {})
    assert str(raised.value).startswith("config.toml:1: x: unknown key")
