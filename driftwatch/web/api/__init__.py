"""The JSON API under ``/api/v1``."""

from starlette.routing import Route

from driftwatch.web.access import Access
from driftwatch.web.api import changing, door, openapi, reading
from driftwatch.web.api.endpoint import Endpoint
from driftwatch.web.context import Context

ENDPOINTS: tuple[Endpoint, ...] = (*reading.ENDPOINTS, *changing.ENDPOINTS)


def routes(context: Context, access: Access) -> list[Route]:
    """Every endpoint, and the document that describes them."""
    return [*door.routes(ENDPOINTS, context, access), openapi.route(ENDPOINTS)]
