from dataclasses import replace
from datetime import timedelta

import pytest

from driftwatch.checks import Policy
from driftwatch.evidence import Missing
from driftwatch.model import Era, State
from tests.checks.factories import (
    NOW,
    PLAIN_HTTP,
    certificate,
    evidence,
    exchange,
    judged,
    opening,
    shut,
    tls,
)

EXPIRED = certificate(not_before=NOW - timedelta(days=91), not_after=NOW - timedelta(days=1))


@pytest.mark.parametrize(
    "fault",
    [
        "expired",
        "not-yet-valid",
        "intermediate-expired",
        "self-signed",
        "unknown-ca",
        "missing-intermediate",
        "wrong-host",
        "protocol-version",
        "unknown-name",
        "alpn",
        "not-tls",
        "handshake",
        "strictness",
    ],
)
def test_a_chain_that_does_not_verify_is_failed_with_the_fault_as_its_code(fault: str) -> None:
    seen = shut("certificate", tls=tls(verified=False, fault=fault, verify_message="as OpenSSL says it"))
    result = judged("tls/chain", seen)
    assert (result.state, result.code) == (State.FAILED, fault)
    assert result.findings[0].measured == "as OpenSSL says it"
    assert result.findings[0].message.endswith(".")


def test_openssl_names_one_fault_and_the_others_are_named_beside_it() -> None:
    facts = tls(verified=False, fault="expired", host_matches=False, chain_complete=False)
    result = judged("tls/chain", shut("certificate", tls=facts))
    assert [finding.code for finding in result.findings] == ["expired", "missing-intermediate", "wrong-host"]
    assert result.code == "expired"


def test_a_failure_without_a_known_fault_is_a_failed_handshake() -> None:
    result = judged("tls/chain", shut("tls", tls=tls(verified=False, certificate=None, chain=())))
    assert (result.state, result.code) == (State.FAILED, "handshake")


def test_an_intermediate_that_only_the_trust_store_supplied_is_a_risk() -> None:
    result = judged("tls/chain", evidence(tls=tls(chain_complete=False)))
    assert (result.state, result.code) == (State.OBSERVED_RISK, "missing-intermediate")


def test_a_wrong_host_names_what_the_certificate_covers() -> None:
    result = judged("tls/chain", evidence(tls=tls(verified=False, fault="wrong-host", host_matches=False)))
    assert result.findings[0].measured == "the certificate covers mcp.example.org"


def test_a_server_that_wants_a_client_certificate_is_not_judged_without_one() -> None:
    result = judged("tls/chain", shut("tls", tls=tls(verified=False, fault="client-certificate")))
    assert (result.state, result.code) == (State.NOT_CHECKED, "client-certificate")
    assert result.reason == "the server asks for a client certificate"


def test_a_client_certificate_that_was_refused_is_said_to_be() -> None:
    facts = tls(verified=False, fault="client-certificate")
    result = judged("tls/chain", shut("tls", tls=facts, settings={"client_certificate": True}))
    assert result.reason == "the server refused the configured client certificate"


@pytest.mark.parametrize(
    ("address", "state"),
    [
        ("127.0.0.1:80", State.NOT_CHECKED),
        ("10.1.2.3:80", State.NOT_CHECKED),
        ("[::1]:80", State.NOT_CHECKED),
        ("fe80::1%eth0:80", State.NOT_CHECKED),
        (None, State.NOT_CHECKED),
        ("not an address:80", State.NOT_CHECKED),
        ("93.184.216.34:80", State.FAILED),
        ("[2606:2800:220:1::1]:80", State.FAILED),
    ],
)
def test_plain_http_is_a_failure_on_a_public_address_alone(address: str | None, state: State) -> None:
    seen = evidence(
        url="http://mcp.example.org/mcp",
        openings=(opening(Era.LEGACY, exchange(address=address)),),
        tls=PLAIN_HTTP,
    )
    result = judged("tls/chain", seen)
    assert (result.state, result.code) == (state, "plain-http")


def test_an_address_that_is_no_url_is_judged_all_the_same() -> None:
    seen = evidence(
        url="http://[::1/mcp",
        openings=(opening(Era.LEGACY, exchange(address="93.184.216.34:80")),),
        tls=PLAIN_HTTP,
    )
    (finding,) = judged("tls/chain", seen).findings
    assert (finding.code, finding.subject) == ("plain-http", "http://[::1/mcp")


def test_a_connection_that_was_never_made_leaves_the_chain_unchecked_because_of_the_endpoint() -> None:
    seen = shut("dns", tls=Missing("the name does not resolve", "dns", "transport/endpoint"))
    result = judged("tls/chain", seen)
    assert (result.state, result.code, result.cause) == (State.NOT_CHECKED, "dns", "transport/endpoint")


@pytest.mark.parametrize(
    ("lifetime_h", "left_h", "state", "code"),
    [
        (90 * 24, 72 * 24, State.VERIFIED, None),
        # 30 days are more than 30 % of 90: that threshold does not count.
        (90 * 24, 29 * 24, State.VERIFIED, None),
        (90 * 24, 15 * 24, State.VERIFIED, None),
        (90 * 24, 14 * 24, State.OBSERVED_RISK, "within-14-days"),
        (90 * 24, 8 * 24, State.OBSERVED_RISK, "within-14-days"),
        (90 * 24, 7 * 24, State.OBSERVED_RISK, "within-7-days"),
        (90 * 24, 2 * 24, State.OBSERVED_RISK, "within-3-days"),
        (90 * 24, 1, State.OBSERVED_RISK, "within-1-days"),
        (365 * 24, 30 * 24, State.OBSERVED_RISK, "within-30-days"),
        (47 * 24, 14 * 24, State.OBSERVED_RISK, "within-14-days"),
        # Six days: renewed at half of the lifetime, so only the last day is late.
        (160, 75, State.VERIFIED, None),
        (160, 30, State.OBSERVED_RISK, "within-1-days"),
        (24, 1, State.VERIFIED, None),
        (90 * 24, 0, State.FAILED, "expired"),
        (90 * 24, -1, State.FAILED, "expired"),
    ],
)
def test_a_threshold_counts_as_a_share_of_the_lifetime(
    lifetime_h: int, left_h: int, state: State, code: str | None
) -> None:
    end = NOW + timedelta(hours=left_h)
    leaf = certificate(not_before=end - timedelta(hours=lifetime_h), not_after=end)
    result = judged("tls/expiry", evidence(tls=tls(certificate=leaf)))
    assert (result.state, result.code) == (state, code)


def test_a_verified_certificate_says_when_it_ends() -> None:
    assert judged("tls/expiry").reason == "ends 2027-02-10 12:00 UTC, in 72 days"


@pytest.mark.parametrize(
    ("left_h", "message", "left"),
    [
        (50, "The certificate ends within 3 days.", "2 days"),
        (30, "The certificate ends within 2 days.", "30 hours"),
        (24, "The certificate ends within 1 day.", "24 hours"),
        (1, "The certificate ends within 1 day.", "1 hour"),
        (0.5, "The certificate ends within 1 day.", "less than an hour"),
    ],
)
def test_the_last_two_days_are_counted_in_hours(left_h: float, message: str, left: str) -> None:
    end = NOW + timedelta(hours=left_h)
    leaf = certificate(not_before=end - timedelta(days=90), not_after=end)
    (found,) = judged("tls/expiry", evidence(tls=tls(certificate=leaf))).findings
    assert found.message == message
    assert found.measured.endswith(f", in {left}")


def test_a_certificate_of_one_day_says_its_last_hours() -> None:
    leaf = certificate(not_before=NOW - timedelta(hours=21), not_after=NOW + timedelta(hours=3))
    result = judged("tls/expiry", evidence(tls=tls(certificate=leaf)))
    assert (result.state, result.reason) == (State.VERIFIED, "ends 2026-11-30 15:00 UTC, in 3 hours")


def test_thresholds_are_the_policys() -> None:
    result = judged("tls/expiry", policy=Policy(tls_days=(100,), tls_share=1.2))
    assert result.code == "within-100-days"


def test_an_expired_certificate_fails_its_chain_and_its_expiry() -> None:
    facts = replace(tls(verified=False, fault="expired"), certificate=EXPIRED)
    seen = shut("certificate", tls=facts)
    assert judged("tls/expiry", seen).code == judged("tls/chain", seen).code == "expired"


def test_without_a_readable_certificate_there_is_no_expiry() -> None:
    result = judged("tls/expiry", shut("tls", tls=tls(verified=False, certificate=None, chain=())))
    assert (result.state, result.code) == (State.NOT_CHECKED, "no-certificate")
    assert result.cause == "tls/chain"


def test_a_certificate_above_that_ends_before_the_leaf_is_told() -> None:
    leaf = certificate()
    above = replace(leaf, not_after=NOW + timedelta(days=2))
    long_over = replace(leaf, not_after=NOW - timedelta(days=60))
    assert judged(
        "tls/expiry", evidence(tls=tls(certificate=leaf, chain=(leaf, above, long_over)))
    ).reason == ("ends 2027-02-10 12:00 UTC, in 72 days; a certificate above it ends before, 2026-12-02")


def test_a_wrong_host_expects_a_certificate_for_the_one_that_was_asked_for() -> None:
    seen = shut("certificate", tls=tls(verified=False, fault="wrong-host", host="api.example.com"))
    (found,) = judged("tls/chain", seen).findings
    assert found.expected == "a certificate that covers api.example.com"
