"""Commands about what people know of already, on a database that a test has filled."""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from driftwatch.store.ports import DeliveryPlan
from driftwatch.store.sqlite import SqliteStore
from driftwatch.transitions import Changes
from tests.cli.conftest import Command
from tests.store.world import event, failed, incident, message, run, server, state

NOW = datetime.now(UTC)
CHECK = "check:transport/endpoint"
TOOLSET = "toolset:modern:token"
LEGACY = "revision:legacy"
PAIR = f"dw1:{'1a2b3c4d' * 8}.{'5e6f7a8b' * 8}"
ID = "1a2b3c4d-0000-4000-8000-000000000000"


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[SqliteStore]:
    """Two servers; of one the address is refused since two hours, and its toolset is not accepted."""
    path = tmp_path / "config.toml"
    path.write_text('[[server]]\nname = "api"\nurl = "https://api.example/mcp"\n', encoding="utf-8")
    store = SqliteStore(tmp_path / "driftwatch.db")
    store.migrate()
    opened = (
        incident(ID, CHECK, NOW - timedelta(hours=2), value="failed:refused"),
        incident("5e6f7a8b-0", TOOLSET, NOW - timedelta(hours=1), value=PAIR),
    )
    changed = event(
        "event-1", at=NOW, subject=CHECK, before="verified", after="failed:refused", details={"result": {}}
    )
    plan = DeliveryPlan(event="event-1", channel="ops", not_before=NOW)
    states = (
        state(CHECK, "failed:refused"),
        state(TOOLSET, PAIR, accepted="dw1:old.old"),
        state("eras", "modern+legacy"),
        state("revision:modern", "2025-06-18+2026-07-28"),
        state(LEGACY, "2025-06-18", accepted="2025-11-25"),
    )
    with store.write() as tx:
        tx.import_servers([server("api", NOW), server("lab", NOW, tags=("lab",))], NOW)
        tx.lock_server("api")
        tx.record_run(run("api", id_="run-1", taken_at=NOW))
        tx.apply("api", Changes(states=states, incidents=opened, events=(changed,)), [plan])
    yield store
    store.close()


@pytest.fixture
def read(driftwatch: Command) -> Callable[..., Any]:
    """What a command prints as JSON."""

    def run_(*words: str) -> Any:
        ended = driftwatch(*words, "--json")
        assert ended.code == 0, ended.err
        return json.loads(ended.out)

    return run_


def test_status_shows_open_incidents_with_the_id_that_ack_takes(
    filled: SqliteStore, driftwatch: Command, read: Callable[..., Any]
) -> None:
    out = driftwatch("status").out
    assert "open incidents" in out
    (line,) = [line for line in out.splitlines() if line.startswith("1a2b3c4d")]
    assert line.split()[:2] == ["1a2b3c4d", "api"]
    assert "transport/endpoint failed (refused)" in line
    assert "for 2 h" in line

    assert driftwatch("ack", "1a2b3c4d").out == "api: transport/endpoint failed (refused) acknowledged\n"
    assert "acknowledged by" in driftwatch("status").out
    assert driftwatch("ack", "1a2b3c4d").out.endswith("acknowledged already\n")
    api = next(each for each in read("status")["servers"] if each["name"] == "api")
    assert {each["id"]: each["acked_at"] is not None for each in api["incidents"]}[ID]
    (event_,) = read("events", "--kind", "acked")["events"]
    assert event_["subject"] == CHECK


def test_a_servers_name_acknowledges_all_of_it(filled: SqliteStore, read: Callable[..., Any]) -> None:
    assert {each["subject"] for each in read("ack", "api")["incidents"]} == {CHECK, TOOLSET}


def test_a_silence_is_made_listed_and_lifted(
    filled: SqliteStore, driftwatch: Command, read: Callable[..., Any]
) -> None:
    made = read("silence", "api", "--for", "2h", "--reason", "moving", "--check", "tls/expiry")
    assert (made["servers"], made["checks"], made["in_force"]) == (["api"], ["tls/expiry"], True)
    short = made["id"][:8]
    assert short in driftwatch("silences").out
    assert "silences in force" in driftwatch("status").out
    assert [each["id"] for each in read("silences")["silences"]] == [made["id"]]
    assert driftwatch("unsilence", short).out == f"lifted {short}; what is still open is told now\n"
    assert driftwatch("silences").out == "No silence is in force.\n"
    (over,) = read("silences", "--all")["silences"]
    assert over["lifted_at"] is not None
    history = driftwatch("history", "api").out
    assert "tls/expiry of api silenced until" in history
    assert "the silence of tls/expiry of api lifted by" in history


def test_a_tag_is_silenced_too(filled: SqliteStore, driftwatch: Command) -> None:
    ended = driftwatch("silence", "--tag", "lab", "--for", "30d", "--reason", "holidays")
    assert ended.out.startswith("silenced until ")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["ack", "nobody"], "neither a server nor an open incident"),
        (["ack", "lab"], "lab: no incident is open"),
        (["silence", "api", "--for", "2 hours", "--reason", "r"], "--for: "),
        (["silence", "api", "--for", "31d", "--reason", "r"], "at most 30 days"),
        (["silence", "--for", "2h", "--reason", "r"], "needs a server or a tag"),
        (["silence", "typo", "--for", "2h", "--reason", "r"], "no server is named 'typo'"),
        (["unsilence", "abcd"], "not one of the silences in force"),
        (["outbox", "retry", "abcd"], "'abcd' is not a message"),
        (["outbox", "drop", "abcd"], "'abcd' is not a message"),
        (["events", "--since", "yesterday"], "is neither a duration nor a day: write it like 2h"),
        (["events", "--kind", "typo"], "no event has the kind 'typo'"),
        (["events", "--server", "typo"], "no server is named 'typo'"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    filled: SqliteStore, driftwatch: Command, words: list[str], sentence: str
) -> None:
    ended = driftwatch(*words)
    assert ended.code == 2
    assert sentence in ended.err
    assert ended.err.count("\n") == 1


def test_events_are_told_in_the_words_of_the_messages(
    filled: SqliteStore, driftwatch: Command, read: Callable[..., Any]
) -> None:
    out = driftwatch("events").out
    assert "error" in out
    assert "api" in out
    assert "down - connection refused" in out
    assert "check:" not in out
    assert read("events", "--since", "1h", "--server", "api")["events"]
    assert read("events", "--since", (NOW + timedelta(days=1)).isoformat())["events"] == []
    assert read("events", "--server", "lab")["events"] == []


def test_a_message_that_is_stuck_is_seen_dropped_and_sent_again(
    filled: SqliteStore, driftwatch: Command, read: Callable[..., Any]
) -> None:
    with filled.write() as tx:
        tx.freeze(message("9f8e7d6c-0", "ops", "event-1", created_at=NOW))
        claim = tx.claim("me", timedelta(minutes=2), ["ops"])
        assert claim is not None
        tx.settle(claim, failed(NOW, timedelta(hours=1), error="connection refused"))
    line = driftwatch("outbox", "list").out
    assert line.startswith("9f8e7d6c  ")
    assert "retry in" in line
    assert "connection refused" in line
    assert driftwatch("outbox", "list", "--status", "sent").out == "No message is sent.\n"
    for words in (("outbox", "list"), ("status",)):
        (stuck,) = [each for each in driftwatch(*words).out.splitlines() if each.startswith("ops  since")]
        assert "1 tried  next in" in stuck
        assert "nothing behind it  connection refused" in stuck
    (waiting,) = read("outbox", "list")["backlog"]
    assert (waiting["channel"], waiting["events"]) == ("ops", 0)
    assert driftwatch("outbox", "retry", "dw:9f8e7d6c").out.startswith("ops: message 9f8e7d6c is sent")
    assert read("outbox", "drop", "9f8e7d6c")["status"] == "dropped"
    assert [each["status"] for each in read("outbox", "list")["messages"]] == ["dropped"]


def test_what_accept_prints_can_be_copied_and_json_has_it_whole(
    filled: SqliteStore, driftwatch: Command, read: Callable[..., Any]
) -> None:
    words = ["accept", "api", "--fingerprint", "dw1:1a2b3c4d.5e6f7a8b", "--reason", "v2"]
    assert driftwatch(*words).out == "api: accepted dw1:1a2b3c4d.5e6f7a8b for Toolset (modern)\n"
    again = read(*words)
    assert (again["fingerprint"], list(again["subjects"])) == (PAIR, [])


def test_a_probe_that_waits_because_the_server_asked_to_says_so(
    filled: SqliteStore, driftwatch: Command
) -> None:
    def shown() -> str:
        return " ".join(driftwatch("status", "api").out.split())

    asked = "it asked to wait (Retry-After)"
    assert asked not in shown()
    with filled.write() as tx:
        tx.postpone("api", datetime.now(UTC) + timedelta(days=1))
    assert f", next in 23 h: {asked}" in shown()
    with filled.write() as tx:
        tx.postpone("api", datetime.now(UTC) - timedelta(hours=1))
    assert asked not in shown()


def test_one_server_is_shown_with_every_check_by_family(
    filled: SqliteStore, driftwatch: Command, read: Callable[..., Any]
) -> None:
    shown = driftwatch("status", "api")
    assert shown.code == 0, shown.err
    lines = shown.out.splitlines()
    assert lines[0] == "api  https://api.example/mcp  (prod)"
    assert lines[1] == "1 failed"
    assert any(line.startswith("  last probe ") and "next" in line for line in lines)
    assert "  certificate    none was seen" in lines
    assert "not the accepted dw1:old.old: driftwatch diff api" in " ".join(shown.out.split())
    assert "  last deploy    none was announced" in lines
    assert any(line.split()[:2] == ["1a2b3c4d", "api"] for line in lines)
    (refused,) = [place for place, line in enumerate(lines) if "transport/endpoint (refused) since" in line]
    assert lines[refused - 1] == "transport"
    assert lines[refused].startswith("  failed         ")
    whole = read("status", "api")
    assert whole["schema"] == "driftwatch/server/1"
    assert [(each["id"], each["state"], each["code"]) for each in whole["checks"]] == [
        ("transport/endpoint", "failed", "refused")
    ]
    assert (whole["last_deploy"], whole["windows"]) == (None, [])


def test_status_says_that_a_maintenance_window_is_on_and_until_when(
    filled: SqliteStore, driftwatch: Command, read: Callable[..., Any], tmp_path: Path
) -> None:
    with (tmp_path / "config.toml").open("a", encoding="utf-8") as file:
        file.write('[[alerts.window]]\ntags = ["prod"]\ncron = "* * * * *"\nduration = "2h"\n')
    for words in (("status",), ("status", "api")):
        assert "window * * * * * for 2h UTC (prod)  until 2" in driftwatch(*words).out
    assert "window" not in driftwatch("status", "lab").out
    (window,) = read("status")["windows"]
    assert (window["servers"], window["tags"]) == ([], ["prod"])


def test_windows_that_cannot_be_read_are_told_and_status_is_shown_all_the_same(
    filled: SqliteStore, driftwatch: Command, tmp_path: Path
) -> None:
    with (tmp_path / "config.toml").open("a", encoding="utf-8") as file:
        file.write('[[alerts.window]]\ncron = "often"\n')
    ended = driftwatch("status")
    assert (ended.code, ended.out.split()[0]) == (0, "server")
    assert "config.toml:5: alerts.window #1.cron: " in ended.err
    assert "maintenance windows are not shown" in ended.err


@pytest.mark.parametrize("words", [["status"], ["history"], ["diff"], ["ack"], ["events", "--server"]])
def test_a_name_that_is_nearly_right_is_answered_with_the_right_one(
    filled: SqliteStore, driftwatch: Command, words: list[str]
) -> None:
    ended = driftwatch(*words, "apis")
    assert ended.code == 2
    assert "did you mean 'api'?" in ended.err


def test_a_server_that_is_no_longer_configured_has_a_history_and_no_status(
    filled: SqliteStore, driftwatch: Command
) -> None:
    with filled.write() as tx:
        tx.import_servers([server("api", NOW)], NOW)
    ended = driftwatch("status", "lab")
    assert ended.code == 2
    assert "lab is no longer configured; driftwatch history lab has what happened" in ended.err


def test_a_revision_is_shown_and_accepted_by_its_name(filled: SqliteStore, driftwatch: Command) -> None:
    shown = " ".join(driftwatch("status", "api").out.split())
    assert "modern: 2025-06-18 and 2026-07-28 offered since" in shown
    assert "not the accepted 2025-11-25: driftwatch accept api --revision 2025-06-18" in shown
    refused = driftwatch("accept", "api", "--revision", "2025-11-25", "--reason", "why")
    assert refused.code == 2
    assert "current revisions: 2025-06-18" in refused.err
    accepted = driftwatch("accept", "api", "--revision", "2025-06-18", "--reason", "meant")
    assert accepted.out == "api: accepted 2025-06-18 for Protocol revision (legacy)\n"
    assert "not the accepted 2025-11-25" not in driftwatch("status", "api").out
    with filled.read() as reader:
        memory = reader.memory("api")
    assert memory
    assert memory.states[LEGACY].accepted == "2025-06-18"
    assert "accepted already" in driftwatch("accept", "api", "--revision", "2025-06-18", "--reason", "x").out
