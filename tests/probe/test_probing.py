import asyncio
import ssl
from datetime import timedelta
from pathlib import Path

import pytest
import trustme

from driftwatch.config import adhoc
from driftwatch.evidence import Missing, Tls, to_json
from driftwatch.model import Era
from driftwatch.probe import Credential, Limits, Target
from tests.specimens.http import Answer, Incoming, serving
from tests.specimens.mcp import Mcp
from tests.specimens.running import Running, running


async def test_a_cancelled_probe_ends_its_session_before_it_goes() -> None:
    stuck = asyncio.Event()

    class Stuck(Mcp):
        async def respond(self, incoming: Incoming) -> Answer:
            if incoming.rpc_method == "tools/list":
                stuck.set()
                await asyncio.Event().wait()
            return await super().respond(incoming)

    async with running(Stuck(modern=False)) as server:
        task = asyncio.create_task(server.probe())
        await stuck.wait()
        assert server.mcp.open_sessions
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert server.asked[-1] == "DELETE"
        assert not server.mcp.open_sessions


async def test_a_probe_that_runs_into_its_deadline_keeps_what_it_saw_and_ends_its_session() -> None:
    class Stuck(Mcp):
        async def respond(self, incoming: Incoming) -> Answer:
            if incoming.rpc_method == "tools/list":
                await asyncio.Event().wait()
            return await super().respond(incoming)

    async with running(Stuck(modern=False)) as server:
        evidence = await server.probe(limits=Limits(timeout_s=1, deadline_s=1))
        assert not server.mcp.open_sessions
    (surface,) = evidence.surfaces
    assert not isinstance(surface.listing, Missing)
    assert surface.listing.fault is not None
    assert surface.listing.fault.code in {"deadline", "timeout"}
    assert evidence.outcome.code == "ok"


async def test_a_port_where_nobody_listens_is_evidence_too() -> None:
    async with running() as server:
        pass
    evidence = await server.probe()
    assert (evidence.outcome.code, evidence.outcome.reachable) == ("refused", False)
    assert isinstance(evidence.openings, Missing)
    assert (evidence.openings.code, evidence.openings.cause) == ("refused", "transport/endpoint")
    assert evidence.surfaces == ()


async def test_settings_name_what_shaped_the_probe_without_secrets() -> None:
    async with running() as server:
        evidence = await server.probe(
            path="/mcp?key=s3cret",
            credential=Credential.bearer("ci", "s3cret-token"),
            checks_off=("tls/chain",),
        )
    assert evidence.url == server.loopback.url("/mcp?key=***")
    assert evidence.settings["checks_off"] == ["tls/chain"]
    assert evidence.settings["timeout_s"] == 20.0
    assert "s3cret" not in str(to_json(evidence))


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture(scope="module")
def ca_file(authority: trustme.CA, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("trust") / "private-ca.pem"
    authority.cert_pem.write_to_path(str(path))
    return path


def context(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(server)
    return server


async def test_a_probe_over_tls_brings_the_certificate_of_its_own_connection(
    authority: trustme.CA, ca_file: Path
) -> None:
    mcp = Mcp()
    async with serving(mcp.respond, context=context(authority, "localhost"), host="localhost") as loopback:
        evidence = await Running(mcp=mcp, loopback=loopback).probe(ca_file=ca_file)
    assert [surface.era for surface in evidence.surfaces] == [Era.MODERN, Era.LEGACY]
    assert isinstance(evidence.tls, Tls)
    assert (evidence.tls.verified, evidence.tls.trust) == (True, "private-ca.pem")
    assert evidence.settings["trust"] == "private-ca.pem"


async def test_a_certificate_that_does_not_verify_ends_the_probe_and_is_its_cause(
    authority: trustme.CA, ca_file: Path
) -> None:
    mcp = Mcp()
    async with serving(mcp.respond, context=context(authority, "other.test"), host="localhost") as loopback:
        evidence = await Running(mcp=mcp, loopback=loopback).probe(ca_file=ca_file)
        assert loopback.log == []
    assert (evidence.outcome.code, evidence.outcome.reachable) == ("certificate", False)
    assert isinstance(evidence.openings, Missing)
    assert evidence.openings.cause == "tls/chain"
    assert isinstance(evidence.tls, Tls)
    assert evidence.tls.fault == "wrong-host"


async def test_a_redirect_from_https_to_http_is_not_followed_and_nothing_is_sent_there(
    authority: trustme.CA, ca_file: Path
) -> None:
    async with running() as bare:
        location = bare.loopback.url("/mcp").replace("127.0.0.1", "localhost")
        mcp = Mcp(before=lambda _, __: Answer(status=307, headers=(("Location", location),)))
        async with serving(
            mcp.respond, context=context(authority, "localhost"), host="localhost"
        ) as loopback:
            evidence = await Running(mcp=mcp, loopback=loopback).probe(
                ca_file=ca_file, credential=Credential.bearer("token", "s3cret-token")
            )
        assert bare.loopback.log == []
        assert bare.loopback.connections == 0
    assert evidence.outcome.code == "redirect"
    assert evidence.outcome.message.endswith("it leads away from TLS")


def test_a_target_takes_everything_from_the_configuration_and_shows_no_secret() -> None:
    config = adhoc(
        "https://mcp.example.com/mcp?key=s3cret-key",
        name="api",
        headers={"X-Api-Key": "s3cret-header"},
        token="s3cret-token",
    )
    target = Target.of(config, config.servers[0])
    assert (target.name, target.url) == ("api", "https://mcp.example.com/mcp?key=s3cret-key")
    assert target.public_url == "https://mcp.example.com/mcp?key=***"
    assert target.credential is not None
    assert target.credential.headers == (
        ("X-Api-Key", "s3cret-header"),
        ("Authorization", "Bearer s3cret-token"),
    )
    assert target.credential_label == "token"
    assert target.limits == Limits(
        timeout_s=config.servers[0].timeout / timedelta(seconds=1),
        deadline_s=config.servers[0].deadline / timedelta(seconds=1),
        max_body=config.monitor.max_body,
        max_pages=config.monitor.max_pages,
        max_tools=config.monitor.max_tools,
    )
    assert "s3cret" not in repr(target)
    assert "s3cret" not in str(target.settings)


def test_a_target_without_a_credential_is_anonymous() -> None:
    config = adhoc("http://127.0.0.1:8000/mcp")
    target = Target.of(config, config.servers[0])
    assert (target.credential, target.credential_label) == (None, "anonymous")
