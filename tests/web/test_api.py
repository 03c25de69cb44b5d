"""The API on a database as a fleet leaves it: what it shows, in pages, and to whom."""

import asyncio
import hashlib
import json
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import jsonschema
import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.types import ASGIApp

from bench import fleet_db
from driftwatch import config as configuration
from driftwatch.clock import Clock
from driftwatch.config import Config
from driftwatch.errors import StoreError
from driftwatch.model import EventKind, State, Trigger
from driftwatch.store.ports import Reader, Store
from driftwatch.store.sqlite import SqliteStore
from driftwatch.web.api import DESCRIBED
from driftwatch.web.api.door import READS
from driftwatch.web.api.openapi import describe
from driftwatch.web.application import application
from driftwatch.web.context import Context, Reloaded
from driftwatch.web.headers import SafeHeaders
from driftwatch.web.health import Health
from driftwatch.web.vitals import Vitals

SERVERS = 12
READ, ADMIN = "read-token-0123456789", "admin-token-0123456789"
DRIFTED = "server-00010"
"""One in ten has another tool list than was accepted."""


class Frozen:
    """The moment at which the database was made."""

    def now(self) -> datetime:
        return fleet_db.NOW

    def monotonic(self) -> float:
        return 0.0


@dataclass
class Api:
    """The application, and a client of it."""

    store: Store | None
    config: Config
    clock: Clock = field(default_factory=Frozen)
    woken: int = 0
    token: str | None = READ
    client_host: str = "192.0.2.7"
    reloaded: Reloaded = field(default_factory=Reloaded)

    def _wake(self) -> None:
        self.woken += 1

    async def _reload(self) -> Reloaded:
        return self.reloaded

    @property
    def context(self) -> Context:
        return Context(
            config=lambda: self.config,
            store=lambda: self.store,
            health=lambda: Health(migrated=True, tick_age_s=0, database=True, oldest_message_s=None),
            vitals=lambda: Vitals(started_at=self.clock.now(), config_loaded_at=self.clock.now()),
            clock=self.clock,
            reload=self._reload,
            wake=self._wake,
        )

    async def ask(self, method: str, path: str, *, app: ASGIApp | None = None, **more: Any) -> httpx.Response:
        headers = {"host": "driftwatch.example"} | more.pop("headers", {})
        if self.token is not None:
            headers["authorization"] = f"Bearer {self.token}"
        transport = httpx.ASGITransport(
            app or application(self.context),
            raise_app_exceptions=False,
            client=(self.client_host, 50_000),
        )
        async with httpx.AsyncClient(transport=transport, base_url="http://driftwatch.example") as client:
            return await client.request(method, path, headers=headers, **more)

    async def get(self, path: str, **query: Any) -> Any:
        reply = await self.ask("GET", f"/api/v1{path}", params=query or None)
        assert reply.status_code == 200, reply.text
        return reply.json()

    async def refused(self, method: str, path: str, **more: Any) -> tuple[int, str]:
        """The status and the sentence of an error, which has the one shape."""
        reply = await self.ask(method, f"/api/v1{path}", **more)
        assert reply.headers["content-type"] == "application/problem+json"
        body = reply.json()
        assert body["type"] == "about:blank"
        assert (body["status"], bool(body["title"])) == (reply.status_code, True)
        return reply.status_code, body["detail"]

    async def walk(self, path: str, key: str, **query: Any) -> list[Any]:
        """Every entry of a list, by its next links."""
        page = await self.get(path, **query)
        found = list(page[key])
        while page["next"]:
            assert page[key]
            assert len(found) < 10_000
            page = await self.get(page["next"].removeprefix("/api/v1"))
            found += page[key]
        return found

    def read(self, question: Callable[[Reader], Any]) -> Any:
        assert self.store is not None
        with self.store.read() as reader:
            return question(reader)


def http(folder: Path, *lines: str) -> Config:
    path = folder / "config.toml"
    path.write_text("\n".join(("[http]", *lines)))
    return configuration.load(path, {})


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fleet") / "fleet.db"
    fleet_db.build(path, servers=SERVERS, days=2, minutes=60, tools=3)
    return path


@pytest.fixture
async def api(tmp_path: Path, fleet: Path) -> AsyncIterator[Api]:
    shutil.copy(fleet, tmp_path / "driftwatch.db")
    store = SqliteStore(tmp_path / "driftwatch.db", clock=Frozen().now)
    made = Api(store=store, config=http(tmp_path, f'read_token = "{READ}"', f'admin_token = "{ADMIN}"'))
    yield made
    store.close()


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
        "/silences": "/silences?all=true",
        "/deploys": "/deploys",
        "/deploys/{deploy}": "/deploys/release-00010",
    }


def strict(schema: Any) -> Any:
    """The schema with nothing allowed beyond what it names."""
    if isinstance(schema, dict):
        closed = {name: strict(member) for name, member in schema.items()}
        return closed | ({"additionalProperties": False} if "properties" in schema else {})
    return [strict(member) for member in schema] if isinstance(schema, list) else schema


def conforms(reply: httpx.Response, method: str, path: str) -> None:
    """Whether the document says exactly this of the answer."""
    described = describe(DESCRIBED)
    schema = described["paths"][path][method.lower()]["responses"][str(reply.status_code)]
    wanted = schema["content"]["application/json"]["schema"]
    jsonschema.validate(
        reply.json(),
        strict({**wanted, "components": described["components"]}),
        cls=jsonschema.Draft202012Validator,
    )


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


async def test_a_write_takes_the_admin_token_and_one_must_be_configured(api: Api, tmp_path: Path) -> None:
    for token in (READ, None, ADMIN + "x"):
        api.token = token
        assert (await api.refused("POST", f"/servers/{DRIFTED}/check"))[0] == 401
    api.config, api.token = http(tmp_path, f'read_token = "{READ}"', "public_status = true"), ADMIN
    assert (await api.refused("POST", f"/servers/{DRIFTED}/check"))[0] == 403
    assert api.woken == 0


async def test_a_probe_that_is_asked_for_twice_waits_once(api: Api) -> None:
    api.token = ADMIN
    for _ in range(2):
        reply = await api.ask("POST", f"/api/v1/servers/{DRIFTED}/check")
        assert reply.status_code == 202
        conforms(reply, "POST", "/servers/{name}/check")
    waiting = api.read(lambda reader: reader.waiting_requests())
    assert [(request.server, request.trigger) for request in waiting] == [(DRIFTED, Trigger.MANUAL)]
    assert api.woken == 2


async def test_accepting_by_fingerprint_ends_the_drift_and_again_changes_nothing(api: Api) -> None:
    api.token = ADMIN
    shown = (await api.get(f"/servers/{DRIFTED}"))["surfaces"][0]
    body = {"fingerprint": shown["fingerprint"], "reason": "release 2.4", "by": "Ada"}
    path = f"/api/v1/servers/{DRIFTED}/accept"
    first, second = [await api.ask("POST", path, json=body) for _ in range(2)]
    conforms(first, "POST", "/servers/{name}/accept")
    assert (first.json()["subjects"], second.json()["subjects"]) == ([shown["subject"]], [])
    after = await api.get(f"/servers/{DRIFTED}")
    assert (after["surfaces"][0]["accepted"], after["incidents"]) == (shown["fingerprint"], [])
    (event,) = (await api.get("/events", kind="accepted"))["events"]
    assert event["details"] == {"by": "Ada", "reason": "release 2.4"}
    wrong = {**body, "fingerprint": "dw1:00000000.00000000"}
    assert (await api.refused("POST", f"/servers/{DRIFTED}/accept", json=wrong))[0] == 422


async def test_an_incident_is_acknowledged_once(api: Api) -> None:
    api.token = ADMIN
    first, second = [await api.ask("POST", "/api/v1/incidents/incident-10/ack", json={}) for _ in range(2)]
    conforms(first, "POST", "/incidents/{id}/ack")
    assert [reply.json()["incidents"][0]["again"] for reply in (first, second)] == [False, True]
    assert (await api.refused("POST", "/incidents/nothing/ack"))[0] == 404


async def test_a_silence_is_seen_at_its_servers_until_it_is_lifted(api: Api) -> None:
    api.token = ADMIN
    body = {"tags": ["eu"], "for": "2h", "reason": "moving house"}
    made = await api.ask("POST", "/api/v1/silences", json=body)
    assert made.status_code == 201
    conforms(made, "POST", "/silences")
    silence = made.json()
    assert silence["in_force"]
    muted = [each["name"] for each in await api.walk("/servers", "servers") if each["silences"]]
    assert muted == ["server-00000", "server-00005", "server-00010"]
    lifted = await api.ask("DELETE", f"/api/v1/silences/{silence['id']}?by=Ada")
    conforms(lifted, "DELETE", "/silences/{id}")
    assert (await api.get("/silences"))["silences"] == []
    assert len((await api.get("/silences", all="true"))["silences"]) == 1
    assert (await api.refused("DELETE", f"/silences/{silence['id']}"))[0] == 404


async def test_a_reload_says_what_it_changed_or_what_is_wrong_with_the_file(api: Api) -> None:
    api.token = ADMIN
    api.reloaded = Reloaded(added=("new",), renamed=(("old", "other"),), restart=("http.listen",))
    reply = await api.ask("POST", "/api/v1/reload")
    conforms(reply, "POST", "/reload")
    assert reply.json()["renamed"] == [{"before": "old", "after": "other"}]
    api.reloaded = Reloaded(problems=("config.toml:3: http.listen: no port",))
    assert await api.refused("POST", "/reload") == (422, "configuration: config.toml:3: http.listen: no port")
    api.token = READ
    assert (await api.refused("POST", "/reload"))[0] == 401


async def test_a_message_is_given_up_or_tried_again(api: Api) -> None:
    api.token = ADMIN
    path = "/messages/message-drift-00010"
    for action, status in (("retry", "pending"), ("drop", "dropped")):
        reply = await api.ask("POST", f"/api/v1{path}/{action}")
        conforms(reply, "POST", f"/messages/{{id}}/{action}")
        assert reply.json()["status"] == status
    assert (await api.refused("POST", f"{path}/retry"))[0] == 422


@pytest.mark.parametrize(
    ("more", "status", "words"),
    [
        ({"json": {}}, 422, "fingerprint: Field required; reason: Field required"),
        ({"json": {"fingerprint": "x", "reason": "y", "forse": 1}}, 422, "forse: unknown"),
        ({"json": {"fingerprint": "x", "reson": "y"}}, 422, 'did you mean "reason"?'),
        ({"json": {"fingerprint": 5, "reason": "y"}}, 422, "fingerprint: "),
        ({"json": [1]}, 422, "body: "),
        ({"content": b"{", "headers": {"content-type": "application/json"}}, 400, "not JSON"),
        ({"content": b"[" * 10_000, "headers": {"content-type": "application/json"}}, 400, "not JSON"),
        ({"data": {"fingerprint": "x", "reason": "y"}}, 415, "application/json"),
        ({"content": b'{"a":1}', "headers": {"content-type": "text/plain"}}, 415, "application/json"),
        ({"content": b'{"a":1}'}, 415, "application/json"),
        ({"content": b"x" * 300_000, "headers": {"content-type": "application/json"}}, 413, "longer than"),
        ({"json": {"fingerprint": "x", "reason": "y" * 1001}}, 422, "reason: "),
        (
            {
                "content": b'{"fingerprint":"\\ud800","reason":"\\u0000"}',
                "headers": {"content-type": "application/json"},
            },
            422,
            "",
        ),
    ],
)
async def test_a_body_that_cannot_be_used_is_told_where_and_why(
    api: Api, more: dict[str, Any], status: int, words: str
) -> None:
    api.token = ADMIN
    found, detail = await api.refused("POST", f"/servers/{DRIFTED}/accept", **more)
    assert (found, words in detail) == (status, True), detail


async def test_a_wrong_method_is_told_the_right_ones(api: Api) -> None:
    for method in ("PUT", "PATCH", "OPTIONS", "TRACE", "DELETE"):
        reply = await api.ask(method, "/api/v1/silences")
        assert reply.status_code == 405
        assert {"GET", "POST"} <= set(reply.headers["allow"].split(", "))


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
