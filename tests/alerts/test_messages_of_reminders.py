"""Whole messages about what stays as it is, as they arrive: a changed line here is one on somebody's phone."""
# ruff: noqa: E501 - a line of a message is as long as it arrives

from datetime import timedelta
from typing import Any

from driftwatch.model import EventKind, Level
from tests.alerts.told import NEW, NOON, Message, an_incident


def test_an_error_that_stays_open(event: Any, message: Message) -> None:
    open_ = an_incident("1a2b", "check:tls/chain", "failed:expired", timedelta(days=2, hours=3), blocked=27)
    acked = an_incident("3c4d", "check:tools/pagination", "failed:loop", timedelta(days=9), by="ann")
    assert (
        message(event(EventKind.REMINDER, subject=None, incidents=[open_], acked=[acked], stale=[]))
        == """\
[driftwatch] api-prod: tls/chain still failed (expired) for 2 d 3 h

tls/chain: still failed (expired)
Other checks are still not made because of it.
Also open, and acknowledged: tools/pagination by ann.
Since: 2026-10-31 09:00 UTC (10:00 Europe/Berlin)
Fix: Serve the full chain: the leaf first, then every intermediate.
Acknowledge: `driftwatch ack 1a2b1a2b` ends these reminders until something changes

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_digest_of_everything_that_stays_open(event: Any, message: Message) -> None:
    endpoint = an_incident("1a2b", "check:transport/endpoint", "failed:dns", timedelta(days=2, hours=3))
    toolset = an_incident("3c4d", "toolset:modern:anonymous", NEW, timedelta(days=1))
    chain = an_incident("5e6f", "check:tls/chain", "failed:expired", timedelta(hours=30))
    assert (
        message(
            event(EventKind.REMINDER, subject=None, incidents=[endpoint], acked=[], stale=[]),
            event(
                EventKind.REMINDER,
                server="docs",
                subject=None,
                incidents=[toolset, chain],
                acked=[],
                stale=[],
            ),
        )
        == """\
[driftwatch] 2 servers: 2 still open

2 still open: api-prod, docs

api-prod: still down for 2 d 3 h - the name does not resolve
transport/endpoint: still failed (dns)
Since: 2026-10-31 09:00 UTC (10:00 Europe/Berlin)
Fix: Start the server and let its address answer POST.
Acknowledge: `driftwatch ack 1a2b1a2b` ends these reminders until something changes

docs: 2 problems still open, the oldest for 1 d 6 h
2 problems still open:
- 5e6f5e6f: tls/chain failed (expired) for 1 d 6 h, since 2026-11-01 06:00 UTC (07:00 Europe/Berlin)
- 3c4d3c4d: Toolset (modern) not accepted (dw1:c3c3c3c3.d4d4d4d4) for 1 d, since 2026-11-01 12:00 UTC (13:00 Europe/Berlin)
Acknowledge: `driftwatch ack docs` ends these reminders until something changes

More: driftwatch status
dw:c2c89664
"""
    )


def test_checks_that_nobody_could_look_at(event: Any, message: Message) -> None:
    since = (NOON - timedelta(days=1)).isoformat()
    stale = [
        {"subject": f"check:{check}", "since": since, "by": by}
        for check, by in {
            "tools/pagination": "auth/credential",
            "tool/name-charset": "auth/credential",
            "session/ended": None,
        }.items()
    ]
    assert (
        message(event(EventKind.REMINDER, Level.WARNING, subject=None, incidents=[], acked=[], stale=stale))
        == """\
[driftwatch] api-prod: 3 checks not checked for more than a day

3 checks not checked for more than a day:
- tools/pagination, tool/name-charset, since 2026-11-01 12:00 UTC (13:00 Europe/Berlin), because of auth/credential
- session/ended, since 2026-11-01 12:00 UTC (13:00 Europe/Berlin)

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_of_reminders_that_waited_together_the_newest_is_told(event: Any, message: Message) -> None:
    def reminded(days: int, **also: Any) -> Any:
        open_ = an_incident("1a2b", "check:tls/chain", "failed:expired", timedelta(days=days))
        other = an_incident("3c4d", "check:tools/pagination", "failed:loop", timedelta(days=days))
        at = NOON - timedelta(days=3 - days)
        stale = [{"subject": f"check:tool/name-{days}", "since": at.isoformat(), "by": None}]
        return event(
            EventKind.REMINDER, subject=None, at=at, incidents=[open_, other], acked=[], stale=stale, **also
        )

    over = event(
        EventKind.RECOVERY,
        Level.INFO,
        subject="check:tools/pagination",
        before="failed:loop",
        after="verified",
        incident=an_incident("3c4d", "check:tools/pagination", "failed:loop", timedelta(days=1))["id"],
    )
    unseen = event(EventKind.REMINDER, subject=None, incidents=[], acked=[], stale=[])
    told = message(reminded(1), reminded(2), unseen, reminded(3), unseen, over)
    assert told.count("still failed") == 2  # in the title, and where it is told
    assert "tls/chain still failed (expired) for 3 d" in told
    assert "tools/pagination verified again" in told
    assert [f"tool/name-{days}" in told for days in (1, 2, 3)] == [True, True, True]
