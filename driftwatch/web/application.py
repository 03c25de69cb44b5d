"""The ASGI application: every door, in one list."""

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from driftwatch.errors import StoreError, UsageError
from driftwatch.web import api, health, hooks, metrics, pages
from driftwatch.web.access import Access
from driftwatch.web.context import Context
from driftwatch.web.headers import SafeHeaders
from driftwatch.web.problems import on_bug, on_http_exception, on_store_error, on_usage_error

HANDLERS = {
    HTTPException: on_http_exception,
    UsageError: on_usage_error,
    StoreError: on_store_error,
    Exception: on_bug,
}


def application(context: Context) -> ASGIApp:
    """All routes of the service."""
    access = Access(context.config, context.clock)
    site = pages.Site(context, access)
    doors = Starlette(
        routes=[
            *health.routes(context.health),
            *hooks.routes(context, access),
            *api.routes(context, access),
            *metrics.routes(context, access),
            *pages.routes(site),
        ],
        exception_handlers={error: site.told(handler) for error, handler in HANDLERS.items()},
    )
    # A redirect to the address with or without a slash would go to whatever host the request names.
    doors.router.redirect_slashes = False
    return SafeHeaders(doors)
