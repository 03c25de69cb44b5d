import asyncio
from pathlib import Path

import httpx

from driftwatch.demo.tour import tour
from tests.patience import PATIENCE_S


async def test_a_tour_that_stays_has_pages_to_look_at(tmp_path: Path) -> None:
    said: list[str] = []
    staying = asyncio.create_task(tour(tmp_path / "demo", said.append, stay=True))
    async with asyncio.timeout(PATIENCE_S):
        while not any("pages" in line for line in said):
            assert not staying.done()
            await asyncio.sleep(0.02)
    address = said[-1].split()[2]
    async with httpx.AsyncClient(trust_env=False, timeout=PATIENCE_S) as http:
        page = await http.get(f"{address}servers/bookshop", headers={"accept": "text/html"})
    assert "The toolset is not the accepted one" in page.text
    staying.cancel()
    await asyncio.wait({staying})
