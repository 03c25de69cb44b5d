"""A token for a cookie: who gets one, for how long, and where it leads."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from driftwatch.web.access import COOKIE
from driftwatch.web.hooks import bodies
from driftwatch.web.pages.login import ATTEMPTS, inside
from tests.patience import PATIENCE_S
from tests.web.paging import Pages, shown, words

TOKEN = "read-token-0123456789"


@pytest.fixture
async def closed(scene_copy: Path, tmp_path: Path) -> AsyncIterator[Pages]:
    async with shown(tmp_path, scene_copy, [f'read_token = "{TOKEN}"']) as made:
        yield made


async def log_in(pages: Pages, token: str = TOKEN, wanted: str = "/", **headers: str) -> httpx.Response:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    return await pages.http.post("/login", data={"token": token, "next": wanted}, headers=sent)


async def test_without_a_token_pages_ask_for_one_and_tell_nothing(closed: Pages) -> None:
    for path in ("/", "/servers/payments", "/servers/nobody", "/events", "/outbox", "/badge/payments.svg"):
        answer = await closed.get(path)
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert f'name="next" value="{path}"' in answer.text
        assert "payments" not in words(answer.text)
    assert (await closed.get("/assets/style.css")).status_code == 200


async def test_the_token_opens_pages_through_a_cookie_or_a_header(closed: Pages) -> None:
    assert (await closed.get("/", authorization=f"Bearer {TOKEN}")).status_code == 200
    answer = await log_in(closed, wanted="/servers/payments?days=30")
    assert (answer.status_code, answer.headers["location"]) == (303, "/servers/payments?days=30")
    cookie = answer.headers["set-cookie"].lower()
    assert "samesite=strict" in cookie
    assert "httponly" in cookie
    assert "secure" not in cookie
    assert TOKEN not in cookie
    page = await closed.get("/servers/payments")
    assert page.status_code == 200
    assert "Log out" in page.text
    gone = await closed.http.post("/logout")
    assert gone.headers["location"] == "/login"
    assert (await closed.get("/")).status_code == 401


async def test_a_cookie_from_https_is_for_https_only(closed: Pages) -> None:
    answer = await log_in(closed, x_forwarded_proto="https")
    assert "secure" in answer.headers["set-cookie"].lower()


async def test_a_wrong_token_is_refused_and_after_some_the_address_waits(closed: Pages) -> None:
    for _ in range(ATTEMPTS):
        answer = await log_in(closed, "wrong")
        assert answer.status_code == 401
        assert "does not open these pages" in words(answer.text)
        assert COOKIE not in answer.headers.get("set-cookie", "")
    answer = await log_in(closed)
    assert answer.status_code == 429
    assert 0 < int(answer.headers["retry-after"]) <= 300
    closed.clock.advance(timedelta(minutes=6))
    assert (await log_in(closed)).status_code == 303


async def test_a_form_that_arrives_slowly_or_never_ends_is_given_up(
    closed: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "BODY_DEADLINE_S", 0.1)
    reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(closed.url).port)
    writer.write(b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: 8000\r\n\r\ntoken=")
    async with asyncio.timeout(PATIENCE_S):
        assert b" 408 " in await reader.read()
    writer.close()
    endless = b"x" * (bodies.BODY_LIMIT + 1)
    assert (await closed.http.post("/login", content=endless)).status_code == 413


async def test_a_form_of_another_site_is_refused(closed: Pages) -> None:
    assert (await log_in(closed, sec_fetch_site="cross-site")).status_code == 403
    assert (await log_in(closed, origin="https://evil.example")).status_code == 403
    assert (await log_in(closed, origin=closed.url)).status_code == 303
    assert (await closed.http.post("/logout", headers={"origin": "null"})).status_code == 403


@pytest.mark.parametrize("body", [b"", b"token", b"\xff\xfe", b"token=" + b"x" * 20_000, b"&" * 5000])
async def test_what_is_no_form_is_a_wrong_token(closed: Pages, body: bytes) -> None:
    answer = await closed.http.post("/login", content=body)
    assert answer.status_code == 401


ELSEWHERE = ("https://evil.example", "//evil.example", "/\\evil.example", "/\t/evil.example", "javascript:x")
NONSENSE = ("", "evil", "/\r\nset-cookie: x", "/\u2044evil")


@pytest.mark.parametrize("address", [*ELSEWHERE, *NONSENSE])
def test_a_login_leads_nowhere_else(address: str) -> None:
    assert inside(address) == "/"


def test_a_login_leads_back_to_where_it_was_asked_for() -> None:
    assert inside("/servers/api%2Fv1?days=30") == "/servers/api%2Fv1?days=30"


async def test_far_from_the_machine_pages_without_a_token_are_shut(scene_copy: Path, tmp_path: Path) -> None:
    async with shown(tmp_path, scene_copy) as pages:
        answer = await pages.get("/", host="status.example.com")
    assert answer.status_code == 403
    assert "read_token_file" in words(answer.text)


async def test_public_pages_are_for_everybody(scene_copy: Path, tmp_path: Path) -> None:
    async with shown(tmp_path, scene_copy, ["public_status = true"]) as pages:
        assert (await pages.get("/", host="status.example.com")).status_code == 200
