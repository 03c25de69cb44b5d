"""The ASGI application: every door, in one list."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from driftwatch.errors import StoreError
from driftwatch.web import health
from driftwatch.web.access import Access
from driftwatch.web.context import Context
from driftwatch.web.hooks import door
from driftwatch.web.problems import on_bug, on_http_exception, on_store_error


def application(context: Context) -> Starlette:
    """All routes of the service."""
    access = Access(context.config, context.clock)
    return Starlette(
        routes=[*health.routes(context.health), *door.routes(context, access)],
        exception_handlers={
            HTTPException: on_http_exception,
            StoreError: on_store_error,
            Exception: on_bug,
        },
    )
