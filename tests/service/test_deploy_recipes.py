"""Every recipe of docs/deploy.md against a running service: commands as they stand, payloads as sent."""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from driftwatch.app import Service
from driftwatch.model import Json, Release
from driftwatch.web.hooks.verdict import Deploy, OnServer
from tests.patience import PATIENCE_S
from tests.service import recipes
from tests.service.world import World
from tests.web import sent
from tests.web.hooking import SECRET, TOKEN

HOOK = f'[hook]\ntokens = ["{TOKEN}"]\nsecrets = ["{SECRET}"]\ndelay = "0s"\nreads = 1\nrate = "1000/s"'
SHELL = {
    "GITHUB_REF_NAME": "main",
    "GITHUB_SHA": sent.COMMIT,
    "GITHUB_ACTOR": "octavia",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REPOSITORY": "acme/bookshop",
    "GITHUB_RUN_ID": "1",
    "CI_COMMIT_REF_NAME": "main",
    "CI_COMMIT_SHA": sent.COMMIT,
    "GITLAB_USER_LOGIN": "octavia",
    "CI_PIPELINE_URL": "https://gitlab.example.com/acme/bookshop/-/pipelines/1",
    "REF": "v2.1.0",
}
CURL = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
OPENSSL = pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl is not installed")


@asynccontextmanager
async def service_of(world: World) -> AsyncIterator[Service]:
    """A service that watches ``api-prod``, has its baseline, and listens to the webhook."""
    world.channels = {}
    world.servers = {"api-prod": world.servers["bookshop"]}
    world.tables = HOOK
    async with world.running() as service:
        await world.rounds(1, "api-prod")
        yield service


async def shell(service: Service, folder: Path, script: str) -> tuple[int, str]:
    """Run a recipe with ``driftwatch`` and ``pipx`` on the path; its exit code and output."""
    for name, text in {
        "driftwatch": f'exec "{sys.executable}" -m driftwatch "$@"',
        "pipx": "exit 0",
        "pip": "exit 0",
    }.items():
        program = folder / name
        program.write_text(f"#!/bin/sh\n{text}\n")
        program.chmod(0o755)
    environment = {
        **os.environ,
        **SHELL,
        "PATH": f"{folder}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(__file__).parents[2]),
        "DRIFTWATCH_URL": f"http://127.0.0.1:{service.port}",
        "DRIFTWATCH_HOOK_TOKEN": TOKEN,
        "DRIFTWATCH_HOOK_SECRET": SECRET,
    }
    process = await asyncio.create_subprocess_exec(
        "sh",
        "-c",
        script.replace("/tmp/verdict.json", "verdict.json"),
        cwd=folder,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    async with asyncio.timeout(3 * PATIENCE_S):
        out, _ = await process.communicate()
    assert process.returncode is not None
    return process.returncode, out.decode()


def releases(world: World) -> list[Release]:
    return world.read(lambda reader: reader.releases(limit=10))


def without_exports(script: str) -> str:
    return "\n".join(line for line in script.splitlines() if not line.startswith("export "))


GITHUB, GITLAB = recipes.blocks("GitHub Actions")[0], recipes.blocks("GitLab CI")[0]
PLAIN, GATE, SIGNED = recipes.blocks("Plain curl")
JOB = recipes.scalar(recipes.blocks("Kubernetes")[0], "-")


@pytest.mark.parametrize(
    ("script", "ref"),
    [
        pytest.param(without_exports(recipes.blocks("Any shell")[0]), "v2.1.0", id="any shell"),
        pytest.param(PLAIN, "v2.1.0", id="curl", marks=CURL),
        pytest.param(GATE, "v2.1.0", id="curl that waits", marks=CURL),
        pytest.param(SIGNED, "v2.1.0", id="curl with a signature", marks=[CURL, OPENSSL]),
        pytest.param(recipes.scalar(GITHUB, "run:"), "main", id="GitHub Actions"),
        pytest.param(recipes.scalar(GITLAB, "-"), "main", id="GitLab CI"),
        pytest.param(JOB, "v2.1.0", id="Kubernetes", marks=CURL),
    ],
)
async def test_a_recipe_announces_a_deploy_that_passes(
    world: World, tmp_path: Path, script: str, ref: str
) -> None:
    async with service_of(world) as service:
        code, out = await shell(service, tmp_path, script)
        assert code == 0, out
        (release,) = releases(world)
    assert (release.ref, release.servers) == (ref, ("api-prod",))


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(without_exports(recipes.blocks("Any shell")[0]), id="any shell"),
        pytest.param(GATE, id="curl that waits", marks=CURL),
        pytest.param(JOB, id="Kubernetes", marks=CURL),
    ],
)
async def test_a_recipe_that_waits_fails_with_a_release_that_breaks_callers(
    world: World, tmp_path: Path, script: str
) -> None:
    async with service_of(world) as service:
        world.sample.deploy("v2")
        code, out = await shell(service, tmp_path, script)
    assert code == 1
    assert "breaking" in out
    assert "1 tool renamed" in out


async def posted(service: Service, path: str, content: bytes, headers: dict[str, str]) -> Json:
    async with httpx.AsyncClient(
        base_url=f"http://127.0.0.1:{service.port}", trust_env=False, timeout=2 * PATIENCE_S
    ) as client:
        answer = await client.post(path, content=content, headers=headers)
        assert answer.status_code == 202, answer.text
        deploy = answer.json()
        url = f"{deploy['status_url']}?wait=60"
        over = await client.get(url, headers={"Authorization": f"Bearer {TOKEN}"})
    assert over.status_code == 200
    return over.json()


def github(event: str, content: bytes) -> dict[str, str]:
    headers = {"X-GitHub-Event": event, "X-GitHub-Delivery": event, "Content-Type": "application/json"}
    return headers | dict(sent.github_signature(SECRET, content))


async def test_the_webhooks_of_github_gitlab_and_vercel_arrive_at_the_address_of_their_recipe(
    world: World,
) -> None:
    status, workflow = (
        sent.encoded(sent.github_deployment_status()),
        sent.encoded(sent.github_workflow_run()),
    )
    gitlab, vercel = sent.encoded(sent.gitlab_deployment()), sent.encoded(sent.vercel("deployment.promoted"))
    at = recipes.address("GitHub Actions")
    gitlab_headers = {"X-Gitlab-Token": TOKEN, "X-Gitlab-Event": "Deployment Hook"}
    async with service_of(world) as service:
        for path, content, headers, ref in (
            (at, status, github("deployment_status", status), "main"),
            (
                f"{at.partition('?')[0]}?workflow=Deploy",
                workflow,
                github("workflow_run", workflow),
                "main",
            ),
            (recipes.address("GitLab CI"), gitlab, gitlab_headers, "v2.1.0"),
            (recipes.address("Vercel"), vercel, dict(sent.vercel_signature(SECRET, vercel)), "main"),
        ):
            said = await posted(service, path, content, headers)
            assert (said["ref"], list(said["servers"])) == (ref, ["api-prod"])
            assert said["verdict"] in {"ok", "risk"}


async def test_what_argo_cd_makes_of_its_template_arrives(world: World) -> None:
    template = recipes.blocks("Argo CD")[0]
    body = recipes.scalar(template, "body:")
    for name, value in {
        ".app.status.operationState.syncResult.revision": sent.COMMIT,
        ".context.argocdUrl": "https://argocd.example.com",
        ".app.metadata.name": "bookshop",
    }.items():
        body = body.replace(f"{{{{{name}}}}}", value)
    (path,) = (line.split()[1] for line in template.splitlines() if line.strip().startswith("path:"))
    headers = {"Authorization": f"Bearer {TOKEN}", "Content-Type": "application/json"}
    async with service_of(world) as service:
        said = await posted(service, path, body.encode(), headers)
        assert said["ref"] == sent.COMMIT
        (release,) = releases(world)
        assert release.link == "https://argocd.example.com/applications/bookshop"
        for body_of in (sent.argo_cd_application(), sent.argo_cd_sync_result()):
            again = await posted(service, path, json.dumps(body_of).encode(), headers)
            assert again["ref"] == sent.COMMIT


def test_the_page_shows_the_keys_that_a_verdict_has() -> None:
    shown = json.loads(recipes.blocks("What is answered")[0])
    assert set(shown) <= set(Deploy.__annotations__)
    assert set(shown["servers"]["api-prod"]) <= set(OnServer.__annotations__)
