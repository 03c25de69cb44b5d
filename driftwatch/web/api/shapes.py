"""The JSON of the API's answers, made of the shapes that commands show too."""

from typing_extensions import TypedDict

from driftwatch import views
from driftwatch.views import described


@described
class Servers(TypedDict):
    """A page of servers, by name."""

    servers: list[views.ServerLine]
    next: str | None
    """The address of the next page; null on the last."""


@described
class History(TypedDict):
    """A page of stretches, newest first."""

    server: str
    intervals: list[views.Interval]
    next: str | None
    """The address of the next page; null on the last."""


@described
class Runs(TypedDict):
    """A page of runs, newest first."""

    server: str
    runs: list[views.Run]
    next: str | None
    """The address of the next page; null on the last."""


@described
class Events(TypedDict):
    """A page of events, newest first."""

    events: list[views.Event]
    next: str | None
    """The address of the next page; null on the last."""


@described
class Messages(TypedDict):
    """A page of messages, newest first."""

    messages: list[views.Message]
    next: str | None
    """The address of the next page; null on the last."""


@described
class Deploys(TypedDict):
    """A page of releases, newest first."""

    deploys: list[views.Release]
    next: str | None
    """The address of the next page; null on the last."""


@described
class Silences(TypedDict):
    """Silences, newest first."""

    silences: list[views.Silence]


@described
class Windows(TypedDict):
    """Maintenance windows that are on, the one that ends last first."""

    windows: list[views.Window]


@described
class Backlogs(TypedDict):
    """The channels with something undelivered, by name."""

    backlog: list[views.Backlog]


@described
class Accepted(TypedDict):
    """What was accepted."""

    server: str
    fingerprint: str
    subjects: list[str]
    """Those of which it is the baseline now; empty when it was that of all of them before."""


@described
class AckedIncident(views.Incident):
    """An open incident that somebody knows of."""

    server: str
    again: bool
    """It was acknowledged before; nothing was written."""


@described
class Acked(TypedDict):
    """What was acknowledged."""

    incidents: list[AckedIncident]


@described
class Renamed(TypedDict):
    """A server that has another name now."""

    before: str
    after: str


@described
class Reloaded(TypedDict):
    """What the configuration file, which is in force now, made different. All by the names of servers."""

    added: list[str]
    removed: list[str]
    renamed: list[Renamed]
    changed: list[str]
    """Those with a new setting."""
    restart: list[str]
    """Keys of which the new value counts after a restart."""
