"""Strict JSON and the choice of the answering message."""

import json
import sys
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.probe.wire.message import NotJsonError, answer, decode

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


def codes(raw: bytes) -> list[str]:
    return [remark.code for remark in decode(raw, max_depth=20).remarks]


REFUSED = {
    "nothing": (b"", "json", "the body is empty"),
    "only-space": (b" \n", "json", "the body is empty"),
    "html": (b"<!doctype html>", "json", "not JSON but a web page"),
    "html-with-a-title": (b"<html><title>Sign in</title>", "json", "not JSON but a web page: 'Sign in'"),
    "xml": (b"<error/>", "json", "not JSON: expecting value at byte 0 before '<error/>'"),
    "nan": (b'{"a": NaN}', "json", "NaN is not JSON"),
    "infinity": (b"[-Infinity]", "json", "-Infinity is not JSON"),
    "a-second-value": ('{"ü": 1} {}'.encode(), "json", "not JSON: extra data at byte 10 before '{}'"),
    "a-cut-value": (b'{"a": [1, 2', "json", "not JSON: expecting ',' delimiter at byte 11, where it ends"),
    "single-quotes": (b"{'a': 1}", "json", "not JSON: expecting property name"),
    "a-trailing-comma": (b"[1,]", "json", "not JSON: "),
    "a-raw-control-character": (b'["\x01"]', "json", "not JSON: invalid control character at byte 2"),
    "a-leading-zero": (b"[01]", "json", "not JSON: "),
    "an-event-stream": (b"data: {}\n\n", "json", "not JSON: expecting value at byte 0"),
    "latin-1": (b'["caf\xe9"]', "utf-8", "byte 0xe9 at offset 5 is not UTF-8"),
    "half-a-character": (b'["\xc3"]', "utf-8", "byte 0xc3 at offset 2 is not UTF-8"),
    "an-encoded-surrogate": (b'["\xed\xa0\x80"]', "utf-8", "byte 0xed at offset 2 is not UTF-8"),
    "utf-16": ('["a"]'.encode("utf-16"), "utf-8", "byte 0xff at offset 0 is not UTF-8"),
    "utf-16-without-a-mark": ('["a"]'.encode("utf-16-be"), "json", "not JSON: "),
    "twenty-one-levels": (b"[" * 21 + b"]" * 21, "depth", "JSON nested deeper than 20 levels"),
    "a-thousand-levels": (b'{"a":' * 1000 + b"1" + b"}" * 1000, "depth", "JSON nested deeper than 20 levels"),
    "a-hundred-thousand-levels": (
        b"[" * 100_000 + b"]" * 100_000,
        "depth",
        "JSON nested deeper than 20 levels",
    ),
    "deep-with-a-duplicate": (
        b'{"a":1,"a":' * 2000 + b"1" + b"}" * 2000,
        "depth",
        "JSON nested deeper than 20 levels",
    ),
}


@pytest.mark.parametrize(("raw", "code", "text"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_strict_json_is_refused_with_its_place(raw: bytes, code: str, text: str) -> None:
    with pytest.raises(NotJsonError) as caught:
        decode(raw, max_depth=20)
    assert caught.value.fault.code == code
    assert caught.value.fault.phase == "message"
    assert caught.value.fault.message.startswith(text)


def test_as_many_levels_as_allowed_are_read() -> None:
    assert decode(b"[" * 20 + b"]" * 20, max_depth=20).value is not None
    brackets_in_strings = json.dumps([["[" * 50, "]" * 50, "{}" * 50]] * 30).encode()
    assert decode(brackets_in_strings, max_depth=3).remarks == ()


def test_closing_brackets_inside_strings_hide_no_depth() -> None:
    with pytest.raises(NotJsonError, match="deeper than 20"):
        decode(b'["]]]]]]]]]]]]]]",' * 21 + b"1" + b"]" * 21, max_depth=20)


@given(VALUES, st.integers(1, 5))
def test_depth_is_counted_right(value: Any, limit: int) -> None:
    def depth(value: Any) -> int:
        if not isinstance(value, dict | list):
            return 0
        return 1 + max(map(depth, value.values() if isinstance(value, dict) else value), default=0)

    raw = json.dumps(value).encode()
    if depth(value) > limit:
        with pytest.raises(NotJsonError):
            decode(raw, max_depth=limit)
    else:
        decode(raw, max_depth=limit)


@given(VALUES)
def test_what_was_written_is_what_is_read(value: Any) -> None:
    for escaped in (True, False):
        decoded = decode(json.dumps(value, ensure_ascii=escaped).encode("utf-8"), max_depth=50)
        assert decoded.value == value
        assert decoded.remarks == ()


@given(st.binary(max_size=200) | st.text().map(str.encode))
def test_no_bytes_raise_anything_else(raw: bytes) -> None:
    with suppress(NotJsonError):
        decode(raw, max_depth=20)


@given(
    st.lists(
        st.sampled_from(['{"a":', '"a":1,"a":', "[", "]", "}", "1e999", "\\ud800", '"', ",", "9" * 5000])
    )
)
def test_no_mixture_of_oddities_raises_anything_else(parts: list[str]) -> None:
    with suppress(NotJsonError):
        decode("".join(parts).encode(), max_depth=20)


def test_a_byte_order_mark_is_remarked() -> None:
    decoded = decode(b"\xef\xbb\xbf[1]", max_depth=20)
    assert (decoded.value, codes(b"\xef\xbb\xbf[1]")) == ([1], ["bom"])


def test_of_duplicate_members_the_last_counts_and_each_is_named_by_its_pointer() -> None:
    raw = b'{"tools":[{"q":1,"q":{"a/b":1,"a/b":2}},{"q":1}],"m~":0,"m~":1}'
    decoded = decode(raw, max_depth=20)
    assert decoded.value == {"tools": [{"q": {"a/b": 2}}, {"q": 1}], "m~": 1}
    (remark,) = decoded.remarks
    assert remark.code == "duplicate-member"
    assert remark.message.endswith("the last one counts: /tools/0/q, /tools/0/q/a~1b, /m~0")


def test_of_many_duplicates_a_few_are_named_and_the_rest_is_counted() -> None:
    raw = ("{" + ",".join(f'"k{place}":1,"k{place}":2' for place in range(500)) + "}").encode()
    (remark,) = decode(raw, max_depth=20).remarks
    assert remark.message.endswith(": /k0, /k1, /k2, /k3, +496 more")


def test_half_a_surrogate_pair_is_remarked_and_kept() -> None:
    decoded = decode(rb'{"a":{"x\ud83d":["\ude00"]},"ok":"\ud83d\ude00"}', max_depth=20)
    assert decoded.value == {"a": {"x\ud83d": ["\ude00"]}, "ok": "😀"}
    (remark,) = decoded.remarks
    assert remark.code == "lone-surrogate"
    assert remark.message == r"half a surrogate pair in the text at /a/x\ud83d, /a/x\ud83d/0"


def test_a_backslash_before_a_u_is_no_surrogate() -> None:
    assert decode(rb'["\\ud83d"]', max_depth=20) == decode(b'["\\u005cud83d"]', max_depth=20)


def test_integers_are_exact_as_far_as_python_prints_them_again() -> None:
    digits = "1" + "2" * 4299
    assert decode(f"[{digits}]".encode(), max_depth=20).value == [int(digits)]
    json.dumps(decode(f"[{digits}]".encode(), max_depth=20).value)


def test_a_number_that_no_client_can_represent_is_clamped_and_remarked() -> None:
    decoded = decode(b'{"a":1e400,"b":-1e400,"c":' + b"9" * 5000 + b',"d":1e-400}', max_depth=20)
    limit = sys.float_info.max
    assert decoded.value == {"a": limit, "b": -limit, "c": limit, "d": 0.0}
    (remark,) = decoded.remarks
    assert remark.code == "number-range"
    assert remark.message.startswith("outside of what clients can represent: 1e400, -1e400, 999")
    assert len(remark.message) < 200


def chosen(value: Any, wanted: Any = 1, *, sole: bool = True) -> tuple[Any, list[str]]:
    found = answer(value, wanted, sole=sole)
    return found.message, [remark.code for remark in found.remarks]


OURS = {"jsonrpc": "2.0", "id": 1, "result": {}}
FAILED = {"jsonrpc": "2.0", "id": 1, "error": {"code": -32601, "message": "no"}}
NOTE = {"jsonrpc": "2.0", "method": "notifications/message"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


def test_the_message_with_our_id_answers() -> None:
    assert chosen(OURS) == (OURS, [])
    assert chosen(FAILED) == (FAILED, [])


@pytest.mark.parametrize("given_id", ["1", 1.0])
def test_an_id_of_another_type_is_taken_and_remarked(given_id: Any) -> None:
    theirs = {**OURS, "id": given_id}
    assert chosen(theirs) == (theirs, ["id-type"])
    assert chosen(theirs, sole=False) == (theirs, ["id-type"])


def test_true_is_not_one() -> None:
    assert chosen({**OURS, "id": True}, sole=False) == (None, [])


@pytest.mark.parametrize("theirs", [{**FAILED, "id": None}, {"jsonrpc": "2.0", "error": FAILED["error"]}])
def test_an_error_without_an_id_is_taken_and_remarked(theirs: Any) -> None:
    assert chosen(theirs) == (theirs, ["id-null"])
    assert chosen(theirs, sole=False) == (theirs, ["id-null"])


def test_a_wrong_id_is_taken_only_when_nothing_else_can_be_meant() -> None:
    theirs = {**OURS, "id": 7}
    assert chosen(theirs) == (theirs, ["id-wrong"])
    assert chosen(theirs, sole=False) == (None, [])
    assert chosen([theirs, {**OURS, "id": 8}]) == (None, ["batch"])


@pytest.mark.parametrize(("id_", "given"), [({"id": 7}, "7"), ({"id": None}, "null"), ({}, "none")])
def test_of_an_answer_with_a_wrong_id_the_remark_says_which(id_: dict[str, Any], given: str) -> None:
    theirs = {"jsonrpc": "2.0", "result": {}, **id_}
    (remark,) = answer(theirs, 1, sole=True).remarks
    assert remark.message == f"the id of the only answer is not that of the request: {given} instead of 1"


def test_notifications_and_requests_of_the_server_are_no_answer() -> None:
    assert chosen(NOTE, sole=False) == (None, [])
    assert chosen(PING, sole=False) == (None, ["server-request"])
    assert chosen([NOTE, PING, OURS]) == (OURS, ["batch", "server-request"])


def test_of_an_array_the_matching_element_is_taken() -> None:
    assert chosen([{**OURS, "id": 2}, OURS]) == (OURS, ["batch"])


def test_a_result_beside_an_error_is_remarked() -> None:
    both = {**OURS, **FAILED}
    assert chosen(both) == (both, ["result-and-error"])


def test_a_null_error_beside_a_result_is_remarked_and_dropped() -> None:
    assert chosen({**OURS, "error": None}) == (OURS, ["result-and-error"])


def test_without_an_awaited_id_any_response_is_taken_as_it_is() -> None:
    theirs = {**FAILED, "id": "server-error"}
    assert chosen(theirs, None) == (theirs, [])


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ({"detail": "Not Found"}, "an object with detail"),
        ({}, "an empty object"),
        ([], "an empty array"),
        ([1], "an array without one"),
        ("hello", 'only "hello"'),
        ({"jsonrpc": "2.0", "id": 1}, "an object with jsonrpc, id"),
    ],
)
def test_json_without_a_json_rpc_message_is_a_fault_of_the_envelope(value: Any, kind: str) -> None:
    with pytest.raises(NotJsonError, match="no JSON-RPC message") as caught:
        answer(value, 1, sole=True)
    assert caught.value.fault.code == "envelope"
    assert caught.value.fault.message.endswith(kind)


@given(VALUES, st.none() | st.integers() | st.text(), st.booleans())
def test_no_value_breaks_the_choice(value: Any, wanted: Any, sole: bool) -> None:  # noqa: FBT001
    with suppress(NotJsonError):
        answer(value, wanted, sole=sole)
