"""The endpoints that change something, each through what a person does (``driftwatch.actions``)."""

from http import HTTPStatus

from driftwatch import actions, views
from driftwatch.store.ports import Tx
from driftwatch.web.api import parameters, shapes
from driftwatch.web.api.endpoint import Call, Endpoint
from driftwatch.web.context import Context
from driftwatch.web.problems import InvalidError


def probe(tx: Tx, call: Call) -> views.ProbeRequest:
    """Ask for a probe; where one waits already, that one is the answer."""
    request = actions.probe_now(tx, call.path["name"], depth=call.body.depth, now=call.now)
    return views.probe_request(request)


def accept(tx: Tx, call: Call) -> shapes.Accepted:
    """Make the tool list that you have read the baseline."""
    body = call.body
    done = actions.accept(
        tx, call.path["name"], body.fingerprint, by=body.by, reason=body.reason, now=call.now
    )
    return {"server": done.server, "fingerprint": done.fingerprint, "subjects": list(done.subjects)}


def ack(tx: Tx, call: Call) -> shapes.Acked:
    """Say that somebody knows of it: no reminders until it is over or becomes another one."""
    acked = actions.ack(tx, call.path["id"], by=call.body.by, now=call.now)
    return {
        "incidents": [
            {**views.incident(each.incident), "server": each.server, "again": each.again} for each in acked
        ]
    }


def silence(tx: Tx, call: Call) -> views.Silence:
    """Say nothing about some servers for a while; what is still open afterwards is told then."""
    body = call.body
    new = actions.silence(
        tx,
        servers=body.servers,
        tags=body.tags,
        only=body.checks,
        lasting=body.lasting,
        reason=body.reason,
        by=body.by,
        now=call.now,
    )
    return views.silence(new, call.now)


def unsilence(tx: Tx, call: Call) -> views.Silence:
    """End a silence before its time."""
    return views.silence(actions.unsilence(tx, call.path["id"], by=call.query.by, now=call.now), call.now)


def retry(tx: Tx, call: Call) -> views.Message:
    """Send a waiting message without further delay, or a dead one again."""
    return views.message(actions.retry(tx, call.path["id"], now=call.now))


def drop(tx: Tx, call: Call) -> views.Message:
    """Give up a message that waits or is dead."""
    return views.message(actions.drop(tx, call.path["id"], now=call.now))


async def reload(context: Context, _: Call) -> shapes.Reloaded:
    """Read the configuration file again; one with a fault leaves everything as it is."""
    done = await context.reload()
    if done.problems:
        raise InvalidError([{"where": "configuration", "message": problem} for problem in done.problems])
    return {
        "added": list(done.added),
        "removed": list(done.removed),
        "renamed": [{"before": before, "after": after} for before, after in done.renamed],
        "changed": list(done.changed),
        "restart": list(done.restart),
    }


_ID = "Its id, or the beginning of it."

ENDPOINTS = (
    Endpoint(
        method="POST",
        path="/servers/{name}/check",
        summary="Probe a server now",
        description="One such request waits for each server: where one does already, it is the answer.",
        answer=views.ProbeRequest,
        write=probe,
        body=parameters.ProbeBody,
        status=HTTPStatus.ACCEPTED,
        path_help={"name": "The server's name."},
    ),
    Endpoint(
        method="POST",
        path="/servers/{name}/accept",
        summary="Accept a tool list as the baseline",
        description="By the fingerprint of the list that you have read, so that nothing newer is accepted; "
        "or the revisions that are spoken, by their names.",
        answer=shapes.Accepted,
        write=accept,
        body=parameters.AcceptBody,
        path_help={"name": "The server's name."},
    ),
    Endpoint(
        method="POST",
        path="/incidents/{id}/ack",
        summary="Acknowledge an incident",
        description="Nobody is reminded of it until it is over or its value becomes another one.",
        answer=shapes.Acked,
        write=ack,
        body=parameters.AckBody,
        path_help={"id": "The incident's id, or the beginning of it; or a server's name for all of its."},
    ),
    Endpoint(
        method="POST",
        path="/silences",
        summary="Silence servers for a while",
        description="They are still watched; what is still open when it ends is told then.",
        answer=views.Silence,
        write=silence,
        body=parameters.SilenceBody,
        status=HTTPStatus.CREATED,
    ),
    Endpoint(
        method="DELETE",
        path="/silences/{id}",
        summary="End a silence before its time",
        answer=views.Silence,
        write=unsilence,
        query=parameters.UnsilenceQuery,
        path_help={"id": _ID},
    ),
    Endpoint(
        method="POST",
        path="/messages/{id}/retry",
        summary="Send a message without further delay, or a dead one again",
        answer=views.Message,
        write=retry,
        body=parameters.NoBody,
        path_help={"id": _ID},
    ),
    Endpoint(
        method="POST",
        path="/messages/{id}/drop",
        summary="Give up a message that waits or is dead",
        answer=views.Message,
        write=drop,
        body=parameters.NoBody,
        path_help={"id": _ID},
    ),
    Endpoint(
        method="POST",
        path="/reload",
        summary="Read the configuration file again",
        description="A file with a fault leaves everything as it is: 422 names each fault by its line.",
        answer=shapes.Reloaded,
        act=reload,
        body=parameters.NoBody,
    ),
)
