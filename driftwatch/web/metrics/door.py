"""The route: who may scrape, and one consistent read for each scrape."""

import asyncio
from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from driftwatch.store.ports import Reader
from driftwatch.web.access import Access
from driftwatch.web.context import Context
from driftwatch.web.metrics import service
from driftwatch.web.metrics.exposition import CONTENT_TYPE, exposition
from driftwatch.web.metrics.fleet import FleetMetrics
from driftwatch.web.problems import problem
from driftwatch.web.vitals import Vitals

OVERDUE_AFTER = timedelta(minutes=1)


def routes(context: Context, access: Access) -> list[Route]:
    """``/metrics``."""
    fleet = FleetMetrics()
    scraping = asyncio.Lock()

    def collect(reader: Reader, vitals: Vitals, database_bytes: int) -> bytes:
        config, now = context.config(), context.clock.now()
        fleet.update(reader, now, full=config.http.metrics == "full")
        about = service.families(
            vitals,
            servers=len(fleet),
            overdue=reader.overdue(now - OVERDUE_AFTER),
            channels=[channel.name for channel in config.channels],
            backlog=reader.backlog(),
            database_bytes=database_bytes,
        )
        events = [
            service.EVENTS.sample(number, {"kind": kind.value}) for kind, number in fleet.events.items()
        ]
        return exposition([*about, (service.EVENTS, events), *fleet.families()])

    async def metrics(request: Request) -> Response:
        if not access.may_scrape(request):
            return problem(
                401, "send the metrics token as a bearer token", headers={"WWW-Authenticate": "Bearer"}
            )
        store = context.store()
        if store is None:
            return problem(503, "starting", headers={"Retry-After": "1"})
        # One at a time: a scrape uses what the one before it has read.
        async with scraping:
            vitals, size = context.vitals(), store.size()
            text = await store.query(lambda reader: collect(reader, vitals, size))
        return Response(text, media_type=CONTENT_TYPE)

    return [Route("/metrics", metrics)]
