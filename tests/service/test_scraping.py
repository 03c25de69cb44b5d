"""A running service is scraped: access, what it counts, and what a probe changes."""

import asyncio
import http.client
import re

from driftwatch.app import Service
from tests.service.world import World

TOKEN = "metrics-token-0123456789"


async def scrape(service: Service, *, token: str | None = TOKEN) -> tuple[int, str]:
    def ask() -> tuple[int, str]:
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)
        connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"} if token else {})
        reply = connection.getresponse()
        try:
            return reply.status, reply.read().decode()
        finally:
            connection.close()

    return await asyncio.to_thread(ask)


async def test_a_service_tells_what_it_does_to_whoever_has_the_token(world: World) -> None:
    world.http = f'metrics_token = "{TOKEN}"'
    async with world.running() as service:
        assert (await scrape(service, token=None))[0] == 401
        await world.rounds(2)
        status, text = await scrape(service)
        assert status == 200
        assert (
            'driftwatch_check_state{server="bookshop",check="transport/endpoint",state="verified"} 1' in text
        )
        assert re.search(r'driftwatch_probes_total{trigger="interval",outcome="reachable"} [1-9]', text)
        assert re.search(r"driftwatch_database_size_bytes [1-9]", text)
        assert "driftwatch_config_last_reload_successful 1\n" in text
        assert "driftwatch_servers 1\n" in text
