"""Who may read, write and scrape."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.requests import Request

from driftwatch import config as configuration
from driftwatch.config import Config
from driftwatch.web.access import COOKIE, PASS_LIFETIME, Access, from_loopback

READ, ADMIN, METRICS = "read-token-0123456789", "admin-token-0123456789", "metrics-token-0123456789"


class Frozen:
    def __init__(self) -> None:
        self.at = datetime(2026, 11, 1, tzinfo=UTC)

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return 0.0


def config(folder: Path, *lines: str) -> Config:
    path = folder / "config.toml"
    path.write_text("\n".join(("[http]", *lines)))
    return configuration.load(path, {})


def request(
    *headers: tuple[str, str],
    client: str = "127.0.0.1",
    host: str = "127.0.0.1:8080",
    http_version: str = "1.1",
) -> Request:
    pairs: Sequence[tuple[str, str]] = (("host", host), *headers)
    return Request(
        {
            "type": "http",
            "http_version": http_version,
            "method": "GET",
            "path": "/",
            "query_string": b"",
            "scheme": "http",
            "server": ("127.0.0.1", 8080),
            "client": (client, 50_000),
            "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs],
        }
    )


def bearing(token: str, **rest: str) -> Request:
    return request(("authorization", f"Bearer {token}"), **rest)


@pytest.fixture
def closed(tmp_path: Path) -> Access:
    tokens = f'read_token = "{READ}"', f'admin_token = "{ADMIN}"', f'metrics_token = "{METRICS}"'
    made = config(tmp_path, *tokens)
    return Access(lambda: made, Frozen())


@pytest.fixture
def bare(tmp_path: Path) -> Access:
    made = config(tmp_path)
    return Access(lambda: made, Frozen())


def test_without_a_token_pages_are_for_this_machine_only_and_nobody_writes(bare: Access) -> None:
    assert bare.may_read(request())
    assert bare.may_scrape(request())
    assert not bare.may_read(request(client="192.0.2.7"))
    assert not bare.may_write(request())
    assert not bare.may_write(bearing(""))


@pytest.mark.parametrize(
    ("given", "here"),
    [
        (request(), True),
        (request(client="::1", host="[::1]:8080"), True),
        (request(client="::ffff:127.0.0.1", host="localhost"), True),
        (request(client="192.0.2.7"), False),
        (request(host="rebound.example.com"), False),
        (request(("x-forwarded-for", "198.51.100.1")), False),
        (request(("forwarded", "for=198.51.100.1")), False),
    ],
    ids=[
        "IPv4",
        "IPv6",
        "mapped",
        "another machine",
        "a foreign host name",
        "a proxy",
        "a proxy by RFC 7239",
    ],
)
def test_only_what_was_sent_here_to_here_is_from_loopback(given: Request, *, here: bool) -> None:
    assert from_loopback(given) is here


@pytest.mark.parametrize(
    "host",
    [
        "",
        "a b",
        "\u00ff",
        "localhost.",
        "evil.example@127.0.0.1",
        "127.0.0.1@evil.example",
        "127.0.0.1/evil.example",
        "evil.example/@127.0.0.1",
        "evil.example#@localhost",
        "[::1",
        "localhost:x",
        "127.0.0.1, evil.example",
    ],
)
def test_a_host_that_is_none_does_not_count_as_this_machine(host: str) -> None:
    assert not from_loopback(request(host=host))


@pytest.mark.parametrize(
    "name", ["X-Forwarded-Proto", "X-Forwarded-Port", "CF-Connecting-IP", "X-Client-IP", "Via"]
)
def test_whatever_a_proxy_adds_shows_that_there_is_one(name: str) -> None:
    assert not from_loopback(request((name, "https")))


def test_a_proxy_that_adds_nothing_is_known_by_the_version_it_speaks() -> None:
    assert not from_loopback(request(http_version="1.0"))


def test_each_token_opens_its_own_door_and_the_admin_token_all(closed: Access) -> None:
    assert not closed.may_read(request())
    doors = [closed.may_read, closed.may_write, closed.may_scrape]
    for token, opened in {
        READ: [True, False, False],
        ADMIN: [True, True, True],
        METRICS: [False, False, True],
        READ + "x": [False, False, False],
        "\u00e4": [False, False, False],
    }.items():
        assert [door(bearing(token)) for door in doors] == opened


def test_a_pass_opens_pages_until_it_ends_and_no_longer_than_its_token_is_valid(tmp_path: Path) -> None:
    clock, current = Frozen(), config(tmp_path, f'read_token = "{READ}"')
    access = Access(lambda: current, clock)
    shown = request(("cookie", f"{COOKIE}={access.issue_pass()}"))
    assert access.may_read(shown)
    assert not access.may_write(shown)
    clock.at += PASS_LIFETIME + timedelta(seconds=1)
    assert not access.may_read(shown)
    clock.at -= timedelta(days=1)
    current = config(tmp_path, 'read_token = "another-token-0123456789"')
    assert not access.may_read(shown)


@pytest.mark.parametrize("value", ["", ".", "99999999999.", "9" * 400 + ".x", "\u0661.x", "1e9.x"])
def test_a_forged_pass_opens_nothing(closed: Access, value: str) -> None:
    header = value.encode().decode("latin-1")
    assert not closed.may_read(request(("cookie", f"{COOKIE}={header}")))


def test_a_pass_without_any_token_configured_is_worth_nothing(bare: Access) -> None:
    far = request(("cookie", f"{COOKIE}={bare.issue_pass()}"), client="192.0.2.7")
    assert not bare.may_read(far)


def test_everybody_reads_public_pages(tmp_path: Path) -> None:
    made = config(tmp_path, "public_status = true", f'read_token = "{READ}"')
    access = Access(lambda: made, Frozen())
    assert access.may_read(request(client="192.0.2.7"))
    assert not access.may_write(request(client="192.0.2.7"))
