"""Who may announce a deploy: tokens, signatures, rotation, and nothing that an attacker writes raises."""

import base64
import hashlib
import hmac
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.config import Hook
from driftwatch.web.hooks.signatures import Headers, Keys, is_signed
from tests.web.sent import github_signature, standard_signature, vercel_signature

NOW = datetime(2026, 11, 1, 12, tzinfo=UTC)
BODY = b'{"ref": "v2"}'
TOKEN, NEXT_TOKEN = "hook-token-0123456789", "hook-token-9876543210"
SECRET, NEXT_SECRET = "hook-secret-0123456789", "whsec_" + base64.b64encode(b"n" * 32).decode()


def standard(key: bytes, *, at: datetime = NOW) -> Headers:
    return standard_signature(key, BODY, at=at)


def keys(*, tokens: tuple[str, ...] = (), secrets: tuple[str, ...] = ()) -> Keys:
    return Keys(Hook(tokens=tokens, secrets=secrets))


def test_without_any_token_or_secret_there_is_nothing_to_open_the_door_with() -> None:
    assert not keys()
    assert keys(tokens=(TOKEN,))
    assert keys(secrets=(SECRET,))


@pytest.mark.parametrize(
    "headers",
    [
        {"authorization": f"Bearer {TOKEN}"},
        {"authorization": f"bearer   {TOKEN} "},
        {"x-gitlab-token": TOKEN},
        {"authorization": "Basic dXNlcjpwYXNz", "x-gitlab-token": TOKEN},
    ],
    ids=["bearer", "bearer in other spelling", "GitLab", "GitLab behind basic authentication"],
)
def test_a_configured_token_opens_and_another_does_not(headers: Headers) -> None:
    assert keys(tokens=(NEXT_TOKEN, TOKEN)).of_token(headers)
    assert keys(tokens=(NEXT_TOKEN,)).of_token(headers) is None
    assert keys(secrets=(TOKEN,)).of_token(headers) is None


def test_callers_are_told_apart_by_a_digest_that_is_not_the_token() -> None:
    both = keys(tokens=(TOKEN, NEXT_TOKEN))
    names = {both.of_token({"authorization": f"Bearer {token}"}) for token in (TOKEN, NEXT_TOKEN)}
    assert len(names) == 2
    assert not any(token[:8] in str(names) for token in (TOKEN, NEXT_TOKEN))


@pytest.mark.parametrize(
    "headers",
    [
        github_signature(SECRET, BODY),
        vercel_signature(SECRET, BODY),
        standard(SECRET.encode()),
        standard(b"n" * 32),
    ],
    ids=["GitHub", "Vercel", "Standard Webhooks, plain secret", "Standard Webhooks, whsec_"],
)
def test_a_signature_holds_for_the_body_it_was_made_of_and_no_other(headers: Headers) -> None:
    wanted = keys(secrets=(NEXT_SECRET, SECRET))
    assert is_signed(headers)
    assert wanted.of_signature(headers, BODY, NOW)
    assert wanted.of_signature(headers, BODY + b" ", NOW) is None
    assert keys(secrets=("another-secret",)).of_signature(headers, BODY, NOW) is None
    assert keys(tokens=(SECRET,)).of_signature(headers, BODY, NOW) is None


def test_a_secret_without_its_prefix_may_be_meant_encoded() -> None:
    bare = NEXT_SECRET.removeprefix("whsec_")
    for key in (b"n" * 32, bare.encode()):
        assert keys(secrets=(bare,)).of_signature(standard(key), BODY, NOW)


@pytest.mark.parametrize(("minutes", "holds"), [(-5, True), (5, True), (-5.1, False), (5.1, False)])
def test_a_signed_time_may_be_five_minutes_off(minutes: float, *, holds: bool) -> None:
    headers = standard(b"n" * 32, at=NOW + timedelta(minutes=minutes))
    assert (keys(secrets=(NEXT_SECRET,)).of_signature(headers, BODY, NOW) is not None) is holds


def test_one_good_signature_among_several_is_enough() -> None:
    headers = dict(standard(b"n" * 32))
    headers["webhook-signature"] = f"v1a,xyz v1,AAAA {headers['webhook-signature']} v2,zzz"
    assert keys(secrets=(NEXT_SECRET,)).of_signature(headers, BODY, NOW)


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_standard_webhooks_needs_all_three_headers(missing: str) -> None:
    headers = {name: value for name, value in standard(b"n" * 32).items() if name != missing}
    assert keys(secrets=(NEXT_SECRET,)).of_signature(headers, BODY, NOW) is None


def test_the_signed_id_and_time_cannot_be_exchanged() -> None:
    for change in ({"webhook-id": "msg_2"}, {"webhook-timestamp": str(int(NOW.timestamp()) + 1)}):
        headers = {**standard(b"n" * 32), **change}
        assert keys(secrets=(NEXT_SECRET,)).of_signature(headers, BODY, NOW) is None


def test_the_older_signature_of_github_opens_nothing() -> None:
    old = {"x-hub-signature": "sha1=" + hmac.new(SECRET.encode(), BODY, hashlib.sha1).hexdigest()}
    assert not is_signed(old)
    assert keys(secrets=(SECRET,)).of_signature(old, BODY, NOW) is None


HEADERS = ("authorization", "x-gitlab-token", "x-hub-signature-256", "x-vercel-signature")
WEBHOOK = ("webhook-id", "webhook-timestamp", "webhook-signature")
LATIN = st.text(st.characters(max_codepoint=255), max_size=60)


@given(st.dictionaries(st.sampled_from(HEADERS + WEBHOOK), LATIN), st.binary(max_size=60))
def test_no_header_raises_and_none_that_is_made_up_opens(headers: Headers, body: bytes) -> None:
    every = keys(tokens=(TOKEN,), secrets=(SECRET, NEXT_SECRET, "whsec_%%%", "ä"))
    assert every.of_token(headers) is None
    assert every.of_signature(headers, body, NOW) is None
