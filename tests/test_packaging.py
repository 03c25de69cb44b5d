"""What is shipped beside the code: the lock file, the image, the manifests."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from bench.watched import MALLOC
from driftwatch.web import health

ROOT = Path(__file__).parents[1]
DOCKERFILE = (ROOT / "Dockerfile").read_text()


def locked() -> dict[str, str]:
    text = (ROOT / "requirements.lock").read_text()
    return {
        name.lower(): version for name, version in re.findall(r"^([\w.-]+)==(\S+) \\$", text, re.MULTILINE)
    }


def test_the_lock_file_satisfies_every_dependency_and_pins_hashes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    pinned = locked()
    for line in project["dependencies"]:
        wanted = Requirement(line)
        assert wanted.name.lower() in pinned, f"{wanted.name} is not locked: see the first lines of the file"
        assert pinned[wanted.name.lower()] in wanted.specifier
    entries = re.split(r"^(?=[\w.-]+==)", (ROOT / "requirements.lock").read_text(), flags=re.MULTILINE)[1:]
    assert all("--hash=sha256:" in entry for entry in entries)


def instruction(word: str) -> list[str]:
    return [line.removeprefix(word).strip() for line in DOCKERFILE.splitlines() if line.startswith(word)]


def test_the_image_runs_as_nobody_special_and_hears_signals_itself() -> None:
    assert instruction("USER") == ["10001:10001"]
    assert instruction("VOLUME") == ["/data"]
    assert json.loads(instruction("ENTRYPOINT")[0]) == ["driftwatch"]
    assert json.loads(instruction("CMD")[0]) == ["run"]
    assert '["driftwatch", "healthcheck"]' in instruction("HEALTHCHECK")[0]
    assert "--require-hashes" in DOCKERFILE


def test_the_image_the_unit_and_the_measurements_treat_memory_alike() -> None:
    (said,) = [line for line in instruction("ENV") if line.startswith("MALLOC_")]
    assert f"Environment={said}\n" in (ROOT / "docs" / "install.md").read_text()
    assert dict(word.split("=") for word in said.split()) == MALLOC


def test_everything_the_build_copies_is_let_in() -> None:
    ignored = (ROOT / ".dockerignore").read_text().split()
    copied = {
        source
        for line in instruction("COPY")
        if not line.startswith("--from")
        for source in line.split()[:-1]
    }
    assert copied == {line[1:] for line in ignored if line.startswith("!")}


def documents(name: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((ROOT / "docs" / name).read_text()))


def test_the_deployment_is_one_careful_replica_that_is_probed_where_there_is_an_answer() -> None:
    (deployment,) = [each for each in documents("kubernetes.example.yaml") if each["kind"] == "Deployment"]
    assert deployment["spec"]["replicas"] == 1
    assert deployment["spec"]["strategy"]["type"] == "Recreate"
    pod = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsUser"] == 10001
    (container,) = pod["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"] is True
    answered = {route.path for route in health.routes(lambda: pytest.fail("nobody asks"))}
    for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
        assert container[probe]["httpGet"]["path"] in answered
    volumes = {volume["name"] for volume in pod["volumes"]}
    assert {mount["name"] for mount in container["volumeMounts"]} == volumes


def test_the_composition_is_read_only_with_secrets_as_files() -> None:
    (document,) = documents("compose.example.yaml")
    service = document["services"]["driftwatch"]
    assert service["read_only"] is True
    assert service["user"] == "10001:10001"
    assert service["cap_drop"] == ["ALL"]
    assert set(service["secrets"]) == set(document["secrets"])
    assert service["ports"] == ["127.0.0.1:8080:8080"]


@pytest.mark.parametrize("name", ["compose.example.yaml", "kubernetes.example.yaml"])
def test_both_stop_it_only_after_its_own_budget(name: str) -> None:
    text = (ROOT / "docs" / name).read_text()
    assert "stop_grace_period: 10s" in text or "terminationGracePeriodSeconds: 10" in text
