"""The door of the webhook: who gets in, what is written, what is answered."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlencode

import pytest

from driftwatch import config as configuration
from driftwatch.model import DeployState, DeployVerdict, State
from tests.web import sent
from tests.web.hooking import BEARER, KEYS, SECRET, TOKEN, Hooked, configured, hooked


@pytest.fixture
async def door(tmp_path: Path) -> AsyncIterator[Hooked]:
    async with hooked(tmp_path) as made:
        yield made


async def test_an_announcement_is_written_before_it_is_answered(door: Hooked) -> None:
    answer = await door.post({"ref": "v2", "servers": ["web"], "commit": sent.COMMIT, "actor": "octavia"})
    said = answer.json()
    assert answer.status_code == 202
    assert answer.headers["location"] == said["status_url"] == f"/api/v1/deploys/{said['deploy']}"
    assert said["state"] == "under way"
    assert {name: each["state"] for name, each in said["servers"].items()} == {"web": "waiting"}
    release = await door.store.query(lambda reader: reader.release(said["deploy"]))
    assert release is not None
    assert (release.ref, release.commit, release.actor) == ("v2", sent.COMMIT, "octavia")
    (request,) = await door.store.query(lambda reader: reader.waiting_requests())
    assert (request.server, request.release_ref) == ("web", release.id)
    assert (request.due_at - door.clock.wall).total_seconds() == 10
    assert door.woke.is_set()


async def test_without_names_every_server_is_meant_and_a_path_names_one(door: Hooked) -> None:
    every = await door.post({"ref": "v2"})
    one = await door.post({"ref": "v3"}, "/hooks/deploy/api.v1")
    same = await door.post({"ref": "v4", "servers": ["web"]}, "/hooks/deploy/web")
    other = await door.post({"ref": "v5", "servers": ["web"]}, "/hooks/deploy/api.v1")
    assert set(every.json()["servers"]) == {"api.v1", "web"}
    assert set(one.json()["servers"]) == {"api.v1"}
    assert set(same.json()["servers"]) == {"web"}
    assert other.status_code == 422


async def test_an_unknown_server_is_an_error_that_names_the_known_ones_to_whoever_may_call(
    door: Hooked,
) -> None:
    for path, servers in (("/hooks/deploy", ["shop"]), ("/hooks/deploy/shop", None)):
        body = {"ref": "v2"} | ({"servers": servers} if servers else {})
        told = await door.post(body, path)
        refused = await door.post(body, path, Authorization="Bearer wrong")
        assert told.status_code == 422
        assert "no server has that name; configured: api.v1, web" in told.json()["detail"]
        assert refused.status_code == 401
        assert "web" not in refused.text
    assert await door.releases() == []


async def test_without_a_token_or_secret_configured_nobody_gets_in(tmp_path: Path) -> None:
    async with hooked(tmp_path, configured(tmp_path, "")) as door:
        answer = await door.post({"ref": "v2"})
        assert answer.status_code == 403
        assert "[hook]" in answer.json()["detail"]


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {TOKEN}x"},
        {"Authorization": f"Basic {TOKEN}"},
        {"Authorization": "Bearer t\u00f6ken"},
        {"X-Hub-Signature-256": "sha256=" + "0" * 64},
        {"X-Hub-Signature-256": "sha256=\u00e4\u00ff"},
        {"X-Hub-Signature-256": ""},
        {"X-Vercel-Signature": "\u00e4"},
        {"webhook-id": "1", "webhook-timestamp": "9" * 300, "webhook-signature": "v1,\u00e4"},
    ],
)
async def test_who_has_no_key_is_refused_without_a_word_of_why(door: Hooked, headers: dict[str, str]) -> None:
    raw = [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]
    answer = await door.http.post("/hooks/deploy", json={"ref": "v2"}, headers=raw)
    assert answer.status_code == 401
    assert answer.json()["detail"] == "not authorized"
    assert answer.headers["www-authenticate"] == "Bearer"
    assert await door.releases() == []


async def test_every_scheme_opens_the_door(door: Hooked) -> None:
    body = sent.encoded({"ref": "v2"})
    for number, headers in enumerate(
        (
            BEARER,
            {"X-Gitlab-Token": TOKEN},
            sent.github_signature(SECRET, body),
            sent.vercel_signature(SECRET, body),
            sent.standard_signature(SECRET.encode(), body, at=door.clock.wall),
        )
    ):
        answer = await door.http.post(
            "/hooks/deploy", content=body, headers={"Idempotency-Key": str(number), **headers}
        )
        assert answer.status_code == 202


async def test_a_token_that_was_taken_out_of_the_configuration_opens_nothing_any_more(
    door: Hooked, tmp_path: Path
) -> None:
    assert (await door.post({"ref": "v2"})).status_code == 202
    door.parts["config"] = configured(tmp_path, 'tokens = ["another-token-0123456789"]')
    assert (await door.post({"ref": "v3"})).status_code == 401


async def test_native_webhooks_come_through_with_their_own_signature(door: Hooked) -> None:
    for event, body in (
        ("deployment_status", sent.github_deployment_status()),
        ("workflow_run", sent.github_workflow_run()),
    ):
        content = sent.encoded(body)
        signed = sent.github_signature(SECRET, content)
        headers = {"X-GitHub-Event": event, "X-GitHub-Delivery": event, "Content-Type": "application/json"}
        answer = await door.http.post("/hooks/deploy/web", content=content, headers={**headers, **signed})
        assert answer.status_code == 202
        assert answer.json()["ref"] == "main"
        form = form_of(content)
        answer = await door.http.post(
            "/hooks/deploy/web",
            content=form,
            headers={
                **headers,
                **sent.github_signature(SECRET, form),
                "Content-Type": "application/x-www-form-urlencoded",
                "X-GitHub-Delivery": f"{event} as a form",
            },
        )
        assert answer.status_code == 202


def form_of(content: bytes) -> bytes:
    return urlencode({"payload": content.decode()}).encode()


async def test_github_asks_whether_anybody_is_there_and_what_is_ignored_says_so(door: Hooked) -> None:
    for event, body in (("ping", sent.github_ping()), ("deployment", sent.github_deployment())):
        content = sent.encoded(body)
        answer = await door.http.post(
            "/hooks/deploy",
            content=content,
            headers={"X-GitHub-Event": event, **sent.github_signature(SECRET, content)},
        )
        assert answer.status_code == 200
        assert answer.json()["ignored"]
    assert await door.releases() == []


@pytest.mark.parametrize(
    "header", ["X-GitHub-Delivery", "webhook-id", "Idempotency-Key", "X-Gitlab-Event-UUID"]
)
async def test_a_repeated_delivery_gets_the_first_answer_for_72_hours(door: Hooked, header: str) -> None:
    headers = {**BEARER, header: "4f2b"}
    first = await door.http.post("/hooks/deploy", json={"ref": "v2"}, headers=headers)
    await door.end(first.json()["deploy"], "web")
    door.clock.advance(timedelta(seconds=71 * 3600))
    again = await door.http.post("/hooks/deploy", json={"ref": "v2"}, headers=headers)
    assert again.json()["deploy"] == first.json()["deploy"]
    assert again.json()["servers"]["web"]["verdict"] == "ok"
    other = await door.http.post("/hooks/deploy", json={"ref": "v3"}, headers=headers)
    assert other.status_code == 409
    one = await door.http.post("/hooks/deploy/web", json={"ref": "v2"}, headers=headers)
    assert one.json()["deploy"] != first.json()["deploy"]
    door.clock.advance(timedelta(seconds=2 * 3600))
    late = await door.http.post("/hooks/deploy", json={"ref": "v3"}, headers=headers)
    assert late.status_code == 202


async def test_without_an_id_the_same_body_within_a_minute_is_the_same_delivery(door: Hooked) -> None:
    first = await door.post({"ref": "v2"})
    assert (await door.post({"ref": "v2"})).json()["deploy"] == first.json()["deploy"]
    door.clock.advance(timedelta(seconds=61))
    assert (await door.post({"ref": "v2"})).json()["deploy"] != first.json()["deploy"]
    assert await door.releases() == ["v2", "v2"]


async def test_announcements_in_a_moment_are_one_deploy(door: Hooked) -> None:
    first = await door.post({"ref": "v2"})
    door.clock.advance(timedelta(seconds=4))
    second = await door.post({"ref": "v3"})
    assert second.json()["deploy"] == first.json()["deploy"]
    assert await door.releases() == ["v3"]


async def test_who_announces_too_often_is_told_when_to_come_again(tmp_path: Path) -> None:
    config = configured(tmp_path, f'{KEYS}\nrate = "3/min"')
    async with hooked(tmp_path, config) as door:
        answers = [await door.post({"ref": f"v{number}"}) for number in range(4)]
        assert [answer.status_code for answer in answers] == [202, 202, 202, 429]
        assert answers[-1].headers["retry-after"] == "20"
        # Another caller has a rate of its own, and what is ignored costs nothing.
        content = sent.encoded({"ref": "v9"})
        signed = sent.github_signature(SECRET, content)
        assert (await door.post(content=content, **signed)).status_code == 202
        ping = await door.http.post(
            "/hooks/deploy", json=sent.github_ping(), headers={**BEARER, "X-GitHub-Event": "ping"}
        )
        assert ping.status_code == 200
        door.clock.advance(timedelta(seconds=20))
        assert (await door.post({"ref": "v5"})).status_code == 202
        assert (await door.post({"ref": "v6"})).status_code == 429


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b'{"ref": "v2"}', "application/json; charset=utf-8", 202),
        (b'{"ref": "v2"}', "application/cloudevents+json", 202),
        (b'{"ref": "v2"}', "text/plain", 202),
        (b'{"ref": "v2"}', "application/x-www-form-urlencoded", 202),
        (b"payload=%7B%22ref%22%3A%22v2%22%7D", "application/x-www-form-urlencoded", 202),
        (b'\xef\xbb\xbf{"ref": "v2"}', "application/json", 202),
        (b"ref=v2", "application/x-www-form-urlencoded", 400),
        (b"", "application/json", 400),
        (b'{"ref": "v2"', "application/json", 400),
        (b'{"ref": "\xff"}', "application/json", 400),
        (b"[" * 100_000, "application/json", 400),
        (b'{"ref": ' + b"9" * 5000 + b"}", "application/json", 400),
        (b"[]", "application/json", 422),
        (b'{"ref": "v2"}', "multipart/form-data; boundary=x", 415),
        (b"<ref>v2</ref>", "application/xml", 415),
    ],
)
async def test_json_is_taken_however_it_is_labelled_and_nothing_else(
    door: Hooked, content: bytes, kind: str, status: int
) -> None:
    answer = await door.http.post("/hooks/deploy", content=content, headers={**BEARER, "Content-Type": kind})
    assert answer.status_code == status
    assert answer.headers["content-type"].startswith("application/")


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("gate=failed", "a gate needs a wait"),
        ("wait=601", "at most 600"),
        ("wait=-1", "at most 600"),
        ("wait=soon", "a number of seconds"),
        ("wait=60&gate=", "gate is given and empty"),
        ("wait=60&gate=score", "failed, drift, breaking, risk"),
        ("wait=60&gates=failed", 'did you mean "gate"?'),
        ("token=abc", "known: wait, gate"),
    ],
)
async def test_a_query_that_cannot_be_meant_is_refused(door: Hooked, query: str, message: str) -> None:
    answer = await door.post({"ref": "v2"}, f"/hooks/deploy?{query}")
    assert answer.status_code == 400
    assert message in answer.json()["detail"]
    assert await door.releases() == []


COUNTS = {State.VERIFIED: 28, State.OBSERVED_RISK: 2}
DRIFT = {
    "verdict": DeployVerdict.BREAKING,
    "changed": True,
    "breaking": True,
    "summary": "1 tool renamed",
    "counts": COUNTS,
}
FAILED = {"verdict": DeployVerdict.FAILED, "counts": {State.FAILED: 1, State.VERIFIED: 29}}
UNSETTLED = {"state": DeployState.UNSETTLED, "verdict": DeployVerdict.UNSETTLED, "counts": COUNTS}


@pytest.mark.parametrize(
    ("gate", "what", "status", "tripped"),
    [
        ("", {}, 200, []),
        ("", DRIFT, 200, []),
        ("&gate=failed", {}, 200, []),
        ("&gate=failed", FAILED, 409, ["failed"]),
        ("&gate=failed", DRIFT, 200, []),
        ("&gate=drift", DRIFT, 409, ["drift"]),
        ("&gate=failed,breaking", DRIFT, 409, ["breaking"]),
        ("&gate=failed&gate=risk", DRIFT, 409, ["risk"]),
        ("", UNSETTLED, 200, []),
        ("&gate=breaking", UNSETTLED, 409, []),
    ],
)
async def test_whoever_waits_is_answered_by_the_gate_once_the_run_is_over(
    door: Hooked, gate: str, what: dict[str, object], status: int, tripped: list[str]
) -> None:
    first = await door.post({"ref": "v2"}, "/hooks/deploy/web")
    waiting = asyncio.create_task(door.post({"ref": "v2"}, f"/hooks/deploy/web?wait=60{gate}"))
    await door.end(first.json()["deploy"], "web", **what)
    answer = await waiting
    said = answer.json()
    assert (answer.status_code, said["tripped"]) == (status, tripped)
    web = said["servers"]["web"]
    assert set(web["counts"]) == {"verified", "failed", "observed_risk", "not_checked"}
    assert web["toolset"]["summary"] == what.get("summary")
    assert said["verdict"] == web["verdict"] == what.get("verdict", "ok")
    assert "score" not in answer.text
    followed = await door.http.get(f"{said['status_url']}?{gate.removeprefix('&')}", headers=BEARER)
    assert (followed.status_code, followed.json()) == (status, said)


async def test_a_wait_that_runs_out_is_answered_as_still_under_way(door: Hooked) -> None:
    answer = await door.post({"ref": "v2"}, "/hooks/deploy?wait=1&gate=failed")
    assert answer.status_code == 202
    assert answer.json()["verdict"] is None


async def test_a_tripped_gate_is_told_before_the_other_servers_are_done(door: Hooked) -> None:
    deploy = (await door.post({"ref": "v2"})).json()["deploy"]
    await door.end(deploy, "web", **FAILED)
    answer = await door.post({"ref": "v2"}, "/hooks/deploy?wait=60&gate=failed")
    assert (answer.status_code, answer.json()["state"]) == (409, "under way")


async def test_a_caller_that_hangs_up_changes_nothing(door: Hooked) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", int(door.url.rpartition(":")[2]))
    body = json.dumps({"ref": "v2"})
    writer.write(
        f"POST /hooks/deploy?wait=600 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    async with asyncio.timeout(60):
        await door.woke.wait()
    writer.close()
    await writer.wait_closed()
    assert await door.releases() == ["v2"]
    assert len(await door.store.query(lambda reader: reader.waiting_requests())) == 2


async def test_only_so_many_can_wait(door: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("driftwatch.web.hooks.waiting.PLACES", 0)
    refused = await door.post({"ref": "v2"}, "/hooks/deploy?wait=60")
    assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")
    assert await door.releases() == []
    url = (await door.post({"ref": "v2"})).json()["status_url"]
    assert (await door.http.get(f"{url}?wait=60", headers=BEARER)).status_code == 202


async def test_whoever_waits_is_let_go_when_the_service_stops(door: Hooked) -> None:
    waiting = asyncio.create_task(door.post({"ref": "v2"}, "/hooks/deploy?wait=600"))
    async with asyncio.timeout(60):
        await door.woke.wait()
    door.parts["stopping"] = True
    assert (await waiting).status_code == 202


async def test_a_service_that_starts_or_stops_says_when_to_come_again(door: Hooked) -> None:
    door.parts["store"] = None
    starting = await door.post({"ref": "v2"})
    door.parts |= {"store": door.store, "stopping": True}
    stopping = await door.post({"ref": "v2"})
    for answer in (starting, stopping):
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "10")
    assert await door.releases() == []


async def test_a_deploy_is_followed_by_whoever_may_announce_or_read(tmp_path: Path) -> None:
    config = configured(tmp_path)
    path = tmp_path / "config.toml"
    path.write_text(f'{path.read_text()}\n[http]\nread_token = "read-token-0123456789"')
    config = configuration.load(path, {})
    async with hooked(tmp_path, config) as door:
        url = (await door.post({"ref": "v2"})).json()["status_url"]
        reading = {"Authorization": "Bearer read-token-0123456789"}
        assert (await door.http.get(url, headers=BEARER)).status_code == 202
        assert (await door.http.get(url, headers=reading)).status_code == 202
        assert (await door.http.get(url)).status_code == 401
        assert (await door.http.get("/api/v1/deploys/nothing", headers=BEARER)).status_code == 404
        assert (await door.http.post("/hooks/deploy", json={"ref": "v3"}, headers=reading)).status_code == 401
