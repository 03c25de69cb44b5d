"""Whole messages about many servers, and about the first probe, as they arrive: a changed line here is one on somebody's phone."""
# ruff: noqa: E501 - a line of a message is as long as it arrives

from dataclasses import replace
from datetime import timedelta
from typing import Any

from driftwatch.model import EventKind, Level
from tests.alerts.told import NOON, REFUSED, Message, change, drift, finding, result


def test_many_servers_at_once(event: Any, message: Message) -> None:
    outage = [
        event(EventKind.CHANGE, server=f"api-{number:02}", result=result("transport/endpoint", REFUSED))
        for number in range(12)
    ]
    other = event(
        EventKind.RECOVERY,
        Level.INFO,
        server="docs",
        subject="check:tools/pagination",
        before="failed:loop",
        after="verified",
        since=NOON - timedelta(days=2),
    )
    assert (
        message(*outage, other)
        == """\
[driftwatch] 13 servers: 12 down, 1 recovered

12 servers: down - connection refused
api-00, api-01, api-02, api-03, api-04, api-05, api-06, api-07, api-08, api-09, api-10, api-11
transport/endpoint: verified -> failed (refused)
Nothing listens there: the connection was refused.
Expected a connection to api.example:443; measured connection refused by 192.0.2.7.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: every client
Fix: Start the server and let its address answer POST.

docs: tools/pagination verified again after 2 d
tools/pagination: failed (loop) -> verified
It lasted 2 d: 2026-10-31 12:00 to 2026-11-02 12:00 UTC (13:00 to 2026-11-02 13:00 Europe/Berlin).

More: driftwatch status
dw:6abaaee5
"""
    )


def test_a_title_counts_servers_as_the_lists_below_it_do(event: Any, message: Message) -> None:
    over = [
        event(
            EventKind.RECOVERY,
            Level.INFO,
            server=server,
            subject=f"check:{check}",
            before="failed:loop",
            after="verified",
            since=NOON - timedelta(days=2),
        )
        for server, check in (
            ("api", "tools/pagination"),
            ("api", "transport/content-type"),
            ("docs", "tls/chain"),
        )
    ]
    told = message(*over)
    assert told.startswith("[driftwatch] 2 servers: 2 recovered\n\n2 recovered: api, docs\n")


def test_a_title_reads_well_whatever_the_number(event: Any, message: Message) -> None:
    eras = event(
        EventKind.ERA_CHANGED,
        server="docs",
        subject="eras",
        before="legacy",
        after="modern",
        appeared=["modern"],
        vanished=["legacy"],
        surfaces=[{"era": "modern", "revision": "2026-07-28", "tools": 37}],
    )
    down = event(
        EventKind.CHANGE,
        server="api",
        subject="check:transport/content-type",
        before="verified",
        after="failed:html",
    )
    title = message(down, eras).splitlines()[0]
    assert title == "[driftwatch] 2 servers: 1 failed, 1 with other protocol eras"


def test_more_servers_than_fit(event: Any, message: Message) -> None:
    checks = [
        event(
            EventKind.CHANGE,
            server=f"server-number-{number:03}",
            subject="check:tls/chain",
            after="failed:wrong-host",
            result=result(
                "tls/chain",
                finding("wrong-host", "h", f"The certificate covers only www{number}.example.", "x", "y"),
            ),
        )
        for number in range(60)
    ]
    assert (
        message(*checks)
        == """\
[driftwatch] 60 servers: 60 failed

60 failed: server-number-000, server-number-001, server-number-002, server-number-003, server-number-004, server-number-005, server-number-006, server-number-007, server-number-008, server-number-009, server-number-010, server-number-011, server-number-012, server-number-013 +46 more

- server-number-000: tls/chain failed - the certificate covers only www0.example
- server-number-001: tls/chain failed - the certificate covers only www1.example
- server-number-002: tls/chain failed - the certificate covers only www2.example
- server-number-003: tls/chain failed - the certificate covers only www3.example
- server-number-004: tls/chain failed - the certificate covers only www4.example
- server-number-005: tls/chain failed - the certificate covers only www5.example
- server-number-006: tls/chain failed - the certificate covers only www6.example
- server-number-007: tls/chain failed - the certificate covers only www7.example
- server-number-008: tls/chain failed - the certificate covers only www8.example
- server-number-009: tls/chain failed - the certificate covers only www9.example
- server-number-010: tls/chain failed - the certificate covers only www10.example
- server-number-011: tls/chain failed - the certificate covers only www11.example
- server-number-012: tls/chain failed - the certificate covers only www12.example
+47 more

More: driftwatch status
dw:a2926904
"""
    )


def test_a_first_look_that_finds_failures(event: Any, message: Message) -> None:
    results = [
        result("transport/endpoint", REFUSED, code="refused"),
    ]
    assert (
        message(
            event(
                EventKind.ADDED_WITH_PROBLEMS,
                subject=None,
                before=None,
                after=None,
                results=results,
                blocked=["tools/pagination", "tls/chain"],
            )
        )
        == """\
[driftwatch] api-prod: first probe: down - connection refused

First probe of this server: 1 check failed.
2 checks are not checked because of it.
It is recorded as it is; from now on only changes are told.
- transport/endpoint: Nothing listens there: the connection was refused.
Affected: every client
Fix: Start the server and let its address answer POST.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_first_look_that_finds_several_failures(event: Any, message: Message) -> None:
    results = [
        result(
            "transport/get",
            finding("hangs", "GET", "GET neither answers nor refuses.", "405 or a stream", "nothing in 20 s"),
        ),
        result(
            "tool/case-collision",
            finding("case", "Search", "Another tool differs in case only.", "a", "b", clients=["Claude.ai"]),
        ),
    ]
    assert (
        message(
            event(
                EventKind.ADDED_WITH_PROBLEMS,
                subject=None,
                before=None,
                after=None,
                results=results,
                blocked=[],
            )
        )
        == """\
[driftwatch] api-prod: first probe: 2 checks failed

First probe of this server: 2 checks failed.
It is recorded as it is; from now on only changes are told.
- transport/get: GET neither answers nor refuses.
- tool/case-collision: Search: Another tool differs in case only.
Affected: Claude.ai

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_the_fix_of_a_first_look_says_which_of_several_checks_it_mends(event: Any, message: Message) -> None:
    results = [
        result(
            "transport/content-type",
            finding("wrong", "reply", "Clients drop the reply.", "application/json", "text/plain"),
        ),
        result(
            "transport/get",
            finding("hangs", "GET", "GET neither answers nor refuses.", "405 or a stream", "nothing in 20 s"),
        ),
    ]
    told = message(event(EventKind.ADDED_WITH_PROBLEMS, results=results, blocked=[]))
    assert "Fix: transport/content-type: Answer POST with application/json or text/event-stream.\n" in told


def test_servers_whose_tools_changed_alike_share_a_section(event: Any, message: Message) -> None:
    release = {"ref": "v42", "relation": "by"}
    removed = change("tool-removed", "breaking", 'tool "cancel" removed', tool="cancel")
    events = [
        replace(drift(event, removed, release=release), id=f"event-{name}", server=name)
        for name in ("api-eu", "api-us", "api-asia")
    ]
    assert (
        message(*events)
        == """\
[driftwatch] 3 servers: toolset changed - 1 tool removed (breaking) by release v42

api-eu, api-us, api-asia
Toolset (modern): dw1:a1a1a1a1.b2b2b2b2 -> dw1:c3c3c3c3.d4d4d4d4
- tool "cancel" removed
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Changed by release: v42
Affected: existing callers, whose calls fail
Baseline: still the old list, until the new one is accepted
Fix: If it is meant, accept it: `driftwatch accept NAME --fingerprint dw1:c3c3c3c3.d4d4d4d4 --reason "..."`. If not, look at the release that brought it.

More: driftwatch status
dw:100e755c
"""
    )


def test_what_is_down_stands_before_what_has_changed(event: Any, message: Message) -> None:
    renamed = change("tool-renamed", "breaking", 'tool "old" renamed to "new" (same parameters)')
    told = message(
        drift(event, renamed, server="shop"),
        event(
            EventKind.CHANGE,
            server="crm",
            result=result("transport/endpoint", REFUSED),
            blocked=["tls/expiry"],
        ),
    )
    title, *rest = told.splitlines()
    assert title == "[driftwatch] 2 servers: 1 down, 1 toolset changed"
    assert next(line for line in rest if line.startswith(("crm: ", "shop: "))).startswith("crm: down")
