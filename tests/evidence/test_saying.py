import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.evidence.saying import LIMIT, words


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("", ""),
        ("Invalid Host header", "Invalid Host header"),
        ("first line\r\n\tsecond  line", "first line second line"),
        (
            "<html>\r\n<head><title>400 No required SSL certificate was sent</title></head></html>",
            "400 No required SSL certificate was sent",
        ),
        ("<html><title></title><body><h1>Bad <b>Gateway</b></h1>", "Bad Gateway"),
        ("<!-- x --><style>p {}</style><p>Down &amp; out</p>", "Down & out"),
        ('{"error": {"code": 7, "message": "blocked by policy"}}', "blocked by policy"),
        ('{"error": "invalid_token", "error_description": "it has expired"}', "it has expired"),
        ('{"jsonrpc": "2.0", "error": {"code": -32600, "message": "no session"}}', "no session"),
        (
            '{"detail": [{"loc": ["body", "id"], "msg": "Field required", "type": "missing"}]}',
            "Field required",
        ),
        ("<title>404: This page could not be found</title>", "404: This page could not be found"),
        ('{"Message": "User is not authorized"}', "User is not authorized"),
        ('{"error": {"error": {"message": "quota exceeded"}}}', "quota exceeded"),
        ('{"errors": [{"status": 403}, {"detail": "no route"}]}', "no route"),
        ('{"fault": {"faultstring": "Invalid ApiKey", "detail": {"errorcode": "x"}}}', "Invalid ApiKey"),
        ('{"type": "about:blank", "title": "Forbidden", "detail": "not from here"}', "not from here"),
        ('{"message": "", "error": "Unauthorized"}', "Unauthorized"),
        (
            '<?xml version="1.0"?><Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
            "Access Denied",
        ),
        (
            "<s:Fault><faultcode>x</faultcode><faultstring>no &lt;action&gt;</faultstring></s:Fault>",
            "no <action>",
        ),
        ('{"status": "maintenance"}', ""),
        ('{"cut off": ', ""),
        ('"shut"', "shut"),
        ("[1, 2]", ""),
        ("[" * 50 + '"deep"' + "]" * 50, ""),
        ("\x1b[31mred\u202e", "[31mred"),
    ],
)
def test_the_sentence_that_a_person_would_read_is_taken_out_of_a_body(body: str, said: str) -> None:
    assert words(body) == said


@given(st.text(max_size=2000))
def test_whatever_came_is_one_short_printable_line(body: str) -> None:
    said = words(body)
    assert len(said) <= LIMIT
    assert said.isprintable()
