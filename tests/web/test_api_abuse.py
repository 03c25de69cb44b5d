"""What people send who mean no good, over real connections: no 500, no leak, and an answer for others."""

import asyncio
import contextlib
import json
import re
import shutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from urllib.parse import quote

import pytest

from driftwatch.store.sqlite import SqliteStore
from driftwatch.web import protocol, server
from driftwatch.web.application import application
from tests.patience import PATIENCE_S
from tests.service.world import serving
from tests.web.asking import ADMIN, DRIFTED, READ, Api, Frozen, http

HEAD = f"Host: driftwatch\r\nAuthorization: Bearer {ADMIN}\r\nConnection: close\r\n"


@pytest.fixture
async def port(api: Api) -> AsyncIterator[int]:
    async with serving(application(api.context)) as bound:
        yield bound


async def raw(port: int, text: bytes | str) -> tuple[int, bytes]:
    """Send some bytes; the status and everything that came."""
    sent = text if isinstance(text, bytes) else text.encode("latin-1")
    async with asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(ConnectionError):
            writer.write(sent)
            await writer.drain()
        answer = bytearray()
        with contextlib.suppress(ConnectionError):
            while chunk := await reader.read(65536):
                answer += chunk
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
    found = re.match(rb"HTTP/1\.1 (\d+)", answer)
    return int(found[1]) if found else 0, bytes(answer)


async def get(port: int, target: str, head: str = HEAD) -> tuple[int, bytes]:
    return await raw(port, f"GET {target} HTTP/1.1\r\n{head}\r\n")


TARGETS = [
    "/api/v1/servers/../../etc/passwd",
    "/api/v1/servers/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
    "/api/v1/servers/..%5c..%5cconfig.toml",
    "/api/v1/servers/%00",
    "/api/v1/servers/%ff%fe",
    "/api/v1/servers/%c0%af",
    "/api/v1/servers/%ED%A0%80",
    "/api/v1/servers/%0d%0aSet-Cookie:%20a=b",
    "/api/v1/servers/%27%20OR%201=1--",
    "/api/v1/servers/{name}",
    "/api/v1/servers//",
    "//api/v1/servers",
    "/api/v1/servers/" + "x" * 8000,
    "/api/v1/events/%25%00",
    "/api/v1/messages/%F0%9F%92%A9",
    "/api/v1/servers?cursor=%00",
    "/api/v1/servers?cursor=" + "A" * 401,
    "/api/v1/events?cursor=WzFd",
    "/api/v1/events?cursor=" + quote("WzEwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAwMDAsImEiXQ"),
    "/api/v1/events?cursor=bnVsbA",
    "/api/v1/events?cursor=W10",
    "/api/v1/events?cursor=eyJhIjoxfQ",
    "/api/v1/events?cursor=W3RydWUsImEiXQ",
    "/api/v1/events?cursor=%C3%A4",
    f"/api/v1/servers/{DRIFTED}/history?cursor=WzEsMWUzMDBd",
    f"/api/v1/servers/{DRIFTED}/history?cursor=WzEsOTIyMzM3MjAzNjg1NDc3NTgwOF0",
    f"/api/v1/servers/{DRIFTED}/runs?cursor=Wy05MjIzMzcyMDM2ODU0Nzc1ODA4LG51bGxd",
    f"/api/v1/servers/{DRIFTED}/diff?from=%00&to=%ff",
    f"/api/v1/servers/{DRIFTED}/diff?from=" + "dw1:" + "0" * 990,
    f"/api/v1/servers/{DRIFTED}/toolset?fingerprint=..%2f",
    f"/api/v1/servers/{DRIFTED}/history?subject=%00",
    "/api/v1/events?limit=-1",
    "/api/v1/events?limit=99999999999999999999999999",
    "/api/v1/events?limit=0x10",
    "/api/v1/events?limit=NaN",
    "/api/v1/events?limit=%D9%A1",
    "/api/v1/events?since=0001-01-01T00:00:00%2B14:00",
    "/api/v1/events?since=9999-12-31T23:59:59-14:00",
    "/api/v1/events?since=1e400",
    "/api/v1/events?since=-99999999999999",
    "/api/v1/events?" + "&".join(f"kind=blip&kind{n}=x" for n in range(900)),
    "/api/v1/deploys?server=%00",
    "/api/v1/silences?all=perhaps",
    "/api/v1/%",
    "/api/v1/servers?%",
    "/api/v1/servers;a=b",
]


async def test_odd_addresses_get_a_plain_refusal_or_a_plain_answer(port: int) -> None:
    for target in TARGETS:
        status, answer = await get(port, target)
        assert status in {200, 400, 404, 422}, (target, answer[:500])
        head, _, body = answer.partition(b"\r\n\r\n")
        assert b"set-cookie" not in head.lower()
        assert b"root:" not in body
        if status in {404, 422}:
            assert json.loads(body)["status"] == status


async def test_what_is_longer_than_a_request_may_be_is_refused(port: int) -> None:
    # Far longer than what one read of a socket may bring at once.
    too_long = protocol.HEAD_LIMIT * 64
    assert (await get(port, "/api/v1/servers?x=" + "a" * too_long))[0] in {0, 400, 431}
    assert (await get(port, "/healthz", HEAD + f"X: {'a' * too_long}\r\n"))[0] in {0, 400, 431}


@pytest.mark.parametrize(("more", "status"), [(0, 200), (1, 400), (90_000, 400)])
async def test_the_limit_of_a_head_counts_to_the_byte_however_much_comes_at_once(
    more: int, status: int, port: int
) -> None:
    head = f"GET /healthz HTTP/1.1\r\n{HEAD}X: \r\n\r\n"
    filler = "a" * (protocol.HEAD_LIMIT - len(head) + more)
    assert (await raw(port, head.replace("X: ", f"X: {filler}")))[0] == status


async def test_a_head_that_waits_behind_another_request_has_the_same_limit(port: int) -> None:
    first = "GET /healthz HTTP/1.1\r\nHost: driftwatch\r\n\r\n"
    answered = await raw(port, f"{first}GET /healthz HTTP/1.1\r\n{HEAD}X: {'a' * 90_000}\r\n\r\n")
    assert re.findall(rb"HTTP/1\.1 (\d+)", answered[1]) == [b"200", b"400"]


MALFORMED = [
    "GET / HTTP/1.1\r\n\r\n",
    "GET /api/v1/servers HTTP/9.9\r\nHost: x\r\n\r\n",
    "GET /api/v1/servers\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "GET /api/v1/servers HTTP/1.1\r\nHost: x\r\nA\x00: b\r\n\r\n",
    "GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "POST /api/v1/silences HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\n",
    "POST /api/v1/silences HTTP/1.1\r\nHost: x\r\nContent-Length: 5, 6\r\n\r\nabcde",
    "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "GET /api/v1/servers HTTP/1.1\r\nHost: [\r\n\r\n",
    "GET /api/v1/servers HTTP/1.1\r\nHost: a@b:notaport\r\n\r\n",
    "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "\r\n\r\n\r\n\r\nnonsense\r\n\r\n",
]


async def test_what_is_no_proper_http_is_no_bug(port: int) -> None:
    for text in MALFORMED:
        status, answer = await raw(port, text + "\r\n")
        assert status in {0, 200, 400, 401, 404}, (text, answer[:500])
        assert b"Traceback" not in answer
    assert (await get(port, "/healthz"))[0] == 200


async def test_an_odd_token_opens_nothing(port: int) -> None:
    for token in ("\xe4\xf6", "", " ", "\x7f", "a" * 5000, f"{READ}, {ADMIN}", f"{ADMIN}x", f"\xa0{ADMIN}"):
        head = f"Host: driftwatch\r\nConnection: close\r\nAuthorization: Bearer {token}\r\n"
        status, _ = await raw(port, f"POST /api/v1/servers/{DRIFTED}/check HTTP/1.1\r\n{head}\r\n")
        assert status in {400, 401}, token


async def test_a_form_of_another_website_changes_nothing(api: Api, port: int) -> None:
    body = '{"servers": ["server-00001"], "for": "2h", "reason": "x"}'
    cookie = (
        "Host: driftwatch\r\nCookie: driftwatch=x\r\nOrigin: https://evil.example\r\nConnection: close\r\n"
    )
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x", ""):
        headers = f"Content-Type: {kind}\r\n" if kind else ""
        for head, expected in ((cookie, 401), (HEAD, 415)):
            text = (
                f"POST /api/v1/silences HTTP/1.1\r\n{head}{headers}Content-Length: {len(body)}\r\n\r\n{body}"
            )
            assert (await raw(port, text))[0] == expected
    assert api.read(lambda reader: reader.silences()) == []


async def test_a_head_request_gets_the_headers_alone_and_no_method_breaks_anything(port: int) -> None:
    status, answer = await raw(port, f"HEAD /api/v1/servers HTTP/1.1\r\n{HEAD}\r\n")
    assert (status, answer.partition(b"\r\n\r\n")[2]) == (200, b"")
    for method in ("OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "X" * 1000):
        assert (await raw(port, f"{method} /api/v1/servers HTTP/1.1\r\n{HEAD}\r\n"))[0] in {0, 400, 404, 405}


async def test_two_hundred_readers_at_once_are_all_answered(port: int) -> None:
    paths = ["/api/v1/servers?limit=200", f"/api/v1/servers/{DRIFTED}", f"/api/v1/servers/{DRIFTED}/diff"]
    answers = await asyncio.gather(*(get(port, paths[number % 3]) for number in range(200)))
    assert {status for status, _ in answers} == {200}


async def test_a_request_that_does_not_arrive_is_not_waited_for(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(protocol, "REQUEST_TIMEOUT_S", 0.2)
    monkeypatch.setattr(server, "KEEP_ALIVE_S", 0.2)
    async with serving(application(api.context)) as port:
        for begun in (b"", b"GET /api/v1/servers HTTP/1.1\r\nHost: x\r\nA"):
            # The connection ends without anything more being sent.
            assert (await raw(port, begun))[0] == 0
        # Nor after a first request on the same connection.
        first = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\nGET /healthz HTTP/1.1\r\n"
        status, answer = await raw(port, first)
        assert (status, answer.count(b"HTTP/1.1 200")) == (200, 1)


async def test_an_answer_that_nobody_takes_does_not_stay(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "ANSWER_TIMEOUT_S", 0.2)
    lost = asyncio.Event()
    connection_lost = protocol.PatientProtocol.connection_lost

    def noted(self: protocol.PatientProtocol, exc: Exception | None) -> None:
        connection_lost(self, exc)
        lost.set()

    monkeypatch.setattr(protocol.PatientProtocol, "connection_lost", noted)
    async with serving(application(api.context)) as port:
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.connect(("127.0.0.1", port))
            asked = (
                f"GET /api/v1/servers?limit=200 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {READ}\r\n\r\n"
            )
            client.settimeout(0)
            async with asyncio.timeout(PATIENCE_S):
                while not lost.is_set():
                    with contextlib.suppress(BlockingIOError):
                        client.send(asked.encode())
                    await asyncio.sleep(0.01)


async def test_more_connections_than_there_may_be_are_told_to_come_again(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "CONNECTIONS", 3)
    async with serving(application(api.context)) as port:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]
        assert (await get(port, "/healthz"))[0] == 503
        for _, writer in idle:
            writer.close()


async def test_a_damaged_database_is_503_and_nothing_of_it_is_shown(tmp_path: Path, fleet: Path) -> None:
    path = tmp_path / "driftwatch.db"
    shutil.copy(fleet, path)
    store = SqliteStore(path, clock=Frozen().now)
    found = Api(store=store, config=http(tmp_path, f'read_token = "{READ}"'))
    await found.get("/servers")
    path.unlink()
    status, detail = await found.refused("GET", "/servers")
    assert (status, str(tmp_path) in detail) == (503, False)
    store.close()


async def test_no_answer_waits_for_the_acknowledgement_of_another(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    delays = []

    class Seen(protocol.PatientProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            connection = transport.get_extra_info("socket")
            delays.append(connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 0)
            super().connection_made(transport)

    monkeypatch.setattr(server, "PatientProtocol", Seen)
    async with serving(application(api.context)) as bound:
        await get(bound, "/healthz")
    assert delays == [False]
