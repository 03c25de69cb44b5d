"""The JSON API under ``/api/v1``."""

from http import HTTPStatus

from starlette.routing import Route

from driftwatch.web.access import Access
from driftwatch.web.api import changing, door, openapi, parameters, reading
from driftwatch.web.api.endpoint import Endpoint
from driftwatch.web.context import Context
from driftwatch.web.hooks.verdict import Deploy

ENDPOINTS: tuple[Endpoint, ...] = (*reading.ENDPOINTS, *changing.ENDPOINTS)

FOLLOW = Endpoint(
    method="GET",
    path="/deploys/{deploy}",
    summary="What became of a release",
    description="Where `POST /hooks/deploy` sends its caller.",
    answer=Deploy,
    query=parameters.FollowQuery,
    further=(HTTPStatus.ACCEPTED, HTTPStatus.CONFLICT),
    hook=True,
    path_help={"deploy": "The release's id."},
)
"""Answered by the webhook's door."""

DESCRIBED = (*ENDPOINTS, FOLLOW)


def routes(context: Context, access: Access) -> list[Route]:
    """Every endpoint, and the document that describes them."""
    return [*door.routes(ENDPOINTS, context, access), openapi.route(DESCRIBED)]
