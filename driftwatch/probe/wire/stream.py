"""Patience with one exchange, and an SSE stream that is read event by event."""

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from types import TracebackType
from typing import Self

from driftwatch.evidence import Fault
from driftwatch.probe.wire.body import Body
from driftwatch.probe.wire.credential import Redactor
from driftwatch.probe.wire.fault import Broken, OutOfTime
from driftwatch.probe.wire.recording import EXCERPT, Recording
from driftwatch.probe.wire.request import Reply, Request
from driftwatch.probe.wire.sse import SseEvent, SseReader


class Patience:
    """Ends a step of an exchange in time, and turns whatever ended it early into the recording's fault."""

    def __init__(self, recording: Recording, began: float, timeout_s: float, deadline: float) -> None:
        self._recording = recording
        self._began = began
        self.ends = min(began + timeout_s, deadline)
        self._code = "timeout" if self.ends < deadline else "deadline"

    def __enter__(self) -> Self:
        if self._recording.stream is not None:
            self._recording.stream.ends = self.ends
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        recording = self._recording
        if isinstance(exc, OutOfTime):
            recording.fault = recording.late(self._code, self.ends - self._began)
        elif isinstance(exc, Broken):
            recording.fault = exc.fault
        else:
            return False
        return True


class Stream:
    """An open SSE stream of a GET, read event by event."""

    def __init__(
        self,
        reply: Reply,
        recording: Recording,
        body: Body | None,
        *,
        patience: Callable[[Recording], Patience],
        redactor: Redactor,
        max_events: int,
    ) -> None:
        self.reply = reply
        """Status and headers; its exchange carries the fault when there is no stream to read."""
        self._recording = recording
        self._body = body
        self._patience = patience
        self._redactor = redactor
        self._reader = SseReader()
        self._events: deque[SseEvent] = deque()
        self._left = max_events

    async def next_event(self) -> SseEvent | Fault | None:
        """The next event, None when the server ended the stream, a Fault when it broke or hit a limit.

        Waits for at most the limit of one request, and never beyond the probe's deadline. The data is as it
        came: not for recording.
        """
        if self._recording.fault is None:
            with self._patience(self._recording):
                return await self._next()
        return self._recording.fault

    async def answer(self, request: Request, reply: Reply) -> Reply:
        """The reply to a POST whose answer comes over this stream, completed by that answer.

        Events before it are skipped; without it the exchange has a fault.
        """
        body = self._body
        fault: Fault | None = Fault(
            code="no-answer", phase="message", message="there is no stream to answer on"
        )
        raw, message = b"", None
        remarks = reply.exchange.remarks
        if body is not None:
            fault, unreadable = None, None
            body.answer, body.remarks = None, []
            while body.answer is None and fault is None:
                event = await self.next_event()
                if isinstance(event, SseEvent):
                    raw = event.raw
                    unreadable = await body.take(event, (request.rpc or {}).get("id")) or unreadable
                else:
                    fault = event or unreadable or _ENDED
            message, remarks = body.answer, (*remarks, *body.remarks)
        exchange = replace(
            reply.exchange,
            answer=message,
            fault=fault,
            remarks=remarks,
            size=len(raw),
            excerpt=self._redactor.text(raw.decode("utf-8", "replace"))[:EXCERPT],
        )
        return replace(reply, exchange=exchange)

    async def _next(self) -> SseEvent | None:
        while not self._events and self._body is not None and not self._body.complete:
            part = await self._body.next_part()
            self._events.extend(self._reader.feed(part))
            if not part and (last := self._reader.end()) is not None:
                self._events.append(last)
        if not self._events:
            return None
        if not self._left:
            raise Broken("too-large", "body", "the stream has more events than a probe reads")
        self._left -= 1
        return self._events.popleft()


_ENDED = Fault(code="no-answer", phase="message", message="the stream ended without the answer")
