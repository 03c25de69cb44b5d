"""How a probe looks at a server that asks for credentials."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from driftwatch import checks
from driftwatch.evidence import Authorization, Evidence, Exchange, Missing, from_json, to_json
from driftwatch.judging import judge
from driftwatch.model import DEPTH_CODE, Depth, Result, State, Trigger
from driftwatch.probe import Credential, SystemResolver, Target, TrustStore, probe
from driftwatch.probe.credentials.source import TokenFile
from tests.servers.certificates import intermediate, root
from tests.specimens.authorization import DOCUMENT, PATH, ROOT, Gate
from tests.specimens.http import Answer, Incoming, serving
from tests.specimens.mcp import Mcp, page_html, refusal
from tests.specimens.running import TAKEN_AT, Running, running

GOOD = Credential.bearer("token", "good-t0ken")


async def seen(gate: Gate | None = None, *, mcp: Mcp | None = None, **probe: Any) -> tuple[Evidence, Running]:
    async with running(mcp or Mcp(before=gate or Gate())) as server:
        return await server.probe(**{"depth": Depth.FULL, **probe}), server


def result(evidence: Evidence, check: str) -> Result:
    return judge(evidence, checks.Policy()).report.result(check)


def state(evidence: Evidence, check: str) -> tuple[State, str | None]:
    found = result(evidence, check)
    return found.state, found.code


def authorization(evidence: Evidence) -> Authorization:
    found = evidence.authorization
    assert isinstance(found, Authorization)
    assert from_json(to_json(evidence)) == evidence
    return found


async def test_a_light_probe_notes_the_challenge_and_asks_nothing_more() -> None:
    evidence, server = await seen(depth=Depth.LIGHT)
    assert server.asked == ["server/discover"]
    found = authorization(evidence)
    assert found.bearer is not None
    assert found.bearer.parameter("error") == "invalid_token"
    assert isinstance(found.metadata, Missing)
    assert found.metadata.code == DEPTH_CODE
    assert state(evidence, "auth/challenge") == (State.VERIFIED, None)
    assert state(evidence, "auth/resource-metadata") == (State.NOT_CHECKED, DEPTH_CODE)


async def test_a_full_probe_without_a_credential_follows_the_challenge() -> None:
    evidence, server = await seen()
    assert server.asked == ["server/discover", "GET", "server/discover"]
    discover, document, invalid = server.loopback.log
    assert "authorization" not in discover.headers
    assert document.path == PATH
    assert "authorization" not in document.headers
    assert invalid.headers["authorization"] == "Bearer driftwatch-invalid-token"
    assert isinstance(authorization(evidence).invalid_token, Exchange)


async def test_a_full_probe_with_a_credential_asks_once_more_without_it() -> None:
    evidence, server = await seen(credential=GOOD)
    assert evidence.outcome.code == "ok"
    bare = [asked for asked in server.loopback.log if "authorization" not in asked.headers]
    assert [asked.rpc_method or asked.path for asked in bare] == ["server/discover", PATH]
    for check in ("auth/challenge", "auth/resource-metadata", "auth/invalid-token", "auth/credential"):
        assert state(evidence, check) == (State.VERIFIED, None)
    assert not server.mcp.open_sessions


async def test_a_light_probe_with_a_credential_says_nothing_about_the_door() -> None:
    evidence, server = await seen(credential=GOOD, depth=Depth.LIGHT)
    assert all(asked.headers["authorization"] == "Bearer good-t0ken" for asked in server.loopback.log)
    assert state(evidence, "auth/challenge") == (State.NOT_CHECKED, DEPTH_CODE)
    assert state(evidence, "auth/credential") == (State.VERIFIED, None)


async def test_an_older_server_is_asked_with_initialize_and_its_session_is_ended() -> None:
    evidence, server = await seen(mcp=Mcp(modern=False), credential=GOOD)
    (bare,) = [asked for asked in server.loopback.log if "authorization" not in asked.headers]
    assert bare.rpc_method == "initialize"
    assert not server.mcp.open_sessions
    assert state(evidence, "auth/challenge") == (State.NOT_CHECKED, "no-auth")
    credential = result(evidence, "auth/credential")
    assert (credential.state, credential.reason) == (
        State.VERIFIED,
        "the server answers without a credential too",
    )


async def test_an_open_server_is_not_asked_for_metadata() -> None:
    evidence, server = await seen(mcp=Mcp())
    assert not [asked for asked in server.loopback.log if asked.path.startswith("/.well-known/")]
    found = result(evidence, "auth/challenge")
    assert (found.state, found.code) == (State.NOT_CHECKED, "no-auth")
    assert found.reason == "the server does not ask for credentials (authorization is optional)"
    assert state(evidence, "auth/credential") == (State.NOT_CHECKED, "no-credential")


async def test_without_negative_probes_no_invalid_token_is_sent() -> None:
    evidence, server = await seen(negative_probes=False)
    assert not [asked for asked in server.loopback.log if "authorization" in asked.headers]
    assert state(evidence, "auth/invalid-token") == (State.NOT_CHECKED, "switched-off")
    assert state(evidence, "auth/resource-metadata") == (State.VERIFIED, None)


async def test_a_refused_credential_is_the_one_cause_of_everything_that_was_not_seen() -> None:
    evidence, _ = await seen(credential=Credential.bearer("token", "stale-t0ken"))
    report = judge(evidence, checks.Policy()).report
    refused = report.result("auth/credential")
    assert (refused.state, refused.code) == (State.FAILED, "refused")
    assert refused.findings[0].message == "401 with our credential."
    assert refused.findings[0].measured == (
        'HTTP 401: the server refused the credential <token>: "invalid_token"'
    )
    endpoint = report.result("transport/endpoint")
    assert (endpoint.state, endpoint.code, endpoint.cause) == (State.NOT_CHECKED, "auth", "auth/credential")
    assert report.result("tools/pagination").cause == "transport/endpoint"
    assert report.result("auth/challenge").state is State.VERIFIED


async def test_a_credential_without_the_scope_for_the_list_is_refused_too() -> None:
    def guarded(incoming: Incoming) -> Answer | None:
        return Answer(status=403) if incoming.rpc_method == "tools/list" else None

    evidence, _ = await seen(mcp=Mcp(before=lambda _, asked: guarded(asked)), credential=GOOD)
    assert state(evidence, "auth/credential") == (State.FAILED, "forbidden")
    assert judge(evidence, checks.Policy()).report.result("tools/pagination").cause == "auth/credential"


async def test_a_firewall_that_lets_nobody_in_is_no_fault_of_the_credential() -> None:
    evidence, _ = await seen(
        mcp=Mcp(before=lambda _, __: page_html("Forbidden", status=403)), credential=GOOD
    )
    assert state(evidence, "auth/credential") == (State.NOT_CHECKED, "forbidden")
    endpoint = judge(evidence, checks.Policy()).report.result("transport/endpoint")
    assert (endpoint.code, endpoint.cause) == ("forbidden", None)


async def test_a_refusal_with_200_is_no_open_door() -> None:
    def guarded(incoming: Incoming) -> Answer | None:
        known = incoming.headers.get("authorization") == "Bearer good-t0ken" or incoming.method != "POST"
        return None if known else refusal(incoming.rpc, -32001, "Authentication required", status=200)

    evidence, _ = await seen(mcp=Mcp(before=lambda _, asked: guarded(asked)), credential=GOOD)
    assert state(evidence, "auth/credential") == (State.VERIFIED, None)
    assert state(evidence, "auth/challenge") == (State.FAILED, "wrong-status")
    assert state(evidence, "auth/invalid-token") == (State.FAILED, "wrong-status")


@pytest.mark.parametrize(
    "named", ["http://169.254.169.254/", "http://169.254.169.254:{port}/", "{origin}@169.254.169.254:{port}/"]
)
async def test_the_address_of_another_host_is_never_asked(named: str) -> None:
    gate = Gate(challenge=f'Bearer resource_metadata="{named}latest/meta-data"', documents={})
    evidence, _ = await seen(gate)
    header, *_ = authorization(evidence).metadata  # type: ignore[misc]
    assert isinstance(header.reply, Missing)
    assert header.reply.code == "other-host"
    assert state(evidence, "auth/resource-metadata") == (State.OBSERVED_RISK, "other-host")


async def test_another_port_of_the_same_host_is_never_asked() -> None:
    asked: list[Incoming] = []

    async def beside(incoming: Incoming) -> Answer:
        asked.append(incoming)
        return Answer(status=404)

    async with serving(beside) as other:
        gate = Gate(challenge=f'Bearer resource_metadata="{other.url("/admin/metadata")}"', documents={})
        evidence, _ = await seen(gate)
    assert not asked
    assert state(evidence, "auth/resource-metadata") == (State.OBSERVED_RISK, "other-host")


async def test_a_redirect_of_the_metadata_is_not_followed() -> None:
    elsewhere = Answer(status=302, headers=(("Location", "/login"),))
    evidence, server = await seen(Gate(challenge="Bearer", documents={PATH: elsewhere}))
    assert "/login" not in [asked.path for asked in server.loopback.log]
    assert state(evidence, "auth/resource-metadata") == (State.NOT_CHECKED, "unclear")


async def test_without_a_refusal_a_server_error_says_nothing_about_authorization() -> None:
    def shaky(_: Mcp, incoming: Incoming) -> Answer | None:
        return None if "authorization" in incoming.headers else Answer(status=503)

    evidence, _ = await seen(mcp=Mcp(before=shaky), credential=GOOD)
    assert state(evidence, "auth/challenge") == (State.NOT_CHECKED, "unclear")
    assert state(evidence, "auth/credential") == (State.VERIFIED, None)


# Seen in the field, each with the answer that is right.


async def test_resource_slash() -> None:
    gate = Gate(documents={"/.well-known/oauth-protected-resource/mcp/": DOCUMENT}, challenge="Bearer")
    evidence, _ = await seen(gate, path="/mcp/")
    found = result(evidence, "auth/resource-metadata")
    assert (found.state, found.code) == (State.FAILED, "last-slash")
    (finding,) = found.findings
    assert "differ by the last slash" in finding.message
    assert finding.expected.endswith('/mcp/"')
    assert finding.measured.endswith('/mcp"')


async def test_no_challenge() -> None:
    # The well-known address alone is allowed since 2025-11-25, and still costs older clients the sign-in.
    evidence, _ = await seen(Gate(challenge=None))
    assert state(evidence, "auth/challenge") == (State.OBSERVED_RISK, "absent")
    assert state(evidence, "auth/resource-metadata") == (State.VERIFIED, None)
    older = Mcp(modern=False, revisions=("2025-06-18",), before=Gate(challenge=None))
    evidence, _ = await seen(mcp=older, credential=GOOD)
    assert state(evidence, "auth/challenge") == (State.FAILED, "absent")


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ({PATH: DOCUMENT}, (State.VERIFIED, None)),
        # Behind a CDN that keeps the address closed there may be a document or none.
        ({PATH: Answer(status=401), ROOT: DOCUMENT}, (State.VERIFIED, None)),
        ({PATH: Answer(status=403), ROOT: DOCUMENT}, (State.VERIFIED, None)),
        # A server error is no absence.
        ({PATH: Answer(status=500)}, (State.NOT_CHECKED, "unclear")),
        ({PATH: Answer(status=500), ROOT: DOCUMENT}, (State.NOT_CHECKED, "unclear")),
    ],
)
async def test_path_or_root(documents: dict[str, Any], expected: tuple[State, str | None]) -> None:
    evidence, server = await seen(Gate(challenge="Bearer", documents=documents))
    assert state(evidence, "auth/resource-metadata") == expected
    asked = [asked.path for asked in server.loopback.log if asked.method == "GET"]
    assert asked == [PATH, ROOT][: len(asked)]


async def test_401_is_healthy() -> None:
    evidence, _ = await seen()
    report = judge(evidence, checks.Policy()).report
    assert report.reachable
    assert not [found.check for found in report.results if found.findings]
    tools = report.result("release/fingerprint")
    assert (tools.state, tools.code) == (State.NOT_CHECKED, "auth")
    assert tools.reason == "HTTP 401: the server asks for credentials"


async def test_spa_fallback() -> None:
    html = page_html("App", status=200)
    evidence, _ = await seen(Gate(challenge="Bearer", documents={PATH: html, ROOT: html}))
    found = result(evidence, "auth/resource-metadata")
    assert (found.state, found.code) == (State.FAILED, "html")
    assert found.findings[0].message == "HTML stands where metadata or 404 belongs."
    # An open server owes no metadata: nobody asks for them.
    evidence, _ = await seen(mcp=Mcp(before=Gate(documents={PATH: html, ROOT: html}, guards=lambda _: False)))
    assert state(evidence, "auth/resource-metadata") == (State.NOT_CHECKED, "no-auth")


async def test_redirect_to_login() -> None:
    login = Answer(status=302, headers=(("Location", "https://idp.example/login?next=/mcp"),))
    evidence, server = await seen(mcp=Mcp(before=lambda _, __: login))
    found = result(evidence, "auth/challenge")
    assert (found.state, found.code) == (State.FAILED, "login-redirect")
    assert found.findings[0].expected == "HTTP 401 with a challenge"
    assert "302 to https://idp.example/login" in found.findings[0].measured
    assert server.asked == ["server/discover"]
    assert state(evidence, "transport/content-type") == (State.NOT_CHECKED, "redirect")
    assert state(evidence, "auth/resource-metadata") == (State.NOT_CHECKED, "login-redirect")


async def test_redirect_to_http(ca_file: Path) -> None:
    """Behind a proxy that ends TLS, an application redirects to plain http: nothing is ever sent there."""

    async def downgrade(incoming: Incoming) -> Answer:
        return Answer(status=307, headers=(("Location", f"http://{incoming.headers['host']}/mcp/"),))

    tls = intermediate().issue("127.0.0.1").context()
    async with serving(downgrade, context=tls) as loopback:
        evidence = await probe(
            Target(name="specimen", url=loopback.url(), credential=GOOD, ca_file=ca_file),
            depth=Depth.FULL,
            trigger=Trigger.MANUAL,
            trust=TrustStore(),
            resolver=SystemResolver(),
            now=lambda: datetime.now(UTC),
        )
        assert {asked.path for asked in loopback.log} == {"/mcp"}
    assert evidence.tls.verified  # type: ignore[union-attr]
    assert state(evidence, "transport/endpoint") == (State.FAILED, "redirect")
    assert state(evidence, "transport/redirect") == (State.FAILED, "plain-http")
    assert state(evidence, "release/fingerprint") == (State.NOT_CHECKED, "redirect")


async def test_a_redirect_to_another_form_of_the_address_is_no_login_page() -> None:
    moved = Answer(status=301, headers=(("Location", "/oauth/mcp/"),))
    evidence, _ = await seen(mcp=Mcp(before=lambda _, __: moved), path="/oauth/mcp")
    assert state(evidence, "auth/challenge") == (State.NOT_CHECKED, "redirect")


async def test_challenge_page() -> None:
    page = page_html("Just a moment...", status=403).with_header("WWW-Authenticate", "Bearer")
    evidence, _ = await seen(mcp=Mcp(before=lambda _, __: page))
    assert state(evidence, "auth/challenge") == (State.NOT_CHECKED, "bot-page")
    assert state(evidence, "transport/endpoint") == (State.NOT_CHECKED, "bot-page")


@pytest.mark.parametrize(
    ("headers", "code", "credential"),
    [
        (("WWW-Authenticate", 'Basic realm="staging"'), "auth", (State.FAILED, "refused")),
        (("Set-Cookie", "_vercel_sso_nonce=x"), "access-gate", (State.NOT_CHECKED, "access-gate")),
    ],
)
async def test_a_gate_refuses_a_credential_only_where_it_asked_for_one(
    headers: tuple[str, str], code: str, credential: tuple[State, str]
) -> None:
    shut = Answer(status=401, headers=(("Content-Type", "text/html"), headers), body=b"<h1>Stop</h1>")
    evidence, _ = await seen(mcp=Mcp(before=lambda _, __: shut), credential=GOOD)
    assert evidence.outcome.code == code
    assert state(evidence, "auth/credential") == credential


@pytest.mark.parametrize(("revision", "document"), [("2025-03-26", True), ("2024-11-05", False)])
async def test_before_rfc_9728_nothing_is_held_against_a_server(revision: str, document: bool) -> None:  # noqa: FBT001
    documents = {"/.well-known/oauth-authorization-server": {"issuer": "x"}} if document else {}
    server = Mcp(modern=False, revisions=(revision,), before=Gate(challenge="Bearer", documents=documents))
    evidence, _ = await seen(mcp=server, credential=GOOD)
    found = result(evidence, "auth/resource-metadata")
    assert (found.state, found.code) == (State.NOT_CHECKED, "older-revision")
    assert f"RFC 8414 was {'seen' if document else 'not seen'}" in (found.reason or "")


async def test_a_renewed_token_file_is_used_without_a_restart(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("stale-t0ken\n", encoding="utf-8")
    source = TokenFile(label="token", path=file)
    async with running(Mcp(before=Gate())) as server:

        async def look() -> Evidence:
            return await probe(
                Target(name="specimen", url=server.loopback.url(), source=source),
                depth=Depth.LIGHT,
                trigger=Trigger.MANUAL,
                trust=TrustStore(),
                resolver=SystemResolver(),
                now=lambda: TAKEN_AT,
                pause=server.pause,
            )

        assert (await look()).outcome.code == "auth"
        file.write_text("good-t0ken\n", encoding="utf-8")
        assert (await look()).outcome.code == "ok"
        file.write_text("two words\n", encoding="utf-8")
        broken = await look()
        file.unlink()
        gone = await look()
    for evidence in (broken, gone):
        assert evidence.outcome.code == "token"
        assert state(evidence, "auth/credential") == (State.FAILED, "token")
        assert "two words" not in str(to_json(evidence))
        assert str(tmp_path) not in str(to_json(evidence))


@pytest.mark.parametrize("content", [None, "no certificate"])
async def test_a_certificate_file_that_cannot_be_used_is_a_fault_of_ours(
    content: str | None, ca_file: Path, tmp_path: Path
) -> None:
    """It is read again before the next probe: a file that is just being replaced mends itself."""
    client = tmp_path / "client.pem"
    if content is not None:
        client.write_text(content)
    trust, tls = TrustStore(), intermediate().issue("127.0.0.1").context()
    async with serving(Mcp().respond, context=tls) as loopback:
        target = Target(name="specimen", url=loopback.url(), ca_file=ca_file, client_cert=client)

        async def look() -> Evidence:
            return await probe(
                target,
                depth=Depth.FULL,
                trigger=Trigger.MANUAL,
                trust=trust,
                resolver=SystemResolver(),
                now=lambda: datetime.now(UTC),
            )

        evidence = await look()
        assert loopback.connections == 0
        client.write_bytes(root().issue("driftwatch").pem())
        mended = await look()
    assert state(evidence, "auth/credential") == (State.FAILED, "certificate-file")
    assert "client.pem" in evidence.outcome.message
    for check in ("transport/endpoint", "tls/chain", "release/fingerprint", "network/addresses"):
        assert state(evidence, check) == (State.NOT_CHECKED, "certificate-file")
    assert not any(each.code == DEPTH_CODE for each in judge(evidence, checks.Policy()).report.results)
    assert from_json(to_json(evidence)) == evidence
    assert state(mended, "transport/endpoint") == (State.VERIFIED, None)
