import os
from collections.abc import Callable
from pathlib import Path

import pytest

from driftwatch.config import Config, InvalidValueError, read_secret
from driftwatch.config.interpolation import interpolate

Load = Callable[..., Config]
Problems = Callable[..., list[str]]


def resolved(text: str, environ: dict[str, str] | None = None, folder: Path = Path("/nowhere")) -> str:
    found = interpolate({"key": text}, environ or {}, folder)
    assert found.faults == ()
    return str(found.document["key"])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${NAME}", "api"),
        ("a ${NAME} b ${NAME}", "a api b api"),
        ("${MISSING:-fallback}", "fallback"),
        ("${EMPTY:-fallback}", "fallback"),
        ("${EMPTY}", ""),
        ("${NAME:-fallback}", "api"),
        ("${MISSING:-}", ""),
        ("${MISSING:-a:-b}", "a:-b"),
        ("$$", "$"),
        ("$${NAME}", "${NAME}"),
        ("$$${NAME}", "$api"),
        ("costs $5, $NAME, 100%", "costs $5, $NAME, 100%"),
        ("${VALUE}", "${NAME} $$"),
    ],
)
def test_a_reference_becomes_its_value(text: str, value: str) -> None:
    assert resolved(text, {"NAME": "api", "EMPTY": "", "VALUE": "${NAME} $$"}) == value


def test_a_file_is_read_from_the_folder_of_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"one\ntwo\r\n\n")
    assert resolved("<${file:secret}>", folder=tmp_path) == "<one\ntwo>"


def test_strings_anywhere_are_resolved_and_nothing_else() -> None:
    document = {"a": {"b": ["$$", 1, True, {"c": "$$"}]}, "$$": "$$"}
    assert interpolate(document, {}, Path()).document == {"a": {"b": ["$", 1, True, {"c": "$"}]}, "$$": "$"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("${NOPE}", "environment variable NOPE is not set: set it, or write ${NOPE:-default}"),
        ("${NAME", "${ without its closing brace: close it, or write $$ for a $"),
        ("${A:-${B}}", "${…} cannot stand inside another one: write a plain default"),
        ("${}", "${…} holds neither a variable's name nor file:PATH: correct it, or write $$ for a $"),
        ("${1A}", "${…} holds neither a variable's name nor file:PATH: correct it, or write $$ for a $"),
        ("${file:}", "this is a folder: name a file in it"),
        (
            "${file:none}",
            "the file does not exist: create it, or correct the path, which starts at this file's folder",
        ),
        ("${file:empty}", "the file is empty: write the secret into it"),
        ("${file:latin1}", "the file is not UTF-8 text: save the secret as plain text"),
        ("${file:huge}", "the file is longer than 64 KiB: it should hold the secret only"),
        ("${file:pipe}", "this is not a regular file: name a file, not a pipe or a device"),
        ("${file:a\\u0000b}", "the file cannot be read (ValueError): correct the path"),
    ],
)
def test_what_cannot_be_resolved_is_a_problem(
    tmp_path: Path, problems: Problems, text: str, message: str
) -> None:
    (tmp_path / "empty").write_text("\n")
    (tmp_path / "latin1").write_bytes(b"\xe9")
    (tmp_path / "huge").write_bytes(b"x" * 70_000)
    os.mkfifo(tmp_path / "pipe")
    assert problems(f'\n[http]\nread_token = "{text}"\n') == [f"3: http.read_token: {message}"]


def test_a_file_that_may_not_be_read_is_a_problem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    (tmp_path / "locked").touch()
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InvalidValueError, match=r"^the file may not be read: let driftwatch's user read it$"):
        read_secret(tmp_path / "locked")


def test_every_reference_of_a_text_that_cannot_be_resolved_is_reported(problems: Problems) -> None:
    assert [problem.partition(" is not")[0] for problem in problems('[http]\nread_token = "${A}${B}"\n')] == [
        "2: http.read_token: environment variable A",
        "2: http.read_token: environment variable B",
    ]


def test_what_could_not_be_resolved_is_not_judged_as_well(problems: Problems) -> None:
    text = """\
[monitor]
interval = "${A}"
[[server]]
name = "${B}"
url = "u"
[[server]]
name = "${B}"
url = "${C}"
"""
    assert [problem.partition(":")[0] for problem in problems(text)] == ["2", "4", "5", "7", "8"]


def test_numbers_and_booleans_may_come_from_variables(loaded: Load) -> None:
    config = loaded(
        '[monitor]\nconcurrency = "${N:-3}"\njitter = "${J}"\n[http]\npublic_status = "${P}"\n',
        {"J": "0.25", "P": "true"},
    )
    assert (config.monitor.concurrency, config.monitor.jitter, config.http.public_status) == (3, 0.25, True)


def test_a_value_cannot_change_the_shape_of_the_file(loaded: Load) -> None:
    config = loaded('[http]\nread_token = "${T}"\n', {"T": 'x"\npublic_status=true'.replace("\n", "")})
    assert config.http.public_status is False
