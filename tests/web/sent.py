"""Deliveries as their senders make them: the headers, and a body with everything around what we read."""

import base64
import hashlib
import hmac
import json
from datetime import datetime
from typing import Any

from driftwatch.model import Json
from driftwatch.web.hooks.signatures import Headers

COMMIT = "3f9d0c1b7a5e4d2c8b6a1f0e9d8c7b6a5f4e3d2c"


def _user(login: str) -> dict[str, Json]:
    home = f"https://api.github.com/users/{login}"
    return {
        "login": login,
        "id": 583231,
        "node_id": "MDQ6VXNlcjU4MzIzMQ==",
        "avatar_url": "https://avatars.githubusercontent.com/u/583231?v=4",
        "url": home,
        "html_url": f"https://github.com/{login}",
        **{f"{kind}_url": f"{home}/{kind}" for kind in ("followers", "gists", "starred", "repos", "events")},
        "type": "User",
        "site_admin": False,
    }


def _repository() -> dict[str, Json]:
    home = "https://api.github.com/repos/acme/bookshop"
    kinds = "forks keys teams hooks events tags blobs trees statuses languages commits compare merges issues"
    return {
        "id": 186853002,
        "name": "bookshop",
        "full_name": "acme/bookshop",
        "private": True,
        "owner": _user("acme"),
        "html_url": "https://github.com/acme/bookshop",
        "url": home,
        **{f"{kind}_url": f"{home}/{kind}{{/sha}}" for kind in kinds.split()},
        "created_at": "2024-05-15T15:19:25Z",
        "default_branch": "main",
    }


def github_deployment_status(state: str = "success", *, environment: str = "production") -> Json:
    deployment = {
        "url": "https://api.github.com/repos/acme/bookshop/deployments/145988746",
        "id": 145988746,
        "sha": COMMIT,
        "ref": "main",
        "task": "deploy",
        "payload": {},
        "original_environment": environment,
        "environment": environment,
        "description": None,
        "creator": _user("octavia"),
        "created_at": "2026-10-31T15:20:53Z",
        "transient_environment": False,
        "production_environment": True,
    }
    status = {
        "id": 209916254,
        "state": state,
        "creator": _user("octavia"),
        "description": "",
        "environment": environment,
        "target_url": "https://github.com/acme/bookshop/actions/runs/289782451/job/1",
        "log_url": "https://github.com/acme/bookshop/actions/runs/289782451/job/1",
        "created_at": "2026-10-31T15:20:55Z",
    }
    return {
        "action": "created",
        "deployment_status": status,
        "deployment": deployment,
        "check_run": None,
        "workflow": None,
        "workflow_run": None,
        "repository": _repository(),
        "sender": _user("octavia"),
    }


def github_deployment() -> Json:
    return {**github_deployment_status(), "deployment_status": None}


def github_workflow_run(
    *,
    action: str = "completed",
    conclusion: str | None = "success",
    event: str = "push",
    name: str = "Deploy",
) -> Json:
    return {
        "action": action,
        "workflow_run": {
            "id": 289782451,
            "name": name,
            "node_id": "MDExOldvcmtmbG93UnVuMjg5NzgyNDUx",
            "head_branch": "main",
            "head_sha": COMMIT,
            "path": ".github/workflows/deploy.yml",
            "display_title": "Rename a tool",
            "run_number": 562,
            "event": event,
            "status": "completed" if action == "completed" else "in_progress",
            "conclusion": conclusion,
            "html_url": "https://github.com/acme/bookshop/actions/runs/289782451",
            "pull_requests": [],
            "actor": _user("octavia"),
            "triggering_actor": _user("percy"),
            "head_commit": {
                "id": COMMIT,
                "message": "Rename a tool\n\nwith a body",
                "author": {"name": "Octavia"},
            },
            "repository": _repository(),
            "head_repository": _repository(),
        },
        "workflow": {"id": 2823525, "name": name, "path": ".github/workflows/deploy.yml", "state": "active"},
        "repository": _repository(),
        "sender": _user("octavia"),
    }


def github_ping() -> Json:
    hook = {"type": "Repository", "id": 90753227, "active": True, "events": ["deployment_status"]}
    return {
        "zen": "Keep it logically awesome.",
        "hook_id": 90753227,
        "hook": hook,
        "repository": _repository(),
    }


def gitlab_deployment(status: str = "success", **more: Json) -> Json:
    home = "https://gitlab.example.com/acme/bookshop"
    return {
        "object_kind": "deployment",
        "status": status,
        "status_changed_at": "2026-10-31 21:50:00 +0200",
        "deployment_id": 15,
        "deployable_id": 796,
        "deployable_url": f"{home}/-/jobs/796",
        "environment": "production",
        "environment_tier": "production",
        "environment_slug": "production",
        "environment_external_url": "https://bookshop.example.com",
        "project": {"id": 30, "name": "bookshop", "web_url": home, "path_with_namespace": "acme/bookshop"},
        "short_sha": COMMIT[:8],
        "user": {"id": 1, "name": "Octavia", "username": "octavia", "email": "[REDACTED]"},
        "user_url": "https://gitlab.example.com/octavia",
        "commit_url": f"{home}/-/commit/{COMMIT}",
        "commit_title": "Rename a tool",
        "ref": "v2.1.0",
        **more,
    }


def vercel(event: str = "deployment.succeeded", *, target: str | None = "production") -> Json:
    return {
        "id": "uev_9mXkTq3vB1",
        "type": event,
        "createdAt": 1793546400000,
        "region": None,
        "payload": {
            "user": {"id": "ui5mmUvrl5h"},
            "team": {"id": "team_7cQ"},
            "project": {"id": "prj_cgJ"},
            "deployment": {
                "id": "dpl_FjHqKqFexmr",
                "meta": {
                    "githubCommitRef": "main",
                    "githubCommitSha": COMMIT,
                    "githubCommitAuthorLogin": "octavia",
                    "githubCommitMessage": "Rename a tool",
                    "githubDeployment": "1",
                },
                "name": "bookshop",
                "url": "bookshop-5d8f3n-acme.vercel.app",
            },
            "links": {
                "deployment": "https://vercel.com/acme/bookshop/FjHqKqFexmr",
                "project": "https://vercel.com/acme/bookshop",
            },
            "target": target,
            "plan": "pro",
            "regions": ["iad1"],
        },
    }


def vercel_rollback() -> Json:
    made: Any = vercel("deployment.rollback")
    made["payload"] |= {"fromDeploymentId": "dpl_new", "toDeploymentId": "dpl_old"}
    return made


def argo_cd_sync_result(*, revision: str = COMMIT) -> Json:
    return {
        "resources": [
            {
                "group": "apps",
                "version": "v1",
                "kind": "Deployment",
                "namespace": "bookshop",
                "name": "mcp",
                "status": "Synced",
                "message": "deployment.apps/mcp configured",
                "hookPhase": "Running",
                "syncPhase": "Sync",
            }
        ],
        "revision": revision,
        "source": {
            "repoURL": "https://github.com/acme/deploys.git",
            "path": "bookshop",
            "targetRevision": "HEAD",
        },
    }


def argo_cd_application(phase: str = "Succeeded", *, revisions: list[str] | None = None) -> Json:
    result: Any = argo_cd_sync_result()
    if revisions is not None:
        del result["revision"]
        result["revisions"] = revisions
    return {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": "bookshop", "namespace": "argocd"},
        "spec": {"project": "default", "destination": {"server": "https://kubernetes.default.svc"}},
        "status": {
            "health": {"status": "Healthy"},
            "sync": {"status": "Synced", "revision": COMMIT},
            "operationState": {
                "phase": phase,
                "message": "successfully synced (all tasks run)",
                "operation": {"sync": {"revision": COMMIT}, "initiatedBy": {"username": "octavia"}},
                "syncResult": result,
                "startedAt": "2026-10-31T15:20:53Z",
                "finishedAt": "2026-10-31T15:20:58Z",
            },
        },
    }


def encoded(body: Json) -> bytes:
    return json.dumps(body).encode()


def github_signature(secret: str, body: bytes) -> Headers:
    return {"x-hub-signature-256": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}


def vercel_signature(secret: str, body: bytes) -> Headers:
    return {"x-vercel-signature": hmac.new(secret.encode(), body, hashlib.sha1).hexdigest()}


def standard_signature(key: bytes, body: bytes, *, at: datetime, delivery: str = "msg_1") -> Headers:
    sent = str(int(at.timestamp()))
    mac = hmac.new(key, f"{delivery}.{sent}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": delivery,
        "webhook-timestamp": sent,
        "webhook-signature": "v1," + base64.b64encode(mac).decode(),
    }
