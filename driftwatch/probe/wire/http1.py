"""HTTP/1.1 as bytes: the head of a request, and a reply as llhttp reads it.

llhttp is the parser of Node and so of every agent that is written for it: what it refuses, they refuse too,
those on Node before 24 a little less.
"""

import re
from collections import deque
from http import HTTPStatus
from itertools import chain

import httptools

from driftwatch.probe.wire.fault import Broken

Fields = list[tuple[str, str]]
"""Names and values; each character stands for one byte."""

_VALUE = r"(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?"
_FIELD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+: " + _VALUE + r"\r\n"
_HEAD = re.compile(r"[A-Z]+ [\x21-\x7e]+ HTTP/1\.1\r\n(?:" + _FIELD + r")*\r\n")
_HTTP2_SETTINGS = re.compile(rb"\x00..\x04.\x00{4}", re.DOTALL)
"""The head of the frame with which a server of HTTP/2 begins (RFC 9113, section 3.4)."""
_HTTP = b"HTTP/"
_QUOTED = 40
_NODE_HEADERS = 16 * 1024
"""How much of names and values Node reads."""
_OFTEN_READ = ("Duplicate Content-Length", "Missing expected CR", "Unexpected whitespace after header value")
"""What more lenient parsers than llhttp accept: whoever tries with those wonders."""


def in_utf8(text: str) -> str:
    """A value of a field whose bytes are this text in UTF-8."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("latin-1")


def head(method: str, target: str, fields: Fields) -> bytes:
    """The request line and the header block. Raises ValueError for what is not valid in them."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in fields])
    block = f"{method} {target} HTTP/1.1\r\n{lines}\r\n"
    # A value with a line break in it would be valid as two fields.
    if _HEAD.fullmatch(block) is None or block.count("\n") != len(fields) + 2:
        raise ValueError("not a valid request head")
    return block.encode("latin-1")


class ReplyParser:
    """One reply of a connection as it arrives, informational ones before it skipped."""

    def __init__(self) -> None:
        self._parser = httptools.HttpResponseParser(self)
        # Not every client minds, so that it is a remark of the wire.
        self._parser.set_dangerous_leniencies(lenient_chunked_length=True)
        self.begin()

    def begin(self) -> None:
        """Expect a reply: the first one, or the next after one that left the connection reusable."""
        self.status = 0
        """0 until its header block is complete."""
        self.headers: Fields = []
        """Names in lower case, in the order received."""
        self.headers_size = 0
        """Bytes of their names and values."""
        self.body: deque[bytes] = deque()
        """The pieces that nobody has taken yet."""
        self.ended = False
        self.surplus = False
        """Whether more came after its end, against its own framing."""
        self.broken: Broken | None = None
        """Why nothing more can come of it."""
        self._continued = False
        self._size = 0
        self._begins = b""
        self._coding = ""
        self._keeps_alive = False

    def feed(self, data: bytes) -> None:
        """Take some bytes; none at the end of the connection."""
        if len(self._begins) < _QUOTED:
            self._begins = (self._begins + data)[:_QUOTED]
        if not data:
            self._end()
            return
        if not self._begins.startswith(_HTTP[: len(self._begins)]):  # llhttp lets blank lines pass
            self.broken = Broken("protocol", "headers", f"not HTTP: {self._beginning}")
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            if self.ended:
                self.surplus = True
            elif isinstance(error.__context__, Broken):
                self.broken = error.__context__
            else:
                self.broken = self._invalid(self._explained(str(error)))

    @property
    def reusable(self) -> bool:
        """Whether another request may follow on the connection."""
        return self.ended and self._keeps_alive and not self.surplus

    @property
    def until_close(self) -> bool:
        """Whether nothing but the end of the connection says where it ends."""
        return not (self._coding or self._values("content-length"))

    @property
    def doubts(self) -> list[str]:
        """Why some clients give up at this header block; a sentence each."""
        found = []
        if self._continued:  # RFC 9110 section 15.2: a client must take it, expected or not
            found.append("100 Continue comes before the reply, unasked: agents on Node give up at it")
        if self.headers_size >= _NODE_HEADERS:
            size, limit = f"{self.headers_size:,}", f"{_NODE_HEADERS:,}"
            found.append(f"the headers are {size} bytes: agents on Node give up at {limit}")
        return found

    def _end(self) -> None:
        if not self._begins:
            self.broken = Broken("reset", "headers", "the server closed the connection without an answer")
        elif not self.status:
            what = f"the connection ended inside the header block: {self._beginning}"
            self.broken = Broken("reset", "headers", what)
        elif self.until_close:
            self.ended = True
        elif self._coding:
            what = f"the body was cut: {self._size:,} bytes came, and no last chunk"
            self.broken = Broken("reset", "body", what)
        else:
            length = int(self._values("content-length")[0])
            what = f"the body was cut: {self._size:,} of {length:,} bytes came"
            self.broken = Broken("reset", "body", what)

    def _invalid(self, what: str) -> Broken:
        return Broken("protocol", "body" if self.status else "headers", f"not valid HTTP: {what}")

    def _explained(self, error: str) -> str:
        what = error[:1].lower() + error[1:].replace(", RTSP/ or ICE/", "")
        if self.status:
            return what
        if error.startswith(_OFTEN_READ):
            what += " (curl and others read it, agents on Node 24 do not)"
        if self.headers:
            return f"{what}, after the header {self.headers[-1][0]!r}"
        return f"{what}; {self._beginning}"

    @property
    def _beginning(self) -> str:
        if self._begins.startswith((b"\x15\x03", b"\x16\x03")):
            return "the port speaks TLS"
        if _HTTP2_SETTINGS.match(self._begins):
            return "the port speaks HTTP/2 alone, and most clients of MCP speak HTTP/1.1"
        return f"the reply begins with {self._begins!r}"

    @property
    def _distrusted(self) -> bool:
        # RFC 9112 section 6.1: chunks beside a length, or in HTTP/1.0, end the trust in what follows.
        old = self._parser.get_http_version() == "1.0"
        return old or bool(self._values("content-length"))

    def _values(self, wanted: str) -> list[str]:
        return [value for name, value in self.headers if name == wanted]

    def on_message_begin(self) -> None:
        """Called by llhttp while it is fed, as are those below. What they raise ends the feeding."""
        if self.ended:
            raise self._invalid("a second reply")
        self.headers.clear()

    def on_header(self, name: bytes, value: bytes) -> None:
        """One field of a header block, or of the trailer after a chunked body."""
        if not self.status:
            # llhttp keeps what stands after a value.
            self.headers.append((name.decode("latin-1").lower(), value.decode("latin-1").rstrip(" \t")))

    def on_headers_complete(self) -> None:
        """The end of a header block."""
        status = self._parser.get_status_code()
        if status < HTTPStatus.OK:
            self._on_informational(status)
            return
        coding = ", ".join(self._values("transfer-encoding"))
        if coding and coding.lower() != "chunked":
            what = f"Transfer-Encoding {coding[:_QUOTED]!r}, where clients know only chunked"
            raise self._invalid(what)
        self.status, self._coding = status, coding
        self.headers_size = sum(map(len, chain.from_iterable(self.headers)))

    def _on_informational(self, status: int) -> None:
        if status < HTTPStatus.CONTINUE:
            raise self._invalid(f"the status code {status} does not exist")
        if status == HTTPStatus.SWITCHING_PROTOCOLS:
            what = "the server switches to another protocol (status 101), which nobody asked for"
            raise self._invalid(what)
        self._continued |= status == HTTPStatus.CONTINUE

    def on_body(self, piece: bytes) -> None:
        """Some of the body."""
        self._size += len(piece)
        self.body.append(piece)

    def on_message_complete(self) -> None:
        """The end of a reply, or of an informational one."""
        if self.status:
            self.ended = True
            trusted = not (self._coding and self._distrusted)
            self._keeps_alive = trusted and self._parser.should_keep_alive()
