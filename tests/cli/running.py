"""A server to probe, a configuration that names it, and driftwatch as a process."""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from starlette.types import ASGIApp

from driftwatch.demo.sample import SampleServer
from driftwatch.web.server import HttpServer
from tests.patience import PATIENCE_S

_TAKEN: list[socket.socket] = []
"""Bound and never listening."""

PROGRAM = [sys.executable, "-m", "driftwatch"]


@contextlib.contextmanager
def sample_server() -> Iterator[tuple[SampleServer, str]]:
    sample = SampleServer("v1")
    with serving(sample.application) as url:
        yield sample, url


@contextlib.contextmanager
def serving(application: ASGIApp) -> Iterator[str]:
    """An application in a thread of its own, because commands bring their own loop; where to probe it."""
    server = HttpServer("127.0.0.1", 0)
    thread = threading.Thread(target=lambda: asyncio.run(server.run(application)))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}/mcp"
    finally:
        server.stop()
        thread.join()


def unused_url() -> str:
    """An address that refuses every connection, and that nobody else gets as long as the tests run."""
    taken = socket.socket()
    _TAKEN.append(taken)
    taken.bind(("127.0.0.1", 0))
    return f"http://127.0.0.1:{taken.getsockname()[1]}/mcp"


def write_config(folder: Path, url: str, *, alert: str = "", extra: str = "") -> Path:
    path = folder / "config.toml"
    channel = f'[[alert]]\nname = "ops"\nurl = "{alert}"\n' if alert else ""
    http = "" if "[http]" in extra else '[http]\nlisten = "127.0.0.1:0"\n'
    path.write_text(f'{extra}\n{http}[[server]]\nname = "api"\nurl = "{url}"\n{channel}', encoding="utf-8")
    return path


def start(folder: Path, *words: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [*PROGRAM, *words],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={key: value for key, value in os.environ.items() if not key.startswith("DRIFTWATCH")},
    )
    return limited(process)


def limited(process: "subprocess.Popen[str]") -> "subprocess.Popen[str]":
    """End a process that outlives every test; what reads from it then ends too."""
    watchdog = threading.Timer(3 * PATIENCE_S, process.kill)
    watchdog.daemon = True
    watchdog.start()
    return process


def read_until(process: "subprocess.Popen[str]", message: str) -> dict[str, Any]:
    """Read JSON log lines until one has this message; the process's end ends the wait too."""
    assert process.stdout is not None
    for text in process.stdout:
        line: dict[str, Any] = json.loads(text)
        if line["message"] == message:
            return line
    raise AssertionError(f"the service ended without {message!r}: {process.communicate()}")
