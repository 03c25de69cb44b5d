"""What an attacker, or a broken client, does to the webhook: it answers, holds nothing, and tells nothing."""

import asyncio
import contextlib
import http.client
import json
import logging
import tracemalloc
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from driftwatch.web.hooks import bodies
from tests.web import sent
from tests.web.hooking import BEARER, KEYS, SECRET, TOKEN, Hooked, configured, hooked

MIB = 1024 * 1024
UNHURRIED = f'{KEYS}\nrate = "1000/s"\ndebounce = "0s"'
SCRIPT = "<script>alert('x')</script>\"&"


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Hooked]:
    async with hooked(tmp_path, configured(tmp_path, UNHURRIED)) as made:
        yield made
        # Whatever happened: the next one is served.
        assert (await made.post({"ref": "afterwards"})).status_code == 202


class Raw:
    """A client that writes exactly what it is told."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def at(cls, door: Hooked) -> "Raw":
        return cls(*await asyncio.open_connection("127.0.0.1", int(door.url.rpartition(":")[2])))

    async def head(self, path: str = "/hooks/deploy", **headers: str) -> None:
        lines = [f"POST {path} HTTP/1.1", "Host: driftwatch", f"Authorization: Bearer {TOKEN}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
        await self.writer.drain()

    async def status(self) -> int:
        async with asyncio.timeout(60):
            line = await self.reader.readline()
        self.writer.close()
        return int(line.split()[1]) if line else 0


@pytest.mark.parametrize("headers", [{"Content_Length": str(60 * MIB)}, {"Transfer_Encoding": "chunked"}])
async def test_a_body_of_60_mb_is_neither_kept_nor_read_to_its_end(
    door: Hooked, headers: dict[str, str]
) -> None:
    piece = b"[" * MIB
    framed = piece if "Content_Length" in headers else b"100000\r\n" + piece + b"\r\n"
    raw = await Raw.at(door)
    tracemalloc.start()
    try:
        await raw.head(**headers)
        written = 0
        with contextlib.suppress(ConnectionError):
            for _ in range(60):
                raw.writer.write(framed)
                await raw.writer.drain()
                written += 1
        with contextlib.suppress(ConnectionError):
            assert await raw.status() in {413, 0}
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert written < 60
    assert peak < 16 * MIB


async def test_a_body_that_is_a_little_too_long_is_told_so(door: Hooked) -> None:
    answer = await door.post(content=b"x" * MIB, **BEARER)
    assert answer.status_code == 413
    assert str(bodies.BODY_LIMIT) in answer.json()["detail"]
    raw = await Raw.at(door)
    await raw.head(Content_Length=str(60 * MIB), Expect="100-continue")
    assert await raw.status() == 413


async def test_a_body_that_does_not_come_is_waited_for_no_longer_than_the_deadline(
    door: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODY_DEADLINE_S", 0.1)
    raw = await Raw.at(door)
    await raw.head(Content_Length="20")
    raw.writer.write(b'{"ref": ')
    assert await raw.status() == 408


async def test_a_body_that_breaks_off_announces_nothing(door: Hooked) -> None:
    raw = await Raw.at(door)
    await raw.head(Content_Length="200")
    raw.writer.write(b'{"ref": "v2"}')
    raw.writer.write_eof()
    assert await raw.status() in {0, 400}
    assert await door.releases() == []


async def test_a_huge_header_is_refused(door: Hooked) -> None:
    raw = await Raw.at(door)
    with contextlib.suppress(ConnectionError):
        await raw.head(X_Filler="x" * MIB)
        assert await raw.status() in {0, 400, 431}


@pytest.mark.parametrize(
    ("path", "statuses"),
    [
        ("/hooks/deploy/api%2Ev1", {202}),
        ("/hooks/deploy/api.v1", {202}),
        ("/hooks/deploy/..", {404, 422}),
        ("/hooks/deploy/%2e%2e", {404, 422}),
        ("/hooks/deploy/..%2f..%2fetc%2fpasswd", {404}),
        ("/hooks/deploy/api.v1%2fweb", {404}),
        ("/hooks/deploy/api.v1/web", {404}),
        ("/hooks/deploy//web", {404}),
        ("/hooks/deploy/web%00", {422}),
        ("/hooks/deploy/%ff%fe", {422}),
        ("/hooks/deploy/%0d%0aSet-Cookie:%20a=b", {422}),
        ("/hooks/deploy/%3Cscript%3E", {422}),
        ("/hooks/deploy/*", {422}),
        ("/hooks/deploy/" + "x" * 5000, {422}),
        ("/hooks/deploy;web", {404}),
        ("/HOOKS/deploy", {404}),
        ("//hooks/deploy", {404}),
        ("/hooks/deploy/", {307, 404}),
    ],
)
async def test_no_path_reaches_another_server_or_breaks_the_door(
    door: Hooked, path: str, statuses: set[int]
) -> None:
    def ask() -> tuple[int, bytes, list[tuple[str, str]]]:
        connection = http.client.HTTPConnection("127.0.0.1", int(door.url.rpartition(":")[2]), timeout=60)
        connection.request("POST", path, json.dumps({"ref": "v2"}), BEARER)
        reply = connection.getresponse()
        body = reply.read()
        connection.close()
        return reply.status, body, reply.getheaders()

    status, body, headers = await asyncio.to_thread(ask)
    assert status in statuses
    assert b"<script>" not in body
    assert "set-cookie" not in {name.lower() for name, _ in headers}


@pytest.mark.parametrize(
    "headers",
    [
        {"Idempotency-Key": "a" * 5000},
        {"Idempotency-Key": "'; DROP TABLE release;--"},
        {"X-GitHub-Delivery": "\u00e4\u00ff\x7f"},
        {"webhook-id": SCRIPT},
        {"Host": "evil.example.com"},
        {"X-Forwarded-Host": "evil.example.com", "X-Forwarded-Proto": "javascript"},
        {"Content-Type": "application/json; charset=utf-7"},
        {"Content-Length": "0013"},
    ],
)
async def test_headers_decide_nothing_that_comes_back(door: Hooked, headers: dict[str, str]) -> None:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in (BEARER | headers).items()]
    answer = await door.http.post("/hooks/deploy", content=b'{"ref": "v2"}', headers=raw)
    assert answer.status_code == 202
    assert answer.headers["location"] == f"/api/v1/deploys/{answer.json()['deploy']}"
    assert "evil" not in answer.text + str(answer.headers)


async def test_markup_in_every_field_stays_text_in_json(door: Hooked) -> None:
    fields = ("ref", "commit", "actor", "previous_ref", "environment")
    answer = await door.post(dict.fromkeys(fields, SCRIPT))
    assert answer.status_code == 202
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.json()["ref"] == SCRIPT
    for field in (*fields, "link", "servers", SCRIPT):
        refused = await door.post({"ref": "v2", field: f"{SCRIPT}\r\nSet-Cookie: a=b"})
        assert refused.status_code == 422
        assert "script" not in refused.text


async def test_200_hooks_at_once_are_all_written(door: Hooked) -> None:
    door.clock.step = timedelta(milliseconds=1)
    answers = await asyncio.gather(
        *(door.post({"ref": f"v{number}"}, "/hooks/deploy/web") for number in range(200))
    )
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["deploy"] for answer in answers}) == 200
    assert len(await door.releases()) == 200


async def test_the_same_hook_200_times_at_once_is_written_once(door: Hooked) -> None:
    headers = {**BEARER, "X-GitHub-Delivery": "4f2b"}
    answers = await asyncio.gather(
        *(door.http.post("/hooks/deploy", json={"ref": "v2"}, headers=headers) for _ in range(200))
    )
    assert {answer.status_code for answer in answers} == {202}
    assert len({answer.json()["deploy"] for answer in answers}) == 1
    assert await door.releases() == ["v2"]


async def replayed(door: Hooked, content: bytes, headers: dict[str, str]) -> int:
    """What a delivery is answered an hour after it was made, and repeated at once."""
    first = await door.http.post("/hooks/deploy", content=content, headers=headers)
    again = await door.http.post("/hooks/deploy", content=content, headers=headers)
    assert first.json()["deploy"] == again.json()["deploy"]
    door.clock.advance(timedelta(seconds=3600))
    return (await door.http.post("/hooks/deploy", content=content, headers=headers)).status_code


async def test_a_signed_delivery_that_is_replayed_starts_nothing(door: Hooked) -> None:
    content = sent.encoded(sent.github_deployment_status())
    headers = {"X-GitHub-Event": "deployment_status", "X-GitHub-Delivery": "4f2b"}
    headers |= sent.github_signature(SECRET, content)
    assert await replayed(door, content, headers) == 202
    headers = dict(sent.standard_signature(SECRET.encode(), b'{"ref": "v3"}', at=door.clock.wall))
    assert await replayed(door, b'{"ref": "v3"}', headers) == 401
    assert await door.releases() == ["v3", "main"]


def databases(folder: Path) -> dict[str, str]:
    return {file.name: file.read_bytes().decode("latin-1") for file in folder.glob("driftwatch.db*")}


async def test_neither_token_nor_secret_is_in_the_log_the_database_or_an_answer(
    door: Hooked, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    content = sent.encoded({"ref": "v2"})
    requests: list[dict[str, Any]] = [
        {"json": {"ref": "v2"}, "headers": BEARER},
        {"json": {"reff": "v2"}, "headers": BEARER},
        {"json": {"ref": "v2"}, "headers": {"Authorization": f"Basic {TOKEN}"}},
        {"content": content, "headers": sent.github_signature(SECRET, content)},
        {"content": b"{", "headers": {**BEARER, "X-Gitlab-Token": TOKEN}},
        {"json": {"ref": "v2"}, "headers": BEARER, "params": {"tokn": TOKEN}},
    ]
    answers = [await door.http.post("/hooks/deploy", **request) for request in requests]
    ours = [record for record in caplog.records if record.name.startswith("driftwatch")]
    places = {
        "log": "".join(str(record.__dict__) for record in ours),
        "answers": "".join(f"{each.text}{each.headers}" for each in answers),
        **databases(tmp_path),
    }
    assert ours
    assert len(places) > 2
    for place, text in places.items():
        assert TOKEN not in text, place
        assert SECRET not in text, place
