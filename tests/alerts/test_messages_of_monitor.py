"""Whole messages about driftwatch itself, as they arrive: a changed line here is one on somebody's phone."""
# ruff: noqa: E501 - a line of a message is as long as it arrives

from datetime import timedelta
from typing import Any

from driftwatch.model import EventKind, Level
from tests.alerts.told import NOON, Message, finding, result


def test_the_monitor_being_online_again(event: Any, message: Message) -> None:
    over = event(
        EventKind.MONITOR_OFFLINE,
        Level.INFO,
        server=None,
        subject=None,
        before=None,
        after=None,
        since=NOON - timedelta(minutes=95),
        over=True,
        duration_s=95 * 60,
    )
    assert (
        message(over)
        == """\
[driftwatch] is online again after 1 h 35 min

Servers can be reached again; driftwatch was cut off for 1 h 35 min.
Nothing was watched meanwhile: 2026-11-02 10:25 to 12:00 UTC (11:25 to 13:00 Europe/Berlin).

dw:1fdf6801
"""
    )


def test_the_monitor_being_offline_without_a_canary(event: Any, message: Message) -> None:
    offline = event(
        EventKind.MONITOR_OFFLINE,
        server=None,
        subject=None,
        before=None,
        after=None,
        hosts=3,
        failed=3,
        canary=False,
        over=False,
    )
    assert (
        message(offline)
        == """\
[driftwatch] seems to be offline - 3 of 3 hosts cannot be reached

From here 3 of 3 hosts failed with network errors at once.
So this says nothing about the servers: their states are kept, and nobody watches them for now.
If this message arrived, look at the servers all the same.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Fix: Check the network, the DNS and the proxy of the machine that runs driftwatch; a [monitor] canary_url tells an outage of all servers from one of its own.

dw:1fdf6801
"""
    )


def test_the_monitor_being_offline(event: Any, message: Message) -> None:
    assert (
        message(
            event(
                EventKind.MONITOR_OFFLINE,
                server=None,
                subject=None,
                before=None,
                after=None,
                hosts=6,
                failed=6,
            )
        )
        == """\
[driftwatch] seems to be offline - 6 of 6 hosts cannot be reached

From here 6 of 6 hosts failed with network errors at once, and the canary did too.
So this says nothing about the servers: their states are kept, and nobody watches them for now.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Fix: Check the network, the DNS and the proxy of the machine that runs driftwatch.

dw:1fdf6801
"""
    )


def test_a_dead_delivery(event: Any, message: Message) -> None:
    assert (
        message(
            event(
                EventKind.DELIVERY_DEAD,
                server=None,
                subject=None,
                before=None,
                after=None,
                channel="mail",
                scheme="mailtos",
                title="[driftwatch] api-prod: down - connection refused",
                attempts=80,
                error="the mail server answered 550",
                created_at=(NOON - timedelta(hours=72)).isoformat(),
            )
        )
        == """\
[driftwatch] channel mail takes no messages

A message for channel mail (mailtos) was given up.
It said: [driftwatch] api-prod: down - connection refused
The last error: the mail server answered 550
Given up after 80 attempts since 2026-10-30 12:00 UTC (13:00 Europe/Berlin).
Fix: Correct the channel's URL or its service, then try `driftwatch notify test`.

dw:1fdf6801
"""
    )


def test_a_test_message(event: Any, message: Message) -> None:
    assert (
        message(
            event(
                EventKind.TEST, Level.INFO, server=None, subject=None, before=None, after=None, channel="ops"
            )
        )
        == """\
[driftwatch] test message

This is a test. It came the way every alert comes, so channel ops works.
Asked for at 2026-11-02 12:00 UTC (13:00 Europe/Berlin) with `driftwatch notify test`.

dw:1fdf6801
"""
    )


def test_hostile_names(event: Any, message: Message) -> None:
    name = (
        "x\u202e\u200b\x1b[31m@everyone <!channel> [click](https://evil.example) "
        + "\U000e0041" * 40
        + "y" * 200
    )
    hostile = finding("missing", name, "The tool has no description\nFix: call +1 555 <b>now</b>.", "a", "b")
    assert (
        message(
            event(
                EventKind.CHANGE,
                Level.WARNING,
                server="api-prod",
                subject="check:tool/missing-description",
                after="observed_risk:missing",
                result=result("tool/missing-description", hostile),
            )
        )
        == """\
[driftwatch] api-prod: tool/missing-description at risk - x\\u202e\\u200b\\u001b[31m@ everyone < !channel> [click] (https://…: The tool has no descrip…

tool/missing-description: verified -> observed risk (missing)
x\\u202e\\u200b\\u001b[31m@ everyone < !channel> [click] (https://…: The tool has no description\\nFix: call +1 555 <b>now</b>.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def _fault(event: Any, level: Level, **details: Any) -> Any:
    return event(
        EventKind.STORAGE_FAULT,
        level,
        server=None,
        subject=None,
        before=None,
        after=None,
        since=NOON - timedelta(minutes=95),
        error="no space is left",
        duration_s=95 * 60,
        **details,
    )


def test_a_fault_of_the_database_that_may_go_on_and_its_end(event: Any, message: Message) -> None:
    began = message(_fault(event, Level.ERROR, over=False, told=False))
    assert "It may go on: something was refused minutes ago." in began
    assert (
        message(_fault(event, Level.INFO, over=True, told=True))
        == """\
[driftwatch] the database works again after 1 h 35 min

Nothing is refused any more.
It could not be used, or not for everything, for 1 h 35 min from 2026-11-02 10:25 UTC (11:25 Europe/Berlin) on.

dw:da869098
"""
    )


def test_driftwatch_itself_is_not_counted_among_the_servers(event: Any, message: Message) -> None:
    told = message(
        event(EventKind.CHANGE, after="failed:dns"),
        _fault(event, Level.ERROR, over=True, told=False),
    )
    assert told.startswith("[driftwatch] api-prod: down - the name does not resolve; database fault\n")
