"""What is remembered, for whoever shows it.

As JSON: the commands' ``--json`` and the HTTP API show the same shapes. Each is a TypedDict, so that the type
checker holds the functions to it and the API's schema is made from it. Texts of watched servers are in them
as they came. For people: ``checks`` has what a page and ``status`` say of each check of a server.
"""

from driftwatch.views.deploys import Release, release
from driftwatch.views.history import Event, Interval, event, interval
from driftwatch.views.outbox import (
    Backlog,
    Message,
    ProbeRequest,
    Silence,
    Window,
    backlog,
    message,
    probe_request,
    silence,
    window,
)
from driftwatch.views.servers import (
    Incident,
    Run,
    Server,
    ServerLine,
    ServerStatus,
    incident,
    line,
    run,
    server,
    status,
)
from driftwatch.views.shape import Moment, described, iso
from driftwatch.views.toolsets import (
    Compared,
    Diff,
    Toolset,
    between,
    compare,
    diff,
    eras_together,
    export,
    remembered_toolset,
)

__all__ = [
    "Backlog",
    "Compared",
    "Diff",
    "Event",
    "Incident",
    "Interval",
    "Message",
    "Moment",
    "ProbeRequest",
    "Release",
    "Run",
    "Server",
    "ServerLine",
    "ServerStatus",
    "Silence",
    "Toolset",
    "Window",
    "backlog",
    "between",
    "compare",
    "described",
    "diff",
    "eras_together",
    "event",
    "export",
    "incident",
    "interval",
    "iso",
    "line",
    "message",
    "probe_request",
    "release",
    "remembered_toolset",
    "run",
    "server",
    "silence",
    "status",
    "window",
]
