"""Server-sent events, read byte by byte.

The rules are those of the HTML standard (section 9.2.6, "Interpreting an event stream") with two
differences: bytes are kept as they came, so that wrong UTF-8 can be told, and an event that the end of the
stream cut off is handed out and marked instead of dropped.
"""

import re
from dataclasses import dataclass

EVENT_STREAM = "text/event-stream"
_LINE_END = re.compile(rb"\r\n|\n|\r")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    """One event of an SSE stream."""

    name: str = "message"
    """The ``event`` field, or ``message`` without one."""
    raw: bytes = b""
    """The ``data`` lines joined by LF."""
    terminated: bool = True
    """False when the stream ended before the blank line that should end the event."""

    @property
    def data(self) -> str:
        """The data as text; what is not UTF-8 becomes U+FFFD, as in a browser."""
        return self.raw.decode("utf-8", "replace")


class SseReader:
    """Turns the chunks of a body into events, wherever the chunks were cut.

    Lines end with CR, LF or CRLF. An event without data is no event, as the standard says.
    """

    def __init__(self) -> None:
        self.resumable = False
        """Whether the server named an id from which the stream could be taken up again."""
        self._started = False
        self._swallow_lf = False
        self._line: list[bytes] = []
        self._name = b""
        self._data: list[bytes] = []

    def feed(self, chunk: bytes) -> list[SseEvent]:
        """The events that this chunk completes."""
        if not self._started:
            self._line.append(chunk)
            chunk = b"".join(self._line)
            if len(chunk) < len(_BOM) and _BOM.startswith(chunk):
                self._line = [chunk]
                return []
            self._started = True
            self._line = []
            chunk = chunk.removeprefix(_BOM)
        if self._swallow_lf and chunk:
            self._swallow_lf = False
            chunk = chunk.removeprefix(b"\n")
        if not chunk:
            return []
        lines = _LINE_END.split(chunk)
        if len(lines) == 1:
            self._line.append(chunk)
            return []
        # A CR at the end of the chunk ends its line now; the LF that may follow belongs to it.
        self._swallow_lf = chunk.endswith(b"\r")
        lines[0] = b"".join((*self._line, lines[0]))
        rest = lines.pop()
        self._line = [rest] if rest else []
        events = []
        for line in lines:
            if line:
                self._field(line)
            # What is looked at first makes a flood of empty lines cheap.
            elif (self._data or self._name) and (event := self._dispatch(terminated=True)) is not None:
                events.append(event)
        return events

    def end(self) -> SseEvent | None:
        """The event that the end of the stream left without its blank line, if there is one."""
        line = b"".join(self._line)
        self._line = []
        if line:
            self._field(line if self._started else line.removeprefix(_BOM))
        return self._dispatch(terminated=False)

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if name == b"data":
            self._data.append(value.removeprefix(b" "))
        elif name == b"event":
            self._name = value.removeprefix(b" ")
        elif name == b"id":
            self.resumable = True

    def _dispatch(self, *, terminated: bool) -> SseEvent | None:
        name, data = self._name, self._data
        self._name, self._data = b"", []
        raw = b"\n".join(data)
        if not raw:
            return None
        return SseEvent(name=name.decode("utf-8", "replace") or "message", raw=raw, terminated=terminated)
