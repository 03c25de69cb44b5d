"""The ASGI application: every door, in one list."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from driftwatch.web import health
from driftwatch.web.context import Context
from driftwatch.web.problems import on_bug, on_http_exception


def application(context: Context) -> Starlette:
    """All routes of the service."""
    return Starlette(
        routes=[*health.routes(context.health)],
        exception_handlers={HTTPException: on_http_exception, Exception: on_bug},
    )
