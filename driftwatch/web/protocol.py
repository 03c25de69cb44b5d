"""HTTP/1.1 over one connection, with an end to the patience for clients that are slow or large on purpose.

uvicorn bounds what is idle between two requests, and the doors bound the reading of a body; here is what is
left: a request that does not arrive, a head that is too large, and an answer that nobody takes.
"""

import asyncio
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_TIMEOUT_S = 10.0
"""For a request's line and headers, counted from the connection or from the first byte."""

ANSWER_TIMEOUT_S = 30.0
"""For taking up enough of an answer that more can be sent."""

HEAD_LIMIT = 32 * 1024
"""Bytes of a request's line and headers together."""


class BoundedConnection(h11.Connection):
    """h11's, with a limit on heads that are there at once too; its own bounds only what is incomplete."""

    def __init__(self) -> None:
        """As a server has it."""
        super().__init__(h11.SERVER, max_incomplete_event_size=HEAD_LIMIT)

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Raises h11.RemoteProtocolError for a head beyond the limit."""
        if self.their_state is not h11.IDLE:
            return super().next_event()
        before = len(self.trailing_data[0])
        event = super().next_event()
        if isinstance(event, h11.Request) and before - len(self.trailing_data[0]) > HEAD_LIMIT:
            raise h11.RemoteProtocolError(f"the head is larger than {HEAD_LIMIT} bytes")
        return event


class _Patience:
    """A limit that runs from ``begin`` until ``end``; after it the connection is cut."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._timer: asyncio.TimerHandle | None = None

    def begin(self, transport: asyncio.Transport) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(self._seconds, transport.abort)

    def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class PatientProtocol(H11Protocol):
    """uvicorn's own, with these limits."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As uvicorn makes it."""
        super().__init__(*args, **kwargs)
        self.conn = BoundedConnection()
        self._request = _Patience(REQUEST_TIMEOUT_S)
        self._answer = _Patience(ANSWER_TIMEOUT_S)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._request.begin(transport)

    def data_received(self, data: bytes) -> None:
        """Wait on while the head of a request is incomplete."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._request.end()
        else:
            self._request.begin(self.transport)

    def on_response_complete(self) -> None:
        """Between two requests the limit on idle connections counts alone."""
        self._request.end()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Begin to wait for the client to read."""
        super().pause_writing()
        self._answer.begin(self.transport)

    def resume_writing(self) -> None:
        """It read."""
        self._answer.end()
        super().resume_writing()

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing is waited for any more."""
        self._request.end()
        self._answer.end()
        super().connection_lost(exc)
