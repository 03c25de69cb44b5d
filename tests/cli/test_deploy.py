"""``driftwatch deploy``: the client of the webhook, and the gate of a pipeline."""

import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from driftwatch.cli import announcing
from driftwatch.cli.announcing import Client
from driftwatch.errors import ServiceError, UsageError
from tests.cli.conftest import Command

TOKEN = "hook-token-0123456789"
COUNTS = {"verified": 28, "failed": 0, "observed_risk": 2, "not_checked": 0}
CHANGED = {"changed": True, "breaking": True, "summary": "1 tool renamed"}
SAME = {"changed": False, "breaking": False, "summary": None}


def under_way(**more: Any) -> dict[str, Any]:
    server = {"state": "waiting", "verdict": None, "counts": None, "toolset": SAME}
    return {
        "deploy": "d-1",
        "status_url": "/api/v1/deploys/d-1",
        "ref": "v2",
        "verdict": None,
        "gates": [],
        "tripped": [],
        "servers": {"bookshop": server},
    } | more


def over(verdict: str, toolset: dict[str, Any] = SAME, **more: Any) -> dict[str, Any]:
    server = {"state": "settled", "verdict": verdict, "counts": COUNTS, "toolset": toolset}
    return under_way(verdict=verdict, servers={"bookshop": server}, **more)


@dataclass
class Answering:
    """A service that says what a test put into its mouth, and keeps what it was asked."""

    url: str = ""
    answers: list[tuple[int, Any]] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)


@pytest.fixture
def service() -> Iterator[Answering]:
    kept = Answering()

    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            kept.asked.append((f"{self.command} {self.path}", headers, json.loads(body) if body else None))
            status, said = kept.answers.pop(0) if kept.answers else (500, "no answer left")
            self.send_response(status)
            content = said.encode() if isinstance(said, str) else json.dumps(said).encode()
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = answer  # noqa: N815 - the names that http.server calls

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    kept.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield kept
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(announcing, "FIRST_PAUSE_S", 0.0)
    monkeypatch.setattr(announcing, "LONGEST_PAUSE_S", 0.0)


def deploy(driftwatch: Command, service: Answering, *words: str, **environment: str) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DRIFTWATCH_HOOK_TOKEN", environment.get("token", TOKEN))
        patch.setenv("DRIFTWATCH_URL", service.url)
        return driftwatch("deploy", *words)


def test_it_announces_with_an_address_and_a_token_and_no_configuration(
    driftwatch: Command, service: Answering
) -> None:
    service.answers = [(202, under_way())]
    ended = deploy(
        driftwatch, service, "bookshop", "--ref", "v2", "--commit", "abc", "--actor", "o", "--expect-change"
    )
    assert (ended.code, ended.err) == (0, "")
    assert (
        ended.out
        == f"deploy v2: announced\n  bookshop: waiting\nfollow it: {service.url}/api/v1/deploys/d-1\n"
    )
    ((asked, headers, body),) = service.asked
    assert asked == "POST /hooks/deploy"
    assert headers["authorization"] == f"Bearer {TOKEN}"
    assert body == {
        "ref": "v2",
        "servers": ["bookshop"],
        "commit": "abc",
        "actor": "o",
        "expect_change": True,
    }


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        ((200, over("ok", gates=["failed", "drift"])), 0, "gate (failed, drift): passed"),
        ((200, over("risk", gates=["failed", "drift"])), 0, "28 verified, 0 failed, 2 observed risk"),
        (
            (409, over("breaking", CHANGED, gates=["failed", "drift"], tripped=["drift"])),
            1,
            "1 tool renamed (breaking)\ngate (failed, drift): not passed, because of drift",
        ),
        ((409, over("unsettled", gates=["failed"])), 3, "gate (failed): not judged"),
        ((409, over("inconclusive", gates=["failed"])), 3, "bookshop: inconclusive"),
    ],
)
def test_it_ends_as_the_verdict_says(
    driftwatch: Command, service: Answering, answer: tuple[int, Any], code: int, told: str
) -> None:
    service.answers = [answer]
    ended = deploy(driftwatch, service, "--ref", "v2", "--wait", "30")
    assert ended.code == code
    assert told in ended.out
    assert "wait=30&gate=failed%2Cdrift" in service.asked[0][0]


def test_it_goes_on_asking_until_the_run_is_over(driftwatch: Command, service: Answering) -> None:
    service.answers = [(202, under_way()), (202, under_way()), (200, over("ok"))]
    ended = deploy(driftwatch, service, "--ref", "v2", "--wait", "600", "--gate", "breaking", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["schema"] == "driftwatch/deploy/1"
    first, *others = [asked for asked, _, _ in service.asked]
    assert first == "POST /hooks/deploy?wait=50&gate=breaking"
    assert others == ["GET /api/v1/deploys/d-1?wait=50&gate=breaking"] * 2


def test_a_change_that_is_expected_trips_no_gate(driftwatch: Command, service: Answering) -> None:
    service.answers = [(200, over("drift", CHANGED))]
    ended = deploy(driftwatch, service, "--ref", "v2", "--wait", "5", "--expect-change")
    assert ended.code == 0
    assert service.asked[0][0].endswith("gate=failed")


def test_a_wait_that_runs_out_is_no_success(service: Answering) -> None:
    now = [0.0]
    service.answers = [(202, under_way())] * 2
    client = Client(service.url, TOKEN, clock=lambda: now[0], pause=lambda _: None)
    answered = service.answers

    class Slow(list[Any]):
        def pop(self, *args: Any) -> Any:
            now[0] += 40
            return answered.pop(0)

    service.answers = Slow(answered)
    status, said = client.announce({"ref": "v2"}, wait_s=60, gates=["failed"])
    assert (status, said["verdict"]) == (202, None)
    assert [asked.partition("wait=")[2] for asked, _, _ in service.asked] == [
        "50&gate=failed",
        "20&gate=failed",
    ]


@pytest.mark.usefixtures("impatient")
def test_what_breaks_off_is_announced_again_under_the_same_id(
    driftwatch: Command, service: Answering
) -> None:
    problem = {"title": "Service Unavailable", "detail": "driftwatch is starting or stopping"}
    service.answers = [(503, problem), (502, "bad gateway"), (202, under_way())]
    assert deploy(driftwatch, service, "--ref", "v2").code == 0
    assert len({headers["idempotency-key"] for _, headers, _ in service.asked}) == 1


def test_a_service_out_of_reach_is_given_up_after_some_patience() -> None:
    paused: list[float] = []
    client = Client("http://127.0.0.1:9", TOKEN, clock=lambda: sum(paused), pause=paused.append)
    with pytest.raises(ServiceError, match="cannot be reached"):
        client.announce({"ref": "v2"}, wait_s=0, gates=[])
    assert paused[:5] == [1, 2, 4, 8, 10]
    assert sum(paused) < announcing.PATIENCE_S


@pytest.mark.parametrize(
    ("answer", "code", "told"),
    [
        ((401, {"detail": "not authorized"}), 2, "refuses it: not authorized"),
        ((422, {"detail": '"ref" is empty'}), 2, '"ref" is empty'),
        ((404, "<html>nothing here</html>"), 2, "Not Found"),
        ((409, {"detail": "this delivery id was used for another body"}), 2, "another body"),
        ((302, ""), 3, "not like driftwatch"),
        ((200, "<html>log in</html>"), 3, "not like driftwatch"),
        ((200, []), 3, "not like driftwatch"),
    ],
)
def test_what_the_service_refuses_is_told(
    driftwatch: Command, service: Answering, answer: tuple[int, Any], code: int, told: str
) -> None:
    service.answers = [answer]
    ended = deploy(driftwatch, service, "--ref", "v2")
    assert (ended.code, ended.out) == (code, "")
    assert told in ended.err
    assert TOKEN not in ended.err


def test_the_token_comes_from_a_file_or_the_configuration(
    driftwatch: Command, service: Answering, tmp_path: Path
) -> None:
    (tmp_path / "token").write_text("token-in-a-file-0123\n")
    (tmp_path / "config.toml").write_text(f'[hook]\ntokens = ["{TOKEN}"]\n')
    service.answers = [(202, under_way())] * 2
    assert deploy(driftwatch, service, "--ref", "v2", "--token-file", "token").code == 0
    assert deploy(driftwatch, service, "--ref", "v2", token="").code == 0
    sent = [headers["authorization"] for _, headers, _ in service.asked]
    assert sent == ["Bearer token-in-a-file-0123", f"Bearer {TOKEN}"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--ref", "v2"], "no token: set DRIFTWATCH_HOOK_TOKEN or give --token-file"),
        (
            ["--ref", "v2", "--token-file", "nowhere"],
            "--token-file nowhere: No such file or folder",
        ),
        (["--ref", "v2", "--wait", "5", "--gate", "score"], "--gate is one or more of failed, drift"),
        ([], "Missing option"),
    ],
)
def test_what_is_missing_is_told(
    driftwatch: Command, service: Answering, tmp_path: Path, words: list[str], told: str
) -> None:
    (tmp_path / "config.toml").write_text("")
    ended = deploy(driftwatch, service, *words, token="")
    assert ended.code == 2
    assert told in ended.err
    assert service.asked == []


@pytest.mark.parametrize(
    ("words", "token", "told"),
    [
        (
            [],
            "",
            [
                "no address of the driftwatch service: set DRIFTWATCH_URL",
                "no token: set DRIFTWATCH_HOOK_TOKEN",
            ],
        ),
        ([], TOKEN, ["no address of the driftwatch service"]),
        (["--url", "https://driftwatch.example"], "", ["no token"]),
    ],
)
def test_a_pipeline_without_a_configuration_is_told_everything_that_it_has_to_give(
    driftwatch: Command, monkeypatch: pytest.MonkeyPatch, words: list[str], token: str, told: list[str]
) -> None:
    monkeypatch.setattr("driftwatch.config.files.PLACES", ("config.toml",))
    monkeypatch.setenv("DRIFTWATCH_HOOK_TOKEN", token)
    monkeypatch.delenv("DRIFTWATCH_URL", raising=False)
    ended = driftwatch("deploy", "api", "--ref", "v2", *words)
    assert ended.code == 2
    assert [each.partition(":")[0] for each in ended.err.removeprefix("driftwatch: ").split("; ")] == [
        each.partition(":")[0] for each in told
    ]
    assert all(each in ended.err for each in told)
    assert "configuration" not in ended.err


@pytest.mark.parametrize("url", ["example.com", "ftp://example.com", "http://[::1"])
def test_an_address_that_is_none_is_told_at_once(url: str) -> None:
    with pytest.raises(UsageError, match="is no address"):
        Client(url, TOKEN).announce({"ref": "v2"}, wait_s=0, gates=[])


def test_without_an_address_the_service_of_the_configuration_is_asked(
    driftwatch: Command, service: Answering, tmp_path: Path
) -> None:
    port = service.url.rpartition(":")[2]
    listen = f'[http]\nlisten = "0.0.0.0:{port}"\n[hook]\ntokens = ["{TOKEN}"]\n'
    (tmp_path / "config.toml").write_text(listen)
    service.answers = [(202, under_way())]
    assert driftwatch("deploy", "--ref", "v2").code == 0
