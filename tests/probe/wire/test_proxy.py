"""A server behind a configured proxy: looked at as closely, and a fault of the proxy is not its own."""

import base64
import json
import socket
from pathlib import Path
from typing import Any

import pytest

from driftwatch import checks
from driftwatch.config import Config, load
from driftwatch.evidence import Evidence, Tls, to_json
from driftwatch.judging import judge
from driftwatch.model import Depth, State
from driftwatch.probe import Limits, Target
from driftwatch.probe.wire.address import Address
from driftwatch.probe.wire.connect import refused_unseen
from driftwatch.probe.wire.proxy import Proxy
from tests.servers.certificates import intermediate
from tests.servers.proxy import ForwardProxy, proxying
from tests.specimens.mcp import Mcp
from tests.specimens.running import Running, running

NAME = "inside.example.com"


class Nobody:
    """A resolver that knows no name: the proxy has to."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        raise OSError(f"asked for {host}")


def states(evidence: Evidence) -> dict[str, tuple[State, str | None]]:
    results = judge(evidence, checks.Policy()).report.results
    return {result.check: (result.state, result.code) for result in results}


async def through(
    server: Running, forward: ForwardProxy, /, *, url: str | None = None, **target: Any
) -> Evidence:
    """A probe of the specimen by a name that only the proxy knows."""
    server.loopback.host = NAME
    forward.ways[NAME] = "127.0.0.1"
    target.setdefault("proxy", Proxy.of(forward.url))
    if url is not None:
        target["url"] = url
    return await server.probe(**target)


async def test_plain_http_goes_through_with_whole_urls() -> None:
    async with running() as server, proxying() as proxy:
        evidence = await through(server, proxy, depth=Depth.FULL)
    assert evidence.outcome.code == "ok"
    assert proxy.asked
    assert all(f" http://{NAME}:{server.loopback.port}/" in line for line in proxy.asked)
    assert states(evidence)["network/addresses"] == (State.NOT_CHECKED, "proxy")


async def test_https_goes_through_a_tunnel_and_shows_the_servers_own_certificate(ca_file: Path) -> None:
    leaf = intermediate().issue(NAME)
    async with running(context=leaf.context()) as server, proxying() as proxy:
        evidence = await through(server, proxy, ca_file=ca_file)
    assert evidence.outcome.code == "ok"
    assert proxy.asked == [f"CONNECT {NAME}:{server.loopback.port} HTTP/1.1"]
    assert isinstance(evidence.tls, Tls)
    assert evidence.tls.verified
    assert evidence.tls.certificate is not None
    assert evidence.tls.certificate.subject_alt_names == (NAME,)


async def test_sessions_end_through_the_proxy_too() -> None:
    async with running(Mcp(modern=False)) as server, proxying() as proxy:
        await through(server, proxy)
        assert server.asked[-1] == "DELETE"
        assert not server.mcp.open_sessions


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
async def test_the_proxys_password_reaches_the_proxy_and_nothing_else(ca_file: Path, *, secure: bool) -> None:
    password = "pa:ss/c4nary-77aa"
    pair = base64.b64encode(f"me:{password}".encode()).decode()
    context = intermediate().issue(NAME).context() if secure else None
    async with running(context=context) as server, proxying(wants=f"Basic {pair}") as proxy:
        way = Proxy.of(f"http://me:pa%3Ass%2Fc4nary-77aa@127.0.0.1:{proxy.port}")
        evidence = await through(server, proxy, proxy=way, ca_file=ca_file)
    assert evidence.outcome.code == "ok"
    kept = json.dumps(to_json(evidence)) + repr(way)
    assert "c4nary" not in kept
    assert pair not in kept
    for incoming in server.loopback.log:
        assert "proxy-authorization" not in {name.lower() for name in incoming.headers}


@pytest.mark.parametrize("secure", [False, True], ids=["http", "https"])
async def test_a_proxy_that_wants_credentials_is_no_fault_of_the_server(
    ca_file: Path, *, secure: bool
) -> None:
    context = intermediate().issue(NAME).context() if secure else None
    async with running(context=context) as server, proxying(wants="Basic x") as proxy:
        evidence = await through(server, proxy, ca_file=ca_file)
    assert not evidence.outcome.reachable
    assert "407" in evidence.outcome.message
    assert states(evidence)["transport/endpoint"] == (State.NOT_CHECKED, "proxy")
    assert {state for state, _ in states(evidence).values()} == {State.NOT_CHECKED}


async def test_a_dead_proxy_is_no_fault_of_the_server() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    async with running() as server, proxying() as proxy:
        evidence = await through(server, proxy, proxy=Proxy.of(f"http://127.0.0.1:{port}"))
    assert evidence.outcome.message.startswith("no way to the configured proxy: ")
    assert states(evidence)["transport/endpoint"] == (State.NOT_CHECKED, "proxy")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"HTTP/1.1 502 Bad Gateway\r\n\r\n", "unreachable"),
        (b"HTTP/1.1 503 Service Unavailable\r\n\r\n", "unreachable"),
        (b"HTTP/1.1 504 Gateway Timeout\r\n\r\n", "timeout"),
        (b"HTTP/1.1 403 Forbidden\r\n\r\n", "proxy"),
        (b"HTTP/1.1 302 Found\r\nlocation: http://login.example/\r\n\r\n", "proxy"),
        (b"SSH-2.0-OpenSSH\r\n", "proxy"),
        (b"HTTP/1.1 200 OK\r\n\r\ntoo early", "proxy"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000, "proxy"),
        (b"HTTP/1.1 999 Odd\r\n\r\n", "proxy"),
    ],
    ids=["502", "503", "504", "403", "a login page", "no HTTP", "speaks first", "no end", "odd"],
)
async def test_what_a_proxy_says_of_a_tunnel(ca_file: Path, answer: bytes, code: str) -> None:
    leaf = intermediate().issue(NAME)
    async with running(context=leaf.context()) as server, proxying(refusal=answer) as proxy:
        evidence = await through(server, proxy, ca_file=ca_file)
    assert evidence.outcome.code == code
    failed = State.NOT_CHECKED if code == "proxy" else State.FAILED
    assert states(evidence)["transport/endpoint"] == (failed, code)
    assert not server.loopback.log


async def test_a_proxy_that_says_nothing_costs_no_more_than_the_timeout(ca_file: Path) -> None:
    leaf = intermediate().issue(NAME)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        way = Proxy.of(f"http://127.0.0.1:{silent.getsockname()[1]}")
        async with running(context=leaf.context()) as server, proxying() as proxy:
            limits = Limits(timeout_s=0.2, deadline_s=1)
            evidence = await through(server, proxy, proxy=way, ca_file=ca_file, limits=limits)
    assert evidence.outcome.code in {"timeout", "deadline", "proxy"}
    assert evidence.duration_s < 30


@pytest.mark.parametrize("host", ["169.254.169.254", "[fe80::1]", "[fd00:ec2::254]"])
async def test_a_proxy_is_no_way_around_the_rules_for_addresses(host: str) -> None:
    async with running() as server, proxying() as proxy:
        evidence = await through(server, proxy, url=f"http://{host}/mcp")
    assert evidence.outcome.code == "address"
    assert proxy.asked == []


def test_what_another_host_is_behind_the_proxy_cannot_be_judged_so_it_is_not_asked() -> None:
    assert refused_unseen("elsewhere.example.com", own=False) is not None
    assert refused_unseen(NAME, own=True) is None
    assert refused_unseen("10.0.0.1", own=False) is not None
    assert refused_unseen("10.0.0.1", own=True) is None


def test_the_configured_proxy_is_the_targets(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(
        '[[server]]\nname = "api"\nurl = "https://h.example/mcp"\nproxy = "http://me:pw@proxy.example:3128"\n'
        '[[server]]\nname = "direct"\nurl = "https://h.example/mcp"\n'
    )
    config: Config = load(path, {})
    api, direct = (Target.of(config, server) for server in config.servers)
    assert api.proxy is not None
    assert (api.proxy.place.host, api.proxy.place.port) == ("proxy.example", 3128)
    assert direct.proxy is None
    assert api.settings["proxy"] is True
