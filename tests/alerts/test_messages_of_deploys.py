"""Whole messages about releases, as they arrive: a changed line here is one on somebody's phone."""
# ruff: noqa: E501 - a line of a message is as long as it arrives

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from driftwatch.alerts.compose import compose
from driftwatch.alerts.route import ChannelRule
from driftwatch.alerts.wording import Voice
from driftwatch.model import Event, EventKind, Json, Level
from driftwatch.toolset.change import Change, Diff

NOON = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
OLD = f"dw1:{'a1' * 32}.{'b2' * 32}"
NEW = f"dw1:{'c3' * 32}.{'d4' * 32}"
RELEASE = {
    "id": "r-7",
    "ref": "v42",
    "commit": "1a2b3c4d5e6f7a8b",
    "previous_ref": "v41",
    "actor": "ci",
    "link": "https://git.example/r/v42",
}
FIXES = {
    "transport/endpoint": "Start the server and let its address answer POST.",
    "release/replicas": "Let every instance behind the address run the same release.",
}


def message(*events: Event, scheme: str = "slack") -> str:
    composed = compose(events, ChannelRule(name="ops", scheme=scheme), voice=Voice(fixes=FIXES.get))
    return f"{composed.title}\n\n{composed.html if scheme == 'mailto' else composed.body}\n"


def over(event: Any, level: Level = Level.INFO, **details: Json) -> Event:
    told = {"release": RELEASE, "state": "settled", "verdict": "ok", "reads": 3, "blip": None, **details}
    made: Event = event(EventKind.DEPLOYED, level, since=NOON - timedelta(seconds=30), **told)
    return made


def test_a_release_that_changed_nothing(event: Any) -> None:
    assert (
        message(over(event))
        == """\
[driftwatch] api-prod: unchanged by release v42

The toolset and every check are as before: 3 reads agree.
Release: v42 (1a2b3c4d5e6f), before it v41, by ci, https://git.example/r/v42

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_release_that_showed_another_list_for_a_moment(event: Any) -> None:
    change = Change(kind="tool-removed", tool="search", klass="breaking", message='"search" was removed.')
    blip = {
        "subject": "toolset:modern:anonymous",
        "fingerprint": NEW,
        "times": 2,
        "diff": Diff(changes=(change,)).to_json(),
    }
    assert (
        message(over(event, blip=blip, reads=8))
        == """\
[driftwatch] api-prod: toolset changed for a moment by release v42

Toolset (modern): another list, dw1:c3c3c3c3.d4d4d4d4, was read 2 times and is gone again.
A client that listed the tools in between may still hold the other list.
- "search" was removed.
Since: 2026-11-02 11:59 UTC
Release: v42 (1a2b3c4d5e6f), before it v41, by ci, https://git.example/r/v42

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_release_after_which_the_server_could_hardly_be_read(event: Any) -> None:
    lost = over(
        event, Level.WARNING, state="inconclusive", verdict="inconclusive", reads=14, root="failed:http-5xx"
    )
    assert (
        message(lost)
        == """\
[driftwatch] api-prod: still down - it answers with a server error, after release v42

What this release did is not known: 14 reads, and too few of them saw the tools.
The last one: transport/endpoint failed (http-5xx).
Since: 2026-11-02 11:59 UTC
After release: v42 (1a2b3c4d5e6f), before it v41, by ci, https://git.example/r/v42
Affected: every client
Fix: Start the server and let its address answer POST.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_release_after_which_answers_still_differ_is_not_called_unchanged(event: Any) -> None:
    said = message(over(event, Level.WARNING, state="unsettled", verdict="unsettled", reads=14))
    title, _, line, *_ = said.splitlines()
    assert title == "[driftwatch] api-prod: not settled - answers differ, after release v42"
    assert line == "Which of them the release left is not known: 14 reads, and they do not agree."


def test_replicas_that_disagree_after_a_release(event: Any) -> None:
    unsettled = event(
        EventKind.UNSETTLED,
        Level.WARNING,
        subject="toolset:modern:anonymous",
        before=OLD,
        after=NEW,
        values={OLD: 7, NEW: 8},
        departures=8,
        settle=12,
        release={**RELEASE, "relation": "after"},
    )
    assert (
        message(unsettled)
        == """\
[driftwatch] api-prod: replicas disagree - 2 toolsets in turn, after release v42

Toolset (modern): 2 toolsets in turn, none of them lasts
Most often a rollout that stopped half-way, or one instance that was left behind. The next message about it comes when 12 probes in a row agree.
- dw1:a1a1a1a1.b2b2b2b2 (7 times)
- dw1:c3c3c3c3.d4d4d4d4 (8 times)
Since: 2026-11-02 11:59 UTC
After release: v42 (1a2b3c4d5e6f), before it v41, by ci, https://git.example/r/v42
Affected: clients get one or the other by chance
Fix: Let every instance behind the address run the same release.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_release_of_which_everything_was_told_is_history(event: Any) -> None:
    text = message(over(event, told=2, verdict="breaking"))
    assert text.startswith("[driftwatch] api-prod: settled - breaking, after release v42\n")
    assert "as before" not in text


def test_one_release_that_changes_two_servers_alike(event: Any) -> None:
    first = over(event)
    second = replace(first, id="another", server="api-stage")
    text = message(first, second)
    assert text.startswith("[driftwatch] 2 servers: unchanged by release v42\n")
    assert text.count("Release: v42") == 1


def test_foreign_words_of_a_release_are_neutralised(event: Any) -> None:
    hostile = {
        "ref": "v1\u202e @all\n<b>",
        "actor": "*x*",
        "link": "https://a.example/)\u200b",
        "relation": "by",
    }
    for scheme in ("slack", "mailto"):
        text = message(over(event, release=hostile), scheme=scheme)
        for hurts in ("\u202e", "@all", "\u200b"):
            assert hurts not in text
    assert "&lt;b&gt;" in message(over(event, release=hostile), scheme="mailto")


def test_a_mail_shows_the_same(event: Any) -> None:
    page = message(over(event), scheme="mailto")
    assert "unchanged by release v42" in page
    assert "before it v41, by ci" in page
