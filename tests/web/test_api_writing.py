"""What the API changes, for whom, and once."""

from pathlib import Path
from typing import Any

import pytest

from driftwatch.model import Trigger
from driftwatch.web.context import Reloaded
from tests.web.asking import ADMIN, DRIFTED, READ, Api, conforms, http


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
