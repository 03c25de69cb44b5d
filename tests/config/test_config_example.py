"""config.example.toml is documentation that loads."""

import re
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from driftwatch.config import Config, Monitor
from driftwatch.config.problems import inner_table, keys_of
from driftwatch.config.reference import PLACE, main, render
from driftwatch.config.schema import Config as Schema
from tests.config.tables import tables

Load = Callable[..., Config]

ROOT = Path(__file__).parents[2]
EXAMPLE = (ROOT / "config.example.toml").read_text(encoding="utf-8")
COMPLETE = re.sub(r"(?m)^#(?=[a-z\[])", "", EXAMPLE)
"""With every setting in force that the example shows."""

ENVIRON = {
    "NIGHTLY_TOKEN": "t1",
    "OPS_ALERT_URL": "json://localhost",
    "HOOK_TOKEN": "t2",
    "HOOK_SECRET": "s",
    "ADMIN_TOKEN": "t3",
}
FILES = {
    **{
        f"secrets/{name}": "secret"
        for name in ("api-token", "oauth-client", "hook-token", "hook-secret", "read-token", "metrics-token")
    },
    "secrets/mail-url": "mailto://localhost",
    "secrets/heartbeat-url": "https://localhost/",
    **{f"tls/{name}": "" for name in ("ca.pem", "client.pem", "client.key")},
}


@pytest.fixture
def complete(tmp_path: Path, loaded: Load) -> Config:
    for name, content in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return loaded(COMPLETE, ENVIRON)


def test_the_example_loads_as_it_is(loaded: Load) -> None:
    config = loaded(EXAMPLE)
    assert [server.name for server in config.servers] == ["example"]


def test_the_example_loads_with_every_setting_in_force(complete: Config) -> None:
    assert [server.name for server in complete.servers] == ["example", "nightly", "with-oauth"]
    assert [channel.name for channel in complete.channels] == ["ops", "mail"]
    assert [server.credential_label for server in complete.servers] == [
        "monitoring account",
        "token",
        "oauth",
    ]


def test_the_example_shows_every_key_and_its_default(complete: Config, loaded: Load) -> None:
    plain = loaded("")
    assert complete.monitor.model_copy(update={"canary_url": None}) == plain.monitor
    assert complete.alerts.model_copy(update={"windows": ()}) == plain.alerts
    assert complete.storage.model_copy(update={"backup_dir": None}) == plain.storage
    assert complete.channels[0].pace == complete.channels[1].pace
    assert complete.servers[0].rate_limit == complete.servers[1].rate_limit
    for section in ("hook", "http", "heartbeat"):
        shown, default = getattr(complete, section), getattr(plain, section)
        for key in type(shown).model_fields:
            if not re.search("token|secret|url", key):
                assert getattr(shown, key) == getattr(default, key), (section, key)


def test_the_example_names_every_key() -> None:
    words = set(re.findall(r"\w+", EXAMPLE))
    assert [(path, key) for path, table in tables(Schema) for key in keys_of(table) if key not in words] == []


def test_every_setting_of_the_example_is_explained_above_it() -> None:
    lines = EXAMPLE.splitlines()
    for number, line in enumerate(lines):
        if re.match(r"#?[a-z]", line):
            above = next(before for before in reversed(lines[:number]) if not re.match(r"#?[a-z\[]", before))
            assert above.startswith("# "), line


def test_no_line_of_the_example_is_longer_than_a_screen() -> None:
    assert max(map(len, EXAMPLE.splitlines())) <= 116


def test_what_is_in_force_can_be_loaded_again(loaded: Load) -> None:
    config = loaded(EXAMPLE)
    assert loaded(config.redacted()).to_json() == config.to_json()


def test_the_reference_is_up_to_date() -> None:
    assert (ROOT / PLACE).read_text(encoding="utf-8") == render()


def test_the_reference_has_a_row_for_every_key() -> None:
    page = render()
    for _, table in tables(Schema):
        for key, field in keys_of(table).items():
            if inner_table(field.annotation) is None:
                assert field.description, key
                assert f"| `{key}` | " in page
    assert '| `interval` | duration, 1s to 31d | `"15m"` | Time between two probes of a server. |' in page


def test_a_stale_reference_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["--check"]) == 1
    assert "docs/configure.md is out of date" in capsys.readouterr().err
    Path("docs").mkdir()
    assert main([]) == 0
    assert main(["--check"]) == 0


def test_the_example_is_plain_toml() -> None:
    assert tomllib.loads(EXAMPLE)["server"][0]["name"] == "example"
    assert set(tomllib.loads(COMPLETE)["monitor"]) == set(keys_of(Monitor))
