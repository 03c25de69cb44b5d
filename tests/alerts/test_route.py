from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from driftwatch.alerts.route import ChannelRule, plan, trial
from driftwatch.config import Channel
from driftwatch.model import Event, EventKind, Level
from driftwatch.store.ports import DeliveryPlan

NOW = datetime(2026, 11, 2, 12, 0, tzinfo=UTC)
WAIT = timedelta(seconds=30)


def channels_of(events: list[Event], rules: list[ChannelRule], *tags: str) -> list[str]:
    return [item.channel for item in plan(events, rules, tags, now=NOW, group_wait=WAIT)]


def test_an_event_goes_to_every_channel_after_the_wait(event: Any) -> None:
    made = event(EventKind.CHANGE)
    assert plan([made], [ChannelRule(name="a"), ChannelRule(name="b")], (), now=NOW, group_wait=WAIT) == [
        DeliveryPlan(event=made.id, channel="a", not_before=NOW + WAIT),
        DeliveryPlan(event=made.id, channel="b", not_before=NOW + WAIT),
    ]


def test_what_does_not_alert_goes_nowhere(event: Any) -> None:
    assert channels_of([event(EventKind.BASELINE, alerts=False)], [ChannelRule(name="a")]) == []


@pytest.mark.parametrize(
    ("level", "wanted"),
    [
        (Level.INFO, ["all"]),
        (Level.WARNING, ["all", "warnings"]),
        (Level.ERROR, ["all", "warnings", "errors"]),
    ],
)
def test_a_channel_hears_its_severity_and_worse(event: Any, level: Level, wanted: list[str]) -> None:
    rules = [
        ChannelRule(name="all"),
        ChannelRule(name="warnings", min_level=Level.WARNING),
        ChannelRule(name="errors", min_level=Level.ERROR),
    ]
    assert channels_of([event(EventKind.CHANGE, level)], rules) == wanted


@pytest.mark.parametrize(
    ("tags", "wanted"), [((), ["all"]), (("prod",), ["all", "prod"]), (("dev", "eu"), ["all", "eu-or-us"])]
)
def test_a_channel_with_tags_hears_of_servers_with_any_of_them(
    event: Any, tags: tuple[str, ...], wanted: list[str]
) -> None:
    rules = [
        ChannelRule(name="all"),
        ChannelRule(name="prod", tags=("prod",)),
        ChannelRule(name="eu-or-us", tags=("eu", "us")),
    ]
    assert channels_of([event(EventKind.CHANGE)], rules, *tags) == wanted


def test_what_driftwatch_says_about_itself_is_for_everyone(event: Any) -> None:
    rules = [ChannelRule(name="prod", tags=("prod",))]
    assert channels_of([event(EventKind.MONITOR_OFFLINE, server=None)], rules) == ["prod"]


def test_a_dead_delivery_is_told_through_the_other_channels(event: Any) -> None:
    rules = [ChannelRule(name="mail"), ChannelRule(name="ops", tags=("prod",)), ChannelRule(name="sms")]
    dead = event(EventKind.DELIVERY_DEAD, server=None, channel="mail")
    assert channels_of([dead], rules) == ["ops", "sms"]


def test_a_test_goes_at_once_to_the_channel_it_is_for_whatever_the_filters_say() -> None:
    rules = [ChannelRule(name="ops", tags=("prod",), min_level=Level.ERROR), ChannelRule(name="mail")]
    asked = trial("ops", now=NOW)
    assert plan([asked], rules, (), now=NOW, group_wait=WAIT) == [
        DeliveryPlan(event=asked.id, channel="ops", not_before=NOW)
    ]


def test_a_rule_is_read_from_the_configuration_without_the_url(channel: Callable[..., Channel]) -> None:
    configured = channel("mail", url="mailtos://u:p@h?to=a@b.example", tags=["prod"], min_severity="warning")
    rule = ChannelRule.of(configured)
    assert rule == ChannelRule(name="mail", tags=("prod",), min_level=Level.WARNING, scheme="mailtos")
    assert rule.carries_mail
    assert not ChannelRule(name="ops", scheme="slack").carries_mail
