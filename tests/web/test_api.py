"""The API on a database as a fleet leaves it: what it shows, in pages, and to whom."""

import asyncio
import hashlib
import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.routing import Route

from bench import fleet_db
from driftwatch.errors import StoreError
from driftwatch.model import EventKind, State
from driftwatch.store.ports import Reader, Store
from driftwatch.web.api import DESCRIBED
from driftwatch.web.api.door import READS
from driftwatch.web.api.openapi import describe
from driftwatch.web.application import application
from driftwatch.web.headers import SafeHeaders
from tests.web.asking import ADMIN, DRIFTED, READ, SERVERS, Api, conforms, http


async def test_servers_come_in_pages_by_name_with_their_states_and_what_is_open(api: Api) -> None:
    found = await api.walk("/servers", "servers", limit=5)
    assert [server["name"] for server in found] == [f"server-{number:05}" for number in range(SERVERS)]
    drifted = found[10]
    assert sum(drifted["states"].values()) > 40
    assert drifted["certificate"]["days_left"] == 60
    (surface,) = drifted["surfaces"]
    assert surface["fingerprint"] != surface["accepted"]
    assert [incident["subject"] for incident in drifted["incidents"]] == [surface["subject"]]
    assert drifted["last_run"]["depth"] == "full"
    failed = await api.walk("/servers", "servers", state="failed", limit=1)
    assert [server["name"] for server in failed] == ["server-00000", "server-00007"]


async def test_a_server_shows_every_check_with_its_findings(api: Api) -> None:
    found = await api.get("/servers/server-00007")
    states = [check["state"] for check in found["checks"]]
    assert {state: states.count(state) for state in set(states)} == found["states"]
    failed = next(check for check in found["checks"] if check["state"] == "failed")
    assert (failed["code"], failed["findings"][0]["severity"]) == ("measured", "will break")
    assert found["subjects"][f"check:{failed['id']}"]["value"] == "failed:measured"


@pytest.mark.parametrize(
    ("path", "key", "limit"),
    [
        ("/servers/server-00003/history", "intervals", 50),
        ("/servers/server-00003/runs", "runs", 10),
        ("/servers/server-00003/events", "events", 7),
        ("/events", "events", 100),
        ("/deploys", "deploys", 5),
        ("/messages", "messages", 1),
    ],
)
async def test_a_list_is_whole_when_its_next_links_are_followed(
    api: Api, path: str, key: str, limit: int
) -> None:
    whole = await api.walk(path, key, limit=200)
    paged = await api.walk(path, key, limit=limit)
    assert len(whole) > limit
    assert paged == whole


async def test_events_can_be_asked_for_by_kind_and_time(api: Api) -> None:
    drift = await api.walk("/events", "events", kind="toolset_changed")
    assert {event["kind"] for event in drift} == {"toolset_changed"}
    assert (await api.get(f"/events/{drift[0]['id']}")) == drift[0]
    both = await api.walk("/events", "events", kind=["toolset_changed", "recovery"], limit=200)
    assert {event["kind"] for event in both} == {"toolset_changed", "recovery"}
    newest = (await api.get("/events", limit=3))["events"]
    since = newest[-1]["at"]
    assert all(event["at"] >= since for event in await api.walk("/events", "events", since=since))


def printed_by_jq(tools: list[dict[str, Any]]) -> bytes:
    """What ``jq -S 'map({name, inputSchema}) | sort_by(.name)'`` prints for plain ASCII tools."""
    rows = [{"name": tool["name"], "inputSchema": tool["inputSchema"]} for tool in tools]
    ordered = sorted(rows, key=lambda row: row["name"])
    return (json.dumps(ordered, sort_keys=True, indent=2, ensure_ascii=False) + "\n").encode()


@pytest.mark.parametrize("which", ["current", "accepted"])
async def test_the_checklists_digest_can_be_recomputed_from_the_export(api: Api, which: str) -> None:
    export = await api.get(f"/servers/{DRIFTED}/toolset", fingerprint=which)
    assert hashlib.sha256(printed_by_jq(export["tools"])).hexdigest() == export["checklist"]
    shortened = "dw1:" + ".".join((export["contract"][:8], export["surface"][:8]))
    assert await api.get(f"/servers/{DRIFTED}/toolset", fingerprint=shortened) == export


async def test_the_diff_names_what_changed_between_any_two_lists(api: Api) -> None:
    found = await api.get(f"/servers/{DRIFTED}/diff")
    (surface,) = found["surfaces"]
    assert surface["diff"]["breaking"]
    assert [change["kind"] for change in surface["diff"]["changes"]] != []
    same = await api.get(f"/servers/{DRIFTED}/diff", **{"from": surface["to"], "to": "current"})
    assert same["surfaces"][0]["diff"]["changes"] == []
    after_deploy = await api.get(f"/servers/{DRIFTED}/diff", **{"from": "accepted", "to": "v2.4.1"})
    assert after_deploy["surfaces"][0]["to"] == surface["to"]
    status, detail = await api.refused("GET", f"/servers/{DRIFTED}/diff?from=v9")
    assert (status, "v9" in detail) == (404, True)


async def test_what_waits_at_a_channel_is_told_until_it_is_gone(api: Api) -> None:
    written = await api.walk("/messages", "messages", status="pending")
    assert written
    (waiting,) = (await api.get("/backlog"))["backlog"]
    assert (waiting["channel"], waiting["messages"]) == ("ops", len(written))
    assert waiting["oldest_at"] == min(each["created_at"] for each in written)
    assert (waiting["attempts"], waiting["last_error"]) == (0, None)
    api.token = ADMIN
    for each in written:
        await api.ask("POST", f"/api/v1/messages/{each['id']}/drop")
    assert (await api.get("/backlog"))["backlog"] == []


async def test_a_maintenance_window_is_told_while_it_is_on(api: Api, tmp_path: Path) -> None:
    begin, end = (f"{fleet_db.NOW + hours * timedelta(hours=1):%Y-%m-%d %H:%M}" for hours in (-1, 1))
    later = f"{fleet_db.NOW + timedelta(hours=2):%Y-%m-%d %H:%M}"
    api.config = http(
        tmp_path,
        f'read_token = "{READ}"',
        *("[[alerts.window]]", 'tags = ["eu"]', f'from = "{begin}"', f'to = "{end}"'),
        *("[[alerts.window]]", f'from = "{end}"', f'to = "{later}"'),
    )
    (window,) = (await api.get("/windows"))["windows"]
    assert (window["servers"], window["tags"]) == ([], ["eu"])
    assert window["ends_at"] == f"{end.replace(' ', 'T')}:00Z"
    assert begin in window["window"]


async def test_a_name_that_no_server_has_is_answered_with_what_was_probably_meant(api: Api) -> None:
    mistyped = f"{DRIFTED}s"
    for path in (f"/servers/{mistyped}", f"/servers/{mistyped}/runs"):
        assert await api.refused("GET", path) == (
            404,
            f"no server is named '{mistyped}'; did you mean '{DRIFTED}'?",
        )


async def test_what_is_not_there_is_404_and_what_cannot_be_is_422_with_the_place(api: Api) -> None:
    for path in ("/servers/nobody", "/servers/nobody/runs", "/events/none", "/messages/none", "/nowhere"):
        assert (await api.refused("GET", path))[0] == 404
    for query in ("limit=0", "limit=201", "limit=-1", "limit=1e9", "limit=", "limit=5&limit=6", "cursor=x"):
        assert (await api.refused("GET", f"/events?{query}"))[0] == 422, query
    for query in (
        "since=yesterday",
        "since=2026-01-01",
        "kind=nothing",
        "%00=1",
        "since=2026-01-01T00:00:00",
    ):
        assert (await api.refused("GET", f"/events?{query}"))[0] == 422, query
    assert await api.refused("GET", "/events?sinse=2026-01-01T00:00:00Z") == (
        422,
        'sinse: unknown, did you mean "since"?',
    )


async def test_only_who_may_read_reads(api: Api, tmp_path: Path) -> None:
    api.token = None
    reply = await api.ask("GET", "/api/v1/servers")
    assert (reply.status_code, reply.headers["www-authenticate"]) == (401, 'Bearer realm="driftwatch"')
    api.token = "another-token-0123456789"
    assert (await api.refused("GET", "/servers"))[0] == 401
    api.token = ADMIN
    await api.get("/servers")
    api.config, api.token = http(tmp_path), None
    assert (await api.refused("GET", "/servers"))[0] == 403
    api.client_host = "127.0.0.1"
    reply = await api.ask("GET", "/api/v1/servers", headers={"host": "localhost"})
    assert reply.status_code in (200, 403)
    assert (await api.ask("GET", "/api/v1/openapi.json")).status_code == 200


async def test_an_answer_is_not_sent_again_to_who_has_it(api: Api) -> None:
    reply = await api.ask("GET", "/api/v1/servers")
    tag = reply.headers["etag"]
    again = await api.ask("GET", "/api/v1/servers", headers={"if-none-match": tag})
    assert (again.status_code, again.content) == (304, b"")


async def test_every_answer_is_kept_from_caches_frames_and_guesses(api: Api) -> None:
    for path in ("/api/v1/servers", "/api/v1/nowhere", "/healthz", "/nowhere"):
        headers = (await api.ask("GET", path)).headers
        assert headers["cache-control"] == "no-store"
        assert headers["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]


async def test_before_the_database_is_open_and_while_it_fails_the_answer_is_to_come_again(api: Api) -> None:
    class Failing:
        async def query(self, work: object) -> None:
            raise StoreError("/secret/path: disk I/O error")

    store, api.store = api.store, None
    reply = await api.ask("GET", "/api/v1/servers")
    assert (reply.status_code, "retry-after" in reply.headers) == (503, True)
    api.store = Failing()  # type: ignore[assignment]
    reply = await api.ask("GET", "/api/v1/servers")
    assert (reply.status_code, "retry-after" in reply.headers) == (503, True)
    assert "secret" not in reply.text
    api.store = store


async def test_readers_over_http_leave_readers_of_the_database_to_the_probes(api: Api) -> None:
    class Counted:
        def __init__(self, store: Store) -> None:
            self.store = store
            self.now = self.most = 0

        async def query(self, work: Callable[[Reader], Any]) -> Any:
            self.now += 1
            self.most = max(self.most, self.now)
            try:
                return await self.store.query(work)
            finally:
                self.now -= 1

    store = api.store
    assert store is not None
    counted = Counted(store)
    api.store = counted  # type: ignore[assignment]
    app = application(api.context)
    replies = await asyncio.gather(*(api.ask("GET", "/api/v1/servers", app=app) for _ in range(20)))
    assert {reply.status_code for reply in replies} == {200}
    assert counted.most == READS
    api.store = store


async def test_a_bug_shows_nothing_of_itself(api: Api) -> None:
    class Broken:
        async def query(self, work: object) -> None:
            raise RuntimeError("hunter2")

    store, api.store = api.store, Broken()  # type: ignore[assignment]
    status, detail = await api.refused("GET", "/servers")
    assert (status, "hunter2" in detail) == (500, False)
    api.store = store


def answers() -> dict[str, Any]:
    """Addresses of every reading endpoint, by its path in the document."""
    server = f"/servers/{DRIFTED}"
    return {
        "/servers": "/servers",
        "/servers/{name}": server,
        **{f"/servers/{{name}}/{each}": f"{server}/{each}" for each in ("history", "runs", "events")},
        **{f"/servers/{{name}}/{each}": f"{server}/{each}" for each in ("diff", "toolset")},
        "/events": "/events",
        "/events/{id}": "/events/drift-00010",
        "/messages": "/messages",
        "/messages/{id}": "/messages/message-drift-00010",
        "/backlog": "/backlog",
        "/silences": "/silences?all=true",
        "/windows": "/windows",
        "/deploys": "/deploys",
        "/deploys/{deploy}": "/deploys/release-00010",
    }


async def test_every_reading_answer_is_what_the_document_says(api: Api) -> None:
    described = (await api.ask("GET", "/api/v1/openapi.json")).json()
    assert described == json.loads(json.dumps(describe(DESCRIBED)))
    assert {path for path, item in described["paths"].items() if "get" in item} == set(answers())
    for path, address in answers().items():
        conforms(await api.ask("GET", f"/api/v1{address}"), "GET", path)


async def test_every_route_of_the_api_is_in_its_document(api: Api) -> None:
    wrapped = application(api.context)
    assert isinstance(wrapped, SafeHeaders)
    assert isinstance(wrapped.app, Starlette)
    routes = [route for route in wrapped.app.routes if isinstance(route, Route)]
    found = {
        (route.path.removeprefix("/api/v1"), method.lower())
        for route in routes
        if route.path.startswith("/api/v1") and not route.path.endswith("openapi.json")
        for method in (route.methods or ())
        if method != "HEAD"
    }
    described = describe(DESCRIBED)["paths"]
    assert found == {(path, method) for path, methods in described.items() for method in methods}


async def test_texts_of_a_watched_server_never_break_the_json(api: Api) -> None:
    hostile = 'Infinity "\u2028\ud800\x00 </script> NaN'
    assert api.store is not None
    with api.store.write() as tx:
        details = {"text": hostile, "number": float("inf"), "none": float("nan")}
        told = fleet_db.change(DRIFTED, 99_999, fleet_db.NOW + timedelta(seconds=1))
        object.__setattr__(told, "details", details)
        tx.record_event(told, ())
    reply = await api.ask("GET", "/api/v1/events?limit=1")
    (event,) = json.loads(reply.content, parse_constant=pytest.fail)["events"]
    assert event["details"]["text"] == hostile
    assert event["details"]["number"] == float("inf")
    assert (event["kind"], State.FAILED.value) == (EventKind.TOOLSET_CHANGED.value, "failed")
