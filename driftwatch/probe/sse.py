"""Server-sent events, read byte by byte."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class SseEvent:
    """One event of an SSE stream."""

    name: str = "message"
    """The ``event`` field, or ``message`` without one."""
    data: str = ""
    """The ``data`` lines joined by LF."""
    terminated: bool = True
    """False when the stream ended before the blank line that should end the event."""
