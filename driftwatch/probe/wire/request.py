"""What is asked of the wire, what it gives back, and where it stops."""

import json
from dataclasses import dataclass
from enum import Enum
from urllib.parse import urlencode

from driftwatch.evidence import Exchange
from driftwatch.model import Json

_encode = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where one probe stops reading. A limit that is hit is a Fault with its figures."""

    timeout_s: float = 20.0
    """Wall clock of one request, from resolving the name to the end of the answer."""
    deadline_s: float = 60.0
    """Wall clock of the whole probe."""
    max_body: int = 4 * 2**20
    """Bytes of one body, as sent and again after decompression."""
    max_pages: int = 100
    max_tools: int = 5000
    max_headers: int = 256 * 1024
    """Bytes of one header block, with every informational response before it."""
    max_requests: int = 26
    max_events: int = 10_000
    """Events of one SSE stream."""
    max_depth: int = 200
    """Nested arrays and objects of one JSON text."""


class Read(Enum):
    """How much of a reply is read."""

    ANSWER = "answer"
    """Up to the JSON-RPC message that answers the request, even if the stream stays open after it."""
    HEADERS = "headers"
    """Status and headers; then the connection is closed."""
    BODY = "body"
    """The whole bounded body, whatever it is. A JSON object becomes the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request of the dialogue."""

    label: str
    """Which request of the recipe it is; becomes Exchange.label."""
    http_method: str = "POST"
    url: str | None = None
    """None: the endpoint itself."""
    rpc: dict[str, Json] | None = None
    """The JSON-RPC message to send. Its id decides which message is the answer; without an id none is awaited
    and whatever response the body holds is taken."""
    form: tuple[tuple[str, str], ...] | None = None
    """Names and values of a form to send, where no JSON-RPC message is."""
    headers: tuple[tuple[str, str], ...] = ()
    """Replace those of the credential and of the wire."""
    accept: str | None = "application/json, text/event-stream"
    read: Read = Read.ANSWER
    timeout_s: float | None = None
    """Less time than the limit of one request allows; None: all of it."""
    extra: bool = False
    """True for a further page and for what is asked again: it comes on top of a probe's budget.

    So does the DELETE of a session that it opens.
    """
    credential: bool = True
    """Apply the configured credential; it only ever goes to the endpoint's own origin."""

    @property
    def content(self) -> tuple[bytes, str] | None:
        """The body and its media type; None where there is no body."""
        if self.rpc is not None:
            return _encode(self.rpc).encode(), "application/json"
        if self.form is not None:
            return urlencode(self.form).encode(), "application/x-www-form-urlencoded"
        return None

    @property
    def awaits(self) -> bool:
        """Whether a JSON-RPC answer is due."""
        return self.rpc is not None and "id" in self.rpc

    @property
    def rpc_method(self) -> str | None:
        """The method of the JSON-RPC message."""
        return None if self.rpc is None else self.rpc.get("method")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What came back, with the few things that must not be recorded."""

    exchange: Exchange
    session: str | None
    """The value of ``Mcp-Session-Id``. A secret: it is never recorded."""
    retry_after_s: float | None
    location: str | None
    """The ``Location`` header as sent, query included: not for recording."""
