"""What is remembered, as JSON: the commands' ``--json`` and the HTTP API show the same shapes.

Each shape is a TypedDict, so that the type checker holds the functions to it and the API's schema is made
from it. Texts of watched servers are in them as they came.
"""

from driftwatch.views.history import Event, Interval, event, interval
from driftwatch.views.outbox import Message, ProbeRequest, Silence, message, probe_request, silence
from driftwatch.views.servers import Run, Server, ServerLine, ServerStatus, line, run, server, status
from driftwatch.views.shape import Moment, described, iso

__all__ = [
    "Event",
    "Interval",
    "Message",
    "Moment",
    "ProbeRequest",
    "Run",
    "Server",
    "ServerLine",
    "ServerStatus",
    "Silence",
    "described",
    "event",
    "interval",
    "iso",
    "line",
    "message",
    "probe_request",
    "run",
    "server",
    "silence",
    "status",
]
