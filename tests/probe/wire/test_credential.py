"""Secrets do not come back in what a server echoes."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.probe.wire.credential import QUERY, SESSION, Credential, Redactor

TOKEN = "s3cr3t/t0ken+with=odd&chars"


def redactor(*named: tuple[str, str]) -> Redactor:
    made = Redactor()
    for name, value in named:
        made.learn_named(name, value, "token")
    return made


@pytest.mark.parametrize(
    "echo",
    [
        TOKEN,
        f"Bearer {TOKEN}",
        quote(TOKEN, safe=""),
        base64.b64encode(TOKEN.encode()).decode(),
        base64.urlsafe_b64encode(b"x" + TOKEN.encode() + b"y").decode(),
        base64.b64encode(b"user:" + TOKEN.encode()).decode(),
        json.dumps(TOKEN).replace("/", "\\/"),
    ],
)
def test_a_token_is_replaced_in_every_form(echo: str) -> None:
    shown = redactor(("Authorization", f"Bearer {TOKEN}")).text(f"you sent {echo}!")
    assert shown.startswith("you sent ")
    assert "<token>" in shown
    assert TOKEN[3:-3] not in shown
    assert base64.b64encode(TOKEN.encode()).decode()[4:-4] not in shown


@given(st.text("abcXYZ019+/=_-.", min_size=6), st.binary(max_size=5), st.binary(max_size=5))
def test_a_secret_inside_base64_is_found_at_every_offset(secret: str, before: bytes, after: bytes) -> None:
    made = Redactor()
    made.learn(secret, "token")
    shown = made.text(base64.b64encode(before + secret.encode() + after).decode())
    assert "<token>" in shown


@given(st.text(min_size=6), st.booleans())
def test_a_secret_in_a_json_body_is_always_noticed(secret: str, ascii_only: bool) -> None:  # noqa: FBT001
    made = Redactor()
    made.learn(secret, "token")
    body = json.dumps({"echo": secret}, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    if made.touches(body):
        assert secret not in str(made.value(json.loads(body)))
    else:  # every character of it can be escaped, and was
        assert not any(character.isascii() and character.isalnum() for character in secret)


def test_short_values_are_no_secrets() -> None:
    made = redactor(("Authorization", "Bearer abc"), ("X-Api-Key", "12345"))
    assert made.text("abc 12345") == "abc 12345"


@pytest.mark.parametrize(
    ("name", "value"),
    [("X-MCP-Toolsets", "repos,issues"), ("X-Environment", "production"), ("transport", "streamable-http")],
)
def test_settings_that_travel_in_headers_are_no_secrets(name: str, value: str) -> None:
    assert redactor((name, value)).text(f"about {value}") == f"about {value}"


@pytest.mark.parametrize("name", ["key", "apiKey", "x-api-key", "Cookie", "sig", "X-Auth", "access_token"])
def test_a_telling_name_makes_a_secret(name: str) -> None:
    value = "plainword"
    sent = f"sid={value}" if name == "Cookie" else value
    assert redactor((name, sent)).text(f"about {value}") == "about <token>"


def test_a_value_that_looks_random_is_a_secret_under_any_name() -> None:
    assert redactor(("v", "9f86d081884c7d659a2f")).text("9f86d081884c7d659a2f") == "<token>"


def test_the_password_of_basic_authorization_is_a_secret() -> None:
    value = base64.b64encode(b"user:hunter22").decode()
    assert redactor(("Authorization", f"Basic {value}")).text("hunter22 and user") == "<token> and user"


def test_a_session_id_stays_in_a_cursor_and_goes_elsewhere() -> None:
    made = Redactor()
    made.learn("session-0815", SESSION)
    made.learn("query-value-4711", QUERY)
    value = {
        "nextCursor": "session-0815/2",
        "x": ["session-0815"],
        "session-0815": 1,
        "y": "query-value-4711",
    }
    assert made.value(value) == {
        "nextCursor": "session-0815/2",
        "x": ["<session>"],
        "<session>": 1,
        "y": "<redacted>",
    }


def test_a_secret_in_a_cursor_goes() -> None:
    made = redactor(("key", "secret-0815"))
    assert made.value({"nextCursor": "secret-0815"}) == {"nextCursor": "<token>"}


def test_the_longer_of_two_secrets_is_replaced_first() -> None:
    made = Redactor()
    made.learn("abcdef", "short")
    made.learn("abcdefghij", "long")
    assert made.text("abcdefghij abcdef") == "<long> <short>"


def test_a_secret_that_a_quotation_cut_off_is_replaced_as_far_as_it_goes() -> None:
    made = redactor(("Authorization", f"Bearer {TOKEN}"))
    for length in range(10, len(TOKEN) + 1):
        assert made.quotation(f"found '{TOKEN[:length]}' here") == "found '<token>' here"


def test_a_label_may_contain_its_secret() -> None:
    made = Redactor()
    made.learn("session", "session-key")
    assert made.quotation("the session") == "the <session-key>"


def test_a_credential_does_not_show_its_values() -> None:
    assert TOKEN not in repr(Credential.bearer("token", TOKEN))
