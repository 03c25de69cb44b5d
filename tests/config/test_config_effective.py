"""What is in force once a configuration is loaded."""

from collections.abc import Callable
from datetime import UTC, datetime, time, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from pydantic import ValidationError

from driftwatch.config import Config, Rate, Server, adhoc
from driftwatch.errors import ConfigError
from driftwatch.model import Level

Load = Callable[..., Config]

URL = 'url = "https://mcp.example.com/mcp"\n'
SERVER = f'[[server]]\nname = "api"\n{URL}'


def minutes(number: float) -> timedelta:
    return timedelta(minutes=number)


def test_an_empty_file_is_a_configuration(loaded: Load, tmp_path: Path) -> None:
    config = loaded("")
    assert config.servers == ()
    assert config.channels == ()
    assert config.monitor.interval == minutes(15)
    assert config.monitor.confirm_delays == (timedelta(seconds=15), timedelta(seconds=45))
    assert config.monitor.max_body == 4 * 2**20
    assert (config.monitor.flap.count, config.monitor.flap.window, config.monitor.flap.settle) == (
        4,
        minutes(360),
        12,
    )
    assert config.monitor.timezone is UTC
    assert config.alerts.tls_days == (30, 14, 7, 3, 1)
    assert config.hook.rate == Rate(10, minutes(1))
    assert config.http.address == ("127.0.0.1", 8080)
    assert config.storage.path == tmp_path / "driftwatch.db"
    assert config.storage.max_size == 512 * 2**20
    assert config.heartbeat.url is None
    assert config.warnings == (
        "no [[server]] is configured: nothing is watched",
        "no [[alert]] is configured: nobody is told when something changes",
    )


def test_nothing_can_be_changed_afterwards(loaded: Load) -> None:
    config = loaded(SERVER)
    with pytest.raises(ValidationError):
        config.servers[0].name = "other"  # type: ignore[misc]


def test_a_server_inherits_its_rhythm_and_its_patience(loaded: Load) -> None:
    config = loaded(
        '[monitor]\ninterval = "5m"\nfull_interval = "2h"\ntimeout = "7s"\ndeadline = "40s"\n'
        + SERVER
        + f'[[server]]\nname = "own"\n{URL}interval = "1m"\nfull_interval = "1h"\n'
        + 'timeout = "1s"\ndeadline = "2s"\n'
    )
    inherited, own = config.servers
    assert (inherited.interval, inherited.full_interval) == (minutes(5), minutes(120))
    assert (inherited.timeout, inherited.deadline) == (timedelta(seconds=7), timedelta(seconds=40))
    assert (own.interval, own.full_interval) == (minutes(1), minutes(60))
    assert (own.timeout, own.deadline) == (timedelta(seconds=1), timedelta(seconds=2))


def test_a_schedule_stands_in_for_the_inherited_intervals(loaded: Load) -> None:
    config = loaded('[monitor]\ninterval = "5m"\n' + SERVER + 'schedule = "30 4 * * mon-fri"\n')
    schedule = config.servers[0].schedule
    assert schedule is not None
    assert (schedule.text, schedule.hours, schedule.weekdays) == ("30 4 * * mon-fri", (4,), (0, 1, 2, 3, 4))


def test_paths_start_at_the_folder_of_the_file(
    loaded: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ca.pem").touch()
    monkeypatch.chdir("/")
    config = loaded(
        SERVER
        + 'ca_file = "ca.pem"\nlogs.files = ["logs/*.log", "/var/log/x"]\n'
        + '[storage]\npath = "data/x.db"\nbackup_dir = "/backups"\n'
    )
    assert config.servers[0].ca_file == tmp_path / "ca.pem"
    assert config.servers[0].logs.files == (tmp_path / "logs/*.log", Path("/var/log/x"))
    assert (config.storage.path, config.storage.backup_dir) == (tmp_path / "data/x.db", Path("/backups"))


def test_a_secret_from_a_file_is_where_a_written_one_would_be(loaded: Load, tmp_path: Path) -> None:
    (tmp_path / "one").write_text("first\n", encoding="utf-8")
    (tmp_path / "two").write_text("json://host/", encoding="utf-8")
    config = loaded(
        SERVER
        + 'token_file = "one"\n[[alert]]\nname = "ops"\nurl_file = "two"\n'
        + '[hook]\ntokens = ["zero"]\ntoken_files = ["one"]\n'
    )
    server, channel = config.servers[0], config.channels[0]
    assert server.token is not None
    assert server.token.get_secret_value() == "first"
    assert server.token_file is not None
    assert server.token_file.path == tmp_path / "one"
    assert channel.url.get_secret_value() == "json://host/"
    assert [token.get_secret_value() for token in config.hook.tokens] == ["zero", "first"]


def test_a_server_and_a_channel_know_their_line(loaded: Load) -> None:
    config = loaded(SERVER + '\n[[alert]]\nname = "ops"\nurl = "json://h/"\n')
    assert (config.servers[0].line, config.channels[0].line) == (3, 7)
    assert adhoc("https://h/").servers[0].line is None


@pytest.mark.parametrize(
    ("keys", "label"),
    [
        ("", "anonymous"),
        ('headers = { X-Key = "k" }', "headers"),
        ('token = "t"', "token"),
        ('oauth = { client_id = "c", client_secret = "s" }', "oauth"),
        ('token = "t"\nheaders = { X-Key = "k" }', "token"),
        ('token = "t"\ncredential = "robot"', "robot"),
        ('credential = "robot"', "robot"),
    ],
)
def test_a_credential_is_called_by_its_label_or_its_kind(loaded: Load, keys: str, label: str) -> None:
    assert loaded(SERVER + keys).servers[0].credential_label == label


REVISED = {
    "url": 'url = "https://mcp.example.com/mcp?tenant=b"',
    "headers": 'headers = { X-Tenant = "a" }',
    "token": 'token = "a"',
    "oauth": 'oauth = { client_id = "a", client_secret = "b" }',
    "credential": 'credential = "a"',
    "proxy": 'proxy = "http://p:1"',
    "ca_file": 'ca_file = "config.toml"',
    "client_cert": 'client_cert = "config.toml"',
    "watch": 'watch = ["tools", "prompts"]',
    "negative_probes": "negative_probes = false",
    "origin": 'origin = "open"',
    "checks": 'checks.off = ["tls/chain"]',
    "limits": "limits.X.name = 3",
    "timeout": 'timeout = "1s"',
    "deadline": 'deadline = "10m"',
    "tool_call": 'tool_call = { name = "x" }',
    "slow_tool": 'slow_tool = { name = "x" }',
    "rate_limit": "rate_limit.enabled = true",
    "logs": 'logs.files = ["x"]',
}
NOT_REVISED = {
    "name": 'name = "other"',
    "previous_name": 'previous_name = "x"',
    "tags": 'tags = ["x"]',
    "schedule": 'schedule = "0 4 * * *"',
    "interval": 'interval = "1h"',
    "full_interval": 'full_interval = "1h"',
    "accept": 'accept = "manual"',
}
SECRETS = {"token_file", "client_key"}
"""Not settings but credentials: renewed without a new revision."""


def revision(loaded: Load, line: str = "", before: str = "") -> str:
    given = line.partition(" =")[0]
    text = "".join(f"{row}\n" for row in SERVER.splitlines() if not row.startswith(f"{given} =") or not given)
    return loaded(f"{before}{text}{line}\n").servers[0].revision


@pytest.mark.parametrize("key", REVISED)
def test_what_shapes_results_changes_the_revision(loaded: Load, key: str) -> None:
    assert revision(loaded, REVISED[key]) != revision(loaded)


@pytest.mark.parametrize("key", NOT_REVISED)
def test_what_does_not_shape_results_keeps_the_revision(loaded: Load, key: str) -> None:
    assert revision(loaded, NOT_REVISED[key]) == revision(loaded)


def test_every_key_of_a_server_is_known_to_shape_results_or_not() -> None:
    assert set(Server.model_fields) == {*REVISED, *NOT_REVISED, *SECRETS}


def test_the_bounds_of_the_monitor_change_the_revision(loaded: Load) -> None:
    assert revision(loaded, before="[monitor]\nmax_pages = 7\n") != revision(loaded)
    assert revision(loaded, before="[monitor]\nconcurrency = 7\n") == revision(loaded)


def test_a_renewed_secret_keeps_the_revision(loaded: Load, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("c", encoding="utf-8")
    tokens = [revision(loaded, line) for line in ('token = "a"', 'token = "b"', 'token_file = "token"')]
    headers = [revision(loaded, f'headers = {{ X-Key = "{value}" }}') for value in "ab"]
    assert len(set(tokens)) == 1
    assert len(set(headers)) == 1


def test_the_revision_is_the_same_in_every_process(loaded: Load) -> None:
    assert loaded(SERVER).servers[0].revision == adhoc("https://mcp.example.com/mcp").servers[0].revision
    assert len(loaded(SERVER).servers[0].revision) == 32


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://MCP.Example.com/x", "mcp.example.com:443"),
        ("http://mcp.example.com./x", "mcp.example.com:80"),
        ("https://mcp.example.com:8443", "mcp.example.com:8443"),
        ("http://[::1]:9000/mcp", "[::1]:9000"),
    ],
)
def test_the_host_of_a_server_always_has_its_port(url: str, host: str) -> None:
    assert adhoc(url).servers[0].host == host


def test_client_limits_hold_only_what_is_given(loaded: Load) -> None:
    config = loaded(
        SERVER + 'limits."Claude.ai" = { description = 2048, oldest = 2024-11-05 }\nlimits.X = {}\n'
    )
    assert config.servers[0].client_limits == {
        "Claude.ai": {"description_limit": 2048, "oldest": "2024-11-05"},
        "X": {},
    }


def test_a_server_is_found_by_its_name(loaded: Load) -> None:
    config = loaded(SERVER)
    assert config.server("api") is config.servers[0]
    with pytest.raises(KeyError):
        config.server("other")


def test_a_channel_says_what_it_is(loaded: Load) -> None:
    channel = loaded('[[alert]]\nname = "a"\nurl = "MAILTOS://u:p@h"\nmin_severity = "error"\n').channels[0]
    assert (channel.scheme, channel.min_severity) == ("mailtos", Level.ERROR)
    assert (channel.pace.per_second, channel.pace.per_hour) == (1, 20)


@pytest.mark.parametrize(
    ("listen", "address", "text"),
    [
        ("0.0.0.0:80", ("0.0.0.0", 80), "0.0.0.0:80"),
        ("[::]:0", ("::", 0), "[::]:0"),
        ("localhost:8080", ("localhost", 8080), "localhost:8080"),
    ],
)
def test_an_address_to_listen_on_is_a_host_and_a_port(
    loaded: Load, listen: str, address: tuple[str, int], text: str
) -> None:
    http = loaded(f'[http]\nlisten = "{listen}"\n').http
    assert (http.address, str(http.listen)) == (address, text)


def test_windows_recur_by_cron_or_by_the_day_or_come_once_in_their_zone(loaded: Load) -> None:
    berlin, tokyo = ZoneInfo("Europe/Berlin"), ZoneInfo("Asia/Tokyo")
    config = loaded(
        """\
[monitor]
timezone = "Europe/Berlin"
[[alerts.window]]
cron = "0 2 * * sun"
duration = "90m"
[[alerts.window]]
from = "22:30"
to = 00:15:00
timezone = "Asia/Tokyo"
[[alerts.window]]
from = 2026-12-24T22:30:00
to = "2026-12-25T01:00:00+00:00"
"""
    )
    weekly, daily, once = config.alerts.windows
    assert weekly.cron is not None
    assert (weekly.cron.weekdays, weekly.duration, weekly.timezone) == ((6,), minutes(90), berlin)
    assert (daily.start, daily.end, daily.timezone) == (time(22, 30), time(0, 15), tokyo)
    assert once.start == datetime(2026, 12, 24, 22, 30, tzinfo=berlin)
    assert once.end == datetime(2026, 12, 25, 1, tzinfo=UTC)


def test_cautions_are_no_errors(loaded: Load) -> None:
    config = loaded(
        '[[server]]\nname = "a"\nurl = "http://h.example/"\ntoken = "x"\ntags = ["dev"]\n'
        '[[server]]\nname = "b"\nurl = "http://127.0.0.1/"\ntoken = "x"\n'
        '[[alert]]\nname = "ops"\nurl = "json://h"\ntags = ["prod"]\n'
        '[http]\nadmin_token = "short"\n[hook]\nsecrets = ["short"]\n'
    )
    assert config.warnings == (
        'alert "ops": no server has one of its tags, so it is never told anything',
        'server "a": no alert has one of its tags, so nobody is told about it',
        'server "b": no alert has one of its tags, so nobody is told about it',
        'server "a": its credential travels unencrypted, over http',
        "http.admin_token has fewer than 16 characters and can be guessed",
        "hook.secrets has one of fewer than 16 characters, which can be guessed",
    )


def test_one_token_for_reading_and_changing_is_hardly_meant(loaded: Load) -> None:
    token = "0123456789abcdef"
    config = loaded(f'[http]\nread_token = "{token}"\nadmin_token = "{token}"\n')
    assert config.warnings[-1] == "http.admin_token is the read_token too: whoever may read may also change"


def test_a_probe_without_a_file_has_one_server_and_every_default() -> None:
    config = adhoc("https://mcp.example.com:8443/mcp", headers={"X-Key": "k"}, token="t")
    (server,) = config.servers
    assert (server.name, server.url) == ("mcp.example.com:8443", "https://mcp.example.com:8443/mcp")
    assert (server.interval, server.deadline) == (minutes(15), minutes(1))
    assert server.headers["X-Key"].get_secret_value() == "k"
    assert adhoc("https://[::1]/mcp", name="mine").servers[0].name == "mine"
    assert adhoc("https://[::1]/mcp").servers[0].name == "[::1]"


def test_a_probe_without_a_file_names_its_problems_by_key() -> None:
    with pytest.raises(ConfigError) as raised:
        adhoc("nope", name="-x")
    assert str(raised.value).splitlines() == [
        'command line: name: a name has no "/" and does not begin with "-": addresses and commands use it',
        'command line: url: not a web address: a URL begins with "https://" or "http://"',
    ]
