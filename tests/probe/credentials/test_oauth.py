"""Client credentials: where the token comes from, how long it is used, and what becomes of a failure."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Any

import pytest

from driftwatch import checks
from driftwatch.evidence import Evidence, to_json
from driftwatch.judging import judge
from driftwatch.model import Depth, Result, State, Trigger
from driftwatch.probe import Limits, Resolver, SystemResolver, Target, TrustStore, probe
from driftwatch.probe.credentials.oauth import Client, ClientCredentials
from driftwatch.probe.wire.connect import Address
from tests.specimens.http import Answer, Incoming, Loopback, serving
from tests.specimens.mcp import Mcp, as_json
from tests.specimens.oauth import SECRET, AuthorizationServer, IssuedGate

START = datetime(2026, 11, 30, 12, tzinfo=UTC)


@dataclass
class Place:
    """A protected MCP server and the authorization server that it trusts."""

    mcp: Loopback
    server: Loopback
    issuer: AuthorizationServer
    gate: IssuedGate
    now: datetime = START

    def source(self, *, discover: bool = False, **client: Any) -> ClientCredentials:
        url = None if discover else self.server.url("/token")
        made = Client(
            client_id="driftwatch",
            secret=lambda: SECRET,
            endpoint=self.mcp.url(),
            **{"token_url": url, **client},
        )
        return ClientCredentials(made, label="oauth")

    async def probe(
        self,
        source: ClientCredentials,
        depth: Depth = Depth.LIGHT,
        resolver: Resolver | None = None,
    ) -> Evidence:
        async def pause(_: float) -> None: ...

        return await probe(
            Target(name="specimen", url=self.mcp.url(), source=source, limits=Limits(timeout_s=5)),
            depth=depth,
            trigger=Trigger.MANUAL,
            trust=TrustStore(),
            resolver=resolver or SystemResolver(),
            now=lambda: self.now,
            pause=pause,
        )


def _echo(incoming: Incoming, answer: Answer) -> Answer:
    return answer.with_header("X-Seen", f"you sent {incoming.headers.get('authorization', 'nothing')}")


@asynccontextmanager
async def place(**issuer: Any) -> AsyncIterator[Place]:
    made = AuthorizationServer(**issuer)
    gate = IssuedGate()
    gate.issuer = made
    async with serving(made.respond) as server, serving(Mcp(before=gate, after=_echo).respond) as mcp:
        document = {"resource": "{origin}/mcp", "authorization_servers": [server.origin]}
        gate.documents = {"/.well-known/oauth-protected-resource/mcp": document}
        yield Place(mcp=mcp, server=server, issuer=made, gate=gate)


def credential(evidence: Evidence) -> Result:
    return judge(evidence, checks.Policy()).report.result("auth/credential")


async def test_a_token_is_got_with_basic_authentication_and_opens_the_server() -> None:
    async with place() as here:
        evidence = await here.probe(here.source(scope="read write"))
    assert evidence.outcome.code == "ok"
    assert credential(evidence).state is State.VERIFIED
    (form,) = here.issuer.forms
    assert form == {
        "grant_type": ["client_credentials"],
        "resource": [here.mcp.url()],
        "scope": ["read write"],
    }


async def test_a_client_that_is_unknown_one_way_says_who_it_is_in_the_other() -> None:
    async with place(post_only=True) as here:
        evidence = await here.probe(here.source())
    assert evidence.outcome.code == "ok"
    assert [("client_secret" in form) for form in here.issuer.forms] == [False, True]


async def test_the_token_is_used_until_a_minute_before_its_end() -> None:
    async with place(expires_in=3600) as here:
        source = here.source()
        for minutes in (0, 58):
            here.now = START + timedelta(minutes=minutes)
            await here.probe(source)
        assert here.issuer.issued == 1
        here.now = START + timedelta(minutes=59)
        await here.probe(source)
        assert here.issuer.issued == 2


@pytest.mark.parametrize("life", [None, "soon", -5, True])
async def test_a_token_without_a_usable_end_is_used_until_it_is_refused(life: Any) -> None:
    async with place(expires_in=life) as here:
        source = here.source()
        await here.probe(source)
        here.now += timedelta(days=300)
        await here.probe(source)
        assert here.issuer.issued == 1


async def test_a_refused_token_is_renewed_once_within_the_probe() -> None:
    async with place() as here:
        source = here.source()
        await here.probe(source)
        here.issuer.issued += 1  # the server knows another token by now
        evidence = await here.probe(source)
        assert evidence.outcome.code == "ok"
        assert len(here.issuer.forms) == 2


async def test_a_token_that_is_refused_after_renewal_too_is_our_credential_failing() -> None:
    async with place() as here:
        here.gate.opens = lambda sent: False  # type: ignore[method-assign]
        evidence = await here.probe(here.source())
        assert len(here.issuer.forms) == 2
    result = credential(evidence)
    assert (result.state, result.code) == (State.FAILED, "refused")
    endpoint = judge(evidence, checks.Policy()).report.result("transport/endpoint")
    assert (endpoint.state, endpoint.cause) == (State.NOT_CHECKED, "auth/credential")


async def test_probes_side_by_side_get_one_token() -> None:
    async with place() as here:
        source = here.source()
        await asyncio.gather(*(here.probe(source) for _ in range(4)))
        assert here.issuer.issued == 1


async def test_a_failure_is_about_the_credential_and_everything_else_is_not_checked() -> None:
    described = {"error": "invalid_scope", "error_description": f"no such scope for {SECRET}"}
    async with place(answer=lambda _: as_json(json.dumps(described), status=400)) as here:
        evidence = await here.probe(here.source(), Depth.FULL)
        assert not here.mcp.log
    report = judge(evidence, checks.Policy()).report
    failed = report.result("auth/credential")
    assert (failed.state, failed.code) == (State.FAILED, "token")
    assert "HTTP 400 (invalid_scope: no such scope for <oauth>)" in failed.findings[0].measured
    others = [result for result in report.results if result.check != "auth/credential"]
    assert {result.state for result in others} == {State.NOT_CHECKED}
    by_root = {result.check: result for result in report.results}
    for result in others:
        root = result
        while root.cause is not None:
            root = by_root[root.cause]
        # What nobody configured is no consequence of anything.
        unasked = result.check in {"timeouts/slow-tool", "load/rate-limit", "logs/credentials"}
        assert root.check == "auth/credential" or unasked
    assert SECRET not in json.dumps(to_json(evidence))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Answer(status=302, headers=(("Location", "https://idp.example.com/"),)), "HTTP 302"),
        (as_json("[]"), "HTTP 200"),
        (as_json('{"token_type": "bearer"}'), "without an access_token"),
        (as_json('{"access_token": "a\\nb", "token_type": "bearer"}'), "without an access_token"),
        (as_json('{"access_token": "abc", "token_type": "mac"}'), "no bearer token"),
        (Answer(cut=True), "gave no answer"),
        (as_json(json.dumps({"access_token": "x" * 300_000})), "HTTP 200"),
    ],
)
async def test_an_answer_that_is_no_token_says_why(answer: Answer, said: str) -> None:
    async with place(answer=lambda _: answer) as here:
        evidence = await here.probe(here.source())
    assert evidence.outcome.code == "token"
    assert said in evidence.outcome.message


async def test_the_token_endpoint_is_discovered_and_then_kept() -> None:
    async with place() as here:
        source = here.source(discover=True)
        assert (await here.probe(source)).outcome.code == "ok"
        assert here.issuer.asked == ["GET /.well-known/oauth-authorization-server", "POST /token"]
        here.now += timedelta(hours=2)
        assert (await here.probe(source)).outcome.code == "ok"
        assert here.issuer.asked[2:] == ["POST /token"]
    first = here.mcp.log[0]
    assert (first.rpc_method, first.headers.get("authorization")) == ("server/discover", None)


@pytest.mark.parametrize(
    ("issuer", "found"),
    [
        ("{origin}/t", "/.well-known/oauth-authorization-server/t"),
        ("{origin}/t", "/.well-known/openid-configuration/t"),
        ("{origin}/t", "/t/.well-known/openid-configuration"),
    ],
)
async def test_the_metadata_of_an_issuer_with_a_path_are_looked_for_in_the_prescribed_order(
    issuer: str, found: str
) -> None:
    async with place(issuer=issuer, documents=(found,)) as here:
        here.gate.documents = {
            "/.well-known/oauth-protected-resource/mcp": {
                "resource": "{origin}/mcp",
                "authorization_servers": [f"{here.server.origin}/t"],
            }
        }
        evidence = await here.probe(here.source(discover=True))
        assert evidence.outcome.code == "ok"
        order = [
            "GET /.well-known/oauth-authorization-server/t",
            "GET /.well-known/openid-configuration/t",
            "GET /t/.well-known/openid-configuration",
        ]
        assert here.issuer.asked == [*order[: order.index(f"GET {found}") + 1], "POST /token"]


@pytest.mark.parametrize(
    ("servers", "issuer", "said"),
    [
        ([], {}, "name no authorization server"),
        (["http://as.example.com"], {}, "plain http"),
        (["nonsense"], {}, "no usable URL"),
        (["https://[::1"], {}, "no usable URL"),
        (["https://h℀.example"], {}, "no usable URL"),
        (None, {"issuer": "https://other.example.com"}, "another issuer"),
        (None, {"token_url": "http://as.example.com/token"}, "plain http"),
        (None, {"documents": ()}, "answered HTTP 404 instead of its metadata"),
    ],
)
async def test_a_secret_goes_nowhere_it_should_not(servers: Any, issuer: Any, said: str) -> None:
    async with place(**issuer) as here:
        if servers is not None:
            document = {"resource": "{origin}/mcp", "authorization_servers": servers}
            here.gate.documents = {"/.well-known/oauth-protected-resource/mcp": document}
        evidence = await here.probe(here.source(discover=True))
    assert evidence.outcome.code == "token"
    assert said in evidence.outcome.message
    assert here.issuer.forms == []


class Inside:
    """Every name is a machine of a private network."""

    async def resolve(self, host: str, port: int) -> list[Address]:
        return [Address(ip_address("10.0.0.5"), port)]


async def test_an_authorization_server_that_only_the_server_names_has_to_be_public() -> None:
    async with place() as here:
        document = {"resource": "{origin}/mcp", "authorization_servers": ["https://as.internal"]}
        here.gate.documents = {"/.well-known/oauth-protected-resource/mcp": document}
        evidence = await here.probe(here.source(discover=True), resolver=Inside())
    assert "10.0.0.5 is not a public address, and the server named it" in evidence.outcome.message


async def test_a_configured_token_endpoint_over_plain_http_gets_no_secret() -> None:
    async with place() as here:
        evidence = await here.probe(here.source(token_url="http://as.example.com/token"))
    assert "plain http" in evidence.outcome.message


async def test_the_issued_token_is_nowhere_in_the_evidence_though_the_server_echoes_it() -> None:
    async with place() as here:
        evidence = await here.probe(here.source(), Depth.FULL)
    text = json.dumps(to_json(evidence))
    assert "you sent <oauth>" in text
    assert "issued-t0ken" not in text
