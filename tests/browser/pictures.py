"""Take the pictures of the documentation: ``python -m tests.browser.pictures docs/images``."""

import os
import sys
import tempfile
from pathlib import Path
from typing import Literal

from playwright.sync_api import sync_playwright

from driftwatch.store.sqlite import SqliteStore
from tests.browser.conftest import CHROMIUM, serving
from tests.web.scene import NOW, build

PICTURES: tuple[tuple[str, str, Literal["light", "dark"], int, int], ...] = (
    ("fleet-light.png", "/", "light", 1200, 760),
    ("server-dark.png", "/servers/payments?days=30", "dark", 1200, 900),
    ("diff-light.png", "/servers/payments/diff", "light", 1200, 900),
)
"""File, page, colour scheme, width and height."""


def main() -> None:
    folder = Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as scratch, sync_playwright() as playwright:
        database = Path(scratch) / "driftwatch.db"
        store = SqliteStore(database, clock=lambda: NOW)
        store.migrate()
        build(store)
        store.close()
        arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        with serving(Path(scratch), database) as url:
            for name, path, scheme, width, height in PICTURES:
                page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
                page.goto(url + path)
                page.screenshot(path=folder / name)
                page.close()
        browser.close()


if __name__ == "__main__":
    main()
