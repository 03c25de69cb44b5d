"""Whole messages about certificates, as they arrive: a changed line here is one on somebody's phone."""
# ruff: noqa: E501 - a line of a message is as long as it arrives

from datetime import timedelta
from typing import Any

import pytest

from driftwatch.model import EventKind, Level
from tests.alerts.told import NOON, Message, finding, result


def test_a_certificate_that_ends_within_seven_days(event: Any, message: Message) -> None:
    ends = finding(
        "within-7-days",
        "api.example",
        "The certificate ends within 7 days.",
        "more than 14 days left",
        "ends 2026-11-08 18:00 UTC, in 6 days",
        severity="heads up",
    )
    assert (
        message(
            event(
                EventKind.CHANGE,
                Level.WARNING,
                subject="check:tls/expiry",
                after="observed_risk:within-7-days",
                result=result("tls/expiry", ends),
                blocked=[],
            )
        )
        == """\
[driftwatch] api-prod: tls/expiry at risk - the certificate ends within 7 days

tls/expiry: verified -> observed risk (within-7-days)
The certificate ends within 7 days.
Expected more than 14 days left; measured ends 2026-11-08 18:00 UTC, in 6 days.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Fix: Renew the certificate, then find out why the automatic renewal did not.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_reminder_of_a_certificate(event: Any, message: Message) -> None:
    ends = (NOON + timedelta(days=6, hours=6)).isoformat()
    assert (
        message(
            event(
                EventKind.TLS_REMINDER,
                Level.WARNING,
                subject="check:tls/expiry",
                not_after=ends,
                issuer="Let's Encrypt R11",
                subject_alt_names=["api.example", "www.api.example"],
                threshold_days=7,
                superseded=[14],
                newer_not_after=None,
            )
        )
        == """\
[driftwatch] api-prod: certificate ends in 6 days

The certificate ends in 6 days, on 2026-11-08 18:00 UTC (19:00 Europe/Berlin).
Issued by Let's Encrypt R11, for api.example, www.api.example.
Affected: every client, from that moment
Fix: Renew the certificate, then find out why the automatic renewal did not.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_reminder_of_a_certificate_whose_successor_was_taken_back(event: Any, message: Message) -> None:
    told = message(
        event(
            EventKind.TLS_REMINDER,
            not_after=(NOON + timedelta(days=2)).isoformat(),
            newer_not_after=(NOON + timedelta(days=80)).isoformat(),
            newer_is_gone=True,
        )
    )
    assert told.startswith(
        "[driftwatch] api-prod: certificate ends in 2 days, after a newer one was taken back\n"
    )
    assert (
        "A newer one, until 2027-01-21 12:00 UTC (13:00 Europe/Berlin), had come and has not been seen for a day."
        in told
    )


def test_a_reminder_of_a_certificate_whose_successor_is_there_already(event: Any, message: Message) -> None:
    told = event(
        EventKind.TLS_REMINDER,
        not_after=(NOON + timedelta(days=2)).isoformat(),
        leaf_sha256="3f9a4c1b7d2e" + "0" * 52,
        newer_not_after=(NOON + timedelta(days=80)).isoformat(),
    )
    assert (
        message(told)
        == """\
[driftwatch] api-prod: certificate ends in 2 days, beside a newer one

The certificate ends in 2 days, on 2026-11-04 12:00 UTC (13:00 Europe/Berlin).
2 certificates are served: this one (sha256 3f9a4c1b7d2e), and a newer one until 2027-01-21 12:00 UTC (13:00 Europe/Berlin). An instance was not renewed.
Affected: every client, from that moment
Fix: Renew the certificate, then find out why the automatic renewal did not.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


@pytest.mark.parametrize(
    ("left", "said"),
    [
        (timedelta(hours=48), "2 days"),
        (timedelta(hours=30), "30 hours"),
        (timedelta(minutes=90), "1 hour"),
        (timedelta(minutes=20), "less than an hour"),
    ],
)
def test_the_last_two_days_are_told_in_hours(
    event: Any, message: Message, left: timedelta, said: str
) -> None:
    told = message(event(EventKind.TLS_REMINDER, not_after=(NOON + left).isoformat()))
    assert told.startswith(f"[driftwatch] api-prod: certificate ends in {said}\n")


def test_a_certificate_that_has_expired(event: Any, message: Message) -> None:
    expired = finding(
        "expired",
        "api.example",
        "The certificate has expired.",
        "a chain from api.example to a trusted root",
        "certificate has expired",
    )
    blocked = [f"transport/check-{number}" for number in range(23)]
    assert (
        message(
            event(
                EventKind.CHANGE,
                subject="check:tls/chain",
                after="failed:expired",
                result=result("tls/chain", expired),
                blocked=blocked,
            )
        )
        == """\
[driftwatch] api-prod: tls/chain failed - the certificate has expired

tls/chain: verified -> failed (expired)
The certificate has expired.
23 checks are not checked because of it.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: every client
Fix: Serve the full chain: the leaf first, then every intermediate.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_missing_intermediate(event: Any, message: Message) -> None:
    missing = finding(
        "missing-intermediate",
        "api.example",
        "The server does not send the intermediate certificate that leads to a trusted root.",
        "a chain from api.example to a trusted root (certifi)",
        "1 certificates sent; the leaf was issued by CN=Example CA 3",
    )
    assert (
        message(
            event(
                EventKind.CHANGE,
                subject="check:tls/chain",
                after="failed:missing-intermediate",
                result=result("tls/chain", missing),
                blocked=["transport/endpoint"],
            )
        )
        == """\
[driftwatch] api-prod: tls/chain failed - the server does not send the intermediate certificate that leads to a trusted root

tls/chain: verified -> failed (missing-intermediate)
The server does not send the intermediate certificate that leads to a trusted root.
Expected a chain from api.example to a trusted root (certifi); measured 1 certificates sent; the leaf was issued by CN=Example CA 3.
1 check is not checked because of it.
Since: 2026-11-02 11:59 UTC (12:59 Europe/Berlin)
Affected: every client
Fix: Serve the full chain: the leaf first, then every intermediate.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )


def test_a_renewed_certificate(event: Any, message: Message) -> None:
    assert (
        message(
            event(
                EventKind.TLS_RENEWED,
                Level.INFO,
                subject=None,
                before=None,
                after=None,
                not_after=(NOON + timedelta(days=90)).isoformat(),
                previous_not_after=(NOON + timedelta(days=2)).isoformat(),
                names_lost=["www.api.example"],
            )
        )
        == """\
[driftwatch] api-prod: certificate renewed until 2027-01-31

The new certificate is valid until 2027-01-31 12:00 UTC (13:00 Europe/Berlin); the old one would end 2026-11-04 12:00 UTC (13:00 Europe/Berlin).
It does not cover any more: www.api.example.

More: driftwatch history api-prod
dw:1fdf6801
"""
    )
