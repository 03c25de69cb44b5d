"""Content encodings that nobody asked for."""

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from driftwatch.probe.wire.encoding import inflater
from driftwatch.probe.wire.fault import Broken

BODY = b'{"jsonrpc":"2.0","id":1,"result":{}}' * 20


def raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "x-gzip": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
}


def unpack(name: str, *chunks: bytes, limit: int = 10_000) -> bytes:
    undo = inflater(name, limit)
    assert undo is not None
    body = b"".join(map(undo.feed, chunks))
    undo.end()
    return body


@pytest.mark.parametrize("name", PACKERS)
def test_one_encoding_is_undone_wherever_the_body_is_cut(name: str) -> None:
    packed = PACKERS[name](BODY)
    for place in range(len(packed) + 1):
        assert unpack(name, packed[:place], packed[place:]) == BODY
    assert unpack(name, *(packed[place : place + 1] for place in range(len(packed)))) == BODY


def test_several_gzip_members_are_one_body() -> None:
    packed = gzip.compress(b"a") + gzip.compress(b"b")
    assert unpack("gzip", packed) == b"ab"
    assert unpack("gzip", packed[:25], packed[25:]) == b"ab"


@pytest.mark.parametrize("name", [None, "", "identity", "Identity, identity", "utf-8", "none", "gzip;q=1"])
def test_no_encoding_needs_no_undoing(name: str | None) -> None:
    assert inflater(name, 100) is None


@pytest.mark.parametrize("name", ["br", "zstd", "gzip, gzip", "compress", "utf-8, br", "br" + ", zstd" * 90])
def test_what_cannot_be_undone_is_named(name: str) -> None:
    with pytest.raises(Broken) as caught:
        inflater(name, 100)
    assert caught.value.fault.code == "encoding"
    assert name[:60] in caught.value.fault.message
    assert len(caught.value.fault.message) < 200


def test_an_empty_body_is_an_empty_body() -> None:
    assert unpack("gzip") == b""


@pytest.mark.parametrize(
    "packed",
    [b"{", b'{"a":1}', gzip.compress(BODY, mtime=0)[:-9], gzip.compress(b"a", mtime=0) + b"trailing"],
    ids=["one byte", "not packed", "cut", "with a rest"],
)
def test_a_body_that_is_not_what_its_header_says_is_a_fault(packed: bytes) -> None:
    with pytest.raises(Broken) as caught:
        unpack("gzip", packed)
    assert caught.value.fault.code == "encoding"
    assert "Error -3" not in caught.value.fault.message


@pytest.mark.parametrize("name", PACKERS)
def test_a_bomb_stops_at_the_limit(name: str) -> None:
    packed = PACKERS[name](b"\0" * 50_000_000)
    assert len(packed) < 60_000
    undo = inflater(name, 10_000)
    assert undo is not None
    with pytest.raises(Broken) as caught:
        undo.feed(packed)
    assert caught.value.fault.code == "too-large"
    assert "10,000 bytes" in caught.value.fault.message


def test_exactly_the_limit_is_allowed() -> None:
    assert len(unpack("gzip", gzip.compress(b"x" * 10_000))) == 10_000


@given(st.sampled_from(["gzip", "deflate"]), st.lists(st.binary(max_size=20), max_size=5))
def test_no_bytes_raise_anything_else(name: str, chunks: list[bytes]) -> None:
    try:
        unpack(name, *chunks)
    except Broken as broken:
        assert broken.fault.phase == "body"  # noqa: PT017 - most bytes raise, some do not
