"""HTTP/1.1 over one connection, with an end to the patience for clients that are slow on purpose.

uvicorn bounds what is idle between two requests, and the doors bound the reading of a body; here is what is
left: a request that does not arrive, and an answer that nobody takes.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

REQUEST_TIMEOUT_S = 10.0
"""For a request's line and headers, counted from the connection or from the first byte."""

ANSWER_TIMEOUT_S = 30.0
"""For taking up enough of an answer that more can be sent."""


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
    """uvicorn's own, with both limits."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """As uvicorn makes it."""
        super().__init__(*args, **kwargs)
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
