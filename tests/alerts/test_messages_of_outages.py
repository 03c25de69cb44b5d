"""Whole messages about servers that nobody reaches or gets into, as they arrive."""
# ruff: noqa: E501 - a line of a message is as long as it arrives

from datetime import timedelta
from typing import Any

import pytest

from driftwatch.model import EventKind, Level
from tests.alerts.told import NOON, REFUSED, Message, finding, result


def test_a_server_that_is_down(event: Any, message: Message) -> None:
    blocked = [f"tool/check-{number}" for number in range(31)]
    assert (
        message(event(EventKind.CHANGE, result=result("transport/endpoint", REFUSED), blocked=blocked))
        == """\
[driftwatch] api-prod: down - connection refused

transport/endpoint: verified -> failed (refused)
Nothing listens there: the connection was refused.
Expected a connection to api.example:443; measured connection refused by 192.0.2.7.
31 checks are not checked because of it.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: every client
Fix: Start the server and let its address answer POST.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_server_that_is_back(event: Any, message: Message) -> None:
    blocked = [f"tool/check-{number}" for number in range(31)]
    assert (
        message(
            event(
                EventKind.RECOVERY,
                Level.INFO,
                before="failed:refused",
                after="verified",
                since=NOON - timedelta(hours=2, minutes=14),
                duration_s=8000.0,
                result=result("transport/endpoint"),
                blocked=blocked,
            )
        )
        == """\
[driftwatch] api-prod: back after 2 h 13 min

transport/endpoint: failed (refused) -> verified
It lasted 2 h 13 min: 2026-11-02 09:46 to 11:59 UTC (10:46 to 12:59 Europe/Berlin).
What was not checked because of it can be checked again.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_server_that_went_down_and_came_back_in_one_wait(event: Any, message: Message) -> None:
    down = event(EventKind.CHANGE, result=result("transport/endpoint", REFUSED), blocked=["tools/pagination"])
    back = event(
        EventKind.RECOVERY,
        Level.INFO,
        before="failed:refused",
        after="verified",
        at=NOON + timedelta(seconds=20),
        since=NOON - timedelta(minutes=1),
        duration_s=70.0,
        result=result("transport/endpoint"),
        blocked=["tools/pagination"],
    )
    assert (
        message(down, back)
        == """\
[driftwatch] api-prod: was down for 1 min 10 s - connection refused

transport/endpoint: verified -> failed (refused) -> verified
Nothing listens there: the connection was refused.
Expected a connection to api.example:443; measured connection refused by 192.0.2.7.
A blip of 1 min 10 s, over again: 2026-11-02 11:59 to 12:00 UTC (12:59 to 13:00 Europe/Berlin).

More: driftwatch history api-prod
dw:c2c89664
"""
    )


def test_our_credential_that_is_refused(event: Any, message: Message) -> None:
    refused = finding(
        "refused",
        "token",
        "The server refuses the configured credential.",
        "HTTP 200",
        "HTTP 401 invalid_token",
    )
    assert (
        message(
            event(
                EventKind.CHANGE,
                subject="check:auth/credential",
                after="failed:refused",
                result=result("auth/credential", refused),
                blocked=["transport/endpoint", "tools/pagination", "release/fingerprint"],
            )
        )
        == """\
[driftwatch] api-prod: auth/credential failed - the server refuses the configured credential

auth/credential: verified -> failed (refused)
The server refuses the configured credential.
Expected HTTP 200; measured HTTP 401 invalid_token.
3 checks are not checked because of it.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: driftwatch alone, unless other credentials ended with its own
Fix: Replace the token that driftwatch was given, or give it back its rights.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_server_that_begins_to_ask_for_credentials(event: Any, message: Message) -> None:
    reason = "HTTP 401: the server asks for credentials"
    assert (
        message(
            event(
                EventKind.COVERAGE_LOST,
                Level.WARNING,
                after="not_checked:auth",
                result=result("transport/endpoint", state="not_checked", code="auth", reason=reason),
                blocked=[f"tool/check-{number}" for number in range(31)],
            )
        )
        == """\
[driftwatch] api-prod: closed - it asks for credentials

transport/endpoint: verified -> not checked (auth)
Not checked: HTTP 401: the server asks for credentials.
31 checks are not checked because of it.
The last known state, verified, may be stale.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: clients that come without a credential, as driftwatch does
Fix: Where a sign-in is meant, give driftwatch a credential of its own (`token_file`, `[server.oauth]`). Otherwise look at what was put in front of the MCP route, or changed in the last release.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


@pytest.mark.parametrize(
    ("check", "code"),
    [
        *(
            ("transport/endpoint", code)
            for code in ("forbidden", "rate-limited", "bot-page", "access-gate", "address", "proxy")
        ),
        ("tls/chain", "client-certificate"),
    ],
)
def test_whatever_shuts_a_server_is_said_with_who_is_affected_and_what_to_do(
    event: Any, message: Message, check: str, code: str
) -> None:
    subject, shut = f"check:{check}", f"not_checked:{code}"
    said = message(event(EventKind.COVERAGE_LOST, Level.WARNING, subject=subject, after=shut))
    assert said.startswith("[driftwatch] api-prod: closed - ")
    assert "\nAffected: " in said
    assert "\nFix: " in said
    opened = event(EventKind.COVERAGE_BACK, Level.INFO, subject=subject, before=shut, after="verified")
    assert message(opened).startswith("[driftwatch] api-prod: open again after 1 min\n")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("http-4xx", "it refuses the first request"),
        ("no-handshake", "it refuses the handshake"),
        ("redirect", "it redirects to where no client follows"),
        ("protocol", "what answers is not valid HTTP"),
        ("unreachable", "no way to its address"),
        ("deadline", "no answer in time"),
    ],
)
def test_why_a_server_is_down_is_said_in_words(event: Any, message: Message, code: str, words: str) -> None:
    assert message(event(EventKind.CHANGE, after=f"failed:{code}")).startswith(
        f"[driftwatch] api-prod: down - {words}\n"
    )


@pytest.mark.parametrize(("code", "sections"), [("http-4xx", 2), ("protocol", 2), ("http-5xx", 1)])
def test_servers_that_refuse_for_different_reasons_are_told_apart(
    event: Any, message: Message, code: str, sections: int
) -> None:
    def refused(server: str, why: str) -> Any:
        found = finding(code, "https://api.example/mcp", f"No usable answer to a POST: {why}.", "", why)
        return event(
            EventKind.CHANGE,
            server=server,
            after=f"failed:{code}",
            result=result("transport/endpoint", found),
        )

    said = message(refused("api-one", "HTTP 413"), refused("api-two", "HTTP 421"))
    assert ("api-one: down" in said) == (sections > 1)
    assert ("HTTP 421" in said) == (sections > 1)


SIGN_IN = [
    result(
        "auth/challenge",
        finding("x", "", "The challenge does not name the metadata.", "", ""),
        state="observed_risk",
    ),
    result(
        "auth/resource-metadata", finding("x", "", "The server does not say how to get credentials.", "", "")
    ),
    result("auth/invalid-token", state="verified"),
]


def test_a_door_that_shuts_says_how_it_refuses(event: Any, message: Message) -> None:
    assert (
        message(
            event(
                EventKind.COVERAGE_LOST,
                after="not_checked:auth",
                result={"reason": "HTTP 401: the server asks for credentials"},
                blocked=["tools/pagination", "session/ended"],
                shown=SIGN_IN,
            )
        )
        == """\
[driftwatch] api-prod: closed - it asks for credentials

transport/endpoint: verified -> not checked (auth)
Not checked: HTTP 401: the server asks for credentials.
2 checks are not checked because of it.
The last known state, verified, may be stale.
- auth/resource-metadata failed: The server does not say how to get credentials.
- auth/challenge at risk: The challenge does not name the metadata.
- auth/invalid-token verified
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: clients that come without a credential, as driftwatch does
Fix: Where a sign-in is meant, give driftwatch a credential of its own (`token_file`, `[server.oauth]`). Otherwise look at what was put in front of the MCP route, or changed in the last release.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_door_that_opens_ends_what_it_had_shown(event: Any, message: Message) -> None:
    assert (
        message(
            event(
                EventKind.COVERAGE_BACK,
                Level.INFO,
                before="not_checked:auth",
                after="verified",
                since=NOON - timedelta(hours=2),
                duration_s=7200.0,
                shown=SIGN_IN,
            )
        )
        == """\
[driftwatch] api-prod: open again after 2 h

transport/endpoint: not checked (auth) -> verified
It was not checked for 2 h, since 2026-11-02 10:00 UTC (11:00 Europe/Berlin).
Over with it: auth/challenge at risk and auth/resource-metadata failed.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


@pytest.mark.parametrize(
    ("before", "after", "title"),
    [
        ("failed:late", "verified", "timeouts/stream-buffering verified again after 2 h"),
        (
            "failed:late",
            "not_checked:not-offered",
            "timeouts/stream-buffering no longer failed after 2 h - not checked, as before",
        ),
        (
            "failed:late",
            "not_checked:not-applicable",
            "timeouts/stream-buffering no longer failed after 2 h - the rule does not apply any more",
        ),
        (
            "failed:late",
            "observed_risk:slow",
            "timeouts/stream-buffering observed risk (slow) again, as accepted, after 2 h",
        ),
    ],
)
def test_a_title_says_in_what_a_recovery_ends(
    event: Any, message: Message, before: str, after: str, title: str
) -> None:
    told = event(
        EventKind.RECOVERY,
        Level.INFO,
        subject="check:timeouts/stream-buffering",
        before=before,
        after=after,
        since=NOON - timedelta(hours=2),
        duration_s=7200.0,
    )
    assert message(told).splitlines()[0] == f"[driftwatch] api-prod: {title}"


def test_how_long_it_lasted_is_not_known_after_a_gap_in_the_watch(event: Any, message: Message) -> None:
    back = event(
        EventKind.RECOVERY,
        Level.INFO,
        before="failed:refused",
        after="verified",
        since=NOON - timedelta(hours=30),
        duration_s=108000.0,
        gap_s=104400.0,
    )
    title, _, _, lasted, found, *_ = message(back).splitlines()
    assert title == "[driftwatch] api-prod: back after at most 1 d 6 h"
    assert lasted.startswith("It lasted at most 1 d 6 h: ")
    assert found.startswith("Found after driftwatch had not probed for 1 d 5 h;")


def test_the_end_of_what_nobody_looks_at_any_more_is_that_of_the_settings(
    event: Any, message: Message
) -> None:
    off = {
        "check": "timeouts/stream-buffering",
        "reason": "switched off in the configuration",
        "findings": [],
    }
    told = event(
        EventKind.RECOVERY,
        Level.INFO,
        subject="check:timeouts/stream-buffering",
        before="failed:late",
        after="not_checked:switched-off",
        since=NOON - timedelta(hours=2),
        duration_s=7200.0,
        result=off,
        edited=True,
    )
    title, _, change, lasted, *_ = message(told).splitlines()
    assert title.endswith(
        "timeouts/stream-buffering no longer failed after 2 h - switched off in the configuration"
    )
    assert change.endswith("failed (late) -> not checked (switched-off)")
    assert lasted.startswith("It had lasted 2 h when the settings were changed: ")


def test_a_door_that_opens_and_shuts_in_turn_says_what_to_do_about_doors(
    event: Any, message: Message
) -> None:
    details = {"changes": 4, "window_s": 21600.0, "settle": 12}
    said = message(event(EventKind.FLAPPING, Level.WARNING, after="not_checked:forbidden", **details))
    assert said.startswith("[driftwatch] api-prod: up and closed in turn - 4 changes in 6 h\n")
    assert "Fix: Look at the firewall" in said
