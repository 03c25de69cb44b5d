"""One exchange with a server: what was asked and what came back, or why nothing is known of it."""

from dataclasses import dataclass
from http import HTTPStatus

from driftwatch.evidence import saying
from driftwatch.model import DEPTH_CODE, Era, Json, integer

_FORBIDDING = frozenset({HTTPStatus.FORBIDDEN, HTTPStatus.UNAVAILABLE_FOR_LEGAL_REASONS})


@dataclass(frozen=True, slots=True)
class Missing:
    """Why a part of the evidence was not seen."""

    reason: str
    """Completes the sentence "not checked: ..."."""
    code: str
    """Stable: alerts compare it. A blocked part carries its root's code."""
    cause: str | None = None
    """The id of the root check that explains it, such as ``transport/endpoint``."""


NEEDS_FULL = Missing("a light probe does not exercise it", DEPTH_CODE)
"""What a light probe says about every part that takes a full one."""

NO_AUTHORIZATION = Missing("the server does not ask for credentials (authorization is optional)", "no-auth")
"""What an open server leaves to see of authorization."""

CREDENTIAL_ECHO = "credential-echo"
"""The code of the remark that our own credential came back: what stands in its place is our mark."""
URL_ECHO = "url-echo"
"""The same of a secret in the configured URL's query."""
OTHER_ECHO = "other-echo"
"""The same of another secret, such as the session's id, inside of a message."""
URL_MARK = "<url-secret>"
"""What stands in the place of that one."""
OTHER_MARKS = frozenset({"<session>", "<redacted>", "<proxy>"})
"""What stands in the place of secrets that are no credential."""

_ROOTS = {
    "certificate": "tls/chain",
    "tls": "tls/chain",
    "token": "auth/credential",
    "certificate-file": "auth/credential",
}
"""The root check of an outcome, where it is not ``transport/endpoint``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """Why one exchange has no usable answer."""

    code: str
    """Stable. Network: dns, refused, unreachable, address, timeout, reset, tls, certificate. The probe's own:
    deadline, budget. Message: too-large, headers, protocol, encoding, json, utf-8, depth, envelope,
    no-answer."""
    phase: str
    """resolve, connect, tls, send, headers, body or message."""
    message: str
    """One sentence with the figures: which limit, how many bytes, at which offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remark:
    """Something odd about an exchange that did not stop the probe."""

    code: str
    """bom, duplicate-member, id-type, id-wrong, id-null, batch, result-and-error, unterminated-event,
    unrequested-encoding, lone-surrogate, number-range, no-content-type, server-request, wrong-length,
    refused-by-some, credential-echo, other-echo."""
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One request and what came back, bounded and free of secrets."""

    label: str
    """Which request of the recipe it was: discover, initialize, initialized, tools/list, endpoint, delete;
    with a suffix for a variant: ``discover:json-only``, ``discover:redirected``, ``discover:again``."""
    http_method: str
    url: str
    rpc_method: str | None
    request_headers: tuple[tuple[str, str], ...]
    """Credential values are replaced by their label."""
    status: int | None
    headers: tuple[tuple[str, str], ...]
    """Names in lower case, in the order received; at most 64 KiB."""
    excerpt: str
    """The first 2,000 characters of the body, decoded leniently."""
    size: int
    """Bytes of the body read, as they came over the wire."""
    answer: Json
    """The JSON-RPC message that answers the request (an object), or None."""
    fault: Fault | None
    remarks: tuple[Remark, ...]
    address: str | None
    """``ip:port`` of the very connection."""
    first_byte_s: float | None
    """From sending the request (connection included when it was new) to the status line."""
    duration_s: float

    def header(self, name: str) -> str | None:
        """The first value of a header, by its lower-case name."""
        for key, value in self.headers:
            if key == name:
                return value
        return None

    @property
    def media_type(self) -> str | None:
        """The media type without parameters in lower case; of a doubled value the first; None without one."""
        value = self.header("content-type")
        if value is None:
            return None
        return value.split(",")[0].split(";")[0].strip().lower() or None

    @property
    def result(self) -> Json:
        """The answer's result object, or None when it is an error or there is none."""
        if isinstance(self.answer, dict) and "error" not in self.answer:
            return self.answer.get("result")
        return None

    @property
    def forbidden(self) -> bool:
        """Whether it was refused for who asks or for where that one asks from, whatever was asked."""
        return self.status in _FORBIDDING

    @property
    def words(self) -> str:
        """What the body says to a person, in one line: the server's own words, or nothing."""
        return saying.words(self.excerpt)

    @property
    def error(self) -> Json:
        """The answer's JSON-RPC error object, or None. Where both stand, the error wins."""
        return self.answer.get("error") if isinstance(self.answer, dict) else None

    @property
    def error_code(self) -> int | None:
        """The code of that error; ``-32601.0`` is -32601, as it is to clients."""
        return integer(self.error.get("code")) if isinstance(self.error, dict) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """How the server took the first request of one era."""

    era: Era
    attempts: tuple[Exchange, ...]
    """In order. The first carries the full Accept header; later ones follow a same-origin redirect, retry
    a refused Accept with JSON only, retry a transient fault, or offer another revision."""
    established: bool
    """True when a surface of this era exists."""

    def __post_init__(self) -> None:
        """Raise ValueError for an opening without an attempt: there is no such thing."""
        if not self.attempts:
            raise ValueError("an opening without an attempt")

    @property
    def exchange(self) -> Exchange:
        """The attempt that decided."""
        return self.attempts[-1]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of the POST that decides reachability."""

    code: str
    """ok, or the root's code: dns, refused, unreachable, address, timeout, reset, certificate, tls, protocol,
    http-5xx, http-4xx, not-mcp, no-handshake (JSON-RPC answers, but no revision was agreed on), auth (401, or
    403 with a challenge), forbidden (403, 451), rate-limited (429), bot-page, access-gate, redirect,
    deadline, proxy (the configured one is out of reach or refuses), token (there was none to probe with)."""
    message: str
    """One sentence: what was seen."""
    status: int | None
    reachable: bool

    @property
    def blocker(self) -> Missing:
        """What it leaves unseen, with the root check that explains it."""
        return Missing(self.message, self.code, _ROOTS.get(self.code, "transport/endpoint"))
