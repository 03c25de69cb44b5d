"""The body of a reply: bounded, decoded, and the JSON-RPC message in it that answers."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from driftwatch.evidence import Fault, Remark
from driftwatch.model import Json
from driftwatch.probe.wire import echo, message
from driftwatch.probe.wire.credential import Redactor
from driftwatch.probe.wire.encoding import Inflater
from driftwatch.probe.wire.fault import Broken, within
from driftwatch.probe.wire.message import NotJsonError
from driftwatch.probe.wire.sse import EVENT_STREAM, SseEvent, SseReader

EXCERPT_BYTES = 8192
MAX_CHUNKS = 100_000
"""A body in more pieces is an attack on our patience: its framing costs more than its content."""

_SSE_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_MAX_REMARKS = 30
_WORTH_A_THREAD = 256 * 1024
_BREATHE = 64


class Body:
    """Reads one body, chunk by chunk, within its limits. Raises Broken when one is hit."""

    def __init__(
        self,
        chunk: Callable[[], Awaitable[bytes]],
        *,
        inflater: Inflater | None,
        redactor: Redactor,
        max_bytes: int,
        max_events: int,
        max_depth: int,
        ends: float | None = None,
    ) -> None:
        """``ends`` bounds what takes a thread; None: nothing does."""
        self.size = 0
        """Bytes as they came over the wire, without HTTP's framing."""
        self.head = bytearray()
        """The first decoded bytes, for the excerpt."""
        self.complete = False
        """Whether the end was reached."""
        self.answer: Json = None
        self.fault: Fault | None = None
        """Why there is no answer, although everything arrived."""
        self.remarks: list[Remark] = []
        self._chunk = chunk
        self._chunks = 0
        self._other_answer = False
        self._inflater = inflater
        self._redactor = redactor
        self._max_bytes = max_bytes
        self._max_events = max_events
        self._max_depth = max_depth
        self._ends = ends

    async def read_whole(self) -> bytes:
        """Every byte of the body, decoded."""
        parts = []
        while part := await self.next_part():
            parts.append(part)
        return b"".join(parts)

    async def read_answer(self, wanted: Json, media_type: str | None) -> None:
        """Read up to the message that answers the request with this id, or to the end.

        The media type decides how; one that MCP does not know is told apart by the first bytes.
        """
        first = b""
        if media_type == EVENT_STREAM:
            await self._takes(wanted, b"")
        elif media_type is not None and (media_type == "application/json" or media_type.endswith("+json")):
            await self._read_json(wanted, b"")
        else:
            while len(first) < len("event:") and (part := await self.next_part()):
                first = (first + part).lstrip()
            if first.startswith(_SSE_FIELDS):
                await self._takes(wanted, first)
            else:
                await self._read_json(wanted, first)

    async def read_object(self) -> None:
        """Read the whole body; the answer is the JSON object that it is, if it is one."""
        raw = await self.read_whole()
        if not raw:
            return
        try:
            decoded = await self._decode(raw)
        except NotJsonError:
            return
        if isinstance(decoded.value, dict):
            self.answer = decoded.value
            self._remark(decoded.remarks)

    def blame_length(self, length: str | None) -> None:
        """More came than the Content-Length says: where what it leaves is no JSON, that is the reason."""
        if length is None or self.fault is None or (self.fault.code != "json" and self.size):
            return
        what = f"its Content-Length of {length} is too small (more came): {self.fault.message}"
        self.fault = replace(self.fault, message=what)

    async def _read_json(self, wanted: Json, first: bytes) -> None:
        raw = first + await self.read_whole()
        if not raw:
            self.fault = Fault(code="no-answer", phase="message", message="the body is empty")
            return
        try:
            decoded = await self._decode(raw)
            answer = message.answer(decoded.value, wanted, sole=True)
        except NotJsonError as error:
            self.fault = error.fault
            return
        self._remark(decoded.remarks)
        self._remark(answer.remarks)
        self.answer = answer.message
        if answer.message is None:
            what = "JSON-RPC without an answer to the request"
            self.fault = Fault(code="no-answer", phase="message", message=what)

    async def _takes(self, wanted: Json, first: bytes) -> None:
        reader = SseReader()
        events = reader.feed(first)
        seen = 0
        unreadable: Fault | None = None
        while True:
            for event in events:
                seen += 1
                if seen > self._max_events:
                    raise Broken(
                        "too-large", "body", f"more than {self._max_events:,} events without the answer"
                    )
                fault = await self.take(event, wanted)
                if self.answer is not None:
                    return
                unreadable = unreadable or fault
            if not (part := await self.next_part()):
                break
            events = reader.feed(part)
        if (last := reader.end()) is not None:
            seen += 1
            unreadable = await self.take(last, wanted) or unreadable
        if self.answer is not None:
            self._remark(
                (Remark(code="unterminated-event", message="the last event has no blank line after it"),)
            )
            return
        self.fault = unreadable or Fault(
            code="no-answer", phase="message", message=self._no_answer(seen, reader)
        )

    async def take(self, event: SseEvent, wanted: Json) -> Fault | None:
        """Take the answer from an event, if it is there; a fault when the event is no JSON-RPC message."""
        if event.name != "message":
            return None
        try:
            decoded = await self._decode(event.raw)
            answer = message.answer(decoded.value, wanted, sole=False)
        except NotJsonError as error:
            return error.fault
        self._remark(decoded.remarks)
        self._remark(answer.remarks)
        self.answer = answer.message
        other = isinstance(decoded.value, dict) and not {"result", "error"}.isdisjoint(decoded.value)
        self._other_answer |= self.answer is None and other
        return None

    def _no_answer(self, events: int, reader: SseReader) -> str:
        if self.head.lstrip().startswith((b"{", b"[")):
            return "the body is labelled as an event stream and is JSON"
        if not self.size:
            return "the body is empty"
        if self._other_answer:
            return "the stream ended with an answer that does not carry the request's id"
        later = ", which a client would have to resume (Last-Event-ID)" if reader.resumable else ""
        after = "1 event" if events == 1 else f"{events:,} events"
        return f"the stream ended after {after} without the answer{later}"

    async def _decode(self, raw: bytes) -> message.Decoded:
        if len(raw) > _WORTH_A_THREAD:
            decoding = asyncio.to_thread(message.decode, raw, max_depth=self._max_depth)
            decoded = await within(self._ends, decoding)
        else:
            decoded = message.decode(raw, max_depth=self._max_depth)
        if self._redactor.touches(raw):
            echoes = echo.in_message(decoded.value, self._redactor)
            value = self._redactor.value(decoded.value)
            return replace(decoded, value=value, remarks=(*decoded.remarks, *echoes))
        return decoded

    def _remark(self, remarks: tuple[Remark, ...]) -> None:
        for remark in remarks:
            if len(self.remarks) < _MAX_REMARKS and remark not in self.remarks:
                self.remarks.append(remark)

    async def next_part(self) -> bytes:
        """The next decoded bytes; none at the end."""
        while chunk := await self._chunk():
            self.size += len(chunk)
            if self.size > self._max_bytes:
                raise Broken("too-large", "body", f"the body is larger than {self._max_bytes:,} bytes")
            self._chunks += 1
            if self._chunks > MAX_CHUNKS:
                raise Broken("too-large", "body", f"the body comes in more than {MAX_CHUNKS:,} chunks")
            if self._chunks % _BREATHE == 0:
                await asyncio.sleep(0)  # what has arrived already is read without ever waiting
            part = chunk if self._inflater is None else self._inflater.feed(chunk)
            if len(self.head) < EXCERPT_BYTES:
                self.head += part[: EXCERPT_BYTES - len(self.head)]
            if part:
                return part
        self.complete = True
        if self._inflater is not None:
            self._inflater.end()
        return b""
