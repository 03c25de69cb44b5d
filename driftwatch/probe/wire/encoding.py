"""Content encodings that nobody asked for, undone with a bound on what they grow to."""

import zlib

from driftwatch.probe.wire.fault import Broken

_GZIP = 31
_ZLIB = 15
_RAW_DEFLATE = -15
_HEADER = 2
_GZIP_NAMES = frozenset({"gzip", "x-gzip"})
_UNDONE = _GZIP_NAMES | {"deflate"}
_REGISTERED = _UNDONE | {"br", "compress", "dcb", "dcz", "x-compress", "zstd"}


class Inflater:
    """Undoes one ``gzip`` or ``deflate``, never growing beyond ``limit`` bytes in all.

    Raises Broken with the code encoding for data that is neither, too-large for more than the limit.
    """

    def __init__(self, name: str, limit: int) -> None:
        self._name = name
        self._limit = limit
        self._size = 0
        self._wbits = _GZIP if name in _GZIP_NAMES else _ZLIB
        self._inflate = zlib.decompressobj(self._wbits)
        self._held = b""
        self._empty = True

    def feed(self, chunk: bytes) -> bytes:
        """What this chunk of the body decodes to."""
        if self._empty:
            # The first two bytes tell one kind of deflate from the other.
            chunk = self._held + chunk
            if len(chunk) < _HEADER:
                self._held = chunk
                return b""
            self._empty, self._held = False, b""
        out = b""
        while chunk:
            piece = self._decompress(chunk)
            out += piece
            self._size += len(piece)
            if self._size > self._limit:
                message = f"the body decodes ({self._name}) to more than {self._limit:,} bytes"
                raise Broken("too-large", "body", message)
            chunk = self._inflate.unconsumed_tail
            if self._inflate.eof and self._inflate.unused_data.strip(b"\0"):
                # RFC 1952 section 2.2: one gzip file may follow another.
                chunk = self._inflate.unused_data
                self._inflate = zlib.decompressobj(self._wbits)
        return out

    def end(self) -> None:
        """Check that the body ended where its encoding does."""
        if self._held or not (self._empty or self._inflate.eof):
            raise Broken("encoding", "body", f"the body ends inside its {self._name} encoding")

    def _decompress(self, chunk: bytes) -> bytes:
        room = self._limit - self._size + 1
        try:
            return self._inflate.decompress(chunk, room)
        except zlib.error as error:
            if self._size or self._wbits != _ZLIB:
                why = str(error).rpartition(": ")[2]
                raise Broken("encoding", "body", f"the body is not valid {self._name}: {why}") from None
        # RFC 9110 section 8.4.1.2: some servers send deflate without the zlib wrapper.
        self._wbits = _RAW_DEFLATE
        self._inflate = zlib.decompressobj(self._wbits)
        return self._decompress(chunk)


def codings(content_encoding: str | None) -> list[str]:
    """What a Content-Encoding header names, in lower case and without identity."""
    if content_encoding is None:
        return []
    names = [name.strip().lower() for name in content_encoding.split(",")]
    return [name for name in names if name not in {"", "identity"}]


def inflater(content_encoding: str | None, limit: int) -> Inflater | None:
    """What undoes a Content-Encoding header. Raises Broken for a coding that cannot be undone.

    None where there is none to undo: clients read a body as it is when its coding is none (``utf-8``).
    """
    names = codings(content_encoding)
    if len(names) == 1 and names[0] in _UNDONE:
        return Inflater(names[0], limit)
    if _REGISTERED.isdisjoint(names):
        return None
    shown = ", ".join(names)[:60]
    raise Broken("encoding", "body", f"the body is encoded ({shown}) although only identity was asked for")
