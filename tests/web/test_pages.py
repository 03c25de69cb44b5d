"""What pages say, to whom, and that nothing else leaves with it."""

import asyncio
import os
import re
import shlex
from dataclasses import replace
from datetime import timedelta
from html import unescape
from pathlib import Path
from typing import Any

import httpx
import pytest
import typer
import typer.core
import typer.main

from driftwatch import checks
from driftwatch.cli import app
from driftwatch.store.ports import DeliveryPlan
from driftwatch.store.sqlite import SqliteStore
from driftwatch.web.health import Health
from tests.store.world import event, failed, message
from tests.web.paging import FINE, Pages, parsed, shown, words
from tests.web.scene import NOW, Scene, bad, tool

CHECKS = len(checks.catalogue)

EVERY_PAGE = (
    "/",
    "/?state=failed&tag=prod&name=PAY",
    "/servers/payments",
    "/servers/legacy-crm?days=90",
    "/servers/onboarding",
    "/servers/payments/diff",
    "/events",
    "/events?server=payments&kind=change",
    "/outbox",
    "/outbox?status=dead",
    "/login",
)


async def test_a_request_without_a_path_is_not_found(pages: Pages) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", httpx.URL(pages.url).port)
    writer.write(b"GET ? HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
    assert (await reader.read()).startswith(b"HTTP/1.1 404 ")
    writer.close()


async def test_the_fleet_is_told_worst_first_in_words_and_counts(pages: Pages) -> None:
    page = await pages.text("/")
    assert "2 of 7 servers have failed checks" in page
    names = re.findall(r'class="name" href="/servers/([^"]+)"', (await pages.get("/")).text)
    assert names == [
        "payments", "legacy-crm", "invoices", "search", "onboarding", "partner-api", "catalogue",
    ]  # fmt: skip
    assert f"1 failed 2 observed risk {CHECKS - 6} verified 3 not checked" in page
    assert "toolset is not the accepted one" in page
    assert "9 days" in page
    assert "v42 3 h ago" in page
    assert "silenced for 5 h" in page
    assert "acknowledged" in page
    assert "not probed yet" in page


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("state=failed", ["payments", "legacy-crm"]),
        ("state=not_checked", ["onboarding", "partner-api"]),
        ("tag=eu&state=observed_risk", ["invoices", "search"]),
        ("name=CAT", ["catalogue"]),
        ("name=%3Cscript%3E", []),
        ("state=nonsense&page=x&name=catalogue", ["catalogue"]),
        ("page=99999", 7),
        ("page=9999999999999999", 7),
    ],
)
async def test_the_fleet_is_filtered_by_its_address(pages: Pages, query: str, names: list[str] | int) -> None:
    found = re.findall(r'class="name" href="/servers/([^"]+)"', (await pages.get(f"/?{query}")).text)
    assert (len(found) if isinstance(names, int) else found) == names


async def test_a_large_fleet_comes_in_pages(pages: Pages) -> None:
    assert isinstance(pages.store, SqliteStore)
    Scene(pages.store).add({f"server-{number:03}": ("many",) for number in range(120)}, NOW)
    first = (await pages.get("/?tag=many")).text
    assert first.count('class="name"') == 50
    assert "Page 1 of 3, 120 servers" in words(first)
    assert 'href="/?tag=many&amp;page=2"' in first
    assert (await pages.get("/?tag=many&page=3")).text.count('class="name"') == 20


async def test_one_server_is_told_with_reasons_fixes_and_commands(pages: Pages) -> None:
    page = await pages.text("/servers/payments")
    for said in (
        "The toolset is not the accepted one (modern)",
        'driftwatch accept payments --fingerprint dw1:e34347cf.7ec960b8 --reason "..."',
        "driftwatch ack payments",
        "failed transport/content-type since 2026-11-30 06:31 UTC",
        "will break The reply is declared as text/html, which no MCP client reads.",
        "Measured text/html; charset=utf-8",
        "Affected Claude.ai, ChatGPT, Claude Code",
        "create_payment, refund",
        "Why it matters",
        "9 days left",
        "Protocol (modern) 2026-07-28 offered since",
        "no tool call is configured",
        "v42 before it v41 9c1e77ab04d2 octavia breaking 1 tool renamed",
        "2 more did not fit",
        "> authorization: Bearer <token>",
        "Something odd.",
    ):
        assert said in page


async def test_a_server_that_is_down_says_what_is_not_checked_because_of_it(pages: Pages) -> None:
    page = await pages.text("/servers/legacy-crm")
    assert f"1 failed {CHECKS - 1} not checked" in page
    assert "transport/endpoint explains it: failed (refused)" in page
    assert "Acknowledged by mara" in page
    assert "driftwatch ack" not in page


async def test_a_server_that_asked_for_a_pause_shows_until_when_and_is_not_late(pages: Pages) -> None:
    asked = "it asked to wait (Retry-After)"
    assert asked not in await pages.text("/servers/payments")
    assert pages.store is not None
    with pages.store.write() as tx:
        tx.postpone("payments", NOW + timedelta(minutes=7))
    assert f"Next probe in 7 min : {asked}" in await pages.text("/servers/payments")


async def test_states_over_time_are_drawn_and_told_in_a_table(pages: Pages) -> None:
    html = (await pages.get("/servers/payments?days=30")).text
    tags = parsed(html).tags
    lanes = [attributes for tag, attributes in tags if tag == "svg" and attributes.get("role") == "img"]
    assert len(lanes) >= 4
    ids = {attributes["id"] for _, attributes in tags if "id" in attributes}
    named = [name for lane in lanes for name in (lane["aria-labelledby"] or "").split()]
    assert set(named) <= ids
    assert html.count('class="deploy"') > 2
    page = words(html)
    assert "transport/origin failed (accepted) 2026-11-18 09:30 UTC 2026-11-19 09:30 UTC" in page
    assert "deploy v42 2026-11-30 06:30 UTC" in page


async def test_two_tool_lists_stand_side_by_side(pages: Pages) -> None:
    page = await pages.text("/servers/payments/diff")
    assert 'tool "payment_status" renamed to "get_payment_status"' in page
    assert "Existing callers fail." in page
    assert "payment_status → get_payment_status" in page
    assert "steers" in page
    same = await pages.text("/servers/payments/diff?from=current&to=current")
    assert "No difference." in same
    short = await pages.text("/servers/payments/diff?from=dw1:2a375d90.a0b68261&to=current")
    assert "1 tool renamed" in short


async def test_an_event_says_how_it_was_told(pages: Pages) -> None:
    listed = (await pages.get("/events?server=payments&kind=toolset_changed")).text
    (path,) = set(re.findall(r'href="(/events/[^"?]+)"', listed))
    page = await pages.text(path)
    assert "toolset changed - " in page
    assert "ops sent 2026-11-30 06:31 UTC" in page
    assert "[driftwatch] payments: " in page
    assert "2026-11-30 06:31 UTC" in page


async def test_events_and_messages_come_in_pages(pages: Pages) -> None:
    assert isinstance(pages.store, SqliteStore)
    with pages.store.write() as tx:
        for number in range(120):
            at = NOW + (number // 4) * timedelta(seconds=1)
            happened = event(f"more-{number:03}", at=at, server="catalogue", alerts=False)
            tx.record_event(happened, ())
            tx.freeze(message(f"more-{number:03}", "ops", happened.id, created_at=at))
    for path, entry in (("/events?server=catalogue", 'href="/events/more-'), ("/outbox", "title of more-")):
        seen, html = 0, (await pages.get(path)).text
        while True:
            seen += html.count(entry)
            older = re.search(r'rel="next" href="([^"]+)"', html)
            if older is None:
                break
            html = (await pages.get(older[1].replace("&amp;", "&"))).text
        assert seen == 120


async def test_a_channel_that_is_stuck_is_told_with_what_waits_behind_it(pages: Pages) -> None:
    assert pages.store is not None
    with pages.store.write() as tx:
        tx.freeze(message("stuck-1", "ops", created_at=NOW - timedelta(hours=2)))
        claim = tx.claim("me", timedelta(minutes=2), ["ops"])
        assert claim is not None
        tx.settle(claim, failed(NOW, timedelta(minutes=9), error="the receiver answered HTTP 500"))
        for each in ("later-1", "later-2"):
            plan = DeliveryPlan(event=each, channel="ops", not_before=NOW)
            tx.record_event(event(each, at=NOW, server="payments"), [plan])
    for path in ("/", "/outbox"):
        told = await pages.text(path)
        assert "ops is stuck since 2026-11-30 07:30 UTC" in told
        assert "the receiver answered HTTP 500. Tried 1 time, next in 9 min" in told
        assert "2 alerts wait behind it." in told


async def test_the_outbox_tells_fates_and_never_an_address(pages: Pages) -> None:
    html = (await pages.get("/outbox")).text
    assert "[driftwatch] legacy-crm: down" in words(html)
    assert "sent 2026-11-30 08:40 UTC" in words(html)
    assert "secret-address" not in html


async def test_every_command_on_a_page_can_be_pasted(pages: Pages) -> None:
    paths = ("/", "/servers/payments", "/servers/invoices", "/servers/payments/diff", "/outbox")
    html = "".join([(await pages.get(path)).text for path in paths])
    shown = re.findall(r'(?:class="command"[^>]*>|again: )<code>driftwatch ([^<]+)</code>', html)
    commands = set(map(unescape, shown))
    assert {each.split()[0] for each in commands} == {
        "accept", "ack", "outbox", "probe", "silence", "unsilence",
    }  # fmt: skip
    for each in commands:
        group, rest = typer.main.get_command(app), shlex.split(each)
        while isinstance(group, typer.core.TyperGroup):
            _, command, rest = group.resolve_command(typer.Context(group), rest)
            assert command is not None, each
            group = command
        group.make_context(each, rest)  # raises for an option that there is not


@pytest.mark.parametrize("path", EVERY_PAGE)
async def test_every_page_is_harmless_by_its_headers_and_its_markup(pages: Pages, path: str) -> None:
    answer = await pages.get(path)
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-content-type-options"] == "nosniff"
    for tag, attributes in parsed(answer.text).tags:
        assert tag not in {"script", "style", "iframe", "object", "embed", "base"}
        assert not {name for name in attributes if name == "style" or name.startswith("on")}
        for name in ("href", "src", "action"):
            target = attributes.get(name) or "/"
            assert target.startswith(("/", "#", "?")), target
            assert not target.startswith("//")


HOSTILE = "<script>alert(1)</script>\u202e\u200b\U000e0041\ud800\x00\x1b[2J\"' onload=x {{ 7 * 7 }}"


async def test_nothing_a_server_says_becomes_markup_or_hides(pages: Pages) -> None:
    assert isinstance(pages.store, SqliteStore)
    scene = Scene(pages.store)
    scene.runs = 1000
    tools = [tool(HOSTILE, HOSTILE, **{HOSTILE: {"type": "string", "description": HOSTILE}})]
    finding = bad(
        "wrong-type", HOSTILE, subjects=(HOSTILE,), measured=HOSTILE, expected=HOSTILE, clients=(HOSTILE,)
    )
    exchange: dict[str, Any] = dict.fromkeys(
        ("label", "http_method", "url", "rpc_method", "excerpt", "address"), HOSTILE
    )
    exchange |= {"status": 200, "size": 1, "remarks": [], "duration_s": 0.1}
    exchange |= {"request_headers": [[HOSTILE, HOSTILE]], "headers": [[HOSTILE, HOSTILE]]}
    exchange["fault"] = {"code": HOSTILE, "phase": "body", "message": HOSTILE}
    said = {"exchanges": [exchange], "left_out": 0}
    scene.deploy("catalogue", HOSTILE, NOW, actor=HOSTILE, commit=HOSTILE, previous_ref=HOSTILE)
    found = {"transport/content-type": finding}
    scene.probe("catalogue", NOW, found, tools=tools, instructions=HOSTILE, transcript=said)
    paths = ["/", "/servers/catalogue", "/servers/catalogue/diff", "/events?server=catalogue", "/outbox"]
    listed = (await pages.get("/events?server=catalogue")).text
    for path in [*paths, *re.findall(r'href="(/events/[^"?]+)"', listed)]:
        answer = await pages.get(path)
        assert answer.status_code == 200
        assert {tag for tag, _ in parsed(answer.text).tags}.isdisjoint({"script", "img"})
        assert not any("onload" in attributes for _, attributes in parsed(answer.text).tags)
        assert not set("\u202e\u200b\U000e0041\x00\x1b") & set(answer.text)
        assert "49" not in re.findall(r"= *x (\S+)", answer.text)


async def test_an_unknown_server_event_and_fingerprint_are_not_there(pages: Pages) -> None:
    for path in (
        "/servers/nobody",
        "/servers/nobody/diff",
        "/servers/onboarding/diff",
        "/servers/payments/diff?from=dw1:00000000.00000000",
        "/servers/payments/diff?from=dw1",
        "/events/nothing",
        "/badge/nobody.svg",
        "/nothing/at/all",
    ):
        answer = await pages.get(path)
        assert answer.status_code == 404
        assert "Nothing is here" in answer.text or "Not Found" in answer.text
    machine = await pages.http.get("/servers/nobody")
    assert machine.headers["content-type"] == "application/problem+json"
    assert (await pages.http.post("/servers/payments", headers={"accept": "text/html"})).status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "/servers/%00",
        "/servers/%ff%fe",
        "/servers/..%2f..%2fetc%2fpasswd",
        "/servers/%f0%9f%98%80",
        "/events/%00",
        "/badge/%00.svg",
        "/badge/.json",
        "/?name=%00&tag=%ff&state=%00&page=-1",
        "/?page=%D9%A1",
        "/?name=" + "x" * 5000,
        "/events?before=,",
        "/events?before=2026-11-30T00:00:00,x",
        "/events?before=9999-12-31T23:59:59%2B00:00,%00",
        "/events?server=%00&kind=%00",
        "/outbox?status=%00&before=0001-01-01T00:00:00%2B14:00,x",
        "/servers/payments?days=0",
        "/servers/payments/diff?from=%00&to=%ff",
        "/servers/payments/diff?from=" + "x" * 3000,
        "/login?next=%00",
    ],
)
async def test_an_odd_address_is_no_bug(pages: Pages, path: str) -> None:
    assert (await pages.get(path)).status_code in {200, 404, 414}


async def test_an_empty_fleet_says_how_to_add_a_server(tmp_path: Path) -> None:
    path = tmp_path / "driftwatch.db"
    store = SqliteStore(path)
    store.migrate()
    store.close()
    async with shown(tmp_path, path) as pages:
        page = await pages.text("/")
    assert "No servers yet" in page
    assert '[[server]] name = "api-prod"' in page


async def test_while_the_database_is_migrated_pages_say_so_and_ask_again(tmp_path: Path) -> None:
    async with shown(tmp_path, None) as pages:
        answer = await pages.get("/")
    assert answer.status_code == 503
    assert "Starting" in words(answer.text)
    assert answer.headers["refresh"] == answer.headers["retry-after"] == "5"


async def test_a_database_that_cannot_be_read_is_told_without_its_path(
    pages: Pages, scene_copy: Path
) -> None:
    os.unlink(scene_copy)  # noqa: PTH108 - nothing of pathlib in a coroutine
    answer = await pages.get("/")
    assert answer.status_code == 503
    assert "The database cannot be used" in words(answer.text)
    assert str(scene_copy) not in answer.text


@pytest.mark.parametrize(
    ("health", "said"),
    [
        (replace(FINE, tick_age_s=200.0), "has made no probes for 3 min 20 s"),
        (replace(FINE, database=False), "The database does not take what probes find"),
    ],
    ids=["stuck", "refusing"],
)
async def test_a_service_that_does_not_do_its_work_says_so_on_every_page(
    pages: Pages, health: Health, said: str
) -> None:
    pages.health = health
    for path in ("/", "/servers/payments", "/outbox"):
        assert said in await pages.text(path)


async def test_a_refused_configuration_is_told(pages: Pages) -> None:
    pages.vitals = replace(pages.vitals, config_ok=False)
    assert "the one before it is in force" in await pages.text("/")


async def test_a_probe_that_is_long_overdue_is_marked(pages: Pages) -> None:
    assert "overdue" not in await pages.text("/")
    pages.clock.advance(timedelta(minutes=30))
    assert "overdue" in await pages.text("/")


async def test_the_stylesheet_is_kept_until_it_changes(pages: Pages) -> None:
    html = (await pages.get("/")).text
    (path,) = re.findall(r'href="(/assets/style\.css[^"]*)"', html)
    first = await pages.get(path)
    assert first.headers["content-type"] == "text/css; charset=utf-8"
    assert "immutable" in first.headers["cache-control"]
    again = await pages.get(path, if_none_match=first.headers["etag"])
    assert (again.status_code, again.content) == (304, b"")
    assert (await pages.get("/assets/../site.py")).status_code == 404
    assert (await pages.get("/assets/%2e%2e%2fsite.py")).status_code == 404
