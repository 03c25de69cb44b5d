"""The endpoints that read. Every list is bounded, and goes on where its ``next`` link says."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeVar

from driftwatch import views
from driftwatch.alerts.quiet import in_force
from driftwatch.errors import UnknownError, no_server
from driftwatch.store.ports import Reader
from driftwatch.web.api import cursor, parameters, shapes
from driftwatch.web.api.endpoint import Call, Endpoint, Read
from driftwatch.web.api.parameters import NoQuery, Parameters
from driftwatch.web.context import Context

T = TypeVar("T")

_SERVER = {"name": "The server's name."}


def servers(reader: Reader, call: Call) -> shapes.Servers:
    """Servers in one line each."""
    after, query = cursor.name(call.query.cursor), call.query
    found, last = _page(reader.overview(after, query.limit + 1, query.state), query.limit)
    quiet = reader.silences(call.now)
    return {
        "servers": [views.line(item, call.now, quiet) for item in found],
        "next": call.next(last, lambda item: cursor.of_name(item.record.name)),
    }


def server(reader: Reader, call: Call) -> views.Server:
    """One server with every check."""
    name = call.path["name"]
    item = reader.server_status(name)
    if item is None:
        raise no_server(name, (each.name for each in reader.servers()))
    return views.server(item, call.now, reader.silences(call.now))


def history(reader: Reader, call: Call) -> shapes.History:
    """Stretches of time with one value."""
    query = call.query
    before = cursor.moment_and_number(query.cursor)
    name = _known(reader, call)
    found, last = _page(reader.intervals(name, query.subject, before, query.limit + 1), query.limit)
    return {
        "server": name,
        "intervals": [views.interval(item) for item in found],
        "next": call.next(last, lambda item: cursor.of_moment(item.since, item.id)),
    }


def runs(reader: Reader, call: Call) -> shapes.Runs:
    """Probes that were made."""
    name, limit = _known(reader, call), call.query.limit
    found, last = _page(reader.runs(name, cursor.moment(call.query.cursor), limit + 1), limit)
    return {
        "server": name,
        "runs": [views.run(item) for item in found],
        "next": call.next(last, lambda item: cursor.of_moment(item.taken_at)),
    }


def events(reader: Reader, call: Call) -> shapes.Events:
    """What happened, to one server or to all."""
    name = _known(reader, call) if "name" in call.path else None
    query = call.query
    found, last = _page(
        reader.events(name, cursor.moment_and_id(query.cursor), query.limit + 1, query.kind, query.since),
        query.limit,
    )
    return {
        "events": [views.event(item) for item in found],
        "next": call.next(last, lambda item: cursor.of_moment(item.at, item.id)),
    }


def event(reader: Reader, call: Call) -> views.Event:
    """One event."""
    return views.event(_there(reader.event(call.path["id"]), "event", call))


def diff(reader: Reader, call: Call) -> views.Diff:
    """Two tool lists compared."""
    name = _known(reader, call)
    return views.diff(name, views.compare(reader, name, call.query.before, call.query.after))


def toolset(reader: Reader, call: Call) -> views.Toolset:
    """One tool list as it was read."""
    name = _known(reader, call)
    return views.export(name, views.remembered_toolset(reader, name, call.query.fingerprint))


def messages(reader: Reader, call: Call) -> shapes.Messages:
    """What was written, and what became of it."""
    query = call.query
    before = cursor.moment_and_id(query.cursor)
    found, last = _page(reader.messages(query.status, query.limit + 1, before), query.limit)
    return {
        "messages": [views.message(item) for item in found],
        "next": call.next(last, lambda item: cursor.of_moment(item.message.created_at, item.message.id)),
    }


def message(reader: Reader, call: Call) -> views.Message:
    """One message."""
    return views.message(_there(reader.message(call.path["id"]), "message", call))


def backlog(reader: Reader, _: Call) -> shapes.Backlogs:
    """What waits at each channel."""
    return {"backlog": [views.backlog(item) for item in reader.backlog()]}


def silences(reader: Reader, call: Call) -> shapes.Silences:
    """Silences in force, or all."""
    found = reader.silences(None if call.query.all else call.now, parameters.MOST)
    return {"silences": [views.silence(item, call.now) for item in found]}


async def windows(context: Context, call: Call) -> shapes.Windows:
    """Maintenance windows that are on."""
    configured = context.config().alerts.windows
    return {"windows": [views.window(item) for item in in_force([], configured, call.now)]}


def deploys(reader: Reader, call: Call) -> shapes.Deploys:
    """Releases that were announced."""
    query = call.query
    found, last = _page(
        reader.releases(query.server, cursor.moment(query.cursor), query.limit + 1), query.limit
    )
    return {
        "deploys": [views.release(item) for item in found],
        "next": call.next(last, lambda item: cursor.of_moment(item.received_at)),
    }


def _page(found: Sequence[T], limit: int) -> tuple[Sequence[T], T | None]:
    """The page itself, and its last entry where there are more: one more was asked for than is shown."""
    return found[:limit], found[limit - 1] if len(found) > limit else None


def _known(reader: Reader, call: Call) -> str:
    """The server of the path, also one that is no longer configured: its history is still there."""
    name = call.path["name"]
    if reader.server(name) is None:
        raise no_server(name, (each.name for each in reader.servers()))
    return name


def _there(item: T | None, kind: str, call: Call) -> T:
    if item is None:
        raise UnknownError(f"there is no {kind} {call.path['id']!r}")
    return item


def _get(
    path: str,
    read: Read,
    answer: object,
    *,
    query: type[Parameters] = NoQuery,
    path_help: Mapping[str, str] = MappingProxyType({}),
    description: str = "",
) -> Endpoint:
    summary = (read.__doc__ or "").strip().rstrip(".")
    return Endpoint(
        method="GET",
        path=path,
        summary=summary,
        description=description,
        answer=answer,
        read=read,
        query=query,
        path_help=path_help,
    )


RECOMPUTE = """\
With the tools of the answer, the line of the launch checklist prints `checklist` again:

    curl -s …/api/v1/servers/NAME/toolset | jq '.tools' \\
      | jq -S 'map({name, inputSchema}) | sort_by(.name)' | sha256sum

The other two digests are described in docs/fingerprint.md."""

ENDPOINTS = (
    _get("/servers", servers, shapes.Servers, query=parameters.ServersPage),
    _get("/servers/{name}", server, views.Server, path_help=_SERVER),
    _get(
        "/servers/{name}/history",
        history,
        shapes.History,
        query=parameters.HistoryPage,
        path_help=_SERVER,
    ),
    _get("/servers/{name}/runs", runs, shapes.Runs, query=parameters.Page, path_help=_SERVER),
    _get("/servers/{name}/events", events, shapes.Events, query=parameters.EventsPage, path_help=_SERVER),
    _get("/servers/{name}/diff", diff, views.Diff, query=parameters.DiffQuery, path_help=_SERVER),
    _get(
        "/servers/{name}/toolset",
        toolset,
        views.Toolset,
        query=parameters.ToolsetQuery,
        path_help=_SERVER,
        description=RECOMPUTE,
    ),
    _get("/events", events, shapes.Events, query=parameters.EventsPage),
    _get("/events/{id}", event, views.Event, path_help={"id": "The event's id."}),
    _get("/messages", messages, shapes.Messages, query=parameters.MessagesPage),
    _get("/messages/{id}", message, views.Message, path_help={"id": "The message's id."}),
    _get(
        "/backlog",
        backlog,
        shapes.Backlogs,
        description="Messages that were given up are at `/messages?status=dead`.",
    ),
    _get("/silences", silences, shapes.Silences, query=parameters.SilencesQuery),
    Endpoint(
        method="GET",
        path="/windows",
        summary="Maintenance windows that are on",
        description="By the configuration in force; silences have an address of their own.",
        answer=shapes.Windows,
        act=windows,
    ),
    _get("/deploys", deploys, shapes.Deploys, query=parameters.DeploysPage),
)
