"""Errors in one shape for every door: problem details (RFC 9457) with a sentence about what to do."""

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse

from driftwatch.errors import UnknownError
from driftwatch.model import Json

MEDIA_TYPE = "application/problem+json"

RETRY_S = 10
"""When to come again after a 503."""


def problem(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, **members: Json
) -> JSONResponse:
    """An error as JSON: ``title`` names the status, ``detail`` says what is wrong, ``members`` add to it."""
    content = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        **members,
    }
    return JSONResponse(content, status, headers, MEDIA_TYPE)


class InvalidError(HTTPException):
    """Parameters or a body that cannot be used: 422, with each fault by its place."""

    def __init__(self, errors: Sequence[Mapping[str, str]]) -> None:
        """Each error has ``where`` and ``message``."""
        super().__init__(422, "; ".join(f"{each['where']}: {each['message']}" for each in errors[:5]))
        self.errors = errors


async def on_http_exception(_: Request, error: Exception) -> JSONResponse:
    """What Starlette raises by itself (no such path, not this method), and what doors raise."""
    assert isinstance(error, HTTPException)  # noqa: S101 - it is registered for nothing else
    members = {"errors": list(error.errors)} if isinstance(error, InvalidError) else {}
    return problem(error.status_code, error.detail, headers=error.headers, **members)


async def on_usage_error(_: Request, error: Exception) -> JSONResponse:
    """What a person wanted and cannot have: 404 for what is not there, else 422."""
    return problem(404 if isinstance(error, UnknownError) else 422, str(error))


async def on_store_error(_: Request, __: Exception) -> JSONResponse:
    """The database cannot be used now; its log line comes from whoever works with it."""
    return problem(503, "the database cannot be used now", headers={"Retry-After": str(RETRY_S)})


async def on_bug(_: Request, __: Exception) -> JSONResponse:
    """A bug of ours: nothing of it is shown; the trace is in the log."""
    return problem(500, "a bug in driftwatch; its log has the trace")
