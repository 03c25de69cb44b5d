"""The webhook of a real ``driftwatch run``: signed like GitHub's, killed between the 202 and the probe."""

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from driftwatch.demo.sample import SampleServer
from tests.patience import PATIENCE_S
from tests.service.world import Receiver, serving
from tests.web import sent
from tests.web.hooking import SECRET, TOKEN

BEARER = {"Authorization": f"Bearer {TOKEN}"}


def configure(folder: Path, *, server: int, receiver: str) -> None:
    (folder / "config.toml").write_text(f"""
[http]
listen = "127.0.0.1:0"
[hook]
tokens = ["{TOKEN}"]
secrets = ["{SECRET}"]
delay = "2s"
reads = 2
[alerts]
group_wait = "0s"
[[server]]
name = "bookshop"
url = "http://127.0.0.1:{server}/mcp"
[[alert]]
name = "ops"
url = "{receiver}"
""")


class Process:
    """A running service and its log so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.log: list[dict[str, Any]] = []

    async def until(self, message: str) -> dict[str, Any]:
        """Read the log until a line with this message; that line."""
        assert self._process.stdout is not None
        async with asyncio.timeout(PATIENCE_S):
            while not self.log or self.log[-1]["message"] != message:
                line = await self._process.stdout.readline()
                assert line, self.log
                self.log.append(json.loads(line))
        return self.log[-1]

    async def address(self) -> str:
        return f"http://127.0.0.1:{(await self.until('listening'))['port']}"

    async def kill(self) -> None:
        self._process.kill()
        await self._process.communicate()

    async def stop(self) -> None:
        self._process.terminate()
        async with asyncio.timeout(PATIENCE_S):
            out, _ = await self._process.communicate()
        self.log += [json.loads(line) for line in out.splitlines()]


@asynccontextmanager
async def running(folder: Path) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "driftwatch", "run", cwd=folder, stdout=asyncio.subprocess.PIPE
    )
    try:
        yield Process(process)
    finally:
        if process.returncode is None:
            process.kill()
            await process.communicate()


async def arrived(receiver: Receiver) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            if receiver.messages:
                return
            await asyncio.sleep(0.02)


async def test_a_deploy_that_github_announced_survives_a_crash_and_is_told_once(
    tmp_path: Path, receiver: Receiver
) -> None:
    sample = SampleServer("v1")
    body = sent.encoded(sent.github_deployment_status())
    headers = {"X-GitHub-Event": "deployment_status", "X-GitHub-Delivery": "4f2b"}
    headers |= {"Content-Type": "application/json", **sent.github_signature(SECRET, body)}
    http = httpx.AsyncClient(trust_env=False, timeout=2 * PATIENCE_S)
    async with serving(sample.application) as port, http:
        configure(tmp_path, server=port, receiver=receiver.url)
        async with running(tmp_path) as service:
            url = await service.address()
            await service.until("run")
            sample.deploy("v2")
            first = await http.post(f"{url}/hooks/deploy/bookshop", content=body, headers=headers)
            await service.kill()
        assert first.status_code == 202
        async with running(tmp_path) as service:
            url = await service.address()
            await service.until("started")
            again = await http.post(f"{url}/hooks/deploy/bookshop", content=body, headers=headers)
            assert again.json()["deploy"] == first.json()["deploy"]
            status = f"{url}{first.json()['status_url']}?wait=110&gate=breaking"
            over = await http.get(status, headers=BEARER)
            await arrived(receiver)
            await service.stop()
    said = over.json()
    assert (over.status_code, said["verdict"], said["tripped"]) == (409, "breaking", ["breaking"])
    assert said["servers"]["bookshop"]["reads"] == 2
    (message,) = receiver.messages
    text = message["title"] + message["message"]
    assert "order_status" in text
    assert "by release main" in text
    assert f"{sent.COMMIT[:12]}), by octavia" in text
    everything = json.dumps(service.log) + "".join(
        file.read_bytes().decode("latin-1") for file in databases(tmp_path)
    )
    assert TOKEN not in everything
    assert SECRET not in everything


def databases(folder: Path) -> list[Path]:
    return sorted(folder.glob("driftwatch.db*"))
