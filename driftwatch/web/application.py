"""The ASGI application: every door, in one list."""

from starlette.applications import Starlette

from driftwatch.web import health
from driftwatch.web.context import Context


def application(context: Context) -> Starlette:
    """All routes of the service."""
    return Starlette(routes=[*health.routes(context.health)])
