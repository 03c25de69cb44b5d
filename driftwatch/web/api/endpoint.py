"""One declaration per endpoint: routes, the OpenAPI document and docs/api.md are made from it."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from http import HTTPStatus
from typing import Any, TypeAlias, TypeVar
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import URL

from driftwatch.model import Json
from driftwatch.store.ports import Reader, Tx
from driftwatch.web.api.parameters import NoQuery, Parameters
from driftwatch.web.context import Context

T = TypeVar("T")


class Right(StrEnum):
    """What a caller must be allowed to."""

    NONE = "none"
    READ = "read"
    WRITE = "admin"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One valid request."""

    url: URL
    path: Mapping[str, str]
    """What stood in the braces of the endpoint's path."""
    query: Any
    """Of the endpoint's class of parameters."""
    body: Any
    """The same."""
    now: datetime

    def next(self, last: T | None, cursor: Callable[[T], str]) -> str | None:
        """The address of the page after ``last``, with every other parameter as it is; None without one."""
        if last is None:
            return None
        kept = [(name, value) for name, value in parse_qsl(self.url.query) if name != "cursor"]
        return f"{self.url.path}?{urlencode([*kept, ('cursor', cursor(last))])}"


Read: TypeAlias = Callable[[Reader, Call], Json]
Write: TypeAlias = Callable[[Tx, Call], Json]
Act: TypeAlias = Callable[[Context, Call], Awaitable[Json]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """A method on a path; one of ``read``, ``write`` and ``act`` answers it, or another door does."""

    method: str
    path: str
    """Below /api/v1."""
    summary: str
    description: str = ""
    answer: Any
    """The TypedDict of its JSON."""
    read: Read | None = None
    """Works on one consistent read of the database."""
    write: Write | None = None
    """Works in one write transaction."""
    act: Act | None = None
    """Works on the service itself."""
    query: type[Parameters] = NoQuery
    body: type[Parameters] | None = None
    status: HTTPStatus = HTTPStatus.OK
    further: tuple[HTTPStatus, ...] = ()
    """Other statuses with which the same JSON may come."""
    hook: bool = False
    """Whether the webhook's token opens it too."""
    path_help: Mapping[str, str] = field(default_factory=dict)
    """What the names in braces mean."""

    @property
    def right(self) -> Right:
        """Whoever changes something needs the admin token."""
        return Right.READ if self.method == "GET" else Right.WRITE

    @property
    def name(self) -> str:
        """The operation's id: get_servers_name_history."""
        words = self.path.replace("{", "").replace("}", "").strip("/").split("/")
        return "_".join([self.method.lower(), *words])
