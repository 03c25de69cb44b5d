"""The webhooks of those who deploy, as they send them without any configuration.

Each function reads one sender's body and answers with an ``Announcement``, or with ``Ignored`` and the
reason where no deploy has come to a good end; senders keep that answer in their log. What a sender leaves
out, writes in another type or at great length never makes a body unreadable: it is left out here too, or cut.

Shapes: docs.github.com "Webhook events and payloads", docs.gitlab.com "Webhook events", the notifications
examples of Argo CD, vercel.com "Webhooks API reference".
"""

from dataclasses import dataclass
from typing import TypeAlias

from driftwatch.model import Json
from driftwatch.web.hooks import announcement
from driftwatch.web.hooks.announcement import (
    LINK_LIMIT,
    TEXT_LIMIT,
    Announcement,
    AnnouncementError,
    Ignored,
    is_web_address,
)
from driftwatch.web.hooks.signatures import Headers

Read: TypeAlias = Announcement | Ignored

_FORGES = ("github", "gitlab", "bitbucket")
_COMMIT_LENGTHS = (40, 64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Only:
    """What the query of a webhook's address narrows it to: ``?environment=production&workflow=deploy``.

    Only what names another environment or workflow is left out: not every sender names one.
    """

    environments: frozenset[str] = frozenset()
    """In lower case; empty for every one."""
    workflows: frozenset[str] = frozenset()


def read(headers: Headers, body: Json, only: Only) -> Read:
    """What any sender's body, or our own, announces.

    Raises AnnouncementError for a body that is neither, or that names no ref.
    """
    found = _read(headers, body, only)
    if isinstance(found, Ignored) or not only.environments or found.environment is None:
        return found
    if found.environment.lower() not in only.environments:
        return Ignored(reason="a deploy to another environment than the webhook's address names")
    return found


def _read(headers: Headers, body: Json, only: Only) -> Read:
    sent = _object(body)
    if "x-github-event" in headers:
        return _github(headers["x-github-event"], sent, only)
    if "x-gitlab-event" in headers or "object_kind" in sent:
        return _gitlab(sent)
    if isinstance(sent.get("type"), str) and isinstance(sent.get("payload"), dict):
        return _vercel(sent["type"], _object(sent["payload"]))
    operation = _argo_cd_operation(sent)
    if operation is not None:
        return _argo_cd(operation)
    return announcement.read(body)


def _github(event: str, body: dict[str, Json], only: Only) -> Read:
    match event:
        case "deployment_status":
            return _github_deployment(body)
        case "workflow_run":
            return _github_workflow(body, only)
        case "ping":
            return Ignored(reason="pong: the webhook is set up")
        case "deployment":
            return Ignored(
                reason='a "deployment" event says that a deploy begins; '
                'choose "Deployment statuses", whose "success" says that it is done'
            )
    return Ignored(reason='this event announces no deploy; choose "Deployment statuses" or "Workflow runs"')


def _github_deployment(body: dict[str, Json]) -> Read:
    status, deployment = _object(body.get("deployment_status")), _object(body.get("deployment"))
    if status.get("state") != "success":
        return Ignored(reason='only a deployment with the state "success" is done')
    run = _object(body.get("workflow_run"))
    return _announce(
        ref=[deployment.get("ref"), deployment.get("sha")],
        commit=[deployment.get("sha")],
        link=[status.get("log_url"), status.get("target_url"), run.get("html_url")],
        actor=[
            *_logins(run, "triggering_actor", "actor"),
            *_logins(deployment, "creator"),
            *_logins(body, "sender"),
        ],
        environment=[status.get("environment"), deployment.get("environment")],
    )


def _github_workflow(body: dict[str, Json], only: Only) -> Read:
    run = _object(body.get("workflow_run"))
    if body.get("action") != "completed" or run.get("conclusion") != "success":
        return Ignored(reason="only a workflow run that was completed with success is done")
    if str(run.get("event")).startswith("pull_request"):
        return Ignored(reason="a workflow run for a pull request deploys nothing")
    name = _text([run.get("name"), _object(body.get("workflow")).get("name")])
    if only.workflows and (name or "").lower() not in only.workflows:
        return Ignored(reason="another workflow than the webhook's address names")
    return _announce(
        ref=[run.get("head_branch"), run.get("head_sha")],
        commit=[run.get("head_sha")],
        link=[run.get("html_url")],
        actor=[*_logins(run, "triggering_actor", "actor"), *_logins(body, "sender")],
    )


def _gitlab(body: dict[str, Json]) -> Read:
    if body.get("object_kind") != "deployment":
        return Ignored(reason='this event announces no deploy; choose "Deployment events"')
    if body.get("status") != "success":
        return Ignored(reason='only a deployment with the status "success" is done')
    # The whole commit is in its address only.
    commit = str(body.get("commit_url") or "").rstrip("/").rpartition("/")[2]
    return _announce(
        ref=[body.get("ref"), body.get("short_sha")],
        commit=[commit, body.get("short_sha")],
        link=[body.get("deployable_url"), body.get("commit_url")],
        actor=[_object(body.get("user")).get("username"), _object(body.get("user")).get("name")],
        environment=[body.get("environment")],
    )


def _vercel(event: str, payload: dict[str, Json]) -> Read:
    deployment, links = _object(payload.get("deployment")), _object(payload.get("links"))
    if event == "deployment.rollback":
        return _announce(
            ref=[payload.get("toDeploymentId"), deployment.get("id")],
            previous_ref=[payload.get("fromDeploymentId")],
            link=[links.get("deployment"), links.get("project")],
            environment=["production"],
        )
    if event not in {"deployment.succeeded", "deployment.ready", "deployment.promoted"}:
        return Ignored(
            reason="this event announces no finished deploy; "
            "choose deployment.promoted, deployment.succeeded or deployment.rollback"
        )
    meta = _object(deployment.get("meta"))
    return _announce(
        ref=[*_of_forge(meta, "CommitRef"), *_of_forge(meta, "CommitSha"), deployment.get("id")],
        commit=_of_forge(meta, "CommitSha"),
        link=[links.get("deployment")],
        actor=[*_of_forge(meta, "CommitAuthorLogin"), *_of_forge(meta, "CommitAuthorName")],
        # Without a target it is a preview; production alone is promoted.
        environment=["production" if event == "deployment.promoted" else payload.get("target") or "preview"],
    )


def _argo_cd_operation(body: dict[str, Json]) -> dict[str, Json] | None:
    """The state of an application's last operation, in any of the forms in which templates send it."""
    for application in (body, _object(body.get("app")), _object(body.get("application"))):
        operation = _object(application.get("status")).get("operationState")
        if isinstance(operation, dict):
            return operation
    if "syncResult" in body and "phase" in body:
        return body
    if "resources" in body and ("revision" in body or "revisions" in body):
        # The example in Argo CD's documentation sends the result alone, after a success.
        return {"phase": "Succeeded", "syncResult": body}
    return None


def _argo_cd(operation: dict[str, Json]) -> Read:
    if operation.get("phase") != "Succeeded":
        return Ignored(reason='only an operation in the phase "Succeeded" is done')
    result = _object(operation.get("syncResult"))
    several = result.get("revisions")
    revisions = [result.get("revision"), *(several if isinstance(several, list) else [])]
    named = _text(revisions)
    by = _object(_object(operation.get("operation")).get("initiatedBy"))
    return _announce(
        ref=revisions,
        commit=[named if named and len(named) in _COMMIT_LENGTHS else None],
        actor=[by.get("username"), "Argo CD" if by.get("automated") else None],
    )


def _announce(
    *,
    ref: list[Json],
    commit: list[Json] | None = None,
    link: list[Json] | None = None,
    actor: list[Json] | None = None,
    previous_ref: list[Json] | None = None,
    environment: list[Json] | None = None,
) -> Announcement:
    """The first usable candidate of each."""
    named = _text(ref)
    if named is None:
        raise AnnouncementError("this delivery does not say what was deployed")
    return Announcement(
        ref=named,
        commit=_text(commit or []),
        link=next((each for each in map(_link, link or []) if each), None),
        actor=_text(actor or []),
        previous_ref=_text(previous_ref or []),
        environment=_text(environment or []),
    )


def _object(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}


def _logins(owner: dict[str, Json], *roles: str) -> list[Json]:
    return [_object(owner.get(role)).get("login") for role in roles]


def _of_forge(meta: dict[str, Json], key: str) -> list[Json]:
    """What Vercel knows of the commit: ``githubCommitSha`` and its likes."""
    return [meta.get(f"{forge}{key}") for forge in _FORGES]


def _text(candidates: list[Json]) -> str | None:
    for value in candidates:
        if isinstance(value, str):
            printable = "".join(each if each.isprintable() else " " for each in value[: 2 * TEXT_LIMIT])
            text = " ".join(printable.split())[:TEXT_LIMIT].rstrip()
            if text:
                return text
    return None


def _link(value: Json) -> str | None:
    return value if isinstance(value, str) and len(value) <= LINK_LIMIT and is_web_address(value) else None
