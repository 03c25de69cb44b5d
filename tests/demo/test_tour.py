import asyncio
from pathlib import Path

import httpx

from driftwatch.demo.tour import tour
from tests.patience import PATIENCE_S


async def test_a_tour_is_no_wider_than_the_terminal_and_its_commands_work(tmp_path: Path) -> None:
    said: list[str] = []
    folder = tmp_path / "demo"
    await tour(folder, said.append, program="driftwatch", width=72)
    shown, commands = "\n".join(said).split("Kept in ")
    option = f"-c {folder}/config.toml"
    # The folder of a test is longer than a line: its name is folded at worst.
    assert max(map(len, shown.replace(str(folder), "").splitlines())) <= 80
    assert f"driftwatch status bookshop {option}" in commands
    told = " ".join(line.removeprefix("  │ ") for line in shown.splitlines() if line.startswith("  │"))
    assert "More: driftwatch history bookshop -c " in told
    assert "demo/config.toml" in told


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
