"""WWW-Authenticate as RFC 9110 writes it, and as servers do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.probe.credentials.challenge import parse

URL = "https://h.example/.well-known/oauth-protected-resource/mcp"


def read(*values: str) -> list[tuple[str, str | None, dict[str, str]]]:
    challenges, _ = parse(values)
    return [(each.scheme, each.token68, dict(each.parameters)) for each in challenges]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("Bearer", [("Bearer", None, {})]),
        ('Bearer resource_metadata="' + URL + '"', [("Bearer", None, {"resource_metadata": URL})]),
        (
            f'bearer error="invalid_token", Resource_Metadata = "{URL}"',
            [("bearer", None, {"error": "invalid_token", "resource_metadata": URL})],
        ),
        ('Bearer realm="a, Basic realm=b"', [("Bearer", None, {"realm": "a, Basic realm=b"})]),
        ('Bearer realm="say \\"hi\\" \\\\"', [("Bearer", None, {"realm": 'say "hi" \\'})]),
        ("Negotiate YWJj==", [("Negotiate", "YWJj==", {})]),
        (
            "Negotiate YWJj, NTLM, Bearer realm=x, scope=y",
            [
                ("Negotiate", "YWJj", {}),
                ("NTLM", None, {}),
                ("Bearer", None, {"realm": "x", "scope": "y"}),
            ],
        ),
        (
            'Basic realm="simple", Newauth realm="apps", type=1, title="Login to \\"apps\\""',
            [
                ("Basic", None, {"realm": "simple"}),
                ("Newauth", None, {"realm": "apps", "type": "1", "title": 'Login to "apps"'}),
            ],
        ),
        (" , Bearer ,, realm=x , ", [("Bearer", None, {"realm": "x"})]),
        ("", []),
    ],
)
def test_challenges_are_read_as_they_are_meant(
    value: str, expected: list[tuple[str, str | None, dict[str, str]]]
) -> None:
    assert read(value) == expected
    assert parse([value])[1] is None


def test_several_headers_are_one_list_and_a_challenge_does_not_cross_them() -> None:
    assert read("Basic realm=a", "Bearer realm=b") == [
        ("Basic", None, {"realm": "a"}),
        ("Bearer", None, {"realm": "b"}),
    ]
    challenges, malformed = parse(["Bearer", "realm=b"])
    assert [each.parameters for each in challenges] == [()]
    assert malformed == "realm=b"


@pytest.mark.parametrize(
    ("value", "piece"),
    [
        (f"Bearer resource_metadata={URL}", f"resource_metadata={URL}"),
        ('Bearer realm="never ends', 'realm="never ends'),
        ("Bearer realm=a, realm=b", "realm=b"),
        ("=", "="),
        ("Bearer a b", "a b"),
    ],
)
def test_what_is_malformed_is_named(value: str, piece: str) -> None:
    assert parse([value])[1] == piece


def test_an_address_without_quotes_is_understood_all_the_same() -> None:
    assert read(f"Bearer resource_metadata={URL}, scope=x") == [
        ("Bearer", None, {"resource_metadata": URL, "scope": "x"})
    ]


token = st.text("abcXYZ09-_.~!#$%&'*+^`|", min_size=1, max_size=8)
quoted = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=20)


@given(st.lists(st.tuples(token, st.dictionaries(token.map(str.lower), quoted, max_size=4)), max_size=4))
def test_whatever_is_written_properly_is_read_back(written: list[tuple[str, dict[str, str]]]) -> None:
    def spell(value: str) -> str:
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}"'

    header = ", ".join(
        f"{scheme} {', '.join(f'{name}={spell(value)}' for name, value in parameters.items())}".strip()
        for scheme, parameters in written
    )
    assert read(header) == [(scheme, None, parameters) for scheme, parameters in written]
    assert parse([header])[1] is None


@given(st.lists(st.text(max_size=60), max_size=3))
def test_nothing_makes_the_parser_raise(values: list[str]) -> None:
    challenges, _ = parse(values)
    assert all(each.scheme for each in challenges)


def test_a_header_block_full_of_parameters_is_read_in_one_pass() -> None:
    many = "Bearer " + ",".join(f"p{number}=x" for number in range(20_000))
    (challenge,), malformed = parse([many])
    assert len(challenge.parameters) == 20_000
    assert malformed is None
