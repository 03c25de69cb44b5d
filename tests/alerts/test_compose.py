from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from driftwatch.alerts.compose import (
    MAIL_LIMIT,
    TEXT_LIMIT,
    compose,
    label_repeat,
    mark,
    message_id,
    plain,
)
from driftwatch.alerts.fold import fold
from driftwatch.alerts.layout import TITLE_LIMIT
from driftwatch.alerts.route import ChannelRule
from driftwatch.alerts.wording import Voice, describe
from driftwatch.model import Event, EventKind, Json, Level
from driftwatch.store.ports import FrozenMessage

NOON = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
SLACK = ChannelRule(name="ops", scheme="slack")
MAIL = ChannelRule(name="mail", scheme="mailtos")
VOICE = Voice(fixes=lambda _: "Do this. " * 100)

SILENT = {
    *(EventKind.BASELINE, EventKind.BLIP, EventKind.REBASED, EventKind.ACCEPTED, EventKind.ACKED),
    *(EventKind.SILENCED, EventKind.UNSILENCED, EventKind.SERVER_ADDED, EventKind.SERVER_REMOVED),
    *(EventKind.SERVER_RENAMED, EventKind.CONFIG_RELOADED, EventKind.MONITOR_GAP),
}
"""Kinds that belong into the history only."""


@pytest.mark.parametrize("kind", sorted(set(EventKind) - SILENT))
def test_every_kind_that_alerts_has_words_of_its_own(event: Any, kind: EventKind) -> None:
    composed = compose([event(kind)], SLACK, voice=VOICE)
    assert f"{kind.value.replace('_', ' ').capitalize()} (check:" not in composed.body


def test_a_reload_says_what_moved_and_what_needs_a_restart(event: Any) -> None:
    details = {"added": ["a"], "removed": [], "renamed": [["b", "c"]], "restart": ["http.listen"]}
    composed = compose([event(EventKind.CONFIG_RELOADED, server=None, **details)], SLACK, voice=VOICE)
    wanted = "the changed configuration is in force: 1 server added and 1 server renamed; http.listen after"
    assert wanted in composed.body.lower()


def test_a_rejected_configuration_names_some_problems_and_what_to_do(event: Any) -> None:
    problems = [f"config.toml:{line}: a problem\x1b" for line in range(8)]
    composed = compose(
        [event(EventKind.CONFIG_REJECTED, server=None, problems=problems)], SLACK, voice=Voice()
    )
    assert "configuration was rejected" in composed.title
    assert "config.toml:0: a problem" in composed.body
    assert "config.toml:7" not in composed.body
    assert "and 3 more" in composed.body
    assert "\x1b" not in composed.body
    assert "driftwatch config check" in composed.body


def test_commands_in_a_message_name_a_configuration_that_they_would_not_find(event: Any) -> None:
    incident = {"id": "1a2b3c4d", "subject": "check:tls/chain", "value": "failed:expired"}
    reminder = event(EventKind.REMINDER, incidents=[incident], acked=[], stale=[])
    body = compose([reminder], SLACK, voice=Voice(option=" -c demo/config.toml")).body
    assert "`driftwatch ack 1a2b3c4d -c demo/config.toml`" in body
    assert "More: driftwatch history api-prod -c demo/config.toml" in body


@pytest.mark.parametrize("kind", sorted(EventKind))
def test_no_kind_fails_without_details_or_a_server(event: Any, kind: EventKind) -> None:
    bare = event(kind, server=None, subject=None, before=None, after=None)
    assert compose([bare], MAIL, voice=VOICE).title.startswith("[driftwatch] ")


json_values: st.SearchStrategy[Json] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
DETAILS = (
    *("result", "results", "blocked", "diff", "release", "values", "incidents", "surfaces", "vanished"),
    *("not_after", "duration_s", "window_s", "settle", "changes", "muted", "gap_s", "names_lost", "channel"),
    *("previous_not_after", "subject_alt_names", "seen_before", "fingerprint", "attempts", "created_at"),
)
events = st.builds(
    Event,
    id=st.uuids().map(str),
    server=st.none() | st.text(min_size=1, max_size=80),
    kind=st.sampled_from(EventKind),
    level=st.sampled_from(Level),
    alerts=st.just(value=True),
    at=st.integers(0, 10**6).map(lambda seconds: NOON + timedelta(seconds=seconds)),
    run=st.none(),
    subject=st.none()
    | st.text(max_size=90)
    | st.sampled_from(["check:tls/chain", "toolset:modern:x", "eras"]),
    before=st.none() | st.text(max_size=90) | st.sampled_from(["verified", "failed:dns"]),
    after=st.none() | st.text(max_size=90) | st.sampled_from(["verified", "failed:dns"]),
    since=st.just(NOON),
    details=st.dictionaries(st.sampled_from(DETAILS), json_values, max_size=5),
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(events, min_size=1, max_size=8))
def test_a_message_fits_whatever_it_tells_and_nothing_hides_in_it(told: list[Event]) -> None:
    for channel in (SLACK, MAIL):
        composed = compose(told, channel, voice=VOICE)
        frozen = label_repeat(_frozen(composed.title, composed.body, composed.html))
        assert len(frozen.body) <= TEXT_LIMIT
        assert len(composed.title) <= TITLE_LIMIT + 100
        assert "\n" not in composed.title
        for text in (composed.title, composed.body, composed.html or ""):
            text.encode()
            assert "\x1b" not in text
            assert "\u202e" not in text
            assert "@everyone" not in text


def _frozen(title: str, body: str, html: str | None) -> FrozenMessage:
    return FrozenMessage(
        id="1a2b3c4d-0000-5000-8000-000000000000",
        channel="ops",
        title=title,
        body=body,
        html=html,
        level=Level.INFO,
        created_at=NOON,
        events=("e",),
    )


def test_a_message_id_depends_on_the_channel_and_the_events_and_not_on_their_order() -> None:
    assert message_id("ops", ["a", "b"]) == message_id("ops", ["b", "a"])
    assert message_id("ops", ["a", "b"]) != message_id("mail", ["a", "b"])
    assert message_id("ops", ["a"]) != message_id("ops", ["a", "b"])
    assert message_id("ops", ["a", "b"]) == "62629f62-8ec9-5866-881f-be0528cab95d"


def test_a_possible_repeat_says_so_in_text_and_html() -> None:
    labelled = label_repeat(_frozen("t", "body\ndw:1a2b3c4d", "<body><div>x</div></body></html>"))
    assert labelled.body == "body\ndw:1a2b3c4d\n(possible repeat of dw:1a2b3c4d)"
    assert labelled.html
    assert labelled.html.count("possible repeat of dw:1a2b3c4d") == 1
    assert labelled.id == "1a2b3c4d-0000-5000-8000-000000000000"


class Elements(HTMLParser):
    """Counts what a mail program would build, and would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.fetches: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetches += [value or "" for name, value in attrs if name in {"src", "href", "background"}]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_html_shows_the_same_lines_escaped_and_fetches_nothing(event: Any) -> None:
    evil = {"message": "<img src=http://evil.example/x onerror=alert(1)>", "subject": "t", "code": "c"}
    told = event(
        EventKind.CHANGE,
        subject="check:tool/steering-text",
        result={"findings": [{**evil, "expected": "", "measured": ""}]},
    )
    composed = compose([told], MAIL, voice=VOICE)
    assert composed.html
    seen = Elements()
    seen.feed(composed.html)
    assert "img" not in seen.tags
    assert seen.fetches == []
    assert "url(" not in composed.html
    assert '<meta name="color-scheme" content="light dark">' in composed.html
    assert "<img src=http://evil.example/x onerror=alert(1)>" in seen.text


def test_only_channels_that_carry_mail_get_html(event: Any) -> None:
    assert compose([event(EventKind.CHANGE)], SLACK, voice=VOICE).html is None
    assert compose([event(EventKind.CHANGE)], MAIL, voice=VOICE).html


def test_an_email_has_room_for_more_than_a_chat(event: Any) -> None:
    findings: list[Json] = [
        {"subject": f"tool_{number}", "message": f"Problem {number}.", "expected": "", "measured": ""}
        for number in range(120)
    ]
    told = event(
        EventKind.CHANGE, subject="check:tool/name-charset", after="failed:x", result={"findings": findings}
    )
    chat, mail = compose([told], SLACK, voice=VOICE), compose([told], MAIL, voice=VOICE)
    assert "more" in chat.body
    assert "Problem 119." not in chat.body
    assert mail.html
    assert "Problem 119." in mail.html
    assert len(mail.html) < 3 * MAIL_LIMIT


def test_lines_are_never_cut_and_say_how_many_more_there_are(event: Any) -> None:
    findings: list[Json] = [
        {"subject": f"tool_{number}", "message": "x" * 60 + f" {number}.", "expected": "", "measured": ""}
        for number in range(50)
    ]
    told = event(
        EventKind.CHANGE, subject="check:tool/name-charset", after="failed:x", result={"findings": findings}
    )
    body = compose([told], SLACK, voice=VOICE).body
    shown = [line for line in body.splitlines() if line.startswith("- ")]
    assert all(line.endswith(".") for line in shown)
    assert f"+{50 - len(shown)} more" in body.splitlines()


def test_the_worst_keeps_since_when_and_what_to_do_when_details_of_others_have_no_room(event: Any) -> None:
    findings: list[Json] = [
        {"subject": f"tool_{number}", "message": "x" * 90 + f" {number}.", "expected": "", "measured": ""}
        for number in range(80)
    ]
    told = [
        event(
            EventKind.CHANGE,
            Level.WARNING if number else Level.ERROR,
            subject=f"check:tool/number-{number}",
            before="verified",
            after="failed:x",
            since=NOON - timedelta(minutes=number),
            result={"findings": findings},
        )
        for number in range(10)
    ]
    voice = Voice(fixes=lambda _: "Do this and that, then look again. " * 6)
    worst, *others = compose(told, SLACK, voice=voice).body.split("\n\n")
    assert "Since: 2026-11-02 12:00 UTC" in worst
    assert "Fix: Do this" in worst
    assert "- tool_2: " in worst
    assert any(other.endswith("+80 details that did not fit here") for other in others)


def test_the_level_is_that_of_the_worst_event(event: Any) -> None:
    told = [
        event(EventKind.CHANGE, level, server=level) for level in (Level.INFO, Level.ERROR, Level.WARNING)
    ]
    assert compose(told, SLACK, voice=VOICE).level is Level.ERROR


def test_the_worst_comes_first_and_among_equals_what_blocks_others(event: Any) -> None:
    told = [
        event(EventKind.CHANGE, Level.WARNING, subject="check:a/risk", after="observed_risk:x"),
        event(EventKind.CHANGE, Level.ERROR, subject="check:b/failed", after="failed:x"),
        event(EventKind.CHANGE, Level.ERROR, subject="check:c/root", after="failed:x", blocked=["d/e"]),
    ]
    body = compose(told, SLACK, voice=VOICE).body
    assert body.index("c/root") < body.index("b/failed") < body.index("a/risk")


def test_what_brings_others_comes_right_before_them(event: Any) -> None:
    failed = event(EventKind.CHANGE, Level.ERROR, subject="check:a/failed", after="failed:x")
    risk = event(EventKind.CHANGE, Level.WARNING, subject="check:schema/risk", after="observed_risk:x")
    returned = event(EventKind.TOOLSET_RETURNED, Level.INFO, subject="toolset:legacy:anonymous")
    body = compose([risk, returned, failed], SLACK, voice=VOICE).body
    assert body.index("a/failed") < body.index("Toolset") < body.index("schema/risk")
    eras = event(EventKind.ERA_CHANGED, Level.INFO, subject="eras", before="legacy", after="legacy,modern")
    assert "eras changed" in compose([failed, eras], SLACK, voice=VOICE).title.partition(";")[0]
    down = event(
        EventKind.CHANGE, Level.ERROR, subject="check:transport/endpoint", after="failed:dns", blocked=["d/e"]
    )
    assert "down" in compose([eras, down], SLACK, voice=VOICE).title.partition(";")[0]


def test_the_plain_form_needs_nothing_but_the_facts(event: Any) -> None:
    composed = plain([event(EventKind.CHANGE, server=f"s{number}") for number in range(9)], SLACK)
    assert composed.title == "[driftwatch] 9 events that could not be put into words"
    assert composed.body.count("\n- ") == 3
    assert "+5 more" in composed.body


def test_the_mark_is_the_beginning_of_the_id() -> None:
    assert mark("1a2b3c4d-0000-5000-8000-000000000000") == "dw:1a2b3c4d"


# Folding


def test_a_change_and_its_undo_are_one_story(event: Any) -> None:
    first = event(EventKind.CHANGE)
    last = event(
        EventKind.RECOVERY, before="failed:refused", after="verified", at=NOON + timedelta(seconds=9)
    )
    (story,) = fold([first, last])
    assert story.undone
    assert (story.first, story.last) == (first, last)


def test_a_chain_is_told_from_its_first_value_to_its_last(event: Any) -> None:
    first = event(EventKind.CHANGE)
    last = event(
        EventKind.CHANGE, before="failed:refused", after="failed:dns", at=NOON + timedelta(seconds=9)
    )
    (story,) = fold([last, first])
    assert not story.undone
    assert (story.last.before, story.last.after) == ("verified", "failed:dns")
    assert story.last.since == first.since


def test_differences_of_a_toolset_do_not_add_up(event: Any) -> None:
    first = event(EventKind.TOOLSET_CHANGED, subject="toolset:modern:x", before="A", after="B")
    last = replace(first, id="2", before="B", after="C", at=NOON + timedelta(seconds=9))
    assert [story.last for story in fold([first, last])] == [first, last]
    back = replace(last, kind=EventKind.TOOLSET_RETURNED, after="A")
    assert [story.undone for story in fold([first, back])] == [True]


def test_other_subjects_and_servers_are_left_alone(event: Any) -> None:
    told = [
        event(EventKind.CHANGE),
        event(EventKind.RECOVERY, server="docs", before="failed:refused", after="verified"),
        event(EventKind.RECOVERY, subject="check:tls/chain", before="failed:refused", after="verified"),
        event(EventKind.FLAPPING),
        event(EventKind.FLAPPING),
    ]
    assert [story.last for story in fold(told)] == told


@pytest.mark.parametrize(
    "kind", [EventKind.TOOLSET_CHANGED, EventKind.SETTLED, EventKind.FLAPPING, EventKind.UNSETTLED]
)
def test_the_same_of_two_eras_is_told_once_whatever_their_order(kind: EventKind) -> None:
    def changed(era: str) -> Event:
        details = {"era": era, "credential": "anonymous", "diff": None, "accepted": False}
        return Event(
            id=era,
            server="api",
            kind=kind,
            level=Level.WARNING,
            alerts=True,
            at=datetime(2026, 3, 1, tzinfo=UTC),
            run="r1",
            subject=f"toolset:{era}:anonymous",
            before="dw1:a.b",
            after="dw1:c.d",
            details=details,
        )

    channel = ChannelRule(name="ops")
    eras = [changed("legacy"), changed("modern")]
    told = {compose(order, channel).body.partition("dw:")[0] for order in (eras, eras[::-1])}
    (body,) = told
    assert body.count("Toolset (modern and legacy)") == 1
    # Lists that are not the same are two stories.
    apart = compose([eras[0], replace(eras[1], after="dw1:e.f")], channel).body
    assert "Toolset (legacy)" in apart
    assert "Toolset (modern)" in apart


def test_what_was_gone_before_it_counted_says_how_long_and_how_often_it_was_seen(event: Any) -> None:
    blip = event(EventKind.BLIP, Level.INFO, blip=True, sightings=4)
    (story,) = fold([blip])
    said = "transport/endpoint failed (refused) for 1 min, seen 4 times and not confirmed"
    assert describe(story, VOICE).phrase == said
