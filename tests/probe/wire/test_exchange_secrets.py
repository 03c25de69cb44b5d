"""Credentials go to the endpoint's own origin and nowhere else, least of all into an exchange."""

import base64
import json
import logging
from typing import Any
from urllib.parse import quote

import pytest

from driftwatch.evidence import CREDENTIAL_ECHO, OTHER_ECHO, URL_ECHO
from driftwatch.probe.wire.exchange import Credential, Read, Request
from tests.servers.certificates import intermediate
from tests.servers.raw import ASK, http, serve

TOKEN = "dw-s3cr3t/t0ken+0815"
CREDENTIAL = Credential(
    label="ci-token",
    headers=(("Authorization", f"Bearer {TOKEN}"), ("X-Api-Key", "k3y-k3y-k3y"), ("X-Toolsets", "repos")),
)
REQUEST = Request(label="tools/list", rpc={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})


def reply(text: str, *headers: str, status: str = "200 OK") -> bytes:
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"echo": text}}).encode()
    return http(body, status=status, headers=("content-type: application/json", *headers))


async def test_a_credential_is_sent_and_recorded_by_its_label(open_wire: Any) -> None:
    async with serve([ASK, reply("")]) as server, open_wire(server.url, credential=CREDENTIAL) as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert b"Authorization: Bearer " + TOKEN.encode() in server.requests[0]
    recorded = dict(exchange.request_headers)
    assert (recorded["Authorization"], recorded["X-Api-Key"], recorded["X-Toolsets"]) == ("<ci-token>",) * 3
    assert recorded["Accept"] == "application/json, text/event-stream"


@pytest.mark.parametrize(
    "echo",
    [TOKEN, quote(TOKEN, safe=""), base64.b64encode(f"user:{TOKEN}".encode()).decode(), "k3y-k3y-k3y"],
)
async def test_what_a_server_echoes_is_recorded_without_the_secret(echo: str, open_wire: Any) -> None:
    answer = reply(
        f"I got {echo}", f"x-echo: {echo}", f"location: /?t={echo}", f"set-cookie: s={echo}; Path=/"
    )
    for status in ("200 OK", "401 Unauthorized"):
        script = [ASK, answer.replace(b"200 OK", status.encode())]
        async with serve(script) as server, open_wire(server.url, credential=CREDENTIAL) as wire:
            exchange = (await wire.send(REQUEST)).exchange
        assert exchange.answer is not None
        assert echo not in repr(exchange)
        assert TOKEN not in repr(exchange)
        assert "<ci-token>" in exchange.result["echo"]
        assert "<ci-token>" in exchange.excerpt
        assert exchange.header("set-cookie") == "s=<cookie>; Path=/"


async def test_a_session_id_in_two_headers_is_one_as_it_is_to_clients_and_both_are_secrets(
    open_wire: Any,
) -> None:
    script = [ASK, reply("for abcd-1234", "Mcp-Session-Id: abcd-1234", "Mcp-Session-Id: efgh-5678")]
    async with serve(script) as server, open_wire(server.url) as wire:
        got = await wire.send(REQUEST)
    assert got.session == "abcd-1234, efgh-5678"
    assert not {"abcd-1234", "efgh-5678"} & set(repr(got.exchange).replace("'", " ").split())
    assert got.exchange.result == {"echo": "for <session>"}


async def test_a_credential_that_comes_back_is_remarked_with_its_place(open_wire: Any) -> None:
    texts = {"": "secret", TOKEN: ["a", f"Bearer {TOKEN}"]}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {"a/b": texts}}).encode()
    replies = (
        http(body, headers=("content-type: application/json",)),
        http(b"data: " + body + b"\n\n", headers=("content-type: text/event-stream",)),
        http(TOKEN.encode(), status="500 Oops"),
        http(b"", status="500 Oops", headers=(f"x-seen: {TOKEN}",)),
        http(b"{}", headers=(f"set-cookie: seen={TOKEN}",)),
    )
    told = []
    for answer in replies:
        async with serve([ASK, answer]) as server, open_wire(server.url, credential=CREDENTIAL) as wire:
            exchange = (await wire.send(REQUEST)).exchange
        told.append([remark.message for remark in exchange.remarks if remark.code == CREDENTIAL_ECHO])
    places = ["at /result/a~1b/<ci-token> and 1 more"]
    assert TOKEN not in repr(told)
    assert told == [places, places, ["in the body"], ["in the header x-seen"], []]


async def test_a_secret_of_the_url_and_one_that_is_never_sent_are_remarked_too(open_wire: Any) -> None:
    unsent = Credential(label="oauth", headers=(), unsent=("cl1ent-s3cret",))
    for said, code in (("q-4pi-k3y", URL_ECHO), ("cl1ent-s3cret", CREDENTIAL_ECHO), ("repos", None)):
        async with (
            serve([ASK, reply(f"I got {said}")]) as server,
            open_wire(f"{server.url}?api_key=q-4pi-k3y&tools=repos", credential=unsent) as wire,
        ):
            exchange = (await wire.send(REQUEST)).exchange
        assert [remark.code for remark in exchange.remarks] == ([] if code is None else [code])
        assert (said in repr(exchange)) is (code is None)


async def test_a_session_that_comes_back_is_no_credential(open_wire: Any) -> None:
    script = [ASK, reply("hello", "mcp-session-id: s-0a1b2c3d4e"), ASK, reply("you are s-0a1b2c3d4e")]
    async with serve(script) as server, open_wire(server.url, credential=CREDENTIAL) as wire:
        first = (await wire.send(REQUEST)).exchange
        second = (await wire.send(REQUEST)).exchange
    assert [remark.code for remark in (*first.remarks, *second.remarks)] == [OTHER_ECHO]


async def test_a_setting_in_a_header_stays_readable_in_the_answer(open_wire: Any) -> None:
    async with (
        serve([ASK, reply("lists repos")]) as server,
        open_wire(server.url, credential=CREDENTIAL) as wire,
    ):
        assert (await wire.send(REQUEST)).exchange.result == {"echo": "lists repos"}


async def test_a_secret_at_the_end_of_an_excerpt_is_not_shown_in_part(open_wire: Any) -> None:
    body = b"x" * 1990 + TOKEN.encode()
    script = [ASK, http(body, status="500 Oops")]
    async with serve(script) as server, open_wire(server.url, credential=CREDENTIAL) as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert TOKEN[:8] not in exchange.excerpt


@pytest.mark.parametrize("token", [TOKEN, "t0ken-" + "x" * 200])
async def test_a_secret_in_a_fault_is_not_shown_even_where_the_quotation_ends_inside(
    token: str, open_wire: Any
) -> None:
    credential = Credential.bearer("ci-token", token)
    for script in ([ASK, http(token.encode())], [ASK, token.encode()]):
        async with serve(script) as server, open_wire(server.url, credential=credential) as wire:
            exchange = (await wire.send(REQUEST)).exchange
        assert exchange.fault is not None
        assert "<ci-token>" in exchange.fault.message
        assert token[:10] not in repr(exchange)


async def test_another_origin_gets_no_credential(open_wire: Any) -> None:
    async with (
        serve([ASK, reply("")]) as server,
        serve([ASK, reply("")]) as other,
        open_wire(server.at("mcp.test"), credential=CREDENTIAL) as wire,
    ):
        elsewhere = Request(label="metadata", http_method="GET", url=other.at("mcp.test"), read=Read.BODY)
        exchange = (await wire.send(elsewhere)).exchange
    assert exchange.status == 200
    assert b"uthorization" not in other.requests[0]
    assert b"k3y" not in other.requests[0]


async def test_a_downgraded_scheme_gets_no_credential(open_wire: Any) -> None:
    context = intermediate().issue("mcp.test").context()
    async with (
        serve([ASK, reply("")], tls=context) as server,
        serve([ASK, reply("")]) as plain,
        open_wire(server.at("mcp.test"), credential=CREDENTIAL) as wire,
    ):
        await wire.send(Request(label="x", url=plain.at("mcp.test"), rpc=REQUEST.rpc))
        await wire.send(Request(label="x", url=server.at("mcp.test", "/else"), rpc=REQUEST.rpc))
    assert b"uthorization" not in plain.requests[0]
    assert b"Authorization" in server.requests[0]


async def test_a_request_may_go_without_the_credential_or_with_its_own(open_wire: Any) -> None:
    async with (
        serve([ASK, reply(""), ASK, reply("")]) as server,
        open_wire(server.url, credential=CREDENTIAL) as wire,
    ):
        await wire.send(Request(label="x", rpc=REQUEST.rpc, credential=False))
        invalid = (("authorization", "Bearer driftwatch-invalid-token"),)
        exchange = (await wire.send(Request(label="x", rpc=REQUEST.rpc, headers=invalid))).exchange
    assert b"uthorization" not in server.requests[0]
    assert server.requests[1].lower().count(b"authorization:") == 1
    assert dict(exchange.request_headers)["authorization"] == "Bearer driftwatch-invalid-token"


async def test_the_query_of_an_endpoint_is_sent_and_never_recorded(open_wire: Any) -> None:
    script = [ASK, reply("key q-s3cr3t-q, mode streaming")]
    async with serve(script) as server, open_wire(f"{server.url}?key=q-s3cr3t-q&mode=streaming") as wire:
        exchange = (await wire.send(REQUEST)).exchange
    assert server.requests[0].startswith(b"POST /mcp?key=q-s3cr3t-q&mode=streaming HTTP/1.1\r\n")
    assert exchange.url == f"{server.url}?<redacted>"
    assert exchange.result == {"echo": "key <url-secret>, mode streaming"}
    assert "q-s3cr3t-q" not in repr(exchange)


@pytest.mark.parametrize(
    ("location", "shown"),
    [
        ("https://ops:s3cret@b.example/mcp", "https://<redacted>@b.example/mcp"),
        ("https://ops@s3cret@b.example", "https://<redacted>@b.example"),
        ("/login?next=//s3cret@b.example/", "/login?<redacted>"),
        ("https://b.example/done#access_token=s3cret", "https://b.example/done#<redacted>"),
        ("https://b.example/@team?a=s3cret#b?s3cret", "https://b.example/@team?<redacted>#<redacted>"),
    ],
)
async def test_a_redirect_is_recorded_without_what_may_be_secret_in_it(
    location: str, shown: str, open_wire: Any
) -> None:
    answer = reply("", f"location: {location}", status="307 Temporary Redirect")
    async with serve([ASK, answer]) as server, open_wire(server.url) as wire:
        found = await wire.send(REQUEST)
    assert found.location == location
    assert found.exchange.header("location") == shown


async def test_a_session_in_a_named_address_is_a_secret(open_wire: Any) -> None:
    async with serve([ASK, reply("session 0a1b2c3d4e5f")]) as server, open_wire(server.url) as wire:
        posted = Request(label="x", url=f"{server.url}/messages?session_id=0a1b2c3d4e5f", rpc=REQUEST.rpc)
        exchange = (await wire.send(posted)).exchange
    assert "0a1b2c3d4e5f" not in repr(exchange)


async def test_nothing_is_logged(open_wire: Any, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with serve([ASK, reply("")]) as server, open_wire(f"{server.url}?key=q-s3cr3t-q") as wire:
        await wire.send(REQUEST)
    assert [record for record in caplog.records if record.name.startswith(("httpx", "httpcore"))] == []
