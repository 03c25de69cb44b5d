"""Canaries: secrets that must never be seen."""

import json
import pickle
import tomllib
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from driftwatch.config import Config, adhoc
from driftwatch.config.problems import keys_of
from driftwatch.config.schema import Config as Schema
from driftwatch.errors import ConfigError
from tests.config.tables import tables

Load = Callable[..., Config]

CANARY = "c4nary-9f31"

NAMES = {("server", "name"), ("alert", "name")}

FULL = """\
[[server]]
name = "api"
url = "https://mcp.example.com/${file:path}/mcp?key=query-c4nary-9f31&plain=prod&bare-c4nary-9f31"
token_file = "token"
proxy = "http://user:proxy-c4nary-9f31@proxy.example.com:3128"
[server.tool_call]
name = "x"
arguments = { key = "${ARGUMENT}", file = "${file:argument}", deep = [{ a = "${WORD}" }] }

[[server]]
name = "headers"
url = "https://mcp.example.com/mcp"
headers.X-Api-Key = "word"
headers.X-Other = "header-c4nary-9f31"
headers.X-Env = "prod"
headers.Authorization = "Basic dXNlcjpiYXNpYy1jNG5hcnktOWYzMQ=="

[[server]]
name = "oauth"
url = "https://mcp.example.com/mcp"
oauth = { client_id = "driftwatch", client_secret = "oauth-c4nary-9f31" }

[[alert]]
name = "chat"
url = "slack://T0000/B0000/path-c4nary-9f31/#general"
[[alert]]
name = "mail"
url_file = "mail"
[[alert]]
name = "bot"
url = "tgram://123456789:host-c4nary-9f31/42"

[hook]
tokens = ["hook-c4nary-9f31"]
token_files = ["token"]
secrets = ["sign-c4nary-9f31"]
[http]
read_token = "read-c4nary-9f31"
admin_token_file = "token"
metrics_token = "metrics-c4nary-9f31"
[heartbeat]
url = "https://hc.example.com/beat-c4nary-9f31"
"""


@pytest.fixture
def full(tmp_path: Path, loaded: Load) -> Config:
    (tmp_path / "token").write_text("file-c4nary-9f31\n", encoding="utf-8")
    (tmp_path / "path").write_text("urlpath-c4nary-9f31\n", encoding="utf-8")
    (tmp_path / "argument").write_text("argfile-c4nary-9f31", encoding="utf-8")
    (tmp_path / "mail").write_text(
        "mailtos://me:m%40il-c4nary-9f31@mail.example.com?to=a@b.c", encoding="utf-8"
    )
    return loaded(FULL, {"ARGUMENT": "argenv-c4nary-9f31", "WORD": "prod"})


def test_every_loaded_secret_is_known_for_redaction(full: Config) -> None:
    secrets = full.secrets()
    for place in (
        "file", "urlpath", "argfile", "argenv", "query", "bare", "proxy", "header", "basic", "oauth", "path",
        "host", "hook", "sign", "read", "metrics", "beat",
    ):  # fmt: skip
        assert any(place in secret and CANARY in secret for secret in secrets), place
    assert {
        "word",
        "m%40il-c4nary-9f31",
        "m@il-c4nary-9f31",
        "slack://T0000/B0000/path-c4nary-9f31/#general",
        "path-c4nary-9f31",
    } <= set(secrets)


def test_ordinary_words_are_no_secrets(full: Config) -> None:
    assert {"prod", "mcp", "driftwatch", "general", "mcp.example.com", "api"}.isdisjoint(full.secrets())


def test_the_longest_secret_comes_first(full: Config) -> None:
    lengths = [len(secret) for secret in full.secrets()]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] >= 4


def test_what_is_shown_holds_no_secret(full: Config) -> None:
    for text in (full.redacted(), json.dumps(full.to_json()), repr(full), str(full), repr(full.servers)):
        assert CANARY not in text
        assert not [secret for secret in full.secrets() if secret in text.replace("prod", "")]
    assert full.servers[0].shown_url == "https://mcp.example.com/***/mcp?key=***&plain=***&***"
    assert [channel.shown_url for channel in full.channels] == ["slack://***", "mailtos://***", "tgram://***"]


def test_what_is_shown_is_a_document_with_every_key(full: Config) -> None:
    document = tomllib.loads(full.redacted())
    assert document == without_none(full.to_json())
    text = full.redacted()
    for path, table in tables(Schema):
        if path[:2] not in {("server", "slow_tool"), ("server", "limits"), ("alerts", "window")}:
            for key in keys_of(table):
                assert any(line.startswith((f"{key} =", f"# {key}:")) for line in text.splitlines()) or (
                    f"{key}]" in text
                ), (path, key)
    assert document["server"][0]["token_file"].endswith("/token")
    assert "token" not in document["server"][0]
    assert document["hook"]["tokens"] == ["***"]


def test_messages_never_hold_a_value_wherever_it_stands(tmp_path: Path, loaded: Load) -> None:
    """Every key there is, with a secret that does not belong there and with every kind of other value."""
    refused = [error for text in canary_documents() if (error := refusal(loaded, text))]
    assert len(refused) > 500
    for error in refused:
        assert CANARY not in "".join(traceback.format_exception(error))
        assert CANARY not in repr(error.problems)
        assert error.__cause__ is None
        assert error.__context__ is None or error.__suppress_context__


def refusal(loaded: Load, text: str) -> ConfigError | None:
    try:
        loaded(text, {"CANARY": CANARY})
    except ConfigError as error:
        return error
    return None


def test_a_line_that_is_no_toml_is_not_quoted(loaded: Load) -> None:
    for text in (
        f'token = "{CANARY}',
        f"token = {CANARY}",
        f'token = "\\{CANARY}"',
        f'headers = {{ "{CANARY}" = 1, "{CANARY}" = 2 }}',
        f'["{CANARY}"]\n["{CANARY}"]',
        f'"{CANARY}".a = 1\n"{CANARY}" = 2',
        f'"{CANARY}" {CANARY}',
    ):
        with pytest.raises(ConfigError) as raised:
            loaded(text)
        assert CANARY not in "".join(traceback.format_exception(raised.value))


def test_a_variables_value_is_not_in_a_message(loaded: Load) -> None:
    with pytest.raises(ConfigError) as raised:
        loaded('[http]\nlisten = "${CANARY}"\n[monitor]\ninterval = "${CANARY}"\n', {"CANARY": CANARY})
    assert CANARY not in str(raised.value)


def test_the_command_line_is_not_quoted_either() -> None:
    with pytest.raises(ConfigError) as raised:
        adhoc(
            f"https://u:{CANARY}@h/",
            name=f"/{CANARY}",
            headers={f"A: {CANARY}": f"\n{CANARY}"},
            token=f"x {CANARY}",
        )
    assert CANARY not in "".join(traceback.format_exception(raised.value))
    assert str(raised.value).splitlines()[0].startswith("command line: ")


def test_secrets_of_a_probe_from_the_command_line_are_known() -> None:
    config = adhoc(
        "https://h/mcp?key=q-c4nary-9f31", headers={"X-Key": "h-c4nary-9f31"}, token="t-c4nary-9f31"
    )
    assert set(config.secrets()) == {"q-c4nary-9f31", "h-c4nary-9f31", "t-c4nary-9f31"}
    assert CANARY not in config.redacted() + repr(config)


def test_a_configuration_survives_pickling(full: Config) -> None:
    again = pickle.loads(pickle.dumps(full))
    assert again == full
    assert again.secrets() == full.secrets()


def without_none(value: Any) -> Any:
    match value:
        case dict():
            return {key: without_none(inner) for key, inner in value.items() if inner is not None}
        case list():
            return [without_none(inner) for inner in value]
        case _:
            return value


def canary_documents() -> Iterator[str]:
    values = [
        f'"{CANARY}"',
        '"${CANARY}"',
        f'["{CANARY}"]',
        f'{{ a = "{CANARY}" }}',
        f'[{{ a = "{CANARY}" }}]',
        f'"${{file:{CANARY}}}"',
        f'"https://u:{CANARY}@h/#{CANARY}"',
        *("3", "-1", "1.5", "inf", "true", "1979-05-27", "1979-05-27T07:32:00Z", "07:32:00"),
        *('""', "[]", "[[1]]", "{}", "[{}]", '["", ""]', "{ a = { b = [1] } }", '"/dev/null"', '"\\u0000"'),
    ]
    for path, table in tables(Schema):
        # A name is there to be shown.
        keys = [key for key in (*keys_of(table), "unknown") if (*path, key) not in NAMES]
        for value in values:
            yield document(path, "".join(f"{key} = {value}\n" for key in keys))
            yield document(path, f"{keys[0]} = {value}\n")


def document(path: tuple[str, ...], line: str) -> str:
    match path:
        case ():
            return line
        case ("server", *inner):
            header = f"[server.{'.'.join(inner)}]\n" if inner else ""
            return f'[[server]]\nurl = "ftp://h/"\n{header}{line}'
        case ("alert", *inner):
            return "[[alert]]\n" + (f"[alert.{'.'.join(inner)}]\n" if inner else "") + line
        case ("alerts", "window"):
            return f"[[alerts.window]]\n{line}"
        case _:
            return f"[{'.'.join(path)}]\n{line}"
