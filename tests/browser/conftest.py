"""A real browser before the real pages; skipped, with the reason, where there is none."""

import asyncio
import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.web.conftest import scene_file
from tests.web.paging import shown

__all__ = ["scene_file"]

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
PATIENCE_MS = 120_000
"""A slow machine is no fault of the pages."""

TOKEN = "read-token-0123456789"


@pytest.fixture
def browser() -> Iterator[Any]:
    """One for each test: while it is there, nothing else in this thread can run a loop."""
    sync_api = pytest.importorskip(
        "playwright.sync_api", reason="playwright is not installed (extra browser)"
    )
    if CHROMIUM is None:
        pytest.skip("there is no chromium on this machine: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        try:
            started = playwright.chromium.launch(
                executable_path=CHROMIUM, args=arguments, timeout=PATIENCE_MS
            )
        except sync_api.Error as error:
            pytest.skip(f"{CHROMIUM} does not start: {str(error).splitlines()[0]}")
        yield started
        started.close()


@contextmanager
def serving(folder: Path, database: Path, *http: str) -> Iterator[str]:
    """The address of the pages; a loop of their own serves them, for the browser's calls block this one."""
    ready, ending, found = threading.Event(), threading.Event(), []

    async def serve() -> None:
        async with shown(folder, database, http) as pages:
            found.append(pages.url)
            ready.set()
            await asyncio.to_thread(ending.wait)

    thread = threading.Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(PATIENCE_MS / 1000)
        yield found[0]
    finally:
        ending.set()
        thread.join()


@pytest.fixture(scope="session")
def pages(scene_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("pages"), scene_file) as url:
        yield url


@pytest.fixture(scope="session")
def closed(scene_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The same behind a token."""
    with serving(tmp_path_factory.mktemp("closed"), scene_file, f'read_token = "{TOKEN}"') as url:
        yield url


@pytest.fixture(scope="session")
def axe() -> str:
    """axe-core's source, where ``AXE_CORE`` names the file."""
    path = os.environ.get("AXE_CORE")
    if path is None:
        pytest.skip("AXE_CORE does not name axe-core's axe.min.js: npm pack axe-core")
    return Path(path).read_text(encoding="utf-8")
