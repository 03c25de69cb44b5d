"""Whole messages about checks, as they arrive: a changed line here is one on somebody's phone."""
# ruff: noqa: E501 - a line of a message is as long as it arrives

from datetime import timedelta
from typing import Any

import pytest

from driftwatch.model import EventKind, Level
from tests.alerts.told import NOON, REFUSED, Message, finding, result


def test_a_broken_content_type_with_what_it_blocks(event: Any, message: Message) -> None:
    html = finding(
        "html",
        "POST",
        "The answer is an HTML page.",
        "application/json or text/event-stream",
        "text/html; charset=utf-8",
        era="legacy",
        clients=["Claude.ai", "ChatGPT", "Claude Code"],
    )
    blocked = [f"tool/check-{number}" for number in range(12)]
    assert (
        message(
            event(
                EventKind.CHANGE,
                subject="check:transport/content-type",
                after="failed:html",
                result=result("transport/content-type", html),
                blocked=blocked,
            )
        )
        == """\
[driftwatch] api-prod: transport/content-type failed - the answer is an HTML page

transport/content-type: verified -> failed (html)
The answer is an HTML page.
Expected application/json or text/event-stream; measured text/html; charset=utf-8.
12 checks are not checked because of it.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: Claude.ai, ChatGPT, Claude Code
Fix: Answer POST with application/json or text/event-stream.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_server_that_answers_406(event: Any, message: Message) -> None:
    refuses = finding(
        "refuses-both",
        "Accept",
        "A request that accepts both types is refused.",
        "HTTP 200",
        "HTTP 406",
        era="modern",
        clients=["Claude.ai"],
    )
    assert (
        message(
            event(
                EventKind.CHANGE,
                subject="check:transport/accept-sse",
                after="failed:refuses-both",
                result=result("transport/accept-sse", refuses),
                blocked=[],
            )
        )
        == """\
[driftwatch] api-prod: transport/accept-sse failed - a request that accepts both types is refused

transport/accept-sse: verified -> failed (refuses-both)
A request that accepts both types is refused.
Expected HTTP 200; measured HTTP 406.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: Claude.ai
Fix: Accept requests that name both types.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_several_findings_of_one_check(event: Any, message: Message) -> None:
    long = [
        finding(
            "too-long",
            f"tool_{number}",
            "The description is longer than Claude.ai and ChatGPT read.",
            "at most 1024 characters",
            f"{1100 + number} characters",
            clients=["Claude.ai", "ChatGPT"],
        )
        for number in range(7)
    ]
    other = finding(
        "too-long",
        "essay",
        "The description is longer than any client reads.",
        "at most 1024 characters",
        "9000 characters",
        clients=["Claude Code"],
    )
    assert (
        message(
            event(
                EventKind.CHANGE,
                Level.WARNING,
                subject="check:tool/description-too-long",
                after="observed_risk:too-long",
                result=result("tool/description-too-long", *long, other),
            )
        )
        == """\
[driftwatch] api-prod: tool/description-too-long at risk - 8 findings

tool/description-too-long: verified -> observed risk (too-long)
- tool_0, tool_1, tool_2, tool_3, tool_4 +2 more: The description is longer than Claude.ai and ChatGPT read.
- essay: The description is longer than any client reads.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: Claude.ai, ChatGPT, Claude Code

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_check_that_flaps(event: Any, message: Message) -> None:
    assert (
        message(
            event(
                EventKind.FLAPPING,
                Level.WARNING,
                before="verified",
                after="failed:http-5xx",
                since=NOON - timedelta(hours=3),
                changes=4,
                values={"verified": 2, "failed:http-5xx": 2},
                window_s=21600.0,
                settle=12,
            )
        )
        == """\
[driftwatch] api-prod: up and down in turn - 4 changes in 6 h

transport/endpoint: verified <-> failed (http-5xx), 4 changes in 6 h
The last change was to failed (http-5xx).
Every change is recorded. The next message about it comes when 12 probes in a row agree, or for a new value.
Since: 2026-11-02 09:00 UTC (10:00 Europe/Berlin)
Fix: Start the server and let its address answer POST.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_check_that_has_settled_badly(event: Any, message: Message) -> None:
    assert (
        message(
            event(
                EventKind.SETTLED,
                before="verified",
                after="failed:refused",
                since=NOON - timedelta(hours=5),
                muted=3,
                result=result("transport/endpoint", REFUSED),
            )
        )
        == """\
[driftwatch] api-prod: steady again: down - connection refused

transport/endpoint: steady again, failed (refused)
Nothing listens there: the connection was refused.
Expected a connection to api.example:443; measured connection refused by 192.0.2.7.
It had been unsteady for 5 h, since 2026-11-02 07:00 UTC (08:00 Europe/Berlin). 3 changes in it were not told one by one.
Fix: Start the server and let its address answer POST.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_coverage_that_is_back(event: Any, message: Message) -> None:
    assert (
        message(
            event(
                EventKind.COVERAGE_BACK,
                Level.INFO,
                subject="check:auth/challenge",
                before="not_checked:no-auth",
                after="verified",
                since=NOON - timedelta(hours=26),
            )
        )
        == """\
[driftwatch] api-prod: auth/challenge checked again: verified

auth/challenge: not checked (no-auth) -> verified
It was not checked for 1 d 2 h, since 2026-11-01 10:00 UTC (11:00 Europe/Berlin).

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_first_probes_that_find_the_same_share_a_section(event: Any, message: Message) -> None:
    bare = finding("bare", "server/discover", "The request is refused without a word.", "", "")
    failed: Any = [result("transport/accept-json-only", bare)]
    looks = [
        event(EventKind.ADDED_WITH_PROBLEMS, server=name, subject=None, results=failed)
        for name in ("api-one", "api-two", "api-three")
    ]
    said = message(*looks)
    assert said.startswith("[driftwatch] 3 servers: first probe: 1 check failed\n")
    assert said.count("refused without a word") == 1


@pytest.mark.parametrize(
    ("check", "eras", "affected"),
    [
        ("transport/content-type", ("modern", "legacy"), "every client"),
        ("transport/content-type", ("modern",), "clients of 2026-07-28"),
        ("mcp/initialized-ack", ("legacy",), "clients that begin with initialize"),
        ("transport/redirect", (None,), "every client"),
        ("transport/origin", ("modern",), None),
    ],
)
def test_a_failure_at_the_first_steps_concerns_every_client_of_its_era(
    event: Any, message: Message, check: str, eras: tuple[str | None, ...], affected: str | None
) -> None:
    found = [finding("html", "Content-Type", "It is wrong.", "right", "wrong", era=era) for era in eras]
    said = message(event(EventKind.CHANGE, subject=f"check:{check}", result=result(check, *found)))
    told = [line for line in said.splitlines() if line.startswith("Affected: ")]
    assert told == ([f"Affected: {affected}"] if affected else [])
