from datetime import timedelta
from xml.etree import ElementTree as ET

import pytest

from tests.web.paging import Pages


@pytest.mark.parametrize(
    ("server", "message", "color"),
    [
        ("payments", "1 failed", "critical"),
        ("search", "1 observed risk", "important"),
        ("catalogue", "all verified", "success"),
        ("partner-api", "not checked", "inactive"),
    ],
)
async def test_a_badge_is_two_words_for_shields_io_and_as_a_picture(
    pages: Pages, server: str, message: str, color: str
) -> None:
    answer = (await pages.get(f"/badge/{server}.json")).json()
    assert (answer["schemaVersion"], answer["label"]) == (1, server)
    assert (answer["message"], answer["color"]) == (message, color)
    picture = await pages.get(f"/badge/{server}.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    root = ET.fromstring(picture.text)
    assert "".join(root.itertext()).count(message) == 2
    assert root.get("aria-label") == f"{server}: {message}"


async def test_a_badge_of_what_nobody_looks_after_is_stale(pages: Pages) -> None:
    pages.clock.advance(timedelta(hours=1))
    assert (await pages.get("/badge/catalogue.json")).json()["message"] == "stale"
